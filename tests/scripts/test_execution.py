"""What a script is given, and what happens while it runs."""

from __future__ import annotations

import hashlib
import json
import os
import py_compile
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, Run, trial, write_job
from metric_scripts import BLOCK, HEAD, linux, metric, wheel_with_a_start_file

from harbor_metrics.confinement.ending import REMAINING
from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts import uv_access
from harbor_metrics.scripts.execution import Inputs, execute
from harbor_metrics.scripts.failures import ended
from harbor_metrics.scripts.indexes import packages_in
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.uv_access import certificates, libraries
from harbor_metrics.scripts.variables import CERTIFICATES
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial


def test_answer_stands_beside_the_digest_of_its_script(outcome) -> None:
    text = (
        HEAD
        + "n = len(open(a.i).readlines())\nopen(a.o, 'w').write(json.dumps({'n': n, 'x': 0.5}))"
    )
    one, done = outcome(text)
    assert done.returncode == 0
    assert one["values"] == {"n": 2, "x": 0.5}
    assert one["n"] == {"n": 2, "x": 2}
    assert len(one["script"]["sha256"]) == 64


def test_input_is_written_as_harbor_writes_it(outcome) -> None:
    one, _ = outcome(
        HEAD + "assert open(a.i).read() == '{\"reward\": 1.0}\\nnull\\n', open(a.i).read()"
    )
    assert "wrote no output" in one["error"]["message"]


def test_no_secret_reaches_it(outcome) -> None:
    text = HEAD + "open(a.o, 'w').write(json.dumps({k: 1 for k in os.environ}))"
    one, _ = outcome(text, env={"OPENAI_API_KEY": "secret", "PYTHONPATH": "/nowhere"})
    assert "PATH" in one["values"]
    assert not {"OPENAI_API_KEY", "PYTHONPATH", "VIRTUAL_ENV"} & one["values"].keys()


def test_script_runs_in_an_empty_directory_without_installed_packages(outcome) -> None:
    text = HEAD + (
        "assert os.listdir('.') == []\n"
        "try:\n    import msgspec\nexcept ImportError:\n    open(a.o, 'w').write('{\"alone\": 1}')"
    )
    one, _ = outcome(text)
    assert one["values"] == {"alone": 1}


def test_time_limit_ends_all_that_was_started(outcome) -> None:
    text = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(61.25)'])\n"
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    )
    one, _ = outcome(text, "--script-timeout", "0.5")
    assert "did not end within 0.5 s" in one["error"]["message"]
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert "time.sleep(61.25)" not in listed


def test_script_of_which_processes_cannot_be_ended_failed() -> None:
    finished = Finished(0, b"", b"", False, 1.0, exceeded=REMAINING)
    assert ended(finished, ScriptOptions()) == "left processes that could not be ended"


def test_flood_of_output_is_drained(outcome) -> None:
    text = HEAD + "sys.stdout.write('x' * 50_000_000)\nopen(a.o, 'w').write('{\"a\": 1}')"
    one, _ = outcome(text)
    assert one["values"] == {"a": 1}


@linux
def test_what_is_hidden_beside_a_script_is_not_its_to_read(outcome, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "data").mkdir()
    for name in (".git/config", ".env", "data/v.txt", "v.txt"):
        (tmp_path / name).write_text("1")
    text = "import os\nn = 0\nhere = os.path.dirname(os.path.abspath(__file__))\n"
    text += "for name in ('.git/config', '.env', 'data/v.txt', 'v.txt', 'm.py'):\n"
    text += "    try: n += bool(open(os.path.join(here, name)).read())\n"
    text += "    except OSError: pass\n"
    text += "answer(n=n, listed=int('v.txt' in os.listdir(here)))\n"
    one, _ = outcome(HEAD + text)
    assert one["values"] == {"n": 3, "listed": 1}, one.get("error")


def test_nothing_is_left_beside_the_script(outcome, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    (tmp_path / "helper.py").write_text("VALUE = 3\n")
    block = "# /// script\n# dependencies = []\n# ///\n"
    text = HEAD + "import helper\nopen(a.o, 'w').write(json.dumps({'v': helper.VALUE}))"
    before = set(os.listdir(tmp_path)) | {"m.py", "r.jsonl"}
    assert outcome(text)[0]["values"] == {"v": 3}
    assert outcome(block + text)[0]["values"] == {"v": 3}
    assert set(os.listdir(tmp_path)) == before


def test_nothing_of_a_script_stays_while_others_run(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(f"{BLOCK}{HEAD}open('left', 'w')\nanswer(n=1)\n")
    with Workplace() as place:
        execute(
            find(str(tmp_path / "m.py"), None),
            Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})])),
            ScriptOptions(sandbox="off"),
            place,
        )
        assert not [name for name in os.listdir(place.folder) if name.startswith("run-")]


