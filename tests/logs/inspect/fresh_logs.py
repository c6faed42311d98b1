"""Fresh logs for an audit: `python fresh_logs.py FOLDER [SEED [COUNT]]`, where inspect-ai is.

A seeded choice of scores (letters, numbers, booleans, texts, objects, lists, NaN, none), reducers,
metrics, groups, clusters, epochs, samples that fail, scores that are edited, and formats. A mock
model answers; no network is needed. `benchmarks/audits.py` audits what it makes.
"""

from __future__ import annotations

import math
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["INSPECT_DISPLAY"] = "none"

from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import edit_score, read_eval_log, write_eval_log
from inspect_ai.model import ModelAPI
from inspect_ai.model._providers.mockllm import MockLLM
from inspect_ai.scorer import (
    Score,
    ScoreEdit,
    accuracy,
    aggregate,
    at_least,
    bootstrap_stderr,
    ci,
    ci_wilson,
    frequency,
    grouped,
    krippendorff_alpha,
    mean,
    pass_at,
    pass_k,
    perplexity_per_seq,
    perplexity_per_token,
    scorer,
    std,
    stderr,
    value_to_float,
    var,
)
from inspect_ai.solver import solver


async def count(*args: object, **kwargs: object) -> int:
    """Counting tokens would fetch a vocabulary."""
    return 3


ModelAPI.count_tokens = ModelAPI.count_text_tokens = count
MockLLM.count_tokens = MockLLM.count_text_tokens = count

GROUPS: list[Any] = ["a", "b", 1, "1", 1.0, True, 2.5, None, [], ["x", 1], {"k": "v"}, "é/ß", ""]
REDUCERS = (
    "mean", "median", "mode", "max", "majority", "pass_at_1", "pass_at_2", "pass_k_2",
    "at_least_1", "at_least_2",
)  # fmt: skip


LEAVES: dict[str, Callable[[random.Random], Any]] = {
    "letters": lambda rng: rng.choice("CCIIPN"),
    "floats": lambda rng: rng.uniform(-3, 9),
    "shares": lambda rng: rng.choice([0.0, 1.0, rng.random()]),
    "ints": lambda rng: rng.randrange(-2, 6),
    "booleans": lambda rng: rng.random() < 0.5,
    "ties": lambda rng: rng.choice([True, 1, 1.0, 0, False, "C", "I", 0.5, "P"]),
    "words": lambda rng: rng.choice(["yes", "No", "true", "7", " 3 ", "1e3", "nan", "c", "", "?"]),
    "constant": lambda rng: 0.1,
    "huge": lambda rng: rng.choice([1e150, -1e140, 1e17, 3.0]),
    "categories": lambda rng: rng.choice(["red", "green", "C", "1"]),
    "objects": lambda rng: {
        "acc": rng.choice("CIP"),
        "n": rng.choice([rng.randrange(5), math.nan]),
        "style.tone": rng.random(),
        "ok": rng.random() < 0.5,
    },
    "lists": lambda rng: [rng.random(), rng.choice("CI"), rng.randrange(3)],
    "ratings": lambda rng: [rng.randrange(1, 5) for _ in range(3)],
}


def value(kind: str, rng: random.Random, nan: float) -> Any:
    """A score, or None for none at all."""
    if rng.random() < nan:
        return math.nan if rng.random() < 0.7 else None
    return LEAVES[kind](rng)


def metrics_for(kind: str, rng: random.Random, *, bounded: bool) -> list[Any]:
    """Some metrics that Inspect can compute of such scores."""
    plain = [accuracy, mean, std, var, stderr]
    metric = rng.choice(plain)
    found = [make() for make in rng.sample(plain, rng.randrange(1, 6))]
    found += [
        rng.choice(
            [
                stderr(cluster="cluster"),
                ci(),
                ci(level=rng.choice([0.5, 0.9, 0.99]), cluster="cluster"),
                ci(method="bootstrap", num_samples=200),
                bootstrap_stderr(num_samples=rng.choice([50, 200])),
                ci_wilson() if bounded else ci(level=0.8),
                ci_wilson(level=0.9) if bounded else mean(),
            ]
        )
        for _ in range(rng.randrange(3))
    ]
    key = rng.choice(["kind", "odd", "cluster"])
    for _ in range(rng.randrange(3)):
        found.append(
            grouped(
                metric(),
                key,
                all=rng.choice(["samples", "groups", False]),
                all_label="over all",
                name_template=rng.choice(["{group_name}", "g {group_name}", "<{group_name}>"]),
            )
        )
    if kind in ("letters", "words", "categories", "booleans", "ints") and rng.random() < 0.5:
        found.append(frequency(["red", "C"] if rng.random() < 0.5 else None))
    if kind == "letters" and rng.random() < 0.3:
        found.append(accuracy(to_float=value_to_float(correct="P")))
    return found


def made(name: str, kind: str, metrics: Any, rng: random.Random, nan: float) -> Any:
    """A scorer that gives each sample and epoch a score drawn beforehand."""
    seed = rng.random()

    @scorer(metrics=metrics, name=name)
    def drawn() -> Any:
        async def score(state: Any, target: Any) -> Score | None:
            own = random.Random(f"{seed}/{state.sample_id}/{state.epoch}")
            given = value(kind, own, nan)
            notes = {"sum_log_probs": -40 * own.random(), "num_tokens": own.randrange(1, 30)}
            return None if given is None else Score(value=given, answer="x", metadata=notes)

        return score

    return drawn()


