"""What a name might mean that means nothing by itself."""

from __future__ import annotations

import pytest

from harbor_metrics.catalogue import names, suggestions
from harbor_metrics.catalogue.suggestions import ambiguous, near_type, only_meaning, unknown


@pytest.mark.parametrize(
    ("kind", "name", "meaning"),
    [
        ("metrics", "pass_rate", "evsys/pass_rate"),
        ("metrics", "inspect/accuracy", "inspect/accuracy"),
        ("metrics", "mean", None),
        ("metrics", "uv-script", None),
        ("metrics", "nonesuch", None),
        ("reducers", "take_first", "lm-eval/take_first"),
        ("reducers", "mean", None),
    ],
)
def test_name_of_one_other_system_means_that_alias(
    kind: str, name: str, meaning: str | None
) -> None:
    alias = only_meaning(kind, name)
    assert (alias.name if alias else None) == meaning


def test_name_of_several_systems_must_say_whose_it_is() -> None:
    names = ambiguous("bootstrap_stderr")
    assert {"inspect/bootstrap_stderr", "lm-eval/bootstrap_stderr"} <= set(names)
    assert f"write {' or '.join(names)}" in str(unknown("metrics", "bootstrap_stderr"))
    assert ambiguous("lm-eval/mean") == ambiguous("nonesuch") == []


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("men", "mean"),
        ("uv_script", "uv-script"),
        ("inspect/acuracy", "inspect/accuracy"),
        ("zebra", None),
        ("average", "mean"),
        ("score", "mean"),
        ("p95", "quantile"),
        ("stdev", "std"),
        ("Std_Dev", "std"),
        ("resolved", "pass-rate"),
        ("cost", "cost-per-task"),
    ],
)
def test_nearest_type_is_ours_unless_a_system_is_named(name: str, near: str | None) -> None:
    assert near_type(name) == near


@pytest.mark.parametrize(
    ("name", "meant"),
    [("p95", "quantile q=0.95"), ("P5", "quantile q=0.05"), ("p99.9", "quantile q=0.999")],
)
def test_percentile_is_a_quantile_with_its_share(name: str, meant: str) -> None:
    assert f"did you mean `{meant}`?" in str(unknown("metrics", name))


def test_every_word_for_a_metric_leads_to_one_and_is_none_itself() -> None:
    for word, name in suggestions._IN_OTHER_WORDS.items():
        assert names.known(name), word
        assert not names.known(word), word


def test_reducer_in_place_of_a_metric_is_explained() -> None:
    assert str(unknown("metrics", "majority")) == (
        '`majority` is a reducer: write {"type": "accuracy", "kwargs": {"reducer": "majority"}}'
    )


def test_unknown_reducer_is_named_with_all_that_there_are() -> None:
    failure = unknown("reducers", "majorty")
    assert (failure.rule, failure.kwarg) == ("invalid-metric-kwargs", "reducer")
    assert "unknown reducer `majorty`; did you mean `majority`? (one of: all-first-k" in str(
        failure
    )
