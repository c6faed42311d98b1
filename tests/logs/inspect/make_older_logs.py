"""Makes a log with an older Inspect: `python make_older_logs.py FOLDER`, where one is installed.

`of-0.3.120.eval` and `of-0.3.25.json.gz` beside this file were made so, then transcripts and
tracebacks were left out.
"""

from __future__ import annotations

import sys

from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, mean, scorer, stderr
from inspect_ai.solver import solver

try:
    from inspect_ai.scorer import grouped
except ImportError:
    grouped = None


@solver
def failing():
    async def solve(state, generate):
        if state.sample_id == 3 and state.epoch == 2:
            raise ValueError("boom")
        return state

    return solve


LETTERS = [accuracy(), stderr()] + ([grouped(accuracy(), "kind")] if grouped else [])


@scorer(metrics=LETTERS)
def s():
    async def score(state, target):
        return Score(value="CIPN"[(state.epoch + int(state.sample_id)) % 4], answer="a  b\nc")

    return score


@scorer(metrics={"x": [mean(), stderr()], "y": [mean()]})
def d():
    async def score(state, target):
        return Score(value={"x": 0.1 * int(state.sample_id), "y": 1 if state.epoch == 1 else 0})

    return score


samples = [
    Sample(id=i + 1, input="q", target="t", metadata={"kind": "ab"[i % 2], "n": i})
    for i in range(6)
]
common = {"dataset": samples, "scorer": [s(), d()], "epochs": Epochs(2, ["mean", "max"])}
try:
    task = Task(solver=[failing()], fail_on_error=False, **common)
except TypeError:
    task = Task(**common)
try:
    eval(task, model="mockllm/model", log_dir=sys.argv[1], log_format="eval", display="none")
except TypeError:
    eval(task, model="mockllm/model", log_dir=sys.argv[1])
