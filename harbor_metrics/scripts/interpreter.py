"""The Python of a script's environment: ours where the script admits it, else the user's."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..confinement.sandbox import LAYERS
from ..confinement.workplace import FREE
from ..documents.paths import real_path
from ..documents.wording import printable
from ..errors import MetricFailure
from .cache import is_among_work
from .steps import Work, not_made
from .uv_access import environ_of_uv, our_python, reach, uv_cache
from .variables import TO_ALL, TO_FIND_PYTHONS, folders, told

_NO_PYTHON = "(no Python is downloaded unless UV_PYTHON_DOWNLOADS=automatic)"
_ABOUT = (
    "import json, platform, sys; print(json.dumps([platform.python_version(), sys.base_prefix,"
    " getattr(sys, '_base_executable', None) or sys.executable]))"
)
# Versions and nothing else: what uv takes for no version it takes for the path of a program to run,
# and one with too many digits for its name.
_VERSION = r"[0-9]{1,6}(?:\.[0-9]{1,6}){0,3}(?:(?:a|b|rc)[0-9]{1,3})?(?:\.\*)?"
_SPECIFIER = rf"(?:~=|==|!=|<=?|>=?) *{_VERSION} *"
_SPECIFIERS = rf" *(?:{_SPECIFIER}(?:, *{_SPECIFIER}){{0,20}})?,? *"


@dataclass(frozen=True, slots=True)
class Base:
    """An interpreter of the user's, which has seen nothing of what a script asks for."""

    path: str
    prefix: str
    version: str


def interpreter(wants: Mapping[str, Any], script: str, uv: str, work: Work) -> Base:
    """Our own interpreter where a script admits it, else the first that uv finds.

    Raises:
        MetricFailure: `requires-python` is no such text, or there is no such Python.
    """
    # For weight: a kept environment needs none of it.
    import platform

    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    asked = str(wants.get("requires-python", ""))
    try:
        if not re.fullmatch(_SPECIFIERS, asked):
            raise InvalidSpecifier(f"Invalid specifier: {asked[:200]!r}")
        admitted = SpecifierSet(asked)
    except InvalidSpecifier as error:
        raise MetricFailure(
            "script-metadata", f"requires-python of the script: {printable(str(error))}"
        ) from error
    ours = ".".join(map(str, sys.version_info[:3]))
    if admitted.contains(ours, prereleases=True):
        return Base(our_python(), sys.base_prefix, platform.python_version())
    cache = uv_cache(work.place)
    env = _environ_to_find()
    # Asked to be quiet, it would not say which it has found.
    common = ["--no-config", "--cache-dir", cache]
    find = [uv, "python", "find", *common, "--system", "--no-project", "--", str(admitted)]
    # uv runs each that it looks at, and where they lie others may have put one.
    reached = replace(
        reach(uv, script, [cache, work.folder], passwords=False),
        layers=LAYERS,
        filtered=True,
        network=False,
    )
    automatic = env["UV_PYTHON_DOWNLOADS"] == "automatic"
    found = work.step(find, env, reached, may_fail=automatic, advice=_NO_PYTHON)
    if found.code != 0:
        # Nothing of the script's but the version that it wants has a say in it.
        install = [uv, "python", "install", *common, "--", str(admitted)]
        work.step(install, environ_of_uv(), FREE)
        found = work.step(find, env, reached)
    python = os.fsdecode(found.stdout.rstrip(b"\r\n"))
    if not os.path.isabs(python):
        raise work.failure(found, _NO_PYTHON)
    if is_among_work(python):
        raise not_made(
            f"the Python that uv has found, {printable(python)}, lies in the folder or checkout "
            "that is worked on, and may have come with it: install one elsewhere"
        )
    # Of the user's Python, which knows of no package of the script's; without `site` all the same.
    about = work.step([python, "-I", "-S", "-c", _ABOUT], {}, reached)
    version, prefix, path = json.loads(about.stdout)
    return Base(real_path(path), prefix, version)


def _environ_to_find() -> dict[str, str]:
    """What says where Pythons lie, and nothing else; none where what we work on lies."""
    env = {"UV_PYTHON_DOWNLOADS": "never", **told((*TO_ALL, *TO_FIND_PYTHONS))}
    env["PATH"] = os.pathsep.join(each for each in folders("PATH") if not is_among_work(each))
    if is_among_work(env.get("UV_PYTHON_INSTALL_DIR", os.devnull)):
        del env["UV_PYTHON_INSTALL_DIR"]
    return env