def test_temporary_directory_that_cannot_be_written_is_refused(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    metric = '{"type": "uv-script", "kwargs": {"script_path": "m.py"}}'
    done = cli("compute", "r.jsonl", "--metric", metric, env={"TMPDIR": "/proc"})
    assert done.returncode == 3
    assert "TMPDIR" in done.stderr


FAULTS = [json.loads(line) for line in (HERE / "scripts" / "faults.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f["id"])
@linux
def test_known_fault_of_a_script_is_explained(
    fault: dict[str, Any], cli: Run, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\nnull\n')
    scripts = _scripts(fault, tmp_path)
    metrics = [part for name in scripts for part in ("--metric", metric(name))]
    if fault["id"] == "S37":
        pinned = {"type": "uv-script", "kwargs": {"script_path": scripts[0]}, "sha256": "0" * 64}
        metrics = ["--metric", json.dumps(pinned)]
    endless = "timed out" in fault["message_has"]
    more = ["--verify-repeat"] if fault["id"] == "S38" else []
    more += ["--script-timeout", "1" if endless else "60"]
    done = cli("compute", "r.jsonl", *metrics, "--format", "json", *more)
    assert fault["exit"] in (None, done.returncode), done.stdout
    (group,) = json.loads(done.stdout)["groups"]
    messages = [one["error"]["message"] for one in group["metrics"] if "error" in one]
    assert group["metrics"][0]["values"] == {"mean": 0.5}
    if fault["id"] == "S19":
        assert all(w in m for w, m in zip(fault["message_has"], messages, strict=True)), messages
    else:
        for message in messages:
            assert all(words in message for words in fault["message_has"]), message
    assert bool(fault["message_has"]) <= bool(messages)
    printed = done.stdout + done.stderr
    assert "\x1b" not in printed
    assert "secret" not in printed
    assert not any(line.lstrip().startswith("::") for line in printed.splitlines())
    if fault["id"] == "R21":
        assert [one["values"] for one in group["metrics"][1:]] == [{"score": 1}, {"score": 2}]
    if fault["id"] == "S38":
        assert "m.py gave other numbers" in done.stderr
    if fault["id"] == "S02":
        assert '{"pass": 1}' in messages[0]


def _scripts(fault: dict[str, Any], folder: Path) -> list[str]:
    """The scripts of a fault, written to a folder."""
    own = {
        "R21": ["answer(score=1)", "answer(score=2)"],
        "S02": ["print(json.dumps({'pass': 1}))\nprint('done')"],
        "S21": [
            "import threading as th\nt = th.Thread(target=int, args=('x',)); t.start(); answer(m=0)"
        ],
        "S35": ["answer(m=1)"],
        "S37": ["answer(m=1)"],
        "S38": ["import random\nanswer(m=random.random())"],
    }
    if fault["id"] == "S35":
        (folder / "uv.toml").write_text('index-url = "http://127.0.0.1:9/simple"\n')
        (folder / ".env").write_text("UV_INDEX_URL=http://127.0.0.1:9/simple\n")
        (folder / "sitecustomize.py").write_text("raise SystemExit(9)\n")
        (folder / "pyproject.toml").write_text('[project]\nname = "x"\n')
    names = []
    for number in (fault["recipe"] or "").removeprefix("attack/").split(","):
        for path in (
            (HERE / "scripts" / "hostile").glob(f"{number}_*.py") if number.isdigit() else ()
        ):
            shutil.copy(path, folder)
            names.append(path.name)
    for i, text in enumerate(own.get(fault["id"], ())):
        names.append("m.py" if i == 0 else f"m{i}.py")
        (folder / names[-1]).write_text(BLOCK + HEAD + text)
    assert names, fault["id"]
    return names


class TestInput:
    """What a script is given to read."""

    def test_script_reads_the_trials_and_its_own_folder(self, cli: Run, tmp_path: Path) -> None:
        trials = [trial("b", {"reward": 1}, 2), trial("b", None, 1), trial("a", {"é": 0.5}, 3)]
        job = write_job(tmp_path / "job", trials)
        (tmp_path / "data.txt").write_text("7")
        (tmp_path / "m.py").write_text(
            HEAD + "rows = [json.loads(li) for li in open(os.environ['HARBOR_METRICS_TRIALS'])]\n"
            "lines = open(a.i).read()\n"
            'assert lines == \'{"\\\\u00e9": 0.5}\\nnull\\n{"reward": 1}\\n\', lines\n'
            "assert [r['task'] for r in rows] == ['a', 'b', 'b'], rows\n"
            "assert [r['rewards'] for r in rows] == [{'é': 0.5}, None, {'reward': 1}]\n"
            "assert rows[0]['agent'] == 'oracle' and rows[0]['model'] == 'sail-1', rows[0]\n"
            "folder = os.environ['HARBOR_METRICS_SCRIPT_DIR']\n"
            "answer(v=int(open(os.path.join(folder, 'data.txt')).read()))"
        )
        done = cli("compute", job, "--metric", metric("m.py"), "--format", "json")
        (group,) = json.loads(done.stdout)["groups"]
        assert group["metrics"][1]["values"] == {"v": 7}, group["metrics"][1]

    def test_rewards_are_read_only_and_each_script_has_its_own(self, outcomes) -> None:
        text = HEAD + (
            "os.chmod(a.i, 0o644) if os.getuid() else None\n"
            "try: open(a.i, 'a').write('null\\n')\n"
            "except OSError: pass\n"
            "answer(n=1)"
        )
        reads = HEAD + "time.sleep(0.2); answer(n=len(open(a.i).readlines()))"
        found, _ = outcomes(text, reads, reads)
        assert [one["values"] for one in found][1:] == [{"n": 2}, {"n": 2}]

    def test_scripts_run_side_by_side_in_the_order_of_the_registry(self, outcomes) -> None:
        text = HEAD + "began = time.monotonic(); time.sleep({}); "
        text += "answer(i={}, began=began, ended=time.monotonic())"
        found, _ = outcomes(*(text.format(1 - i / 5, i) for i in range(5)))
        values = [one["values"] for one in found]
        assert [value["i"] for value in values] == list(range(5))
        if (os.cpu_count() or 1) > 1:
            by_start = sorted(values, key=lambda value: value["began"])
            assert by_start[1]["began"] < by_start[0]["ended"]

    def test_only_the_named_variable_is_passed_on(self, outcomes, cli: Run, tmp_path: Path) -> None:
        text = HEAD + "answer(k=int(os.environ.get('KEY', 0)), o=int('OTHER' in os.environ))"
        env = {"KEY": "3", "OTHER": "4"}
        assert outcomes(text, env=env)[0][0]["values"] == {"k": 0, "o": 0}
        passed = outcomes(text, arguments=("--script-env", "KEY"), env=env)[0][0]
        assert passed["values"] == {"k": 3, "o": 0}
        done = cli("compute", "r.jsonl", "--script-env", "NOPE")
        assert (done.returncode, "NOPE" in done.stderr) == (2, True)


def test_what_runs_is_what_was_hashed_whatever_becomes_of_the_file(outcomes: Any) -> None:
    text = f"{BLOCK}{HEAD}\nopen(__file__, 'w').write('raise SystemExit(9)')\nanswer(x=1)"
    (one,), _ = outcomes(text, arguments=("--sandbox", "off"))
    assert one["values"] == {"x": 1}
    assert one["script"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_script_finds_itself_as_if_started_by_its_path(outcomes: Any, tmp_path: Path) -> None:
    text = f"""{BLOCK}{HEAD}
import multiprocessing, pathlib
def double(x): return 2 * x
assert [name for name in globals() if name in ("file", "code", "copy")] == []
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        (four,) = pool.map(double, [2])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (six,) = pool.map(double, [3])
    here = pathlib.Path(__file__).resolve().parent == pathlib.Path({str(tmp_path)!r})
    answer(four=four, six=six, here=int(here), first=int(sys.argv[0] == __file__),
           path=int(sys.path[0] == os.path.dirname(__file__)), sys="sys" in vars() and 1)
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"four": 4, "six": 6, "here": 1, "first": 1, "path": 1, "sys": 1}, one


@pytest.mark.parametrize("name", ["numpy-99.egg-info", "NUMPY-99.EGG-INFO", "numpy.egg-link"])
def test_a_file_beside_a_script_says_of_no_package_that_it_is_installed(
    name: str, outcomes: Any, tmp_path: Path
) -> None:
    (tmp_path / name).write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 99\n")
    text = f"""{BLOCK}{HEAD}
import importlib.metadata as installed
answer(n=len([one for one in installed.distributions() if one.metadata["Name"] == "numpy"]))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"n": 0}, one


@pytest.mark.parametrize("beside", ["scorelib.pkg", "__pycache__/x.pyc", "data/v.txt", "n.py"])
def test_the_folder_of_a_script_is_on_no_path_where_more_lies_in_it(
    beside: str, outcomes: Any, tmp_path: Path
) -> None:
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).write_text("")
    text = f"""{BLOCK}{HEAD}
here = os.path.dirname(__file__)
answer(n=len([place for place in sys.path if os.path.realpath(place) == here]))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"n": 0}, one


@pytest.mark.parametrize("kind", ["dist-info", "egg-info", "DIST-INFO"])
def test_what_seems_to_be_installed_beside_a_script_is_not(
    kind: str, outcomes: Any, tmp_path: Path
) -> None:
    folder = tmp_path / f"numpy-99.0.{kind}"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 99.0\n")
    (folder / "entry_points.txt").write_text("[scores]\nx = builtins:max\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "v.txt").write_text("5")
    text = f"""{BLOCK}{HEAD}
import importlib.metadata as installed
try: found = installed.version("numpy")
except installed.PackageNotFoundError: found = ""
answer(found=len(found), points=len(installed.entry_points(group="scores")),
       v=int(open(os.path.join(sys.path[0], "data", "v.txt")).read()))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"found": 0, "points": 0, "v": 5}, one


@pytest.mark.parametrize("beside", ["", "helper.py", "numpy-9.dist-info", "extra/__pycache__"])
def test_a_folder_of_data_beside_a_script_is_no_package(
    beside: str, outcomes: Any, tmp_path: Path
) -> None:
    """It would stand in for the data of a package of that name."""
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "v.txt").write_text("5")
    if beside == "helper.py":
        (tmp_path / beside).write_text(
            "import os; V = os.path.dirname(__file__) + '/extra/v.txt'\n"
        )
    elif beside:
        (tmp_path / beside).mkdir(parents=True)
    text = f"""{BLOCK}{HEAD}
import importlib.util
if os.path.exists(os.path.join(os.path.dirname(__file__), "helper.py")):
    import helper
    assert open(helper.V).read() == "5"
found = importlib.util.find_spec("extra")
answer(found=int(found is not None), v=int(open(os.path.dirname(__file__) + "/extra/v.txt").read()))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"found": 0, "v": 5}, one


@pytest.mark.parametrize("module", ["fractions.py", "fractions/__init__.py"])
def test_processes_that_a_script_starts_import_nothing_else_beside_it(
    module: str, outcomes: Any, tmp_path: Path
) -> None:
    """A library starts some whose script says nothing of it."""
    body = """
import multiprocessing
def mean():
    import fractions
    return float(fractions.Fraction(1, 2))
def apart():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(mean)
"""
    wheel_with_a_start_file(tmp_path, "", body=body)
    (tmp_path / module).parent.mkdir(exist_ok=True)
    (tmp_path / module).write_text("raise SystemExit(9)")
    text = """# /// script
# dependencies = ["eager"]
# [tool.uv.sources]
# eager = { path = "eager-1-py3-none-any.whl" }
# ///
import json, argparse, eager
p = argparse.ArgumentParser(); p.add_argument("-i"); p.add_argument("-o"); a = p.parse_args()
if __name__ == "__main__":
    json.dump({"half": eager.apart()}, open(a.o, "w"))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"half": 0.5}, one


