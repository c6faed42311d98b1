"""A script is read as often as a rule asks something new of it, however many metrics name it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from metric_scripts import metric as script
from validation.validated import ONE

import harbor_metrics
from harbor_metrics.validation import script_texts
from harbor_metrics.validation.fix import fix

_TEXT = "# /// script\n# dependencies = []\n# ///\nimport sys\nsys.argv\n"


def calls(monkeypatch: pytest.MonkeyPatch, names: list[str]) -> Counter[str]:
    """How often functions that read scripts are called."""
    counted: Counter[str] = Counter()

    def counting(name: str) -> Any:
        function = getattr(script_texts, name)

        def counted_function(*arguments: Any) -> Any:
            counted[name] += 1
            return function(*arguments)

        return counted_function

    for name in names:
        monkeypatch.setattr(script_texts, name, counting(name))
    return counted


@pytest.mark.parametrize("mends", [False, True])
def test_script_that_many_metrics_name_is_read_once_for_a_rule(
    mends: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each metric and rule read it anew: 30 kB of registry took a minute."""
    (tmp_path / "s.py").write_text(_TEXT)
    names = [f"{'./' * i}s.py" for i in range(20)]
    metrics = [{**json.loads(script(name)), "sha256": "0" * 64} for name in names]
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps([{**ONE, "metrics": metrics}]))
    monkeypatch.chdir(tmp_path)
    read = calls(monkeypatch, ["whole", "_parsed", "metadata", "digest_of", "other_copy"])
    if mends:
        fix("registry.json")
        assert "0" * 64 not in registry.read_text()
    else:
        report = harbor_metrics.validate("registry.json")
        assert [d.rule for d in report.found].count("script-pin") == 20
    assert read["_parsed"] == read["metadata"] == read["digest_of"] == read["other_copy"] == 1
    assert read["whole"] == 3


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("sign", ["#", "\u0301"], ids=["long", "marks"])
def test_a_text_that_nobody_wrote_is_not_parsed(sign: str, more: int, tmp_path: Path) -> None:
    """Python takes hundreds of times its size, and orders marks in the square of their number."""
    n = (1 << 18 if sign == "#" else 1999) + more
    text = f"{'x = 1;' * 100}#".ljust(n, "#") if sign == "#" else f"a{sign * n}"
    (tmp_path / "s.py").write_text(text, encoding="utf-8")
    assert (script_texts._parsed(text) is None) == bool(more)
    found = script_texts.ScriptText(str(tmp_path / "s.py"))
    assert (found.untaken, found.keys) == ([] if more else ["-i", "-o"], set())
