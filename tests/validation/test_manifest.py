"""Manifests, dataset.toml, as Harbor 0.25 reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import HERE, Run
from validation.validated import rules_of

import harbor_metrics
from harbor_metrics.documents.diagnostics import Severity
from harbor_metrics.validation import manifest as manifest_module
from harbor_metrics.validation.validation import validate

GOOD = (HERE / "validation" / "manifest.toml").read_text()
DIGEST = f"sha256:{'a' * 64}"
SCRIPT = "# /// script\n# dependencies = []\n# ///\nimport sys\nprint(sys.argv)\n"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Where a manifest lies beside the script that it names."""
    (tmp_path / "metric.py").write_text(SCRIPT)
    return tmp_path / "dataset.toml"


def test_manifest_needs_the_metric_that_it_names(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "dataset.toml").write_text(
        '[dataset]\nname = "org/name"\n\n[[files]]\npath = "metric.py"\ndigest = ""\n'
    )
    done = cli("validate", "dataset.toml", "--format", "concise")
    assert done.returncode == 1
    assert "dataset.toml:5:8: error[script-path] script metric.py not found" in done.stdout
    (tmp_path / "metric.py").write_text(SCRIPT)
    assert cli("validate", "dataset.toml").returncode == 0


def test_place_in_a_manifest_is_never_in_a_comment(tmp_path: Path) -> None:
    text = "# no [dataset] \"metric.py\"\n[dataset]\nname = 'a/b'\n[[files]]\npath = 'metric.py'\n"
    (tmp_path / "dataset.toml").write_text(text)
    (only,) = harbor_metrics.validate(tmp_path / "dataset.toml").found
    assert (only.span.line, only.span.column, only.subject) == (5, 8, "[[files]]")


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        ("", "", []),
        (f'\ndigest = "{DIGEST}"', "", ["missing-field"]),
        ('"harbour/buoys"', '"buoys"', ["package-name"]),
        ('"harbour/buoy-north"', '"buoy-north"', ["package-name"]),
        (DIGEST, "sha256:xyz", ["digest"]),
        (DIGEST, DIGEST.replace("a", "A"), ["digest"]),
        ("[[tasks]]", "[[task]]", ["unknown-field"]),
        ("[dataset]", "", ["missing-field", "unknown-field"]),
        ("[metadata]", '[[metrics]]\ntype = "mean"\n[metadata]', ["unknown-field"]),
        ("[[files]]", "[[file]]", ["unknown-field"]),
        ("buoy-south", "buoy-north", ["duplicate-task"]),
        ("[dataset]", "[dataset", ["toml-syntax"]),
        ("description", "descr", ["unknown-field"]),
        ('version = "1.0"\nd', "version = 1.0\nd", ["wrong-type"]),
        ('version = "1.0"\nd', "version = 1979-05-27\nd", ["wrong-type"]),
        ('version = "1.0"\nd', 'version = ""\nd', ["empty-field"]),
        ('name = "harbour/buoys"\n', "", ["missing-field"]),
        ('[{ name = "A. Keeper", email = "keeper@example.org" }]', '["me"]', ["wrong-type"]),
        ('name = "A. Keeper"', 'nam = "A. Keeper"', ["unknown-field"]),
        ('"README.md"', '"docs/README.md"', ["manifest-file"]),
        ("[[files]]", "[files]", ["toml-syntax"]),
        ('keywords = ["lights", "sea"]', 'keywords = "sea"', ["wrong-type"]),
        ("schema_version", "metadata = 5\nschema_version", ["toml-syntax"]),
    ],
)
def test_manifest_is_read_as_harbor_reads_it(
    before: str, after: str, rules: list[str], manifest: Path
) -> None:
    manifest.write_text(GOOD.replace(before, after))
    assert [*dict.fromkeys(rules_of(manifest))] == rules


def test_each_of_many_tasks_without_a_digest_is_an_error_where_it_stands(manifest: Path) -> None:
    tasks = "".join(f'\n[[tasks]]\nname = "a/t{i}"\n' for i in range(414))
    manifest.write_text(f'[dataset]\nname = "a/b"\n{tasks}')
    found = validate(manifest).found
    assert [d.rule for d in found] == ["missing-field"] * 414
    assert [d.span.line for d in found if d.span] == [4 + 3 * i for i in range(414)]
    assert found[7].subject == "[[tasks]] a/t7"
    assert found[7].notes == ("Harbor cannot load the manifest",)
    assert not any(d.severity is not Severity.ERROR for d in found)


def test_unknown_tables_of_harbor_registries_say_what_to_write(manifest: Path) -> None:
    manifest.write_text(GOOD + '[[metrics]]\ntype = "mean"\n')
    (only,) = validate(manifest).found
    assert only.severity is Severity.ERROR
    assert "metric.py" in only.help
    assert "[[files]]" in only.help


def test_a_metric_that_many_files_name_is_looked_at_once_and_said_at_each(
    manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (manifest.parent / "metric.py").unlink()
    views = []
    run = manifest_module.run
    monkeypatch.setattr(
        manifest_module, "run", lambda view, names: views.append(view) or run(view, names)
    )
    manifest.write_text('[dataset]\nname = "a/b"\n' + '[[files]]\npath = "metric.py"\n' * 50)
    found = [d for d in validate(manifest).found if d.rule == "script-path"]
    assert [d.span.line for d in found] == [*range(4, 104, 2)]
    assert len(views) == 2
