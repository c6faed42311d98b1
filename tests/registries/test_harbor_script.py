"""The script that `add --for-harbor` writes: where it fetches this package, what its table says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics import UsageError, __version__
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.harbor_script import (
    dependency,
    is_pinned,
    settings_of,
    text,
)
from harbor_metrics.registries.modules import Content
from harbor_metrics.registries.script_file import Script, metadata

WHEEL = f"https://example.org/harbor_metrics-0.1.0-py3-none-any.whl#sha256={'0' * 64}"


def test_dependency_is_one_version_or_one_wheel() -> None:
    assert dependency(released=True, source=None) == f"harbor-metrics=={__version__}"
    assert dependency(released=False, source=WHEEL) == f"harbor-metrics @ {WHEEL}"


@pytest.mark.parametrize(
    ("released", "source", "words"),
    [
        (False, None, "say from where the script gets harbor-metrics, by --released or --from"),
        (True, WHEEL, "two places"),
        (False, WHEEL.partition("#")[0], "with its digest"),
        (False, WHEEL[:-1], "with its digest"),
        (False, WHEEL.replace("https", "http"), "with its digest"),
        (False, WHEEL.replace(".whl", ".tar.gz"), "with its digest"),
    ],
)
def test_anything_else_is_refused(released: bool, source: str | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        dependency(released=released, source=source)


_VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab \"'.é"), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc_", min_size=1), _VALUES))
def test_table_of_the_script_says_the_metric_whatever_its_kwargs(kwargs: dict[str, object]) -> None:
    written = text("quantile", kwargs, "harbor-metrics==1")
    block = metadata(Script("metric.py", Content(written.encode())))
    assert block is not None
    entry = {"type": "quantile", "kwargs": kwargs} if kwargs else "quantile"
    assert block["tool"]["harbor-metrics"] == {"metrics": [entry]}
    assert is_pinned(block)


def test_null_cannot_be_said_in_a_script() -> None:
    with pytest.raises(UsageError, match="null"):
        text("mean", {"key": None}, "harbor-metrics==1")


@pytest.mark.parametrize(
    ("asked", "pinned"),
    [
        (["harbor-metrics==0.1.0"], True),
        (["Harbor_Metrics == 0.1.0", "numpy"], True),
        ([f"harbor-metrics @ {WHEEL}"], True),
        (["harbor-metrics"], False),
        (["harbor-metrics>=0.1"], False),
        (["harbor-metrics==0.*"], False),
        (["harbor-metrics==0.1,!=0.2"], False),
        (["harbor-metrics @ git+https://example.org/x"], False),
        (["harbor-metrics-more==1"], False),
        ([], False),
    ],
)
def test_pinned_is_one_version_or_a_digest(asked: list[str], pinned: bool) -> None:
    assert is_pinned({"dependencies": asked}) is pinned


def test_settings_are_none_where_there_is_no_table() -> None:
    assert settings_of(None) is None
    assert settings_of({"dependencies": []}) is None
    with pytest.raises(MetricFailure, match="an object"):
        settings_of({"tool": {"harbor-metrics": 1}})


def test_json_and_toml_agree_on_what_is_written() -> None:
    assert json.dumps("é", ensure_ascii=False) in text("mean", {"key": "é"}, "harbor-metrics==1")
