"""The metrics of an lm-eval task file as entries, and what has no counterpart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harbor_metrics import InputError
from harbor_metrics.registries.lm_eval_task import read

KNOWN = [
    ("output_type: multiple_choice", [{"type": "lm-eval/acc"}, {"type": "lm-eval/acc_norm"}]),
    (
        "output_type: loglikelihood_rolling",
        [
            {"type": "lm-eval/word_perplexity"},
            {"type": "lm-eval/byte_perplexity"},
            {"type": "lm-eval/bits_per_byte"},
        ],
    ),
    (
        "output_type: generate_until\nmetric_list: [{metric: bleu}, {metric: chrf++}]",
        [{"type": "lm-eval/bleu"}, {"type": "lm-eval/chrf++"}],
    ),
    (
        (
            "metric_list:\n- metric: exact_match\n  aggregation: mean\n  higher_is_better: true\n"
            "  ignore_case: true\n  regexes_to_ignore: [',']\n  kwargs: {ignore_case: false}"
        ),
        [
            {
                "type": "lm-eval/exact_match",
                "kwargs": {"ignore_case": False, "regexes_to_ignore": [","]},
            }
        ],
    ),
    (
        "metric_list: [{metric: acc, aggregation: median}]",
        [{"type": "lm-eval/median", "kwargs": {"key": "acc"}}],
    ),
    (
        "metric_list: [{metric: acc, aggregation: nanmean}, {metric: f1}, {metric: mcc}]",
        [
            {"type": "lm-eval/nanmean", "kwargs": {"key": "acc"}},
            {"type": "lm-eval/f1"},
            {"type": "lm-eval/mcc"},
        ],
    ),
    (
        "metric_list: [{metric: mine, aggregation: weighted_perplexity}]",
        [
            {
                "type": "lm-eval/weighted_perplexity",
                "kwargs": {"key": "mine/0", "weight": "mine/1"},
            }
        ],
    ),
    (
        "metric_list: [{metric: acc, reduction: pass@k, k: [1, 3]}]",
        [
            {
                "type": "lm-eval/acc",
                "kwargs": {"reducer": {"type": "lm-eval/pass@k", "kwargs": {"k": k}}},
            }
            for k in (1, 3)
        ],
    ),
    (
        "repeats: 64\nmetric_list: [{metric: exact_match}, {metric: bleu}]",
        [
            {
                "type": "lm-eval/mean",
                "kwargs": {"key": "exact_match", "reducer": "lm-eval/take_first"},
            },
            {"type": "lm-eval/bleu"},
        ],
    ),
    (
        "metric_list: [{metric: matthews_corrcoef}, {metric: acc, reduction: pass@2}]",
        [
            {"type": "lm-eval/matthews_corrcoef"},
            {"type": "lm-eval/acc", "kwargs": {"reducer": "lm-eval/pass@2"}},
        ],
    ),
    (
        "repeats: 4\nmetric_list: [{metric: acc}, {metric: acc_norm, reduction: mean}]",
        [
            {"type": "lm-eval/acc", "kwargs": {"reducer": "lm-eval/take_first"}},
            {"type": "lm-eval/acc_norm", "kwargs": {"reducer": "lm-eval/mean"}},
        ],
    ),
    (
        (
            "metric_list: [{metric: acc}]\nfilter_list:\n"
            "- {name: strict, metric_list: [{metric: exact_match}]}\n- {name: loose}"
        ),
        [{"type": "lm-eval/exact_match"}, {"type": "lm-eval/acc"}],
    ),
    (
        "output_type: multiple_choice\nmetric_list: []",
        [{"type": "lm-eval/acc"}, {"type": "lm-eval/acc_norm"}],
    ),
]


def task(folder: Path, text: str, name: str = "task.yaml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(("text", "entries"), KNOWN)
def test_known_metric_becomes_its_counterpart(
    tmp_path: Path, text: str, entries: list[Any]
) -> None:
    found = read(task(tmp_path, text))
    assert found.entries == entries


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("{metric: acc, aggregation: !function utils.agg}", "the task's own code, utils.agg"),
        ("{metric: acc, aggregation: modal}", "the aggregation `modal` is not known"),
        ("{metric: acc, reduction: best}", "the reduction `best` is not known"),
        ("{metric: exact_match, ignore_cas: true}", "did you mean `ignore_case`"),
        ("{metric: bleu, reduction: mean}", "takes no `reducer`"),
        ("acc", "not a mapping with `metric`"),
        ("{metric: acc_all}", "the answers to one question"),
        ("{metric: acc, 3: 4}", "the name of an option is no text"),
    ],
)
def test_metric_without_a_counterpart_is_named_with_the_reason(
    tmp_path: Path, config: str, words: str
) -> None:
    found = read(task(tmp_path, f"metric_list: [{config}]"))
    assert found.entries == []
    (remark,) = found.remarks
    assert remark.startswith("metric_list[0] has no counterpart: ")
    assert words in remark


def test_code_of_the_task_is_named_and_never_called(tmp_path: Path) -> None:
    text = "metric_list: [{metric: !function utils.score}, {metric: rouge, use_stemmer: true}]"
    found = read(task(tmp_path, text))
    assert found.entries == [
        {"type": "lm-eval/mean", "kwargs": {"key": "score"}},
        {"type": "lm-eval/mean", "kwargs": {"key": "rouge"}},
    ]
    assert "the task's own code" in found.remarks[0]
    assert "computed elsewhere" in found.remarks[1]


def test_included_metrics_count_where_the_task_has_none(tmp_path: Path) -> None:
    task(tmp_path, "output_type: multiple_choice\nmetric_list: [{metric: acc}]", "base.yaml")
    child = task(tmp_path, "include: base.yaml\ntask: child")
    assert read(child).entries == [{"type": "lm-eval/acc"}]
    task(tmp_path, "metric_list: [{metric: mcc}]", "other.yaml")
    first = task(tmp_path, "include: [base.yaml, other.yaml]")
    assert read(first).entries == [{"type": "lm-eval/acc"}]
    own = task(tmp_path, "include: base.yaml\nmetric_list: [{metric: f1}]")
    assert read(own).entries == [{"type": "lm-eval/f1"}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("metric_list: [", "is no YAML"),
        ("- a", "is not a mapping"),
        ("task: x", "has no metrics"),
        ("group: g\ntask: [a, b]", "is a group of tasks"),
        ("include: task.yaml", "includes itself"),
        ("include: nowhere.yaml", "No such file"),
        ("metric_list: {metric: acc}", "must be lists"),
        ("x: !!python/object/apply:os.system [true]", "is no YAML"),
        ('x: !!timestamp "zz"\nmetric_list: [{metric: acc}]', "is no YAML"),
        ("? [1, 2]\n: 3", "is no YAML"),
        ("x: !!int zz", "is no YAML"),
        ("include: 5\nmetric_list: []", "must be a file or a list of files"),
    ],
)
def test_file_that_is_not_a_task_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(task(tmp_path, text))


def test_the_metrics_of_a_task_are_at_most_some_hundreds(tmp_path: Path) -> None:
    """Each of some thousand filters has each of some thousand metrics, in a file of a few KB."""
    filters, metrics = "- {name: f}\n" * 3_000, "- {metric: acc}\n" * 3_000
    path = tmp_path / "m.yaml"
    path.write_text(f"filter_list:\n{filters}metric_list:\n{metrics}")
    matched = read(str(path))
    assert len(matched.entries) == 1
    assert matched.remarks == [
        "metric_list[500] and what follows are left out: 500 metrics are the most"
    ]


def test_a_metric_asks_for_at_most_some_hundred_k(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(f"metric_list: [{{metric: acc, reduction: pass@k, k: {[*range(1, 3_000)]}}}]")
    assert read(str(path)).entries == []
    assert "more than 500 k" in read(str(path)).remarks[0]
