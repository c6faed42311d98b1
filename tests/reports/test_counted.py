"""Trials that were counted show what trials that were kept show."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.reports.tasks import CountedTasks, Tasks
from harbor_metrics.trials.counted import CountedTable
from harbor_metrics.trials.counts import Counts
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

TRIALS = st.lists(
    st.builds(
        Trial,
        task=st.sampled_from("abcd"),
        rewards=st.none() | st.dictionaries(st.sampled_from("pq"), st.integers(-3, 3), max_size=2),
    ),
    min_size=1,
).filter(lambda trials: any("p" in (trial.rewards or {}) for trial in trials))


@given(TRIALS)
def test_counting_changes_no_number(trials: list[Trial]) -> None:
    counts = Counts()
    counts.add(trials)
    kept, counted = Tasks(Table(trials), "p"), CountedTasks(CountedTable(counts), "p")
    assert counted.means == kept.means
    assert counted.spread == kept.spread
    assert (counted.key, counted.n_keys, len(counted)) == (kept.key, kept.n_keys, len(kept))
    assert counted.binary == kept.binary
    assert (counted.fewest_attempts, counted.most_attempts) == (
        kept.fewest_attempts,
        kept.most_attempts,
    )

    def in_any_order(tasks: Tasks) -> dict[str, list[str]]:
        return {t: sorted(map(repr, a.rewards)) for t, a in tasks.attempts(kept.means).items()}

    assert in_any_order(counted) == in_any_order(kept)


@given(TRIALS)
def test_the_spread_is_that_of_the_means(trials: list[Trial]) -> None:
    tasks = Tasks(Table(trials), "p")
    means = [mean for mean, times in tasks.spread for _ in range(times)]
    assert means == sorted(tasks.means.values(), reverse=True)
