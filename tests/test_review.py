"""What a reviewer broke once: odd inputs, and what must come of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import JOBS, Run, trial, write_job

import harbor_metrics
from harbor_metrics import OutputError, UsageError

COUNT = """\
import argparse, json
p = argparse.ArgumentParser(); p.add_argument("-i"); p.add_argument("-o"); a = p.parse_args()
n = len(open(a.i).readlines())
open(a.o, "w").write(json.dumps({"n": n}))
"""


def script(path: str) -> str:
    return json.dumps({"type": "uv-script", "kwargs": {"script_path": path}})


def dataset(name: str, version: str = "1", **more: object) -> dict[str, object]:
    return {"name": name, "version": version, "description": "", "tasks": [], **more}


def group(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    (one,) = json.loads(done.stdout)["groups"]
    return one


def test_naming_the_only_dataset_loses_no_trial(cli: Run, tmp_path: Path) -> None:
    rows = ['{"task": "a", "dataset": "X", "rewards": {"r": 1}}'] * 2
    rows.append('{"task": "b", "rewards": {"r": 0}}')
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    (tmp_path / "X.json").write_text(json.dumps([dataset("X")]))
    done = cli("compute", "t.jsonl", "--registry", "X.json", "--format", "json")
    assert group(done)["counts"]["found"] == 3


def test_blank_line_in_a_large_file_costs_a_script_nothing(cli: Run, tmp_path: Path) -> None:
    rows = [f'{{"r": {i}.123456789}}' for i in range(120_000)]
    rows.insert(3, "")
    (tmp_path / "r.jsonl").write_text("\n".join(rows))
    (tmp_path / "n.py").write_text(COUNT)
    done = cli("compute", "r.jsonl", "--metric", script("n.py"), "--format", "json")
    assert group(done)["metrics"][1]["values"] == {"n": 120_000}
    assert group(done)["counts"]["tasks"] == 120_000


@pytest.mark.parametrize("output", ["ds/registry.json", "ds/m.py", "job/result.json"])
def test_output_never_replaces_what_was_read(output: str, cli: Run, tmp_path: Path) -> None:
    (tmp_path / "ds").mkdir()
    metrics = [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}]
    (tmp_path / "ds" / "registry.json").write_text(json.dumps([dataset("demo", metrics=metrics)]))
    (tmp_path / "ds" / "m.py").write_text(COUNT)
    entry = {"name": "demo", "registry_path": "ds/registry.json"}
    job = write_job(tmp_path / "job", [trial("t", {"r": 1})], datasets=[entry])
    (job / "result.json").unlink()
    done = cli("compute", "job", "-o", output)
    assert done.returncode == 2
    assert "same file" in done.stderr


def test_output_into_a_pipe_or_device_goes_through(cli: Run, job: Path) -> None:
    assert cli("compute", job, "-o", "/dev/null").returncode == 0
    assert not os.path.isfile("/dev/null")
    assert '"schema_version"' in cli("compute", job, "-o", "/dev/stdout").stdout


def test_lost_group_is_incomplete(cli: Run, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(JOBS / "two-models", tmp_path / "job")
    for path in (tmp_path / "job").glob("*/result.json"):
        if '"sail-1"' in path.read_text():
            shutil.rmtree(path.parent)
    done = cli("compute", "job", "--require-complete", "--format", "json")
    assert group(done)["complete"] is False
    assert done.returncode == 1


def test_order_of_sources_changes_no_count(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"task": "line:1", "rewards": {"r": 1}}\n')
    (tmp_path / "a.jsonl").write_text('{"r": 1}\n{"r": 0}\n')
    (tmp_path / "b.jsonl").write_text('{"r": 1}\n{"r": 0}\n')
    for order in (["t", "a", "b"], ["a", "t", "b"], ["a", "b", "t"]):
        done = cli("compute", *(f"{name}.jsonl" for name in order), "--format", "json")
        assert group(done)["counts"]["tasks"] == 5
        assert group(done)["pass_at_k"] == {}


def test_unread_line_of_a_trials_file_is_counted(cli: Run, tmp_path: Path) -> None:
    rows = '{"task": "a", "rewards": {"r": 1}}\n{"task": "b", "rewards": {"r": true}}\n'
    (tmp_path / "t.jsonl").write_text(rows)
    assert group(cli("compute", "t.jsonl", "--format", "json"))["counts"]["unread"] == 1


def test_empty_key_that_no_trial_has(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"r": 1}\n')
    metric = '{"type": "mean", "kwargs": {"key": ""}}'
    done = cli("compute", "r.jsonl", "--metric", metric, "--format", "json")
    assert group(done)["metrics"][1]["values"] == {"mean": None}


def test_hash_seed_changes_no_byte(cli: Run, job: Path, tmp_path: Path) -> None:
    metrics = [
        {"type": "mean", "foo": 1, "bar": 2, "baz": 3},
        {"type": "sum", "kwargs": {"aa": 1, "bb": 2, "cc": 3}},
    ]
    (tmp_path / "r.json").write_text(json.dumps([dataset("demo", metrics=metrics)]))
    args = ("compute", job, "--registry", "r.json", "--format", "json")
    printed = {cli(*args, env={"PYTHONHASHSEED": str(seed)}).stdout for seed in range(5)}
    assert len(printed) == 1


@pytest.mark.parametrize("metric", ["sum", "max", "min", "mean"])
def test_integer_beyond_binary64_is_undefined(metric: str, cli: Run, tmp_path: Path) -> None:
    huge = "1" + "0" * 400
    (tmp_path / "r.jsonl").write_text(f'{{"r": {huge}}}\n{{"r": {huge}}}\n')
    done = cli("compute", "r.jsonl", "--metric", metric)
    assert "beyond" in done.stdout or done.returncode == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.jsonl", '{"r": 1}\n{"r": ' + "[" * 100_000 + "\n"),
        ("t.jsonl", '{"task": "a", "rewards": {"r": 1}}\n{"task": ' + "[" * 100_000 + "\n"),
        ("first.jsonl", "[" * 100_000 + '\n{"r": 1}\n'),
    ],
)
def test_deep_nesting_hides_nothing(name: str, text: str, cli: Run, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    done = cli("compute", name, "--format", "json")
    assert done.returncode == 1
    assert "nested" in done.stderr
    assert group(done)["counts"]["found"] == 1


def test_deep_config_hides_no_trial(cli: Run, job: Path) -> None:
    (job / "config.json").write_text("[" * 100_000)
    assert group(cli("compute", job, "--format", "json"))["counts"]["found"] == 10


def test_bytes_that_are_no_text(job: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd\udcff"
    odd.mkdir()
    (odd / "r.jsonl").write_text('{"r": 1}\n')
    command = [sys.executable, "-m", "harbor_metrics", "compute", "r.jsonl"]
    for more in (
        ["--metric", script("gone.py"), "--format", "json"],
        ["--dataset", "\udcff", "--format", "json"],
        ["--metric", '{"type": "\udcff"}'],
    ):
        done = subprocess.run([*command, *more], cwd=odd, capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1, 2)


@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams(closing: str, job: Path) -> None:
    line = f"'{sys.executable}' -m harbor_metrics compute '{job}' {closing}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1"])
def test_time_limit_that_is_none(seconds: str, cli: Run, job: Path) -> None:
    assert cli("compute", job, f"--script-timeout={seconds}").returncode == 2


def test_odd_output_path_in_the_library(job: Path) -> None:
    with pytest.raises(OutputError):
        harbor_metrics.compute(job).write("x\0y")


@pytest.mark.parametrize("key", ['a"b', "a\\b", "a\nb", "", "f0", "é" * 300])
def test_reward_keys_may_be_anything(key: str, cli: Run, tmp_path: Path) -> None:
    rows = [{key: 1.0}, None, {}, {key: 0.5, "other": 1}] + [{key: 1.0}] * 600
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cli("compute", "r.jsonl", "--format", "json")
    assert group(done)["metrics"][0]["values"][key] == pytest.approx(601.5 / 604)
    assert group(done)["counts"]["scored"] == 603


def test_broken_first_line_hides_no_other(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('null\n\n{"r": tru}\n{"r": 1}\n')
    done = cli("compute", "r.jsonl", "--format", "json")
    assert (group(done)["counts"]["found"], group(done)["counts"]["unread"]) == (2, 1)
    assert "r.jsonl:3:7" in done.stderr


def test_recognition_looks_at_types(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"tasks": 1, "version": 2}\n')
    assert cli("compute", "r.jsonl").returncode == 0
    (tmp_path / "t.jsonl").write_text('{"task": "a"}\n{"task": "b", "rewards": {"r": 1}}\n')
    done = cli("compute", "t.jsonl", "--format", "json")
    assert group(done)["counts"]["found"] == 1
    assert "rewards" in done.stderr
    nulls = "null\n" * 300_000
    (tmp_path / "n.jsonl").write_text(nulls + '{"task": "b", "rewards": {"r": 1}}\n')
    assert '"kind": "trials"' in cli("compute", "n.jsonl", "--format", "json").stdout


def test_job_after_many_empty_folders(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("zz", {"r": 1})])
    (job / "config.json").unlink()
    (job / "result.json").unlink()
    for i in range(60):
        (job / f"a{i:02d}").mkdir()
    assert group(cli("compute", "job", "--format", "json"))["counts"]["found"] == 1


def test_registry_with_the_version_is_found(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"r": 1}\n')
    (tmp_path / "1.json").write_text(json.dumps([dataset("X", "1")]))
    later = dataset("X", "2", metrics=[{"type": "sum"}])
    (tmp_path / "2.json").write_text(json.dumps([later]))
    registries = ("--registry", "1.json", "--registry", "2.json")
    done = cli("compute", "r.jsonl", "--dataset", "X@2", *registries, "--format", "json")
    assert group(done)["metrics"][0]["type"] == "sum"


def test_dry_run_says_what_cannot_run(cli: Run, job: Path, tmp_path: Path) -> None:
    metrics = [{"type": "bogus"}, {"type": "sum", "kwargs": {"a": 1}}]
    metrics.append({"type": "uv-script", "kwargs": {"script_path": "gone.py"}})
    (tmp_path / "r.json").write_text(json.dumps([dataset("demo", metrics=metrics)]))
    done = cli("compute", job, "--registry", "r.json", "--dry-run")
    assert done.returncode == 1
    assert done.stdout.count("cannot: ") == 3


def test_another_script_in_the_current_directory_is_said(
    cli: Run, job: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "m.py").write_text(COUNT)
    (tmp_path / "m.py").write_text("1/0")
    metrics = [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}]
    (tmp_path / "there" / "r.json").write_text(json.dumps([dataset("demo", metrics=metrics)]))
    done = cli("compute", job, "--registry", "there/r.json", "--format", "json")
    assert group(done)["metrics"][0]["values"] == {"n": 10}
    assert "in the current directory" in done.stderr


def test_nothing_scored_is_undefined_under_any_policy(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("null\nnull\n")
    done = cli("compute", "r.jsonl", "--missing", "error", "--format", "json")
    assert group(done)["metrics"][0]["status"] == "undefined"


def test_negative_number_of_trials_is_no_number(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("t", {"r": 1})], n_total_trials=-5)
    assert group(cli("compute", job, "--format", "json"))["counts"]["expected"] is None


def test_long_name_of_output(cli: Run, job: Path, tmp_path: Path) -> None:
    assert cli("compute", job, "-o", "😀" * 62).returncode == 0


def test_library_refuses_what_the_command_line_refuses(job: Path) -> None:
    with pytest.raises(UsageError, match="missing"):
        harbor_metrics.compute(job, missing="bogus")
    assert harbor_metrics.compute(job, metrics="max").groups[0].metrics[1].name == "max"


def test_table_fits_eighty_columns(cli: Run, tmp_path: Path) -> None:
    long = "x" * 130
    late = {"exception_type": long}
    job = write_job(tmp_path / "job", [trial("t", {"r": 1}, exception_info=late, source=long)])
    done = cli("compute", job, "--metric", script("gone.py"))
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "1 trial, 1 task" in done.stdout


ONE = {"name": "a", "version": "1.0", "description": "d", "tasks": [{"name": "t", "path": "p"}]}


def rules_of(path: Path) -> list[str]:
    return [d.rule for d in harbor_metrics.validate(path).found]


@pytest.mark.parametrize(
    "text",
    [
        "print('x')\nx = " + "-" * 200_000 + "1\n",
        "# /// script\n# a = " + "1" * 5_000 + "\n# ///\nimport sys; sys.argv\n",
        "# /// script\n# a = " + "[" * 5_000 + "\n# ///\nimport sys; sys.argv\n",
        "import sys; sys.argv\n\0",
    ],
    ids=["deep", "digits", "nested", "nul"],
)
def test_script_that_python_chokes_on(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(text)
    entry = {**ONE, "metrics": [json.loads(script("m.py"))]}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    report = harbor_metrics.validate(tmp_path / "registry.json")
    assert not report.ok
    assert "None" not in report.found[0].message


@pytest.mark.parametrize(
    "start", ["\ufeff# /// script", "x = '''" + "y" * 1_100_000 + "'''\n# /// script"]
)
def test_script_that_runs_is_fine(start: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        f"{start}\n# dependencies = []\n# ///\nimport sys\nx = '\\d'\nsys.argv\n", encoding="utf-8"
    )
    entry = {**ONE, "metrics": [json.loads(script("m.py"))]}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    assert rules_of(tmp_path / "registry.json") == []


def test_script_outside_both_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far" / "reg").mkdir(parents=True)
    (tmp_path / "o" / "cwd").mkdir(parents=True)
    (tmp_path / "o" / "nn.py").write_text("")
    entry = {**ONE, "metrics": [json.loads(script("../nn.py"))]}
    (tmp_path / "far" / "reg" / "r.json").write_text(json.dumps([entry]))
    monkeypatch.chdir(tmp_path / "o" / "cwd")
    assert rules_of(tmp_path / "far" / "reg" / "r.json") == ["script-path"]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("null", ["not-a-registry"]),
        ("42", ["not-a-registry"]),
        ("{}", ["not-a-registry"]),
        ('{"reward": 1}', ["not-a-registry"]),
        ('{"datasets":[]}', ["not-a-registry"]),
        ('{"name":"a"}', ["not-a-registry"]),
        ("[null]", ["wrong-type"]),
        (json.dumps([{**ONE, "name": ["x"]}]), ["wrong-type"]),
        (json.dumps([{**ONE, "tasks": {}}]), ["wrong-type"]),
        (json.dumps([{**ONE, "metrics": [None, 5]}]), ["wrong-type", "wrong-type"]),
        (json.dumps([{**ONE, "metrics": [{"type": []}]}]), ["wrong-type"]),
        (json.dumps([ONE]).replace("version", "versoin"), ["unknown-field"]),
        (json.dumps([ONE]).replace("path", "pth"), ["unknown-field"]),
        (
            json.dumps([{**ONE, "metrics": [{"type": "uv-script", "kwarg": {}}]}]),
            ["unknown-metric-field"],
        ),
        (
            json.dumps([{**ONE, "metrics": [{"type": "uv_script", "script_path": "m"}]}]),
            ["unknown-metric-type"],
        ),
        (json.dumps([{**ONE, "tasks": ONE["tasks"] * 2}]), ["duplicate-task"]),
        (json.dumps([{**ONE, "metrics": [], "Metrics": [{"type": "max"}]}]), ["unknown-field"]),
        (
            "[\n<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n<<<<<<< a\n=======\n>>>>>>> b\n]",
            ["conflict-marker"] * 2,
        ),
    ],
    ids=lambda x: x[-60:] if isinstance(x, str) else "",
)
def test_one_slip_one_diagnostic(text: str, rules: list[str], tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(text)
    assert rules_of(tmp_path / "registry.json") == rules


def test_lines_are_recognised_whatever_their_length(tmp_path: Path) -> None:
    row = json.dumps({"task": "a", "rewards": {"r": 1}, "texts": {"x": "x" * 120_000}})
    (tmp_path / "big").write_text(f"{row}\n{row}\n")
    assert rules_of(tmp_path / "big") == []
    (tmp_path / "t.jsonl").write_text('{"task":"a"}\n{"task":"b","rewards":{"reward":1.0}}\n')
    assert rules_of(tmp_path / "t.jsonl") == ["missing-field"]


def test_encodings_of_lines_and_manifests(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes(b'\xef\xbb\xbf{"reward": "x"}\n{"reward": 1}\n')
    assert rules_of(tmp_path / "b.jsonl") == ["byte-order-mark", "invalid-reward"]
    (tmp_path / "u.jsonl").write_bytes('{"r": 1}\n{"r": 2}\n'.encode("utf-16"))
    assert rules_of(tmp_path / "u.jsonl") == ["not-utf-8"]
    (tmp_path / "n.jsonl").write_bytes(b'{"reward": 1}\n{"reward": \xff}')
    (only,) = harbor_metrics.validate(tmp_path / "n.jsonl").found
    assert (only.span.line, only.span.column) == (2, 12)
    assert "byte offset 25" in only.message
    (tmp_path / "dataset.toml").write_bytes(b'[dataset]\nname = "a/b\xff"')
    assert rules_of(tmp_path / "dataset.toml") == ["not-utf-8"]
    for value, rule in (("1" * 5_000, "toml-syntax"), ("[" * 5_000, "too-deep")):
        (tmp_path / "dataset.toml").write_text(f'[dataset]\nname = "a/b"\nx = {value}')
        assert rules_of(tmp_path / "dataset.toml") == [rule]


def test_place_in_a_manifest_is_no_comment(tmp_path: Path) -> None:
    text = "# no [dataset] \"metric.py\"\n[dataset]\nname = 'a'\n[[files]]\npath = 'metric.py'\n"
    (tmp_path / "dataset.toml").write_text(text)
    (only,) = harbor_metrics.validate(tmp_path / "dataset.toml").found
    assert (only.span.line, only.span.column, only.subject) == (5, 8, "[[files]]")


def test_carets_stand_below_wide_characters(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text('[{"name":"日本語","versoin":"1"}]', encoding="utf-8")
    lines = cli("validate", "registry.json", "--select", "unknown-field").stdout.splitlines()
    assert lines[4] == "  |" + " " * 19 + "^" * 9 + " not a dataset field"


def test_file_that_cannot_be_read_hides_no_other(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "sub.json").mkdir()
    done = cli("validate", "a.json", "gone.json")
    assert done.returncode == 3
    assert "wrong-type" in done.stdout
    assert "gone.json" in done.stderr
    assert cli("validate", "*.json").returncode == 1
    twice = cli("validate", "-", "-", input="[]")
    assert twice.stdout.endswith("in 1 file, 0 datasets.\n")


def test_commits_and_null_urls(tmp_path: Path) -> None:
    def registry(**kwargs: object) -> Path:
        entry = {**ONE, "metrics": [{"type": "uv-script", "kwargs": kwargs}]}
        (tmp_path / "r.json").write_text(json.dumps([entry]))
        return tmp_path / "r.json"

    upper = registry(git_url="https://x.org/m", git_commit_id="ABCDEF0123" * 4, script_path="m.py")
    assert "git-script-commit" not in rules_of(upper)
    assert "script-path" in rules_of(registry(git_url=None, script_path="gone.py"))
