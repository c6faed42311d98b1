"""The rules of the house: who may import whom, and what never stands anywhere."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from conftest import ROOT

import harbor_metrics

pytestmark = pytest.mark.one_python

PACKAGE = ROOT / "harbor_metrics"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


@cache
def tree_of(module: str) -> ast.Module:
    """The code of a module."""
    return ast.parse(MODULES[module].read_text())


@cache
def imports(module: str) -> set[str]:
    """Every module that a module imports, as absolute names."""
    found = set()
    is_package = MODULES[module].name == "__init__.py"
    for node in ast.walk(tree_of(module)):
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
# From below; each row of rooms imports only from the rows under it, and from its own room.
FLOORS = [
    "errors numbers confinement",
    "documents",
    "trials",
    "readers contract",
    "engines",
    "metrics reducers",
    "catalogue",
    "registries",
    "validation",
    "evaluation",
    "scripts",
    "testing",
    "computation",
    "audits comparison",
    "api",
    "reports",
    "render",
    "output",
    "inside_harbor",
    "cli",
    "__main__",
]
FLOOR = {room: height for height, row in enumerate(FLOORS) for room in row.split()}
# A result and a comparison show themselves as tables in a notebook.
UP = {
    ("harbor_metrics.evaluation.result", "render"),
    ("harbor_metrics.comparison.document", "render"),
}


def upward(module: str, names: set[str]) -> list[str]:
    """The imports of a module that do not go down, but for the two exceptions."""
    here = module.split(".")[1]
    rooms = {name: name.split(".")[1] for name in within(names, H) if name != H}
    return [
        f"{module} -> {name}"
        for name, room in sorted(rooms.items())
        if room in FLOOR
        and room != here
        and FLOOR[room] >= FLOOR[here]
        and (module, room) not in UP
    ]


def test_every_room_has_its_floor() -> None:
    rooms = {module.split(".")[1] for module in MODULES if module != H}
    assert rooms == set(FLOOR)
    assert len(UP) <= 2


def test_few_files_stand_outside_the_rooms() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 6


def test_imports_go_down() -> None:
    assert not [up for module in MODULES.keys() - {H} for up in upward(module, imports(module))]


def test_an_arrow_up_is_noticed() -> None:
    assert upward(f"{H}.trials.table", {f"{H}.contract.metric"})
    assert upward(f"{H}.contract.metric", {f"{H}.readers.columns"})
    assert not upward(f"{H}.contract.metric", {f"{H}.trials.table", f"{H}.contract.spec", "json"})


def test_no_circle_of_files() -> None:
    arrows = {
        module: {
            name
            for name in within(imports(module), H) & MODULES.keys() - {H, module}
            if (module, name.split(".")[1]) not in UP and not module.startswith(f"{name}.")
        }
        for module in MODULES
    }
    # Raises where there is a circle.
    assert set(TopologicalSorter(arrows).static_order()) >= set(MODULES)


def unexplained_imports(source: str) -> list[int]:
    """The lines of imports inside functions that no comment above says are for weight."""
    lines = source.split("\n")
    inside = {
        node.lineno
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    unexplained = []
    for line in sorted(inside):
        above = line - 1
        while above in inside or not lines[above - 1].strip():
            above -= 1
        comment = []
        while above and lines[above - 1].lstrip().startswith("#"):
            comment.append(lines[above - 1])
            above -= 1
        if "for weight" not in " ".join(comment).lower():
            unexplained.append(line)
    return unexplained


def test_an_import_without_a_reason_is_noticed() -> None:
    assert unexplained_imports("def f():\n    import json\n") == [2]
    assert not unexplained_imports(
        "def f():\n    # For weight: rare.\n    import json\n    import re\n"
    )
    assert not unexplained_imports("import json\n")


# A command imports what it calls when it is called, and a result shows itself by a room above.
LATE = {f"{H}", f"{H}.__main__", *(m for m in MODULES if m.startswith(f"{H}.cli")), *dict(UP)}


def test_an_import_inside_a_function_is_for_weight_and_says_so() -> None:
    for module in sorted(MODULES.keys() - LATE):
        assert not unexplained_imports(MODULES[module].read_text()), MODULES[module]


@pytest.mark.parametrize(
    ("what", "allowed"),
    [
        ("subprocess", [f"{H}.confinement"]),
        ("click", [f"{H}.cli"]),
        ("jsonschema", [f"{H}.documents", f"{H}.validation"]),
        ("jsonschema_rs", [f"{H}.documents", f"{H}.validation"]),
        (f"{H}.cli", [f"{H}.__main__", f"{H}.cli"]),
        ("socket", [f"{H}.engines.opening_spark", f"{H}.scripts.refusals"]),
        ("urllib.request", []),
        ("numpy", []),
        ("pandas", []),
        ("pydantic", []),
        *((name, [f"{H}.engines"]) for name in ("duckdb", "fsspec", "narwhals", "pyspark")),
    ],
)
def test_import_stands_only_where_it_is_allowed(what: str, allowed: list[str]) -> None:
    for module in MODULES:
        if not within({module}, *allowed):
            assert not within(imports(module), what), module


# What pictures are drawn with, wherever they are made.
_SVG = {"svg", "title", "desc", "text", "line", "rect", "path", "circle"}


def html_elements(tree: ast.AST) -> list[str]:
    """The elements of HTML that are made: by a call of `element`, or written as a text."""
    called = [
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("element")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    written = [t for t in texts if isinstance(t, str) and re.search(r"</\w|<(br|p|td|div)\W", t)]
    return [str(tag) for tag in called if tag not in _SVG] + written


def test_html_is_made_in_one_file() -> None:
    for module in MODULES:
        shown = within(
            {module}, *(f"{H}.{room}" for room in ("render", "evaluation", "comparison"))
        )
        if shown - {f"{H}.render.html", f"{H}.render.markup"}:
            assert not html_elements(tree_of(module)), module
    assert html_elements(ast.parse("element('td')"))
    assert html_elements(ast.parse("f'<b>{x}</b>'"))


# Other programs of ours: they answer through pipes, or write where a script's output goes.
_OWN_PROGRAMS = [f"{H}.confinement", f"{H}.scripts.refusals"]


def printing(tree: ast.AST) -> list[str]:
    """The calls that write to a standard stream by another way than `output`."""
    calls = [ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)]
    names = [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute)]
    streams = r"sys\.(__)?std(out|err)(__)?\.(write|writelines|buffer|reconfigure)\b"
    return [
        *(
            c
            for c in calls
            if c in {"print", "os.write", "os.writev"} or re.search("echo|secho", c)
        ),
        *(n for n in names if re.match(streams, n)),
    ]


def test_everything_that_is_printed_goes_through_output() -> None:
    for module in MODULES:
        if not within({module}, f"{H}.output", *_OWN_PROGRAMS):
            assert not printing(tree_of(module)), module


def written(tree: ast.AST) -> list[str]:
    """What is given to the one who writes the bytes of a stream."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    return [
        ast.unparse(n.args[-1])
        for n in calls
        if ast.unparse(n.func) in ("self._put", "writer.write", "write")
    ]


