"""The samples of lm-eval, `samples_<task>_<stamp>.jsonl`, with or without the results beside them.

A group a task and filter. Dataset: the task (the file's name has it), and behind a colon the
filter's name, unless it is lm-eval's own, `none`. Model: the results file's. Task: the document's
id. A document with several repeats is as many attempts.

Rewards: every metric that is a number is a reward of its name. What is a pair or a longer list is
a reward for each place, counted from 0: `word_perplexity` = (loglikelihood, words) is
`word_perplexity/0` and `word_perplexity/1`, `f1` and `mcc` = (gold, predicted) are `f1/0` and
`f1/1`, `brier_score` = (gold, probabilities) is `brier_score/0`, `brier_score/1/0`,
`brier_score/1/1`, … (written by lm-eval with eight digits). A pair of texts, as `bleu`, `chrf` and
`ter` have, is the texts `reference` and `prediction`; where metrics have different ones, the later
have them as `chrf/reference` and `chrf/prediction`. Otherwise these are the target and the answer
behind the filter.

Labels: `lm-eval/filter`, and the short scalar members of the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from ..diagnostics import Diagnostic, Severity
from ..document import Document
from ..errors import InputError
from ..exact import Number
from ..syntax import printable
from ..table import Trial, in_canonical_order
from . import lenient
from .file import File
from .lines import blocks, salvage
from .lm_eval_results import NO_FILTER, Run, dataset, run_of
from .recognition import FITS, Fit, Head
from .scores import leaves
from .source import REFUSED, Job, Source

KIND = "lm-eval"
_MARKS = ("doc_id", "doc", "target", "filtered_resps", "resps", "arguments")
_ARRAY = re.compile(r"\[[-+0-9.eE\s]+\]")
_LONGEST_LABEL = 100
_TRUTH = {"True": 1, "False": 0}


class _Row(msgspec.Struct, gc=False):
    """The fields of a line that have fixed names; metrics are put in fields of their own."""

    doc_id: int | str | None = None
    doc: Any = None
    target: Any = None
    filtered_resps: Any = None
    filter: str = NO_FILTER
    metrics: list[str] | None = None
    doc_hash: str = ""
    prompt_hash: str = ""
    target_hash: str = ""
    scores_per_repeat: dict[str, list[Any]] | None = None


_FIXED = frozenset(_Row.__struct_fields__) | {"resps", "arguments", "metadata"}


class _MoreMetricsError(ValueError):
    """A line has metrics that no line before it had."""


class _Decoder:
    """Decodes lines into rows with a field a metric, so that prompts and answers are skipped."""

    def __init__(self) -> None:
        self.metrics: dict[str, str] = {}
        self._build()

    def _build(self) -> None:
        fields = [(field, Any, msgspec.UNSET) for field in self.metrics.values()]
        self.row: Any = msgspec.defstruct(
            "Row",
            fields,
            bases=(_Row,),
            rename={field: metric for metric, field in self.metrics.items()},
            gc=False,
        )
        self._decode_lines: Any = msgspec.json.Decoder(self.row).decode_lines

    def _learn(self, names: set[str]) -> None:
        """Make room for metrics; a struct is built for all that were seen."""
        for name in sorted(names - self.metrics.keys() - _FIXED):
            self.metrics[name] = f"m{len(self.metrics)}"
        self._build()

    def block(self, block: bytes) -> list[_Row]:
        """The rows of a block of lines."""
        rows: list[_Row] = self._decode_lines(block)
        if new := self._new(rows, block):
            self._learn(new)
            rows = self._decode_lines(block)
        return rows

    def line(self, line: bytes) -> _Row:
        """The row of a line that may have bare constants."""
        row: _Row = lenient.decode(line, self.row)
        if new := self._new([row], line):
            self._learn(new)
            row = lenient.decode(line, self.row)
        return row

    def _new(self, rows: list[_Row], block: bytes) -> set[str]:
        """Metrics without a field yet; versions that list none have their values last."""
        names: set[str] = set()
        for row in rows:
            if row.metrics is not None:
                names.update(row.metrics)
            else:
                names |= _unlisted(block)
                break
        return names - self.metrics.keys() - _FIXED


def _unlisted(block: bytes) -> set[str]:
    """The names on a line of an older version that are no fixed ones."""
    for line in block.split(b"\n", 1):
        value: dict[str, Any] = lenient.decode(line, dict[str, Any])
        return value.keys() - _FIXED
    return set()


def fit(head: Head) -> Fit:
    """A line with a document's id and what was made of the answers."""
    share = head.share(*_MARKS)
    line = head.line if head.line is not None else head.members
    if isinstance(line, dict) and "doc_id" in line and share >= 0.5:
        return FITS
    absent = [f"`{mark}`" for mark in _MARKS if mark not in head.keys]
    return Fit(share, f"a line has no {' and no '.join(absent[:2])}" if absent else "no lines")


