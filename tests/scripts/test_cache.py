"""What scripts leave to be used again goes when it is old, and nothing half stays."""

from __future__ import annotations

import fcntl
import grp
import json
import os
import pwd
import shutil
import time
from pathlib import Path

import pytest
from conftest import Run
from metric_scripts import BLOCK, COUNT, linux

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts import cache, kept
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.uv_access import uv_cache

MONTH = 31 * 86_400


def age(path: Path) -> None:
    old = time.time() - MONTH
    os.utime(path, (old, old), follow_symlinks=False)


def make(name: str, *, old: bool = False) -> list[Path]:
    """Everything that is kept for an environment."""
    folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
    (folder / f"{name}-1").mkdir(parents=True)
    (folder / f"{name}-1" / "file").write_bytes(bytes(10_000))
    paths = [folder / f"{name}.json", folder / f"{name}.lock", folder / f"{name}-1"]
    for path in paths[:2]:
        path.write_text("{}")
    for path in paths if old else ():
        age(path)
    return paths


def test_what_is_old_goes_whole_and_what_is_used_stays() -> None:
    old, new = make("a" * 32, old=True), make("b" * 32)
    record = Path(cache.cache_folder(cache.RECORDS)) / "c.json"
    record.parent.mkdir()
    record.write_text("[]")
    tree = Path(cache.cache_folder(cache.REPOSITORIES)) / "c"
    tree.mkdir(parents=True)
    age(record)
    age(tree)
    assert [entry.name for entry in cache.prune(cache.DAYS)] in (["a" * 32, "c"], ["c", "a" * 32])
    assert not any(path.exists() for path in [*old, record, tree])
    assert all(path.exists() for path in new)


@pytest.mark.parametrize(
    ("mode", "after"), [(0, 0o700), (0o100, 0o700), (0o500, 0o500), (0o777, 0o700)]
)
def test_folder_of_ours_that_was_shut_is_open_again(mode: int, after: int, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for name in ("folder", "file"):
        (tmp_path / name).chmod(mode)
        assert cache.is_own(str(tmp_path / name))
    assert (tmp_path / "folder").stat().st_mode & 0o777 == after
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode & 0o700


def test_one_use_a_day_removes_what_is_old() -> None:
    old, new = make("a" * 32, old=True), make("b" * 32, old=True)
    cache.use(str(new[0]))
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in new)
    again = make("a" * 32, old=True)
    cache.use(str(new[0]))
    assert all(path.exists() for path in again)
    age(Path(cache.cache_folder("pruned")))
    cache.use(str(new[0]))
    assert not any(path.exists() for path in again)


def test_a_run_uses_and_prunes(outcome) -> None:
    old = make("a" * 32, old=True)
    for _ in range(2):
        one, _done = outcome(BLOCK + COUNT)
        assert one["values"] == {"n": 2}
    assert not any(path.exists() for path in old)
    assert [entry.kind for entry in cache.entries()] == ["environments"]


def test_the_command_shows_and_prunes(cli: Run) -> None:
    assert cli("cache").stdout.startswith("0 entries, 0.0 MB in ")
    make("a" * 32, old=True)
    make("b" * 32)
    shown = cli("cache").stdout.splitlines()
    assert shown[0].split() == ["kind", "name", "MB", "last", "used"]
    assert [line.split()[0] for line in shown[1:]] == ["environments", "environments", "2"]
    assert shown[1].endswith("31 days ago")
    assert len(cli("cache", "--days", "30").stdout.splitlines()) == 3
    assert cli("cache", "--prune").stdout.startswith("removed 1 entry")
    assert cli("cache", "--prune", "--days", "0").stdout.startswith("removed 1 entry")
    assert cache.entries() == []


def test_what_somebody_is_making_stays_and_what_is_left_of_a_dead_one_goes(tmp_path: Path) -> None:
    for name in ("alive.tmp", "dead.tmp", "kept"):
        (tmp_path / name).mkdir()
    with cache.at_work(str(tmp_path / "alive.tmp")):
        cache.remove_unfinished(str(tmp_path))
        assert sorted(os.listdir(tmp_path)) == ["alive.tmp", "kept"]
    cache.remove_unfinished(str(tmp_path))
    assert os.listdir(tmp_path) == ["kept"]


