"""Trials of several sources, in their groups."""

from __future__ import annotations

import json
import shutil
from itertools import permutations
from pathlib import Path

import pytest
from conftest import JOBS, Run
from printed import group

import harbor_metrics
from harbor_metrics.documents.diagnostics import Diagnostic, Severity
from harbor_metrics.numbers.exact import Number
from harbor_metrics.trials.pool import Pool, in_order, pool
from harbor_metrics.trials.repeated import Repeated, of_copies
from harbor_metrics.trials.source import Job, JobDataset, Source
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import NO_GROUP, GroupKey, LineTrials, Trial

X = GroupKey("x", None, "d")
Y = GroupKey("y", None, "d")


def of(agent: str, *names: str, **more: object) -> list[Trial]:
    return [
        Trial(task=name, trial=name, rewards={"r": 1}, agent=agent, dataset="d", **more)
        for name in names
    ]


def source(trials: list[Trial], **more: object) -> Source:
    return Source(path="job", kind="harbor-job", trials=trials, sha256="", **more)


def pooled(*sources: Source) -> tuple[dict[GroupKey, Pool], list[Diagnostic]]:
    diagnostics: list[Diagnostic] = []
    return pool(sources, diagnostics), diagnostics


def test_trials_of_several_sources_are_one_group() -> None:
    pools, diagnostics = pooled(source(of("x", "a")), source(of("x", "b") + of("y", "a")))
    assert {key: list(each.table.tasks) for key, each in pools.items()} == {
        X: ["a", "b"], Y: ["a"],
    }  # fmt: skip
    assert diagnostics == []


def test_groups_with_trials_that_are_left_out_are_told_in_their_order() -> None:
    agents = [str(i) for i in range(9)]
    trials = [t for each in agents[::-1] for t in of(each, "a", left_out=True, error="E")]
    _, diagnostics = pooled(source(trials))
    assert [said.message[0] for said in diagnostics] == agents


def test_lines_are_told_apart_from_the_tasks_of_all_other_sources() -> None:
    """They were from those of the first alone that they met."""
    lines = source(LineTrials(2, {"r": [1, 0]}))
    named = [source([Trial(task=task, rewards={"r": 1})]) for task in ("line:1", "a")]
    for order in (named, named[::-1]):
        pools, _ = pooled(lines, *order)
        assert pools[NO_GROUP].table.n_tasks == 4


@pytest.mark.parametrize("his", [of("x", "b"), of("x", "b") + of("y", "c")])
def test_what_was_planned_is_the_same_in_any_order_of_sources(his: list[Trial]) -> None:
    """A trial of another group that both have was taken from what the later one planned."""
    mine = source(of("x", "a", "b") + of("y", "a"), job=Job(n_total_trials=3))
    theirs = source(his, job=Job(n_total_trials=len(his)))
    for order in ((mine, theirs), (theirs, mine)):
        pools, _ = pooled(*order)
        assert (pools[X].expected, pools[Y].expected) == (2, len(his))
        assert len(pools[X].jobs) == 2


def test_trial_that_comes_twice_counts_once() -> None:
    pools, (diagnostic,) = pooled(source(of("x", "a")), source(of("x", "a")))
    assert len(pools[X].table) == 1
    assert diagnostic.rule == "repeated-trial"
    assert diagnostic.message == "1 trial found more than once, counted once"