def read(file: File) -> list[Source]:
    """One source, with what its results file says, where there is one beside it.

    Raises:
        InputError: the file holds two runs.
    """
    reading = _Reading(file)
    digest = sha256()
    first_line = 1
    for block in blocks(file.local):
        digest.update(block)
        reading.add(block, first_line)
        first_line += block.count(b"\n")
    return [reading.source(digest.hexdigest())]


class _Reading:
    """The rows so far by filter, what is wrong with lines, and the hash that lm-eval makes."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.decoder = _Decoder()
        self.rows: dict[str, list[_Row]] = {}
        self.places: dict[tuple[str, str], int] = {}
        self.found: list[Diagnostic] = []
        self.unread = 0
        self.hash = sha256()
        self.not_a_number: dict[str, int] = {}

    def add(self, block: bytes, first_line: int) -> None:
        """Read one more block of lines."""
        try:
            rows = self.decoder.block(block)
            numbered: Iterator[tuple[int, _Row]] = iter(_numbered(block, first_line, rows))
        except REFUSED:
            numbered = self._salvaged(block, first_line)
        for number, row in numbered:
            self._keep(number, row)

    def _salvaged(self, block: bytes, first_line: int) -> Iterator[tuple[int, _Row]]:
        path = self.file.path
        for number, row, reasons in salvage(block, first_line, path, self.decoder.line, _explain):
            if reasons:
                self.unread += 1
                self.found += reasons
            else:
                yield number, row

    def _keep(self, number: int, row: _Row) -> None:
        if row.doc_id is None:
            self.unread += 1
            self.found.append(
                Diagnostic(
                    rule="invalid-trial",
                    message=f"{self.file.path}: line {number} has no `doc_id`",
                    path=self.file.path,
                    subject=f"line {number}",
                )
            )
            return
        place = (row.filter, str(row.doc_id))
        first = self.places.setdefault(place, number)
        if first != number:
            raise InputError(
                f"{self.file.path} holds two runs: document {printable(place[1])} with filter "
                f"{printable(row.filter)} stands on line {first} and again on line {number}",
                "give each run in a file of its own",
            )
        self.hash.update((row.doc_hash + row.prompt_hash + row.target_hash).encode())
        self.rows.setdefault(row.filter, []).append(row)

    def source(self, digest: str) -> Source:
        """Everything as one source."""
        path = self.file.path
        n_rows = sum(map(len, self.rows.values()))
        run = run_of(path, self.hash.hexdigest(), list(self.rows), n_rows + self.unread, self.found)
        trials: list[Trial] = []
        groups = [(None, run.model, dataset(run.task, name)) for name in self.rows]
        for name, rows in self.rows.items():
            for row in rows:
                trials += self._trials(row, run, name)
        for metric, count in self.not_a_number.items():
            self.found.append(
                Diagnostic(
                    rule="non-finite-number",
                    severity=Severity.WARNING,
                    message=f"`{printable(metric)}` is NaN {count} times, and counts as missing",
                    path=path,
                    notes=("lm-eval's mean is NaN then, its nanmean leaves them out",),
                )
            )
        trials = in_canonical_order(trials)
        expected = run.n_documents and run.n_documents * len(self.rows)
        repeated = len(trials) > n_rows
        return Source(
            path=path,
            kind=KIND,
            trials=trials,
            sha256=digest,
            unread=[groups[0] if len(groups) == 1 else None] * self.unread,
            diagnostics=self.found,
            job=Job(
                n_agents=max(len(self.rows), 1),
                n_total_trials=None if repeated else expected,
            ),
            reported=run.reported,
        )

    def _trials(self, row: _Row, run: Run, filter_: str) -> Iterator[Trial]:
        group = dataset(run.task, filter_)
        name = str(row.doc_id)
        labels = _labels(row.doc)
        labels["lm-eval/filter"] = filter_
        values = {
            metric: value
            for metric, field in self.decoder.metrics.items()
            if (value := getattr(row, field, msgspec.UNSET)) is not msgspec.UNSET
        }
        repeats = row.scores_per_repeat or {}
        n = max(map(len, repeats.values()), default=0)
        for attempt in range(1, n + 1) if n else (None,):
            if attempt is not None:
                values = {m: v[attempt - 1] for m, v in repeats.items() if len(v) >= attempt}
            try:
                rewards, texts = self._measured(values)
            except _InfiniteError as error:
                self.unread += 1
                self.found.append(self._infinite(name, error.key))
                continue
            if not texts.keys() & {"prediction", "reference"} and not _pairs_only(values):
                texts |= _texts(row, attempt or 1)
            trial = name if attempt is None else f"{name}/{attempt}"
            yield Trial(
                task=name,
                rewards=rewards,
                attempt=attempt,
                trial=trial,
                id=f"{run.id}/{filter_}/{trial}" if run.id else None,
                started_at=run.started_at,
                model=run.model,
                dataset=group,
                texts=texts,
                labels=labels,
            )

    def _measured(
        self, values: dict[str, Any]
    ) -> tuple[dict[str, Number], dict[str, str | list[str]]]:
        rewards: dict[str, Number] = {}
        texts: dict[str, str | list[str]] = {}
        for metric, value in values.items():
            if type(value) in (int, float):
                rewards[metric] = value
                continue
            if (pair := _pair_of_texts(value)) is not None:
                reference, prediction = pair
                if texts.setdefault("reference", reference) != reference or (
                    texts.setdefault("prediction", prediction) != prediction
                ):
                    texts[f"{metric}/reference"] = reference
                    texts[f"{metric}/prediction"] = prediction
                continue
            for key, leaf in leaves(metric, _arrays(value)):
                number = self._number(key, leaf)
                if number is not None:
                    rewards[key] = number
                elif isinstance(leaf, str) and not lenient.constant(leaf):
                    texts[key] = leaf
        return rewards, texts

    def _number(self, key: str, leaf: Any) -> Number | None:
        """A number, a boolean, or a numpy scalar as the text that lm-eval makes of it."""
        if isinstance(leaf, bool):
            return int(leaf)
        if isinstance(leaf, int | float):
            return leaf
        if not isinstance(leaf, str):
            return None
        bare = lenient.constant(leaf)
        if bare == "NaN" or leaf == "nan":
            self.not_a_number[key] = self.not_a_number.get(key, 0) + 1
            return None
        if bare or leaf in ("inf", "-inf"):
            raise _InfiniteError(key)
        if leaf in _TRUTH:
            return _TRUTH[leaf]
        try:
            return float(leaf)
        except ValueError:
            return None

    def _infinite(self, name: str, key: str) -> Diagnostic:
        path = self.file.path
        return Diagnostic(
            rule="non-finite-number",
            message=f"{path}: document {printable(name)}: `{printable(key)}` is infinite",
            path=path,
            subject=f"document {name}",
        )


class _InfiniteError(ValueError):
    """A metric's value is infinite; `key` says which."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _numbered(block: bytes, first_line: int, rows: list[_Row]) -> Iterator[tuple[int, _Row]]:
    """The rows with the numbers of their lines; blank lines have none."""
    if block.count(b"\n") + (block[-1:] != b"\n") == len(rows):
        yield from enumerate(rows, first_line)
        return
    lines = enumerate(block.split(b"\n"), first_line)
    yield from zip((n for n, line in lines if line.strip()), rows, strict=True)


