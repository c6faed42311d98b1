"""`harbor-metrics add`: one more metric in a registry, and nothing else changed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..documents.paths import real_path
from ..documents.wording import in_command, printable
from ..errors import UsageError
from ..output.streams import print_line, print_text
from . import Examples

if TYPE_CHECKING:
    from ..registries.change import Change


_EXAMPLES = """\
harbor-metrics add registry.json my-dataset pass@5
harbor-metrics add registry.json my-dataset quantile -k q=0.9 --diff
harbor-metrics add registry.json my-dataset mean -k missing=skip -k reducer=max
harbor-metrics add registry.json my-dataset uv-script -k script_path=metrics/mine.py --new
harbor-metrics list            every TYPE
harbor-metrics explain pass@5  what one takes"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("registry")
@click.argument("dataset", metavar="DATASET[@VERSION]")
@click.argument("type_", metavar="[TYPE]", required=False)
@click.option(
    "-k",
    "kwargs",
    multiple=True,
    metavar="NAME=VALUE",
    help="A kwarg of the metric, as q=0.9. Repeatable.",
)
@click.option(
    "--from-lm-eval", "task", metavar="TASK.yaml", help="Add the metrics of this lm-eval task file."
)
@click.option(
    "--new",
    is_flag=True,
    help="For uv-script: write a script that works to script_path, which is relative to the "
    "registry's folder.",
)
@click.option(
    "--pin", is_flag=True, help="For uv-script: write the script's sha256 beside its path."
)
@click.option(
    "--for-harbor", is_flag=True, help="Write a script by which Harbor itself computes the metric."
)
@click.option(
    "--script",
    metavar="FILE",
    help="With --for-harbor: the script, relative to the registry's folder; by default metric.py.",
)
@click.option(
    "--released",
    is_flag=True,
    help="With --for-harbor: this version of harbor-metrics is published, and is yours.",
)
@click.option(
    "--from",
    "source",
    metavar="URL#sha256=…",
    help="With --for-harbor: the wheel of harbor-metrics that the script fetches.",
)
@click.option("--diff", is_flag=True, help="Show what changed.")
def command(
    registry: str,
    dataset: str,
    type_: str | None,
    kwargs: Sequence[str],
    task: str | None,
    new: bool,
    pin: bool,
    for_harbor: bool,
    script: str | None,
    released: bool,
    source: str | None,
    diff: bool,
) -> int:
    """Add a metric to a dataset of a registry; nothing else of the file changes.

    REGISTRY is a registry.json, TYPE the name of a metric. It goes to `metrics` if Harbor can load
    it, else to `extra_metrics`, which Harbor ignores and `compute` runs.
    """
    import gc

    from ..catalogue.assignments import parse_kwargs

    # A document has no cycles, and looking for some takes longer than reading it.
    gc.disable()
    if task is not None:
        if type_ is not None or kwargs or new:
            raise UsageError("--from-lm-eval says the metrics: give no TYPE, -k or --new with it")
        return _from_lm_eval(registry, dataset, task, diff)
    if type_ is None:
        raise UsageError(
            "say which metric: its TYPE, or --from-lm-eval TASK.yaml",
            "`harbor-metrics list` has all",
        )
    _refuse_function(type_, registry, dataset)
    parsed = parse_kwargs(type_, kwargs)
    if for_harbor:
        if new or pin:
            raise UsageError("--for-harbor writes its own script: give no --new or --pin with it")
        return _for_harbor(registry, dataset, type_, parsed, script, (released, source), diff)
    if script is not None or released or source is not None:
        raise UsageError("--script, --released and --from go with --for-harbor")
    return _add_metric(registry, dataset, type_, parsed, new, pin, diff)


def _refuse_function(type_: str, registry: str, dataset: str) -> None:
    """Say of FILE.py:FUNCTION what to do so that its metric can stand in a registry."""
    from ..catalogue.suggestions import function_of_file

    why = function_of_file(type_)
    if why is None:
        return
    raise UsageError(
        why,
        "in a package, an entry point in the group `harbor_metrics.metrics` makes it a metric like "
        "all others; or make it a script that goes with the registry: harbor-metrics add "
        f"{in_command(registry, dataset)} uv-script "
        "-k script_path=metrics/mine.py --new (`harbor-metrics explain own-metric` shows both)",
    )