@pytest.mark.parametrize("planned", [1, 2, 5])
def test_copy_that_planned_fewer_trials_takes_none_from_the_plan(planned: int) -> None:
    sources = [
        Source(
            path=name,
            kind="harbor",
            trials=of("x", "a", "b", "c"),
            sha256=name,
            job=Job(n_total_trials=n),
        )
        for name, n in (("one", 4), ("two", planned))
    ]
    expected = max(4, planned)
    for order in (sources, sources[::-1]):
        (found,) = pool(order, []).values()
        assert (found.expected, len(found.table)) == (expected, 3)


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ({"ab": 5}, 5),
        ({"abc": 2}, 2),
        ({"abc": 2, "a": 1}, 2),
        ({"abc": 4, "ab": 2}, 4),
        ({"abc": 4, "cba": 4}, 4),
        ({"abc": 4, "cba": 1}, 4),
        ({"abc": 4, "de": 3}, 7),
        ({"abc": 4, "de": 3, "ad": 2}, 7),
        ({"abc": 4, "cd": 3}, 6),
        ({"abc": 9, "abcd": 4}, 10),
        ({"abcd": 2, "abc": 3}, 2),
        ({"abcd": 2, "abc": 1, "d": 0}, 2),
        ({"abc": 3, "bcd": 0}, 3),
        ({"ab": 3, "cd": 2, "abcd": 4}, 5),
    ],
)
def test_what_several_jobs_have_is_planned_once(plans: dict[str, int], expected: int) -> None:
    for order in permutations(plans.items()):
        sources = [
            Source(path=names, kind="harbor", trials=of("x", *names), sha256=names,
                   job=Job(n_total_trials=n))
            for names, n in order
        ]  # fmt: skip
        assert pool(sources, [])[X].expected == expected
        # In groups that become one only afterwards, too.
        if len(order) == 2:
            one, other = (pool([source], [])[X] for source in sources)
            assert one.united(other, Repeated()).expected == expected


def test_copies_of_others_change_no_plan() -> None:
    """Of a job that has more trials than it planned; they are of another group."""
    mine = Source(
        path="mine", kind="harbor", trials=of("x", *"abc"), sha256="1", job=Job(n_total_trials=2)
    )
    others = [
        Source(
            path=name, kind="harbor", trials=of("y", *"ab"), sha256=name, job=Job(n_total_trials=2)
        )
        for name in ("two", "three")
    ]
    for sources in ([mine], [mine, *others], [*others, mine]):
        found = pool(sources, [])
        assert found[X].expected == 2
        assert found.get(Y) is None or found[Y].expected == 2


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, None),
        ({"n_total_trials": 9}, None),
        ({"models": ("x/m",)}, "models"),
        ({"higher_is_better": {"reward": False}}, "which way is better"),
        ({"settings": {"shots": "5"}, "metrics": ("mean",)}, "metrics, settings"),
    ],
)
def test_jobs_with_the_same_trials_that_say_otherwise_are_told(
    more: dict[str, object], words: str | None
) -> None:
    def source(name: str, tasks: str, own: Job | None, model: str | None = None) -> Source:
        trials = [Trial(task=task, id=task, model=model, rewards={"reward": 1}) for task in tasks]
        return Source(path=f"jobs/{name}", kind="harbor", trials=trials, sha256="", job=own)

    m = GroupKey(None, "m", None)
    for one in (
        source("one", "ab", Job()),
        source("one", "ab", None),
        source("one", "ab", Job(), "m"),
    ):
        both = [one, source("two", "a", Job(**more))]
        for order in (both, both[::-1]):
            told = [said.message for said in of_copies(order, {NO_GROUP: NO_GROUP, m: NO_GROUP})]
            assert len(told) == (words is not None)
            assert all(said.endswith(f"say otherwise of their runs: {words}") for said in told)
            # Of groups that stay apart none is a copy of the other.
            apart = [*of_copies(order, {NO_GROUP: NO_GROUP, m: m})]
            assert len(apart) == (words is not None and one.trials[0].model is None)


@pytest.mark.parametrize(
    ("rewards", "said"),
    [
        ({"r": 1, "s": 2}, False),
        ({"s": 2, "r": 1}, True),
        ({"r": 1.0, "s": 2}, True),
        ({"r": True, "s": 2}, True),
    ],
)
def test_rewards_that_a_copy_has_in_another_order_or_type_are_told(
    rewards: dict[str, Number], said: bool
) -> None:
    """A script can see what no comparison of numbers does."""
    both = [
        Source(path=name, kind="trials", trials=[Trial(task="t", id="1", rewards=own)], sha256=name)
        for name, own in (("mine", {"r": 1, "s": 2}), ("theirs", rewards))
    ]
    diagnostics: list[Diagnostic] = []
    pool(both, diagnostics)
    (told,) = diagnostics
    words = "; 1 of them with rewards in another order, or 1.0 for 1: trial 1 is that of mine, not"
    assert (told.severity, words in told.message) == (Severity.NOTE, said)


def test_repeated_trial_with_other_contents_is_reported() -> None:
    pools, (diagnostic,) = pooled(source(of("x", "a")), source(of("x", "a", error="E")))
    assert pools[X].table.trials[0].error is None
    assert "1 of them with other contents, the first is kept" in diagnostic.message


