"""What is beyond a limit is refused by every reader, in the same way wherever it stands."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

from harbor_metrics import InputError, readers
from harbor_metrics.documents.document import parse
from harbor_metrics.documents.limits import MAX_DEPTH

HUGE = "-1" + "0" * 400
_TRIAL = {"task_name": "t", "trial_name": "t__a", "agent_info": {"name": "o"}}
_LOG = {"version": 2, "status": "success", "eval": {"task": "t"}, "plan": {}}
_SAMPLE = {"id": 1, "epoch": 1, "scores": {"s": {"value": 1}}}
_ROW = {"doc_id": 0, "doc": {}, "target": "a", "filtered_resps": ["a"], "acc": 1}


def _of_log(**sample: object) -> str:
    return json.dumps({**_LOG, "samples": [{**_SAMPLE, **sample}]})


# A file of each format, HOLE standing for a number, and one for any value that is passed over.
NUMBERS: dict[str, tuple[str, str]] = {
    "reward of a trial": (
        "job/t__a/result.json",
        json.dumps({**_TRIAL, "verifier_result": {"rewards": {"r": "HOLE"}}}),
    ),
    "tokens of a trial": (
        "job/t__a/result.json",
        json.dumps({**_TRIAL, "agent_result": {"n_output_tokens": "HOLE"}}),
    ),
    "cost of a trial": (
        "job/t__a/result.json",
        json.dumps({**_TRIAL, "agent_result": {"cost_usd": "HOLE"}}),
    ),
    "rewards": ("r.jsonl", '{"r": "HOLE"}\n{"r": 1}\n'),
    "rewards of several keys": ("r.jsonl", '{"s": 1}\n{"r": "HOLE"}\n'),
    "trials": ("t.jsonl", '{"task": "t", "rewards": {"r": "HOLE"}}\n'),
    "cost in trials": (
        "t.jsonl",
        '{"task": "t", "rewards": null, "usage": {"cost_usd": "HOLE"}}\n',
    ),
    "labels in trials": ("t.jsonl", '{"task": "t", "rewards": null, "labels": {"a": "HOLE"}}\n'),
    "score of a sample": ("l.json", _of_log(scores={"s": {"value": "HOLE"}})),
    "scores of a sample": ("l.json", _of_log(scores={"s": {"value": {"a": ["HOLE"]}}})),
    "metric of a document": ("s.jsonl", json.dumps({**_ROW, "acc": "HOLE"}) + "\n"),
    "metrics of a document": ("s.jsonl", json.dumps({**_ROW, "acc": [0, "HOLE"]}) + "\n"),
    "evsys": ("e.json", '[["HOLE", 1]]'),
    "csv": ("t.csv", 'task,reward\nt,"HOLE"\n'),
}
NESTED: dict[str, tuple[str, str, int]] = {
    "trial": ("job/t__a/result.json", json.dumps({**_TRIAL, "more": "HOLE"}), 1),
    "sample": ("l.json", _of_log(messages="HOLE"), 3),
    "metadata": ("l.json", _of_log(metadata={"a": "HOLE"}), 4),
    "document": ("s.jsonl", json.dumps({**_ROW, "doc": "HOLE"}) + "\n", 1),
    "second document": (
        "s.jsonl",
        f"{json.dumps(_ROW)}\n{json.dumps({**_ROW, 'doc_id': 1, 'x': 'HOLE'})}\n",
        1,
    ),
}


def _read(tmp_path: Path, name: str, text: str) -> tuple[int, list[str]]:
    """How many trials of a file are read, and the rules of what is said."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    try:
        (source,) = readers.read(str(tmp_path / name.partition("/")[0]))
    except InputError as error:
        return 0, [str(error)]
    return len(source.trials), [d.rule for d in source.diagnostics]


@pytest.mark.parametrize(("name", "text"), NUMBERS.values(), ids=NUMBERS)
def test_integer_beyond_binary64_is_refused_as_a_float_is(
    name: str, text: str, tmp_path: Path
) -> None:
    as_float = _read(tmp_path, name, text.replace('"HOLE"', "-1e400"))
    as_integer = _read(tmp_path, name, text.replace('"HOLE"', HUGE))
    within = _read(tmp_path, name, text.replace('"HOLE"', HUGE[:300]))
    assert as_integer == as_float
    assert as_integer[1]
    assert (within[0] > 0, within[1]) == (True, [])


@pytest.mark.parametrize(("name", "text", "around"), NESTED.values(), ids=NESTED)
def test_nesting_has_one_limit(name: str, text: str, around: int, tmp_path: Path) -> None:
    def nested(depth: int) -> str:
        return text.replace('"HOLE"', "[" * depth + "]" * depth)

    n, said = _read(tmp_path, name, nested(MAX_DEPTH - around))
    assert (n, said) == (
        text.count('"task_name"') + text.count('"epoch"') + text.count("doc_id"),
        [],
    )
    n, said = _read(tmp_path, name, nested(MAX_DEPTH - around + 1))
    assert n < text.count("doc_id") or n == 0
    assert said


