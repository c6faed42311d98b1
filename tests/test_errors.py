"""One family of errors, drawn in one place."""

from __future__ import annotations

import importlib
import pkgutil
import re

import harbor_metrics
from harbor_metrics import errors


def family(error: type) -> set[str]:
    return {error.__name__}.union(*map(family, error.__subclasses__()))


def test_the_tree_has_every_error_that_a_caller_can_meet() -> None:
    for module in pkgutil.walk_packages(harbor_metrics.__path__, f"{harbor_metrics.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    tree = str(errors.__doc__).split("```")[1]
    drawn = set(re.findall(r"^(?:[│├└─ ]*)(\w+)", tree, re.MULTILINE))
    assert drawn == family(errors.HarborMetricsError)


def test_no_message_commands_a_terminal() -> None:
    """At the prompt of Python nobody escapes what an error says."""
    said = "\x1b]0;owned\x07 \u202e \x9b\n::error::"
    for error in (
        errors.UsageError(said, said),
        errors.InputError(said, said),
        errors.MetricFailure("rule", said),
    ):
        assert f"{error}{error.help}".isprintable()
