"""`harbor-metrics validate`: a folder a rule with what it says, and what it must never do."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from conftest import HERE, ROOT, Run
from mutants import mutants

import harbor_metrics
from harbor_metrics import kwargs_schema, schemas
from harbor_metrics.explanations import explain, rule_names
from harbor_metrics.metric import names
from harbor_metrics.render.text import summary, text
from harbor_metrics.validation import validate

FOLDERS = sorted(path for path in (HERE / "validate").iterdir() if path.is_dir())
FAULTS = [json.loads(line) for line in (HERE / "faults_validate.jsonl").read_text().splitlines()]
# What a rewards fault is written as; a registry's is registry.json.
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_rule_says_what_it_should(
    folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    found = (p for p in folder.rglob("*") if p.suffix in (".json", ".jsonl", ".toml"))
    (file,) = (str(p.relative_to(folder)) for p in found)
    monkeypatch.chdir(folder)
    report = validate(file)
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


def test_every_rule_has_a_folder_and_a_paragraph() -> None:
    assert {folder.name for folder in FOLDERS} == set(rule_names())
    for name in [*rule_names(), *names()]:
        assert len(explain(name).split("\n\n", 1)[1].split()) > 5, name


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f["id"])
def test_fault(fault: dict[str, object], cli: Run, tmp_path: Path) -> None:
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


def test_whatever_harbor_rejects_is_rejected(tmp_path: Path) -> None:
    """Harbor's verdict on each mutant, 1 where it loads, was taken with harbor 0.24."""
    verdicts = json.loads((HERE / "mutants.json").read_text())
    source = ROOT / "registry" / "registry.json"
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "spread.py").write_text(
        (source.parent / "metrics" / "spread.py").read_text()
    )
    path = tmp_path / "registry.json"
    for verdict, mutant in zip(
        verdicts, mutants([source.read_text()], len(verdicts), 7), strict=True
    ):
        path.write_bytes(mutant.encode())
        report = validate(path)
        assert verdict == "1" or not report.ok, mutant
        text(report.found, report.sources)


def test_the_two_validators_agree(tmp_path: Path) -> None:
    """jsonschema-rs decides and jsonschema explains: each must find what the other finds."""
    import jsonschema_rs

    schema = schemas.bundled("registry")
    fast, slow = jsonschema_rs.validator_for(schema), jsonschema.Draft202012Validator(schema)
    source = (ROOT / "registry" / "registry.json").read_text()
    values = [json.loads(f.read_text()) for f in HERE.glob("validate/*-[ft]*/registry.json")]
    for mutant in mutants([source], 400, 11):
        try:
            values.append(json.loads(mutant))
        except ValueError:
            continue
    wrong = 0
    for value in values:
        ours = {tuple(e.instance_path) for e in fast.iter_errors(value)}
        assert ours == {tuple(e.absolute_path) for e in slow.iter_errors(value)}
        wrong += bool(ours)
    assert wrong > 20


