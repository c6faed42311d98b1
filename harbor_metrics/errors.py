"""Failures to do the work; what is merely wrong in a document is a Diagnostic instead.

```
HarborMetricsError
├── UsageError                what was asked for contradicts itself; exit 2
├── InputError                a source, a registry or a script could not be read; exit 3
│   ├── InvalidDocumentError  documents/diagnostics.py: it says where; exit 1 from a refused edit
│   └── NotThisFormatError    trials/source.py: a reader's reason to leave a source to the others
├── OutputError               the result could not be written; exit 3
│   └── ReaderGoneError       who read what is printed has closed the pipe; exit 141
├── EditError                 registries/edit.py: a registry cannot be changed as asked; exit 1
└── MetricFailure             one metric gives no number; becomes a failed outcome
    ├── NeedsRowsError        it needs the trials themselves, which were only counted
    └── RunError              scripts/execution.py: its script ran, and gave no answer to be used
```

Any other exception of the package is caught in the room that raises it.
"""

from __future__ import annotations


class HarborMetricsError(Exception):
    """The message says what is wrong; `help`, when there is any, what to do about it.

    Both are of one line that commands no terminal, whatever names of strangers they hold.
    """

    exit_code = 3

    def __init__(self, message: str, help: str = "") -> None:  # noqa: A002
        super().__init__(inert(message))
        self.help = inert(help)


class UsageError(HarborMetricsError):
    """What was asked for contradicts itself or cannot be understood."""

    exit_code = 2


class InputError(HarborMetricsError):
    """A source, a registry or a script could not be read."""


class OutputError(HarborMetricsError):
    """The result could not be written."""


class ReaderGoneError(OutputError):
    """Who read what is printed has closed the pipe, and needs no message about it."""

    # What a shell says of a program that SIGPIPE ended.
    exit_code = 141


class MetricFailure(HarborMetricsError):
    """One metric gives no number: by which rule, and which of its kwargs is to blame, if one is.

    The message ends with what a program has `said`, of which `wording.last_lines` makes lines.
    """

    def __init__(self, rule: str, message: str, kwarg: str | None = None, said: str = "") -> None:
        super().__init__(message)
        self.args = (f"{self}{said}",)
        self.rule = rule
        self.kwarg = kwarg


class NeedsRowsError(MetricFailure):
    """A metric needs the trials themselves, which were only counted; `what` it needs of them."""

    RULE = "needs-rows"

    def __init__(self, what: str) -> None:
        super().__init__(self.RULE, f"it needs {what}, and the trials were only counted")


def inert(text: str) -> str:
    """The text with what is not printable escaped, as Python writes it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
