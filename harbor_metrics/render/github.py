"""Diagnostics as workflow commands of GitHub Actions: annotations on a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from ..comparison.document import Comparison, Decision
from ..documents.diagnostics import Diagnostic, Severity
from ..documents.wording import printable
from .sentences import who

# GitHub shows this many annotations of a kind for a step, and drops the others without a word.
PER_STEP = 10
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github(diagnostics: Sequence[Diagnostic]) -> str:
    """A command for each diagnostic that GitHub shows, the worst first, and how many it drops."""
    lines = []
    dropped = 0
    for severity, command in _COMMANDS.items():
        of_kind = [d for d in diagnostics if d.severity == severity]
        shown = of_kind[:PER_STEP]
        dropped += len(of_kind) - len(shown)
        lines += [_command(d, command) for d in shown]
    if dropped:
        lines.append(f"{dropped} more: GitHub shows {PER_STEP} of a kind; the log has all")
    return "".join(f"{line}\n" for line in lines)


def github_of_comparison(comparison: Comparison) -> str:
    """A command for each gate that failed or could not be decided, and for what was found."""
    of_gates = [_of_gate(decision) for decision in comparison.gates]
    return github([*(found for found in of_gates if found is not None), *comparison.found])


def _of_gate(decision: Decision) -> Diagnostic | None:
    said, whom, help_ = f"{decision.gate}: {decision.why}", who(decision), decision.help or ""
    if decision.outcome == "failed":
        return Diagnostic(rule="gate-failed", message=said, subject=whom, help=help_)
    if decision.outcome == "undecided":
        return Diagnostic(rule="gate-undecided", message=said, subject=whom, help=help_)
    return None


def _command(d: Diagnostic, command: str) -> str:
    place = {"title": f"harbor-metrics ({d.rule})", "file": d.path or ""}
    if d.span:
        place |= {"line": str(d.span.line), "endLine": str(d.span.end_line)}
        if d.span.line == d.span.end_line:
            place |= {"col": str(d.span.column), "endColumn": str(d.span.end_column)}
    properties = ",".join(f"{name}={_property(value)}" for name, value in place.items() if value)
    subject = f" (in {d.subject})" if d.subject else ""
    body = [f"{d.message}{subject}", *d.notes, *([f"help: {d.help}"] if d.help else [])]
    return f"::{command} {properties}::{_data(chr(10).join(map(printable, body)))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
