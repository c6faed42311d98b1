"""Why a line is not a trial: the one explanation, whoever has refused the line."""

from __future__ import annotations

from ..documents import mismatch
from ..documents.diagnostics import Diagnostic
from ..documents.document import Document
from . import rewards


def check_trial(document: Document, subject: str) -> list[Diagnostic]:
    """What is wrong with a line of a trials file, first with its rewards; or nothing."""
    value = document.value
    if isinstance(value, dict) and "rewards" in value:
        wrong = rewards.check(document, ["rewards"], subject)
        if wrong:
            return wrong
    return document.resolve(list(mismatch.findings(value, "trial", subject=subject)))
