"""A content of every format, and how a file is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from conftest import LOGS

from harbor_metrics import InputError, readers

INSPECT = LOGS / "inspect" / "parts.eval"
LM_EVAL = next((LOGS / "lm_eval" / "0.4.13").glob("samples_answers*"))
FORMATS: list[tuple[str, bytes]] = [
    ("inspect", INSPECT.read_bytes()),
    ("inspect", gzip.decompress((LOGS / "inspect" / "log1_reducers_error.json.gz").read_bytes())),
    ("lm-eval", LM_EVAL.read_bytes()),
    ("trials", b'{"task": "a", "rewards": {"r": 1}}\n'),
    ("trials", b'null\n\n{"task": "a", "rewards": null}\n'),
    ("rewards", b'{"reward": 1}\n'),
    ("rewards", b"null\nnull\n"),
    ("rewards", b'{"a": 1, "b": 0.5}\n{"a": 0}\n'),
    ("evsys", b"[[1, 0.5], [0]]"),
    ("evsys", b"[\n  [1, null],\n  []\n]\n"),
    ("evsys", b'{"t1": [1, 0], "t2": [0]}'),
    ("evsys", b'{\n "task_rewards": [[1], [0]],\n "tasks": ["a", "b"]\n}'),
    ("csv", b"task,reward\na,1\n"),
    ("csv", b"\xef\xbb\xbfproblem_id;score\r\na;1\r\n"),
    ("csv", b"name\treward.a\treward.b\nx\t1\t2\n"),
]


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        readers.read(str(path))
    return str(error.value)
