"""Which modules belong to a script, and that their digest is one that anybody can compute."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from io import BufferedReader
from pathlib import Path

import pytest

from harbor_metrics.documents.files import open_real
from harbor_metrics.documents.paths import followed
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries import modules, script_lock
from harbor_metrics.registries.modules import (
    Content,
    Folders,
    TooManyError,
    copy,
    importable,
    is_metadata,
)
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts.beside import beside


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script's folder with modules, a package, data, and what is not a module."""
    (tmp_path / "helper.py").write_text("X = 1\n")
    (tmp_path / "package" / "deep").mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "deep" / "part.py").write_text("Y = 2\n")
    (tmp_path / "package" / "table.json").write_text("{}")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "v.txt").write_text("5")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "helper.cpython-311.pyc").write_bytes(b"x")
    (tmp_path / ".hidden.py").write_text("")
    (tmp_path / "registry.json").write_text("[]")
    return tmp_path


MODULES = ["helper.py", "package/__init__.py", "package/deep/part.py"]


@pytest.mark.parametrize(
    "text",
    [
        "import helper",
        "import json, helper as h",
        "from package.deep import part",
        "if True: import package",
        "x = 1; import helper",
        "import \\\n    helper",
        "def f():\n    from helper import X",
        "import importlib; importlib.import_module('hel' + 'per')",
        "import sys; sys.path.append('package')",
        "__import__('hel' + 'per')",
        "exec(open('helper.py').read())",
        "import h\u00e9lper",
        "x = 1; import h\u00e9lper",
        "\ufeffimport helper",
        "# a comment\rimport helper",
        "\fimport helper",
        "# coding: utf-7\n+AGk-mport helper",
        "#\n# -*- coding=rot13 -*-\n",
        "x = 1\0",
        "from os import *\nsystem('python helper.py')",
        "import webbrowser; webbrowser.get('python helper.py %s').open('x')",
        "from sys import path as p; p.append('package')",
        "import sys as s; s.path.append('package')",
        "import os; os.sys.path.append('package')",
        "import os, sys, re\nfor m in (os, sys, re): m.path",
        "import argparse; argparse._sys.modules",
        "import sys; sys .meta_path",
        "f = getattr(__builtins__, '__imp' 'ort__')",
        "import os; getattr(os, 's' + 'ystem')('python helper.py')",
        "import os; os . system('python helper.py')",
        "from os import system",
        "import os; os.execv('python', ['helper.py'])",
        "import os; os.posix_spawn('python', ['helper.py'], {})",
        "__loader__.__class__('helper', 'helper.py').load_module()",
        "print.__self__",
        "().__class__.__base__.__subclasses__()",
        "globals()['x']",
        "vars()['x']",
        "\uff45xec('x')",
        "import code",
        "import pdb",
        *(f"import {name}" for name in ("ctypes", "pickle", "shelve", "marshal", "doctest")),
        *(f"import {name}" for name in ("zipimport", "builtins", "gc", "inspect", "imp", "site")),
        "compile('x', 'y', 'exec')",
        "lazy import helper",
        *("import pydoc", "from typing import get_type_hints", "import timeit"),
        "from operator import attrgetter",
    ],
)
def test_what_a_script_can_import_belongs_to_it(folder: Path, text: str) -> None:
    found = importable(str(folder / "m.py"), text.encode())
    assert [name for name, _ in found] == MODULES


@pytest.mark.parametrize(
    "text",
    [
        *("import json, os.path", "x = 'helper'", "# see helper", "helper"),
        "import argparse, sys\nsys.stdout.write(sys.argv[1])\nsys.exit(0)",
        "import re\nP = re.compile('x')  # caf\u00e9 \u2014 \u2026 \u2122",
        "# -*- coding: utf-8 -*-\nimport json\nvars(args)",
        "if __name__ == '__main__':\n    getattr(args, 'x', None)",
        "import math\r\nimport os\r\n",
        "code = site = types = profile = 1",
    ],
)
def test_a_script_that_imports_nothing_there_stands_alone(folder: Path, text: str) -> None:
    assert importable(str(folder / "m.py"), text.encode()) == ()


def test_which_of_the_files_runs_is_a_part_of_the_pin(tmp_path: Path) -> None:
    for name in ("lenient.py", "strict.py"):
        (tmp_path / name).write_text(f"import subprocess\nprint({name!r})\n")
    lenient, strict = (find(str(tmp_path / name), None) for name in ("lenient.py", "strict.py"))
    assert [name for name, _ in lenient.modules or ()] == ["strict.py"]
    assert lenient.pin != strict.pin
    assert lenient.identity != strict.identity


