"""What somebody may have meant whose command or option does not exist."""

from __future__ import annotations

import os

import click

from ..documents.wording import did_you_mean, in_command, nearest, printable
from . import COMMANDS, group

# What other programs call it, or people do, and no other spelling of the command.
_IN_OTHER_WORDS = {
    "analyze": "compute",
    "calculate": "compute",
    "chart": "report",
    "check": "validate",
    "delete": "remove",
    "diff": "compare",
    "docs": "explain",
    "eval": "compute",
    "evaluate": "compute",
    "export": "convert",
    "figure": "report",
    "html": "report",
    "info": "explain",
    "lint": "validate",
    "metrics": "list",
    "plot": "report",
    "rm": "remove",
    "run": "compute",
    "score": "compute",
    "scores": "compute",
    "show": "compute",
    "stats": "compute",
    "summarize": "compute",
    "summary": "compute",
    "test": "compare",
    "verify": "audit",
    "view": "report",
    "visualize": "report",
}
_LIKE_REGISTRIES = ("registry.json", "dataset.toml")


def command_meant(name: str) -> tuple[str, str]:
    """What is wrong with a command that does not exist, and what to write instead."""
    if os.path.exists(name):
        command = "validate" if os.path.basename(name) in _LIKE_REGISTRIES else "compute"
        right = f"harbor-metrics {command} {in_command(name)}"
        return f"{printable(name)} is a path, not a command", right
    plain = name.lower().replace("_", "-").lstrip("-")
    meant = _IN_OTHER_WORDS.get(plain)
    near = [meant] if meant else nearest(plain, COMMANDS)
    message = f"there is no command `{printable(name)}`"
    if near:
        return f"{message}{did_you_mean(near)}", f"harbor-metrics {near[0]} --help"
    # Inside, for weight: names of metrics, rules and topics are asked only here.
    from ..validation.explanations import exists

    if exists(name):
        return message, f"harbor-metrics explain {in_command(name)}"
    return message, "`harbor-metrics --help` lists the commands"


def option_meant(error: click.NoSuchOption) -> tuple[str, str]:
    """What is wrong with an option that a command does not have, and what to write instead."""
    context = error.ctx
    command = context.command if context is not None else group
    path = context.command_path if context is not None else "harbor-metrics"
    message = f"`{path}` has no option `{printable(error.option_name)}`"
    name = error.option_name.lstrip("-")
    for parameter in command.params:
        choices = getattr(parameter.type, "choices", ())
        if name in choices:
            return message, f"{parameter.opts[0]} {name}"
    others = [other for other in COMMANDS if error.option_name in _options(other)]
    if others:
        whose = " and ".join(f"`harbor-metrics {other}`" for other in others[:2])
        return f"{message}; {whose} has it", f"{path} --help"
    longs = [option for parameter in command.params for option in parameter.opts]
    near = nearest(error.option_name, [option for option in longs if option.startswith("--")])
    if near:
        return f"{message}{did_you_mean(near)}", f"{path} --help"
    return message, f"{path} --help"


def _options(command: str) -> list[str]:
    found = group.get_command(click.Context(group), command)
    return [] if found is None else [option for p in found.params for option in p.opts]