def _add_metric(
    registry: str,
    dataset: str,
    type_: str,
    kwargs: dict[str, Any],
    new: bool,
    pin: bool,
    diff: bool,
) -> int:
    """Add an entry; of a script, with its path from the registry's folder."""
    from ..contract.spec import UV_SCRIPT
    from ..registries import template
    from ..registries.change import add
    from ..registries.script_file import named_from

    script = kwargs.get("script_path")
    if new and (type_ != UV_SCRIPT or not isinstance(script, str)):
        raise UsageError("--new writes a script: add uv-script -k script_path=FILE --new")
    if new and kwargs.get("git_url"):
        raise UsageError("--new writes a script here, and `git_url` says that it lies elsewhere")
    if type_ != UV_SCRIPT or not isinstance(script, str) or kwargs.get("git_url"):
        _say(add(registry, dataset, type_, kwargs, pin=pin), registry, diff)
        return 0
    script_path = named_from(registry, script, new=new)
    path = _new_path(registry, script_path) if new else ""
    with contextlib.ExitStack() as stack:
        if new:
            stack.enter_context(template.written(path))
        change = add(registry, dataset, type_, {**kwargs, "script_path": script_path}, pin=pin)
    if new:
        print_text(f"wrote {printable(path)}\n")
    _say(change, registry, diff)
    folder = os.path.dirname(registry) or os.curdir
    if script_path != script:
        print_line(f"note: script_path is relative to {folder}, where the registry lies")
    if real_path(folder) != real_path(os.curdir):
        _say_where(registry, script_path)
    return 0


def _new_path(registry: str, script: str) -> str:
    """Where a script of a registry is written, as it is named from here."""
    inside = os.path.normpath(script).split(os.sep)[0] != os.pardir
    if os.path.isabs(script) or "://" in script or not inside:
        raise UsageError("a script is written beside the registry: name a path inside its folder")
    return os.path.join(os.path.dirname(registry), script)


def _say_where(registry: str, script_path: str) -> None:
    where = os.path.dirname(registry)
    print_line(
        f"note: Harbor looks for {script_path} from the folder that it is run in: "
        f"run it where the registry lies{f', in {where}' if where else ''}"
    )


def _for_harbor(
    registry: str,
    dataset: str,
    type_: str,
    kwargs: dict[str, Any],
    file: str | None,
    origin: tuple[bool, str | None],
    diff: bool,
) -> int:
    """Write a script that gives the metric in Harbor, and its entry; never as the first metric."""
    from ..catalogue.names import check
    from ..contract.spec import DEFAULT_TYPE, UV_SCRIPT
    from ..errors import MetricFailure
    from ..registries import harbor_script, template
    from ..registries.change import add_all
    from ..registries.script_file import named_from

    released, source = origin
    if type_ == UV_SCRIPT:
        raise UsageError(
            "--for-harbor writes a script for a metric; Harbor runs scripts as they are"
        )
    try:
        check(type_, kwargs)
    except MetricFailure as error:
        raise UsageError(str(error)) from error
    dependency = harbor_script.dependency(released=released, source=source)
    text = harbor_script.text(type_, kwargs, dependency)
    script_path = named_from(registry, file or harbor_script.FILE, new=True)
    path = _new_path(registry, script_path)
    entry = {"type": UV_SCRIPT, "kwargs": {"script_path": script_path}}
    with template.written(path, text):
        change = add_all(registry, dataset, [entry], first={"type": DEFAULT_TYPE})
    print_text(f"wrote {printable(path)}\n")
    _say(change, registry, diff)
    if len(change.message.splitlines()) > 1:
        print_line(
            f"note: `{DEFAULT_TYPE}` stands first: Harbor's progress bar shows the first metric, "
            "and this one answers `trials` until the end"
        )
    _say_where(registry, script_path)
    if source is not None:
        print_line(
            "note: uv looks at the digest where there is a lock: run "
            f"`uv lock --script {in_command(path)}` and keep the lock beside the script"
        )
    return 0


def _from_lm_eval(registry: str, dataset: str, task: str, diff: bool) -> int:
    """Add the metrics of a task file in one change; say which have no counterpart."""
    from ..registries.change import add_all
    from ..registries.lm_eval_task import read

    entries, remarks = read(task)
    change = add_all(registry, dataset, entries)
    for remark in remarks:
        print_line(f"note: {task}: {remark}")
    _say(change, registry, diff)
    return 0 if entries else 1


def _say(change: Change, registry: str, diff: bool) -> None:
    print_text(f"{change.message}\n")
    if change.note:
        print_line(f"note: {change.note}")
    if diff:
        print_text(change.diff(registry))