def _pair_of_texts(value: Any) -> tuple[str | list[str], str] | None:
    """Reference or references, and prediction."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str):
        return None
    reference, prediction = value
    if _ARRAY.fullmatch(prediction):
        return None
    if isinstance(reference, list) and reference and all(isinstance(r, str) for r in reference):
        return reference, prediction
    if isinstance(reference, str) and not lenient.constant(reference):
        return reference, prediction
    return None


def _arrays(value: Any) -> Any:
    """The same with numpy arrays, which lm-eval writes as texts, as lists."""
    if isinstance(value, str) and _ARRAY.fullmatch(value):
        return [float(number) for number in value[1:-1].split()]
    if isinstance(value, list):
        return [_arrays(item) for item in value]
    return value


def _pairs_only(values: dict[str, Any]) -> bool:
    """Perplexities have no answer, although lm-eval writes the loglikelihood where it stands."""
    return all(
        isinstance(v, list) and all(type(n) in (int, float) for n in v) for v in values.values()
    )


def _texts(row: _Row, attempt: int) -> dict[str, str | list[str]]:
    answers = row.filtered_resps
    answer = answers[0] if isinstance(answers, list) and answers else answers
    if isinstance(answer, list) and len(answer) >= attempt and row.scores_per_repeat:
        answer = answer[attempt - 1]
    if not isinstance(answer, str) or not isinstance(row.target, str):
        return {}
    return {"reference": row.target, "prediction": answer}


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
