"""What is said beside a result."""

from __future__ import annotations

from harbor_metrics.documents.diagnostics import Diagnostic
from harbor_metrics.render.remarks import remarks
from harbor_metrics.render.text import text


def test_a_rule_is_one_line_however_many_jobs_there_are() -> None:
    many = [
        Diagnostic(rule="job-not-finished", message=f"job j{i} is not finished", path=f"j{i}")
        for i in range(6)
    ]
    assert remarks(many, width=100) == (
        "note[job-not-finished]: job j0 is not finished (and 5 more: j1, j2, j3 and 2 more)\n"
    )


def test_a_line_holds_notes_and_help_and_fits_the_terminal() -> None:
    one = Diagnostic(
        rule="registry-not-found", message="it is not here", path="p", notes=("so",), help="do"
    )
    assert remarks([one], width=40) == (
        "warning[registry-not-found]: it is not\n  here (p); so; do\n"
    )


def test_errors_are_told_in_full_before_the_rest() -> None:
    error = Diagnostic(rule="nothing-scored", message="no score", notes=("why",))
    note = Diagnostic(rule="repeated-source", message="twice")
    assert remarks([note, error]) == f"{text([error])}\nnote[repeated-source]: twice\n"
    assert remarks([]) == ""
