"""`add --from-lm-eval`: the metrics of a task file as entries, and what has no counterpart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

from harbor_metrics import InputError
from harbor_metrics.lm_eval_task import read

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
def test_what_has_a_counterpart(tmp_path: Path, text: str, entries: list[Any]) -> None:
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
def test_what_has_none_is_said(tmp_path: Path, config: str, words: str) -> None:
    found = read(task(tmp_path, f"metric_list: [{config}]"))
    assert found.entries == []
    (remark,) = found.remarks
    assert remark.startswith("metric_list[0] has no counterpart: ")
    assert words in remark


def test_code_of_the_task_is_said_and_never_called(tmp_path: Path) -> None:
    text = "metric_list: [{metric: !function utils.score}, {metric: rouge, use_stemmer: true}]"
    found = read(task(tmp_path, text))
    assert found.entries == [
        {"type": "lm-eval/mean", "kwargs": {"key": "score"}},
        {"type": "lm-eval/mean", "kwargs": {"key": "rouge"}},
    ]
    assert "the task's own code" in found.remarks[0]
    assert "computed elsewhere" in found.remarks[1]


def test_include(tmp_path: Path) -> None:
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
    ],
)
def test_a_file_that_is_no_task(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(task(tmp_path, text))


def test_the_command(cli: Run, tmp_path: Path) -> None:
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps([dataset]))
    path = task(tmp_path, "metric_list: [{metric: acc}, {metric: f1}, {metric: a, aggregation: b}]")
    done = cli("add", registry, "d", "--from-lm-eval", path, "--diff")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("added") == 2
    assert "metric_list[2] has no counterpart" in done.stderr
    assert json.loads(registry.read_text())[0]["extra_metrics"] == [
        {"type": "lm-eval/acc"},
        {"type": "lm-eval/f1"},
    ]
    before = registry.read_bytes()
    again = cli("add", registry, "d", "--from-lm-eval", path)
    assert again.stdout.count("nothing was changed") == 2
    assert registry.read_bytes() == before
    assert cli("validate", registry, "--ignore", "empty-dataset").returncode == 0
    nothing = task(tmp_path, "metric_list: [{metric: a, aggregation: b}]")
    assert cli("add", registry, "d", "--from-lm-eval", nothing).returncode == 1
    assert cli("add", registry, "d", "mean", "--from-lm-eval", path).returncode == 2
    assert cli("add", registry, "d").returncode == 2
