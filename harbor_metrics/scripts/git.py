"""A script in a git repository, at exactly one commit: fetched once, with its folder, and kept."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import replace
from hashlib import sha256

import msgspec

from ..confinement.finished import Finished
from ..confinement.removal import remove
from ..confinement.workplace import Workplace
from ..documents.contents import File, checked, contents
from ..documents.files import open_regular
from ..documents.paths import real_path
from ..documents.wording import printable
from ..errors import MetricFailure, OutputError
from ..registries.script_file import Script, read
from . import cache, owners
from .git_address import check_address, check_rewritten, settings_in
from .git_home import Home, home_in, nobodys_home, with_password
from .git_program import FETCH_SECONDS, Git
from .variables import which

# Files as they were committed: whatever repository or user have set for filters and links.
_NO_ATTRIBUTES = "* -filter -text -eol -ident -working-tree-encoding -export-subst\n"


class _Record(msgspec.Struct, frozen=True):
    """What was fetched: the folder that it lies in, and each file."""

    identity: tuple[int, int]
    files: list[File]


class _Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of a repository at a commit, and what is permitted and told to have it."""

    url: str
    commit: str
    folder: str
    allow_outside: bool
    logins: bool

    @property
    def name(self) -> str:
        """What it is called in the cache."""
        of_nobody = "" if self.logins else "\n"
        of = f"{self.url}\n{self.folder}{of_nobody}"
        digest = sha256(of.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.commit}-{digest[:16]}"


def fetch(
    url: str,
    commit: str,
    script_path: str,
    place: Workplace,
    *,
    allow_outside: bool = False,
    logins: bool = True,
) -> Script:
    """The script of a repository at a full commit, from the cache where it has been fetched before.

    Hosts are told the user's `logins`, or none; what was fetched with these is kept apart.

    Raises:
        MetricFailure: the address or the commit is not one, or it cannot be fetched.
    """
    check_address(url, commit, script_path, allow_outside=allow_outside)
    inside = os.path.normpath(script_path)
    wanted = _Wanted(
        url=url,
        commit=commit.lower(),
        folder=os.path.dirname(inside),
        allow_outside=allow_outside,
        logins=logins,
    )
    kept = os.path.join(cache.cache_folder(cache.REPOSITORIES), wanted.name)
    record = os.path.join(cache.cache_folder(cache.RECORDS), f"{wanted.name}.json")
    if _is_intact(kept, record, place):
        cache.use(record)
    else:
        with cache.alone(record):
            # Another run may have fetched it while we waited.
            if not _is_intact(kept, record, place):
                kept = _fetched(wanted, place, kept)
                cache.hold(kept, place.kept)
                _note(kept, record)
    return _script(
        os.path.join(kept, "tree"),
        inside,
        f"{script_path} of {printable(url)} at {wanted.commit[:12]}",
    )


def _is_intact(kept: str, record: str, place: Workplace) -> bool:
    """Whether a repository has been fetched, and each file of it is still what was fetched.

    Nobody removes it then while the workplace is there.
    """
    if not (owners.was_own(record) and cache.hold(kept, place.kept)):
        return False
    if not _is_as_fetched(kept, record):
        cache.release(kept, place.kept)
        return False
    return True


def _is_as_fetched(kept: str, record: str) -> bool:
    try:
        with open_regular(record) as file:
            before = msgspec.json.decode(file.read(), type=_Record)
        if before.identity != owners.identity(kept):
            return False
        now = checked(os.path.join(kept, "tree"), before.files)
    except (OSError, ValueError, RecursionError):
        return False
    if now is not None and now != before.files:
        _write(record, kept, now)
    return now is not None


def _note(kept: str, record: str) -> None:
    """Write down what has been fetched, where the cache can be written."""
    if os.path.dirname(kept) == cache.cache_folder(cache.REPOSITORIES):
        with contextlib.suppress(OSError):
            owners.make_own(os.path.dirname(record))
            _write(record, kept, contents(os.path.join(kept, "tree")))


