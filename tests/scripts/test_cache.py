"""What scripts leave to be used again goes when it is old, and nothing half stays."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest
from conftest import Run
from metric_scripts import BLOCK, COUNT, linux

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts import cache
from harbor_metrics.scripts.environment import environment

MONTH = 31 * 86_400


def age(path: Path) -> None:
    old = time.time() - MONTH
    os.utime(path, (old, old), follow_symlinks=False)


def environments() -> Path:
    """The folder in which they are kept."""
    folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def make(name: str, *, old: bool = False) -> list[Path]:
    """Everything that is kept for an environment."""
    folder = environments()
    (folder / f"{name}-1").mkdir()
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


@pytest.mark.parametrize("arguments", [(), ("--prune",)])
@pytest.mark.parametrize("why", ["checkout", "another folder in its place", "link"])
def test_the_command_says_why_no_cache_is_used(
    why: str, arguments: tuple[str, ...], cli: Run, tmp_path: Path
) -> None:
    home = tmp_path / "caches"
    (home / "elsewhere").mkdir(parents=True)
    if why == "checkout":
        (home / ".git").touch()
    elif why == "link":
        (home / "harbor-metrics").symlink_to("elsewhere")
    else:
        home.chmod(0o777)
    (tmp_path / "here").mkdir()
    env = {"XDG_CACHE_HOME": str(home)}
    done = cli("cache", *arguments, env=env, cwd=tmp_path / "here")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"nothing is kept: {home}/harbor-metrics is not used, for ")
    assert why in done.stdout


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


@linux
@pytest.mark.parametrize("where", ["here", "checkout", "linked"])
def test_no_cache_of_ours_lies_among_what_we_work_on(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("1")
    folder = environments()
    for link in (folder / "a.json.lock", folder.parent / "pruned"):
        link.symlink_to(tmp_path / "precious")
    with cache.alone(str(folder / "a.json")):
        cache.use(str(folder / "a.json"))
    assert (tmp_path / "precious").read_text() == "1"


@pytest.mark.parametrize("read_by_us", [False, True])
def test_nobody_waits_for_a_pipe_that_a_cache_brings(read_by_us: bool, tmp_path: Path) -> None:
    folder = environments()
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
