"""The catalogue from the command line: faults, labels, levels, aliases, list and explain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import HERE, ROOT, Run, trial, write_job

import harbor_metrics
from harbor_metrics import aliases, metric, reducer, schemas
from harbor_metrics.explanations import explain, rule_names

FAULTS = {
    fault["id"]: fault
    for fault in map(json.loads, (HERE / "faults_catalogue.jsonl").read_text().splitlines())
}


def entry(type_: str, **kwargs: Any) -> str:
    return json.dumps({"type": type_, "kwargs": kwargs})


def metrics(cli: Run, text: str, *asked: str, **more: Any) -> dict[str, Any]:
    """What `compute` says of a file, by type; the document is valid."""
    options = [part for one in asked for part in ("--metric", one)]
    (more["cwd"] / "in.jsonl").write_text(text)
    done = cli("compute", "in.jsonl", "--format", "json", *options)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schemas.bundled("result")).validate(document)
    return {one["type"]: one for one in document["groups"][0]["metrics"]}


def test_w23_one_trial_has_no_spread(cli: Run, tmp_path: Path) -> None:
    found = metrics(cli, FAULTS["W23"]["text"], "std", "stderr", "ci", "var", cwd=tmp_path)
    for type_ in ("std", "stderr", "var"):
        assert found[type_]["values"] == {type_: None}
        assert "undefined" in found[type_]["reasons"][type_]
    assert found["mean"]["uncertainty"]["mean"]["stderr"] is None
    # Wilson's interval of one reward is wide, not nothing.
    assert found["ci"]["values"]["low"] == pytest.approx(0.2065, abs=1e-4)


@pytest.mark.parametrize(("n", "high"), [(25, 0.1332), (5000, 0.000768)])
def test_w24_all_rewards_zero(cli: Run, tmp_path: Path, n: int, high: float) -> None:
    asked = [entry("ci", method=m) for m in ("wilson", "clopper-pearson", "jeffreys")]
    found = metrics(cli, '{"reward": 0}\n' * n, asked[0], cwd=tmp_path)
    sure = found["mean"]["uncertainty"]["mean"]
    assert (sure["stderr"], sure["low"]) == (None, 0.0)
    assert sure["high"] == pytest.approx(high, rel=1e-3)
    assert found["ci"]["values"]["high"] == sure["high"]


def test_w25_k_above_the_attempts(cli: Run, tmp_path: Path) -> None:
    found = metrics(cli, FAULTS["W25"]["text"], entry("pass-at-k", k=5), cwd=tmp_path)
    assert found["pass-at-k"]["status"] == "undefined"
    (reason,) = found["pass-at-k"]["reasons"].values()
    for word in FAULTS["W25"]["message_has"]:
        assert word in reason


def test_w27_one_cluster(cli: Run, tmp_path: Path) -> None:
    lines = "".join(f'{{"task": "t", "rewards": {{"reward": {i % 2}}}}}\n' for i in range(10))
    found = metrics(cli, lines, "stderr", cwd=tmp_path)
    assert found["stderr"]["values"] == {"stderr": None}
    assert "cluster" in found["stderr"]["reasons"]["stderr"]


def test_w28_max_of_a_negative_reward_and_none(cli: Run, tmp_path: Path) -> None:
    text = FAULTS["W28"]["text"]
    assert metrics(cli, text, "max", cwd=tmp_path)["max"]["values"] == {"max": 0}
    skipped = metrics(cli, text, entry("max", missing="skip"), cwd=tmp_path)
    assert skipped["max"]["values"] == {"max": -0.5}
    assert skipped["max"]["n"] == {"max": 1}


LABELS = {
    "labels.json": '{"a": {"side": "x"}, "b": {"side": "y"}}',
    "array.json": '[{"task": "a", "side": "x"}, {"task": "b", "side": "y"}]',
    "labels.jsonl": '{"task": "a", "side": "x"}\n{"task": "b", "side": "y"}\n',
    "labels.csv": "task,side\na,x\nb,y\n",
}


def grouped(cli: Run, tmp_path: Path, *options: str) -> Any:
    write_job(tmp_path / "job", [trial("a", {"r": 1.0}), trial("b", {"r": 0.0})])
    by = entry("grouped", metric="mean", by="side")
    return cli("compute", "job", "--metric", by, "--format", "json", *options)


@pytest.mark.parametrize("name", LABELS)
def test_labels_file(cli: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(LABELS[name])
    done = grouped(cli, tmp_path, "--labels", name)
    assert done.returncode == 0, done.stderr
    (found,) = (m for m in json.loads(done.stdout)["groups"][0]["metrics"] if m["type"] != "mean")
    assert found["values"] == {"x": 1.0, "y": 0.0, "all": 0.5}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"nobody": {"side": "x"}}', ["labels no task", "it has nobody, the trials have a"]),
        ("task,side\na,x\na,y\n", ["line 3", "a second row for task a"]),
        ('[{"task": "a", "side": ["x"]}]', ["entry 0", "`side` of task a is no string"]),
        ("side,task\nx\n", ["line 2", "not 2 cells"]),
        ("name,side\na,x\n", ["no column `task`"]),
        ("task,side,side\na,x,y\n", ["two columns of one name"]),
        ('{"a": "x"}', ["the labels of task a are no object"]),
        ('[{"side": "x"}]', ["an object with a `task` is needed"]),
        ('{"task": "a", "side": "x"}\n{"task": "b"\n', ["line 2"]),
        ("{}", ["has no labels"]),
        ("", ["no column `task`"]),
        ("task,side\n\xff,x\n", ["not UTF-8"]),
    ],
)
def test_labels_file_that_does_not_fit(
    cli: Run, tmp_path: Path, text: str, words: list[str]
) -> None:
    (tmp_path / "labels").write_bytes(text.encode("latin-1"))
    done = grouped(cli, tmp_path, "--labels", "labels")
    assert done.returncode == 3
    for word in ["labels", *words]:
        assert word in done.stderr


def test_a_label_that_contradicts_the_trials(cli: Run, tmp_path: Path) -> None:
    line = {"task": "a", "rewards": {"r": 1}, "labels": {"side": "x"}}
    (tmp_path / "t.jsonl").write_text(json.dumps(line))
    (tmp_path / "l.csv").write_text("task,side\na,y\n")
    done = cli("compute", "t.jsonl", "--labels", "l.csv")
    assert done.returncode == 3
    assert "label `side` of task a is 'y', and its trials say 'x'" in done.stderr


def test_a_label_that_some_trials_lack_fails_the_metric_only(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("task,side\na,x\n")
    done = grouped(cli, tmp_path, "--labels", "l.csv")
    assert done.returncode == 1
    mean, by = json.loads(done.stdout)["groups"][0]["metrics"]
    assert mean["values"] == {"mean": 0.5}
    assert by["error"]["rule"] == "missing-label"
    assert "1 of 2 trials have no label `side`, the first is b__" in by["error"]["message"]


def test_metadata_of_the_registrys_tasks_are_labels(cli: Run, tmp_path: Path) -> None:
    tasks = [
        {"name": "a", "path": "a", "metadata": {"side": "x", "deep": {"er": 1}}},
        {"name": "b", "path": "b", "metadata": {"side": "y", "deep": {"er": 2}, "list": [1]}},
    ]
    by = [{"type": "grouped", "kwargs": {"metric": "mean", "by": s}} for s in ("side", "deep.er")]
    dataset = {
        "name": "demo",
        "version": "1",
        "description": "",
        "tasks": tasks,
        "extra_metrics": [*by, {"type": "evsys/pass@1"}],
    }
    (tmp_path / "r.json").write_text(json.dumps([dataset]))
    assert cli("validate", "r.json", "--ignore", "task-path").returncode == 0
    write_job(tmp_path / "job", [trial("a", {"r": 1.0}), trial("b", {"r": 0.0})])
    done = cli("compute", "job", "--registry", "r.json", "--format", "json")
    _, side, deep, alias = json.loads(done.stdout)["groups"][0]["metrics"]
    assert side["values"] == {"x": 1.0, "y": 0.0, "all": 0.5}
    assert deep["values"] == {"1": 1.0, "2": 0.0, "all": 0.5}
    assert (alias["name"], alias["type"]) == ("evsys/pass@1", "any-first-k")
    assert alias["kwargs"] == {"method": "available", "k": 1}


def test_level(cli: Run, job: Path) -> None:
    wide = json.loads(cli("compute", job, "--format", "json", "--level", "0.99").stdout)
    none = json.loads(cli("compute", job, "--format", "json", "--level", "off").stdout)
    (sure,) = wide["groups"][0]["metrics"][0]["uncertainty"].values()
    assert sure["level"] == 0.99
    assert none["groups"][0]["metrics"][0]["uncertainty"] == {}
    for wrong in ("95", "0", "1", "nan", "much"):
        assert cli("compute", job, "--level", wrong).returncode == 2


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("meen", "did you mean `mean`"),
        ("inspect/acuracy", "did you mean `inspect/accuracy`"),
        (entry("ci", methd="t"), "takes no `methd`; did you mean `method`?"),
        (entry("ci", method="wald"), "`method` of `ci`"),
        (entry("pass-at-k"), "needs `k`"),
        (entry("mean", reducer="best"), "unknown reducer `best`"),
        (entry("mean-reward", reducer="max"), "takes no `reducer`"),
        (entry("uv-script", script_path="m.py", key="x"), "takes no `key`"),
        (entry("grouped", metric="uv-script", by="x"), "does not run scripts"),
        (entry("grouped", metric={"type": "mean", "kwarg": {}}, by="x"), "`metric`"),
    ],
)
def test_wrong_use_is_refused_when_it_is_read(cli: Run, job: Path, asked: str, words: str) -> None:
    done = cli("compute", job, "--metric", asked)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_an_alias_in_metrics_is_not_for_harbor(cli: Run, job: Path, tmp_path: Path) -> None:
    dataset = {"name": "demo", "version": "1", "description": "", "tasks": []}
    entries = [{"type": "inspect/accuracy"}, {"type": "pass_rate"}]
    (tmp_path / "r.json").write_text(json.dumps([{**dataset, "metrics": entries}]))
    done = cli("validate", "r.json")
    assert done.stdout.count("error[not-in-harbor]") == 2
    computed = cli("compute", job, "--registry", "r.json", "--format", "json")
    first, second = json.loads(computed.stdout)["groups"][0]["metrics"]
    assert (first["type"], first["status"]) == ("accuracy", "ok")
    # Without its system's name, no alias counts where Harbor reads.
    assert (second["type"], second["status"]) == ("pass_rate", "failed")


def test_notes_stand_beside_the_numbers(cli: Run, tmp_path: Path) -> None:
    lines = "".join(
        f'{{"task": "t{i // 2}", "rewards": {{"reward": {i % 2}}}}}\n' for i in range(5)
    )
    found = metrics(cli, lines, entry("pass-at-k", k=1), "stderr", cwd=tmp_path)
    assert any("1 to 2 attempts" in note for note in found["pass-at-k"]["notes"])
    assert any("3 independent units" in note for note in found["stderr"]["notes"])
    shown = cli("compute", "in.jsonl", "--metric", "stderr").stdout
    assert "note  standard errors and intervals rest on 3 independent units" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_list_names_everything_once(cli: Run) -> None:
    done = cli("list")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    entries = json.loads(cli("list", "--format", "json").stdout)
    names = [(one["kind"], one["name"]) for one in entries]
    assert len(set(names)) == len(names)
    assert {name for kind, name in names if kind == "metric"} == {
        *metric.names(),
        *(alias.name for alias in aliases.METRICS),
    }
    assert {name for kind, name in names if kind == "reducer"} == {
        *reducer.names(),
        *(alias.name for alias in aliases.REDUCERS),
    }
    for name in {name for _, name in names}:
        assert name in done.stdout


EVERYTHING = sorted(
    {
        *metric.names(),
        *reducer.names(),
        *(alias.name for alias in (*aliases.METRICS, *aliases.REDUCERS)),
        "evsys/pass@3",
        "inspect/pass_at_5",
        "pass_rate",
    }
)


@pytest.mark.parametrize("name", EVERYTHING)
def test_explanation_fits_and_its_example_works(name: str) -> None:
    from harbor_metrics.catalogue import check

    text = explain(name)
    assert text.startswith(name) or name in ("evsys/pass@3", "inspect/pass_at_5", "pass_rate")
    assert all(len(line) <= 80 or line.startswith("  {") for line in text.splitlines())
    for line in text.splitlines():
        if line.startswith('  {"type"') and "{k}" not in text:
            example = json.loads(line)
            if example["type"] != "uv-script" and "It means" not in text:
                check(example["type"], example.get("kwargs", {}))


def test_explain_suggests(cli: Run) -> None:
    done = cli("explain", "pass-at-kk")
    assert done.returncode == 2
    assert "did you mean `pass-at-k`?" in done.stderr
    assert all(rule in cli("explain").stdout for rule in rule_names())


def test_the_library_takes_level_and_labels(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"task": "a", "rewards": {"r": 1}}\n' * 2)
    (tmp_path / "l.csv").write_text("task,side\na,x\n")
    by = entry("grouped", metric="mean", by="side")
    result = harbor_metrics.compute(
        tmp_path / "t.jsonl", metrics=by, labels=tmp_path / "l.csv", level=None
    )
    assert result.groups[0].metrics[1].values == {"all": 1.0, "x": 1.0}
    with pytest.raises(harbor_metrics.UsageError, match="level"):
        harbor_metrics.compute(tmp_path / "t.jsonl", level=95)


def test_readme_names_of_other_systems_exist() -> None:
    readme = (ROOT / "README.md").read_text()
    for name in ("evsys/pass@3", "inspect/stderr"):
        assert name in readme
        assert aliases.find(name)


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("accuracy", True),
        ("pass-at-k", True),
        ("ter", False),
        ("total-cost", False),
        ("mean", None),
    ],
)
def test_which_value_is_better_where_it_is_known(name: str, better: bool | None) -> None:
    assert metric.lookup(name).higher_is_better is better


def test_which_value_is_better_stands_in_the_result(cli: Run, tmp_path: Path) -> None:
    found = metrics(cli, '{"reward": 1}\n', "accuracy", "perplexity", cwd=tmp_path)
    assert found["accuracy"]["higher_is_better"] is True
    assert found["perplexity"]["higher_is_better"] is False
    assert "higher_is_better" not in found["mean"]


@pytest.mark.parametrize("name", ["pass@k", "pass_at_k", "lm-eval/pass@k", "lm-eval/pass_at_k"])
def test_reductions_by_the_names_of_lm_eval(cli: Run, tmp_path: Path, name: str) -> None:
    lines = "".join(f'{{"task": "a", "rewards": {{"r": {r}}}}}\n' for r in (1, 0))
    asked = entry("accuracy", reducer={"type": name, "kwargs": {"k": 1}})
    assert metrics(cli, lines, asked, cwd=tmp_path)["accuracy"]["values"] == {"accuracy": 0.5}