@pytest.mark.parametrize("char", ["[", '{"a":'])
def test_nesting_of_a_document_has_the_same_limit(char: str) -> None:
    close = "]" if char == "[" else "}"
    inner = '"[[[]]]"'
    document, slips = parse((char * MAX_DEPTH + inner + close * MAX_DEPTH).encode(), "")
    assert (document is not None, slips) == (True, [])
    deeper = char * (MAX_DEPTH + 1) + inner + close * (MAX_DEPTH + 1)
    _, (slip,) = parse(deeper.encode(), "")
    assert slip.rule == "too-deep"


@pytest.mark.parametrize("text", [b'{"a":' * 2_000 + b"\xff", b"[" * 1_200 + b"\xff", b"[" * 1_200])
def test_brackets_that_are_never_closed_cost_one_trial(text: bytes, tmp_path: Path) -> None:
    for name in ("a", "b"):
        trial = {**_TRIAL, "trial_name": f"t__{name}", "verifier_result": {"rewards": {"r": 1}}}
        path = tmp_path / f"job/t__{name}/result.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(trial))
    path.write_bytes(text)
    (tmp_path / "job" / "config.json").write_bytes(text)
    (source,) = readers.read(str(tmp_path / "job"))
    assert [trial.trial for trial in source.trials if trial.rewards] == ["t__a"]
    (said,) = [d for d in source.diagnostics if d.path == str(path)]
    assert said.rule == "unread-trial"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [_pipe, _device])
@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "x"),
        ("validate", "x.jsonl"),
        ("validate", "--fix", "x"),
        ("validate", "dataset.toml"),
        ("add", "x", "a", "mean"),
        ("remove", "x", "a", "mean"),
        ("add", "registry.json", "a", "--from-lm-eval", "x"),
        ("compute", "x"),
        ("compute", "r.jsonl", "--registry", "x", "--dataset", "a"),
        ("compute", "r.jsonl", "--labels", "x"),
        ("compute", "r.jsonl", "--metric", "x.py:f"),
        ("audit", "x"),
        ("convert", "x", "-o", "o.jsonl"),
        ("script", "check", "x.py"),
    ],
    ids=" ".join,
)
def test_pipe_or_device_is_not_waited_for(
    make: Callable[[Path], None], arguments: tuple[str, ...], cli: Run, tmp_path: Path
) -> None:
    for name in ("x", "x.jsonl", "dataset.toml", "x.py"):
        make(tmp_path / name)
    (tmp_path / "registry.json").write_text('[{"name": "a", "version": "1", "tasks": []}]')
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    done = cli(*arguments)
    assert done.returncode in (1, 2, 3)
    words = (
        "a pipe or a device",
        "not a regular file",
        "a link to /dev/zero",
        "leads to /dev/zero",
    )
    assert any(text in done.stderr for text in words)


@pytest.mark.parametrize("command", ["validate", "compute"])
def test_script_that_is_a_pipe_is_not_waited_for(command: str, cli: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    script = {"type": "uv-script", "kwargs": {"script_path": "x.py"}}
    dataset = {"name": "a", "version": "1", "description": "", "tasks": [], "metrics": [script]}
    (tmp_path / "registry.json").write_text(json.dumps([dataset]))
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    more = ("r.jsonl", "--dataset", "a", "--registry") if command == "compute" else ()
    done = cli(command, *more, "registry.json")
    assert done.returncode == 1
    assert "x.py" in done.stdout + done.stderr


@pytest.mark.parametrize("lines", ["rewards", "trials"])
def test_keys_that_hardly_a_trial_has_are_refused_beyond_a_number(
    lines: str, cli: Run, tmp_path: Path
) -> None:
    def write(n: int) -> None:
        rows = ({f"k{i}": 1} for i in range(n))
        if lines == "trials":
            rows = ({"task": f"t{i}", "rewards": row} for i, row in enumerate(rows))  # type: ignore[misc]
        (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    write(2_000)
    assert cli("compute", "x.jsonl", "--metric", "count", "--only-asked").returncode == 0
    write(2_001)
    done = cli("compute", "x.jsonl")
    assert done.returncode == 3
    assert "the rewards of 2,001 trials have 2,001 different keys" in done.stderr


def test_many_keys_are_read_where_most_trials_have_them(cli: Run, tmp_path: Path) -> None:
    row = json.dumps({f"k{i}": 1 for i in range(2_500)})
    (tmp_path / "x.jsonl").write_text(f"{row}\n{row}\n" + "null\n" * 3)
    assert cli("convert", "x.jsonl", "-o", "o.jsonl").returncode == 0