def test_the_digest_is_that_of_what_sha256sum_prints(folder: Path) -> None:
    (folder / "m.py").write_text("import helper\n")
    listing = subprocess.run(
        ["sha256sum", "m.py", *sorted(MODULES)], cwd=folder, capture_output=True, check=True
    )
    script = find(str(folder / "m.py"), None)
    assert script.pin == script.modules_sha256 == hashlib.sha256(listing.stdout).hexdigest()
    assert script.sha256 == hashlib.sha256(b"import helper\n").hexdigest()
    (folder / "m.py").write_text("import json\n")
    alone = find(str(folder / "m.py"), None)
    assert (alone.pin, alone.modules_sha256) == (alone.sha256, None)


def test_a_copy_holds_the_modules_and_leads_to_the_rest(folder: Path, tmp_path: Path) -> None:
    found = importable(str(folder / "m.py"), b"import helper")
    (folder / "helper.py").write_text("X = 666\n")
    (folder / "late.py").write_text("")
    to = tmp_path / "to"
    copy(found, str(folder), str(to))
    assert (to / "helper.py").read_text() == "X = 1\n"
    assert not (to / "helper.py").is_symlink()
    assert (to / "data" / "v.txt").read_text() == "5"
    assert (to / "package" / "table.json").read_text() == "{}"
    assert not {"late.py", ".hidden.py", "__pycache__"} & set(os.listdir(to))


@pytest.mark.parametrize(
    "name",
    [
        *("libx.so", "libx.so.1", "libx.so.1.2", "libx.dylib", "x.pyc"),
        *(".libs/libx.so.1", ".dylibs/libx.dylib"),
    ],
)
def test_a_library_that_modules_are_linked_to_belongs_to_them(
    name: str, folder: Path, tmp_path: Path
) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"1")
    found = importable(str(folder / "m.py"), b"import helper")
    assert (name, b"1") in found
    copy([module for module in found if module[0] != name], str(folder), str(tmp_path / "to"))
    assert not (tmp_path / "to" / name).exists()


def test_a_copy_has_no_packages_that_seem_to_be_installed(folder: Path, tmp_path: Path) -> None:
    for name in ("scores-2.0.dist-info", "Scores-2.0.DIST-INFO", "scores.egg-info", "s.egg"):
        (folder / name).mkdir()
        (folder / name / "code.py").write_text("")
        (folder / name / "METADATA").write_text("Name: scores")
    for name in ("s.egg-link", "scores.pkg"):
        (folder / name).write_text("..")
    found = importable(str(folder / "m.py"), b"import helper")
    assert not [name for name, _ in found if "scores" in name.lower() or ".egg" in name]
    to = tmp_path / "to"
    copy(found, str(folder), str(to))
    assert not list(filter(is_metadata, os.listdir(to)))


@pytest.fixture
def linked(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with links to folders: inside, outside, hidden, around, below data."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "code.py").write_text("Z = 3\n")
    (folder / ".hidden").mkdir()
    for inside in (".hidden", "__pycache__", "data/__pycache__"):
        (folder / inside).mkdir(exist_ok=True, parents=True)
        (folder / inside / "code.py").write_text("Z = 3\n")
    (folder / "plain").mkdir()
    (folder / "plain" / "w.txt").write_text("6")
    for name, leads_to in {
        "again": "package",
        "around": ".",
        "elsewhere": str(outside),
        "file.txt": "data/v.txt",
        "hid": ".hidden",
        "parent": "..",
        "data/elsewhere": str(outside),
        "package/around": "../package",
    }.items():
        (folder / name).symlink_to(leads_to)
    return folder


def test_a_linked_folder_belongs_where_it_lies_inside(linked: Path) -> None:
    found = importable(str(linked / "m.py"), b"import helper")
    assert [name for name, _ in found] == ["again/__init__.py", "again/deep/part.py", *MODULES]


def test_code_that_is_not_pinned_is_not_in_the_copy(linked: Path, tmp_path: Path) -> None:
    found = importable(str(linked / "m.py"), b"import helper")
    to = tmp_path / "to"
    copy(found, str(linked), str(to))
    hidden = ["hid/code.py", "__pycache__/code.py", "data/__pycache__/code.py"]
    live = ["around/helper.py", "parent", "package/around/__init__.py", "again/around/deep/part.py"]
    for name in ("elsewhere/code.py", "data/elsewhere/code.py", *hidden, *live):
        assert os.path.exists(linked / name), name
        assert not os.path.exists(to / name), name
    data = ["data/v.txt", "plain/w.txt", "file.txt", "package/table.json", "again/table.json"]
    for name in (*data, *(name for name, _ in found)):
        assert os.path.isfile(to / name), name


@pytest.mark.parametrize(
    "piece", ["import:", "sys,", "getattr(", "sys", ": ", "import ", "\\\n", "vars ("]
)
def test_a_long_text_is_read_as_a_short_one(folder: Path, piece: str) -> None:
    """And in linear time: else this would not end."""
    short, long = (importable(str(folder / "m.py"), (piece * n).encode()) for n in (2, 20_000))
    assert long == short


def test_a_folder_of_too_many_modules_has_no_digest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "MOST_FILES", 2)
    with pytest.raises(TooManyError):
        importable(str(folder / "m.py"), b"import helper")
    (folder / "m.py").write_text("import helper\n")
    assert find(str(folder / "m.py"), None).modules is None


