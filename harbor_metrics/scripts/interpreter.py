"""The Python of a script's environment: ours where the script admits it, else the user's."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ..confinement.finished import Finished
from ..confinement.homes import own_home
from ..confinement.places import LAYERS
from ..confinement.workplace import Confinement
from ..documents.paths import real_path
from ..documents.wording import printable
from ..documents.work import is_among_work
from ..errors import MetricFailure
from .owners import make_own
from .steps import Work, not_made
from .uv_access import (
    environ_of_uv,
    libraries,
    our_python,
    programs,
    pythons,
    pythons_of_uv,
    pythons_on_path,
    reach,
    uv_cache,
)
from .variables import OF_PYTHONS, TO_ALL, TO_FIND_PYTHONS, told

_NO_PYTHON = "(no Python is downloaded unless UV_PYTHON_DOWNLOADS=automatic)"
_ABOUT = (
    "import json, platform, sys; print(json.dumps([platform.python_version(), sys.base_prefix,"
    " getattr(sys, '_base_executable', None) or sys.executable]))"
)
# Versions and nothing else: what uv takes for no version it takes for the path of a program to run,
# and one with too many digits for its name.
_VERSION = r"[0-9]{1,6}(?:\.[0-9]{1,6}){0,3}(?:(?:a|b|rc)[0-9]{1,3})?(?:\.\*)?"
_SPECIFIER = rf"(?:~=|==|!=|<=?|>=?) *+{_VERSION} *+"
_SPECIFIERS = rf" *+(?:{_SPECIFIER}(?:, *+{_SPECIFIER}){{0,20}})?,? *+"


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
    # uv runs each that it looks at, and where they lie others may have put one: what those write
    # nobody reads afterwards, no other step of uv either, and what they say is not shown.
    apart = Work.of(work.place, work.options, quoted=False)
    of_uv = pythons_of_uv()
    env = _environ_to_find(of_uv, apart)
    # Asked to be quiet, it would not say which it has found.
    find = [uv, "python", "find", "--no-config", "--no-cache"]
    find += ["--system", "--no-project", "--", str(admitted)]
    reached = _reach_of_pythons(uv, apart)
    found = apart.step(find, env, reached, may_fail=True)
    if _failed(found) and env["UV_PYTHON_DOWNLOADS"] == "automatic":
        _install(admitted, script, uv, of_uv, work)
        found = apart.step(find, env, reached, may_fail=True)
    if found.timed_out:
        raise apart.failure(found, env)
    python = os.fsdecode(found.stdout.rstrip(b"\r\n"))
    if _failed(found) or not os.path.isabs(python):
        raise not_made(f"uv found no Python {admitted} {_NO_PYTHON}")
    _refuse_among_work(python, "the Python that uv has found")
    if not os.path.isfile(python):
        raise not_made("what uv has found is no Python")
    # Of the user's Python, which knows of no package of the script's; without `site` all the same.
    about = apart.step([python, "-I", "-S", "-c", _ABOUT], told(TO_ALL), reached)
    try:
        version, prefix, path = msgspec.json.decode(about.stdout, type=tuple[str, str, str])
    except ValueError as error:
        raise not_made("what uv has found is no Python") from error
    for place in (path, prefix):
        _refuse_among_work(place, "the Python that uv has found")
    return Base(real_path(path), prefix, version)


def _failed(finished: Finished) -> bool:
    return finished.timed_out or finished.code != 0


def _reach_of_pythons(uv: str, work: Work) -> Confinement:
    """What the Pythons reach that uv looks at: themselves."""
    pyenv = os.path.join(own_home(), ".pyenv")
    of_user = [] if is_among_work(pyenv) else [pyenv]
    return Confinement(
        layers=LAYERS,
        filtered=True,
        readable=(uv, *pythons(), *programs(), *pythons_on_path(), *libraries(), *of_user),
        writable=(work.folder,),
    )


def _refuse_among_work(path: str, what: str) -> None:
    if is_among_work(path):
        raise not_made(
            f"{what} lies in the folder or checkout that is worked on, or a link there leads to "
            "it, and may have come with it: install one elsewhere"
        )


def _install(admitted: object, script: str, uv: str, of_uv: str, work: Work) -> None:
    """Let uv download a Python: nothing of the script's but the version that it wants has a say.

    Raises:
        MetricFailure: it would come where a stranger's may lie, or cannot be had.
    """
    _refuse_among_work(of_uv, "the folder of uv's Pythons")
    try:
        make_own(of_uv)
    except OSError as error:
        raise not_made(str(error)) from error
    cache = uv_cache(work.place)
    # Where users look for programs it is nobody's but theirs to put one.
    install = [uv, "python", "install", "--no-config", "--cache-dir", cache, "--no-bin"]
    install += ["--install-dir", of_uv, "--", str(admitted)]
    env = environ_of_uv() | told(OF_PYTHONS)
    work.step(install, env, reach(uv, script, [cache, of_uv, work.folder]))


def _environ_to_find(of_uv: str, work: Work) -> dict[str, str]:
    """What says where Pythons lie, and nothing else; none where what we work on lies."""
    env = {"UV_PYTHON_DOWNLOADS": "never", **told((*TO_ALL, *TO_FIND_PYTHONS))}
    nowhere = os.path.join(work.folder, "pythons")
    return env | {"UV_PYTHON_INSTALL_DIR": nowhere if is_among_work(of_uv) else of_uv}
