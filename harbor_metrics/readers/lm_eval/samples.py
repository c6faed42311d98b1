"""The samples of lm-eval, `samples_<task>_<stamp>.jsonl`, with or without the results beside them.

A group a task and filter. Dataset: the task (the file's name has it), and behind a colon the
filter's name, unless it is lm-eval's own, `none`. Model: the results file's. Task: the document's
id, and its version the hash of the document. A document with several repeats is as many attempts.

Rewards: every metric that is a number is a reward of its name. What is a pair or a longer list is
a reward for each place, counted from 0: `word_perplexity` = (loglikelihood, words) is
`word_perplexity/0` and `word_perplexity/1`, `f1` and `mcc` = (gold, predicted) are `f1/0` and
`f1/1`, `brier_score` = (gold, probabilities) is `brier_score/0`, `brier_score/1/0`,
`brier_score/1/1`, … (which lm-eval writes with eight digits; here with all, from the
loglikelihoods). A pair of texts, as `bleu`, `chrf` and
`ter` have, is the texts `reference` and `prediction`; where a later metric has other ones in any
document of the filter, it has them as `chrf/reference` and `chrf/prediction` in all. Otherwise
these are the target and the answer behind the filter.

Labels: `lm-eval/filter`, and the short scalar members of the document.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from ...documents.diagnostics import Diagnostic, Severity, Span
from ...documents.document import Document
from ...documents.wording import printable
from ...errors import InputError
from ...numbers.exact import Number
from ...trials.check import check_group
from ...trials.source import REFUSED, Job, Source
from ...trials.trial import GroupKey, Trial
from ..files.file import File
from ..files.lenient import InfiniteError
from ..files.lines import each_line, split
from ..files.names import TwoValuesError
from ..reading import Options, Reading
from ..recognition import FITS, Fit, Head
from .aggregated import aggregated
from .beside import Beside
from .layout import BYPASS, HIGHER_IS_BETTER
from .reported import dataset, is_aggregate
from .results import Run, run_of
from .rows import Decoder, Row
from .scored import Line, Lines, number_of
from .values import Texts, Values, share_texts, texts_of

_MARKS = ("doc_id", "doc", "target", "filtered_resps", "resps", "arguments")
_LONGEST_LABEL = 100
# A mean of equal numbers can be another one in its last digits.
_SLACK = 1e-9
_NONE: dict[str, list[Any]] = {}
# What is no JSON, as an image, stands in a document as Python shows it, with where it lay.
_ADDRESS = b" at 0x"
_ADDRESSES = re.compile(r" at 0x[0-9A-Fa-f]+")


def fit(head: Head) -> Fit:
    """A line with the id of a document, and the answers to it."""
    share = head.share(*_MARKS)
    line = head.line if head.line is not None else head.members
    # One without an id is said by the reader, with its line.
    if isinstance(line, dict) and share >= (0.5 if "doc_id" in line else 0.8):
        return FITS
    absent = [f"`{mark}`" for mark in _MARKS if mark not in head.keys]
    return Fit(share, f"a line has no {' and no '.join(absent[:2])}" if absent else "no lines")


def read(file: File, options: Options) -> list[Source]:
    """One source, with what its results file says, where there is one beside it.

    Raises:
        InputError: the file holds two runs.
    """
    beside: Beside = options.kept.setdefault("lm-eval", Beside())
    samples = _Samples(file, beside, {} if options.with_scores else None)
    for first_line, block in samples.reading.blocks():
        samples.add(block, first_line)
    return [samples.source()]


class _Samples:
    """Makes trials of the lines, and of their hashes the one that lm-eval notes for a task.

    Of which run they are is known at the end: until then `dataset` of a trial is its filter.
    """

    def __init__(self, file: File, beside: Beside, lines: Lines | None = None) -> None:
        self.beside = beside
        # What lm-eval aggregates, where it is asked for.
        self.lines = lines
        self.reading = Reading(file)
        self.path = file.path
        self.decoder = Decoder(file.path)
        self.values = Values()
        # Of each filter its documents, and their lines.
        self.names: dict[str, list[str]] = {}
        self.places: dict[str, array[int]] = {}
        self.hash = sha256()
        # Of each filter the reward keys that a line has: the first such line, and how many.
        self.shapes: dict[tuple[str, ...], tuple[int, int]] = {}
        self.n_unscored = 0
        # Whether the lines that are read just now may have objects in their documents.
        self.has_addresses = False
        # Of each filter the names of its metrics, in the order of its lines, and of their texts.
        self.metrics: dict[str, dict[str, None]] = {}
        self.texts: dict[str, set[str]] = {}

    def add(self, block: bytes, first_line: int) -> None:
        """Read one more block of lines."""
        self.has_addresses = _ADDRESS in block
        lines = split(block)
        numbers: Iterable[int] = range(first_line, first_line + len(lines))
        if not all(lines):
            filled = list(each_line(block, first_line))
            numbers, lines = [number for number, _ in filled], [line for _, line in filled]
        try:
            numbered: Iterable[tuple[int, Row]] = zip(
                numbers, self.decoder.block(lines), strict=True
            )
        except REFUSED:
            numbered = self.reading.salvage(block, first_line, self.decoder.line, _explain)
        for number, row in numbered:
            if row.doc_id is None:
                reason = f"line {number} has no `doc_id`"
                self._refuse(f"line {number}", reason, "invalid-trial")
            else:
                self._add_line(row, str(row.doc_id), number)

    def _add_line(self, row: Row, name: str, number: int) -> None:
        if row.filter not in self.names:
            self.names[row.filter], self.places[row.filter] = [], array("q")
        self.names[row.filter].append(name)
        self.places[row.filter].append(number)
        self.hash.update((row.doc_hash + row.prompt_hash + row.target_hash).encode())
        if self.has_addresses and row.doc_hash:
            row.doc_hash = _without_addresses(row.doc) or row.doc_hash
        self._add_trials(row, name, number)

    def _refuse_two_runs(self) -> None:
        again = []
        for filter_, names in self.names.items():
            if len(set(names)) == len(names):
                continue
            first: dict[str, int] = {}
            lines = zip(names, self.places[filter_], strict=True)
            again += [(n, filter_, name) for name, n in lines if first.setdefault(name, n) != n]
        if again:
            number, filter_, name = min(again)
            line = self.places[filter_][self.names[filter_].index(name)]
            raise InputError(
                f"{self.path} holds two runs: document {printable(name)} with filter "
                f"{printable(filter_)} stands on line {line} and again on line {number}",
                "give each run in a file of its own",
            )

    def _refuse(self, subject: str, reason: str, rule: str) -> None:
        message = f"{self.path}: {reason}"
        self.reading.refuse(Diagnostic(rule=rule, message=message, path=self.path, subject=subject))

    def _add_trials(self, row: Row, name: str, number: int) -> None:
        """One trial, or one for each repeat whose scores the line has."""
        repeats = row.scores_per_repeat or _NONE
        if not all(repeats.values()):
            # Of what has no scores there is the value of the line.
            repeats = {metric: scores for metric, scores in repeats.items() if scores}
        values = dict(self.decoder.values(row))
        if (odd := _contradicted(values, repeats)) is not None:
            reason = f"document {printable(name)}: `{printable(odd)}` is none that its repeats give"
            self._refuse(f"document {name}", reason, "invalid-trial")
            return
        self.metrics.setdefault(row.filter, {}).update(dict.fromkeys(row.metrics or values))
        if self.lines is not None:
            line = Line(values, repeats, row.filtered_resps)
            self.lines.setdefault(row.filter, []).append(line)
        # Of all attempts the same: there can be as many as the document has members.
        labels = {**_labels(row.doc), "lm-eval/filter": row.filter}
        if not repeats:
            self._add_trial(row, name, number, values, None, labels)
            return
        left = list(repeats.items())
        for attempt in range(1, max(map(len, repeats.values())) + 1):
            left = [(metric, scores) for metric, scores in left if len(scores) >= attempt]
            values = {metric: scores[attempt - 1] for metric, scores in left}
            self._add_trial(row, name, number, values, attempt, labels)

    def _add_trial(
        self,
        row: Row,
        name: str,
        number: int,
        values: dict[str, Any],
        attempt: int | None,
        labels: dict[str, Any],
    ) -> None:
        try:
            rewards, texts = self.values.measured(values, row.filtered_resps)
        except InfiniteError as error:
            reason = f"document {printable(name)}: `{printable(error.key)}` is infinite"
            self._refuse(f"document {name}", reason, "non-finite-number")
            return
        except TwoValuesError as error:
            reason = f"document {printable(name)}: two values are called `{printable(error.key)}`"
            self._refuse(f"document {name}", reason, "duplicate-key")
            return
        self.texts.setdefault(row.filter, set()).update(texts)
        # From 0.5 on it stands on the line, as -1.
        if BYPASS in rewards:
            rewards = {key: value for key, value in rewards.items() if key != BYPASS}
        if not rewards and not texts and row.metrics in ([], [BYPASS]):
            # What was not scored has no reward; without any key it would count as 0.
            self.n_unscored += 1
            self._keep(row, name, None, texts, attempt, labels)
            return
        shape = (row.filter, *rewards)
        first, count = self.shapes.get(shape, (number, 0))
        self.shapes[shape] = first, count + 1
        self._keep(row, name, rewards, texts, attempt, labels)

    def _keep(
        self,
        row: Row,
        name: str,
        rewards: dict[str, Number] | None,
        texts: Texts,
        attempt: int | None,
        labels: dict[str, Any],
    ) -> None:
        if "prediction" not in texts:
            texts |= texts_of(row.filtered_resps, row.target, attempt, rewards or {})
        self.reading.trials.append(
            Trial(
                task=name,
                rewards=rewards,
                attempt=attempt,
                trial=name if attempt is None else f"{name}/{attempt}",
                dataset=row.filter,
                task_version=row.doc_hash or None,
                texts=texts,
                labels=labels,
            )
        )

    def _share_texts(self) -> None:
        """Of each filter the texts of a metric have one name in all documents."""
        if not self.values.paired:
            return
        trials = self.reading.trials
        places: dict[str, list[int]] = {}
        for i, trial in enumerate(trials):
            places.setdefault(str(trial.dataset), []).append(i)
        for filter_, at in places.items():
            of_all = share_texts([trials[i].texts for i in at], self.values.paired)
            for i, texts in zip(at, of_all, strict=True):
                trials[i] = msgspec.structs.replace(trials[i], texts=texts)
            self.texts[filter_] = set().union(*of_all)

    def source(self) -> Source:
        """Everything as one source.

        Raises:
            InputError: the file holds two runs.
        """
        self._refuse_two_runs()
        self._share_texts()
        trials = self.reading.trials
        n_rows = sum(map(len, self.places.values()))
        # The hash is over all lines: with one that cannot be read it says nothing.
        run = run_of(self.reading, self.beside, self.hash.hexdigest(), len(self.names), n_rows)
        names = {name: dataset(run.task, name) for name in self.names}
        groups = [check_group(GroupKey(None, run.model, n), self.path) for n in names.values()]
        for i, trial in enumerate(trials):
            trials[i] = msgspec.structs.replace(
                trial,
                dataset=names[str(trial.dataset)],
                model=run.model,
                id=f"{run.id}/{trial.dataset}/{trial.trial}" if run.id else None,
                started_at=run.started_at,
            )
        for metric, count in self.values.not_a_number.items():
            self.reading.note(
                rule="non-finite-number",
                severity=Severity.WARNING,
                message=f"`{printable(metric)}` is NaN {count} times, and counts as missing",
                notes=("lm-eval's mean is NaN then, its nanmean leaves them out",),
            )
        if self.n_unscored:
            self.reading.note(
                rule="unscored-samples",
                message=f"{self.path}: {self.n_unscored} samples were not scored, because lm-eval "
                "ran with --predict_only",
                notes=("lm-eval reports 999 for them",),
            )
        self._say_lacking()
        defaults = self._defaults(names, run)
        only = groups[0] if len(groups) == 1 else None
        expected = run.n_documents and run.n_documents * len(names)
        source = self.reading.source(
            unread=[only] * self.reading.n_unread,
            job=Job(
                n_groups=max(len(names), 1),
                n_total_trials=None if len(trials) > n_rows else expected,
                lacks_trials=run.lacks_tasks
                or any(len(rows) < (run.n_documents or 0) for rows in self.places.values()),
                defaults=defaults,
                # Of its own metrics lm-eval knows it; files of a run can lack it.
                higher_is_better={**run.higher_is_better, **HIGHER_IS_BETTER},
                # Names of groups have a filter's, too, as a task's own name can.
                settings={**run.settings, "task": json.dumps(run.task)},
            ),
            reported=run.reported,
        )
        source.results = run.results
        if self.lines is not None:
            scored = {
                GroupKey(None, run.model, names[filter_]): lines
                for filter_, lines in self.lines.items()
            }
            source.scored = lambda: scored
        return source

    def _defaults(
        self, names: Mapping[str, str | None], run: Run
    ) -> dict[str | None, tuple[dict[str, Any], ...]]:
        """What the results file aggregates of each filter, without one every metric of its lines.

        Args:
            names: what the group of each filter is called.
            run: the run of the samples.
        """
        given: dict[str | None, dict[str, Any]] = {}
        for number in run.reported():
            if "members" not in number.params and is_aggregate(number):
                of_group = given.setdefault(number.group.dataset, {})
                of_group[number.metric] = number.params.get("aggregation")
        keys: dict[str, set[str]] = {}
        for filter_, *rewards in self.shapes:
            keys.setdefault(filter_, set()).update(rewards)
        defaults = {}
        for filter_, name in names.items():
            metrics = given.get(name) or dict.fromkeys(self.metrics.get(filter_, ()))
            texts = self.texts.get(filter_, ())
            found = aggregated(metrics.items(), keys.get(filter_, ()), texts)
            self._say_unknown(found.unknown)
            defaults[name] = tuple(found.entries)
        return defaults

    def _say_unknown(self, metrics: list[str]) -> None:
        for metric in metrics:
            self.reading.note(
                rule="aggregation-unknown",
                message=f"{self.path}: `{printable(metric)}` is aggregated by code of the task's "
                "own, and is not computed unless a metric is asked for",
            )

    def _say_lacking(self) -> None:
        """Say which metrics lack a number on some lines and have one on others, or on all."""
        shapes_of: dict[str, list[tuple[set[str], int, int]]] = {f: [] for f in self.names}
        for (filter_, *keys), (first, count) in self.shapes.items():
            names = {name for key in keys if (name := _place(key))}
            shapes_of[filter_].append((names, first, count))
        for filter_, shapes in shapes_of.items():
            if shapes and not any(self.texts.values()) and not any(names for names, _, _ in shapes):
                listed = ", ".join(f"`{printable(name)}`" for name in self.metrics[filter_])
                self.reading.note(
                    rule="metric-missing",
                    message=f"{self.path}: no sample has a number of {listed}, which they list",
                    notes=("each counts as 0",),
                )
            for name in sorted(set().union(*(names for names, _, _ in shapes))):
                lacking = [(first, count) for names, first, count in shapes if name not in names]
                n = sum(count for _, count in lacking)
                if not n or n == self.values.not_a_number[name]:
                    continue
                line = min(first for first, _ in lacking)
                self.reading.note(
                    rule="metric-missing",
                    message=f"{self.path}: `{printable(name)}` has no number in {n} of "
                    f"{sum(count for _, _, count in shapes)} samples, first on line {line}",
                    span=Span(line, 1, line, 1),
                    notes=("it counts as missing there",),
                )


def _place(key: str) -> str:
    """The key of a single number; of pairs and longer lists only that there is one."""
    metric, slash, _ = key.partition("/")
    return f"{metric}/…" if slash else metric


def _without_addresses(doc: Any) -> str | None:
    """The digest of a document without its addresses, which are others in each run; None of one
    that has none.
    """
    text, n_addresses = _ADDRESSES.subn("", str(doc))
    return sha256(text.encode(errors="backslashreplace")).hexdigest() if n_addresses else None


def _contradicted(values: Mapping[str, Any], repeats: Mapping[str, list[Any]]) -> str | None:
    """A metric whose value is none that its repeats give.

    It lies between those of the repeats, of which it is the mean, or one; what is called their
    mean, or the first, is that.
    """
    for metric, written in repeats.items():
        scores = [number_of(score, None) for score in written]
        if not scores or not all(map(_is_finite, scores)):
            continue
        slack, mean = _SLACK * max(map(abs, scores)), sum(scores) / len(scores)
        ends = {
            metric: (min(scores), max(scores)),
            f"mean({metric})": (mean, mean),
            f"take_first({metric})": (scores[0], scores[0]),
        }
        for name, (low, high) in ends.items():
            value = number_of(values.get(name), None)
            if _is_finite(value) and not low - slack <= value <= high + slack:
                return name
    return None


def _is_finite(value: Any) -> bool:
    # An integer is finite however large, and may be too large for `isfinite`.
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _labels(doc: Any) -> dict[str, Any]:
    if not isinstance(doc, dict):
        return {}
    return {
        key: value
        for key, value in doc.items()
        if type(value) in (int, float, bool)
        or (isinstance(value, str) and len(value) <= _LONGEST_LABEL and "\n" not in value)
    }


def _explain(document: Document, number: int) -> list[Diagnostic]:
    if isinstance(document.value, dict):
        return []
    return [
        document.find(
            [],
            rule="unread-line",
            message=f"line {number} is no sample: not a JSON object",
            subject=f"line {number}",
        )
    ]
