"""A dataset.toml, and the `metric.py` that its `[[files]]` name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..documents import schemas, toml
from ..documents.diagnostics import Diagnostic
from ..documents.document import Finding
from ..documents.mismatch import Mismatch, mismatches_in
from ..documents.wording import printable
from .rules import READING, View, hints, rules, run
from .rules.fields import MANIFEST

_RULES = ("unknown-field", "duplicate-task", "package-name", "digest", "manifest-file")
_HELP = {
    "dataset": 'begin with `[dataset]` and `name = "org/name"`',
    "name": 'write `name = "org/name"`',
    "digest": "`harbor add` writes the digest of a task",
    "path": 'write `path = "metric.py"`, or whatever the file is called',
}


def check(path: str, data: bytes) -> list[Diagnostic]:
    """Every mistake in the manifest and in the metric beside it."""
    document, slips = toml.parse(data, path)
    if document is None:
        return slips
    manifest = document.value
    found = [*_mismatches(manifest), *run(View([manifest], path, manifest=manifest), _RULES)]
    files = manifest.get("files")
    entries = enumerate(files if isinstance(files, list) else ())
    named = [i for i, e in entries if isinstance(e, dict) and e.get("path") == "metric.py"]
    for finding in _of_metric(path) if named else ():
        found += (msgspec.structs.replace(finding, at=("files", i, "path")) for i in named)
    return document.resolve(found)


def _mismatches(manifest: dict[str, Any]) -> Iterator[Finding]:
    """What in the manifest does not fit its schema; rules say what does not fit a pattern."""
    schema = schemas.bundled("manifest")
    for mismatch in mismatches_in(manifest, schema, schema):
        if mismatch.rule != "schema":
            yield _finding(manifest, mismatch)


def _finding(manifest: dict[str, Any], mismatch: Mismatch) -> Finding:
    path, words = mismatch.path, mismatch.words
    table = path[:1] if path[:1] == ("dataset",) else path[:2]
    here = manifest.get("tasks", [])[path[1]] if path[:1] == ("tasks",) and len(path) > 1 else None
    name = here.get("name") if isinstance(here, dict) else None
    shown = f" {printable(name)}" if isinstance(name, str) else ""
    subject = f"[[{table[0]}]]{shown}" if len(table) == 2 else f"[{table[0]}]" if table else ""
    last = path[-1] if path else "manifest"
    what = f"`{printable(last)}`" if path and isinstance(last, str) else f"the {last}"
    if path and isinstance(last, int):
        what = {"tasks": "a task", "files": "a file", "authors": "an author"}.get(
            str(path[-2]), "an entry"
        )
    help_ = mismatch.help
    if mismatch.rule == "missing-field":
        field = words.rpartition("`")[0].rpartition("`")[2]
        help_ = _HELP.get(field, "")
    elif path and path[-1] in MANIFEST[""] and mismatch.rule == "wrong-type":
        is_array = path[-1] in ("tasks", "files")
        help_ = f"write `[[{last}]]`" if is_array else f"write `[{last}]`"
    elif path[:2] == ("dataset", "authors"):
        help_ = 'write `authors = [{ name = "…" }]`'
    words = words.replace("an object", "a table")
    return Finding(
        path,
        f"{what} {words}",
        subject=subject,
        label="here",
        notes=(READING,),
        help=help_,
        rule=mismatch.rule,
    )


def _of_metric(path: str) -> Iterator[Finding]:
    """What is wrong with the script of a manifest, to be said where a file is named."""
    spec = {"type": "uv-script", "kwargs": {"script_path": "metric.py"}}
    view = View([{"name": "the dataset", "version": "", "metrics": [spec]}], path)
    for finding in run(
        view, [name for name in rules() if name.startswith("script-") and name not in hints()]
    ):
        yield msgspec.structs.replace(finding, subject="[[files]]", key=False)