def scorers_for(kinds: list[str], rng: random.Random) -> list[Any]:
    """A scorer of each kind, with metrics that Inspect can compute of it."""
    found = []
    for i, kind in enumerate(kinds):
        nan = rng.choice([0, 0, 0.2, 1.0 if rng.random() < 0.2 else 0])
        bounded = kind in ("letters", "shares", "booleans", "constant")
        own: Any = metrics_for(kind, rng, bounded=bounded)
        if kind == "objects":
            own = rng.choice(of_objects(own))
            # A metric of a whole object takes no NaN in its place.
            nan = 0 if isinstance(own, list) else min(nan, 0.5)
        if kind == "ratings":
            own = [krippendorff_alpha(rng.choice(["nominal", "ordinal", "interval"])), mean()]
        if kind == "lists":
            own = [mean(), accuracy()]
        if kind == "floats" and rng.random() < 0.5:
            own += [perplexity_per_token(), perplexity_per_seq()]
        found.append(made(f"s{i}_{kind}", kind, own, rng, nan))
    return found


def of_objects(plain: list[Any]) -> list[Any]:
    """Ways to ask for metrics of the members of a score."""
    return [
        {"*": plain},
        {"acc": [accuracy(), stderr()], "style.*": [std(), ci()], "n": [mean()]},
        [{"*": [mean(), frequency()]}, aggregate("n", mean(), on_missing="skip")],
        [
            aggregate("acc", accuracy()),
            aggregate("style.tone", std()),
            {"s*": [grouped(mean(), "kind")]},
        ],
    ]


def reducers_for(epochs: int, rng: random.Random) -> list[Any] | None:
    """Some reducers, none at all, or None for Inspect's own."""
    if rng.random() < 0.15:
        k, value = rng.randrange(1, epochs + 1), rng.choice([-1.0, 0.0, 0.3, 0.5, 2.0, 99.0])
        return ["mean", rng.choice([at_least, pass_at, pass_k])(k, value=value)]
    if rng.random() < 0.6:
        able = [r for r in REDUCERS if not r[-1].isdigit() or int(r[-1]) <= epochs]
        return rng.sample(able, rng.randrange(1, 5))
    return [] if rng.random() < 0.3 else None


def failing(fails: set[tuple[int, int]]) -> Any:
    """A solver that fails at these samples and epochs."""

    @solver
    def answering() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            if (int(str(state.sample_id)[1:]), state.epoch) in fails:
                raise RuntimeError("planned")
            return await generate(state)

        return solve

    return answering()


def task(number: int, rng: random.Random) -> tuple[Task, dict[str, Any]]:
    """A task and what `eval` is told."""
    n, epochs = rng.choice([1, 2, 5, 9, 14]), rng.choice([1, 1, 2, 3, 5])
    reducers = reducers_for(epochs, rng)
    scorers = scorers_for(rng.sample(list(LEAVES), rng.choice([1, 1, 2])), rng)
    if epochs > 1 and rng.random() < 0.1:
        reducers = ["collect"]
        scorers = [made("rated", "ints", [krippendorff_alpha("interval")], rng, 0)]
    told: dict[str, Any] = {"limit": max(1, n - 2)} if rng.random() < 0.15 else {}
    fails: set[tuple[int, int]] = set()
    if rng.random() < 0.3:
        fails = {(i, e) for i in range(n) for e in range(1, epochs + 1) if rng.random() < 0.2}
        told |= {"fail_on_error": False, "score_on_error": rng.random() < 0.3}
    odd = rng.sample(GROUPS, rng.randrange(1, len(GROUPS)))
    samples = [
        Sample(
            id=f"q{i}",
            input="?",
            target="x",
            metadata={
                "kind": rng.choice(["math", "law", "art"]),
                "odd": rng.choice(odd),
                "cluster": rng.choice(["c1", "c2", 3, True, 1.0]),
            },
        )
        for i in range(n)
    ]
    of_epochs = epochs if reducers is None else Epochs(epochs, reducers)
    own = Task(
        dataset=samples,
        solver=failing(fails),
        scorer=scorers,
        name=f"fresh{number}",
        epochs=of_epochs,
    )
    return own, told


def edited(path: str, rng: random.Random) -> None:
    """Change some scores as a reviewer would, with the numbers made anew or left as they were."""
    log = read_eval_log(path)
    anew = rng.random() < 0.5
    for sample in log.samples or []:
        for name, score in (sample.scores or {}).items():
            if not isinstance(score.value, dict | list) and rng.random() < 0.3:
                edit = ScoreEdit(value=rng.choice(["C", "I"]))
                try:
                    edit_score(
                        log, sample.id, name, edit, recompute_metrics=anew, epoch=sample.epoch
                    )
                except ValueError:
                    # Inspect makes no number of a score beside others of another shape.
                    return
    write_eval_log(log, path)


def main(folder: str, seed: int = 1, n: int = 60) -> None:
    """Make so many logs."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    refused = 0
    for number in range(n):
        rng = random.Random(f"{seed}/{number}")
        own, told = task(number, rng)
        (log,) = eval(
            own,
            model="mockllm/model",
            log_dir=folder,
            log_format=rng.choice(["eval", "json"]),
            display="none",
            **told,
        )
        if log.status != "success":
            refused += 1
            reason = log.error.message if log.error else ""
            sys.stderr.write(f"{number}: {log.status}: {reason}\n")
        elif rng.random() < 0.25:
            edited(log.location, rng)
    sys.stderr.write(f"{n} logs, of which Inspect itself ended {refused} with an error\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