def test_what_is_in_use_stays_whole_until_it_is_not() -> None:
    paths = make("a" * 32, old=True)
    kept: dict[str, int] = {}
    assert cache.hold(str(paths[2]), kept)
    assert cache.prune(cache.DAYS) == []
    assert all(path.exists() for path in paths)
    cache.release(str(paths[2]), kept)
    with cache.alone(str(paths[0])):
        assert cache.prune(0) == []
    assert [entry.name for entry in cache.prune(0)] == ["a" * 32]
    assert not cache.hold(str(paths[2]), kept)
    assert kept == {}


def test_what_is_being_removed_is_not_used(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert not cache.hold(str(tmp_path), {})
    os.close(descriptor)


@linux
def test_an_environment_stays_while_a_run_has_it(tmp_path: Path) -> None:
    script = tmp_path / "m.py"
    script.write_text(BLOCK)
    changes = (BLOCK.replace("# d", f'# requires-python=">=3.{n}"\n# d') for n in range(8))
    with Workplace() as one:
        made = environment(find(str(script), None), one)
        descriptor = one.kept[os.path.dirname(made.readable[0])]
        assert not os.get_inheritable(descriptor)
        with Workplace() as other:
            assert environment(find(str(script), None), other) == made
            script.write_text(next(changes))
            with Workplace() as third:
                environment(find(str(script), None), third)
            assert os.path.exists(made.command[0])
            # No supervisor holds it, whenever it was started.
            one.run(["/bin/true"], env={}, cwd="/", timeout=10)
        holders = Path("/proc/locks").read_text().count(f":{os.fstat(descriptor).st_ino} ")
        assert holders == 1
        assert os.path.exists(made.command[0])
    script.write_text(next(changes))
    with Workplace() as place:
        environment(find(str(script), None), place)
    assert not os.path.exists(made.command[0])


class TestOwners:
    """Of what somebody else can write nothing is believed."""

    @pytest.mark.parametrize("mode", [0o777, 0o775, 0o755, 0o700])
    def test_what_the_group_could_write_is_ours_alone_from_now_on(
        self, mode: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of a folder that it can only read, it could write what lies in it."""
        monkeypatch.delenv("UV_CACHE_DIR")
        folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
        folder.mkdir(parents=True)
        of_uv = Path(cache.cache_home()) / "uv"
        (of_uv / "archive-v0").mkdir(parents=True)
        for path in (folder.parent, folder, of_uv):
            path.chmod(mode)
        assert cache.cache_folder(cache.ENVIRONMENTS) == str(folder)
        with Workplace() as place:
            assert uv_cache(place) == str(of_uv)
        for path in (folder.parent, folder, of_uv):
            assert path.stat().st_mode & 0o777 == 0o700
        assert (of_uv / "archive-v0").is_dir()

    @pytest.mark.parametrize(
        ("mode", "used"), [(0o777, False), (0o775, False), (0o755, True), (0o700, True)]
    )
    def test_a_cache_of_uv_that_people_share_stays_as_it_is(self, mode: int, used: bool) -> None:
        of_uv = Path(os.environ["UV_CACHE_DIR"])
        of_uv.mkdir()
        os.chown(of_uv, -1, 65534 if os.getuid() == 0 else -1)
        of_uv.chmod(mode)
        with Workplace() as place:
            assert (uv_cache(place) == str(of_uv)) == (used or (mode == 0o775 and os.getuid() != 0))
        assert of_uv.stat().st_mode & 0o777 == mode

    @pytest.mark.parametrize(
        ("above", "below", "of_one", "used"),
        [
            (0o755, 0o755, False, True),
            (0o755, 0o775, False, False),
            (0o755, 0o775, True, True),
            (0o755, 0o777, True, False),
            (0o710, 0o775, False, False),
            (0o700, 0o775, False, True),
        ],
    )
    def test_named_cache_of_uv_in_which_others_can_write_is_not_used(
        self, above: int, below: int, of_one: bool, used: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What uv makes below has the mode that a umask gives it."""
        of_uv = Path(os.environ["UV_CACHE_DIR"])
        (of_uv / "archive-v0").mkdir(parents=True)
        (of_uv / ".lock").touch()
        (of_uv / ".lock").chmod(0o777)
        (of_uv / "archive-v0").chmod(below)
        of_uv.chmod(above)
        monkeypatch.setattr(cache, "_is_of_one", lambda group: of_one)
        with Workplace() as place:
            assert (uv_cache(place) == str(of_uv)) == used

    @pytest.mark.parametrize(
        ("mode", "of_one", "used"),
        [
            (0o777, True, False),
            (0o1777, False, True),
            (0o775, False, False),
            (0o2775, False, False),
            (0o775, True, True),
            (0o755, False, True),
            (0o700, False, True),
        ],
    )
    @pytest.mark.parametrize("below", [".", "mine"])
    def test_cache_in_a_folder_where_others_change_names_is_not_used(
        self,
        below: str,
        mode: int,
        of_one: bool,
        used: bool,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """They would put another in its place between our look and the use."""
        lab = tmp_path / "lab"
        (lab / below).mkdir(parents=True)
        lab.chmod(mode)
        monkeypatch.setattr(cache, "_is_of_one", lambda group: of_one)
        monkeypatch.setenv("UV_CACHE_DIR", str(lab / below / "uv"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(lab / below))
        with Workplace() as place:
            assert (uv_cache(place) == str(lab / below / "uv")) == used
        assert (cache.cache_folder("git") == str(lab / below / "harbor-metrics/git")) == used
        assert lab.stat().st_mode & 0o7777 == mode

    @pytest.mark.parametrize("mode", [0o775, 0o777, 0o755])
    def test_no_group_changes_names_in_the_folder_of_all_caches_of_a_user(
        self, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A umask for groups has made it so."""
        caches = tmp_path / "home" / ".cache"
        caches.mkdir(parents=True)
        caches.chmod(mode)
        monkeypatch.setattr(cache, "_is_of_one", lambda group: False)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache.cache_folder("git") == str(caches / "harbor-metrics" / "git")
        assert caches.stat().st_mode & 0o777 == 0o755
        (tmp_path / "home").chmod(0o777)
        assert not cache.cache_folder("git").startswith(str(tmp_path))

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
    def test_cache_in_a_folder_of_somebody_else_is_not_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "lab" / "uv").mkdir(parents=True)
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "lab" / "uv"))
        os.chown(tmp_path / "lab", 65_534, 65_534)
        with Workplace() as place:
            assert uv_cache(place).startswith(place.folder)

    def test_group_of_one_is_that_of_the_user_and_has_no_other(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, of_user, number, members, is_of_one in (
            ("me", 5, 5, [], True),
            ("me", 5, 5, ["me"], True),
            ("me", 5, 5, ["you"], False),
            ("users", 5, 5, [], False),
            ("me", 5, 6, [], False),
            ("me", 0, 0, [], False),
        ):
            me = pwd.struct_passwd(("me", "x", os.geteuid(), of_user, "", "/", "/bin/sh"))
            monkeypatch.setattr("pwd.getpwuid", lambda user, me=me: me)
            group = grp.struct_group((name, "x", number, members))
            monkeypatch.setattr("grp.getgrgid", lambda _, group=group: group)
            cache._is_of_one.cache_clear()
            assert cache._is_of_one(number) == is_of_one
        cache._is_of_one.cache_clear()

    @linux
    @pytest.mark.parametrize("shared", ["record", "folder"])
    def test_what_others_could_write_is_made_anew(self, shared: str, tmp_path: Path) -> None:
        """The mode of a record can be taken back, and what stands in it by then cannot."""
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        before = os.umask(0o002)
        try:
            with Workplace() as place:
                first = environment(script, place)
                (record,) = Path(cache.cache_folder(cache.ENVIRONMENTS)).glob("*.json")
                assert record.stat().st_mode & 0o777 == 0o600
                assert environment(script, place) == first
            path = record if shared == "record" else Path(first.readable[0]).parent
            path.chmod(path.stat().st_mode | 0o020)
            with Workplace() as place:
                second = environment(script, place)
                assert second.command != first.command
                assert environment(script, place) == second
        finally:
            os.umask(before)

    @linux
    def test_nobody_else_reaches_what_is_made_where_a_group_may_write(self, outcome) -> None:
        before = os.umask(0o002)
        try:
            one, _done = outcome(BLOCK + COUNT)
            with Workplace() as place:
                of_uv = uv_cache(place)
        finally:
            os.umask(before)
        assert one["values"] == {"n": 2}
        for folder in (of_uv, cache.cache_folder(cache.ENVIRONMENTS)):
            assert os.stat(folder).st_mode & 0o777 == 0o700

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
    @pytest.mark.parametrize("link", [False, True], ids=["folder", "link"])
    @pytest.mark.parametrize("above", [False, True], ids=["of environments", "of all"])
    def test_folder_of_somebody_else_is_none(self, link: bool, above: bool, tmp_path: Path) -> None:
        folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
        theirs = folder.parent if above else folder
        theirs.parent.mkdir(parents=True, exist_ok=True)
        if link:
            (tmp_path / "ours").mkdir()
            theirs.symlink_to(tmp_path / "ours")
        else:
            theirs.mkdir()
        os.chown(theirs, 65_534, 65_534, follow_symlinks=False)
        found = cache.cache_folder(cache.ENVIRONMENTS)
        assert not os.path.lexists(found)
        with pytest.raises(OSError, match="directory"):
            os.makedirs(found)

    @linux
    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
    def test_record_of_somebody_else_is_not_believed(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            (record,) = Path(cache.cache_folder(cache.ENVIRONMENTS)).glob("*.json")
            os.chown(record, 65_534, 65_534)
            assert environment(script, place).command != first.command

    @pytest.mark.parametrize("where", ["here", "checkout", "linked"])
    def test_cache_of_uv_that_came_with_what_we_work_on_is_not_used(
        self, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        work = tmp_path / "work"
        (work / "deep").mkdir(parents=True)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        named = work / "deep" / ".cache"
        monkeypatch.setenv("UV_CACHE_DIR", str(named))
        with Workplace() as place:
            assert uv_cache(place) == str(named)
            if where == "checkout":
                (work / ".git").write_text("gitdir: elsewhere")
            else:
                monkeypatch.chdir(work)
            if where == "linked":
                (tmp_path / "link").symlink_to(work)
                monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "link" / ".uv-cache"))
            assert uv_cache(place).startswith(place.folder)

    @pytest.mark.parametrize("of_user", [False, True])
    def test_link_that_came_with_what_we_work_on_names_no_cache_of_uv(
        self, of_user: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whoever brings it knows where on this machine something lies that he has made."""
        for folder in ("work/.git", "home", "elsewhere/uv"):
            (tmp_path / folder).mkdir(parents=True)
        link = tmp_path / ("home" if of_user else "work") / "cache"
        link.symlink_to(tmp_path / "elsewhere")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("UV_CACHE_DIR", str(link / "uv"))
        with Workplace() as place:
            assert (uv_cache(place) == str(tmp_path / "elsewhere" / "uv")) == of_user

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
    def test_cache_of_uv_that_somebody_else_owns_is_not_used_where_it_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "uv").mkdir()
        (tmp_path / "link").symlink_to("uv")
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "link"))
        with Workplace() as place:
            assert uv_cache(place) == str(tmp_path / "uv")
            os.chown(tmp_path / "uv", 65_534, 65_534)
            assert uv_cache(place).startswith(place.folder)

    @linux
    @pytest.mark.parametrize("where", ["here", "checkout", "linked"])
    def test_no_cache_of_ours_lies_among_what_we_work_on(
        self, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A script is told where its environment lies and since when, and tells its author."""
        work = tmp_path / "work"
        work.mkdir()
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(work / "cache"))
        assert cache.cache_folder("git") == str(work / "cache" / "harbor-metrics" / "git")
        if where == "linked":
            (tmp_path / "link").symlink_to(work)
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "link" / "cache"))
        if where == "checkout":
            (work / ".git").mkdir()
        else:
            monkeypatch.chdir(work)
        assert not cache.cache_folder("git").startswith(str(tmp_path))
        with Workplace() as place:
            assert environment(script, place).command[0].startswith(place.folder)
        assert not (work / "cache" / "harbor-metrics").exists()

    @linux
    def test_record_names_nothing_that_is_run_or_read(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            (record,) = Path(cache.cache_folder(cache.ENVIRONMENTS)).glob("*.json")
            line, _, rest = record.read_text().partition("\n")
            theirs = {"command": ["/bin/false"], "readable": [str(tmp_path)], "hidden": []}
            forged = json.loads(line) | theirs | {"environment": theirs}
            record.write_text(f"{json.dumps(forged)}\n{rest}")
            assert environment(script, place) == first
        assert not any(f'"{name}"' in line for name in theirs)

    def test_links_in_a_ring_lead_nowhere(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        assert not cache.is_among_work(str(tmp_path / "a" / "c"))

    @pytest.mark.parametrize(
        ("checkouts", "here", "used", "used_if_only_named"),
        [
            ((), "jobs", True, True),
            ((), ".", True, False),
            ((".",), ".", False, False),
            ((".",), "jobs", False, False),
            ((".",), "/usr/share", True, False),
            ((".", "jobs"), "jobs/deep", True, False),
            (("jobs",), "jobs", True, True),
            ((), "..", False, False),
            (("..",), "jobs", False, False),
            ((), "/usr/share", True, True),
        ],
    )
    @pytest.mark.parametrize("of_system", [True, False])
    def test_home_is_work_where_it_is_what_we_work_on(
        self,
        checkouts: tuple[str, ...],
        here: str,
        used: bool,
        used_if_only_named: bool,
        of_system: bool,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """What HOME alone names, and not the system, a runner works on perhaps."""
        home = tmp_path / "home"
        (home / "jobs" / "deep").mkdir(parents=True)
        for checkout in checkouts:
            (home / checkout / ".git").mkdir()
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.chdir(home / here)
        if of_system:
            monkeypatch.setattr(cache, "home_of_system", lambda: str(home))
        believed = used if of_system else used_if_only_named
        for place in (".cache/uv", ".gitconfig", ".local/bin", ".pyenv/versions"):
            assert cache.is_among_work(str(home / place)) != believed
        # What every system has is believed wherever we are.
        assert not cache.is_among_work("/bin")

    @pytest.mark.parametrize("name", [".git", ".hg", ".jj", ".sl", ".svn"])
    def test_home_of_a_user_whom_the_system_does_not_know_is_work_as_any_folder(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As of `docker run --user 23456`."""
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setattr(cache, "home_of_system", lambda: "")
        monkeypatch.chdir(tmp_path)
        assert cache.is_among_work(str(tmp_path / ".gitconfig"))
        (tmp_path / "deep").mkdir()
        monkeypatch.chdir("deep")
        assert not cache.is_among_work(str(tmp_path / ".gitconfig"))
        (tmp_path / name).mkdir()
        assert cache.is_among_work(str(tmp_path / ".gitconfig"))

    @pytest.mark.parametrize("home", ["/", "elsewhere", "here"])
    def test_nobody_works_at_the_root_whatever_the_home_of_a_container(
        self, home: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
        here.mkdir()
        monkeypatch.setenv("HOME", str(tmp_path / home))
        for current in ("/", str(here)):
            monkeypatch.chdir(current)
            assert not cache.is_among_work("/usr/bin")
            assert not cache.is_among_work(str(elsewhere / ".cache" / "uv"))
        assert cache.is_among_work(str(here / ".gitconfig"))

    @pytest.mark.parametrize(("here", "work"), [("jobs", False), (".pyenv", True), (".", False)])
    def test_pyenv_is_a_checkout_that_is_worked_on_only_in_it(
        self, here: str, work: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for checkout in ("jobs", ".pyenv", ".pyenv/versions/3.12.1"):
            (tmp_path / checkout / ".git").mkdir(parents=True)
        (tmp_path / ".pyenv" / "versions" / "3.12.1" / ".git").rmdir()
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setattr(cache, "home_of_system", lambda: str(tmp_path))
        monkeypatch.chdir(tmp_path / here)
        assert cache.is_among_work(str(tmp_path / ".pyenv" / "versions" / "3.12.1")) == work
        assert cache.is_among_work(str(tmp_path / "jobs" / "python"))

    @pytest.mark.parametrize("here", ["/", "/tmp"])
    def test_nobody_works_above_all_homes(
        self, here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(here)
        assert not cache.is_among_work(str(tmp_path / ".cache" / "uv"))

    @linux
    def test_environment_that_was_brought_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
        folder = Path(first.readable[0]).parent
        shutil.copytree(folder, tmp_path / "copy", symlinks=True)
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "copy", folder, symlinks=True)
        with Workplace() as place:
            assert environment(script, place).command != first.command

    def test_environment_of_a_python_that_was_upgraded_is_made_anew(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            assert environment(script, place) == first
        python = Path(first.command[0])
        upgraded = tmp_path / "python"
        shutil.copy(python, upgraded)
        record = next(Path(cache.cache_folder(cache.ENVIRONMENTS)).glob("*.json"))
        # As in the place of the one before, which the record knows.
        text = record.read_text()
        own, other = python.stat(), upgraded.stat()
        assert str(own.st_ino) in text
        record.write_text(text.replace(str(own.st_ino), str(other.st_ino), 1))
        with Workplace() as place:
            assert environment(script, place).command != first.command

    def test_nothing_is_written_through_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "precious").write_text("1")
        folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
        folder.mkdir(parents=True)
        for link in (folder / "a.json.lock", folder.parent / "pruned"):
            link.symlink_to(tmp_path / "precious")
        with cache.alone(str(folder / "a.json")):
            cache.use(str(folder / "a.json"))
        assert (tmp_path / "precious").read_text() == "1"

    @pytest.mark.parametrize("read_by_us", [False, True])
    def test_nobody_waits_for_a_pipe_that_a_cache_brings(
        self, read_by_us: bool, tmp_path: Path
    ) -> None:
        folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
        folder.mkdir(parents=True)
        readers = []
        for pipe in (folder / "a.json.lock", folder.parent / "pruned", folder / "a.json"):
            os.mkfifo(pipe)
            os.utime(pipe, (0, 0))
            if read_by_us:
                readers.append(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        with cache.alone(str(folder / "a.json")):
            cache.use(str(folder / "a.json"))
        assert cache.prune(0)
        for reader in readers:
            os.close(reader)

    @linux
    def test_record_that_came_with_what_we_work_on_changes_nothing_elsewhere(
        self, tmp_path: Path
    ) -> None:
        """All that stands in one can be known beforehand, but for the identity of what is ours."""
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            environment(script, place)
        (record,) = Path(cache.cache_folder(cache.ENVIRONMENTS)).glob("*.json")
        line, _, rest = record.read_text().partition("\n")
        beside = record.with_name(f"{record.stem}-0")
        for theirs in (tmp_path / "shared", beside):
            theirs.mkdir()
            theirs.chmod(0o775)
            forged = json.loads(line) | {"folder": str(theirs)}
            if theirs != beside:
                forged["identity"] = cache.identity(str(theirs))
            record.write_text(f"{json.dumps(forged)}\n{rest}")
            with Workplace() as place:
                assert kept.find(str(record), forged["key"], place.kept) is None
            assert theirs.stat().st_mode & 0o777 == 0o775

    @linux
    @pytest.mark.parametrize(
        "forged",
        [
            {"listings": {}},
            {"folder": "/"},
            {"identity": [1, 2]},
        ],
        ids=["no listings", "another folder", "another identity"],
    )
    def test_record_that_is_none_of_ours_is_not_believed(
        self, forged: dict[str, object], tmp_path: Path
    ) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            (record,) = Path(cache.cache_folder(cache.ENVIRONMENTS)).glob("*.json")
            line, _, rest = record.read_text().partition("\n")
            written = json.loads(line)
            written |= forged
            record.write_text(f"{json.dumps(written)}\n{rest}")
            second = environment(script, place)
        assert second.command != first.command
        assert second.command[0].startswith(str(record.parent))
