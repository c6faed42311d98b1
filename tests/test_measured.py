"""The table of performance is read from what the benchmarks print."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from conftest import ROOT

SPEC = importlib.util.spec_from_file_location("measured_run", ROOT / "benchmarks" / "run.py")
assert SPEC is not None
assert SPEC.loader is not None
run = importlib.util.module_from_spec(SPEC)
sys.modules["measured_run"] = run
SPEC.loader.exec_module(run)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        (
            "--help; click                     52.0 ms    40.1 ms   1.30x  at most 1.3x",
            ("--help; click", "52.0 ms", "40.1 ms", "1.30x", "at most 1.3x"),
        ),
        (
            "26 MB, check-jsonschema      812 ms  against    14210 ms   1/17.50x  1/15x",
            ("26 MB, check-jsonschema", "812 ms", "14210 ms", "1/17.50x", "1/15x"),
        ),
        (
            "10,000 trials      61 MB  at most 80 MB",
            ("10,000 trials", "61 MB", "", "", "at most 80 MB"),
        ),
        ("a page   28.1 kB  at most 300 kB", ("a page", "28.1 kB", "", "", "at most 300 kB")),
        (
            "inspect to 10^5, slope of CPU                              1.08  at most  1.05  ABOVE",
            ("inspect to 10^5, slope of CPU", "", "", "1.08", "at most 1.05"),
        ),
        (
            "ours, sandboxed    61.0 ms   1.80x python   0.70x uv run",
            ("ours, sandboxed", "61.0 ms", "", "1.80x", "python   0.70x uv run"),
        ),
    ],
)
def test_a_line_that_a_benchmark_prints_is_a_row(line: str, cells: tuple[str, ...]) -> None:
    assert [tuple(row) for row in run.rows_of("start", line)] == [("start", *cells)]


def test_other_lines_are_not_rows() -> None:
    assert (
        run.rows_of("readers", "the log has 12 MB of samples\nsandboxed: at most 2.5x python\n")
        == []
    )


def test_every_script_that_it_calls_is_there() -> None:
    assert all((ROOT / "benchmarks" / f"{name}.py").exists() for name in run.SCRIPTS)
