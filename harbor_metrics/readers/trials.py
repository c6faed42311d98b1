"""A trials file: one trial a line with its task, and whatever else is known about it."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.document import KEY_TWICE, Document, repeats_a_key
from ..documents.limits import check_integers
from ..numbers.written import integer
from ..trials.check import check_trial
from ..trials.source import REFUSED, Source
from ..trials.trial import Trial
from .counting import count_trials, pays
from .files.file import File
from .files.lines import split
from .files.spool import Spool
from .reading import Options, Reading
from .recognition import FITS, Fit, Head

_decoder = msgspec.json.Decoder(Trial)
_encoder = msgspec.json.Encoder()
# Trials that are counted: without an empty dict for the texts and labels that a trial lacks, which
# takes a tenth of the time.
_brief = msgspec.json.Decoder(
    msgspec.defstruct(
        "Brief",
        [
            (field.name, field.type, None) if field.default_factory is dict
            else (field.name, field.type, *([] if field.required else [field.default]))
            for field in msgspec.structs.fields(Trial)
        ],
        frozen=True, kw_only=True, omit_defaults=True, gc=False, forbid_unknown_fields=True,
    )
)  # fmt: skip
# What a line has, and no more: a trial that is written leaves out what is null.
_Written: Any = msgspec.defstruct(
    "Written", [(name, Any, msgspec.UNSET) for name in Trial.__struct_fields__], gc=False
)
_decode_written = msgspec.json.Decoder(_Written).decode


def fit(head: Head) -> Fit:
    """A first line with a task's name."""
    if isinstance(head.line, dict) and isinstance(head.line.get("task"), str):
        return FITS
    near = head.share(*Trial.__struct_fields__[:2], "attempt", "labels")
    return Fit(near, "a line has no `task`" if "task" not in head.keys else "`task` is no string")


def read(file: File, options: Options) -> list[Source]:
    """One source, its trials in canonical order, or counted where counts will do."""
    if options.counts and (source := count_trials(file, partial(_decode_block, decoder=_brief))):
        return [source]
    reading = Reading(file)
    spool = Spool() if options.spool and pays(file) else None
    trials = reading.trials if spool is None else spool
    for first_line, block in reading.blocks():
        try:
            trials.extend(_decode_block(block))
        except REFUSED:
            rows = reading.salvage(block, first_line, _decode, _explain)
            trials.extend([trial for _, trial in rows])
    return [reading.source(trials=spool)]


def _decode_block(block: bytes, decoder: Any = _decoder) -> list[Trial]:
    """The trials of a block of lines, each decoded by itself; blank lines have none.

    Raises:
        ValueError: a line is not a trial, or a key stands twice in one.
    """
    check_integers(block)
    trials = _decoded_at_once(block, decoder)
    if trials is None:
        trials = list(map(decoder.decode, filter(None, split(block))))
    # Written again a repeated key has lost its quotes. An escaped quote may come as another text.
    n_quotes = block.count(b'"')
    plain = b"\\" not in block or b"\\u0022" not in block
    if plain and _encoder.encode_lines(trials).count(b'"') == n_quotes:
        return trials
    lines = [line for line in split(block) if line]
    if plain and _encoder.encode_lines(map(_decode_written, lines)).count(b'"') == n_quotes:
        return trials
    if any(map(repeats_a_key, lines)):
        raise ValueError(KEY_TWICE)
    return trials


def _decoded_at_once(block: bytes, decoder: Any = _decoder) -> list[Trial] | None:
    """The trials, in two thirds of the time; None where that might not be one a line."""
    n = block.count(b"\n") + (block[-1:] != b"\n")
    # Nowhere inside a value is `}` before `{`: each line ends a value, and the next begins one.
    if block.count(b"}\n{") != n - 1:
        return None
    trials: list[Trial] = decoder.decode_lines(block)
    return trials if len(trials) == n else None


def _decode(line: bytes) -> Trial:
    """The trial of a line; a `reward` alone stands for rewards with that one key, 1.0 for 1."""
    check_integers(line)
    if repeats_a_key(line):
        raise ValueError(KEY_TWICE)
    try:
        return _decoder.decode(line)
    except msgspec.ValidationError:
        value = msgspec.json.decode(line)
        if not isinstance(value, dict):
            raise
        if "attempt" in value:
            value["attempt"] = integer(value["attempt"])
        if "reward" in value and "rewards" not in value:
            reward = value.pop("reward")
            value["rewards"] = None if reward is None else {"reward": reward}
        return msgspec.convert(value, Trial)


def _explain(document: Document, number: int) -> list[Diagnostic]:
    return check_trial(document, f"line {number}")
