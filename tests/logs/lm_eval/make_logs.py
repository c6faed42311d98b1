"""Makes the lm-eval logs beside this file: `python make_logs.py VERSION`, where lm-eval is.

A scripted model answers from what the documents plan; no network is needed.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from pathlib import Path

os.environ |= {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "DISABLE_MULTIPROC": "1"}

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

HERE = Path(__file__).parent
WORDS = "a stone by the river near old birds sings of light and rain".split()  # noqa: SIM905
RNG = random.Random(8)


def text(n: int) -> str:
    return " ".join(RNG.choices(WORDS, k=n))


class Scripted(LM):
    """Chances are drawn from the text they are asked for; answers are the planned ones, in turn."""

    def __init__(self, planned: dict[str, list[str]]) -> None:
        super().__init__()
        self.planned = planned
        self.asked: dict[str, int] = {}

    @staticmethod
    def chance(*parts: str) -> float:
        return -8 * random.Random("|".join(parts)).random() - 0.1

    def loglikelihood(self, requests):
        return [(self.chance(*r.args), random.Random(r.args[1]).random() < 0.4) for r in requests]

    def loglikelihood_rolling(self, requests):
        return [self.chance(r.args[0]) * len(r.args[0].split()) for r in requests]

    def generate_until(self, requests):
        answers = []
        for request in requests:
            question = request.args[0]
            n = self.asked.get(question, 0)
            self.asked[question] = n + 1
            answers.append(self.planned[question][n % len(self.planned[question])])
        return answers


def documents() -> dict[str, list[dict]]:
    generate = []
    for i in range(9):
        answer = RNG.choice("ABC")
        planned = [f"{RNG.choice(['I say', 'It is'])} {RNG.choice('ABC')}" for _ in range(4)]
        generate.append(
            {"question": f"Q{i}", "answer": answer, "planned": planned, "topic": "ab"[i % 2]}
        )
    choices = [
        {"question": f"C{i}", "choices": [text(2), text(3)], "gold": RNG.randrange(2)}
        for i in range(14)
    ]
    more = [
        {"question": f"D{i}", "choices": [text(1), text(2), text(2)], "gold": RNG.randrange(3)}
        for i in range(6)
    ]
    pages = [{"page": text(4 + i)} for i in range(7)]
    ends = [{"question": f"E{i}", "target": text(2)} for i in range(8)]
    return {"generate": generate, "choices": choices, "more": more, "pages": pages, "ends": ends}


def tasks(folder: Path) -> list[dict]:
    def common(name: str, data: str, **more: object) -> dict:
        files = {"test": str(folder / f"{data}.jsonl")}
        return {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": files},
            "test_split": "test",
            "doc_to_text": "{{question}}",
            **more,
        }

    generate = {
        "output_type": "generate_until",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n"], "do_sample": True, "temperature": 1.0},
        "metric_list": [
            {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True},
        ],
    }
    letter = {"function": "regex", "regex_pattern": r"([ABC])$"}
    repeated = common(
        "repeated",
        "generate",
        **generate,
        repeats=4,
        filter_list=[{"name": "letter", "filter": [letter]}],
    )
    choice = {"output_type": "multiple_choice", "doc_to_target": "{{gold}}"}
    choice |= {"doc_to_choice": "{{choices}}"}
    return [
        repeated,
        common(
            "answers",
            "generate",
            **generate,
            repeats=4,
            filter_list=[
                {"name": "first", "filter": [letter, {"function": "take_first"}]},
                {
                    "name": "majority",
                    "filter": [
                        letter,
                        {"function": "majority_vote"},
                        {"function": "take_first"},
                    ],
                },
            ],
        ),
        common(
            "two_choices",
            "choices",
            **choice,
            metric_list=[
                {"metric": m} for m in ("acc", "acc_norm", "acc_bytes", "f1", "mcc", "brier_score")
            ],
        ),
        common(
            "three_choices",
            "more",
            **choice,
            metric_list=[{"metric": "acc"}, {"metric": "acc_norm"}, {"metric": "brier_score"}],
        ),
        common(
            "pages",
            "pages",
            output_type="loglikelihood_rolling",
            doc_to_text="",
            doc_to_target="{{page}}",
            metric_list=[
                {"metric": m} for m in ("word_perplexity", "byte_perplexity", "bits_per_byte")
            ],
        )
        | {"doc_to_text": ""},
        common(
            "ends",
            "ends",
            output_type="loglikelihood",
            doc_to_target="{{target}}",
            metric_list=[
                {"metric": "perplexity"},
                {"metric": "acc"},
                {"metric": "acc", "aggregation": "median"},
            ][:2],
        ),
        {
            "group": "both",
            "task": ["two_choices", "three_choices"],
            "aggregate_metric_list": [
                {"metric": "acc", "aggregation": "mean", "weight_by_size": True},
                {"metric": "acc_norm", "aggregation": "mean", "weight_by_size": False},
            ],
        },
    ]


def main(version: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = documents()
        for file, rows in data.items():
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"{file}.jsonl").write_text(lines)
        planned = {row["question"]: row["planned"] for row in data["generate"]}
        import yaml

        (folder / "tasks").mkdir()
        configs = tasks(folder)
        for config in configs:
            file = config.get("group") or config["task"]
            (folder / "tasks" / f"{file}.yaml").write_text(yaml.safe_dump(config))
        manager = TaskManager(include_path=str(folder / "tasks"), include_defaults=False)
        tracker = EvaluationTracker(output_path=str(folder / "out"))
        # The development version scores every repeat, and cannot do the rest with such a model.
        names = ["repeated"] if version.startswith("0.5") else ["answers", "pages", "ends", "both"]
        done = simple_evaluate(
            Scripted(planned),
            tasks=names,
            task_manager=manager,
            bootstrap_iters=200,
            log_samples=True,
            evaluation_tracker=tracker,
        )
        tracker.general_config_tracker.model_name = "scripted"
        tracker.general_config_tracker.model_name_sanitized = "scripted"
        samples = done.pop("samples")
        tracker.save_results_aggregated(results=done, samples=samples)
        for task, rows in samples.items():
            tracker.save_results_samples(task_name=task, samples=rows)
        target = HERE / version
        target.mkdir(exist_ok=True)
        for old in target.iterdir():
            old.unlink()
        for path in (folder / "out").rglob("*.json*"):
            (target / path.name).write_text(path.read_text().replace(str(folder), "data"))


if __name__ == "__main__":
    main(sys.argv[1])
