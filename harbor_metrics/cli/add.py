"""`harbor-metrics add`: one more metric in a registry, and nothing else changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from ..output.streams import print_note, print_text

if TYPE_CHECKING:
    from ..registries.change import Change


@click.command()
@click.argument("registry")
@click.argument("dataset", metavar="DATASET[@VERSION]")
@click.argument("type_", metavar="[TYPE]", required=False)
@click.option("-k", "kwargs", multiple=True, metavar="NAME=VALUE", help="A kwarg. Repeatable.")
@click.option(
    "--from-lm-eval", "task", metavar="TASK.yaml", help="The metrics of an lm-eval task file."
)
@click.option("--new", is_flag=True, help="Write a script that works to script_path, too.")
@click.option("--pin", is_flag=True, help="Write the script's sha256 beside it, too.")
@click.option("--diff", is_flag=True, help="Show what changed.")
def command(
    registry: str,
    dataset: str,
    type_: str | None,
    kwargs: Sequence[str],
    task: str | None,
    new: bool,
    pin: bool,
    diff: bool,
) -> int:
    """Add a metric to a dataset of a registry.

    It goes to `metrics` if Harbor can load it, else to `extra_metrics`, which Harbor ignores.
    """
    from ..catalogue.assignments import parse_kwargs
    from ..registries.change import add

    if task is not None:
        if type_ is not None or kwargs or new:
            raise UsageError("--from-lm-eval says the metrics: give no TYPE, -k or --new with it")
        return _from_lm_eval(registry, dataset, task, diff)
    if type_ is None:
        raise UsageError("say which metric: its TYPE, or --from-lm-eval TASK.yaml")
    parsed = parse_kwargs(type_, kwargs)
    script = _write_script(registry, type_, parsed) if new else ""
    try:
        change = add(registry, dataset, type_, parsed, pin=pin)
    except BaseException:
        if new:
            os.unlink(script)
        raise
    _say(change, registry, diff)
    return 0


def _write_script(registry: str, type_: str, kwargs: dict[str, Any]) -> str:
    """Write a script to begin with where the entry says that it lies, and give its path."""
    from ..contract.spec import UV_SCRIPT
    from ..registries import template

    script = kwargs.get("script_path")
    if type_ != UV_SCRIPT or not isinstance(script, str):
        raise UsageError("--new writes a script: add uv-script -k script_path=FILE --new")
    inside = os.path.normpath(script).split(os.sep)[0] != os.pardir
    if os.path.isabs(script) or "://" in script or not inside:
        raise UsageError("--new writes beside the registry: name a path inside its folder")
    if kwargs.get("git_url"):
        raise UsageError("--new writes a script here, and `git_url` says that it lies elsewhere")
    path = os.path.join(os.path.dirname(os.path.abspath(registry)), script)
    template.write(path)
    return path


def _from_lm_eval(registry: str, dataset: str, task: str, diff: bool) -> int:
    """Add the metrics of a task file in one change; say which have no counterpart."""
    from ..registries.change import add_all
    from ..registries.lm_eval_task import read

    entries, remarks = read(task)
    change = add_all(registry, dataset, entries)
    for remark in remarks:
        print_note(f"note: {task}: {remark}\n")
    _say(change, registry, diff)
    return 0 if entries else 1


def _say(change: Change, registry: str, diff: bool) -> None:
    print_text(f"{change.message}\n")
    if change.note:
        print_note(f"note: {change.note}\n")
    if diff:
        print_text(change.diff(registry))
