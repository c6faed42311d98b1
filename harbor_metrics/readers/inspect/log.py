"""An Inspect log, `.eval` or `.json`: a group a log and scorer.

Agent: the solver, or the solvers of the plan joined by `+`. Dataset: the task's name, and behind a
colon the scorer's where the log has several. Task: the sample's id. Attempt: the epoch.

Rewards: a scalar score is a reward of the scorer's name, a dict score one of each of its keys, a
list one of `name/0`, `name/1`, …; texts become numbers as in Inspect, `C` 1, `P` 0.5, `I` and `N`
0. NaN, and null inside a dict or list, is unscored: no reward. A sample without any reward says
why in the label `inspect/status`: `error`, `unscored` (the scorer gave NaN) or `missing` (it gave
nothing). Score metadata `sum_log_probs` and `num_tokens` are rewards, for perplexities.

Labels: the sample's metadata, `a.b` for what is nested, and the reader's own, which begin with
`inspect/`: `scorer`, `status`, `limit`, `value` (a score that was text or a boolean; in a dict
`value/KEY`).
Texts: `prediction` is the score's answer, `reference` the target; only where they are asked for or
summaries would not do. Of a small log all samples are read; of a large one whose summaries do, some
are set beside these, and all are read where one is not what its summary says.

Two scores of one key, such as `{"a": [1], "a/0": 0}`, are an error of their sample, and a name that
metadata gives two values is no label of it. Of a key that stands twice in an object the last
counts, as in Inspect; an audit says it of the log and of its results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from ...documents.diagnostics import Severity
from ...documents.wording import plural, printable, shown
from ...errors import InputError
from ...numbers import exact
from ...numbers.exact import Number
from ...trials.check import check_group, check_name
from ...trials.labels import unambiguous
from ...trials.source import Job, Source
from ...trials.trial import NO_USAGE, UNREAD_TEXTS, GroupKey, Texts, Trial, Usage
from ..files.archive import Archive
from ..files.file import File
from ..files.lenient import InfiniteError, constant
from ..files.names import LONGEST, TwoValuesError
from ..files.packed import ZIP
from ..reading import Options, Reading
from ..recognition import FITS, Fit, Head
from .document import HEADER, Header, of_archive, of_document, reductions
from .elsewhere import elsewhere, repeated
from .reported import reported
from .sample import Failure, Sample, Spent
from .scored import Log
from .scores import rewards_of

_MARKS = ("version", "status", "eval", "plan", "samples")
_NUMBERS = (int, float)
# Each makes a trial of each sample, also of those that it gave no score, with labels of its own: a
# trial takes as much memory as ten labels do. So much is read of any log; of larger ones what is so
# many times as much as what the log itself says.
_MOST_SCORERS = 100
_TRIAL, _ANY_LOG, _MOST_TIMES = 10, 5_000_000, 10
_EXCEPTION = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\(")


def fit(head: Head) -> Fit:
    """An archive, or an object with Inspect's members."""
    if head.is_zip:
        return FITS
    value = head.members
    if isinstance(value.get("eval"), dict) and head.share(*_MARKS) >= 0.6:
        return FITS
    absent = [f"`{mark}`" for mark in _MARKS if mark not in value]
    return Fit(head.share(*_MARKS), f"it is no object with {' and '.join(absent[:3]) or '`eval`'}")


def read(file: File, options: Options) -> list[Source]:
    """One source; for their texts samples are read also where their summaries would do.

    Raises:
        InputError: it is not an Inspect log, is damaged, or of a version that is not known.
    """
    reading = Reading(file)
    with open(file.local, "rb") as stream:
        is_zip = stream.read(len(ZIP)) == ZIP
    if is_zip:
        reading.skim()
        with Archive(file) as archive:
            with_texts = options.with_texts
            header, samples, has_texts = of_archive(archive, reading, with_texts=with_texts)
            lacks_texts = not (has_texts or with_texts)
            log = _Log(reading, header, has_texts=has_texts, lacks_texts=lacks_texts)
            log.add(samples)
            behind = reductions(archive, header) if options.with_scores else []
            if options.with_scores and HEADER in archive:
                _look(reading, header, archive.read(HEADER))
    else:
        content = reading.content()
        header, samples, behind = of_document(file.path, content)
        if options.with_scores:
            _look(reading, header, content)
        log = _Log(reading, header, has_texts=True)
        log.add(samples)
    source = log.source()
    if options.with_scores:
        scorers = {group: name for name, group in log.groups.items()}
        scored = Log(header, log.samples, behind, scorers)
        source.scored = lambda: scored
    source.lacks_texts = log.lacks_texts
    return [source]