def test_repeated_trial_whose_label_differs_in_type_alone_is_reported() -> None:
    """1 and true are two groups, so which of them counts is no matter of the order."""
    first = source(of("x", "a", labels={"l": 1}))
    for label, severity in ((True, Severity.ERROR), (1, Severity.NOTE)):
        _, (diagnostic,) = pooled(first, source(of("x", "a", labels={"l": label})))
        assert diagnostic.severity == severity


def test_an_id_is_one_within_its_group_alone() -> None:
    mine, theirs = of("x", "a", id="1"), of("y", "a", id="1", error="E")
    for sources in ([mine, theirs], [theirs, mine]):
        pools, diagnostics = pooled(*map(source, sources))
        assert {key: each.table.trials for key, each in pools.items()} == {X: mine, Y: theirs}
        assert diagnostics == []
    # In a group it is, whatever the name says.
    pools, (diagnostic,) = pooled(source([*mine, *theirs]), source(of("x", "b", id="1")))
    assert (len(pools[X].table), diagnostic.severity) == (1, "error")


def test_of_which_source_a_repeated_trial_is_is_said() -> None:
    first, second = source(of("x", "a")), source(of("x", "b", "a", error="E"))
    first.path, second.path = "jobs/mine", "jobs/theirs"
    _, (diagnostic,) = pooled(first, second)
    assert diagnostic.message.endswith(": trial a is that of jobs/mine, not of jobs/theirs")


@pytest.mark.parametrize("engine", [False, True], ids=["rows", "an engine"])
def test_who_repeats_ids_of_others_takes_no_group_away(engine: bool, tmp_path: Path) -> None:
    for name, agent in (("a-theirs", "y"), ("mine", "x")):
        trials = [
            {"id": str(i), "task": f"t{i}", "trial": "n", "agent": agent, "rewards": {"r": i % 2}}
            for i in range(40)
        ]
        lines = (json.dumps(trial) + "\n" for trial in trials)
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    sources = [tmp_path / "a-theirs.jsonl", tmp_path / "mine.jsonl"]
    if engine:
        duckdb = pytest.importorskip("duckdb")
        rows = duckdb.sql(f"select id, task, agent, 1 as reward from '{tmp_path}/*.jsonl'")
        sources = [tmp_path / "both.parquet"]
        rows.write_parquet(str(sources[0]))
    result = harbor_metrics.compute(*sources)
    assert [(group.agent, group.counts.found) for group in result.groups] == [("x", 40), ("y", 40)]
    assert "repeated-trial" not in result.to_json()


def test_planned_trials_part_evenly_over_the_groups() -> None:
    job = Job(n_total_trials=6, n_groups=2)
    pools, (diagnostic,) = pooled(source(of("x", "a", "b", "c") + of("y", "a"), job=job))
    assert {key: each.expected for key, each in pools.items()} == {X: 3, Y: 3}
    assert not pools[X].whole
    assert diagnostic.rule == "trials-missing"
    assert "planned 6 trials, only 4 are on disk" in diagnostic.message


def test_trials_that_a_job_did_not_plan_are_said() -> None:
    job = Job(n_total_trials=2)
    _, (diagnostic,) = pooled(source(of("x", "a", "b", "c"), job=job))
    assert diagnostic.rule == "trials-not-planned"
    assert "planned 2 trials, and 3 are on disk" in diagnostic.message


def test_unread_trials_are_expected_and_make_no_group_whole() -> None:
    job = Job(n_total_trials=2)
    pools, _ = pooled(source(of("x", "a"), job=job, unread=[X]))
    assert (pools[X].expected, pools[X].unread, pools[X].whole) == (2, 1, False)


def test_datasets_of_unknown_sizes_leave_the_plan_unknown() -> None:
    job = Job(n_total_trials=9, datasets=(JobDataset(name="d"), JobDataset(name="e")))
    pools, _ = pooled(source(of("x", "a"), job=job))
    assert pools[X].expected is None


