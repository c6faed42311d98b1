"""Lines of lm-eval as rows with a field a metric."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lm_eval_logs import line

from harbor_metrics import InputError
from harbor_metrics.readers.lm_eval.rows import Decoder, Row


def lines(*rows: dict[str, Any]) -> list[bytes]:
    return [json.dumps(row).encode() for row in rows]


def values(decoder: Decoder, rows: list[Row]) -> list[dict[str, Any]]:
    return [dict(decoder.values(row)) for row in rows]


def test_listed_metrics_are_read_and_others_are_not() -> None:
    decoder = Decoder()
    rows = decoder.block(lines(line(0, metrics=["acc"], acc=1, other=2)))
    assert values(decoder, rows) == [{"acc": 1}]
    assert (rows[0].doc_id, rows[0].filter, rows[0].target) == (0, "none", "t")


def test_metric_that_a_later_line_lists_is_read_from_all() -> None:
    decoder = Decoder()
    first = decoder.block(lines(line(0, metrics=["acc"], acc=1)))
    later = decoder.block(lines(line(1, metrics=["f1"], f1=0.5), line(2, metrics=["acc"], acc=0)))
    assert values(decoder, first) == [{"acc": 1}]
    assert values(decoder, later) == [{"f1": 0.5}, {"acc": 0}]


def test_line_without_a_list_has_every_field_that_is_not_fixed() -> None:
    decoder = Decoder()
    row = line(0, acc=1, acc_norm=0.5)
    assert values(decoder, decoder.block(lines(row))) == [{"acc": 1, "acc_norm": 0.5}]


def test_fixed_name_is_not_a_metric_though_it_is_listed() -> None:
    decoder = Decoder()
    assert values(decoder, decoder.block(lines(line(0, metrics=["doc_id", "acc"], acc=1)))) == [
        {"acc": 1}
    ]


def test_line_with_a_bare_constant_is_read_alone() -> None:
    decoder = Decoder()
    row = decoder.line(b'{"doc_id": 1, "metrics": ["acc"], "acc": NaN}')
    assert values(decoder, [row]) == [{"acc": "\0NaN"}]


def test_metrics_beyond_what_a_task_has_are_refused() -> None:
    decoder = Decoder("samples.jsonl")
    rows = lines(*(line(i, metrics=[f"m{i}"], **{f"m{i}": 1}) for i in range(2_001)))
    assert len(decoder.block(rows[:-1])) == 2_000
    with pytest.raises(InputError, match=r"samples\.jsonl: its samples have more than 2,000"):
        decoder.block(rows[-1:])
