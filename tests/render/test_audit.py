"""An audit as a table."""

from __future__ import annotations

from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.render.audit import counts, table


def row(name: str, verdict: Verdict = Verdict.EQUAL, **more: object) -> Row:
    fields = {"path": "x.eval", "group": "a on d", "reported": 0.5, "recomputed": 0.5, **more}
    return Row(name=name, verdict=verdict, **fields)


def test_numbers_stand_beside_each_other_with_the_reason_below() -> None:
    rows = [row("mean"), row("std", Verdict.DIFFERS, reported="Infinity", reason="it is not")]
    assert table(rows, every=False) == (
        "x.eval\n"
        "a on d\n"
        "  number  reported  recomputed\n"
        "  mean         0.5         0.5  equal\n"
        "  std     Infinity         0.5  differs [1]\n"
        "      [1] it is not\n"
    )


def test_each_reason_is_said_once_and_wrapped() -> None:
    rows = [row(f"n{i}", Verdict.EXPLAINED, reason="so it is " * 20) for i in range(3)]
    text = table([*rows, row("m", Verdict.UNVERIFIED, reason="other")], every=False)
    assert text.count("so it is so it is") >= 1
    assert text.count("      [1] so") == 1
    assert [line[-13:] for line in text.splitlines() if "explained" in line] == [
        "explained [1]"
    ] * 3
    assert "unverified [2]\n      [2] other\n" in text
    assert max(map(len, text.splitlines())) <= 80


def test_distance_of_a_drawn_number_stands_beside_its_verdict() -> None:
    drawn = [
        row(f"n{i}", Verdict.UNVERIFIED, reason="drawn", monte_carlo_errors=i) for i in (1.26, 2)
    ]
    text = table(drawn, every=False)
    assert "unverified, 1.3 Monte Carlo errors away [1]" in text
    assert "unverified, 2 Monte Carlo errors away [1]" in text


def test_verdicts_are_counted_apart() -> None:
    rows = [row("a"), row("b", Verdict.EXPLAINED), row("c", Verdict.UNVERIFIED)]
    assert counts(rows) == (
        "3 numbers: 1 equal, 1 explained, 1 unverified, 0 differ without an explanation"
    )
    assert counts([row("d", Verdict.DIFFERS)]) == (
        "1 number: 0 equal, 0 explained, 0 unverified, 1 differs without an explanation"
    )


def test_source_is_named_once_for_all_its_groups() -> None:
    text = table([row("mean"), row("mean", group="b on d"), row("sum")], every=False)
    assert text.count("x.eval") == 1
    assert text.count("a on d") == 1


def test_many_equal_numbers_are_counted_unless_all_are_asked_for() -> None:
    rows = [row(f"n{i}") for i in range(13)]
    assert "  13 numbers are equal (--all shows them)" in table(rows, every=False)
    assert "n12" in table(rows, every=True)
    mixed = [*rows, row("std", Verdict.EXPLAINED, recomputed=None)]
    assert "  13 more numbers are equal" in table(mixed, every=False)
    assert "n12" not in table(mixed, every=False)


def test_long_name_loses_its_middle() -> None:
    name = "a" * 40 + "b" * 40
    assert "a" * 24 + "…" + "b" * 24 in table([row(name)], every=False)
