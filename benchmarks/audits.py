"""Are fresh logs audited without a false alarm, and forged ones found?

`python benchmarks/audits.py FOLDER... [--forged N] [--seed N]`: each folder is a log, a run or a
folder of such, as tests/logs/inspect/fresh_logs.py and tests/logs/lm_eval/fresh_logs.py make them.
Every number is audited; then so many verified ones are changed, one at a time. Exit 1 on a false
alarm, and where a changed number is not found.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from harbor_metrics import readers
from harbor_metrics.audits import inspect_numbers, lm_eval_numbers
from harbor_metrics.audits.lm_eval_draws import Replay
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.trials.source import Reported, Source

_LOGS = (".eval", ".json")


def runs(folder: Path) -> Iterator[list[Path]]:
    """The files of each run: a log of Inspect, or all samples of an lm-eval folder."""
    for place, _, names in sorted(os.walk(folder)):
        samples = sorted(Path(place) / name for name in names if name.startswith("samples_"))
        if samples:
            yield samples
            continue
        for name in sorted(names):
            if name.endswith(_LOGS) and not name.startswith("results_"):
                yield [Path(place) / name]


def rows(read: list[Source], source: Source, replay: Replay) -> list[Row]:
    """The rows of one source."""
    if source.kind == "inspect":
        return list(inspect_numbers.rows(source))
    return list(lm_eval_numbers.Run(read, replay).rows(source))


def forged(reported: Reported, rng: random.Random) -> Reported:
    """The number, a little or much greater or smaller."""
    by = rng.choice([1e-9, 1e-6, 1e-3, 0.1]) * rng.choice([-1, 1])
    value = reported.value
    assert value is not None
    if isinstance(value, int) and value < 1000:
        changed: float = value + rng.choice([-1, 1])
    else:
        changed = value + by * max(1, abs(value))
    return msgspec.structs.replace(reported, value=changed)


class Count:
    """What came out so far: numbers by verdict, reasons, and which numbers can be forged."""

    def __init__(self) -> None:
        self.replay = Replay()
        self.verdicts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.verified: list[tuple[list[Source], Source, int]] = []
        self.n_runs = 0

    def add(self, files: list[Path]) -> None:
        """Audit a run."""
        self.n_runs += 1
        read = [source for file in files for source in readers.read(str(file), with_scores=True)]
        for source in read:
            numbers = list(source.reported())
            # Behind those of the numbers are rows of what is missing among them.
            for place, row in enumerate(rows(read, source, self.replay)):
                self._add(row)
                verified = row.verdict in (Verdict.EQUAL, Verdict.EXPLAINED)
                if verified and numbers[place].value is not None:
                    self.verified.append((read, source, place))

    def _add(self, row: Row) -> None:
        self.verdicts[str(row.verdict)] += 1
        if row.verdict in (Verdict.EXPLAINED, Verdict.UNVERIFIED):
            self.reasons[f"{row.verdict}: {row.reason}"] += 1
        elif row.verdict == Verdict.DIFFERS:
            numbers = f"{row.reported} not {row.recomputed}"
            print(f"FALSE ALARM {row.path}: {row.group}: {row.name}: {numbers}: {row.reason}")

    def finds(self, read: list[Source], source: Source, place: int, rng: random.Random) -> bool:
        """Whether a number that is changed differs."""
        honest = source.reported
        numbers = list(honest())
        numbers[place] = other = forged(numbers[place], rng)
        source.reported = partial(iter, numbers)
        seen = rows(read, source, self.replay)
        source.reported = honest
        found = any(
            row.verdict == Verdict.DIFFERS
            and (row.name, row.reported) == (other.place, other.value)
            for row in seen
        )
        if not found:
            print(f"NOT FOUND {source.path}: {other.place}: {other.value}")
        return found


def main() -> int:
    """Audit, forge, and say what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--forged", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    count = Count()
    for folder in given.folders:
        for files in runs(folder):
            count.add(files)
    alarms = count.verdicts[Verdict.DIFFERS]
    total = sum(count.verdicts.values())
    print(f"{count.n_runs} runs, {total} numbers: {dict(count.verdicts)}, {alarms} false alarms")
    for reason, n in count.reasons.most_common():
        print(f"  {n:5} {reason[:150]}")
    chosen = rng.sample(count.verified, min(given.forged, len(count.verified)))
    n_found = sum(count.finds(*which, rng) for which in chosen)
    print(f"{len(chosen)} forged, {n_found} found")
    return 1 if alarms or n_found < len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