@pytest.mark.parametrize("beside", ["scoring/fast/README", "scoring/fast/deep/README", "fast/x"])
def test_a_folder_of_data_is_no_part_of_a_package(
    beside: str, outcomes: Any, tmp_path: Path
) -> None:
    """Nor a package: an import that is tried would not fail, under the same digest."""
    for name, data in ((beside, ""), ("scoring/__init__.py", "V = 1"), ("scoring/a/b.py", "V = 2")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(data)
    text = f"""{BLOCK}{HEAD}
import importlib.util
import scoring
from scoring.a import b
found = [name for name in ("scoring.fast", "fast") if importlib.util.find_spec(name)]
answer(found=len(found), one=scoring.V, two=b.V)
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"found": 0, "one": 1, "two": 2}, one


@pytest.mark.parametrize(
    "imports",
    [
        "sys.path.insert(0, folder + '/lib'); import helper",
        "from lib import helper",
        """
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("helper", folder + "/lib/helper.py")
helper = module_from_spec(spec)
spec.loader.exec_module(helper)
""",
    ],
)
def test_byte_compiled_code_beside_a_script_is_not_believed(
    imports: str, outcomes: Any, tmp_path: Path
) -> None:
    """No digest is of it, and Python would not look at the source."""
    (tmp_path / "lib").mkdir()
    source = tmp_path / "lib" / "helper.py"
    source.write_text("V = 666")
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    source.write_text("V = 1")
    text = f"{BLOCK}{HEAD}\nfolder = os.path.dirname(__file__)\n{imports}\nanswer(v=helper.V)"
    (one,), _ = outcomes(text)
    assert one["values"] == {"v": 1}, one


def test_modules_without_an_init_are_found_with_their_data(outcomes: Any, tmp_path: Path) -> None:
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    (tmp_path / "parts" / "deep" / "one.py").write_text("V = 7")
    (tmp_path / "parts" / "v.txt").write_text("5")
    text = f"""{BLOCK}{HEAD}
import importlib.resources
from parts.deep import one
answer(one=one.V, v=int((importlib.resources.files("parts") / "v.txt").read_text()))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"one": 7, "v": 5}, one