def test_a_module_that_is_a_link_out_of_the_folder_does_not_belong(folder: Path) -> None:
    (folder / "passwords.py").symlink_to("/etc/passwd")
    (folder / "again.py").symlink_to("helper.py")
    found = importable(str(folder / "m.py"), b"import helper")
    assert [name for name, _ in found] == ["again.py", *MODULES]


def test_what_is_hidden_is_no_module_by_a_link(folder: Path) -> None:
    (folder / ".git").mkdir()
    for place in (".env", ".git/config", "data.txt"):
        (folder / place).write_text("PASSWORD")
    for name, leads_to in {"a.py": ".env", "b.pyc": ".git/config", "c.so": "data.txt"}.items():
        (folder / name).symlink_to(leads_to)
    found = importable(str(folder / "m.py"), b"import helper")
    assert [name for name, _ in found] == ["c.so", *MODULES]


def test_below_a_home_no_module_belongs_to_a_script(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "linked.py").symlink_to("package/__init__.py")
    monkeypatch.setenv("HOME", str(folder))
    found = importable(str(folder / "m.py"), b"import helper")
    assert [name for name, _ in found] == ["helper.py"]


def test_two_sets_of_modules_have_two_digests(folder: Path) -> None:
    """A name that looks like another line is none, as `sha256sum` has it."""
    digest = hashlib.sha256(b"").hexdigest()
    one = modules.manifest([("m.py", Content()), (f"a.py\n{digest}  b.py", Content())])
    two = modules.manifest([("m.py", Content()), ("a.py", Content()), ("b.py", digest)])
    assert one != two
    name = "odd\n\\ name.py"
    (folder / name).write_bytes(b"1")
    listed = subprocess.run(
        ["sha256sum", "--", name], cwd=folder, capture_output=True, text=True, check=True
    )
    (line,) = modules.manifest([(name, Content(b"1"))]).splitlines()
    assert line == listed.stdout.rstrip("\n")


def test_code_that_is_hidden_is_not_found_by_way_of_a_folder_that_is_linked(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "package" / "sub").mkdir()
    (folder / "package" / "sub" / ".kept").mkdir()
    (folder / "package" / "sub" / ".kept" / "code.py").write_text("")
    (folder / "package" / "sub" / "code.py").symlink_to(".kept/code.py")
    (folder / "package" / "sub" / "data.txt").write_text("1")
    found = importable(str(folder / "m.py"), b"import package.sub.code")
    assert [name for name, _ in found] == MODULES
    copy(found, str(folder), str(tmp_path / "to"))
    assert not (tmp_path / "to" / "package" / "sub" / "code.py").exists()
    assert (tmp_path / "to" / "package" / "sub" / "data.txt").read_text() == "1"


