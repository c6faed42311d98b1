"""Metrics against packages that also compute them, on random inputs.

`python tests/golden/against_packages.py PYTHON [NAME...]`, where PYTHON has the packages that
`packages.py` beside this names. A line for each metric: on how many inputs both have a value,
on how many the package alone (where a value is undefined here, many say 0), and the worst
difference, relative above 1. Exit 1 where one is too large or the package alone has none.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from reference_cases import arranged, expectations

from harbor_metrics.testing import outcome

N_INPUTS = 200
# Relative; a fit stops where its package stops.
TOLERANCES = {"time-horizon": 1e-9}
TOLERANCE = 1e-12

Drawn = tuple[dict[str, Any], dict[str, Any]]


def pairs(rng: random.Random, values: list[Any], names: tuple[str, str]) -> dict[str, Any]:
    n = rng.randint(1, 60)
    # Often of few values, and often alike.
    values = rng.sample(values, rng.randint(1, len(values)))
    first = rng.choices(values, k=n)
    alike = rng.random()
    second = [value if rng.random() < alike else rng.choice(values) for value in first]
    return {names[0]: first, names[1]: second}


def classes(rng: random.Random) -> Drawn:
    average = rng.choice(["binary", "macro", "micro", "weighted", "none"])
    values: list[Any] = [0, 1] if average == "binary" else ["a", "b", "c", "d"]
    return pairs(rng, values, ("guess", "reference")), {"average": average}


def guesses(rng: random.Random) -> Drawn:
    return pairs(rng, ["a", "b", "c", "d"], ("guess", "reference")), {}


def judges(rng: random.Random) -> Drawn:
    weights = rng.choice(["none", "linear", "quadratic"])
    return pairs(rng, ["a", "b", "c", "d"], ("first", "second")), {"weights": weights}


def numbers(rng: random.Random) -> Drawn:
    ties = rng.random() < 0.5
    draw: Callable[[], float] = (lambda: rng.randint(0, 4)) if ties else (lambda: rng.gauss(0, 10))
    n, alike = rng.randint(2, 60), rng.uniform(-1, 1)
    first = [draw() for _ in range(n)]
    return {"first": first, "second": [x * alike + draw() for x in first]}, {}


def scored(rng: random.Random) -> Drawn:
    n, digits = rng.randint(1, 80), rng.choice([1, 2, 16])
    share = rng.random()
    right = [int(rng.random() < share) for _ in range(n)]
    score = [round(0.3 * one + 0.7 * rng.random(), digits) for one in right]
    return {"reference": right, "score": score}, {}


def confident(rng: random.Random) -> Drawn:
    inputs, _ = scored(rng)
    kwargs = {"bins": rng.choice([1, 3, 10, 15]), "equal": rng.choice(["width", "mass"])}
    sure = inputs["score"]
    if rng.random() < 0.5:  # at the ends of bins
        sure = [rng.randint(0, kwargs["bins"]) / kwargs["bins"] for _ in sure]
    return {"reward": inputs["reference"], "confidence": sure}, kwargs


def ratings(rng: random.Random) -> Drawn:
    n, share = rng.randint(1, 20), rng.uniform(0.5, 1)
    values = rng.choice([[1, 2, 3, 4], [0, 0.5, 2], [7, 7, 8]])
    rows = [
        [rng.choice(values) if rng.random() < share else None for _ in range(n)]
        for _ in range(rng.randint(2, 4))
    ]
    level = rng.choice(["nominal", "ordinal", "interval", "ratio"])
    return {"ratings": rows}, {"level": level}


def tasks(rng: random.Random, values: list[Any], least: int = 2) -> list[list[Any]]:
    n = rng.randint(least, 9)
    made = []
    for _ in range(rng.randint(2, 12)):
        weights = [rng.random() ** 3 + 0.01 for _ in values]
        made.append(rng.choices(values, weights, k=n))
    return made


def consistent(rng: random.Random) -> Drawn:
    return {"tasks": tasks(rng, rng.choice([[0, 1], [0, 1, 2], [0.1, 0.5, 1]]))}, {}


def varied(rng: random.Random) -> Drawn:
    made = tasks(rng, rng.choice([[0, 1], [0.25, 0.5, 1], [-5, 2.5, 1000]]))
    if rng.random() < 0.3:  # not all with as many attempts
        made = [task[: rng.randint(1, len(task))] for task in made]
    return {"tasks": made}, {}


def stable(rng: random.Random) -> Drawn:
    made = tasks(rng, [0, 1])
    k = rng.randint(1, len(made[0]))
    return {"tasks": made}, {"k": k, "tau": rng.choice([0.0, 0.5, 0.7, 1.0, rng.randint(0, k) / k])}


def mostly(rng: random.Random) -> Drawn:
    made = tasks(rng, [0, 1])
    return {"tasks": made}, {"k": rng.randint(2, len(made[0]))}


def best(rng: random.Random) -> Drawn:
    made = tasks(rng, rng.choice([[0, 1], [0, 0.25, 0.5, 1], [-3.5, 0, 100]]))
    return {"tasks": made}, {"k": rng.randint(1, len(made[0]))}


def answered(rng: random.Random) -> Drawn:
    letters = rng.choice(["AB", "AB", "ABC", "ABCD"])
    made = [task[:7] for task in tasks(rng, list(letters))]
    reference = [rng.choice(letters) for _ in made]
    return {"answers": made, "reference": reference}, {"k": rng.randint(1, len(made[0]))}


def normalized(rng: random.Random) -> Drawn:
    n = rng.randint(1, 30)
    low = [round(rng.gauss(0, 5), 3) for _ in range(n)]
    high = [x + rng.choice([-1, 1]) * rng.uniform(0.5, 9) for x in low]
    inputs = {"reward": [rng.gauss(0, 5) for _ in range(n)], "low": low, "high": high}
    return inputs, {"low": "low", "high": "high", "clip": rng.random() < 0.5}


def used(rng: random.Random) -> Drawn:
    seconds = [round(rng.lognormvariate(3, 1), 3) for _ in range(rng.randint(1, 60))]
    return {"seconds": seconds}, {
        "of": "seconds",
        "q": [0.5, 0.9, 0.95, rng.randint(1, 999) / 1000],
    }


def timed(rng: random.Random) -> Drawn:
    n = rng.randint(6, 40)
    minutes = [round(2 ** rng.uniform(-1, 9), 3) for _ in range(n)]
    falls = rng.uniform(0.1, 1.5)
    made = []
    for m in minutes:
        chance = 1 / (1 + 2 ** (falls * (rng.gauss(4, 1) - 4 + rng.uniform(-1, 1)) * 2) * m / 16)
        made.append([int(rng.random() < chance) for _ in range(rng.randint(1, 6))])
    return {"minutes": minutes, "tasks": made}, {"q": [0.5, 0.8]}


DRAWS: dict[str, Callable[[random.Random], Drawn]] = {
    "f1-precision-recall": classes,
    "balanced-accuracy": guesses,
    "consistency": consistent,
    "normalized-mean": normalized,
    "majority-at-k": answered,
    "g-pass-at-k": stable,
    "mg-pass-at-k": mostly,
    "best-at-k": best,
    "variance-components": varied,
    "calibration-error": confident,
    "auroc": scored,
    "average-precision": scored,
    "usage-quantile": used,
    "krippendorff-alpha": ratings,
    "cohen-kappa": judges,
    "correlation": numbers,
    "time-horizon": timed,
}


@dataclass
class Line:
    """What became of a metric's inputs."""

    package: str = ""
    both: int = 0
    neither: int = 0
    theirs: int = 0
    ours: int = 0
    worst: float = 0.0