def test_code_of_a_script_is_that_of_its_file(outcomes: Any) -> None:
    text = f"""# -*- coding: latin-1 -*-
from __future__ import annotations
{HEAD}
import inspect
def named(x: NotThere): return (lambda: [sys._getframe().f_code.co_filename for _ in (1,)])()
answer(own=int(named(1) == [__file__] and named.__code__.co_filename == __file__),
       source=int(inspect.getsource(named).startswith("def named")), profile=sys.getprofile() or 0,
       letter=int("\xe9" == chr(0xC3) + chr(0xA9)), argv=int(sys.argv[1] == "-i"))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"own": 1, "source": 1, "profile": 0, "letter": 1, "argv": 1}, one


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ny = (\n", ('m0.py", line 2', "'(' was never closed")),
        ("def f():\n    1 / 0\nf()\n", ('m0.py", line 3', 'm0.py", line 2', "ZeroDivisionError")),
        ("exec('a b')\n", ('m0.py", line 1', '"<string>", line 1\n', "SyntaxError")),
        ("x = 1\0\n", ("null bytes",)),
    ],
)
def test_traceback_names_the_lines_of_the_script(
    outcomes: Any, text: str, told: tuple[str, ...]
) -> None:
    (one,), _ = outcomes(text)
    message = one["error"]["message"]
    places = [message.find(words) for words in told]
    assert -1 not in places, message
    assert places == sorted(places)


@pytest.mark.parametrize("cookie", ["utf-8", "cp1252", "koi8-r"])
def test_code_is_that_of_its_file_whatever_the_parser_calls(outcomes: Any, cookie: str) -> None:
    """Codecs and warnings run code of their own before that of the script."""
    text = f"""# -*- coding: {cookie} -*-
