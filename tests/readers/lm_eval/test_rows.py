"""Lines of lm-eval as rows with a field a metric."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lm_eval_logs import line

from harbor_metrics import InputError
from harbor_metrics.documents.document import KEY_TWICE
from harbor_metrics.readers.lm_eval.rows import Decoder, Row, _are_whole, _members


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


_lines = st.builds(
    lambda own, listed: line(0, **own) | ({} if listed is None else {"metrics": listed}),
    st.dictionaries(st.sampled_from(["acc", "f1", "em"]), st.integers(0, 1)),
    st.none() | st.lists(st.sampled_from(["acc", "f1", "em"]), unique=True),
)


@given(rows=st.lists(_lines, max_size=8), cut=st.integers(0, 8))
def test_metrics_of_a_line_are_its_own_wherever_it_stands(
    rows: list[dict[str, Any]], cut: int
) -> None:
    decoder = Decoder()
    texts = lines(*rows)
    read = [*decoder.block(texts[:cut]), *decoder.block(texts[cut:])]
    alone = []
    for text in texts:
        own = Decoder()
        alone += values(own, [own.line(text)])
    assert values(decoder, read) == alone


@pytest.mark.parametrize(
    ("more", "is_refused"),
    [
        ('"metrics": ["acc"], "acc": {"x": 1, "x": 0}', True),
        ('"acc": [{"x": 1, "\\u0078": 0}]', True),
        ('"metrics": ["acc"], "acc": 1, "scores_per_repeat": {"acc": [1], "acc": [0]}', True),
        ('"metrics": ["acc"], "acc": 1, "doc": {"x": 1, "x": 0}', False),
        ('"metrics": ["acc"], "acc": [1, "a"], "other": {"x": 1, "x": 0}', False),
        ('"metrics": ["acc"], "acc": {"x": 1, "y": 0}', False),
    ],
)
@pytest.mark.parametrize("constant", ["", ', "target": NaN'])
def test_key_that_stands_twice_in_a_score_is_refused(
    more: str, is_refused: bool, constant: str
) -> None:
    text = f'{{"doc_id": 1, {more}{constant}}}'.encode()
    reads = [Decoder().line] if constant else [Decoder().line, lambda text: Decoder().block([text])]
    for read in reads:
        if is_refused:
            with pytest.raises(ValueError, match=KEY_TWICE):
                read(text)
        else:
            read(text)


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "\0"])
@pytest.mark.parametrize("listed", [True, False])
def test_a_name_that_no_field_can_have_refuses_its_line_alone(name: str, listed: bool) -> None:
    decoder = Decoder()
    both = {"acc": 1, name: 1}
    (odd,) = lines(line(0, **both, **({"metrics": list(both)} if listed else {})))
    (plain,) = lines(line(1, metrics=["acc"], acc=0))
    for read in (decoder.line, lambda text: decoder.block([plain, text])):
        with pytest.raises(ValueError, match="has a quote, a backslash or a control character"):
            read(odd)
    assert values(decoder, decoder.block([plain])) == [{"acc": 0}]


@given(st.data())
def test_a_key_that_stands_twice_is_found_however_the_lines_of_its_block_are_written(
    data: st.DataObject,
) -> None:
    spaces = st.sampled_from([(", ", ": "), (",", ":"), (", ", ":"), (" ,", " : ")])
    rows = [line(n, metrics=["acc"], acc=0.5) for n in range(4)]
    texts = [json.dumps(row, separators=data.draw(spaces)) for row in rows]
    which = data.draw(st.integers(0, 3))
    surplus = data.draw(st.integers(1, 40))
    texts[which] = f'{{"acc":1.{"0" * surplus},{texts[which][1:]}'
    with pytest.raises(ValueError, match=KEY_TWICE):
        Decoder().block([text.encode() for text in texts])


@given(st.lists(st.integers(), min_size=1, max_size=5), st.booleans())
def test_lines_are_whole_as_python_writes_them_and_without_a_key_that_stands_twice(
    scores: list[int], twice: bool
) -> None:
    texts = lines(*(line(n, metrics=["acc"], acc=score) for n, score in enumerate(scores)))
    if twice:
        texts[-1] = b'{"acc": 0, ' + texts[-1][1:]
    assert _are_whole(b"\n".join(texts), list(map(_members, texts))) is not twice
