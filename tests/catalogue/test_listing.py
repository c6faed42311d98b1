"""Everything an entry may name; what `list` shows."""

from __future__ import annotations

from harbor_metrics.catalogue.listing import entries, problems

ENTRIES = entries()


def test_family_and_summary_come_from_the_docstrings() -> None:
    (mean,) = (e for e in ENTRIES if (e.kind, e.name) == ("metric", "mean"))
    assert not mean.family.endswith(".")
    assert mean.summary.endswith(".")
    assert {"key", "missing", "reducer"} <= set(mean.kwargs)


def test_families_stand_together_metrics_before_reducers() -> None:
    families = [(e.kind, e.family) for e in ENTRIES if e.of is None]
    assert len(set(families)) == sum(
        here != before for here, before in zip(families, [None, *families], strict=False)
    )
    kinds = [e.kind for e in ENTRIES if e.of is None]
    assert kinds == sorted(kinds)


def test_alias_shows_what_it_stands_for() -> None:
    (alias,) = (e for e in ENTRIES if e.name == "inspect/accuracy")
    assert alias.of == {"type": "accuracy", "kwargs": {"reducer": "mean", "missing": "skip"}}
    assert alias.family == "Names in inspect"


def test_without_plugins_there_is_nothing_to_say_of_them() -> None:
    assert problems() == []