import argparse, inspect, json
def named(x):
    return x * 2
parser = argparse.ArgumentParser()
for name in "io":
    parser.add_argument(f"-{{name}}")
own = named.__code__.co_filename == __file__
pattern = "\\d"
answer = {{"lines": inspect.getsource(named).count("\\n"), "own": int(own)}}
json.dump(answer, open(parser.parse_args().o, "w"))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"lines": 2, "own": 1}, one


@pytest.mark.parametrize("options", [(), ("--sandbox", "off")])
@pytest.mark.parametrize("imported", ["", "import sys\n"])
def test_nothing_beside_a_script_stands_for_a_module_of_python(
    outcomes: Any, tmp_path: Path, imported: str, options: tuple[str, ...]
) -> None:
    """`argparse` imports `gettext`, which the script does not name."""
    (tmp_path / "gettext.py").write_text("raise SystemExit(9)")
    text = imported + "import argparse, json\nparser = argparse.ArgumentParser()\n"
    text += "parser.add_argument('-i'); parser.add_argument('-o')\n"
    text += "json.dump({'n': 1}, open(parser.parse_args().o, 'w'))\n"
    (one,), _ = outcomes(text, arguments=options)
    assert one["values"] == {"n": 1}, one


@linux
@pytest.mark.parametrize("layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")])
def test_project_among_the_systems_files_is_no_scripts_to_read(layers: tuple[str, ...]) -> None:
    try:
        project = Path(tempfile.mkdtemp(prefix="harbor-metrics-", dir="/usr/share"))
        other = Path(tempfile.mkdtemp(prefix="harbor-metrics-", dir="/usr/src"))
    except OSError:
        pytest.skip("only root can")
    before = os.getcwd()
    try:
        job = project / "job"
        job.mkdir()
        secrets = [project / ".env", job / ".env", project / "notes", other / "file"]
        for secret in (*secrets, job / "data"):
            secret.write_text("x")
        code = (
            f"values = {{}}\nfor n, path in enumerate({[*map(str, secrets), str(job / 'data')]}):\n"
            "    try: values[f'k{n}'] = len(open(path).read())\n"
            "    except OSError: values[f'k{n}'] = 0\n"
            "answer(**values)\n"
        )
        (job / "m.py").write_text(HEAD + code)
        os.chdir(project)
        with Workplace() as place:
            script = find(str(job / "m.py"), None)
            inputs = Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})]))
            ran = execute(script, inputs, ScriptOptions(layers=layers), place)
    finally:
        os.chdir(before)
        shutil.rmtree(project)
        shutil.rmtree(other)
    if ran.finished.layers != layers:
        pytest.skip(f"not here: {ran.finished.missing}")
    assert ran.values == {"k0": 0, "k1": 0, "k2": 0, "k3": 0, "k4": 1}