def _look(reading: Reading, header: Header, data: bytes) -> None:
    """Note for an audit what the text of a header has and a reader of it does not see."""
    reading.diagnostics += repeated(data, reading.path)
    if header.results is not None:
        header.results.passed_over.update(elsewhere(data))


class _Log:
    """Makes trials of the samples, a list a scorer."""

    def __init__(
        self, reading: Reading, header: Header, *, has_texts: bool, lacks_texts: bool = False
    ) -> None:
        self.reading = reading
        self.path = reading.path
        self.header = header
        self.has_texts = has_texts
        self.lacks_texts = lacks_texts
        rows = header.results.scores if header.results else []
        self.scorers = dict.fromkeys(row.scorer for row in rows)
        self.samples: list[Sample] = []
        self.groups: dict[str | None, GroupKey] = {}
        self.unknown: Counter[str] = Counter()
        # The names that metadata gives two values, and how often each.
        self.ambiguous: Counter[str] = Counter()

    def add(self, samples: Iterable[Sample]) -> None:
        """Keep the samples; the scorers are known when all have been seen."""
        for sample in samples:
            self.scorers.update(dict.fromkeys(sample.scores or ()))
            self.samples.append(sample)

    def source(self) -> Source:
        """Everything as one source.

        Raises:
            InputError: there are more scorers than any eval has.
        """
        header = self.header
        if len(self.scorers) > _MOST_SCORERS:
            raise InputError(
                f"{self.path}: its samples have scores of {len(self.scorers):,} scorers; at most "
                f"{_MOST_SCORERS} are read",
                "the scorers of an eval score all of its samples: a scorer for each sample is none",
            )
        check_name(header.eval.eval_id, "eval", self.path)
        self._refuse_two_of_one_name()
        scorers: list[str | None] = list(self.scorers) or [None]
        agent = header.eval.solver or "+".join(step.solver for step in header.plan.steps) or None
        unread: list[GroupKey | None] = []
        makes: list[tuple[str | None, GroupKey, Counter[str]]] = []
        for scorer in scorers:
            task = header.eval.task
            dataset = f"{task}:{scorer}" if len(scorers) > 1 else task
            group = check_group(GroupKey(agent, header.eval.model, dataset), self.path)
            self.groups[scorer] = group
            makes.append((scorer, group, Counter()))
        for sample, labels in self._labelled(len(scorers)):
            for scorer, group, statuses in makes:
                trial = self._trial(sample, labels, scorer, group, statuses)
                if trial is None:
                    unread.append(group)
                else:
                    self.reading.trials.append(trial)
        for _, group, statuses in makes:
            self._say(statuses, group.dataset)
        self._say_of_log()
        results = header.results
        planned = header.planned or (results.total_samples if results is not None else None)
        return self.reading.source(
            unread=unread,
            job=Job(
                n_groups=len(scorers),
                trials_per_sample=len(scorers),
                n_total_trials=planned and planned * len(scorers),
                lacks_trials=header.lacks(self.samples),
                settings=header.settings([*self.scorers]),
                running=header.status == "started",
            ),
            reported=partial(
                reported,
                header.results,
                self.groups.__getitem__,
                unreduced=header.eval.config.unreduced,
            ),
        )

    def _refuse_two_of_one_name(self) -> None:
        """Refuse samples that would be attempts at one task, and are none for Inspect.

        Raises:
            InputError: there are two in one epoch.
        """
        ids: dict[tuple[str, int], Sample] = {}
        for sample in self.samples:
            first = ids.setdefault((str(sample.id), sample.epoch), sample)
            if first is not sample and sample.id is not None:
                same = first.id == sample.id
                what = "twice" if same else f"beside sample {shown(first.id)}"
                raise InputError(
                    f"{self.path} has sample {shown(sample.id)} of epoch {sample.epoch} {what}",
                    "Inspect gives each sample an id of its own; copy the log anew"
                    if same
                    else "the number and the text would be one task: give one of them another id",
                )

    def _labelled(self, n_scorers: int) -> Iterator[tuple[Sample, dict[str, Any]]]:
        """Each sample, and the labels that its trials share.

        Raises:
            InputError: the log has few scores, and so many scorers that they take all memory.
        """
        n_scores = sum(len(sample.scores or ()) for sample in self.samples)
        said, made = _TRIAL * n_scores, 0
        for sample in self.samples:
            labels, ambiguous = _labels(sample)
            self.ambiguous.update(ambiguous)
            said += _TRIAL + len(labels)
            made += n_scorers * (_TRIAL + len(labels))
            check_name(str(sample.id), "sample", self.path)
            if made > max(_ANY_LOG, _MOST_TIMES * said):
                raise InputError(
                    f"{self.path}: {n_scorers} scorers have {n_scores:,} scores of "
                    f"{plural(len(self.samples), 'sample')}: with a trial for each that is missing "
                    f"they would take more than {_MOST_TIMES} times the memory of the log",
                    "the scorers of an eval score all of its samples",
                )
            yield sample, labels

    def _trial(
        self,
        sample: Sample,
        own: Mapping[str, Any],
        scorer: str | None,
        group: GroupKey,
        statuses: Counter[str],
    ) -> Trial | None:
        if sample.id is None:
            return None
        name = f"{sample.id}_epoch_{sample.epoch}"
        labels: dict[str, Any] = {**own, "inspect/scorer": scorer}
        score = (sample.scores or {}).get(scorer) if scorer is not None else None
        rewards: dict[str, Number] | None = None
        if score is not None:
            try:
                rewards = rewards_of(scorer or "", score, labels, self._unknown) or None
            except InfiniteError as error:
                key = printable(error.key)
                self._note_score("non-finite-number", name, f"score `{key}` is infinite")
                return None
            except TwoValuesError as error:
                key = printable(error.key)
                self._note_score("duplicate-key", name, f"two scores are called `{key}`")
                return None
        failure = sample.error.message if isinstance(sample.error, Failure) else sample.error
        if rewards is None:
            status = "error" if failure is not None else "missing" if score is None else "unscored"
            labels["inspect/status"] = status
            statuses[status] += 1
        else:
            statuses["scored"] += 1
        texts: Texts = UNREAD_TEXTS if self.lacks_texts else {}
        if self.has_texts:
            texts["reference"] = sample.target
            if score is not None and isinstance(score.answer, str):
                texts["prediction"] = score.answer
        agent, model, dataset = group
        unique = sample.uuid or self.header.eval.eval_id
        return Trial(
            task=str(sample.id),
            rewards=rewards,
            attempt=sample.epoch,
            trial=name,
            id=f"{unique}/{name}/{scorer}" if unique else None,
            started_at=sample.started_at,
            agent=agent,
            model=model,
            dataset=dataset,
            error=None if failure is None else _exception(failure),
            texts=texts,
            labels=labels,
            usage=_usage(sample),
        )

    def _unknown(self, value: str) -> None:
        self.unknown[value] += 1

    def _note_score(self, rule: str, name: str, what: str) -> None:
        message = f"{self.path}: sample {printable(name)}: {what}"
        self.reading.note(rule=rule, message=message, subject=f"sample {name}")

    def _say(self, statuses: Counter[str], dataset: str | None) -> None:
        words = {"error": "errored", "unscored": "unscored", "missing": "without a score"}
        counted = [f"{n} {word}" for status, word in words.items() if (n := statuses[status])]
        if counted:
            self.reading.note(
                rule="unscored-samples",
                message=f"{dataset}: of {statuses.total()} samples {', '.join(counted)}",
                notes=("they count as 0; Inspect leaves them out, as --missing skip does",),
            )

    def _say_of_log(self) -> None:
        header = self.header
        for sample in self.samples:
            if sample.id is None:
                self.reading.note(
                    rule="invalid-trial",
                    message=f"{self.path}: a sample of epoch {sample.epoch} has no id",
                    advice="Inspect numbers samples that have none; the log was changed",
                )
        if self.unknown:
            (value, _), *_ = self.unknown.most_common(1)
            self.reading.note(
                rule="score-is-text",
                message=f"{self.unknown.total()} scores are texts that are no numbers, such as "
                f"{shown(value)}; they count as 0, as in Inspect",
            )
        if self.ambiguous:
            (label, _), *others = self.ambiguous.most_common()
            more = f", and {plural(len(others), 'other name')}" if others else ""
            self.reading.note(
                rule="duplicate-key",
                severity=Severity.WARNING,
                message=f"{self.path}: metadata has two values called `{printable(label)}`{more}",
                notes=("such a name is no label of a sample that gives it two values",),
                advice="`a.b` is what is called `b` inside `a`: rename one of the two",
            )
        if header.status in ("error", "cancelled"):
            reason = header.error.message.partition("\n")[0][:200] if header.error else ""
            self.reading.note(
                rule="log-not-finished",
                message=f"the eval of {self.path} ended with status {header.status}"
                + (f": {reason}" if reason else ""),
                notes=("the numbers are over the samples that are there",),
            )


