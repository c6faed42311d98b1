"""Makes the Inspect logs of this folder: `python make_logs.py`, where inspect-ai is installed.

Its mock model answers; no network is needed.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ModelAPI
from inspect_ai.model._providers.mockllm import MockLLM
from inspect_ai.scorer import (
    Score,
    accuracy,
    bootstrap_stderr,
    ci,
    ci_wilson,
    frequency,
    grouped,
    mean,
    perplexity_per_seq,
    perplexity_per_token,
    scorer,
    std,
    stderr,
    var,
)
from inspect_ai.solver import solver

HERE = Path(__file__).parent
KINDS = ["math", "math", "law", "law", "law", "art", "art", "art"]


async def count(*args: object, **kwargs: object) -> int:
    """Counting tokens would fetch a vocabulary."""
    return 3


ModelAPI.count_tokens = ModelAPI.count_text_tokens = count
MockLLM.count_tokens = MockLLM.count_text_tokens = count


def samples(n: int = 8) -> list[Sample]:
    return [
        Sample(
            id=i + 1,
            input=f"Question {i + 1}?",
            target=["yes", "y"] if i % 2 else "yes",
            metadata={
                "kind": KINDS[i],
                "cluster": f"c{i % 4}",
                "level": i % 3,
                "nested": {"deep": i},
                "long": "x" * 50,
            },
        )
        for i in range(n)
    ]


@solver
def answering():
    async def solve(state, generate):
        if state.sample_id == 4 and state.epoch == 2:
            raise ValueError("the sandbox is gone")
        state.metadata["epoch"] = state.epoch
        return await generate(state)

    return solve


LETTERS = {
    1: "CCC", 2: "III", 3: "CIC", 4: "C-P", 5: "IPC", 6: "NIC", 7: "PPI", 8: "CCI",
}  # fmt: skip


@scorer(
    metrics=[
        accuracy(),
        mean(),
        std(),
        var(),
        stderr(),
        stderr(cluster="cluster"),
        ci(),
        ci(level=0.9, cluster="cluster"),
        ci_wilson(),
        bootstrap_stderr(num_samples=100),
        grouped(mean(), "kind"),
        grouped(mean(), "kind", all="groups", name_template="by_{group_name}"),
        grouped(stderr(), "level", all=False),
    ]
)
def letters():
    async def score(state, target):
        value = LETTERS[state.sample_id][state.epoch - 1]
        return Score(value=value, answer=f"answer {state.epoch}\n  in lines", explanation="e")

    return score


@scorer(metrics={"a*": [mean(), stderr()], "flag": [accuracy()], "*": [var(), ci()]})
def parts():
    async def score(state, target):
        i, epoch = state.sample_id, state.epoch
        if i == 3:
            return None
        if i == 5:
            return Score.unscored() if hasattr(Score, "unscored") else Score(value=math.nan)
        value = {"a1": i / 7 + epoch, "a2": math.nan if i == 2 else 0.1 * i, "flag": i % 2 == 0}
        return Score(value=value, answer="x")

    return score


@scorer(metrics=[mean(), frequency(), frequency(categories=["high", "low"], normalize=False)])
def words():
    async def score(state, target):
        return Score(value=["yes", "no", "0.25", "C"][state.sample_id % 4], answer="w")

    return score


@scorer(metrics=[perplexity_per_token(), perplexity_per_seq(), mean()])
def loglikelihood():
    async def score(state, target):
        i = state.sample_id
        metadata = {"sum_log_probs": -1.5 * i, "num_tokens": 3 + i}
        return Score(value=-1.5 * i, metadata=metadata)

    return score


@scorer(metrics=[mean(), stderr(), std()])
def lists():
    async def score(state, target):
        return Score(value=[1, 0.5 * state.epoch])

    return score


@scorer(metrics=[{"a": [mean()], "b*": [stderr(), var()]}, accuracy()])
def mixed():
    async def score(state, target):
        return Score(value={"a": "C" if state.epoch == 1 else "I", "b1": True, "b2": 2})

    return score


@scorer(
    metrics=[
        accuracy(),
        stderr(cluster="level"),
        grouped(accuracy(), "level", name_template="level {group_name}", all_label="overall"),
        frequency(),
    ]
)
def numbers():
    async def score(state, target):
        return Score(value="noise" if state.sample_id == 7 else [0, 1, True, 0.5][state.epoch % 4])

    return score


@scorer(metrics=[mean(), stderr(), ci(), grouped(stderr(), "kind", all="groups")])
def nothing():
    async def score(state, target):
        return Score(value=math.nan)

    return score


REDUCERS = [
    "mean", "median", "mode", "max", "pass_at_1", "pass_at_2", "pass_k_2", "at_least_1",
    "at_least_2", "majority",
]  # fmt: skip
TASKS = {
    "reducers": Task(
        name="reducers",
        dataset=samples(),
        solver=answering(),
        scorer=letters(),
        epochs=Epochs(3, REDUCERS),
        fail_on_error=False,
    ),
    "parts": Task(
        name="parts", dataset=samples(), scorer=parts(), epochs=Epochs(2, ["mean", "max"])
    ),
    "scorers": Task(
        name="scorers", dataset=samples(), scorer=[words(), loglikelihood(), letters()]
    ),
    "numbers": Task(
        name="numbers",
        dataset=samples(),
        scorer=[numbers(), nothing(), lists()],
        epochs=Epochs(4, ["mean", "mode", "at_least_3", "pass_k_3", "median", "max"]),
    ),
    "mixed": Task(name="mixed", dataset=samples(4), scorer=mixed(), epochs=Epochs(2, "mode")),
    "one": Task(
        name="one", dataset=samples(1), scorer=letters(), epochs=Epochs(3, ["mean", "pass_at_2"])
    ),
    "unreduced": Task(name="unreduced", dataset=samples(6), scorer=words(), epochs=Epochs(2, [])),
    "failed": Task(name="failed", dataset=samples(), solver=answering(), scorer=words(), epochs=3),
}


def small(log: EvalLog) -> EvalLog:
    """Without transcripts and tracebacks, which are long and name this machine."""
    for sample in log.samples or ():
        sample.events, sample.messages, sample.attachments = [], [], {}
        sample.events_data = None
        for error in (sample.error, log.error):
            if error is not None:
                error.traceback = error.traceback_ansi = ""
    return log


def main(names: list[str]) -> None:
    for name in names or TASKS:
        with tempfile.TemporaryDirectory() as folder:
            (log,) = eval(
                TASKS[name], model="mockllm/model", log_dir=folder, display="none", max_tasks=1
            )
            write_eval_log(small(read_eval_log(log.location)), str(HERE / f"{name}.eval"))


if __name__ == "__main__":
    main(sys.argv[1:])
