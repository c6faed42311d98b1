"""The rules of the house: who may import whom, and what never stands anywhere."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import harbor_metrics

PACKAGE = ROOT / "harbor_metrics"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def imports(module: str) -> set[str]:
    """Every module that a module imports, as absolute names."""
    found = set()
    is_package = MODULES[module].name == "__init__.py"
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            up = node.level - is_package
            base = ".".join(parts[: len(parts) - up]) if node.level else ""
            target = ".".join(part for part in (base, node.module) if part)
            found |= {target} | {f"{target}.{alias.name}" for alias in node.names}
    return found


def within(names: set[str], *places: str) -> set[str]:
    return {n for n in names for place in places if n == place or n.startswith(f"{place}.")}


H = "harbor_metrics"
NEVER = [
    (f"{H}.metrics", ["os", "io", "pathlib", "subprocess", "click", "jsonschema", f"{H}.readers"]),
    (f"{H}.readers", [f"{H}.metrics", f"{H}.metric"]),
    (f"{H}.supervisor", ["contextlib", "re", "json", "subprocess", f"{H}.process"]),
    (f"{H}.launch", ["contextlib", "subprocess", f"{H}.process", f"{H}.supervisor"]),
    (f"{H}.sandbox", ["contextlib", "subprocess", f"{H}.process", f"{H}.supervisor"]),
    (f"{H}.evaluate", [f"{H}.scripts", f"{H}.readers", f"{H}.validation", f"{H}.render"]),
    (f"{H}.readers", [f"{H}.audits", f"{H}.measurement", f"{H}.api"]),
    (f"{H}.render", [f"{H}.readers", f"{H}.api"]),
]


@pytest.mark.parametrize(("who", "whom"), NEVER, ids=lambda x: x if isinstance(x, str) else "")
def test_never(who: str, whom: list[str]) -> None:
    inside = within(set(MODULES), who)
    assert inside
    for module in inside:
        assert not within(imports(module), *whom), module


@pytest.mark.parametrize(
    ("what", "allowed"),
    [
        ("subprocess", [f"{H}.process"]),
        ("click", [f"{H}.cli"]),
        ("jsonschema", [f"{H}.schemas", f"{H}.schema_check", f"{H}.validation"]),
        ("jsonschema_rs", [f"{H}.schemas", f"{H}.schema_check", f"{H}.validation"]),
        (f"{H}.cli", [f"{H}.__main__", f"{H}.cli"]),
        ("socket", [f"{H}.scripts.refusals"]),
        ("urllib.request", []),
        ("numpy", []),
        ("pandas", []),
        ("pydantic", []),
    ],
)
def test_only_there(what: str, allowed: list[str]) -> None:
    for module in MODULES:
        if not within({module}, *allowed):
            assert not within(imports(module), what), module


def test_exits_only_in_the_command_line() -> None:
    for module, path in MODULES.items():
        if not within({module}, f"{H}.cli"):
            assert not re.search(r"sys\.exit|raise SystemExit", path.read_text()), module


def test_no_module_is_named_like_a_public_function() -> None:
    assert not {path.stem for path in PACKAGE.iterdir()} & set(harbor_metrics.__all__)


def test_no_vague_names() -> None:
    vague = {"utils", "util", "base", "manager", "factory", "common", "helpers", "misc"}
    assert not vague & {path.stem for path in MODULES.values()}


def test_start_loads_nothing_heavy() -> None:
    code = "import sys, harbor_metrics.cli; print([m for m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert "click" in loaded
    assert not loaded & {"jsonschema", "jsonschema_rs", "msgspec", "packaging", "subprocess"}


def test_supervisor_starts_at_once() -> None:
    from harbor_metrics.process import _SERVE

    code = _SERVE.removesuffix("serve(sys.argv[1])") + "print([m for m in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert f"{H}.sandbox" in loaded
    assert not loaded & {"typing", "contextlib", "re", "json", "signal", "enum", "collections"}


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys, harbor_metrics; harbor_metrics.__version__; print(len(sys.modules))"
    bare = "import sys, typing; print(len(sys.modules))"
    counts = [
        int(subprocess.run([sys.executable, "-c", c], capture_output=True, text=True).stdout)
        for c in (code, bare)
    ]
    assert counts[0] <= counts[1] + 2


def test_schemas_have_title_description_and_examples() -> None:
    for path in (ROOT / "schemas").glob("*.json"):
        schema = json.loads(path.read_text())
        assert {"title", "description", "examples", "$schema"} <= schema.keys(), path
        assert "oneOf" not in path.read_text()


def test_nothing_names_a_machine_or_a_package_host() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    home = str(Path.home())
    for name in listed.split():
        path = ROOT / name
        if path.is_file() and name != "tests/test_architecture.py":
            text = path.read_text(errors="replace")
            assert f"{home}/" not in text or home == "/", name
            assert "files.pythonhosted" not in text, name
    assert "uv.lock" not in listed.split()
