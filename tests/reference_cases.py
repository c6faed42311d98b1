"""Cases with which other packages compute metrics, as trials and kwargs of ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

# How a case calls the metrics that it has values of.
PARTS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "f1-precision-recall": {name: (name, {}) for name in ("f1", "precision", "recall")},
    "consistency": {
        "agreement": ("consistency", {}),
        "flipped": ("flipped", {}),
        "hal_outcome": ("consistency", {"method": "hal"}),
    },
    "best-at-k": {"best": ("best-at-k", {}), "worst": ("worst-at-k", {})},
    "calibration-error": {
        "ece": ("calibration-error", {}),
        "l2": ("calibration-error", {"norm": 2}),
        "max": ("calibration-error", {"norm": "max"}),
    },
    "correlation": {
        method: ("correlation", {"method": method}) for method in ("pearson", "spearman", "kendall")
    },
}


def places(values: Iterable[Any]) -> dict[Any, Any]:
    """Classes as numbers in their order, as rewards are; numbers as they are."""
    distinct = sorted(set(values))
    return {v: i if isinstance(v, str) else v for i, v in enumerate(distinct)}


def of_pairs(first: list[Any], second: list[Any]) -> dict[str, Any]:
    place = places([*first, *second])
    return {
        "rewards": [
            {"first": place[a], "second": place[b]} for a, b in zip(first, second, strict=True)
        ],
        "kwargs": {"key": "first", "reference": "second"},
    }


def of_tasks(tasks: list[list[Any]]) -> dict[str, Any]:
    return {
        "rewards": [{"reward": reward} for task in tasks for reward in task],
        "tasks": [f"t{i:03}" for i, task in enumerate(tasks) for _ in task],
    }


def arranged(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The trials of a case of ours from the inputs of a package."""
    match name:
        case "f1-precision-recall" | "balanced-accuracy":
            return of_pairs(inputs["guess"], inputs["reference"])
        case "cohen-kappa" | "correlation":
            return of_pairs(inputs["first"], inputs["second"])
        case "auroc" | "average-precision":
            return of_pairs(inputs["score"], inputs["reference"])
        case "calibration-error":
            pairs = zip(inputs["reward"], inputs["confidence"], strict=True)
            return {
                "rewards": [{"reward": reward, "sure": sure} for reward, sure in pairs],
                "kwargs": {"confidence": "sure"},
            }
        case "usage-quantile":
            seconds = inputs["seconds"]
            return {"rewards": [{}] * len(seconds), "usage": [{"seconds": s} for s in seconds]}
        case "krippendorff-alpha":
            units = [
                {f"r{i}": rating for i, rating in enumerate(unit) if rating is not None}
                for unit in zip(*inputs["ratings"], strict=True)
            ]
            return {
                "rewards": units,
                "kwargs": {"raters": [f"r{i}" for i in range(len(inputs["ratings"]))]},
            }
        case "normalized-mean":
            ends = zip(inputs["low"], inputs["high"], strict=True)
            return {
                "rewards": [{"reward": reward} for reward in inputs["reward"]],
                "labels": [{"low": low, "high": high} for low, high in ends],
            }
        case "majority-at-k":
            answers = inputs["answers"]
            right = [
                [int(answer == truth) for answer in task]
                for task, truth in zip(answers, inputs["reference"], strict=True)
            ]
            texts = [{"prediction": answer} for task in answers for answer in task]
            return {**of_tasks(right), "texts": texts}
        case "time-horizon":
            sizes = [len(task) for task in inputs["tasks"]]
            of_trials = zip(inputs["minutes"], sizes, strict=True)
            labels = [{"minutes": m} for m, size in of_trials for _ in range(size)]
            return {
                **of_tasks(inputs["tasks"]),
                "labels": labels,
                "kwargs": {"minutes": "minutes"},
            }
    return of_tasks(inputs["tasks"])


def expectations(
    case: dict[str, Any],
) -> Iterator[tuple[str, dict[str, Any], dict[str, float | None]]]:
    """Each metric that the case has values of, its kwargs, and the values by name."""
    name, expected = case["name"], case["expected"]
    if name in PARTS:
        for part in expected:
            metric, kwargs = PARTS[name][part]
            value = expected[part]
            if isinstance(value, dict):
                place = places(value)
                yield metric, kwargs, {str(place[name]): value[name] for name in value}
            else:
                yield metric, kwargs, {metric: value}
    elif name == "mg-pass-at-k":
        yield "g-pass-at-k", {"tau": "mean"}, {"g-pass-at-k": expected}
    elif isinstance(expected, dict):
        yield name, {}, expected
    else:
        yield name, {}, {name: expected}
