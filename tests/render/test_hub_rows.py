"""Rows of a Harbor Hub leaderboard; `inside_harbor/test_real_harbor.py` shows them to Harbor."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import JOBS, Run, trial, write_job
from msgspec.structs import replace
from results_by_hand import group, outcome, result

from harbor_metrics.errors import UsageError
from harbor_metrics.evaluation.result import Result, ScriptRef
from harbor_metrics.render.hub_rows import hub_rows

ID = "00000000-0000-4000-8000-0000000000{:02d}"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A job of two agents, four trials each, one of them without rewards."""
    trials = [
        trial(
            f"t{i % 2}",
            None if i == 3 else {"reward": float(i % 2)},
            i,
            id=ID.format(i),
            agent_info={"name": f"agent-{i // 4}", "model_info": {"name": "m"}},
        )
        for i in range(8)
    ]
    return write_job(tmp_path / "two", trials)


def rows(done: object) -> list[dict[str, object]]:
    return json.loads(done.stdout)["rows"]


def marked(name: str, row: dict[str, Any]) -> list[str]:
    """The columns of values that would have this name, and of which none has it."""
    return [column for column in row["metrics"] if re.fullmatch(rf"{name}#[0-9a-f]{{20}}", column)]


def test_a_row_has_values_errors_counts_and_trials(cli: Run, two: Path) -> None:
    passing = '{"type": "pass-at-k", "kwargs": {"k": [1, 2, 9]}}'
    done = cli("compute", two, "--metric", passing, "--format", "hub-rows")
    assert done.returncode == 0, done.stderr
    first, second = rows(done)
    assert first["metadata"] == {"agent": "agent-0", "model": "m", "dataset": "demo"}
    metrics = first["metrics"]
    assert metrics["trials"] == 4
    assert metrics["scored"] == 3
    # 9 attempts there are not: what is undefined is left out.
    assert {name for name in metrics if name[:4] == "pass"} == {
        f"pass-at-k_{k}{part}" for k in (1, 2) for part in ("", "_stderr", "_low", "_high")
    }
    written = cli("compute", two, "--metric", passing, "--format", "json")
    (mean, _) = json.loads(written.stdout)["groups"][0]["metrics"]
    assert metrics["mean"] == mean["values"]["mean"]
    assert metrics["mean_stderr"] == mean["uncertainty"]["mean"]["stderr"]
    assert sorted(first["trial_ids"]) == [ID.format(i) for i in range(4)]
    assert sorted(second["trial_ids"]) == [ID.format(i) for i in range(4, 8)]


def test_metrics_of_one_name_are_numbered(cli: Run, two: Path) -> None:
    metrics = [
        part
        for q in (0, 1)
        for part in ("--metric", json.dumps({"type": "quantile", "kwargs": {"q": q}}))
    ]
    first, _ = rows(cli("compute", two, *metrics, "--level=off", "--format", "hub-rows"))
    assert (first["metrics"]["quantile"], first["metrics"]["quantile#2"]) == (0, 1)


@pytest.mark.parametrize("asked", [("quantile q=0", "quantile q=1"), ("mean", "mean missing=skip")])
def test_what_is_asked_for_has_its_columns_in_the_order_of_the_user(
    asked: tuple[str, ...], cli: Run, tmp_path: Path
) -> None:
    """A registry that has the second, or the first, of two of one name made them change places."""
    name = asked[0].split()[0]
    options = [part for metric in asked for part in ("--metric", metric)]

    def columns(*named: dict[str, object]) -> list[object]:
        command = of_two_registries(tmp_path, [*named], [*named])
        for row in rows(cli(*command, "--level=off", *options)):
            return [row["metrics"][name], row["metrics"][f"{name}#2"]]
        raise AssertionError

    others = [{"type": "quantile", "kwargs": {"q": q}} for q in (0, 1)]
    own = columns()
    assert own[0] != own[1]
    twice = [others[0], {"type": "quantile", "kwargs": {"q": 0, "key": None}}]
    for named in (
        *([others[1]], others[::-1], [{"type": "mean"}], [SKIP], [SKIP, {"type": "mean"}]),
        *([others[0]] * 2, twice),
    ):
        assert columns(*named) == own


SKIPPING = {"type": "mean", "kwargs": {"missing": "skip"}}


