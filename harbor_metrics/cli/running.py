"""The options of every command that runs metric scripts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import UsageError

if TYPE_CHECKING:
    from ..scripts.options import ScriptOptions

_MOST_GIB = 1_000_000
_MOST_SECONDS = 1_000_000
_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option(
        "--script-timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Time limit of a metric script.",
    ),
    click.option(
        "--script-memory",
        type=click.FloatRange(min=0),
        default=4.0,
        show_default=True,
        metavar="GIB",
        help="Memory limit of a metric script; 0 for none.",
    ),
    click.option(
        "--script-env",
        multiple=True,
        metavar="NAME",
        help="Pass this environment variable on to metric scripts. Repeatable.",
    ),
    click.option(
        "--sandbox",
        type=click.Choice(["auto", "require", "off"]),
        default="auto",
        show_default=True,
        help="Keep metric scripts from your files and the network: where the system can, always "
        "(else they do not run), or never.",
    ),
    click.option("--allow-network", is_flag=True, help="Let metric scripts use the network."),
    click.option(
        "--allow-build",
        is_flag=True,
        help="Let the packages that a script asks for run their build code, confined as the script "
        "is but with the network.",
    ),
    click.option(
        "--allow-outside",
        is_flag=True,
        help="Run also metric scripts outside the registry's folder, or in a local repository.",
    ),
)


def script_options(command: _Command) -> _Command:
    """Add the options that `options_of` reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def options_of(given: Mapping[str, Any]) -> ScriptOptions:
    """The options that `script_options` added, checked.

    Raises:
        UsageError: a variable to pass on is not set, or a limit is too large.
    """
    from ..scripts.options import ScriptOptions

    for name in given["script_env"]:
        if name not in os.environ:
            raise UsageError(
                f"--script-env {name}: there is no such environment variable", f"export {name}=…"
            )
    for name, most in (("script_memory", _MOST_GIB), ("script_timeout", _MOST_SECONDS)):
        if not given[name] <= most:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} {given[name]:g} is no number up to {most:,}")
    return ScriptOptions(
        timeout=given["script_timeout"],
        memory=given["script_memory"],
        environment=tuple(given["script_env"]),
        sandbox=given["sandbox"],
        allow_network=given["allow_network"],
        allow_build=given["allow_build"],
        allow_outside=given["allow_outside"],
        job_scripts=given.get("job_scripts", False),
        verify_repeat=given.get("verify_repeat", False),
        adopt=True,
    )
