"""A metric that a caller asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_metrics import Column, compute
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.errors import UsageError
from harbor_metrics.evaluation.asked import plan_asked

# What `inspect/accuracy` implies.
SKIPPING = {"reducer": "mean", "missing": "skip"}
CODE = '''
from harbor_metrics import Column
def best(rewards: Column, *, plus: int = 0) -> float:
    """Best reward."""
    return max(rewards.values) + plus
'''


def first(rewards: Column, *, plus: int = 0) -> float:
    """First reward."""
    return rewards.values[0] + plus


@pytest.mark.parametrize(
    ("asked", "name", "type_", "kwargs"),
    [
        ("max", "max", "max", {}),
        (' {"type": "quantile", "kwargs": {"q": 0.5}}', "quantile", "quantile", {"q": 0.5}),
        (MetricSpec(type="mean", kwargs={"key": "r"}), "mean", "mean", {"key": "r"}),
        ("pass_rate", "pass_rate", "pass-rate", {}),
        ("inspect/accuracy", "inspect/accuracy", "accuracy", SKIPPING),
        (first, "first", "first", {}),
        ("pass-at-k k=5 key=reward", "pass-at-k", "pass-at-k", {"k": 5, "key": "reward"}),
        (
            "pass-at-k k=[1,2] threshold=0.5",
            "pass-at-k",
            "pass-at-k",
            {"k": [1, 2], "threshold": 0.5},
        ),
        ("mean key='a b'", "mean", "mean", {"key": "a b"}),
        ("mean key=5", "mean", "mean", {"key": "5"}),
        ("inspect/accuracy key=r", "inspect/accuracy", "accuracy", {**SKIPPING, "key": "r"}),
    ],
)
def test_name_entry_spec_alias_and_function_are_metrics(
    asked: object, name: str, type_: str, kwargs: dict[str, object]
) -> None:
    planned = plan_asked(asked)
    assert (planned.name, planned.spec.type, planned.spec.kwargs) == (name, type_, kwargs)
    assert planned.origin == "command-line"
    assert planned.bound is not None


@pytest.mark.parametrize(
    "asked", ["grouped by=x", '{"type": "grouped"}', MetricSpec(type="grouped", kwargs={"by": "x"})]
)
def test_what_a_metric_lacks_leads_to_what_it_takes(asked: str | MetricSpec) -> None:
    with pytest.raises(UsageError) as refused:
        plan_asked(asked)
    assert refused.value.help == "harbor-metrics explain grouped"


def test_function_of_a_file_stands_beside_the_digest_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    planned = plan_asked(MetricSpec(type=f"{tmp_path}/mine.py:best", kwargs={"plus": 2}))
    assert planned.bound is not None
    assert planned.file is not None
    assert planned.file.path == f"{tmp_path}/mine.py"
    assert planned.bound.arguments == {"plus": 2}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("men", "did you mean `mean`"),
        ("{", "--metric {"),
        ('{"type": "mean", "kwarg": {}}', "kwarg"),
        ('{"type": "mean", "kwargs": {"q": 1}}', "takes no `q`"),
        (lambda rewards: 1, "the first parameter must be a Column or Table"),
        (len, "is no function"),
        ("mean key", "`key` is no kwarg"),
        ("mean =r", "`=r` is no kwarg"),
        ("mean q=1", "takes no `q`"),
        ("pass-at-k k=much", "`k`"),
        ("mean key='r", "no closing quotation"),
        ('{"type": "pass-at-k", "k": 5}', "`k` belongs in `kwargs`"),
        ('{"type": "mean", "key": "r", "missing": "skip"}', "`key` and `missing` belong in"),
        ('{"type": "mean", "kwargs": {"key": ' + "[" * 3_000, "nested deeper than"),
        ('{"a": ' * 3_000, "nested deeper than"),
    ],
)
def test_what_is_not_a_metric_is_refused_with_what_was_asked(asked: object, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan_asked(asked)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ('{"type": "pass-at-k", "k": 5}', '{"type": "pass-at-k", "kwargs": {"k": 5}}'),
        ('{"type": "pass@2", "kwargs": {"key": "r"}, "threshold": 1}', '"threshold": 1}}'),
        ("mean key", "mean NAME=VALUE"),
        ("mine.py", "write mine.py:best, mine.py:worst"),
        ("none.py", "write none.py:FUNCTION; of a metric script, 'uv-script script_path=none.py'"),
        ("a b.py", "write 'a b.py:FUNCTION'; of a metric script, "),
        ("broken.py", "write broken.py:FUNCTION"),
        ("gone.py", "write gone.py:FUNCTION"),
    ],
)
def test_advice_says_what_to_write(
    asked: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(f"{CODE}\ndef worst(x): open('ran', 'w')\ndef _no(): 0\n")
    (tmp_path / "none.py").write_text("open('ran', 'w')")
    (tmp_path / "broken.py").write_text("def f(")
    with pytest.raises(UsageError) as refused:
        plan_asked(asked)
    assert words in refused.value.help
    assert not (tmp_path / "ran").exists()


def test_kwargs_of_a_function_of_a_file_are_typed(tmp_path: Path) -> None:
    (tmp_path / "my file.py").write_text(CODE)
    planned = plan_asked(f"'{tmp_path}/my file.py:best' plus=2")
    assert planned.bound is not None
    assert planned.bound.arguments == {"plus": 2}
    whole = plan_asked(f"{tmp_path}/my file.py:best")
    assert whole.bound is not None


def test_script_that_is_not_there_fails_when_it_would_run() -> None:
    planned = plan_asked("uv-script script_path=gone.py")
    assert planned.failure is not None
    assert planned.bound is None
    with pytest.raises(UsageError, match="needs `script_path`"):
        plan_asked("uv-script")


def test_kwarg_that_a_function_of_a_file_lacks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    with pytest.raises(UsageError, match="did you mean `plus`"):
        plan_asked(MetricSpec(type=f"{tmp_path}/mine.py:best", kwargs={"plsu": 2}))


def test_what_is_no_text_and_no_function_is_no_metric() -> None:
    with pytest.raises(UsageError, match="a text or a function, not dict"):
        plan_asked({"type": "mean"})  # type: ignore[arg-type]


def test_kwargs_of_a_function_that_runs_have_no_password_of_an_address(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        "from harbor_metrics import Column\n\n"
        'def judged(rewards: Column, *, url: str = "") -> float:\n'
        '    """A judge\'s."""\n    return float(len(url))\n'
    )
    (tmp_path / "t.jsonl").write_text('{"task": "t", "rewards": {"reward": 1}}\n')
    url = "https://me:PASSWORD@judge.example/v1?api_key=PASSWORD"
    metric = f"{path}:judged url={url}"
    written = compute(tmp_path / "t.jsonl", metrics=[metric]).to_json()
    assert "judge.example" in written
    assert "PASSWORD" not in written
    assert f'"judged": {float(len(url))}' in written.replace(f"{path}:", "")
