"""Dataset manifests, dataset.toml: names and digests that Harbor's packages need."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...documents.document import Finding
from ...documents.wording import printable, shown
from . import READING, View, tables_in

_NAME = re.compile(r"(?!.*\.\.)[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*")
_DIGEST = re.compile(r"sha256:[a-f0-9]{64}")


def package_name(view: View) -> Iterator[Finding]:
    """A dataset or a task in a dataset.toml is not named `org/name`.

    Packages belong to an organisation, whose name stands before a slash. Both parts begin with a
    letter or a digit and go on with letters, digits, `.`, `_` and `-`, without two dots in a row.
    """
    dataset = tables_in(view.manifest or {}, "dataset")
    own = str(dataset[0].value.get("name")) if dataset else ""
    org = own.partition("/")[0] if _NAME.fullmatch(own) else "org"
    for table in [*dataset, *tables_in(view.manifest or {}, "tasks")]:
        name = table.value.get("name")
        if not isinstance(name, str) or _NAME.fullmatch(name):
            continue
        kind = "dataset" if table.at == ("dataset",) else "task"
        plain = re.sub(r"[^a-zA-Z0-9_-]+", "-", name.rpartition("/")[2]).strip("-_") or "name"
        yield table.find(
            "name",
            message=f"the name {shown(name)} of a {kind} is not `org/name`",
            label="not `org/name`",
            notes=(READING,),
            help=f'write `name = "{org}/{plain}"`',
        )


def digest(view: View) -> Iterator[Finding]:
    """A digest in a dataset.toml is not `sha256:` and 64 hexadecimal digits, in small letters.

    A task needs one; of a file Harbor computes it where it is absent or empty.
    """
    for table in [
        *tables_in(view.manifest or {}, "tasks"),
        *tables_in(view.manifest or {}, "files"),
    ]:
        value = table.value.get("digest")
        if not isinstance(value, str) or _DIGEST.fullmatch(value):
            continue
        is_file = table.at[0] == "files"
        if is_file and not value:
            continue
        yield table.find(
            "digest",
            message=f"the digest {shown(value)} is not `sha256:` and 64 hexadecimal digits",
            label="not a digest",
            notes=(READING,),
            help="delete it: Harbor computes it"
            if is_file
            else f'write `digest = "{value.lower()}"`'
            if _DIGEST.fullmatch(value.lower())
            else "`harbor add` writes the digest of a task",
        )


def manifest_file(view: View) -> Iterator[Finding]:
    """A file that a dataset.toml lists is not named by its name alone: files lie beside it."""
    for table in tables_in(view.manifest or {}, "files"):
        path = table.value.get("path")
        if isinstance(path, str) and re.search(r"[/\\]", path):
            yield table.find(
                "path",
                message=f"the file {printable(path)} is not named by its name alone",
                label="in another folder",
                notes=(READING,),
                help="move the file beside the dataset.toml, and write its name",
            )
