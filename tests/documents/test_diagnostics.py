"""A diagnostic as an object, and its severity."""

from __future__ import annotations

import jsonschema
import pytest

from harbor_metrics.documents import schemas
from harbor_metrics.documents.diagnostics import Diagnostic, InvalidDocumentError, Severity, Span
from harbor_metrics.errors import InputError

PLACED = Diagnostic(
    rule="wrong-type",
    message="it is wrong",
    path="r.json",
    span=Span(2, 3, 2, 9),
    pointer="/0/name",
    subject="dataset a",
    label="this",
    notes=("Harbor takes it",),
    help="write it right",
)


@pytest.mark.parametrize(
    "diagnostic", [PLACED, Diagnostic(rule="trials-missing", message="m", path="job")]
)
def test_diagnostic_read_back_is_the_same_but_for_its_label(diagnostic: Diagnostic) -> None:
    data = diagnostic.as_json()
    jsonschema.Draft202012Validator(schemas.bundled("diagnostics")).validate([data])
    back = Diagnostic.from_json(data)
    assert back.as_json() == data
    assert (back.span, back.notes) == (diagnostic.span, diagnostic.notes)


def test_severity_is_that_of_the_rule_unless_it_is_given() -> None:
    assert Diagnostic(rule="job-not-finished", message="").severity is Severity.NOTE
    assert Diagnostic(rule="trials-missing", message="").severity is Severity.WARNING
    assert Diagnostic(rule="no-such-rule", message="").severity is Severity.ERROR
    noted = Diagnostic(rule="trials-missing", severity=Severity.NOTE, message="")
    assert noted.severity is Severity.NOTE


def test_places_sort_as_they_stand_in_the_text() -> None:
    spans = [Span(1, 5, 1, 6), Span(1, 9, 1, 9), Span(2, 1, 2, 2), Span(10, 1, 10, 2)]
    assert sorted([*spans[2:], *spans[:2]]) == spans


def test_invalid_document_is_an_input_error_with_an_exit_code_of_its_own() -> None:
    assert InvalidDocumentError("m", [PLACED]).exit_code == InputError.exit_code
    refused = InvalidDocumentError("m", [PLACED], "text", exit_code=1)
    assert (refused.exit_code, refused.diagnostics, refused.text) == (1, [PLACED], "text")