@pytest.mark.parametrize(
    ("named", "asked"), [(SKIPPING, "mean"), ({"type": "mean"}, json.dumps(SKIPPING))]
)
def test_metric_that_is_asked_for_keeps_its_name(
    cli: Run, tmp_path: Path, named: dict[str, object], asked: str
) -> None:
    """That of the registry, a stranger's perhaps, stood in the column."""
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    path = tmp_path / "r.jsonl"
    path.write_text('{"reward": 1}\nnull\n')

    def column(*metrics: dict[str, object]) -> object:
        (tmp_path / "r.json").write_text(json.dumps([{**dataset, "metrics": metrics}]))
        of_registry = ("--registry", "r.json", "--dataset", "d")
        done = cli("compute", path, *of_registry, "--metric", asked, "--format", "hub-rows")
        return rows(done)[0]["metrics"]["mean"]

    assert column({"type": "max"}, named) == column({"type": "max"})


def test_trials_of_other_harnesses_have_no_id_that_the_hub_knows(cli: Run, rewards: Path) -> None:
    (row,) = rows(cli("compute", rewards, "--format", "hub-rows"))
    assert row["trial_ids"] == []


def test_failed_metric_makes_no_row(cli: Run, two: Path) -> None:
    done = cli("compute", two, "--group-by", "none", "--format", "hub-rows")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "a row needs every metric, and grouped failed" in done.stderr


def test_no_group_makes_no_rows() -> None:
    with pytest.raises(UsageError, match="1 to 500 rows"):
        hub_rows(Result(sources=[], groups=[]), [])


def test_jobs_of_harbor_make_rows_of_their_trials(cli: Run) -> None:
    done = cli("compute", JOBS / "two-models", "--format", "hub-rows")
    for row in rows(done):
        assert len(row["trial_ids"]) == row["metrics"]["trials"]


def test_no_value_has_the_name_of_anothers_error_or_bound(cli: Run, tmp_path: Path) -> None:
    keys = [
        *("low", "high", "mean", "mean_low", "stderr", "a.b", "a/b", "a_b", "a_b#2", ""),
        *("Mean", "é", "e\u0301"),
    ]
    # Each key has a mean of its own.
    given = [{key: (i < j + 1) / 3 for j, key in enumerate(keys)} for i in range(len(keys) + 1)]
    path = tmp_path / "rewards.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in given))
    args = ("compute", path, "--metric", "mean")
    (outcome,) = json.loads(cli(*args, "--format", "json").stdout)["groups"][0]["metrics"]
    (row,) = rows(cli(*args, "--format", "hub-rows"))
    sure = outcome["uncertainty"]
    bounds = [sure[key][part] for key in keys for part in ("stderr", "low", "high")]
    written = list(row["metrics"].values())[2:]
    assert sorted(written) == sorted([*outcome["values"].values(), *bounds])
    assert row["metrics"]["mean_low"] == outcome["values"]["low"]
    # Who looks for one of two that would have a name does not find the other.
    assert row["metrics"].keys().isdisjoint({"mean_mean", "mean_mean_low", "mean_a_b"})
    (mean,) = marked("mean_mean", row)
    assert row["metrics"][f"{mean}_low"] == sure["mean"]["low"]
    (low,) = marked("mean_mean_low", row)
    assert row["metrics"][low] == outcome["values"]["mean_low"]


@pytest.mark.parametrize("keys", [("x",), ("mean/low", "x"), ("mean",)])
def test_a_row_that_would_have_other_columns_alone_makes_no_rows(
    cli: Run, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    """A stranger's value, or an end of its interval, stood in the column of the user's."""
    lines = [
        {"task": f"t{i}", "agent": agent, "dataset": "d", "rewards": dict.fromkeys(own, i % 2)}
        for agent, own in (("a", ("low", "high")), ("b", keys))
        for i in range(4)
    ]
    path = tmp_path / "trials.jsonl"
    args = ("compute", path, "--metric", "mean", "--format", "hub-rows")
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines[:4]))
    assert rows(cli(*args))[0]["metrics"]["mean_low"] == 0.5
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = cli(*args)
    said = " ".join(done.stderr.split())
    if keys[0] == "mean/low":
        assert {row["metrics"].get("mean_low", 0.5) for row in rows(done)} == {0.5}
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert "one metric a column, and `mean_low` would be two: `value` is" in said


