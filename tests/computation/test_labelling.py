"""Each source labels its own trials, whatever the order of the sources is."""

from __future__ import annotations

import json
import random
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, trial, write_job

from harbor_metrics import InputError, UsageError, compare
from harbor_metrics.computation.computing import compute_request
from harbor_metrics.computation.preparation import prepare
from harbor_metrics.computation.request import Request
from harbor_metrics.trials.labels import of_tasks
from harbor_metrics.trials.snapshot import SNAPSHOT

TASKS = ("a", "b", "c")


def job(
    folder: Path, labels: dict[str, str | None], tasks: tuple[str, ...] = TASKS, **more: Any
) -> Path:
    """A job with these labels of tasks in its snapshot; trials are named after the job."""
    trials = [
        trial(
            t, {"reward": float(i % 2)}, i,
            **{"trial_name": (own := f"{t}__{folder.name}"), "id": own, **more.pop(t, {})},
        )
        for i, t in enumerate(tasks)
    ]  # fmt: skip
    path = write_job(folder, trials, **more)
    own = {task: {"side": side} if side else {} for task, side in labels.items()}
    said = {"name": "demo", "tasks": own}
    (path / SNAPSHOT).write_text(json.dumps({"schema_version": "1", "datasets": [said]}))
    return path


def registry(path: Path, **sides: dict[str, str]) -> Path:
    """A registry of one dataset in versions, whose tasks have these labels."""
    entries = [
        {
            "name": "demo", "version": version, "description": "", "metrics": [{"type": "mean"}],
            "tasks": [{"name": task, "metadata": {"side": side}} for task, side in tasks.items()],
        }
        for version, tasks in sides.items()
    ]  # fmt: skip
    path.write_text(json.dumps(entries))
    return path


def request(*sources: Path, **more: Any) -> Request:
    asked = {"group_by": ("side",), "reads_labels": True, **more}
    return Request(sources=tuple(map(str, sources)), **asked)


