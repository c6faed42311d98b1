"""Metrics in memory, against Inspect's and Harbor's own where they are installed, and `fmean`."""

from __future__ import annotations

import importlib
import importlib.util
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from harbor_metrics.catalogue.names import bind
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.evaluation.measurement import measure
from harbor_metrics.trials.column import Column
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import LineTasks, Trial

TRIALS, TASKS, ROUNDS = 1_000_000, 200_000, 5


def seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def show(what: str, ours: Callable[[], Any], theirs: Callable[[], Any], target: str) -> None:
    """The median of both, and of the ratio pair by pair."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    text = f"{ratio:.2f}x" if ratio >= 1 else f"1/{1 / ratio:.1f}x"
    print(f"{what:<44} {mine * 1e3:7.0f} ms against {other * 1e3:7.0f} ms  {text:>8}  {target}")


def fresh(table: Table) -> Table:
    """The same trials, with nothing remembered from an earlier measurement."""
    made = Table([])
    made.trials = table.trials
    return made


def run(spec: MetricSpec, table: Table, level: float | None) -> None:
    measure(bind(spec), spec, table, missing=None, level=level)


def several(table: Table) -> None:
    """Mean with its error bar, stderr, Wilson's interval, and pass@k for k = 1 … 16."""
    specs = [
        MetricSpec(type="mean"),
        MetricSpec(type="stderr"),
        MetricSpec(type="ci", kwargs={"method": "wilson"}),
        MetricSpec(type="pass-at-k", kwargs={"k": list(range(1, 17))}),
    ]
    for spec in specs:
        run(spec, table, 0.95)


def bootstrap(rewards: Column) -> None:
    from harbor_metrics.metrics.intervals import bootstrap_stderr

    bootstrap_stderr(Column(rewards.values, rewards.tasks), samples=1000, cluster=None)


def spread(values: list[float]) -> None:
    from harbor_metrics.metrics.moments import accuracy, std

    column = Column(values, LineTasks(range(1, len(values) + 1)))
    accuracy(column)
    std(column)


def main() -> None:
    rng = random.Random(1)
    table = Table(
        [
            Trial(task=f"task-{i % TASKS:06d}", rewards={"reward": float(rng.random() < 0.4)})
            for i in range(TRIALS)
        ]
    )
    if importlib.util.find_spec("inspect_ai"):
        scorer: Any = importlib.import_module("inspect_ai.scorer")
        values = (t.rewards["reward"] for t in table if t.rewards)
        scores = [scorer.SampleScore(score=scorer.Score(value=value)) for value in values]
        theirs = scorer.mean()
        show(
            "mean, stderr, Wilson, pass@1..16; Inspect's mean",
            lambda: several(fresh(table)),
            lambda: theirs(scores),
            "3x",
        )
    if importlib.util.find_spec("harbor"):
        harbor(table)
    floats = [rng.random() for _ in range(TRIALS)]
    show(
        "exact mean and std of distinct floats; fmean",
        lambda: spread(floats),
        lambda: statistics.fmean(floats),
        "40x",
    )
    tenths = Column([rng.randint(0, 10) / 10 for _ in range(TRIALS)], ["t"] * TRIALS)
    taken = statistics.median(seconds(lambda: bootstrap(tenths)) for _ in range(ROUNDS))
    counted = statistics.median(
        seconds(lambda: Column(tenths.values, tenths.tasks).tally) for _ in range(ROUNDS)
    )
    print(f"bootstrap of 11 values: {taken * 1e3:.0f} ms, of which counting {counted * 1e3:.0f} ms")


def harbor(table: Table) -> None:
    theirs: Any = importlib.import_module("harbor.utils.pass_at_k")
    tasks = [list(map(int, v)) for v in table.column("reward", "zero").by_task.values()]
    ks = [2, 4, 5]

    def loop() -> None:
        for k in ks:
            sum(theirs._pass_at_k_for_task(len(task), sum(task), k) for task in tasks) / len(tasks)

    spec = MetricSpec(type="pass-at-k", kwargs={"k": ks})
    warm = fresh(table)
    run(MetricSpec(type="mean"), warm, None)
    show(
        "pass@2, 4, 5 of counted attempts; Harbor's loop",
        lambda: run(spec, warm, None),
        loop,
        "1/20x",
    )


if __name__ == "__main__":
    main()