def _labels(sample: Sample) -> tuple[dict[str, Any], Collection[str]]:
    """The labels of a sample, and the names of which its metadata has two."""
    metadata = sample.metadata if isinstance(sample.metadata, dict) else {}
    labels, ambiguous = unambiguous(_flat("", metadata)) if metadata else ({}, ())
    limit = sample.limit.get("type") if isinstance(sample.limit, dict) else sample.limit
    if isinstance(limit, str):
        labels["inspect/limit"] = limit
    return labels, ambiguous


def _flat(prefix: str, metadata: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in metadata.items():
        if isinstance(value, dict):
            # Nobody groups by such a name.
            if len(prefix) + len(key) < LONGEST:
                yield from _flat(f"{prefix}{key}.", value)
        elif not isinstance(value, list):
            yield f"{prefix}{key}", constant(value) or value


def _usage(sample: Sample) -> Usage:
    spent = list(sample.model_usage.values()) if isinstance(sample.model_usage, dict) else []
    seconds = sample.total_time if isinstance(sample.total_time, _NUMBERS) else None
    if not spent:
        return NO_USAGE if seconds is None else Usage(seconds=seconds)
    costs = [model.total_cost for model in spent if isinstance(model.total_cost, _NUMBERS)]
    cached = [n for model in spent if (n := model.input_tokens_cache_read) is not None]
    return Usage(
        n_input_tokens=sum(map(_read_tokens, spent)),
        n_cache_tokens=sum(cached) if cached else None,
        n_output_tokens=sum([model.output_tokens for model in spent]),
        cost_usd=exact.total(costs) if costs else None,
        seconds=seconds,
    )


def _read_tokens(spent: Spent) -> int:
    """All input tokens; older logs counted the cached ones in, which their total shows."""
    cached = (spent.input_tokens_cache_read or 0) + (spent.input_tokens_cache_write or 0)
    apart = spent.input_tokens + cached + spent.output_tokens <= spent.total_tokens
    return spent.input_tokens + (cached if apart else 0)


def _exception(message: str) -> str:
    """The exception's type where the message begins with one, else its first words."""
    match = _EXCEPTION.match(message)
    return match.group(1) if match else message.partition("\n")[0][:80] or "error"