def test_of_folders_for_libraries_only_libraries_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder.so").mkdir()
    for link, target in (("liba.so", ".env"), ("libb.so", "folder.so"), ("libc.so", "libx.so.1")):
        (tmp_path / link).symlink_to(target)
    for name in ("libx.so", "libx.so.1", ".env", "note", "other.so"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path / "folder.so")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"..::{tmp_path}:{tmp_path}/none")
    found = libraries()
    assert sorted(found) == [str(tmp_path / name) for name in ("libc.so", "libx.so", "libx.so.1")]


def test_a_library_of_the_system_is_one_by_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a link would show what somebody keeps beside the system's libraries."""
    system, folder = tmp_path / "system", tmp_path / "own"
    for place in (system, folder):
        place.mkdir()
    for name in ("libx.so.1", "key.json"):
        (system / name).write_text("")
        (folder / f"lib{name}.so").symlink_to(system / name)
    monkeypatch.setattr(uv_access, "_SYSTEM", (f"{system}/",))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    assert libraries() == [str(folder / "liblibx.so.1.so")]


def test_of_folders_for_packages_only_packages_are_read(tmp_path: Path) -> None:
    (tmp_path / "foo").mkdir()
    wheel, source = "a_b-1.0+x-py3-none-any.whl", "foo/b-1.tar.gz"
    names = (wheel, source, "foo/index.html", ".env", "foo/.env", "note", f".{wheel}", "backup.zip")
    for name in (*names, "mail.html", "a.whl", "photos-of-us.zip"):
        (tmp_path / name).write_text("")
    assert sorted(dict(packages_in([str(tmp_path)]))) == [
        str(tmp_path / name) for name in sorted(names[:3])
    ]


def test_no_link_makes_a_package_or_a_certificate_of_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "reports").mkdir()
    for name in ("notes.txt", "reports/q3.txt", "b-1.tar.gz"):
        (tmp_path / name).write_text("")
    links = (("a-1.tar.gz", "notes.txt"), ("again-1.tar.gz", "b-1.tar.gz"), ("ca.pem", "notes.txt"))
    for link, target in (*links, ("certs", "reports")):
        (tmp_path / link).symlink_to(target)
    assert sorted(dict(packages_in([str(tmp_path)]))) == [
        str(tmp_path / name) for name in ("again-1.tar.gz", "b-1.tar.gz")
    ]
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "certs"))
    assert certificates() == []
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "notes.txt"))
    assert certificates() == [str(tmp_path / "notes.txt")]


def test_no_link_leads_from_a_folder_for_packages_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = "a-1-py3-none-any.whl"
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / wheel).write_text("")
    (tmp_path / "work" / "wheels").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    for link, target in (("wheels/" + wheel, "../../home"), ("wheels/b", "../../home")):
        (tmp_path / "work" / link).symlink_to(target)
    (tmp_path / "work" / "all").symlink_to("../home")
    assert packages_in([str(tmp_path / "work" / "wheels"), str(tmp_path / "work" / "all")]) == []
    for name in CERTIFICATES:
        monkeypatch.setenv(name, "all/.ssh" if name == "SSL_CERT_DIR" else "all")
    assert certificates() == []
