"""What other packages say of cases: JSON lines in, JSON lines out; run by `against_packages.py`.

It needs numpy, scipy, scikit-learn, krippendorff, pingouin, scorio, statsmodels and
uncertainty-calibration, and nothing of harbor_metrics.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from statistics import fmean, multimode
from typing import Any

import calibration
import krippendorff
import numpy as np
import pandas as pd
import pingouin
import scipy.stats
import statsmodels.api as sm
from scorio import eval as scorio
from sklearn import metrics
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

Inputs = dict[str, Any]
# A name of a metric -> the package that answers, and how.
ANSWERS: dict[str, tuple[str, Callable[..., Any]]] = {}


def answers(name: str, package: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        ANSWERS[name] = (package, function)
        return function

    return keep


@answers("f1-precision-recall", "scikit-learn")
def scores(inputs: Inputs, average: str) -> Any:
    true, guess = inputs["reference"], inputs["guess"]
    # A class itself without trials has no value here; in an average it counts as 0.
    alone = average in ("none", "binary")
    options = {
        "average": None if average == "none" else average,
        "zero_division": np.nan if alone else 0,
    }
    of = {"f1": metrics.f1_score, "precision": metrics.precision_score}
    of["recall"] = metrics.recall_score
    if average != "none":
        return {name: score(true, guess, **options) for name, score in of.items()}
    labels = sorted({*true, *guess})
    return {
        name: dict(zip(labels, score(true, guess, labels=labels, **options), strict=True))
        for name, score in of.items()
    }


@answers("balanced-accuracy", "scikit-learn")
def balanced_accuracy(inputs: Inputs) -> Any:
    return metrics.balanced_accuracy_score(inputs["reference"], inputs["guess"])


@answers("cohen-kappa", "scikit-learn")
def cohen_kappa(inputs: Inputs, weights: str) -> Any:
    kind = None if weights == "none" else weights
    return metrics.cohen_kappa_score(inputs["first"], inputs["second"], weights=kind)


@answers("auroc", "scikit-learn")
def auroc(inputs: Inputs) -> Any:
    return metrics.roc_auc_score(inputs["reference"], inputs["score"])


@answers("average-precision", "scikit-learn")
def average_precision(inputs: Inputs) -> Any:
    return metrics.average_precision_score(inputs["reference"], inputs["score"])


@answers("correlation", "scipy")
def correlation(inputs: Inputs) -> Any:
    of = {
        "pearson": scipy.stats.pearsonr,
        "spearman": scipy.stats.spearmanr,
        "kendall": scipy.stats.kendalltau,
    }
    return {name: of[name](inputs["first"], inputs["second"])[0] for name in of}


@answers("krippendorff-alpha", "krippendorff")
def alpha(inputs: Inputs, level: str) -> Any:
    ratings = [[np.nan if r is None else r for r in row] for row in inputs["ratings"]]
    return krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)


@answers("calibration-error", "uncertainty-calibration, numpy")
def calibration_error(inputs: Inputs, bins: int, equal: str = "width") -> Any:
    sure, right = np.array(inputs["confidence"]), np.array(inputs["reward"])
    ece = calibration.get_ece if equal == "width" else calibration.get_ece_em
    edges = calibration.get_equal_prob_bins if equal == "width" else calibration.get_equal_bins
    squared = calibration.lower_bound_scaling_ce(
        sure, right, p=2, debias=False, num_bins=bins, binning_scheme=edges
    )
    places = np.digitize(sure, edges(list(sure), num_bins=bins), right=True)
    widest = max(abs((right - sure)[places == place].mean()) for place in set(places))
    return {"ece": ece(sure, right, num_bins=bins), "l2": squared, "max": widest}


@answers("usage-quantile", "numpy")
def usage_quantile(inputs: Inputs, of: str, q: list[float]) -> Any:
    return dict(zip(map(str, q), np.quantile(inputs[of], q), strict=True))


@answers("normalized-mean", "numpy")
def normalized_mean(inputs: Inputs, low: str, high: str, clip: bool) -> Any:
    bottom, top = np.array(inputs[low]), np.array(inputs[high])
    shares = (np.array(inputs["reward"]) - bottom) / (top - bottom)
    return (shares.clip(0, 1) if clip else shares).mean()


@answers("consistency", "scorio, numpy")
def consistency(inputs: Inputs) -> Any:
    tasks = np.array(inputs["tasks"])
    n = tasks.shape[1]
    ones = [(tasks == value).astype(int) for value in np.unique(tasks)]
    said = {
        "agreement": sum(scorio.pass_hat_k(each, 2) for each in ones),
        "flipped": 1 - sum(scorio.pass_hat_k(each, n) for each in ones),
    }
    return said | {"hal_outcome": np.mean((2 * (tasks >= 1).mean(axis=1) - 1) ** 2)}


@answers("g-pass-at-k", "scorio")
def g_pass_at_k(inputs: Inputs, k: int, tau: float) -> Any:
    return scorio.g_pass_at_k_tau(np.array(inputs["tasks"]), k, tau)


@answers("mg-pass-at-k", "scorio")
def mg_pass_at_k(inputs: Inputs, k: int) -> Any:
    return scorio.mg_pass_at_k(np.array(inputs["tasks"]), k)


@answers("best-at-k", "scorio")
def best_at_k(inputs: Inputs, k: int) -> Any:
    def best(tasks: Any) -> float:
        levels, codes = np.unique(tasks, return_inverse=True)
        return scorio.max_at_k(codes.reshape(tasks.shape), k, w=levels)

    tasks = np.array(inputs["tasks"], dtype=float)
    return {"best": best(tasks), "worst": -best(-tasks)}


@answers("majority-at-k", "scorio, every choice")
def majority_at_k(inputs: Inputs, k: int) -> Any:
    pairs = list(zip(inputs["answers"], inputs["reference"], strict=True))
    if k % 2 and len({answer for task, _ in pairs for answer in task}) <= 2:
        # Of an odd number of two answers the most frequent one has more than half.
        right = [[int(answer == truth) for answer in task] for task, truth in pairs]
        return scorio.maj_at_k(np.array(right), k)
    shares = []
    for task, truth in pairs:
        modes = [multimode(choice) for choice in combinations(task, k)]
        shares.append(sum(Fraction(truth in m, len(m)) for m in modes) / len(modes))
    return float(sum(shares) / len(shares))


@answers("variance-components", "statsmodels, pingouin")
def variance_components(inputs: Inputs) -> Any:
    tasks = inputs["tasks"]
    rows = [(i, j, r) for i, task in enumerate(tasks) for j, r in enumerate(task)]
    frame = pd.DataFrame(rows, columns=["task", "attempt", "reward"])
    squares = anova_lm(ols("reward ~ C(task)", frame).fit())["mean_sq"]
    among, within = squares["C(task)"], squares["Residual"]
    sizes = [len(task) for task in tasks]
    n = (sum(sizes) - sum(s * s for s in sizes) / sum(sizes)) / (len(tasks) - 1)
    between = (among - within) / n
    # The variance of the mean of a task's attempts, as they are and with one more.
    now, then = between + within / n, between + within / (n + 1)
    said = {"within": within, "between": between, "icc": between / (between + within)}
    if len(set(sizes)) == 1 and len(tasks) >= 5:
        table = pingouin.intraclass_corr(frame, "task", "attempt", "reward").set_index("Type")
        (said["icc"],) = table.loc[[name for name in table.index if "1" in name][0:1], "ICC"]
    said["attempts-share"] = within / n / now
    return said | {"one-more-attempt": 1 - np.sqrt(then / now)}


@answers("time-horizon", "statsmodels")
def time_horizon(inputs: Inputs, q: list[float]) -> Any:
    shares = [fmean(task) for task in inputs["tasks"]]
    x = sm.add_constant(np.log2(inputs["minutes"]))
    fit = sm.GLM(shares, x, family=sm.families.Binomial()).fit(tol=1e-15, maxiter=200)
    intercept, slope = fit.params
    # A curve that is not there is very steep; one that rises has no horizon.
    crossings = {str(each): (math.log(each / (1 - each)) - intercept) / slope for each in q}
    there = -50 < slope < -1e-9
    return {name: 2**at if there else math.nan for name, at in crossings.items()}


def plain(value: Any) -> Any:
    """As JSON has it; what is not a number is null."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return float(value) if math.isfinite(value) else None


def main() -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for line in sys.stdin:
        case = json.loads(line)
        package, function = ANSWERS[case["name"]]
        try:
            expected, error = plain(function(case["inputs"], **case["kwargs"])), None
        except (ValueError, ZeroDivisionError, np.linalg.LinAlgError) as raised:
            expected, error = None, str(raised)
        print(json.dumps({"package": package, "expected": expected, "error": error}))


if __name__ == "__main__":
    main()
