"""The Python and the packages that a script asks for: made once, and kept while unchanged."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

from ..confinement.removal import remove
from ..confinement.workplace import Workplace
from ..documents.files import reason
from ..documents.paths import real_path
from ..documents.wording import listed, printable
from ..errors import MetricFailure
from ..registries.local_packages import Packages, digests, folders_of_packages, named_packages
from ..registries.script_block import check_depth
from ..registries.script_file import Script, metadata, read
from ..registries.script_lock import lock_of, read_lock
from .addresses import lead_elsewhere
from .beside import not_own
from .bounds import Required
from .cache import ENVIRONMENTS, alone, cache_folder, hold, release, remove_unused, use
from .copies import copy
from .indexes import lie_among_work, packages_in, packages_of_user
from .install import Wanted, install
from .interpreter import Base
from .kept import Environment, environment_in, find, keep, prefix_in, stamp
from .options import ScriptOptions
from .passwords import addresses_without_logins, with_passwords
from .steps import changed, not_made
from .uv_access import environ_of_uv, our_python, packages_of, prefix_of, readable_of
from .variables import CHOICES, PROXIES, told
from .wheels import check_wheels

# Changes whenever environments are made or kept in another way.
_FORM = 12


def environment(
    script: Script,
    place: Workplace,
    options: ScriptOptions | None = None,
    required: Required = "no",
    *,
    logins: bool = True,
) -> Environment:
    """The script's own environment; without a PEP 723 block the standard library alone.

    Indexes are told the user's `logins`, or none.

    Raises:
        MetricFailure: the block is wrong, there is no uv, or it cannot make what is asked for.
    """
    options = options or ScriptOptions()
    wants = metadata(script)
    if wants is None:
        return _of_standard_library()
    try:
        return _known_or_made(script, wants, place, options, required, logins=logins)
    except OSError as error:
        raise not_made(str(error)) from error


def _known_or_made(
    script: Script,
    wants: dict[str, Any],
    place: Workplace,
    options: ScriptOptions,
    required: Required,
    *,
    logins: bool,
) -> Environment:
    wanted, record, key = _asked(script, wants, options, logins=logins)
    if (known := _known(record, key, place)) is not None:
        return known
    with alone(record):
        # Another run may have made it while we waited.
        if (known := _known(record, key, place)) is not None:
            return known
        return _make(wanted, place, options, required, record, key)


def unchecked(
    script: Script, place: Workplace, options: ScriptOptions, *, logins: bool = True
) -> tuple[Environment, Callable[[], bool]] | None:
    """The environment if it was made before, and what tells whether a file of it is as it was.

    None for the standard library, too, of which nothing is made. Raises as `environment`.
    """
    wants = metadata(script)
    if wants is None:
        return None
    _, record, key = _asked(script, wants, options, logins=logins)
    kept = find(record, key, place.kept)
    if kept is None:
        return None
    use(record)
    return kept.environment, partial(kept.is_unchanged, record)


def _of_standard_library() -> Environment:
    python = ".".join(map(str, sys.version_info[:3]))
    command = [our_python(), "-E", "-s", "-S", "-B"]
    return Environment(
        command=command,
        readable=readable_of(command[0], sys.base_prefix),
        hidden=packages_of(sys.base_prefix),
        python=python,
    )


def _asked(
    script: Script, wants: dict[str, Any], options: ScriptOptions, *, logins: bool
) -> tuple[Wanted, str, str]:
    """What is to be installed, where the record of it is kept, and what stands for all of it."""
    check_depth(wants)
    lock = lock_of(script.path)
    digest = sha256(lock).hexdigest() if lock is not None else None
    beside = real_path(os.path.dirname(os.path.abspath(script.path)))
    # Before anybody is told to run uv on it: a block that leads elsewhere is told passwords then.
    lead_elsewhere(wants, {}, folder=beside, allow_network=options.allow_network)
    pins = read_lock(lock)
    # What its pin was of is what is installed.
    if digest != script.lock:
        raise changed()
    named = named_packages(wants, pins, beside)
    folders = _folders(wants, beside)
    _check_own(script, named | folders, options)
    packages = tuple(dict.fromkeys(named.values()))
    elsewhere = lead_elsewhere(
        wants, pins, packages, folder=beside, allow_network=options.allow_network
    )
    if not options.allow_build:
        check_wheels(named)
    pages = lie_among_work(beside, pages=True)
    if logins and pages and (known := with_passwords(environ_of_uv())):
        raise MetricFailure(
            "script-environment",
            f"{listed(known)} told uv passwords, and so could a page of packages that came with "
            "this folder or the script, which leads anywhere: name pages that lie elsewhere",
        )
    wanted = Wanted(
        script,
        wants,
        digest,
        elsewhere,
        logins and not elsewhere and not pages,
        _digests(
            tuple(dict.fromkeys((*packages, *folders.values()))),
            {real_path(os.path.join(beside, p)): digest for p, digest in script.packages or ()},
        ),
        named,
        folders,
    )
    # Of one version another index has another package, and a folder another one than before.
    indexes = {n: at for n, at in addresses_without_logins().items() if n not in PROXIES}
    there = [(path, *stamp(real)) for path, real in packages_in(packages_of_user()[1])]
    if lie_among_work(beside):
        # Pages can lead anywhere.
        there.append((os.urandom(16).hex(),))
    asked = (
        *(_FORM, script.path, wants, wanted.lock, wanted.local, named, folders),
        *(options.allow_build, our_python(), told(CHOICES), indexes, there, wanted.logins),
    )
    key = sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()
    folder = cache_folder(ENVIRONMENTS)
    # One that the user names and one that only a job does are kept beside each other.
    of_nobody = b"" if logins else b"\n"
    name = sha256(os.fsencode(script.path) + of_nobody).hexdigest()[:32]
    return wanted, os.path.join(folder, f"{name}.json"), key


def _make(
    wanted: Wanted,
    place: Workplace,
    options: ScriptOptions,
    required: Required,
    record: str,
    key: str,
) -> Environment:
    folder, lasting = _new_folder(record, place)
    prefix = prefix_in(folder)
    done = False
    try:
        base, uv = _installed(wanted, prefix, place, options, required)
        _check_unchanged(wanted)
        made = environment_in(
            folder,
            readable_of(base.path, base.prefix),
            packages_of(base.prefix),
            python=base.version,
            uv=uv,
            lock=wanted.lock,
        )
        # Of one that is built in another way nobody would know later what it reads.
        if lasting and real_path(prefix_of(base.path)) == real_path(base.prefix):
            keep(record, key, folder, made)
        done = True
    finally:
        if not done:
            remove(folder)
            release(folder, place.kept)
    return made


def _folders(wants: Mapping[str, Any], beside: str) -> dict[str, str]:
    """Where a block says that packages lie, but for where the user says so, too: as of an index."""
    _, of_user = packages_of_user()
    theirs = set(map(real_path, of_user))
    places = folders_of_packages(wants, beside)
    return {name: real for name, real in places.items() if real not in theirs}


def _check_own(script: Script, named: Mapping[str, str], options: ScriptOptions) -> None:
    """What a script may not read when it runs is none of its packages, which it imports.

    Raises:
        MetricFailure: so one would be.
    """
    if not named:
        return
    try:
        foreign = {*not_own(script.path, named.values(), options.environment)}
    except OSError as error:
        raise not_made(reason(error)) from error
    names = [name or "an empty path" for name, real in named.items() if real in foreign]
    if names:
        raise MetricFailure(
            "script-environment",
            f"the script names {listed([printable(name[:200]) for name in names])} as a package, "
            "which is not its own to read: a package lies in the script's folder, is not hidden "
            "there, and does not hold the script itself",
        )


def _installed(
    wanted: Wanted, prefix: str, place: Workplace, options: ScriptOptions, required: Required
) -> tuple[Base, str]:
    """Install what is wanted by copies: of the script, its lock, and what lies beside it."""
    folder = os.path.join(place.folder, f"packages-{os.urandom(4).hex()}")
    os.mkdir(folder, 0o700)
    try:
        return install(
            wanted,
            copy(wanted, folder, build=options.allow_build),
            prefix,
            place,
            options,
            required,
        )
    finally:
        remove(folder)


def _check_unchanged(wanted: Wanted) -> None:
    """What uv has read of the script and its lock is what we had read."""
    lock = lock_of(wanted.script.path)
    digest = sha256(lock).hexdigest() if lock is not None else None
    now = read(wanted.script.path, wanted.script.shown)
    # As text: a block may say `nan`, which is not equal to itself.
    wants = repr(metadata(now)), repr(wanted.wants)
    if digest != wanted.lock or wants[0] != wants[1]:
        raise changed()


def _digests(packages: Sequence[str], known: Mapping[str, str]) -> Packages:
    try:
        return digests(packages, known)
    except OSError as error:
        raise MetricFailure(
            "script-environment", f"a package beside the script cannot be read: {reason(error)}"
        ) from error


def _new_folder(record: str, place: Workplace) -> tuple[str, bool]:
    """Where to make it, and whether it stays; what was made before and nobody uses is removed."""
    name = os.path.basename(record).removesuffix(".json")
    parent = os.path.dirname(record)
    folder = os.path.join(parent, f"{name}-{os.urandom(4).hex()}")
    try:
        for entry in os.listdir(parent):
            if entry.startswith(f"{name}-"):
                remove_unused([os.path.join(parent, entry)])
        os.mkdir(folder, 0o700)
        hold(folder, place.kept)
    except OSError:
        folder = os.path.join(place.folder, f"environment-{os.urandom(4).hex()}")
        os.mkdir(folder, 0o700)
        return folder, False
    return folder, True


def _known(record: str, key: str, place: Workplace) -> Environment | None:
    kept = find(record, key, place.kept)
    if kept is None:
        return None
    if not kept.is_unchanged(record):
        release(kept.folder, place.kept)
        return None
    use(record)
    return kept.environment