def of_two_registries(tmp_path: Path, *of_each: list[dict[str, object]]) -> list[str]:
    """What `compute` is given for two logs whose registries name these metrics."""
    for name, metrics in zip(("one", "two"), of_each, strict=True):
        dataset = {"name": name, "version": "1", "description": "", "tasks": []}
        registry = [{**dataset, "metrics": [{"type": "max"}], "extra_metrics": metrics}]
        (tmp_path / f"{name}.json").write_text(json.dumps(registry))
        lines = [
            {"task": f"t{i}", "agent": f"agent-{name}", "dataset": name, "rewards": reward}
            for i, reward in enumerate((None, {"r": 0}, {"r": 1}))
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    registries = ("--registry", "one.json", "--registry", "two.json")
    return ["compute", "one.jsonl", "two.jsonl", *registries, "--format", "hub-rows"]


MEAN: dict[str, object] = {"type": "mean"}
SKIP: dict[str, object] = {"type": "mean", "kwargs": {"missing": "skip"}}


@pytest.mark.parametrize(("one", "two"), [([MEAN], [SKIP]), ([MEAN, SKIP], [SKIP])])
def test_metrics_of_one_name_that_differ_make_no_rows(
    cli: Run, tmp_path: Path, one: list[dict[str, object]], two: list[dict[str, object]]
) -> None:
    command = of_two_registries(tmp_path, one, two)
    done = cli(*command)
    assert (done.returncode, done.stdout) == (2, "")
    said = " ".join(done.stderr.split())
    assert "one metric a column, and `mean` would be two: `kwargs` is" in said
    assert '{} (agent-one on one@1) and {"missing": "skip"} (agent-two on two@1)' in said
    assert "--registry FILE" in said
    asked = ("--only-asked", "--metric", "mean")
    assert {row["metrics"]["mean"] for row in rows(cli(*command, *asked))} == {1 / 3}


@pytest.mark.parametrize("both", [[MEAN, SKIP], [SKIP, MEAN]])
def test_metrics_of_one_name_are_the_same_columns_in_all_rows(
    cli: Run, tmp_path: Path, both: list[dict[str, object]]
) -> None:
    first, second = rows(cli(*of_two_registries(tmp_path, [MEAN], both)))
    assert first["metrics"]["mean"] == second["metrics"]["mean"] == 1 / 3
    assert "mean (missing=skip)" not in first["metrics"]
    assert second["metrics"]["mean (missing=skip)"] == 0.5


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("sha256", ScriptRef(path="m.py", sha256="b" * 64)),
        ("modules_sha256", ScriptRef(path="m.py", sha256="a" * 64, modules_sha256="c" * 64)),
    ],
)
def test_scripts_that_differ_make_no_rows(field: str, other: ScriptRef) -> None:
    script = outcome("uv-script", kwargs={"script_path": "m.py"}, values={"score": 1})
    same = ScriptRef(path="m.py", sha256="a" * 64)

    def made(*scripts: ScriptRef) -> str:
        groups = [
            group(replace(script, script=each), agent=f"agent-{i}")
            for i, each in enumerate(scripts)
        ]
        return hub_rows(result(*groups), [[]] * len(groups))

    assert made(same, same).count('"uv-script_score": 1') == 2
    with pytest.raises(UsageError, match=f"`uv-script_score` would be two: `{field}` of m.py is"):
        made(same, other)


def test_scripts_with_other_values_are_other_columns() -> None:
    groups = [
        group(outcome("uv-script", kwargs={"script_path": f"{key}.py"}, values={key: 1}))
        for key in ("spread", "cover")
    ]
    first, second = json.loads(hub_rows(result(*groups), [[], []]))["rows"]
    assert "uv-script_spread" in first["metrics"]
    assert "uv-script_cover" in second["metrics"]


def test_no_rows_where_some_leave_out_what_counts_in_others(tmp_path: Path, cli: Run) -> None:
    for name, more in (("old", {}), ("new", {"left_out": True})):
        trials = [{"task": "a", "rewards": {"reward": 1}}, {"task": "b", "rewards": None} | more]
        lines = [json.dumps({**trial, "agent": name}) for trial in trials]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    done = cli("compute", "old.jsonl", "new.jsonl", "--format", "hub-rows")
    assert (done.returncode, "left out of new" in done.stderr) == (2, True)
    done = cli("compute", "old.jsonl", "new.jsonl", "--format", "hub-rows", "--missing", "skip")
    assert done.returncode == 0, done.stderr


def test_name_behind_which_another_stands_in_a_part_makes_no_rows() -> None:
    """It ended in a traceback: nobody has the name, and another the end of its interval."""
    asked = outcome(values={"low": 0.5}, origin="command-line")
    named = outcome(values={"mean": 0.5}, origin="registry", kwargs={"missing": "skip"})
    made = result(group(asked, agent="a"), group(named, agent="b"))
    with pytest.raises(UsageError, match="`mean_low` would be two"):
        hub_rows(made, [[], []])


