"""Failures to do the work; what is merely wrong in a document is a Diagnostic instead."""

from __future__ import annotations


class HarborMetricsError(Exception):
    """The message says what is wrong; `help`, when there is any, what to do about it."""

    exit_code = 3

    def __init__(self, message: str, help: str = "") -> None:  # noqa: A002
        super().__init__(message)
        self.help = help


class UsageError(HarborMetricsError):
    """What was asked for contradicts itself or cannot be understood."""

    exit_code = 2


class InputError(HarborMetricsError):
    """A source, a registry or a script could not be read."""


class OutputError(HarborMetricsError):
    """The result could not be written."""
