"""The uv that is run for a script: where it is, what it reaches, and what of ours it is told."""

from __future__ import annotations

import os
import re
import site
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from glob import escape, glob

from ..confinement.homes import cache_home, homes, own_home
from ..confinement.places import LANDLOCK, PRIVATE
from ..confinement.workplace import Confinement, Named, Workplace
from ..documents.paths import is_below, real_path, strayed
from ..documents.work import is_among_work, links_of_work
from ..errors import MetricFailure
from .beside import beside
from .indexes import packages_of_user
from .owners import is_ours_alone, is_own, make_own, stays_there
from .variables import CERTIFICATES, TO_UV, folders, named, told, which

# What belongs to a Python, by its place below its prefix or by how its name begins.
_PARTS = (
    *("pyvenv.cfg", "share/zoneinfo", "lib/ossl-modules", "lib64/ossl-modules"),
    *("ssl/openssl.cnf", "ssl/cert.pem", "ssl/certs"),
)
_LIBRARIES = ("lib", "lib64")
_OF_LIBRARIES = (*(f"python{digit}" for digit in range(10)), "tcl", "tk", "engines-")
_BEGINS = {"bin": "python", "include": "python"} | dict.fromkeys(_LIBRARIES, _OF_LIBRARIES)
_LIBRARY = re.compile(r"lib.*\.(so|so\..*|dylib)\Z", re.DOTALL)
_OF_INDEX = re.compile(r"UV_INDEX_[A-Z0-9_]+_(?:USERNAME|PASSWORD)")
# People have projects in /usr/app and the like.
_OF_CODE = ("bin", "sbin", "lib", "lib64", "libexec")
_SYSTEM = (
    *(f"{above}/{part}/" for above in ("", "/usr", "/usr/local") for part in _OF_CODE),
    *("/nix/store/", "/run/current-system/", "/snap/", "/usr/local/cuda"),
)
_ASKING = threading.Lock()


def our_python() -> str:
    """The interpreter that runs us, and no environment of it, where all links to it lead.

    It finds its library by where it lies: no link on the way has to be there for it.
    """
    return real_path(getattr(sys, "_base_executable", None) or sys.executable)


def prefix_of(python: str) -> str:
    """Where an interpreter, by its real path, has its library, as in each environment of it."""
    if python == our_python():
        return sys.base_prefix
    return os.path.dirname(os.path.dirname(python))


def readable_of(python: str, prefix: str) -> list[str]:
    """What an interpreter reads of its installation, in which other things may lie.

    A home directory perhaps, or settings with passwords.
    """
    return [python, *_of(prefix)]


@cache
def packages_of(prefix: str) -> tuple[str, ...]:
    """Where what the user has installed for an interpreter lies, which belongs to no script."""
    if f"{prefix}/".startswith(("//", "/usr/")):
        return ()  # everybody reads the system
    return tuple(
        real_path(packages)
        for library in _LIBRARIES
        for kind in ("site", "dist")
        for packages in glob(f"{escape(prefix)}/{library}/python*/{kind}-packages")
    )


@cache
def _of(prefix: str) -> tuple[str, ...]:
    if prefix in ("/", "/usr"):
        return ()  # everybody reads the system
    found = [os.path.join(prefix, part) for part in _PARTS]
    for folder, begins in _BEGINS.items():
        where = os.path.join(prefix, folder)
        if os.path.islink(where) and folder != sys.platlibdir:
            continue
        with suppress(OSError):
            names = (
                name
                for name in sorted(os.listdir(where))
                if name.startswith(begins) or (folder in _LIBRARIES and _LIBRARY.match(name))
            )
            paths = (os.path.join(where, name) for name in names)
            found += [path for path in paths if not _is_second_name(path, where)]
    return tuple(found)


def libraries() -> list[str]:
    """The libraries in the folders that LD_LIBRARY_PATH names, whatever else lies there."""
    found = []
    for folder in folders("LD_LIBRARY_PATH"):
        with suppress(OSError):
            names = filter(_LIBRARY.match, os.listdir(folder))
            paths = (os.path.join(folder, name) for name in names)
            found += [path for path in paths if _is_library(real_path(path), folder)]
    return found


def _is_library(real: str, folder: str) -> bool:
    """Whether a link to it, or itself, is a library there or of the system."""
    there = os.path.dirname(real) == real_path(folder) or real.startswith(_SYSTEM)
    is_called_one = _LIBRARY.match(os.path.basename(real)) is not None
    return there and is_called_one and os.path.isfile(real)


def _is_second_name(path: str, folder: str) -> bool:
    """Whether it is a folder beside it: as `python3.1` in conda, by which all would be shown."""
    if not os.path.islink(path):
        return False
    real = real_path(path)
    return os.path.dirname(real) == real_path(folder) and os.path.isdir(real)


def uv_cache(place: Workplace) -> str:
    """Where uv keeps packages and environments; for this run alone where that cannot be written."""
    named = os.environ.get("UV_CACHE_DIR")
    kept = os.path.abspath(named or os.path.join(cache_home(), "uv"))
    try:
        # No link is followed again; one that is named may be anybody's.
        real = real_path(kept)
        ours = is_ours_alone(real) if named else is_own(kept)
        if is_among_work(kept) or not (ours and stays_there(real)):
            raise PermissionError(kept)
        kept = real
        make_own(kept)
    except OSError:
        kept = os.path.join(place.folder, "uv")
        make_own(kept)
    return kept


def keyring() -> str:
    """Programs that hand out passwords are asked only where the user says so."""
    return os.environ.get("UV_KEYRING_PROVIDER") or "disabled"