@pytest.mark.parametrize(
    ("entry", "column", "value"),
    [
        ({"type": "mean", "kwargs": {"reducer": "max"}}, "mean (reducer=max)", 1),
        ({"type": "pass-at-k", "kwargs": {"k": 2}}, "pass@2", 1),
        ({"type": "pass-at-k", "kwargs": {"k": [2]}}, "pass-at-k_2", 1),
        ({"type": "pass@1", "kwargs": {"k": 2}}, "pass@2", 1),
        ({"type": "pass@1", "kwargs": {"k": [2]}}, "pass@k_2", 1),
        ({"type": "quantile", "kwargs": {"q": 1}}, "quantile (q=1)", 1),
    ],
)
def test_no_registry_has_another_number_in_the_column_of_a_metric(
    cli: Run, tmp_path: Path, entry: dict[str, object], column: str, value: float
) -> None:
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    named = {"metrics": [{"type": "max"}], "extra_metrics": [entry]}
    (tmp_path / "r.json").write_text(json.dumps([{**dataset, **named}]))
    lines = [{"task": f"t{i}", "dataset": "d", "rewards": {"r": r}} for i in (0, 1) for r in (0, 1)]
    (tmp_path / "trials.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (row,) = rows(cli("compute", "trials.jsonl", "--registry", "r.json", "--format", "hub-rows"))
    assert row["metrics"][column] == value
    assert not {"mean", "pass-at-k", "pass@1", "pass@1_2", "quantile"} & row["metrics"].keys()


def test_no_registry_has_it_by_two_metrics_either(cli: Run, tmp_path: Path) -> None:
    entries = [{"type": "mean", "kwargs": {"reducer": each}} for each in ("min", "max")]
    named = {"metrics": [{"type": "max"}], "extra_metrics": entries}
    dataset = {"name": "d", "version": "1", "description": "", "tasks": [], **named}
    (tmp_path / "r.json").write_text(json.dumps([dataset]))
    lines = [{"task": "t", "dataset": "d", "rewards": {"r": r}} for r in (0, 0, 1, 0)]
    (tmp_path / "trials.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    of_registry = ("--registry", "r.json", "--format", "hub-rows")
    (row,) = rows(cli("compute", "trials.jsonl", *of_registry))
    assert row["metrics"]["mean (reducer=min)"] == 0
    assert row["metrics"]["mean (reducer=max)"] == 1
    assert "mean" not in row["metrics"]
    # What the user asks for is called as they asked, whatever a registry has.
    for kwargs in ({"missing": None}, {}):
        entries[0]["kwargs"] = kwargs
        (tmp_path / "r.json").write_text(json.dumps([dataset]))
        (row,) = rows(cli("compute", "trials.jsonl", *of_registry, "--metric", "mean"))
        assert row["metrics"]["mean"] == 0.25


def test_rows_of_a_metric_that_one_registry_names_too(cli: Run, tmp_path: Path) -> None:
    """It ended in a traceback."""
    command = of_two_registries(tmp_path, [], [{"type": "sum", "kwargs": {"missing": "skip"}}])
    for asked in ("sum", "sum missing=skip", "quantile q=0.5"):
        done = cli(*command, "--missing", "skip", "--metric", asked)
        assert "a mistake of harbor-metrics" not in done.stderr
        assert done.returncode == 0, done.stderr


def test_of_two_scripts_neither_has_the_column_of_the_other() -> None:
    """Whoever stood first in a registry had it."""

    def columns(*paths: str, asked: str = "") -> dict[str, object]:
        metrics = [
            outcome(
                "uv-script", kwargs={"script_path": path}, values={"acc": i},
                origin="command-line" if path == asked else "registry",
            )
            for i, path in enumerate(paths)
        ]  # fmt: skip
        found = result(group(*metrics))
        ids: list[list[str | None]] = [[None] * found.groups[0].counts.found]
        (row,) = json.loads(hub_rows(found, ids))["rows"]
        return {name: value for name, value in row["metrics"].items() if "acc" in name}

    assert columns("mine.py") == {"uv-script_acc": 0}
    assert columns("theirs.py", "mine.py") == {"theirs.py_acc": 0, "mine.py_acc": 1}
    found = columns("a/m.py", "b/m.py")
    assert {name.partition("#")[0] for name in found} == {"m.py_acc"}
    assert columns("b/m.py", "a/m.py") == {name: 1 - int(str(v)) for name, v in found.items()}
    both = columns("theirs.py", "mine.py", asked="mine.py")
    assert both == {"uv-script_acc": 1, "theirs.py_acc": 0}
    more = columns("more.py", "theirs.py", "mine.py", asked="mine.py")
    assert more == {"uv-script_acc": 2, "theirs.py_acc": 1, "more.py_acc": 0}


@pytest.mark.parametrize("keys", [("unit/tests", "unit_tests"), ("unit_tests", "unit/tests")])
def test_a_reward_with_a_slash_takes_nobodys_column(
    cli: Run, tmp_path: Path, keys: tuple[str, str]
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({key: float("/" in key) for key in keys}))
    (row,) = rows(cli("compute", path, "--format", "hub-rows"))
    assert "mean_unit_tests" not in row["metrics"]
    both = marked("mean_unit_tests", row)
    assert sorted(row["metrics"][name] for name in both) == [0, 1]
    # Nor can anything be called as they are told.
    others = dict.fromkeys((name.removeprefix("mean_") for name in both), 5.0)
    path.write_text(json.dumps(json.loads(path.read_text()) | others))
    (more,) = rows(cli("compute", path, "--format", "hub-rows"))
    assert {name: more["metrics"][name] for name in both} == {
        name: row["metrics"][name] for name in both
    }
    path.write_text(json.dumps({key: float("/" in key) for key in keys}))
    # A row of somebody else's, which stands before it, exchanged the two.
    lines = [
        {"task": "t", "agent": agent, "rewards": own}
        for agent, own in (("zed", json.loads(path.read_text())), ("abe", {"unit_tests": 5}))
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines[:1]))
    (alone,) = rows(cli("compute", path, "--as", "trials", "--format", "hub-rows"))
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    _, beside = rows(cli("compute", path, "--as", "trials", "--format", "hub-rows"))
    assert beside["metrics"] == alone["metrics"]


@pytest.mark.parametrize("stranger", ["web_hard", "effort", "effort_low_stderr"])
def test_labels_of_other_trials_take_no_column_of_a_group(
    stranger: str, cli: Run, tmp_path: Path
) -> None:
    """A column had the number of a group that is called so behind `/` or before `_low`."""

    def columns(*labels: str) -> dict[str, float]:
        lines = [
            {"task": f"{label}-{i}", "rewards": {"reward": float(i % 4 == 0 or i < n)}}
            | {"labels": {"c": label}}
            for n, label in enumerate(labels)
            for i in range(12)
        ]
        path = tmp_path / "r.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        asked = ("--group-by", "c", "--metric", "mean", "--format", "hub-rows")
        (row,) = rows(cli("compute", path, *asked))
        return dict(row["metrics"])

    own = ("web/hard", "effort_low", "effort_high", "other")
    before, after = columns(*own), columns(*own, stranger)
    changed = {name for name in after if after[name] != before.get(name, after[name])}
    # What is of all trials is of the other's, too.
    of_groups = {name for name in changed if name.startswith("mean grouped by c_")}
    assert all(name.startswith("mean grouped by c_all") for name in of_groups)
    assert after.keys() != before.keys()


@pytest.mark.parametrize("other", ["mean", "other"])
def test_no_reward_has_the_column_of_a_metric(cli: Run, tmp_path: Path, other: str) -> None:
    """One task's reward that was called `mean` had the column of the mean of all."""
    rewards = [{"reward": 1} | ({other: 0} if i == 0 else {}) for i in range(4)]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in rewards))
    (row,) = rows(cli("compute", path, "--format", "hub-rows"))
    assert (row["metrics"]["mean_reward"], row["metrics"][f"mean_{other}"]) == (1, 0)
    assert "mean" not in row["metrics"]


def test_a_reward_called_as_a_metric_and_the_only_one_are_two_columns(
    cli: Run, tmp_path: Path
) -> None:
    of_agents = {"a": {"reward": 1}, "b": {"mean": 0, "reward": 0.5}}
    path = tmp_path / "r.jsonl"
    lines = [{"task": "t", "agent": agent, "rewards": own} for agent, own in of_agents.items()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    first, second = rows(cli("compute", path, "--format", "hub-rows"))
    assert first["metrics"]["mean"] == 1
    assert "mean" not in second["metrics"]
    assert (second["metrics"]["mean_mean"], second["metrics"]["mean_reward"]) == (0, 0.5)
