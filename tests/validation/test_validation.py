"""A folder of registries/ a rule with what it says, and what validation must never do."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from conftest import HERE, ROOT, Run
from validation.beside_harbor import (
    N_RECORDED,
    RECORDED,
    SEED_RECORDED,
    lay_out,
    own_texts,
    says_where,
    spoilt,
)
from validation.validated import FOLDERS, ONE, rules_of

import harbor_metrics
from harbor_metrics.documents import schemas
from harbor_metrics.render.text import summary, text
from harbor_metrics.validation.rules import LOADING, hints
from harbor_metrics.validation.validation import validate

FAULTS = [
    json.loads(line) for line in (HERE / "validation" / "faults.jsonl").read_text().splitlines()
]
# What a rewards fault is written as; a registry's is registry.json.
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_rule_reports_the_expected_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    found = (p for p in folder.rglob("*") if p.suffix in (".json", ".jsonl", ".toml"))
    (file,) = (str(p.relative_to(folder)) for p in found)
    monkeypatch.chdir(folder)
    # A hint speaks where it is asked for, and is silent otherwise.
    is_hint = folder.name in hints()
    assert not is_hint or not validate(file).found
    report = validate(file, select=["hints"] if is_hint else [])
    printed = text(report.found, report.sources)
    printed += f"\n{summary(report.found, report.n_files, report.n_datasets)}\n"
    printed = printed.replace(str(folder), "<here>")
    expected = folder / "expected.txt"
    if request.config.getoption("--update"):
        expected.write_text(printed, encoding="utf-8")
    assert folder.name in {d.rule for d in report.found}
    assert printed == expected.read_text(encoding="utf-8")
    found = [d.as_json() for d in report.found]
    jsonschema.Draft202012Validator(schemas.bundled("diagnostics")).validate(found)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f["id"])
def test_known_fault_is_reported_at_its_place(
    fault: dict[str, object], cli: Run, tmp_path: Path
) -> None:
    content = DEEP if fault["id"] == "W18" else str(fault["text"] or "")
    (tmp_path / "file").write_bytes(content.encode("utf-8", "surrogatepass"))
    done = cli("validate", "file", "--format", "json")
    assert done.returncode == fault["exit"]
    found = json.loads(done.stdout)
    if fault["position"]:
        assert fault["position"] in [[d["line"], d["column"]] for d in found]
    said = " ".join(" ".join([d["message"], *d["notes"], d["help"]]) for d in found)
    for words in fault["message_has"]:
        assert words in said
    assert cli("validate", "file").returncode == fault["exit"]


@pytest.mark.parametrize("kind", ["registry", "manifest"])
def test_no_verdict_is_milder_than_harbors(kind: str, tmp_path: Path) -> None:
    """Whatever Harbor 0.25 does not load, or cannot make a job of, is an error that says so.

    `beside_harbor.py` has recorded what Harbor does, and asks it about many more.
    """
    verdicts = json.loads(RECORDED.read_text())[kind]
    assert len(verdicts) == N_RECORDED[kind]
    assert all(verdicts.count(verdict) > 5 for verdict in {*verdicts})
    lay_out(tmp_path)
    path = tmp_path / ("registry.json" if kind == "registry" else "dataset.toml")
    texts = spoilt(kind, own_texts(kind), len(verdicts), SEED_RECORDED)
    for verdict, mutant in zip(verdicts, texts, strict=True):
        path.write_bytes(mutant.encode("utf-8", "surrogatepass"))
        report = validate(path)
        if verdict != "L":
            assert not report.ok, mutant
            assert says_where(report, verdict), mutant
        text(report.found, report.sources)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("null", ["not-a-registry"]),
        ("42", ["not-a-registry"]),
        ("{}", ["not-a-registry"]),
        ('{"reward": 1}', ["not-a-registry"]),
        ('{"datasets":[]}', ["not-a-registry"]),
        ('{"name":"a"}', ["not-a-registry"]),
        ("[null]", ["wrong-type"]),
        (json.dumps([{**ONE, "name": ["x"]}]), ["wrong-type"]),
        (json.dumps([{**ONE, "tasks": {}}]), ["wrong-type"]),
        (json.dumps([{**ONE, "metrics": [None, 5]}]), ["wrong-type", "wrong-type"]),
        (json.dumps([{**ONE, "metrics": [{"type": []}]}]), ["wrong-type"]),
        (
            json.dumps([{**ONE, "metrics": [{"type": "uv-script", "kwargs": None, "x": 1}]}]),
            ["wrong-type", "unknown-metric-field"],
        ),
        (json.dumps([ONE]).replace("version", "versoin"), ["unknown-field"]),
        (json.dumps([ONE]).replace("path", "pth"), ["unknown-field"]),
        (
            json.dumps([{**ONE, "metrics": [{"type": "uv-script", "kwarg": {}}]}]),
            ["unknown-metric-field"],
        ),
        (
            json.dumps([{**ONE, "metrics": [{"type": "uv_script", "script_path": "m"}]}]),
            ["unknown-metric-type"],
        ),
        (json.dumps([{**ONE, "tasks": ONE["tasks"] * 2}]), ["duplicate-task"]),
        (json.dumps([{**ONE, "metrics": [], "Metrics": [{"type": "max"}]}]), ["unknown-field"]),
        (
            "[\n<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n<<<<<<< a\n=======\n>>>>>>> b\n]",
            ["conflict-marker"] * 2,
        ),
    ],
    ids=lambda x: x[-60:] if isinstance(x, str) else "",
)
def test_one_slip_gives_one_diagnostic(text: str, rules: list[str], tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(text)
    assert rules_of(tmp_path / "registry.json") == rules


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"reward": 1}\n{"reward": 0}\n', "json-syntax"),
        ("null\nnull\n", "json-syntax"),
        ('{"task": "a", "rewards": {"reward": 1}}\n{"task": "b"}\n', "json-syntax"),
        ('{"schema_version": 1, "groups": []}', "not-a-registry"),
        ('{"schema_version": 1, "comparisons": []}', "not-a-registry"),
    ],
)
def test_what_is_called_registry_is_none_that_harbor_loads(
    text: str, rule: str, tmp_path: Path
) -> None:
    (tmp_path / "registry.json").write_text(text)
    (found,) = validate(tmp_path).found
    assert found.rule == rule
    assert LOADING in found.notes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"b",', '"b", "name": "c",'),
        ('"b",', '"b", // the second\n'),
        ('"b",', '"b"'),
        ('"metrics": [', '"metrics": [NaN, '),
        ('"m.py"', '"m.py",'),
        ("[", "\ufeff["),
    ],
)
def test_a_slip_of_syntax_hides_nothing(before: str, after: str, tmp_path: Path) -> None:
    """Whatever comes behind it and elsewhere is found as if the slip were mended."""
    metrics = [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}, {"type": "men"}]
    tasks = [{"path": "p"}]
    other = {**ONE, "name": "b", "metrics": metrics, "tasks": tasks}
    text = json.dumps([ONE, other], indent=1)
    path = tmp_path / "registry.json"
    path.write_text(text)
    expected = rules_of(path)
    assert sorted(expected) == ["missing-field", "script-path", "unknown-metric-type"]
    spoilt = after + text[1:] if before == "[" else text.replace(before, after)
    path.write_text(spoilt, encoding="utf-8")
    found = rules_of(path)
    assert len(found) == 4
    assert not {*expected} - {*found}
    assert validate(path).n_datasets == 2


def test_a_missing_comma_is_one_error(tmp_path: Path) -> None:
    text = (ROOT / "registry" / "registry.json").read_text()
    for at, char in enumerate(text):
        if char != "," or text[at + 1] != "\n":
            continue
        (tmp_path / "registry.json").write_text(text[:at] + text[at + 1 :])
        report = validate(tmp_path / "registry.json", ignore=["script-path"])
        assert [d.rule for d in report.found] == ["json-syntax"]
        assert report.n_datasets == 2


def test_trials_file_is_recognised_by_long_lines_and_without_rewards(tmp_path: Path) -> None:
    row = json.dumps({"task": "a", "rewards": {"r": 1}, "texts": {"x": "x" * 120_000}})
    (tmp_path / "big").write_text(f"{row}\n{row}\n")
    assert rules_of(tmp_path / "big") == []
    (tmp_path / "t.jsonl").write_text('{"task":"a"}\n{"task":"b","rewards":{"reward":1.0}}\n')
    assert rules_of(tmp_path / "t.jsonl") == ["missing-field"]


def test_wrong_encoding_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes(b'\xef\xbb\xbf{"reward": "x"}\n{"reward": 1}\n')
    assert rules_of(tmp_path / "b.jsonl") == ["byte-order-mark", "invalid-reward"]
    (tmp_path / "u.jsonl").write_bytes('{"r": 1}\n{"r": 2}\n'.encode("utf-16"))
    assert rules_of(tmp_path / "u.jsonl") == ["not-utf-8"]
    (tmp_path / "n.jsonl").write_bytes(b'{"reward": 1}\n{"reward": \xff}')
    (only,) = harbor_metrics.validate(tmp_path / "n.jsonl").found
    assert (only.span.line, only.span.column) == (2, 12)
    assert "byte offset 11" in only.message  # of its line, as `compute` says it
    (tmp_path / "dataset.toml").write_bytes(b'[dataset]\nname = "a/b\xff"')
    assert rules_of(tmp_path / "dataset.toml") == ["not-utf-8"]
    for value, rule in (("1" * 5_000, "toml-syntax"), ("[" * 5_000, "too-deep")):
        (tmp_path / "dataset.toml").write_text(f'[dataset]\nname = "a/b"\nx = {value}')
        assert rules_of(tmp_path / "dataset.toml") == [rule]


def test_long_name_of_a_dataset_is_not_said_whole_with_each_mistake(tmp_path: Path) -> None:
    """Output and memory were the product of both: 127 kB of registry printed 162 MB."""
    metrics = [{"type": f"meen{i}"} for i in range(30)]
    (tmp_path / "registry.json").write_text(
        json.dumps([{**ONE, "name": "n" * 10_000, "metrics": metrics}])
    )
    found = validate(str(tmp_path / "registry.json")).found
    assert len(found) >= 30
    assert max(len(each.subject) for each in found) < 300
    subject = next(each.subject for each in found if each.rule == "unknown-metric-type")
    assert subject == f"dataset {'n' * 199}…, metrics[0]"
