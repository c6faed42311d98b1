"""What each kind of value on a line of lm-eval becomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from lm_eval_logs import LOGS, OLD, line, source, write

from harbor_metrics import readers


def test_pairs_and_arrays_become_numbered_rewards() -> None:
    (found,) = readers.read(str(next(OLD.glob("samples_pages_*"))))
    first = found.trials[0]
    assert first.rewards is not None
    assert sorted(first.rewards) == [
        "bits_per_byte/0", "bits_per_byte/1", "byte_perplexity/0", "byte_perplexity/1",
        "word_perplexity/0", "word_perplexity/1",
    ]  # fmt: skip
    assert first.rewards["word_perplexity/1"] == 4
    assert first.texts == {}
    choices = source("three_choices").trials[0].rewards
    assert choices is not None
    assert sum(choices[f"brier_score/1/{i}"] for i in range(3)) == pytest.approx(1)
    assert choices["brier_score/0"] in (0, 1, 2)


def test_pairs_of_texts_are_reference_and_prediction() -> None:
    found = source("sr_gen", LOGS / "selfrun_0.4.13")
    first = found.trials[0]
    assert first.rewards == {"exact_match": 0.0}
    assert first.texts["reference"] == "small jumps sing quick brown in fox birds"
    assert set(first.texts) == {"reference", "prediction"}


@pytest.mark.parametrize(
    ("value", "rewards", "texts"),
    [
        (1, {"m": 1}, {}),
        (0.5, {"m": 0.5}, {}),
        (True, {"m": 1}, {}),
        ("True", {"m": 1}, {}),
        ("0.5", {"m": 0.5}, {}),
        ("1_0", {}, {"m": "1_0"}),
        ([0.1, 3], {"m/0": 0.1, "m/1": 3}, {}),
        ([1, "[0.25 0.75]"], {"m/0": 1, "m/1/0": 0.25, "m/1/1": 0.75}, {}),
        (["ref", "pred"], {}, {"reference": "ref", "prediction": "pred"}),
        ([["r1", "r2"], "pred"], {}, {"reference": ["r1", "r2"], "prediction": "pred"}),
        ({"a": 1, "b": [2]}, {"m/a": 1, "m/b/0": 2}, {}),
        (None, {}, {}),
        ("words", {}, {"m": "words"}),
    ],
)
def test_value_becomes_rewards_or_texts(
    value: Any, rewards: Any, texts: Any, tmp_path: Path
) -> None:
    path = write(tmp_path, [line(metrics=["m"], m=value, filtered_resps=[["x"]])])
    (found,) = readers.read(str(path))
    (trial,) = found.trials
    assert (trial.rewards, trial.texts) == (rewards, texts)
    assert (trial.model, trial.dataset) == (None, None)


def test_metrics_with_different_texts_keep_both(tmp_path: Path) -> None:
    row = line(metrics=["bleu", "chrf"], bleu=["r", "p"], chrf=["R", "P"])
    (found,) = readers.read(str(write(tmp_path, [row])))
    assert found.trials[0].texts == {
        "reference": "r", "prediction": "p", "chrf/reference": "R", "chrf/prediction": "P",
    }  # fmt: skip


SAME, OTHER = ["r", "p"], ["R", "P"]


@pytest.mark.parametrize(
    ("documents", "names"),
    [
        ([{"bleu": SAME, "chrf": SAME}] * 2, [set()] * 2),
        ([{"bleu": SAME, "chrf": SAME}, {"bleu": SAME, "chrf": OTHER}], [{"chrf"}] * 2),
        ([{"bleu": SAME, "chrf": OTHER}, {"chrf": SAME, "bleu": SAME}], [{"chrf"}] * 2),
        ([{"bleu": SAME, "chrf": SAME}, {"bleu": SAME}], [{"chrf"}, set()]),
        ([{"bleu": SAME}, {"chrf": SAME}], [set(), {"chrf"}]),
        ([{"bleu": SAME}, {"acc": 1}], [set()] * 2),
    ],
    ids=str,
)
def test_a_metrics_texts_have_one_name_in_all_documents(
    documents: list[dict[str, Any]], names: list[set[str]], tmp_path: Path
) -> None:
    """Else a metric would leave some of its documents out, or count others' texts."""
    rows = [line(n, metrics=list(own), **own) for n, own in enumerate(documents)]
    (found,) = readers.read(str(write(tmp_path, rows)))
    for own, apart, trial in zip(documents, names, found.trials, strict=True):
        wanted = {"": own["bleu"]} if "bleu" in own else {}
        wanted |= {f"{metric}/": own[metric] for metric in apart}
        assert trial.texts == {
            f"{before}{kind}": text
            for before, pair in wanted.items()
            for kind, text in zip(("reference", "prediction"), pair, strict=True)
        }


def test_a_metric_of_texts_counts_all_its_documents_whatever_another_was_given(
    cli: Run, tmp_path: Path
) -> None:
    """Of bleu as they are, of chrf in small letters: some are the same."""
    pairs = [("the cat sat", "the cat sits"), ("A dog ran", "a Dog ran"), ("on we go", "on we go")]
    small = [[text.lower() for text in pair] for pair in pairs]
    rows = [
        line(n, metrics=["bleu", "chrf"], bleu=list(pair), chrf=lowered)
        for n, (pair, lowered) in enumerate(zip(pairs, small, strict=True))
    ]
    path = write(tmp_path, rows)
    (_, chrf) = json.loads(cli("compute", path, "--format", "json").stdout)["groups"][0]["metrics"]
    (peer,) = chrf["values"].values()
    sacrebleu = pytest.importorskip("sacrebleu")
    references, predictions = zip(*small, strict=True)
    own = sacrebleu.corpus_chrf(predictions, [references]).score
    assert (peer, chrf["n"]) == (pytest.approx(own, rel=1e-12), {"chrf": 3})


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("metrics", "key"),
    [
        ({"acc": [1, 1], "acc/0": 0}, "acc/0"),
        ({"acc": {"a": {"b": True}, "a/b": False}, "f": 1}, "acc/a/b"),
        ({"acc": "[0.25 0.75]", "acc/1": "0.5"}, "acc/1"),
        ({"said": {"a": "x"}, "said/a": "y"}, "said/a"),
    ],
    ids=str,
)
def test_two_values_of_one_key_are_refused(
    metrics: dict[str, Any], key: str, order: int, tmp_path: Path
) -> None:
    names = list(metrics)[::order]
    text = line(metrics=names, **{name: metrics[name] for name in names})
    (found,) = readers.read(str(write(tmp_path, [text])))
    assert (len(found.trials), len(found.unread)) == (0, 1)
    (said,) = [each for each in found.diagnostics if each.rule == "duplicate-key"]
    assert f"two values are called `{key}`" in said.message


def test_what_is_said_twice_alike_is_one_value(tmp_path: Path) -> None:
    metrics = {"acc": [1, 0], "acc/0": 1.0}
    (found,) = readers.read(str(write(tmp_path, [line(metrics=list(metrics), **metrics)])))
    assert found.trials[0].rewards == {"acc/0": 1, "acc/1": 0}
