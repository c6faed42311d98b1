"""Which runs are compared: names, agents and models of one source, labels, choices."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from comparison.runs_by_hand import write_run
from conftest import JOBS, Run, trial, write_job

import harbor_metrics
from harbor_metrics import Comparison, compare
from harbor_metrics.comparison.runs import named_sources
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.errors import UsageError
from harbor_metrics.render.sentences import turned
from harbor_metrics.trials.snapshot import SNAPSHOT

TASKS = {f"t{i:02}": [i % 2] for i in range(12)}


def names(comparison: Comparison) -> list[tuple[str, str]]:
    return [(pair.base.run, pair.candidate.run) for pair in comparison.comparisons]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (["jobs/a", "jobs/b"], {"a": ["jobs/a"], "b": ["jobs/b"]}),
        (["x/run", "y/run"], {"x/run": ["x/run"], "y/run": ["y/run"]}),
        (["new=jobs/a", "jobs/b"], {"new": ["jobs/a"], "b": ["jobs/b"]}),
        (["b=jobs/a", "jobs/b"], {"b": ["jobs/a"], "jobs/b": ["jobs/b"]}),
        (["n=one", "n=two", "three"], {"n": ["one", "two"], "three": ["three"]}),
        (["a/b=c", "d"], {"b=c": ["a/b=c"], "d": ["d"]}),
        (["b=/jobs/a", "b", "c"], {"b": ["/jobs/a"], "./b": ["b"], "c": ["c"]}),
    ],
)
def test_names_of_sources(sources: list[str], expected: dict[str, list[str]]) -> None:
    assert named_sources(sources) == expected


def test_two_models_of_one_short_name_are_two_runs(tmp_path: Path) -> None:
    """On other datasets they are shown by it, and one would be compared as the other."""
    jobs = []
    for provider, dataset in (("p", "d"), ("q", "e")):
        for model in ("m", "x"):
            own = f"{provider}/{model}"
            trials = [
                trial(task, {"reward": float(i)}, i, id=f"{own}{task}", source=dataset,
                      agent_info={"name": "a", "model_info": {"name": own}})
                for i, task in enumerate("tu")
            ]  # fmt: skip
            agents = [{"name": "a", "model_name": own}]
            jobs.append(write_job(tmp_path / provider / model, trials, agents=agents))
    assert names(compare(*jobs[:2], by="model")) == [("m", "x")]
    found = compare(*jobs, by="model", only=["dataset=d"])
    assert names(found) == [("m", "x")]
    for chosen in ("q/m", "q/x"), ("p/m", "p/x"):
        only = [f"model={model}" for model in chosen]
        assert names(compare(*jobs, by="model", only=only)) == [("m", "x")]
    with pytest.raises(UsageError, match="no trial fits; model is p/m, p/x, q/m, q/x"):
        compare(*jobs, by="agent", only=["model=m"])
    with pytest.raises(UsageError, match="p/m and q/m have no dataset in common"):
        compare(*jobs, by="model")


@pytest.mark.parametrize("said", [False, None])
def test_a_run_that_a_label_tells_apart_says_nothing_of_others(
    said: bool | None, tmp_path: Path
) -> None:
    for i, prompt in enumerate("abc"):
        folder, stamp = tmp_path / prompt, f"2026-0{i + 1}-01T00-00-00.0"
        folder.mkdir()
        rows = [
            {"doc_id": n, "doc": {"prompt": prompt}, "target": "t", "resps": [["a"]],
             "filtered_resps": ["a"], "filter": "none", "arguments": {}, "metrics": ["err"],
             "err": int(n % 4 < i)}
            for n in range(20)
        ]  # fmt: skip
        (folder / f"samples_t_{stamp}.jsonl").write_text(
            "".join(f"{json.dumps(row)}\n" for row in rows)
        )
        word = (
            {"t": {"err": False if prompt != "c" else said}}
            if prompt != "c" or said is False
            else {}
        )
        (folder / f"results_{stamp}.json").write_text(json.dumps({
            "results": {"t": {"err,none": 0.5}}, "model_name": "m", "higher_is_better": word,
            "n-samples": {"t": {"original": 20, "effective": 20}},
        }))  # fmt: skip
    sources = [tmp_path / prompt for prompt in "abc"]
    (first, *_) = compare(*sources, by="prompt").comparisons
    assert (first.base.run, first.candidate.run) == ("a", "b")
    assert {(row.verdict, row.higher_is_better) for row in first.rows} == {("worse", False)}
    (chosen,) = compare(*sources, by="prompt", only=["prompt=a", "prompt=b"]).comparisons
    assert chosen.rows == first.rows


def test_a_path_that_exists_is_one_where_its_end_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k=1").mkdir()
    assert named_sources(["k=1", "k=2"]) == {"k=1": ["k=1"], "k": ["2"]}


@pytest.mark.parametrize("source", ["main.jsonl", "../main.jsonl", "/main.jsonl", "ma?n.jsonl"])
def test_a_path_of_the_name_and_the_source_that_it_names_are_not_guessed_between(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.jsonl").write_text("")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    if source[0] == "/":
        source = f"{tmp_path}{source}"
    if source[0] == "m":
        Path("main.jsonl").write_text("")
    assert named_sources([f"base={source}"]) == {"base": [source]}
    Path(f"base={source}").parent.mkdir(parents=True, exist_ok=True)
    Path(f"base={source}").write_text("")
    with pytest.raises(UsageError, match="neither is taken for what is meant") as refusal:
        named_sources([f"base={source}"])
    # It says how to write either.
    path, run = re.fullmatch(r"write (\S+) for the path, (\S+) for .*", refusal.value.help).groups()  # type: ignore[union-attr]
    path, run = shlex.split(f"{path} {run}")
    assert named_sources([path]) == {Path(path).name: [path]}
    ((name, (other,)),) = named_sources([run]).items()
    assert name == "base"
    if "?" not in source:
        assert Path(other).samefile(source)


@pytest.mark.parametrize("source", ["s3://bucket/main.parquet", "-"])
def test_what_cannot_be_asked_for_may_be_there(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(f"base={source}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    with pytest.raises(UsageError, match="neither is taken for what is meant"):
        named_sources([f"base={source}"])


def test_a_file_in_the_current_folder_is_no_part_of_a_run_that_was_named(
    tmp_path: Path, cli: Run
) -> None:
    always = {f"t{i}": [1] for i in range(30)}
    half = {f"t{i}": [int(i > 9)] for i in range(30)}
    main = write_run(tmp_path / "main.jsonl", always, agent="a")
    write_run(tmp_path / "new", half, agent="a")
    write_run(tmp_path / "base", {f"t{i}": [0] for i in range(30)}, agent="a", attempt=3)
    done = cli("compare", f"base={main}", "new", "base", "--no-worse", "mean")
    assert done.returncode == 1
    assert "./base" in done.stdout
    (tmp_path / "page").mkdir()
    done = cli("report", f"base={main}", "new", "base", "-o", "page/x.html")
    assert done.returncode == 0, done.stderr


def test_sources_that_are_printed_alike_are_no_one_run() -> None:
    with pytest.raises(UsageError, match="would both be called"):
        named_sources(["a\n", "a\\n"])


def test_a_report_compares_what_has_an_equals_sign_in_its_path(tmp_path: Path, cli: Run) -> None:
    for number in (1, 2):
        write_run(tmp_path / f"k={number}", TASKS, agent=str(number))
    done = cli("report", "k=1", "k=2", "-o", "x.html")
    assert done.returncode == 0, done.stderr


def test_a_source_of_two_models_is_compared_by_them() -> None:
    comparison = compare(JOBS / "two-models")
    assert names(comparison) == [("sail-1", "sail-2")]
    (pair,) = comparison.comparisons
    assert pair.rows[0].difference == 0.04
    assert names(compare(JOBS / "two-models", by="model", base="sail-2")) == [("sail-2", "sail-1")]


@pytest.fixture
def three(tmp_path: Path) -> list[str]:
    """Three runs of one dataset, the third much better."""
    paths = []
    for number, name in enumerate(("one", "two", "three")):
        rewards = {t: [1 if number == 2 or (i + number) % 2 else 0] for i, t in enumerate(TASKS)}
        labels = {"size": name}
        paths.append(str(write_run(tmp_path / f"{name}.jsonl", rewards, agent=name, labels=labels)))
    return paths


def test_several_candidates_stand_beside_one_base(three: list[str]) -> None:
    comparison = compare(*three, base="two.jsonl")
    assert names(comparison) == [("two.jsonl", "one.jsonl"), ("two.jsonl", "three.jsonl")]
    ps = [pair.rows[0].p for pair in comparison.comparisons]
    worth = [pair.rows[0].p_adjusted for pair in comparison.comparisons]
    assert sorted(worth) == sorted([max(ps), 2 * min(ps)])  # type: ignore[type-var, operator]
    assert comparison.comparisons[1].rows[0].verdict == "better"


@pytest.mark.parametrize("by", ["agent", "size", None])
def test_runs_of_one_pool_by_agent_and_by_a_label(
    by: str | None, three: list[str], tmp_path: Path
) -> None:
    whole = tmp_path / "whole.jsonl"
    whole.write_text("".join(Path(path).read_text() for path in three))
    if by == "size":
        # A label tells apart what one agent did.
        whole.write_text(re.sub(r'"agent": "[a-z]*"', '"agent": "a"', whole.read_text()))
    assert names(compare(whole, by=by)) == [("one", "three"), ("one", "two")]


def test_only_chooses_trials(three: list[str], tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    whole.write_text("".join(Path(path).read_text() for path in three[:2]))
    third = write_run(tmp_path / "third.jsonl", TASKS, agent="z", labels={"size": "one"})
    (pair,) = compare(whole, third, only="size=one").comparisons
    assert pair.base.agent == "one"
    with pytest.raises(UsageError, match="--only size=four: no trial fits; size is one, two"):
        compare(whole, third, only="size=four")
    (pair,) = compare(whole, third, only=["size=one", "size=four"]).comparisons
    assert pair.base.agent == "one"


def test_several_values_of_one_key_are_alternatives(three: list[str], tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    whole.write_text("".join(Path(path).read_text() for path in three))
    for key in ("agent", "size"):
        found = compare(whole, only=[f"{key}=one", f"{key}=three"], by="agent")
        assert names(found) == [("one", "three")]


def test_datasets_are_compared_one_by_one(tmp_path: Path) -> None:
    def of(name: str, shift: int) -> Path:
        path = tmp_path / f"{name}.jsonl"
        for dataset in ("x", "y"):
            rewards = {t: [(i + shift) % 2] for i, t in enumerate(TASKS)}
            part = write_run(tmp_path / "part", rewards, dataset=dataset, agent=name)
            path.write_text((path.read_text() if path.exists() else "") + part.read_text())
        return path

    comparison = compare(of("a", 0), of("b", 1))
    datasets = [pair.dataset.name for pair in comparison.comparisons if pair.dataset]
    assert datasets == ["x", "y"]


def test_written_and_read_again(three: list[str], tmp_path: Path, cli: Run) -> None:
    comparison = compare(*three, margin=0.2, detect=0.1)
    path = tmp_path / "c.json"
    comparison.write(str(path))
    assert Comparison.read(str(path)) == comparison
    done = cli("validate", path)
    assert done.returncode == 0, done.stdout
    broken: dict[str, Any] = json.loads(path.read_text())
    broken["comparisons"][0]["rows"][0]["verdict"] = "won"
    path.write_text(json.dumps(broken, indent=2))
    done = cli("validate", path)
    assert done.returncode == 1
    assert "`verdict`" in done.stdout


def test_the_command_writes_what_it_prints(three: list[str], cli: Run, tmp_path: Path) -> None:
    done = cli("compare", *three, "--format", "json", "-o", "c.json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.json").read_text() == done.stdout
    again = cli("compare", *three, "--format", "json")
    assert again.stdout == done.stdout


def test_a_file_is_what_its_name_says(three: list[str], cli: Run, tmp_path: Path) -> None:
    assert cli("compare", *three, "-o", "c.csv").returncode == 0
    assert (tmp_path / "c.csv").read_text() == cli("compare", *three, "--format", "csv").stdout
    for name, help_ in (("c.md", "-o c.json, or --also markdown:c.md"), ("c.parquet", "-o c.json")):
        done = cli("compare", *three, "-o", name)
        assert done.returncode == 2
        assert f"which is JSON, or its values as CSV, and {name} ends in" in done.stderr
        assert f"help: {help_}" in done.stderr


def test_the_document_is_not_written_over_a_source(three: list[str], cli: Run) -> None:
    done = cli("compare", f"a={three[0]}", three[1], "-o", three[0])
    assert done.returncode == 2
    assert "the same file" in done.stderr


def test_tasks_are_better_by_the_reward_that_is_shown_and_not_by_another_metric(
    tmp_path: Path,
) -> None:
    def run(name: str, fixed: int) -> Path:
        lines = [
            {
                "task": f"t{i:02}",
                "agent": name,
                "rewards": {"acc": int(i % 2 or i < fixed), "loss": -1 - (i + fixed) % 7},
            }
            for i in range(20)
        ]
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return path

    metrics = [
        '{"type": "perplexity", "kwargs": {"key": "loss"}}',
        '{"type": "accuracy", "kwargs": {"key": "acc"}}',
    ]
    whole = compare(run("base", 0), run("new", 8), metrics=metrics, fail_if="tasks.worse > 0")
    (pair,) = whole.comparisons
    *_, perplexity, accuracy = pair.rows
    assert (pair.key, perplexity.higher_is_better, accuracy.higher_is_better) == (
        "acc",
        False,
        True,
    )
    assert whole.outcome == "passed"
    assert [(each.kind, each.n) for each in turned(pair)] == [("better", 4), ("worse", 0)]
    (alone,) = compare(run("base", 0), run("new", 8), metrics=metrics[:1]).comparisons
    assert [each.kind for each in turned(alone)] == ["higher", "lower"]


@pytest.mark.parametrize("only", [(), ("half=a", "half=b"), ("task=t0", "task=t1")])
def test_trials_that_are_left_out_are_of_the_run_that_their_label_says(
    only: tuple[str, ...], tmp_path: Path
) -> None:
    lines = [
        {
            "task": f"t{i}",
            "trial": f"{half}-{i}",
            "rewards": {"reward": 1} if i else None,
            "labels": {"half": half},
            **({} if i or half == "b" else {"left_out": True, "error": "Gone"}),
        }
        for half in "ab"
        for i in range(3)
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (pair,) = compare(path, by="half", base="a", only=only).comparisons
    n = 2 if "task=t0" in only else 3
    counts = (pair.base.counts, pair.candidate.counts)
    assert [(c.found, c.left_out or 0, c.errored) for c in counts] == [(n, 1, 1), (n, 0, 0)]


def test_left_out_trials_have_the_labels_of_their_tasks_in_a_file(tmp_path: Path) -> None:
    line = {"rewards": None, "left_out": True, "error": "Gone"}
    sources = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for n, source in enumerate(sources):
        lines = [{"task": f"t{i}", "rewards": {"reward": n}} for i in range(4)]
        lines += [{"task": "t1", **line}, {"task": "t2", **line}]
        source.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    (tmp_path / "l.csv").write_text("task,side\nt0,l\nt1,l\nt2,r\nt3,r\n")
    (pair,) = compare(*sources, only=["side=l"], labels=tmp_path / "l.csv").comparisons
    assert (pair.base.counts.found, pair.base.counts.left_out) == (3, 1)


GROUPED = MetricSpec(type="grouped", kwargs={"metric": "mean", "by": "sea"})


@pytest.mark.parametrize("beside", [[], [GROUPED]], ids=["alone", "beside another"])
def test_labels_of_every_run_are_read_for_the_metrics_of_the_base(
    beside: list[MetricSpec], tmp_path: Path
) -> None:
    """Whatever the run's own metrics read: the base's alone are computed of both."""
    asks = MetricSpec(type="krippendorff-alpha", kwargs={"raters": ["judge", "human"]})
    metrics: dict[str, list[Any]] = {"base": [{"type": asks.type, "kwargs": asks.kwargs}]}
    for name, own in {**metrics, "candidate": []}.items():
        shutil.copytree(JOBS / "single", tmp_path / name)
        config = json.loads((tmp_path / name / "config.json").read_text())
        (tmp_path / name / "config.json").write_text(json.dumps({**config, "metrics": own}))
        tasks: dict[str, dict[str, Any]] = {}
        for number, path in enumerate(sorted((tmp_path / name).glob("*/result.json"))):
            trial = json.loads(path.read_text())
            judge = (number + (name == "base")) % 2
            trial["verifier_result"] = {"rewards": {"judge": judge}}
            trial["id"] = f"{name}-{number}"
            path.write_text(json.dumps(trial))
            tasks[trial["task_name"]] = {"human": number // 2 % 2, "sea": "cold"}
            dataset = trial.get("source")
        snapshot = {"schema_version": "1", "datasets": [{"name": dataset, "tasks": tasks}]}
        (tmp_path / name / SNAPSHOT).write_text(json.dumps(snapshot))
    result = compare(tmp_path / "base", tmp_path / "candidate", metrics=beside)
    rows = [row for pair in result.comparisons for row in pair.rows if row.type == asks.type]
    alone = harbor_metrics.compute(tmp_path / "candidate", metrics=[asks], only_asked=True)
    (value,) = alone.groups[0].metrics[0].values.values()
    assert [row.candidate for row in rows] == [value]


def test_runs_whose_names_meet_are_not_one(tmp_path: Path) -> None:
    """One stood on a dataset for the other, under its name."""
    lines = [
        {"task": task, "agent": agent, "model": model, "dataset": dataset, "rewards": {"r": reward}}
        for agent, model, dataset, reward in (
            ("a", "b", "d", 1),
            ("a", "b", "e", 1),
            ("o", None, "d", 1),
            ("o", "without a name", "e", 0),
            ("a · b", "c", "d", 0),
            ("a", "b · c", "e", 0),
        )
        for task in "tuv"
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    runs = {
        (pair.dataset.name, pair.candidate.run): (pair.candidate.agent, pair.candidate.model)
        for pair in compare(path).comparisons
        if pair.dataset is not None
    }
    assert set(runs.values()) == {
        ("a", "b · c"), ("a · b", "c"), ("o", "without a name"), ("o", None),
    }  # fmt: skip
    # The name of two is nobody's, and what each has behind it hangs on nothing else.
    names = {name: of for (_, name), of in runs.items()}
    assert all(re.fullmatch(r"(a · b · c|o · without a name)#[0-9a-f]{20}", name) for name in names)
    line = {"task": "t", "agent": "a", "dataset": "d", "rewards": {"r": 1}}
    taking = [line | {"model": name.removeprefix("a · ")} for name in names if name[0] == "a"]
    path.write_text(path.read_text() + "".join(f"{json.dumps(line)}\n" for line in taking))
    more = {
        pair.candidate.run: (pair.candidate.agent, pair.candidate.model)
        for pair in compare(path).comparisons
    }
    assert {name: more[name] for name in names} == names