def reach(
    uv: str,
    script: str,
    writable: list[str],
    python: Sequence[str] = (),
    *,
    passwords: bool = True,
) -> Confinement:
    """What uv may reach, none of whose work is a stranger's code.

    The network, its cache, what the `python` reads that was chosen, what lies beside the script and
    is not hidden, and what says how hosts are reached; with `passwords` these, Pythons, and where
    programs lie that tell passwords. Without them an index may be a stranger's, and name any file
    as a package.
    """
    files, listed = beside(script)
    folders = [(folder, real_path(folder)) for folder in packages_of_user()[1]]
    readable: list[str | Named] = [uv, *python, *libraries(), *certificates()]
    readable += [*files, *folders]
    if passwords:
        home = own_home()
        of_user = [os.path.join(home, part) for part in (".local/bin", ".pyenv", ".gitconfig")]
        of_user.append(os.path.join(_data_of_uv(), "credentials"))
        readable += [path for path in of_user if not is_among_work(path)]
        readable += [*pythons(), *programs()]
        readable += told(("SSL_CLIENT_CERT", "UV_CREDENTIALS_DIR")).values()
        if netrc := _netrc():
            readable.append(netrc)
    return Confinement(
        layers=(LANDLOCK,),
        filtered=False,
        network=True,
        readable=tuple(readable),
        writable=tuple(writable),
        listed=listed,
    )


def certificates() -> list[str]:
    """Where the user says that certificates of authorities lie; by no link out of its folder.

    Nor by any that came with what we work on.
    """
    places = (path for path in told(CERTIFICATES).values() if strayed(path) is None)
    return [path for path in places if not links_of_work(path)]


def pythons() -> list[str]:
    """The Pythons that uv may choose from."""
    ours = [*readable_of(our_python(), sys.base_prefix), *_of(sys.prefix)]
    of_uv = pythons_of_uv()
    return ours if is_among_work(of_uv) else [*ours, of_uv]


def pythons_on_path() -> list[str]:
    """What the Pythons in folders where programs are looked for read of their installations.

    There may be links alone, which lead to them.
    """
    places = [path for folder in programs() for path in glob(f"{escape(folder)}/python3*")]
    found: dict[str, None] = {}
    for python in map(real_path, places):
        prefix, name = os.path.split(os.path.dirname(python))
        if name == "bin":
            found |= dict.fromkeys(readable_of(python, prefix))
    return list(found)


def pythons_of_uv() -> str:
    """The folder of the Pythons that uv itself has installed."""
    return named("UV_PYTHON_INSTALL_DIR") or os.path.join(_data_of_uv(), "python")


def _data_of_uv() -> str:
    data = named("XDG_DATA_HOME") or os.path.join(own_home(), ".local", "share")
    return os.path.join(data, "uv")


def _netrc() -> str | None:
    """The file with the user's passwords of hosts, by no link out of its folder."""
    path = named("NETRC") or os.path.join(os.path.abspath(own_home()), ".netrc")
    return path if os.path.isfile(path) and strayed(path) is None else None


def programs_of_all() -> list[str]:
    """Those folders where programs are looked for in which lies nothing of the user alone."""
    own = (*PRIVATE, *homes(), sys.prefix, sys.base_prefix)
    private = tuple(f"{real_path(place)}/" for place in own if place not in ("/", "/usr"))
    places = ((each, f"{real_path(each)}/") for each in programs())
    return [e for e, at in places if at.startswith(_SYSTEM) and not at.startswith(private)]


def programs() -> list[str]:
    """Where programs are looked for; a folder that is a whole home or more is none for programs."""
    home = own_home()
    return [
        folder for folder in folders("PATH") if not f"{home}/".startswith(f"{real_path(folder)}/")
    ]


def find_uv() -> str:
    """The uv installed beside us, else the one on PATH.

    Raises:
        MetricFailure: there is none.
    """
    # For weight: a kept environment needs none of it.
    from uv import find_uv_bin

    try:
        # It asks sysconfig, which two threads must not ask for the first time at once.
        with _ASKING:
            found = os.path.abspath(find_uv_bin())
    except FileNotFoundError:
        found = ""
    # It looks into the user's home, too, from where we run no code ourselves.
    if not found or (is_among_work(found) and not any(is_below(found, p) for p in _our_prefixes())):
        found = which("uv") or ""
    if not found:
        raise MetricFailure(
            "script-environment",
            "uv was not found, which makes the environments of metric scripts: "
            "python -m pip install uv",
        )
    return os.path.abspath(found)


def _our_prefixes() -> list[str]:
    """Where the packages lie that our own Python runs."""
    user = [site.getuserbase()] if site.ENABLE_USER_SITE else []
    return [sys.prefix, sys.base_prefix, *user]


def has_logins() -> bool:
    """Whether an index may know the user, or is not everybody's."""
    kept = os.path.join(_data_of_uv(), "credentials"), named("UV_CREDENTIALS_DIR") or ""
    return (
        any(_OF_INDEX.fullmatch(name) for name in os.environ)
        or bool(packages_of_user()[0])
        or keyring() != "disabled"
        or _netrc() is not None
        or "SSL_CLIENT_CERT" in os.environ
        or any(map(os.path.exists, kept))
    )


def environ_of_uv() -> dict[str, str]:
    """The variables of ours that uv is told, the user's passwords for indexes among them."""
    passwords = [name for name in os.environ if _OF_INDEX.fullmatch(name)]
    env = told([*TO_UV, *passwords]) | packages_of_user()[0]
    if not os.access(env.get("HOME", ""), os.W_OK | os.X_OK):
        # uv fails when it cannot write to HOME, and does without one when there is none.
        env.pop("HOME", None)
        if netrc := _netrc():
            env["NETRC"] = netrc
    return {"UV_PYTHON_DOWNLOADS": "never", **env, "UV_NO_PROGRESS": "1"}
