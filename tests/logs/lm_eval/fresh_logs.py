"""Fresh runs for an audit: `python fresh_logs.py FOLDER [SEED [COUNT]]`, where lm-eval is.

Of 0.4 and of 0.5: a seeded choice of documents, output types, metrics, aggregations, filters,
repeats, groups and resamples. A scripted model answers; no network is needed.
`benchmarks/audits.py` audits what it makes.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ |= {
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "DISABLE_MULTIPROC": "1",
    "LMEVAL_DISABLE_MULTIPROC": "1",
}

import yaml
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

WORDS = "a stone by the river near old birds sings of light and rain 北京 naïve".split()  # noqa: SIM905
OF_CHOICES = ("acc", "acc_norm", "acc_bytes", "brier_score", "acc_mutual_info")
OF_CHOICES_0_5 = (
    "bpb", "logprob", "choice_logprob", "choice_prob_norm", "choice_logprob_norm",
    "exact_match_mc", "likelihood",
)  # fmt: skip


class Scripted(LM):
    """Chances and answers are drawn from the text that they are asked for."""

    def __init__(self, seed: float, *, newer: bool) -> None:
        super().__init__()
        self.seed = seed
        self.newer = newer
        self.asked: dict[str, int] = {}

    def rng(self, *parts: object) -> random.Random:
        return random.Random("|".join(map(str, (self.seed, *parts))))

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        rngs = [self.rng(*request.args) for request in requests]
        return [(-8 * rng.random() - 0.1, rng.random() < 0.4) for rng in rngs]

    def loglikelihood_rolling(self, requests: list[Any]) -> list[Any]:
        chances = [-self.rng(r.args[0]).uniform(1, 3) * len(r.args[0].split()) for r in requests]
        # The development version of 0.5 takes pairs alone.
        return [(chance, False) for chance in chances] if self.newer else chances

    def generate_until(self, requests: list[Any]) -> list[str]:
        answers = []
        for request in requests:
            question = request.args[0]
            n = self.asked[question] = self.asked.get(question, 0) + 1
            rng = self.rng(question, n)
            answers.append(f"{rng.choice(['I say', 'It is'])} {rng.choice('ABC')}")
        return answers


def text(rng: random.Random, n: int) -> str:
    return " ".join(rng.choices(WORDS, k=n))


def documents(kind: str, rng: random.Random, n: int) -> list[dict[str, Any]]:
    """The documents of a task of a kind."""
    if kind == "choices":
        k = rng.choice([2, 2, 3, 5])
        return [
            {
                "question": f"C{i} {text(rng, 2)}",
                "choices": [text(rng, rng.randrange(1, 4)) for _ in range(k)],
                "gold": rng.randrange(k),
            }
            for i in range(n)
        ]
    if kind == "rolling":
        return [{"question": f"R{i}", "page": text(rng, 3 + i % 5)} for i in range(n)]
    if kind == "likelihood":
        return [{"question": f"E{i}", "target": text(rng, 2)} for i in range(n)]
    return [{"question": f"Q{i}", "answer": rng.choice("ABC")} for i in range(n)]


def of_kind(kind: str, rng: random.Random, *, newer: bool) -> dict[str, Any]:
    """The configuration of a task of a kind."""
    if kind == "choices":
        # The development version of 0.5 cannot do the last of these.
        metrics = [*OF_CHOICES[:-1], *OF_CHOICES_0_5] if newer else [*OF_CHOICES, "mcc"]
        listed = rng.sample(metrics, rng.randrange(2, len(metrics)))
        return {
            "output_type": "multiple_choice",
            "doc_to_target": "{{gold}}",
            "doc_to_choice": "{{choices}}",
            "metric_list": [{"metric": metric} for metric in listed],
        }
    if kind == "rolling":
        listed = ["word_perplexity", "byte_perplexity", "bits_per_byte"]
        return {
            "output_type": "loglikelihood_rolling",
            "doc_to_text": "",
            "doc_to_target": "{{page}}",
            "metric_list": [{"metric": metric} for metric in rng.sample(listed, 2)],
        }
    if kind == "likelihood":
        more = rng.choice(["mean", "median"])
        return {
            "output_type": "loglikelihood",
            "doc_to_target": "{{target}}",
            "metric_list": [{"metric": "perplexity"}, {"metric": "acc", "aggregation": more}],
        }
    return generated(rng, newer=newer)


def generated(rng: random.Random, *, newer: bool) -> dict[str, Any]:
    """A task of answers, with filters and repeats."""
    letter = {"function": "regex", "regex_pattern": r"([ABC])$"}
    repeats = rng.choice([1, 1, 2, 4, 6])
    first = {"function": "take_first"}
    filters: list[dict[str, Any]] = [{"name": "letter", "filter": [letter]}]
    if not newer:
        filters = [
            {"name": "first", "filter": [letter, first]},
            {"name": "majority", "filter": [letter, {"function": "majority_vote"}, first]},
        ][: rng.randrange(1, 3)]
    aggregation = rng.choice(["mean", "mean", "median", "nanmean"])
    return {
        "output_type": "generate_until",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n"], "do_sample": True, "temperature": 1.0},
        "repeats": repeats,
        "filter_list": filters,
        "metric_list": [
            {"metric": "exact_match", "aggregation": aggregation, "higher_is_better": True}
        ],
    }


def made(folder: Path, number: int, rng: random.Random, *, newer: bool) -> list[str]:
    """Write the tasks of a run and, of some, a group; the names to ask for."""
    names, alike = [], []
    kinds = rng.sample(["choices", "choices", "rolling", "likelihood", "generate"], 3)
    for i, kind in enumerate(kinds):
        name = f"fresh{number}_{i}_{kind}"
        n = rng.choice([2, 5, 9, 20])
        lines = "".join(json.dumps(row) + "\n" for row in documents(kind, rng, n))
        (folder / f"{name}.jsonl").write_text(lines)
        config = {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(folder / f"{name}.jsonl")}},
            "test_split": "test",
            "doc_to_text": "{{question}}",
            **of_kind(kind, rng, newer=newer),
        }
        if kind == "choices":
            config["metric_list"] = [{"metric": "acc"}] + [
                entry for entry in config["metric_list"] if entry["metric"] != "acc"
            ]
            alike.append(name)
        (folder / "tasks" / f"{name}.yaml").write_text(yaml.safe_dump(config))
        names.append(name)
    if len(alike) < 2:
        return names
    group = {
        "group": f"group{number}",
        "task": alike,
        "aggregate_metric_list": [
            {"metric": "acc", "aggregation": "mean", "weight_by_size": rng.random() < 0.5}
        ],
    }
    (folder / "tasks" / f"group{number}.yaml").write_text(yaml.safe_dump(group))
    return [name for name in names if name not in alike] + [f"group{number}"]


def run(target: Path, number: int, rng: random.Random, *, newer: bool) -> None:
    """One run of a few tasks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tasks").mkdir()
        names = made(folder, number, rng, newer=newer)
        manager = TaskManager(include_path=str(folder / "tasks"), include_defaults=False)
        tracker = EvaluationTracker(output_path=str(folder / "out"))
        told: dict[str, Any] = {"predict_only": True} if rng.random() < 0.05 else {}
        done = simple_evaluate(
            Scripted(rng.random(), newer=newer),
            tasks=names,
            task_manager=manager,
            bootstrap_iters=rng.choice([0, 10, 150, 1000]),
            log_samples=True,
            evaluation_tracker=tracker,
            **told,
        )
        tracker.general_config_tracker.model_name = "scripted"
        tracker.general_config_tracker.model_name_sanitized = "scripted"
        samples = done.pop("samples")
        tracker.save_results_aggregated(results=done, samples=samples)
        for task, rows in samples.items():
            tracker.save_results_samples(task_name=task, samples=rows)
        target.mkdir(parents=True, exist_ok=True)
        for path in (folder / "out").rglob("*.json*"):
            (target / path.name).write_bytes(path.read_bytes())


def main(folder: str, seed: int = 1, n: int = 40) -> None:
    """Make so many runs."""
    import lm_eval

    newer = lm_eval.__version__.startswith("0.5")
    refused = 0
    for number in range(n):
        rng = random.Random(f"{seed}/{number}")
        try:
            run(Path(folder) / f"run{number}", number, rng, newer=newer)
        except Exception as error:  # noqa: BLE001  # what lm-eval itself cannot do
            refused += 1
            sys.stderr.write(f"{number}: {type(error).__name__}: {error}\n")
    sys.stderr.write(f"{n} runs, of which lm-eval itself ended {refused} with an error\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
