"""Laws of the catalogue: what must hold whatever the rewards."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from conftest import CASES
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harbor_metrics.catalogue import aliases, names
from harbor_metrics.catalogue.families import metric_names, reducer_names
from harbor_metrics.catalogue.names import bind, bind_reducer, find_metric
from harbor_metrics.catalogue.schema import composed
from harbor_metrics.contract.spec import UV_SCRIPT, MetricSpec, ReducerSpec
from harbor_metrics.errors import MetricFailure
from harbor_metrics.evaluation.measurement import Measured, measure
from harbor_metrics.testing import outcome
from harbor_metrics.testing import trials as trials_of
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial, Usage

NUMBERS = st.one_of(
    st.sampled_from([0, 1, 0.0, 1.0, 0.1, 0.5]),
    st.floats(-1e6, 1e6),
    st.integers(-(10**6), 10**6),
)
REWARDS = st.one_of(st.none(), st.dictionaries(st.sampled_from("ab"), NUMBERS, max_size=2))
ROWS = st.lists(
    st.tuples(REWARDS, st.integers(0, 3), st.sampled_from(["x", "y"]), st.floats(0, 100)),
    min_size=1,
    max_size=14,
)
SPECS = [
    ("sum", {}),
    ("min", {}),
    ("max", {}),
    ("mean", {}),
    ("accuracy", {"missing": "skip"}),
    ("mean-reward", {}),
    ("var", {}),
    ("std", {"reducer": "mean"}),
    ("stderr", {}),
    ("stderr", {"cluster": "group"}),
    ("median", {"reducer": {"type": "pass-at-k", "kwargs": {"k": 1}}}),
    ("quantile", {"q": 0.3}),
    ("ci", {}),
    ("ci", {"method": "wilson", "reducer": {"type": "any-first-k", "kwargs": {"k": 1}}}),
    ("bootstrap-stderr", {"samples": 20}),
    ("count", {"threshold": 0.5}),
    ("frequency", {}),
    ("pass-rate", {}),
    ("pass-at-k", {"k": [1, 2]}),
    ("pass-hat-k", {"k": 2}),
    ("at-least-k", {"k": 1}),
    ("any-first-k", {"k": 2, "method": "available"}),
    ("all-first-k", {"k": 2, "method": "available"}),
    ("grouped", {"metric": "mean", "by": "group", "all": "groups"}),
    ("weighted-mean", {"weight": "size"}),
    ("micro-average", {"weight": "size"}),
    ("perplexity", {}),
    ("perplexity", {"per": "size"}),
    ("likelihood", {"likelihoods": "a"}),
    ("frequency", {"label": "group"}),
    ("weighted-perplexity", {"weight": "size"}),
    ("bits-per-byte", {"weight": "size"}),
    ("f1", {"reference": "size"}),
    ("matthews-corrcoef", {"reference": "size"}),
    ("brier-score", {"probabilities": "a"}),
    ("exact-match", {}),
    ("bootstrap-stderr", {"metric": "median", "samples": 5}),
    ("bootstrap-stderr", {"metric": "exact-match", "samples": 5}),
    ("seconds-per-task", {}),
    ("total-seconds", {}),
    ("seconds-per-solved-task", {"key": "a"}),
]


def trials(rows: list[Any]) -> list[Trial]:
    return [
        Trial(
            task=f"t{task}",
            rewards=rewards,
            attempt=i,
            labels={"group": f"{group}{task}", "one": "same", "size": task},
            usage=Usage(seconds=seconds),
            texts={"prediction": group, "reference": "x"},
        )
        for i, (rewards, task, group, seconds) in enumerate(rows)
    ]


def numbers(spec: tuple[str, dict[str, Any]], table: Table) -> Any:
    return repr(measured(spec[0], spec[1], table, 0.95))


def measured(name: str, kwargs: Any, table: Table, level: float | None) -> Measured:
    spec = MetricSpec(type=name, kwargs=kwargs)
    return measure(
        bind(MetricSpec(type=name, kwargs=kwargs)), spec, table, missing=None, level=level
    )


_COLUMNS = ("rewards", "tasks", "labels", "texts", "usage")


@settings(max_examples=25, deadline=None)
@given(st.data())
@pytest.mark.parametrize("name", sorted(set(metric_names()) - {UV_SCRIPT}))
def test_order_and_partition_of_the_trials_of_a_case_change_nothing(
    name: str, data: st.DataObject
) -> None:
    case = data.draw(st.sampled_from(CASES[name]))
    n = len(case["rewards"])
    # Other samples than the case's own, too: some rows left out, some as attempts twice.
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=2 * n) if n else st.just([]))
    sample = case | {
        column: [case[column][i] for i in rows] for column in _COLUMNS if column in case
    }
    sample["tasks"] = sample.get("tasks") or [f"t{i}" for i in rows]
    sample["attempts"] = list(range(len(rows)))
    order = data.draw(st.permutations(range(len(rows))))
    shuffled = sample | {
        column: [sample[column][i] for i in order]
        for column in (*_COLUMNS, "attempts")
        if column in sample
    }
    cut = data.draw(st.integers(0, len(rows)))
    whole = trials_of(shuffled)
    spec = MetricSpec(type=name, kwargs=case.get("kwargs") or {})
    assert answer(spec, Table(whole[:cut]) + Table(whole[cut:])) == answer(
        spec, Table(trials_of(sample))
    )


def answer(spec: MetricSpec, table: Table) -> str:
    """The outcome as text, or why there is none."""
    try:
        return repr(measure(bind(spec), spec, table, missing=None, level=0.95))
    except MetricFailure as failure:
        return f"{failure.rule}: {failure}"


@settings(max_examples=20, deadline=None)
@given(ROWS, st.integers(0, 14), st.randoms())
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec[0])
def test_sum_of_tables_gives_the_numbers_of_all_trials(
    spec: Any, rows: list[Any], cut: int, rng: random.Random
) -> None:
    whole = trials(rows)
    shuffled = rng.sample(whole, len(whole))
    parts = Table(shuffled[:cut]) + Table(shuffled[cut:])
    assert numbers(spec, parts) == numbers(spec, Table(whole))


@settings(max_examples=40, deadline=None)
@given(ROWS)
@pytest.mark.parametrize(
    "name", ["mean", "accuracy", "mean-reward", "pass-rate", "median", "frequency"]
)
def test_all_data_twice_leaves_means_unchanged(name: str, rows: list[Any]) -> None:
    once = measured(name, {}, Table(trials(rows)), None)
    twice = measured(name, {}, Table(trials([*rows, *rows])), None)
    assert once.values == twice.values


@settings(max_examples=40, deadline=None)
@given(ROWS)
@pytest.mark.parametrize("name", ["mean", "accuracy", "std", "stderr", "pass-rate", "sum"])
def test_grouping_by_a_constant_changes_no_number(name: str, rows: list[Any]) -> None:
    table = Table(trials(rows))
    plain = measured(name, {}, table, 0.95)
    grouped = measured("grouped", {"metric": name, "by": "one"}, table, 0.95)
    assume(any(value is not None for value in plain.values.values()))
    keys = list(plain.values) if len(plain.values) > 1 else [None]
    for key in keys:
        outer = name if key is None else key
        for group in ("same", "all"):
            full = group if key is None else f"{key}/{group}"
            assert grouped.values[full] == plain.values[outer]
            assert grouped.n[full] == plain.n[outer]
            assert grouped.uncertainty.get(full) == plain.uncertainty.get(outer)


# A value for each kwarg that some metric cannot do without.
NEEDED = {
    "metric": "mean",
    "by": "one",
    "weight": "size",
    "reference": "size",
    "confidence": "size",
    "raters": ["a", "b"],
    "k": 2,
    "tau": 0.5,
}


@settings(max_examples=25, deadline=None)
@given(ROWS)
@pytest.mark.parametrize("alias", aliases.METRICS, ids=lambda alias: alias.name)
def test_an_alias_is_its_spec(alias: aliases.Alias, rows: list[Any]) -> None:
    fields = msgspec.structs.fields(find_metric(alias.type).kwargs)
    lacking = {field.name for field in fields if field.required} - alias.kwargs.keys()
    needed = {name: NEEDED[name] for name in lacking if "{k}" not in alias.name or name != "k"}
    name = alias.name.replace("{k}", "2")
    kwargs = {**alias.kwargs, **needed, **({"k": 2} if "{k}" in alias.name else {})}
    spec = names.resolve(MetricSpec(type=name, kwargs=needed))
    assert spec == MetricSpec(type=alias.type, kwargs=kwargs)
    assert numbers((spec.type, spec.kwargs), Table(trials(rows))) == numbers(
        (alias.type, kwargs), Table(trials(rows))
    )


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([0.0, 0.5, 0.95, 1.0, 1.5, -0.1, 200_000]),
    st.sampled_from(
        ["", "zero", "skip", "mean", "max", "pass-at-k", "task", "t", "auto", "linear", "upper",
         "available", "strict", "groups", "samples", "{group_name}", "x{group_name}", "resample",
         "closed-form", "wilson", "inspect/pass_at_2", "pass_at_2", "pass_at_0", "inspect/mode",
         "nonesuch", "inspect/accuracy", "total-cost", "evsys/pass@3", "stderr", "avg"]
    ),
    st.lists(st.one_of(st.integers(0, 3), st.sampled_from(["", "a"])), max_size=2),
    st.builds(
        lambda type_, kwargs, more: {"type": type_, "kwargs": kwargs, **more},
        st.sampled_from(["mean", "pass-at-k", "inspect/pass_at_2", "quantile", "max", "grouped",
                         "nonesuch", "total-cost", "uv-script", "inspect/ci"]),
        st.dictionaries(
            st.sampled_from(["k", "q", "threshold", "missing", "method", "x"]),
            st.sampled_from([1, 0, 0.5, "skip", "wilson", "linear", True]),
            max_size=2,
        ),
        st.sampled_from([{}, {}, {"typ": 1}]),
    ),
)  # fmt: skip
NAMES = sorted(set(metric_names()) - {UV_SCRIPT})
NAMES += ["inspect/accuracy", "inspect/grouped", "evsys/pass@3", "inspect/ci"]


@settings(max_examples=30, deadline=None)
@given(st.data())
@pytest.mark.parametrize("name", NAMES)
def test_the_schema_accepts_what_the_function_accepts(name: str, data: st.DataObject) -> None:
    fields = [*names.kwargs_of(name), "typo"]
    own = names.resolve(MetricSpec(type=name))
    needed = {
        field: value
        for field, value in (CASES[own.type][0].get("kwargs") or {}).items()
        if field not in own.kwargs
    }
    kwargs = dict(needed)
    kwargs |= data.draw(st.dictionaries(st.sampled_from(fields), VALUES, max_size=2))
    for field in data.draw(st.sets(st.sampled_from([*needed, "typo"]), max_size=1)):
        kwargs.pop(field, None)
    try:
        names.check(name, kwargs)
        accepted = True
    except MetricFailure:
        accepted = False
    entry = {"type": name, "kwargs": kwargs}
    assert VALIDATOR.is_valid(entry) is accepted, entry


VALIDATOR = jsonschema_rs.validator_for(composed("metric"))


@given(
    st.lists(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=7), min_size=1, max_size=5),
    st.integers(1, 4),
)
@settings(deadline=None)
def test_chances_are_those_of_drawing_attempts(tasks: list[list[int]], k: int) -> None:
    from itertools import combinations

    assume(all(len(task) >= k for task in tasks))
    rows = {
        "rewards": [{"r": r} for task in tasks for r in task],
        "tasks": [f"t{i}" for i, task in enumerate(tasks) for _ in task],
        "kwargs": {"k": k},
    }
    for name, decide in (("pass-at-k", any), ("pass-hat-k", all)):
        drawn = [[decide(draw) for draw in combinations(task, k)] for task in tasks]
        true = sum(Fraction(sum(draws), len(draws)) for draws in drawn) / len(tasks)
        assert outcome(name, rows).values == {name: float(true)}


@given(
    st.lists(
        st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=5), min_size=2, max_size=30
    )
)
@settings(deadline=None)
def test_means_and_errors_are_those_of_fractions(tasks: list[list[float]]) -> None:
    rows = {
        "rewards": [{"r": r} for task in tasks for r in task],
        "tasks": [f"t{i:02}" for i, task in enumerate(tasks) for _ in task],
    }
    exact = [[Fraction(r) for r in task] for task in tasks]
    n = sum(map(len, tasks))
    mean = sum(map(sum, exact)) / n
    macro = sum(sum(task) / len(task) for task in exact) / len(tasks)
    clusters = sum((sum(task) - mean * len(task)) ** 2 for task in exact)
    error = clusters * len(tasks) / (len(tasks) - 1) / n**2
    of_tasks = sum((sum(task) / len(task) - macro) ** 2 for task in exact)
    macro_error = of_tasks / (len(tasks) - 1) / len(tasks)
    for name, value, squared in (
        ("accuracy", mean, error),
        ("mean", mean, error),
        ("mean-reward", macro, macro_error),
    ):
        found = outcome(name, rows)
        assert found.values == {name: pytest.approx(float(value), rel=1e-15)}
        sure = found.uncertainty[name]
        if squared:
            assert sure.stderr == pytest.approx(float(squared) ** 0.5, rel=1e-14)
        else:
            assert sure.stderr is None
    if error:
        (found_error,) = outcome("stderr", rows).values.values()
        assert found_error == pytest.approx(float(error) ** 0.5, rel=1e-14)


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=9))
def test_spread_is_the_rounded_exact_spread(values: list[float]) -> None:
    xs = [Fraction(value) for value in values]
    middle = sum(xs) / len(xs)
    true = sum((x - middle) ** 2 for x in xs) / (len(xs) - 1)
    rows = {"rewards": [{"r": value} for value in values]}
    try:
        assert outcome("var", rows).values == {"var": float(true)}
    except OverflowError:
        assert outcome("var", rows).values == {"var": None}
    (found,) = outcome("std", rows).values.values()
    assert found is not None
    # The root rounded once lies between the roots of the two neighbours' halves.
    below, above = Fraction(found) - ulp(found) / 2, Fraction(found) + ulp(found) / 2
    assert max(below, Fraction(0)) ** 2 <= true <= above**2


def ulp(value: float) -> Fraction:
    import math

    return Fraction(math.ulp(value))


@pytest.mark.parametrize("name", reducer_names())
def test_reducers_take_what_their_schema_says(name: str) -> None:
    for kwargs in ({}, {"k": 1}, {"k": 0}, {"threshold": 0.5}, {"k": 2, "method": "available"}):
        try:
            bind_reducer(ReducerSpec(type=name, kwargs=kwargs))
            accepted = True
        except MetricFailure:
            accepted = False
        entry = {"type": "mean", "kwargs": {"reducer": {"type": name, "kwargs": kwargs}}}
        assert VALIDATOR.is_valid(entry) is accepted
