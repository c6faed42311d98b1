"""Calling a function of somebody else so that it can break only itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harbor_metrics.contract.estimate import Estimate, Undefined
from harbor_metrics.contract.strangers import Loaded, Plugin, call, located
from harbor_metrics.errors import MetricFailure


class Like(float):
    """A float of another type, as numpy's."""


class Index:
    """An integer of another type."""

    def __index__(self) -> int:
        return 7


def called(value: Any) -> Any:
    return call("`f`", lambda _: value, None, {})


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1), (0.5, 0.5), (Like(0.5), 0.5), (Index(), 7), (Undefined("no"), Undefined("no"))],
)
def test_what_counts_as_a_number_is_returned_as_a_plain_one(value: Any, number: Any) -> None:
    assert called(value) == number
    assert type(called(value)) is type(number)
    assert called({"a": value}) == {"a": number}


def test_estimate_keeps_what_it_rests_on() -> None:
    assert called(Estimate(value=Like(0.5), n=3)) == Estimate(value=0.5, n=3)


def test_integer_beyond_binary64_is_undefined() -> None:
    assert isinstance(called(10**400), Undefined)


@pytest.mark.parametrize(
    "value", [True, None, "0.5", float("nan"), float("inf"), {}, {1: 0.5}, {"a": None}, [1]]
)
def test_what_is_not_a_finite_number_fails_with_the_name(value: Any) -> None:
    with pytest.raises(MetricFailure, match="`f` returned") as failed:
        called(value)
    assert failed.value.rule == "metric-raised"


@pytest.mark.parametrize("error", [ValueError("no\nlicence"), SystemExit(3), RecursionError()])
def test_exception_fails_the_metric_with_its_place(error: BaseException) -> None:
    def raises(_: object) -> None:
        raise error

    with pytest.raises(MetricFailure, match=r"`f`: test_strangers\.py, line \d+: ") as failed:
        call("`f`", raises, None, {})
    assert type(error).__name__ in str(failed.value)
    assert "\n" not in str(failed.value)


def test_failure_of_a_metric_stays_itself() -> None:
    def raises(_: object) -> None:
        raise MetricFailure("missing-label", "no label")

    with pytest.raises(MetricFailure, match=r"^no label$"):
        call("`f`", raises, None, {})


def test_interrupt_is_not_caught() -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call("`f`", interrupted, None, {})


def test_what_a_stranger_prints_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    def prints(_: object, *, word: str) -> int:
        print(word)  # noqa: T201
        return 1

    assert call("`f`", prints, None, {"word": "aside"}) == 1
    assert capsys.readouterr() == ("", "aside\n")


def test_error_without_a_traceback_has_no_place() -> None:
    assert located(ValueError("a  b")) == "ValueError: a b"


def test_slow_import_is_noted() -> None:
    plugin = Plugin("p", "dist", "1.2", SimpleNamespace())  # type: ignore[arg-type]
    assert Loaded(plugin, len, 0.5).notes == ()
    assert Loaded(plugin, len, 1.25).notes == ("plugin dist 1.2 took 1.2 s to import",)