@pytest.mark.parametrize("place", ["helper.py", "package", "package/deep/part.py"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_module_that_becomes_another_thing_before_it_is_read_is_none(
    place: str, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script would read what its author may not, or wait for somebody who writes."""
    elsewhere = folder / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    for name in ("__init__.py", "deep/part.py"):
        (elsewhere / name).write_text("PASSWORD")

    def late(real: str) -> BufferedReader:
        if real.startswith(str(folder / place)):
            (folder / place).rename(folder / "before")
            if kind == "pipe":
                os.mkfifo(folder / place)
            else:
                target = elsewhere if place == "package" else elsewhere / "deep" / "part.py"
                (folder / place).symlink_to(target)
        return open_real(real)

    monkeypatch.setattr(modules, "open_real", late)
    with pytest.raises(OSError, match=r"was exchanged|a pipe or a device"):
        importable(str(folder / "m.py"), b"import helper")


@pytest.mark.parametrize("leads_to", ["../secret", ".env"])
def test_a_lock_that_becomes_a_link_before_it_is_read_is_not_followed(
    leads_to: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("PASSWORD")
    (folder / "m.py.lock").write_text("version = 1\n")

    def late(real: str) -> BufferedReader:
        (folder / "m.py.lock").unlink()
        (folder / "m.py.lock").symlink_to(leads_to)
        return open_real(real)

    monkeypatch.setattr(script_lock, "open_real", late)
    with pytest.raises(MetricFailure, match="was exchanged"):
        script_lock.lock_of(str(folder / "m.py"))


def test_a_lock_that_is_a_link_to_what_is_not_there_is_not_passed_over(folder: Path) -> None:
    assert script_lock.lock_of(str(folder / "m.py")) is None
    (folder / "m.py.lock").symlink_to("m.v2.lock")
    with pytest.raises(MetricFailure, match=r"a link to m\.v2\.lock, which is not there"):
        script_lock.lock_of(str(folder / "m.py"))


def test_a_link_that_others_lead_through_is_followed_once(tmp_path: Path) -> None:
    """Each of them would take as long as all on the way of it, a small file each."""
    for n in range(36):
        (tmp_path / f"way{n}").symlink_to(f"{'d/../' * 600}way{n + 1}")
    for name in ("d", "way36"):
        (tmp_path / name).mkdir()
    (tmp_path / "helper.py").touch()
    (tmp_path / ".env").touch()
    for n in range(300):
        (tmp_path / f"folder{n}").symlink_to("way0")
        (tmp_path / f"module{n}.py").symlink_to("way0/../helper.py")
    known: dict[str, str] = {}
    assert followed(f"{tmp_path}/module0.py", known) == f"{tmp_path}/helper.py"
    n_known = len(known)
    followed(f"{tmp_path}/module1.py", known)
    assert len(known) == n_known + 1
    (tmp_path / "copy").mkdir()
    started = time.process_time()
    found = importable(f"{tmp_path}/m.py", b"import helper")
    copy(found, str(tmp_path), f"{tmp_path}/copy")
    beside(f"{tmp_path}/m.py")
    assert time.process_time() - started < 20
    assert len(found) == 301


def test_what_was_no_link_when_it_was_listed_is_read_as_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another account can put one to what is hidden in its place."""
    (folder / ".env").write_text("s3cret = 1")

    def entries(path: str, *, files_alone: bool) -> list[os.DirEntry[str]]:
        listed = list(os.scandir(path))
        if path == str(folder):
            (folder / "helper.py").unlink()
            (folder / "helper.py").symlink_to(".env")
        return listed

    monkeypatch.setattr(modules, "_entries", entries)
    with pytest.raises(OSError, match="exchanged meanwhile"):
        importable(str(folder / "m.py"), b"import helper")


def test_modules_of_many_scripts_are_read_and_hashed_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 scripts beside a module of 15 MiB took 20 s, and as many lines that name one 3 GB."""
    opened: list[str] = []

    def count(path: str) -> BufferedReader:
        opened.append(os.path.basename(path))
        return open_real(path)

    for i in range(5):
        (folder / f"m{i}.py").write_text("import helper")
    monkeypatch.setattr(modules, "open_real", count)
    folders = Folders()
    found = [importable(str(folder / f"m{i}.py"), b"import helper", folders) for i in range(5)]
    assert sorted(opened) == [
        "__init__.py",
        "helper.py",
        *(f"m{i}.py" for i in range(5)),
        "part.py",
    ]
    assert [dict(modules) for modules in found] == [
        dict(importable(str(folder / f"m{i}.py"), b"import helper")) for i in range(5)
    ]
    assert len({id(dict(modules)["helper.py"]) for modules in found}) == 1


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_script_is_none_of_the_modules_beside_it_that_are_too_many(
    more: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "m.py").write_text("import helper")
    monkeypatch.setattr(modules, "MOST_FILES", len(MODULES) - more)
    if more == 1:
        with pytest.raises(TooManyError):
            importable(str(folder / "m.py"), b"import helper")
    else:
        assert [name for name, _ in importable(str(folder / "m.py"), b"import helper")] == MODULES


def test_a_script_that_is_a_manifest_has_another_pin_than_what_that_is_of(folder: Path) -> None:
    """Names of files can make a program of it: one pin was that of two."""
    (folder / "m.py").write_text("import helper")
    pinned = find("m.py", str(folder / "registry.json"))
    text = modules.manifest(pinned.modules or (), ("m.py", pinned.text))
    assert hashlib.sha256(text.encode()).hexdigest() == pinned.pin
    alone = folder / "alone"
    alone.mkdir()
    for name in ("m.py", "n.py"):
        (alone / name).write_text(text)
        exchanged = find(f"alone/{name}", str(folder / "registry.json"))
        assert not exchanged.modules
        assert exchanged.pin not in (pinned.pin, exchanged.sha256)