def _write(record: str, kept: str, files: list[File]) -> None:
    # What has a name that is no text is fetched again.
    with contextlib.suppress(OutputError, UnicodeEncodeError):
        cache.write_record(record, msgspec.json.encode(_Record(owners.identity(kept), files)))


def _fetched(wanted: _Wanted, place: Workplace, kept: str) -> str:
    """Fetch beside where it will be kept, and put it there in one step; else into our folder."""
    git = which("git")
    if git is None:
        raise MetricFailure(
            "script-git",
            "git was not found, which fetches this script: install git (what PATH names in the "
            "current folder or a checkout is not used, for it may have come with it)",
        )
    try:
        owners.make_own(os.path.dirname(kept))
        cache.remove_unfinished(os.path.dirname(kept))
        # What may be there was changed since it was fetched; somebody may run what is left of it.
        if not cache.remove_unused([kept]):
            raise BlockingIOError
        new = f"{kept}.{os.urandom(4).hex()}.tmp"
        os.mkdir(new, 0o700)
    except OSError:
        new = kept = os.path.join(place.folder, f"git-{os.urandom(4).hex()}")
        os.mkdir(new, 0o700)
    with cache.at_work(new):
        return _into(new, git, wanted, place, kept)


def _into(new: str, git: str, wanted: _Wanted, place: Workplace, kept: str) -> str:
    """Fetch into an empty folder, which becomes `kept`."""
    url, commit, folder = wanted.url, wanted.commit, wanted.folder
    home = Home()
    tree = os.path.join(new, "tree")
    try:
        home = home_in(place.folder) if wanted.logins else nobodys_home(place.folder)
        deadline = time.monotonic() + FETCH_SECONDS
        run = Git(place, git, url, new, wanted.allow_outside, deadline, home)
        # 64 digits are the name of a tag or a branch, perhaps, where commits have 40.
        form = ["--object-format=sha256"] if len(commit) == 64 else []
        run(["init", "--quiet", *form, tree])
        info = os.path.join(tree, ".git", "info")
        os.makedirs(info, exist_ok=True)
        with open(os.path.join(info, "attributes"), "w", encoding="utf-8") as file:
            file.write(_NO_ATTRIBUTES)
        with open(os.path.join(info, "sparse-checkout"), "w", encoding="utf-8") as file:
            file.write(f"/{_literal(folder)}/\n" if folder else "/*\n")
        there = ["-C", tree]
        run([*there, "remote", "add", "--", "origin", url])
        # The user may have set that it is asked for elsewhere.
        asked = _text(run([*there, "remote", "get-url", "origin"])).strip()
        found = _text(run([*there, "config", "--null", "--list"]))
        check_rewritten(url, asked, settings_in(found, "insteadof"))
        # git takes a header that is for one host along to where that host sends it.
        follows = not any(settings_in(found, "extraheader"))
        run = replace(run, home=with_password(home, asked), follows=follows)
        what = ["--quiet", "--depth=1", "--filter=blob:none", "--no-tags", "--no-write-fetch-head"]
        run([*there, "fetch", *what, "origin", commit])
        checkout = ["checkout", "--quiet", "--detach", "--force", commit]
        run([*there, *checkout])
        head = _text(run([*there, "rev-parse", "--verify", "HEAD"]))
        if head.strip() != commit:
            raise MetricFailure(
                "script-git",
                f"{printable(url)} has something else under the name {printable(commit)}, and no "
                "such commit",
            )
        remove(os.path.join(tree, ".git"))
        if new != kept:
            os.rename(new, kept)
        return kept
    except OSError as error:
        raise MetricFailure(
            "script-git", f"{printable(url)} could not be fetched: {error}"
        ) from error
    finally:
        if home.path is not None:
            remove(home.path)
        if new != kept:
            remove(new)


def _text(done: Finished) -> str:
    return done.stdout.decode("utf-8", "replace")


def _literal(path: str) -> str:
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)


def _script(tree: str, inside: str, written: str) -> Script:
    path = real_path(os.path.join(tree, inside))
    if not os.path.lexists(path):
        raise MetricFailure("script-missing", f"there is no script {printable(written)}")
    return read(path, printable(written), path)
