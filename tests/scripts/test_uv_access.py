"""What is read of a Python, wherever it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.confinement.workplace import Confinement, Workplace
from harbor_metrics.scripts import uv_access

LAYERS = [("landlock",), ("namespaces",), ("landlock", "namespaces")]


def installed(folder: Path) -> Path:
    """A Python in a folder with other things."""
    base = Path(sys.base_prefix)
    if base in (Path("/"), Path("/usr")):
        pytest.skip("this Python is the system's")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    os.link(uv_access.our_python(), folder / "bin" / version)
    for path in (base / "lib").iterdir():
        if path.name == version or path.name.startswith("libpython"):
            (folder / "lib" / path.name).symlink_to(path)
    return folder / "bin" / version


@linux
@pytest.mark.parametrize("layers", LAYERS)
def test_python_reads_itself_and_nothing_else_of_where_it_lies(
    layers: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    local, other = home / ".local", home / "other" / "bin"
    python = installed(local)
    secrets = [local / "pip.conf", local / "share" / "fish" / "history", other.parent / "note"]
    other.mkdir(parents=True)
    for secret in secrets:
        secret.parent.mkdir(parents=True, exist_ok=True)
        secret.write_text("9")
    (other / "python3").symlink_to("python")
    (other / "python").symlink_to(python)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(sys, "_base_executable", str(other / "python3"))
    ours = uv_access.our_python()
    code = (
        "import ctypes, sqlite3, ssl, sysconfig\n"
        f"for path in {[str(path) for path in secrets]!r}:\n"
        "    try: print(open(path).read())\n"
        "    except OSError: print('no')\n"
    )
    readable = (*uv_access.readable_of(ours, str(local)), sys.base_prefix)
    with Workplace() as place:
        done = place.run(
            [ours, "-I", "-S", "-c", code],
            env={},
            cwd="/",
            timeout=30,
            confinement=Confinement(layers=layers, readable=readable),
        )
    if done.layers != layers:
        pytest.skip(f"not here: {done.missing}")
    assert done.stdout.split() == [b"no"] * 3, done.stderr


@linux
@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("how", ["ours", "--symlinks", "--copies", "system"])
def test_python_runs_in_every_layer(layers: tuple[str, ...], how: str, tmp_path: Path) -> None:
    python = "/usr/bin/python3" if how == "system" else uv_access.our_python()
    if not os.path.exists(python):
        pytest.skip("no such Python")
    if how.startswith("--"):
        made = [python, "-m", "venv", "--without-pip", how, str(tmp_path / "made")]
        subprocess.run(made, check=True, timeout=60)
        python = str(tmp_path / "made" / "bin" / "python")
    about = "import sys; print(sys.prefix); print(sys.base_prefix); import {}"
    modules = "ctypes, sqlite3, ssl, zlib, encodings.idna"
    known = subprocess.run(
        [python, "-I", "-c", about.format(modules)], capture_output=True, text=True, check=True
    ).stdout
    prefixes = known.split()
    readable = [part for prefix in prefixes for part in uv_access.readable_of(python, prefix)]
    with Workplace() as place:
        done = place.run(
            [python, "-I", "-c", about.format(modules)],
            env={},
            cwd="/",
            timeout=30,
            confinement=Confinement(layers=layers, readable=tuple(readable)),
        )
    if done.layers != layers:
        pytest.skip(f"not here: {done.missing}")
    assert (done.code, done.stdout.decode()) == (0, known), done.stderr


@linux
@pytest.mark.parametrize("layers", LAYERS)
def test_what_is_installed_for_the_users_python_is_no_scripts(
    layers: tuple[str, ...], tmp_path: Path
) -> None:
    python = installed(tmp_path / "conda")
    library = tmp_path / "conda" / "lib" / python.name
    standard = os.readlink(library)
    library.unlink()
    library.mkdir()
    for path in Path(standard).iterdir():
        if not path.name.endswith("-packages"):
            (library / path.name).symlink_to(path)
    for name in ("secret.py", "shown.py"):
        (library / "site-packages").mkdir(exist_ok=True)
        (library / "site-packages" / name).write_text("9")
    hidden = uv_access.packages_of(str(tmp_path / "conda"))
    assert hidden == (str(library / "site-packages"),)
    code = (
        "import json, sqlite3\n"
        "for name in ('secret', 'shown'):\n"
        f"    try: print(open(f'{library}/site-packages/{{name}}.py').read())\n"
        "    except OSError: print('no')\n"
    )
    readable = (
        *uv_access.readable_of(str(python), str(tmp_path / "conda")),
        sys.base_prefix,
        str(library / "site-packages" / "shown.py"),
    )
    with Workplace() as place:
        done = place.run(
            [str(python), "-I", "-S", "-c", code],
            env={},
            cwd="/",
            timeout=30,
            confinement=Confinement(layers=layers, readable=readable, hidden=hidden),
        )
    if done.layers != layers:
        pytest.skip(f"not here: {done.missing}")
    assert done.stdout.split() == [b"no", b"9"], done.stderr


def test_everybody_reads_what_is_installed_for_the_systems_python() -> None:
    assert uv_access.packages_of("/usr") == uv_access.packages_of("/usr/local") == ()


def test_builds_get_no_programs_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, linked = tmp_path / "home" / "bin", tmp_path / "linked"
    own.mkdir(parents=True)
    linked.symlink_to(own)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{own}:{linked}:{sys.prefix}/bin:/usr/app/bin:/usr/bin:/bin")
    assert uv_access.programs_of_all() == ["/usr/bin", "/bin"]


def test_a_second_name_of_a_library_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "lib" / "python3.99").mkdir(parents=True)
    (tmp_path / "lib" / "python3.9").symlink_to("python3.99")
    (tmp_path / "lib64").symlink_to("lib")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.99").write_text("")
    (tmp_path / "bin" / "python").symlink_to("python3.99")
    shown = uv_access.readable_of("python", str(tmp_path))
    assert str(tmp_path / "lib" / "python3.99") in shown
    assert str(tmp_path / "bin" / "python") in shown
    assert not [path for path in shown if path.endswith("3.9") or "lib64/python" in path]


@pytest.mark.parametrize("where", ["here", "checkout", "linked"])
def test_cache_of_uv_that_came_with_what_we_work_on_is_not_used(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    (work / "deep").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    named = work / "deep" / ".cache"
    monkeypatch.setenv("UV_CACHE_DIR", str(named))
    with Workplace() as place:
        assert uv_access.uv_cache(place) == str(named)
        if where == "checkout":
            (work / ".git").write_text("gitdir: elsewhere")
        else:
            monkeypatch.chdir(work)
        if where == "linked":
            (tmp_path / "link").symlink_to(work)
            monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "link" / ".uv-cache"))
        assert uv_access.uv_cache(place).startswith(place.folder)


@pytest.mark.parametrize("of_user", [False, True])
def test_link_that_came_with_what_we_work_on_names_no_cache_of_uv(
    of_user: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever brings it knows where on this machine something lies that he has made."""
    for folder in ("work/.git", "home", "elsewhere/uv"):
        (tmp_path / folder).mkdir(parents=True)
    link = tmp_path / ("home" if of_user else "work") / "cache"
    link.symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("UV_CACHE_DIR", str(link / "uv"))
    with Workplace() as place:
        assert (uv_access.uv_cache(place) == str(tmp_path / "elsewhere" / "uv")) == of_user


def test_who_is_known_to_an_index_by_whatever_way_has_logins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What nobody is shown is not put where the user's packages are."""
    for name in os.environ:
        if name.startswith(("UV_", "SSL_", "NETRC", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert not uv_access.has_logins()
    for name, value in (
        ("UV_DEFAULT_INDEX", "https://a.example/simple"),
        ("UV_INDEX_CORP_PASSWORD", "x"),
        ("UV_KEYRING_PROVIDER", "subprocess"),
        ("SSL_CLIENT_CERT", "/key.pem"),
    ):
        with monkeypatch.context() as more:
            more.setenv(name, value)
            assert uv_access.has_logins(), name
    (tmp_path / ".netrc").write_text("")
    assert uv_access.has_logins()


def test_uv_reads_no_programs_of_the_user_where_an_index_may_be_a_strangers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its pages could name any file that uv may read as a package."""
    programs = tmp_path / "home" / ".local" / "bin"
    programs.mkdir(parents=True)
    (tmp_path / "m.py").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin")
    for passwords in (False, True):
        reached = uv_access.reach("/opt/uv", str(tmp_path / "m.py"), [], passwords=passwords)
        assert (str(programs) in reached.readable) == passwords
