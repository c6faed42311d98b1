"""Which modules belong to a script, and that their digest is one that anybody can compute."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from harbor_metrics.registries import modules
from harbor_metrics.registries.modules import TooManyError, copy, importable
from harbor_metrics.registries.script_file import find


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
    ],
)
def test_what_a_script_can_import_belongs_to_it(folder: Path, text: str) -> None:
    found = importable(str(folder / "m.py"), text.encode())
    assert [name for name, _ in found] == MODULES


@pytest.mark.parametrize("text", ["import json, os.path", "x = 'helper'", "# see helper", "helper"])
def test_a_script_that_imports_nothing_there_stands_alone(folder: Path, text: str) -> None:
    assert importable(str(folder / "m.py"), text.encode()) == ()


def test_the_digest_is_that_of_what_sha256sum_prints(folder: Path) -> None:
    (folder / "m.py").write_text("import helper\n")
    listing = subprocess.run(
        ["sha256sum", *sorted(["m.py", *MODULES])], cwd=folder, capture_output=True, check=True
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