def labelled(*sources: Path, **more: Any) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The labels of each trial by its name, group by group."""
    groups = prepare(request(*sources, **more)).groups
    return {g.key: {str(t.trial): t.labels for t in g.pool.table} for g in groups}


def numbers(*sources: Path, **more: Any) -> list[Any]:
    result = compute_request(request(*sources, **more))
    return [
        [(g.agent, g.model, g.counts), *((m.name, m.kwargs, m.values, m.n) for m in g.metrics)]
        for g in result.groups
    ]


def test_job_labels_no_trial_of_another(tmp_path: Path) -> None:
    mine = job(tmp_path / "mine", {"a": "l", "b": "r"})
    sent = job(tmp_path / "sent", {"a": "r", "b": "l", "c": "l"}, ("c",))
    for order in ((mine, sent), (sent, mine)):
        (found,) = labelled(*order).values()
        assert found == {
            "a__mine": {"side": "l"}, "b__mine": {"side": "r"}, "c__mine": {},
            "c__sent": {"side": "l"},
        }  # fmt: skip


def test_registry_that_a_job_names_labels_no_trial_of_another(tmp_path: Path) -> None:
    registry(tmp_path / "r.json", one={"a": "l"}, two={"a": "r"})
    registry(tmp_path / "s.json", one={"a": "x", "b": "x"})
    sources = [
        job(tmp_path / name, {}, datasets=[{"name": "demo", "version": v, "registry_path": path}])
        for name, v, path in (
            ("m", "one", "r.json"),
            ("n", "two", "r.json"),
            ("s", "one", "s.json"),
        )
    ]
    lines = tmp_path / "t.jsonl"
    lines.write_text(
        '{"task": "a", "dataset": "demo", "agent": "oracle", "trial": "x", "rewards": null}\n'
    )
    sources.append(lines)
    for order in permutations(sources):
        found = {name: of for each in labelled(*order).values() for name, of in each.items()}
        sides = [found[name].get("side") for name in ("a__m", "a__n", "a__s", "b__s", "b__m", "x")]
        assert sides == ["l", "r", "x", "x", None, None]


def test_two_registries_of_the_path_that_a_job_names_label_alike_or_not_at_all(
    tmp_path: Path,
) -> None:
    named = {"name": "demo", "version": "1", "registry_path": "r.json"}
    mine = job(tmp_path / "jobs" / "m", {}, datasets=[named])
    registry(tmp_path / "r.json", **{"1": {"a": "l"}})
    registry(tmp_path / "jobs" / "r.json", **{"1": {"a": "l"}})
    (found,) = labelled(mine).values()
    assert found["a__m"] == {"side": "l"}
    registry(tmp_path / "jobs" / "r.json", **{"1": {"a": "r"}})
    with pytest.raises(InputError, match=r"demo@1 in .*jobs/r\.json and demo@1 in .*r\.json label"):
        labelled(mine)


def test_registry_of_that_path_with_a_higher_version_labels_nothing_and_is_not_named(
    tmp_path: Path,
) -> None:
    mine = job(tmp_path / "jobs" / "m", {}, datasets=[{"name": "demo", "registry_path": "r.json"}])
    registry(tmp_path / "r.json", **{"1": {"a": "l"}})
    named = compute_request(request(mine, reads_labels=False, group_by=())).groups[0].dataset
    assert named is not None
    assert (named.version, Path(str(named.registry)).name) == ("1", "r.json")
    registry(tmp_path / "jobs" / "r.json", **{"99": {"a": "r"}})
    with pytest.raises(
        InputError, match=r"demo@99 in .*jobs/r\.json and demo@1 in .*r\.json label"
    ):
        labelled(mine)
    result = compute_request(request(mine, reads_labels=False, group_by=()))
    named = result.groups[0].dataset
    assert named is not None
    assert (named.name, named.version, named.registry) == ("demo", None, None)
    assert [d["rule"] for d in result.diagnostics] == ["registries-differ"]


def test_labels_of_a_registry_that_are_not_those_of_the_snapshot_are_said(tmp_path: Path) -> None:
    named = {"name": "demo", "version": "1", "registry_path": "r.json"}
    mine = job(tmp_path / "m", {"a": "l", "b": "r"}, datasets=[named])
    registry(tmp_path / "r.json", **{"1": {"a": "l"}})
    assert not compute_request(request(mine)).diagnostics
    registry(tmp_path / "r.json", **{"1": {"a": "r", "b": "l", "c": "l"}})
    (said,) = compute_request(request(mine)).diagnostics
    assert said["rule"] == "registry-changed"
    assert said["message"].startswith("labels of 2 tasks of demo@1 in")
    assert not compute_request(request(mine, group_by=(), reads_labels=False)).diagnostics
    # A task that had no such label, where others had it.
    registry(tmp_path / "r.json", **{"1": {"a": "l", "b": "r", "d": "l"}})
    more = job(tmp_path / "more", {"a": "l", "b": "r", "d": None}, datasets=[named])
    (said,) = compute_request(request(more)).diagnostics
    assert said["message"].startswith("labels of 1 task of demo@1 in")
    # A job that names no version is of the best one of today.
    mine = job(tmp_path / "n", {"a": "l"}, datasets=[{"name": "demo", "registry_path": "r.json"}])
    registry(tmp_path / "r.json", **{"1": {"a": "l"}, "2": {"a": "r"}})
    (said,) = compute_request(request(mine)).diagnostics
    assert said["message"].startswith("labels of 1 task of demo@2 in")


def metadata(path: Path, **tasks: dict[str, Any]) -> str:
    """A registry of one dataset, whose tasks have this metadata."""
    listed = [{"name": task, "metadata": own} for task, own in tasks.items()]
    entry = {"name": "demo", "version": "1", "description": "", "metrics": [], "tasks": listed}
    path.write_text(json.dumps([entry]))
    return str(path)


@pytest.mark.parametrize("name", ["inspect/value", "lm-eval/filter"])
@pytest.mark.parametrize("said_by", ["registry", "snapshot"])
def test_labels_that_readers_of_logs_give_are_nobody_elses(
    said_by: str, name: str, tmp_path: Path
) -> None:
    mine = job(tmp_path / "m", {})
    own = {"a": {name: "x", "side": "l"}, "b": {name: "y"}}
    given = metadata(tmp_path / "r.json", **(own if said_by == "registry" else {}))
    if said_by == "snapshot":
        said = {"schema_version": "1", "datasets": [{"name": "demo", "tasks": own}]}
        (mine / SNAPSHOT).write_text(json.dumps(said))
    (found,) = labelled(mine, registries=(given,)).values()
    assert found == {"a__m": {"side": "l"}, "b__m": {}, "c__m": {}}


@pytest.mark.parametrize("key", ["person", "person/0"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_label_stands_in_for_no_reward(n_jobs: int, key: str, tmp_path: Path) -> None:
    rewards = {"a": {"reward": 1.0, key: 1}, "b": {"reward": 0.0}}
    jobs = [
        write_job(
            tmp_path / name,
            [trial(t, own, 1, id=f"{t}{name}") for t, own in rewards.items()],
            datasets=[{"name": "demo", "version": "1"}],
        )
        for name in "mn"[:n_jobs]
    ]
    # Of several that say something else of a task each trial has its own.
    said = {"schema_version": "1", "datasets": [{"name": "demo", "tasks": {"a": {"side": "l"}}}]}
    (jobs[-1] / SNAPSHOT).write_text(json.dumps(said))
    given = metadata(tmp_path / "r.json", b={"person": 0, "side": "r"})
    prepared = prepare(request(*jobs, registries=(given,)))
    (group,) = prepared.groups
    assert {tuple(t.labels.items()) for t in group.pool.table if t.task == "b"} == {
        (("side", "r"),)
    }
    (told,) = [d for d in prepared.diagnostics if d.rule == "label-left-out"]
    assert told.message.endswith("rewards or texts of trials: person; they are left out")
    if key == "person":
        asked = ("weighted-mean key=reward weight=person missing=skip",)
        more: dict[str, Any] = {"group_by": (), "metrics": asked, "only_asked": True}
        result = compute_request(request(*jobs, registries=(given,), **more))
        assert result.groups[0].metrics[0].values == {"weighted-mean": 1.0}


def test_label_is_no_answer_of_an_attempt(tmp_path: Path) -> None:
    lines = [
        {"task": "a", "dataset": "demo", "rewards": {"reward": i == 1}, "texts": texts}
        for i, texts in enumerate([{}, {"prediction": "right"}, {}])
    ]
    mine = tmp_path / "t.jsonl"
    mine.write_text(
        "".join(
            f"{json.dumps({**line, 'rewards': {'reward': int(line['rewards']['reward'])}})}\n"
            for line in lines
        )
    )
    given = metadata(tmp_path / "r.json", a={"prediction": "wrong", "side": "l"})
    asked: dict[str, Any] = {"metrics": ("majority-at-k k=3",), "only_asked": True, "group_by": ()}
    result = compute_request(request(mine, registries=(given,), **asked))
    assert result.groups[0].metrics[0].values == {"majority-at-k": 1.0}
    assert [d["rule"] for d in result.diagnostics] == ["label-left-out"]
    # Where no attempt has answered at all, too.
    mine.write_text(
        "".join(
            f"{json.dumps({**line, 'texts': {}, 'rewards': {'reward': 0}})}\n" for line in lines
        )
    )
    failed = compute_request(request(mine, registries=(given,), **asked)).groups[0].metrics[0]
    assert failed.error is not None
    assert failed.error.rule == "missing-label"


@pytest.mark.parametrize("of_copy", [{"a": "l"}, {}])
@pytest.mark.parametrize("kind", ["job", "short name", "file"])
def test_labels_that_one_of_two_sources_alone_gives_a_trial_are_told(
    kind: str, of_copy: dict[str, str | None], cli: Run, tmp_path: Path
) -> None:
    same: dict[str, Any] = {task: {"trial_name": f"{task}__1", "id": task} for task in TASKS}
    own = same
    if kind == "short name":
        # As Harbor 0.25 writes the models, and as older ones did.
        named = {"agents": [{"name": "oracle", "model_name": "p/m"}]}
        infos = [{"name": "oracle", "model_info": {"name": name}} for name in ("p/m", "m")]
        own, same = (
            named | {task: more | {"agent_info": info} for task, more in same.items()}
            for info in infos
        )
    mine = job(tmp_path / "mine", {}, **own)
    if kind == "file":
        cli("convert", mine, "-o", tmp_path / "mine.jsonl")
        mine = tmp_path / "mine.jsonl"
    copy = job(tmp_path / "theirs" / "mine", of_copy, **same)
    for order in ((mine, copy), (copy, mine)):
        told = [d for d in prepare(request(*order)).diagnostics if d.rule == "labels-of-copy"]
        assert len(told) == bool(of_copy)
        for said in told:
            assert said.message.startswith("1 trial found more than once with labels of one job")
            assert said.message.index("theirs") < said.message.index("there is none of")


def test_version_of_each_job_labels_its_trials_in_a_registry_that_is_given(tmp_path: Path) -> None:
    given = registry(tmp_path / "r.json", one={"a": "l"}, two={"a": "r"})
    jobs = [
        job(tmp_path / version, {}, datasets=[{"name": "demo", "version": version}])
        for version in ("one", "two")
    ]
    for order in permutations(jobs):
        (found,) = labelled(*order, registries=(str(given),)).values()
        assert (found["a__one"], found["a__two"]) == ({"side": "l"}, {"side": "r"})


def test_trial_that_two_jobs_label_otherwise_is_refused(cli: Run, tmp_path: Path) -> None:
    same = {"a": {"trial_name": "a__1", "id": "1"}}
    jobs = [job(tmp_path / name, {"a": name}, ("a",), **dict(same)) for name in ("l", "r")]
    for order in permutations(jobs):
        with pytest.raises(InputError, match=r"label `side` of task a is .* both have trial a__1"):
            labelled(*order)
    (tmp_path / "labels.csv").write_text("task,side\na,z\n")
    (found,) = labelled(*jobs, labels=str(tmp_path / "labels.csv")).values()
    assert found == {"a__1": {"side": "z"}}
    done = cli("compute", *jobs, "--group-by", "side")
    assert (done.returncode, "--labels" in done.stderr) == (3, True)


def test_metrics_of_a_job_are_known_whichever_source_of_a_trial_is_first(tmp_path: Path) -> None:
    same = {"a": {"trial_name": "a__1", "id": "1"}}
    jobs = [
        job(tmp_path / name, {"a": "l"}, ("a",), metrics=[{"type": name}], **dict(same))
        for name in ("max", "sum")
    ]
    assert numbers(*jobs) == numbers(*jobs[::-1])
    assert [name for name, *_ in numbers(*jobs)[0][1:]] == ["max", "sum"]


def test_two_full_names_of_one_short_name_are_the_same_groups_in_any_order(tmp_path: Path) -> None:
    jobs = []
    for provider in ("acme", "zeta"):
        info = {"agent_info": {"name": "x", "model_info": {"name": f"{provider}/m"}}}
        agents = [{"name": "x", "model_name": f"{provider}/m"}]
        jobs.append(job(tmp_path / provider, {"a": "l"}, ("a",), a=info, agents=agents))
    assert numbers(*jobs) == numbers(*jobs[::-1])


def test_runs_that_differ_in_the_cluster_of_a_task_are_not_compared(tmp_path: Path) -> None:
    mine = job(tmp_path / "mine", {"a": "l", "b": "r", "c": "r"})
    sent = job(tmp_path / "sent", {"a": "r", "b": "r", "c": "r"})
    for order in ((mine, sent), (sent, mine)):
        with pytest.raises(UsageError, match=r"task a is in [lr] by .* and in [lr] by"):
            compare(*map(str, order), cluster="side")
    same = job(tmp_path / "same", {"a": "l", "b": "r", "c": "r"})
    assert compare(str(mine), str(same), cluster="side").comparisons


def random_sources(folder: Path, chance: random.Random) -> list[Path]:
    """Jobs that share tasks, versions, registries and trials, and name labels as they like."""
    registries = ["r.json", "s.json"]
    for name in registries:
        registry(
            folder / name,
            **{v: {t: chance.choice("lr") for t in TASKS if chance.random() < 0.5} for v in "12"},
        )
    sources = []
    for i in range(3):
        tasks = tuple(t for t in TASKS if chance.random() < 0.8) or ("a",)
        dataset: dict[str, Any] = {"name": "demo", "version": chance.choice("12")}
        if chance.random() < 0.5:
            dataset["registry_path"] = chance.choice(registries)
        labels = {t: chance.choice("lr") for t in TASKS if chance.random() < 0.7}
        model = f"{chance.choice(['acme', 'zeta'])}/m"
        info = {"agent_info": {"name": "oracle", "model_info": {"name": model}}}
        agents = [{"name": "oracle", "model_name": model}]
        metrics = [{"type": chance.choice(["max", "min"])}]
        more = dict.fromkeys(tasks, info) if chance.random() < 0.5 else {}
        sources.append(
            job(folder / f"j{i}", labels, tasks, datasets=[dataset], agents=agents,
                metrics=metrics, **more)
        )  # fmt: skip
    return sources


@pytest.mark.parametrize("seed", range(25))
def test_order_of_sources_changes_nothing_and_labels_are_those_of_each_alone(
    seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    sources = random_sources(tmp_path, chance)
    given = (str(tmp_path / "r.json"),) if chance.random() < 0.3 else ()
    alone: dict[str, Any] = {}
    for source in sources:
        for trials in labelled(source, registries=given).values():
            alone |= trials
    expected = numbers(*sources, registries=given)
    for order in permutations(sources):
        groups = labelled(*order, registries=given)
        assert {name: of for trials in groups.values() for name, of in trials.items()} == alone
        assert numbers(*order, registries=given) == expected


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
def test_labels_of_a_registry_are_made_once_for_all_jobs_and_agents(
    given: bool, grouped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 jobs that name a registry of 2.5 MB took 20 s and 740 MB."""
    asked: list[object] = []

    def count(tasks: Any) -> Any:
        asked.append(tasks)
        return of_tasks(tasks)

    monkeypatch.setattr("harbor_metrics.registries.registry.of_tasks", count)
    path = registry(tmp_path / "r.json", one={"a": "l", "b": "r"})
    named = {"name": "demo", "version": "one", "registry_path": "r.json"}
    sources = [job(tmp_path / f"j{i}", {}, datasets=[named]) for i in range(4)]
    more = {"registries": (str(path),)} if given else {}
    if not grouped:
        more |= {"group_by": (), "reads_labels": False}
    (found,) = labelled(*sources, **more).values()
    assert {name: labels.get("side") for name, labels in found.items()} == {
        f"{task}__j{i}": {"a": "l", "b": "r", "c": None}[task] for i in range(4) for task in TASKS
    }
    assert len(asked) == 1