def test_all_that_is_printed_passes_through_one_function() -> None:
    for module in MODULES:
        if module not in (f"{H}.output.streams", f"{H}.__main__"):
            assert f"{H}.output.writer" not in imports(module), module
        if not within({module}, f"{H}.output"):
            assert not within(imports(module), f"{H}.output.escapes"), module
    tree = ast.parse(MODULES[f"{H}.output.streams"].read_text())
    assert written(tree) == ["shown.encode(self.encoding)", "escaped_json(document)", "data"]
    (shown,) = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "shown"
    ]
    assert ast.unparse(shown.value).startswith("self._line.escaped(text")
    # The version, before anything else is loaded.
    (version,) = written(ast.parse(MODULES[f"{H}.__main__"].read_text()))
    assert version == "f'harbor-metrics {__version__}\\n'.encode()"


def test_past_our_streams_goes_the_bar_alone() -> None:
    for module, path in MODULES.items():
        past = re.findall(r"sys\.__std\w+__", path.read_text())
        assert len(past) == (module == f"{H}.cli.terminal"), module


def test_another_way_of_printing_is_noticed() -> None:
    for code in ("click.echo(1)", "print(1)", "sys.stdout.buffer.write(b'')", "os.write(1, b'')"):
        assert printing(ast.parse(code)), code
    assert not printing(ast.parse("print_text('')"))


def test_exits_only_in_the_command_line() -> None:
    for module, path in MODULES.items():
        # Harbor ends a run in one line for SystemExit alone.
        if not within({module}, f"{H}.cli", f"{H}.inside_harbor.plugin"):
            assert not re.search(r"sys\.exit|raise SystemExit", path.read_text()), module


def test_no_module_is_named_like_a_public_function() -> None:
    assert not {path.stem for path in PACKAGE.iterdir()} & set(harbor_metrics.__all__)


def test_tests_stand_in_the_folder_of_a_room() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        folder = path.parent.relative_to(ROOT / "tests")
        assert folder.parts in ((), ("laws",)) or (PACKAGE / folder).is_dir(), path


def test_names_in_commands_that_are_shown_are_words_of_a_shell() -> None:
    """Whoever copies a command runs nothing that the name of a stranger's file holds."""
    shown = {
        ast.unparse(part.value)
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.JoinedStr)
        for part in in_command(node)
    }
    # Words of ours, and what `in_command` has made before.
    safe = {
        "__version__",
        "alias.type",
        "command",
        "d.rule",
        "name",
        "named",
        "near[0]",
        "other",
        "type_",
    }
    assert {value for value in shown if not value.startswith("in_command(")} == safe


def in_command(text: ast.JoinedStr) -> Iterator[ast.FormattedValue]:
    """What a text puts behind the beginning of a command of ours."""
    begun = False
    for part in text.values:
        if begun and isinstance(part, ast.FormattedValue):
            yield part
        begun = begun or "harbor-metrics " in ast.unparse(part)


def test_no_vague_names() -> None:
    vague = {"utils", "util", "base", "manager", "factory", "common", "helpers", "misc"}
    assert not vague & {path.stem for path in MODULES.values()}


def test_start_loads_nothing_heavy() -> None:
    code = "import sys, harbor_metrics.cli; print([m for m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert "click" in loaded
    assert not loaded & {"jsonschema", "jsonschema_rs", "msgspec", "packaging", "subprocess"}


def test_no_system_call_is_loaded_to_compute_what_has_no_scripts() -> None:
    command = [sys.executable, "-X", "importtime", "-m", H, "compute", ROOT / "tests/jobs/single"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert f"{H}.confinement.places" in loaded
    assert not loaded & {"ctypes", f"{H}.confinement.kernel", f"{H}.confinement.sandbox"}


def test_supervisor_starts_at_once() -> None:
    from harbor_metrics.confinement.supervisors import _SERVE

    code = _SERVE.removesuffix("serve(sys.argv[1])") + "print([m for m in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert f"{H}.confinement.sandbox" in loaded
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
            assert not re.search(r"pypi\.org|pythonhosted", text), name
    assert "uv.lock" not in listed.split()