def cases(names: list[str]) -> list[dict[str, Any]]:
    made = []
    for name in names:
        rng = random.Random(name)  # the same inputs each time
        for _ in range(N_INPUTS):
            inputs, kwargs = DRAWS[name](rng)
            made.append({"name": name, "inputs": inputs, "kwargs": kwargs})
    return made


def answered_by(python: str, drawn: list[dict[str, Any]]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [python, str(Path(__file__).parent / "packages.py")],
        input="".join(json.dumps(case) + "\n" for case in drawn),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(case: dict[str, Any], answer: dict[str, Any], lines: dict[str, Line]) -> None:
    trials = arranged(case["name"], case["inputs"])
    # Without any value from the package, what ours are called is all that is asked.
    expected = answer["expected"]
    if expected is None:
        line = lines[case["name"]]
        line.package = answer["package"]
        given = {**trials.get("kwargs", {}), **case["kwargs"]}
        values = outcome(case["name"], {**trials, "kwargs": given}).values
        line.ours += any(value is not None for value in values.values())
        line.neither += all(value is None for value in values.values())
        return
    for metric, kwargs, said in expectations({**case, "expected": expected}):
        given = {**trials.get("kwargs", {}), **case["kwargs"], **kwargs}
        found = outcome(metric, {**trials, "kwargs": given})
        for name, theirs in said.items():
            label = metric if name == metric or metric == "f1" else f"{metric} {name}"
            if metric in ("usage-quantile", "time-horizon", "precision", "recall"):
                label = metric
            line = lines["mg-pass-at-k" if case["name"] == "mg-pass-at-k" else label]
            line.package = answer["package"]
            ours = found.values[name]
            line.both += ours is not None and theirs is not None
            line.neither += ours is None and theirs is None
            line.theirs += ours is None and theirs is not None
            line.ours += ours is not None and theirs is None
            if ours is not None and theirs is not None:
                line.worst = max(line.worst, abs(ours - theirs) / max(1.0, abs(theirs)))


def main(python: str, *names: str) -> int:
    drawn = cases(list(names or DRAWS))
    lines: dict[str, Line] = defaultdict(Line)
    for case, answer in zip(drawn, answered_by(python, drawn), strict=True):
        compare(case, answer, lines)
    print(f"{'metric':<36} {'both':>5} {'none':>5} {'theirs':>6} {'ours':>5} {'worst':>8}  package")
    wrong = 0
    for name, line in lines.items():
        bad = line.ours or line.worst > TOLERANCES.get(name, TOLERANCE)
        wrong += bool(bad)
        print(
            f"{name:<36} {line.both:>5} {line.neither:>5} {line.theirs:>6} {line.ours:>5} "
            f"{line.worst:>8.1e}  {line.package}{'  <-' if bad else ''}"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
