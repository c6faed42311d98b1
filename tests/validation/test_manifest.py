"""Manifests, dataset.toml."""

from __future__ import annotations

from pathlib import Path

from conftest import Run

import harbor_metrics


def test_manifest_needs_the_metric_that_it_names(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "dataset.toml").write_text(
        '[dataset]\nname = "org/name"\n\n[[files]]\npath = "metric.py"\ndigest = "x"\n'
    )
    done = cli("validate", "dataset.toml", "--format", "concise")
    assert done.returncode == 1
    assert "dataset.toml:5:8: error[script-path] script metric.py not found" in done.stdout
    block = "# /// script\n# dependencies = []\n# ///\nimport sys\nprint(sys.argv)\n"
    (tmp_path / "metric.py").write_text(block)
    assert cli("validate", "dataset.toml").returncode == 0


def test_place_in_a_manifest_is_never_in_a_comment(tmp_path: Path) -> None:
    text = "# no [dataset] \"metric.py\"\n[dataset]\nname = 'a'\n[[files]]\npath = 'metric.py'\n"
    (tmp_path / "dataset.toml").write_text(text)
    (only,) = harbor_metrics.validate(tmp_path / "dataset.toml").found
    assert (only.span.line, only.span.column, only.subject) == (5, 8, "[[files]]")
