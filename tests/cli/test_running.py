"""The options of every command that runs metric scripts."""

from __future__ import annotations

from typing import Any

import pytest

from harbor_metrics.cli.running import options_of
from harbor_metrics.errors import UsageError

GIVEN: dict[str, Any] = {
    "script_timeout": 5.0,
    "script_memory": 0.5,
    "script_env": (),
    "sandbox": "require",
    "allow_network": True,
    "allow_build": False,
    "allow_outside": True,
}


def test_options_are_those_that_were_given() -> None:
    options = options_of(GIVEN)
    assert (options.timeout, options.memory, options.sandbox) == (5.0, 0.5, "require")
    assert (options.allow_network, options.allow_build, options.allow_outside) == (
        True, False, True,
    )  # fmt: skip
    assert not options.verify_repeat


def test_command_line_takes_in_what_a_killed_supervisor_leaves() -> None:
    assert options_of(GIVEN).adopt


def test_variable_that_is_not_set_cannot_be_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "1")
    monkeypatch.delenv("NOPE", raising=False)
    assert options_of({**GIVEN, "script_env": ("KEY",)}).environment == ("KEY",)
    with pytest.raises(UsageError, match="--script-env NOPE"):
        options_of({**GIVEN, "script_env": ("KEY", "NOPE")})


@pytest.mark.parametrize("value", [1e7, float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["script_memory", "script_timeout"])
def test_limit_must_be_a_number_that_a_machine_can_have(name: str, value: float) -> None:
    with pytest.raises(UsageError, match="--script-"):
        options_of({**GIVEN, name: value})
