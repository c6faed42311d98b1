"""How metric scripts are run: a module of its own, since most computations run none."""

from __future__ import annotations

from typing import Literal

import msgspec


class ScriptOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How metric scripts are run: what they may take, and what they may reach.

    Seconds of `timeout`, GiB of `memory` (0: no limit), names of `environment` variables that are
    passed on. `sandbox` is used where the system has it, required, or off; of its `layers` each.
    `job_scripts` are those that only the configuration of a job names.
    With `verify_repeat` each script runs twice, and one whose numbers differ is named. `adopt`
    where the process has no other children: what escapes from a killed supervisor is ended.
    """

    timeout: float = 60.0
    memory: float = 4.0
    sandbox: Literal["auto", "require", "off"] = "auto"
    environment: tuple[str, ...] = ()
    allow_network: bool = False
    allow_build: bool = False
    allow_outside: bool = False
    job_scripts: bool = False
    verify_repeat: bool = False
    adopt: bool = False
    # As places.LAYERS, which is not imported for their names.
    layers: tuple[str, ...] = ("landlock", "namespaces")
