"""A source is known by what it holds, never by its name; the unknown is refused with reasons."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from conftest import HERE, JOBS, Run

from harbor_metrics import InputError, UsageError, readers

LOGS = HERE / "logs"
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


@pytest.mark.parametrize("name", ["x.json", "x.csv", "x.eval", "noname"])
@pytest.mark.parametrize(
    ("kind", "content"), FORMATS, ids=[f"{k}{i}" for i, (k, _) in enumerate(FORMATS)]
)
def test_known_by_its_content(kind: str, content: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    (source,) = readers.read(str(tmp_path / name))
    assert source.kind == kind
    assert len(source.trials) > 0


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
@pytest.mark.parametrize(
    ("kind", "content"), FORMATS[2:], ids=[f"{k}{i}" for i, (k, _) in enumerate(FORMATS[2:])]
)
def test_packed_is_the_same(kind: str, content: bytes, pack: Any, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed").write_bytes(pack(content))
    (plain,) = readers.read(str(tmp_path / "plain"))
    (packed,) = readers.read(str(tmp_path / "packed"))
    assert packed.kind == plain.kind == kind
    assert list(packed.trials) == list(plain.trials)
    assert packed.sha256 == plain.sha256


def test_packed_in_parts(tmp_path: Path) -> None:
    lines = [f'{{"reward": {i / 7}}}\n'.encode() for i in range(2_000)]
    for name, pack in {"gz": gzip.compress, "zst": zstandard.compress}.items():
        parts = (pack(b"".join(lines[:900])), pack(b""), pack(b"".join(lines[900:])))
        (tmp_path / name).write_bytes(b"".join(parts))
        (source,) = readers.read(str(tmp_path / name))
        assert len(source.trials) == 2_000


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
@pytest.mark.parametrize(("damage", "word"), [("cut", "cut off"), ("flip", "damaged")])
def test_packed_and_damaged(pack: Any, damage: str, word: str, cli: Run, tmp_path: Path) -> None:
    data = bytearray(pack(b'{"reward": 1}\n{"reward": 0.25}\n' * 3 + bytes(range(32, 120))))
    if damage == "cut":
        del data[-6:]
    else:
        data[len(data) // 2 :] = bytes(byte ^ 0x5A for byte in data[len(data) // 2 :])
    (tmp_path / "x").write_bytes(data)
    done = cli("compute", "x")
    assert done.returncode == 3
    assert "x is" in done.stderr
    assert word in done.stderr or damage == "flip"


def test_standard_input(tmp_path: Path) -> None:
    content = b'{"reward": 1}\nnull\n'
    command = [sys.executable, "-m", "harbor_metrics", "compute", "-", "--format", "json"]
    for data in (content, gzip.compress(content), zstandard.compress(content)):
        done = subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["sources"][0]["path"] == "-"
        assert document["groups"][0]["metrics"][0]["values"] == {"mean": 0.5}
    done = subprocess.run(command, input=b"", capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 3
    assert b"- is empty" in done.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            b'{"id": 3, "question": "q", "answer": "a"}\n',
            ["not a rewards JSONL: rewards are flat objects of numbers, and `question` is a"],
        ),
        (
            b'{"doc_id": 1, "doc": {}, "question": "?"}\n',
            ["not lm-eval samples: a line has no `target`", "not a "],
        ),
        (
            b'{"version": 2, "eval": "x", "status": "success"}',
            ["not an Inspect log: it is no object with `plan` and `samples`", "not a "],
        ),
        (
            b'{"eval": {"task": "t"},\n "other": [1,\n2]}',
            ["not an Inspect log", "not evsys rewards"],
        ),
        (b'[{"reward": 1}]', ["not evsys rewards: an item of the array is an object", "JSONL"]),
        (b"name,value\na,1\n", ["not a CSV", "`reward` or `score`", "name, value", "--columns"]),
        (b"problem_id,value\na,1\n", ["not a CSV", "--columns reward=COLUMN"]),
        (b"some prose\nand more\n", ["not JSON lines: line 1"]),
        (b"0.5\n0.25\n", ["bare values", '`{"reward": 0.5}`']),
        (
            b'{"results": {}, "configs": {}, "versions": {}}',
            ["results file of lm-eval", "--log_samples"],
        ),
        (b'{"rewards": {"r": 1}, "attempt": 1}\n', ["not a trials JSONL: a line has no `task`"]),
    ],
)
def test_refused_with_the_two_nearest(
    content: bytes, words: list[str], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_bytes(content)
    done = cli("compute", "x.txt")
    assert (done.returncode, done.stdout) == (3, "")
    for word in words:
        assert word in done.stderr
    if "results file" not in words[0]:
        assert done.stderr.count("; not ") == 2
    assert "a source is" in done.stderr


def test_as_decides_where_the_content_does_not(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"reward": [1]}\n')
    assert "must be a number" in cli("compute", "x").stderr
    done = cli("compute", "x", "--as", "evsys", "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["metrics"][0]["values"] == {"mean": 1}
    done = cli("compute", "x", "--as", "evzys")
    assert done.returncode == 2
    assert "no format `evzys`; the formats are harbor-job, inspect" in done.stderr
    assert cli("compute", "x", "--as", "inspect").returncode == 3
    assert cli("compute", "x", "--as", "harbor-job").returncode == 3
    assert cli("compute", JOBS / "single", "--as", "harbor-job").returncode == 0
    done = cli("compute", JOBS / "single", "--as", "lm-eval")
    assert done.returncode == 3
    assert "no file in it is lm-eval samples" in done.stderr


def test_a_directory_without_any_source(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "notes.txt").write_text("hello\n")
    done = cli("compute", "logs")
    assert done.returncode == 3
    assert "is no Harbor job" in done.stderr
    assert "no file in it is an Inspect log nor lm-eval samples" in done.stderr


def test_columns_of_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not for rewards"):
        readers.read(str(JOBS), as_format="rewards", columns="task=a")
    with pytest.raises(UsageError, match="not FIELD=COLUMN"):
        readers.read(str(JOBS), columns="task")
    with pytest.raises(UsageError, match="given twice"):
        readers.read(str(JOBS), columns="task=a,task=b")


def test_a_bomb_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harbor_metrics.readers.file.MOST_UNPACKED", 1 << 20)
    (tmp_path / "x").write_bytes(zstandard.compress(bytes(3 << 20)))
    with pytest.raises(InputError, match="unpacks to more than 0 GiB, the most that is read"):
        readers.read(str(tmp_path / "x"))


CSV = """problem_id,attempt,score,style,category,model_name,answer,cost_usd
a,1,1,0.5,x,sail-1,"one, and
two",0.25
a,2,0,,x,sail-1,,
b,1,,0.25,007,sail-1,three,0.5
"""


def test_csv_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CSV)
    columns = {"reward.style": "style", "text.prediction": "answer", "reward.score": "score"}
    (source,) = readers.read(str(tmp_path / "t.csv"), columns=columns)
    first, second, third = source.trials
    assert first.rewards == {"score": 1, "style": 0.5}
    assert (first.task, first.attempt, first.model) == ("a", 1, "sail-1")
    assert first.texts == {"prediction": "one, and\ntwo"}
    assert first.labels == {"category": "x"}
    assert first.usage.cost_usd == 0.25
    assert second.rewards == {"score": 0}
    assert third.rewards == {"style": 0.25}
    assert third.labels == {"category": "007"}


@pytest.mark.parametrize(
    ("text", "columns", "code", "words"),
    [
        (CSV, "task=nosuch,reward=score", 3, ["no column `nosuch` for task", "problem_id"]),
        ("task,reward\na,1\nb,high\nc,2\n", "", 1, ["line 3: column `reward`", '"high"']),
        ("task,reward\na,True\n", "", 1, ["finite number", "write 1"]),
        ("task,reward\na,nan\n", "", 1, ["finite number", "leave the cell empty"]),
        ("task,reward\na,1,2\nb,1\n", "", 1, ["line 2 has 3 cells, the header has 2"]),
        ("task,reward,reward\na,1,2\n", "", 3, ["two columns named `reward`"]),
        ("task,attempt,reward\na,x,1\n", "", 1, ["column `attempt` must be an integer"]),
        ("task,reward\n,1\nb,1\n", "", 1, ["line 2: column `task` must be a task's name"]),
        ('task,reward\n"a,1\n', "", 3, ["not CSV"]),
        ("task,reward\n\xff,1\n", "", 0, []),
    ],
)
def test_csv_mistakes(
    text: str, columns: str, code: int, words: list[str], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(text)
    done = cli("compute", "t.csv", "--columns", columns, "--format", "json")
    assert done.returncode == code, done.stderr
    for word in words:
        assert word in done.stderr
    if code == 1:
        groups = json.loads(done.stdout)["groups"]
        assert [group["counts"]["unread"] for group in groups] in ([1], [])


def test_csv_that_is_no_utf_8(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"task,reward\n\xe9,1\n")
    done = cli("compute", "t.csv")
    assert done.returncode == 3
    assert "not UTF-8: byte 0xe9" in done.stderr


EVSYS: list[tuple[bytes, int, list[str]]] = [
    (b"[[1, NaN], [0]]", 1, ["reward 2 of task task:1", "not NaN", "write null"]),
    (b"[[1, Infinity]]", 1, ["not Infinity"]),
    (b"[[1, true]]", 1, ["not a boolean"]),
    (b'[[1, "1"]]', 1, ["not a string"]),
    (b"[[1], [0]", 3, ["not JSON: line 1"]),
    (b"[[1], 0]", 3, ["not evsys", "an item of the array is a number"]),
    (b'{"task_rewards": [[1], [0]], "tasks": ["a"]}', 3, ["rewards of 2 tasks, and names of 1"]),
    (b'{"task_rewards": [[1], [0]], "tasks": ["a", "a"]}', 3, ["two tasks named a"]),
    (b'{"task_rewards": [1]}', 3, ["must be an array, not a number"]),
]


@pytest.mark.parametrize(("content", "code", "words"), EVSYS)
def test_evsys_mistakes(
    content: bytes, code: int, words: list[str], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "e.json").write_bytes(content)
    done = cli("compute", "e.json")
    assert done.returncode == code, done.stderr
    for word in words:
        assert word in done.stderr


def test_evsys_names_and_attempts(tmp_path: Path) -> None:
    (tmp_path / "e").write_text('{"task_rewards": [[1, null], [0.5]], "task_names": ["b", "a"]}')
    (source,) = readers.read(str(tmp_path / "e"))
    assert [(t.task, t.attempt, t.rewards) for t in source.trials] == [
        ("a", 1, {"reward": 0.5}),
        ("b", 1, {"reward": 1}),
        ("b", 2, None),
    ]


def test_a_pipe_gives_little_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(io.RawIOBase):
        data = gzip.compress(b'{"reward": 1}\n')

        def read(self, size: int = -1) -> bytes:
            one, self.data = self.data[:1], self.data[1:]
            return one

    monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": Slow()}))
    (source,) = readers.read("-")
    assert len(source.trials) == 1


FAULTS = [json.loads(line) for line in (HERE / "faults_readers.jsonl").read_text().splitlines()]


def test_a_log_that_is_cut(cli: Run, tmp_path: Path) -> None:
    """Fault J25; J26 and J27 are held where their formats are tested."""
    assert [fault["id"] for fault in FAULTS] == ["J25", "J26", "J27"]
    (fault, *_) = FAULTS
    for part in (0.1, 0.5, 0.9, 0.999):
        data = INSPECT.read_bytes()
        (tmp_path / "x.eval").write_bytes(data[: int(len(data) * part)])
        done = cli("compute", "x.eval")
        assert done.returncode == fault["exit"]
        for word in fault["message_has"]:
            assert word in done.stderr