@pytest.mark.parametrize(
    ("job", "rule"),
    [
        (Job(running=True, n_total_trials=3), "job-not-finished"),
        (Job(waiting=("a__1",)), "trial-without-result"),
    ],
)
def test_unfinished_job_is_noted(job: Job, rule: str) -> None:
    pools, (diagnostic,) = pooled(source(of("x", "a"), job=job))
    assert diagnostic.rule == rule
    assert not pools[X].whole


def test_lines_of_rewards_files_come_first_in_any_order() -> None:
    lines = Source(path="r", kind="rewards", trials=LineTrials(1, {"r": [1]}), sha256="")
    named = source([Trial(task="line:1", rewards={"r": 0})])
    for order in ((lines, named), (named, lines)):
        (pools, _) = pooled(*order)
        assert [each.table.n_tasks for each in pools.values()] == [2]


def test_groups_stand_by_dataset_agent_and_model_null_first() -> None:
    keys = [
        GroupKey(None, None, None), GroupKey("b", None, None), GroupKey("a", "m", "d"),
        GroupKey("a", "n", "d"), GroupKey("b", None, "d"),
    ]  # fmt: skip
    pools = {key: Pool(table=Table([])) for key in reversed(keys)}
    assert [key for key, _ in in_order(pools)] == keys


def test_exceptions_are_counted_by_name() -> None:
    table = Table(of("x", "a", "b", error="Late") + of("x", "c", error="Early") + of("x", "d"))
    assert table.errors == {"Early": 1, "Late": 2}
    assert Table(LineTrials(1, {"r": [1]})).errors == {}


def test_lost_group_is_incomplete(cli: Run, tmp_path: Path) -> None:
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


def test_retried_trial_counts_once(cli: Run, job: Path) -> None:
    archive = job / "_retries" / "x" / "retry-1"
    archive.mkdir(parents=True)
    source = next(job.glob("task-0__*")) / "result.json"
    (archive / "result.json").write_text(source.read_text())
    copy = job / "copy__0000001"
    copy.mkdir()
    (copy / "result.json").write_text(source.read_text())
    done = cli("compute", job, "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["counts"]["found"] == 10
    assert "found more than once" in done.stderr


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.csv": "score\n1\n0\n", "b.csv": "score\n0\n1\n"}, ["b.csv"]),
        ({"a.csv": "score\n1\n", "b.csv": "score\n0\n", "c.csv": "score\n0\n"}, ["b.csv", "c.csv"]),
        ({"a.csv": "score,agent\n1,x\n", "b.csv": "score,agent\n0,y\n"}, []),
        ({"a.csv": "task,score\na,1\n", "b.csv": "score\n0\n"}, []),
        ({"a.json": "[[1, 0], [1]]", "b.json": "[[0], [1]]"}, ["b.json"]),
        ({"a.json": "[[1, 0], [1]]", "b.json": '{"task_rewards": [[0], [1]]}'}, ["b.json"]),
        (
            {"a.json": "[[1, 0]]", "b.json": '{"task_rewards": [[0]], "tasks": ["t"]}'},
            [],
        ),
        ({"a.json": "[[0]]", "b.json": '{"task_rewards": [[0]], "tasks": null}'}, ["b.json"]),
        ({"a.json": '{"t": [0, 1]}', "b.json": '{"t": [0, 1]}'}, []),
        ({"a.jsonl": '{"reward": 1}\n', "b.jsonl": '{"reward": 0}\n'}, []),
    ],
    ids=str,
)
def test_tasks_of_several_files_that_only_their_places_name_are_said_to_be_one(
    files: dict[str, str], said: list[str], cli: Run, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = cli("compute", *files, "--format", "json")
    diagnostics = json.loads(done.stdout)["diagnostics"]
    assert [d["path"] for d in diagnostics if d["rule"] == "tasks-by-place"] == said


def test_reward_keys_that_only_some_sources_of_a_group_have_are_told() -> None:
    """In one file it is told of the trials; each source by itself lacks nothing."""
    one, other = (
        Source(path=key, kind="trials", trials=[Trial(task="a", rewards={key: 1})], sha256="")
        for key in ("f1", "match")
    )
    for order in ((one, other), (other, one)):
        _, (said,) = pooled(*order)
        assert said.rule == "key-missing"
        assert said.message == (
            "trials: of 2 sources of one group only some have `f1` (f1), `match` (match); in the "
            "others it is missing"
        )
    assert pooled(one, one)[1] == []
