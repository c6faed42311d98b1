"""No mutant of a document ends a command in a traceback, a hang or an unknown exit code."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import fuzz
import pytest

pytestmark = pytest.mark.one_python


@pytest.mark.parametrize("name", fuzz.kinds())
def test_mutants_end_no_command(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    fuzz.fuzz(
        fuzz.kinds()[name], 40, 1, lambda _, command, words: said.append(f"{command}: {words}")
    )
    assert said == []


@pytest.mark.parametrize("name", fuzz.kinds())
def test_brackets_that_nobody_closes_end_no_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harbor_metrics.readers.harbor.job._PAUSE", 0)
    seeds, commands = fuzz.kinds()[name]
    wrong = {}
    for data in fuzz.UNCLOSED:
        for changed in fuzz.with_each_replaced(seeds[0], data, tmp_path):
            for command in (*commands, ("report", changed), ("compare", changed, changed)):
                if said := fuzz.call(command):
                    wrong[changed, command, data[:8]] = said.splitlines()[-3:]
    assert not wrong


def _wholes() -> dict[str, tuple[dict[str, bytes], str, tuple[str, ...]]]:
    """Files, which of them gets another value, and the command that reads all of it."""
    job, logs = fuzz.full_job(), fuzz.HERE / "logs"
    trial = next(name for name in job if name.count("/") > 1)
    (results,) = (logs / "lm_eval" / "0.4.13").glob("results_*.json")
    (samples,) = (logs / "lm_eval" / "0.4.13").glob("samples_answers_*.jsonl")
    said = json.loads(results.read_bytes())
    said = {k: v for k, v in said.items() if k not in ("pretty_env_info", "config")}
    said["configs"] = {"answers": said["configs"]["answers"]}
    run = {"x/" + results.name: json.dumps(said).encode()}
    run["x/" + samples.name] = samples.read_bytes().split(b"\n")[0] + b"\n"
    inspect = json.loads(gzip.decompress((logs / "inspect" / "of-0.3.25.json.gz").read_bytes()))
    inspect["samples"] = inspect["samples"][:2]
    return {
        **{name: (job, name, ("audit", "x")) for name in job if name.count("/") == 1},
        "a trial": (job, trial, ("audit", "x")),
        "two jobs": (job, "x/config.json", ("compare", "x", "x")),
        "a registry's entry": (job, "x/harbor-metrics.snapshot.json", ("compute", "x")),
        "lm-eval, results": (run, "x/" + results.name, ("audit", "x")),
        "lm-eval, a sample": (run, "x/" + samples.name, ("audit", "x")),
        "inspect": ({"x.json": json.dumps(inspect).encode()}, "x.json", ("audit", "x.json")),
    }


@pytest.mark.parametrize("name", _wholes())
def test_no_kind_of_value_at_any_place_ends_a_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harbor_metrics.readers.harbor.job._PAUSE", 0)
    files, changed, command = _wholes()[name]
    for path, data in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    wrong = {}
    for what, data in fuzz.each_kind_at_each_place(files[changed]):
        Path(changed).write_bytes(data)
        if said := fuzz.call(command):
            wrong[what] = said.splitlines()[-3:]
    assert not wrong


def test_what_ends_badly_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kind = fuzz.Kind([{"x.jsonl": b'{"reward": 1}\n'}], (("compute", "x.jsonl"),))
    said: list[str] = []

    def fail() -> int:
        raise RuntimeError("this is what is looked for")

    monkeypatch.setattr("harbor_metrics.cli._call", fail)
    assert fuzz.fuzz(kind, 2, 0, lambda _, command, words: said.append(words)) == 2
    assert all("this is what is looked for" in words for words in said)
    monkeypatch.setattr("harbor_metrics.cli._call", lambda: 4)
    assert fuzz.call(("compute", "x.jsonl")) == "exit 4"