@pytest.mark.parametrize("name", schemas.NAMES)
def test_schema_is_whole_and_its_examples_hold(name: str, cli: Run) -> None:
    schema = json.loads(cli("schema", name).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert ".schema.json" not in json.dumps({k: v for k, v in schema.items() if k != "$id"})
    for example in schema["examples"]:
        jsonschema.Draft202012Validator(schema).validate(example)


def test_example_registry_is_clean(cli: Run) -> None:
    done = cli("validate", ROOT / "registry" / "registry.json")
    assert (done.returncode, done.stdout) == (0, "No mistakes in 1 file, 2 datasets.\n")
    assert cli("validate", ROOT / "registry" / "registry.json", "--quiet").stdout == ""


def test_result_is_valid(cli: Run, job: Path) -> None:
    assert cli("compute", job, "-o", "result.json").returncode == 0
    assert cli("validate", "result.json").returncode == 0


def test_formats_select_and_ignore(cli: Run) -> None:
    file = HERE / "validate" / "unknown-metric-field" / "registry.json"
    concise = cli("validate", file, "--format", "concise").stdout.splitlines()
    assert concise[0].startswith(f"{file}:14:9: error[unknown-metric-field] unknown field `typ`")
    lines = cli("validate", file, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["line"] for line in lines] == [14, 18, 22]
    assert cli("validate", file, "--ignore", "unknown-metric-field").returncode == 0
    assert cli("validate", file, "--select", "duplicate-task").returncode == 0
    wrong = cli("validate", file, "--select", "bogus")
    assert (wrong.returncode, "no rule `bogus`" in wrong.stderr) == (2, True)


def test_standard_input_several_files_and_patterns(cli: Run, tmp_path: Path) -> None:
    registry = (ROOT / "registry" / "registry.json").read_text()
    assert cli("validate", "-", "--ignore", "script-path", input=registry).returncode == 0
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "registry.json").write_text("[]")
    done = cli("validate", "**/registry.json", "a/registry.json")
    assert done.stdout.endswith("Found 2 warnings in 2 files, 0 datasets.\n")
    assert cli("validate", "no*").returncode == 3
    assert cli("validate", "a").returncode == 3
    assert cli("validate", "gone.json").returncode == 3


def test_manifest_and_its_metric(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "dataset.toml").write_text(
        '[dataset]\nname = "org/name"\n\n[[files]]\npath = "metric.py"\ndigest = "x"\n'
    )
    done = cli("validate", "dataset.toml", "--format", "concise")
    assert done.returncode == 1
    assert "dataset.toml:5:8: error[script-path] script metric.py not found" in done.stdout
    block = "# /// script\n# dependencies = []\n# ///\nimport sys\nprint(sys.argv)\n"
    (tmp_path / "metric.py").write_text(block)
    assert cli("validate", "dataset.toml").returncode == 0


def test_nothing_is_run(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("open('ran', 'w')\n")
    metrics = [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}]
    dataset = {"name": "d", "version": "1", "description": "", "tasks": [], "metrics": metrics}
    (tmp_path / "registry.json").write_text(json.dumps([dataset]))
    cli("validate", "registry.json")
    assert not (tmp_path / "ran").exists()


def test_library_gives_the_report() -> None:
    report = harbor_metrics.validate(HERE / "validate" / "empty-dataset" / "registry.json")
    assert report.ok
    assert [d.rule for d in report.found] == ["empty-dataset"]


def test_kwargs_in_the_metric_schema_are_those_of_the_functions(
    request: pytest.FixtureRequest,
) -> None:
    path = ROOT / "schemas" / "metric.schema.json"
    schema = json.loads(path.read_text())
    fresh = {**schema, **kwargs_schema.definitions()}
    if request.config.getoption("--update"):
        path.write_text(json.dumps(fresh, indent=2, ensure_ascii=False) + "\n")
    assert json.loads(path.read_text()) == fresh


@pytest.mark.parametrize(
    ("entry", "valid"),
    [
        ({"type": "mean"}, True),
        ({}, True),
        ({"type": "mean", "kwargs": {"missing": "skip"}}, True),
        ({"type": "mean", "kwargs": {"missing": "drop"}}, False),
        ({"type": "mean", "kwargs": {"k": 1}}, False),
        ({"type": "uv-script", "kwargs": {"script_path": "m.py"}}, True),
        ({"type": "uv-script"}, False),
        ({"type": "from-a-plugin", "kwargs": {"k": 1}}, True),
    ],
)
def test_schema_knows_the_kwargs_of_each_type(entry: dict[str, object], valid: bool) -> None:
    import jsonschema_rs

    schema = schemas.bundled("metric")
    assert jsonschema.Draft202012Validator(schema).is_valid(entry) is valid
    assert jsonschema_rs.validator_for(schema).is_valid(entry) is valid
