"""A document that is one object: one of ours, or no registry."""

from __future__ import annotations

from ..documents import mismatch
from ..documents.diagnostics import Diagnostic
from ..documents.document import Document
from .rules import LOADING
from .search import is_called_registry

# The documents of ours, and the key that each of them has.
_OURS: dict[mismatch.Noun, str] = {"result": "groups", "comparison": "comparisons"}


def check(document: Document) -> list[Diagnostic]:
    """What is wrong with a document that is one object."""
    value = document.value
    ours = next((kind for kind, key in _OURS.items() if {key, "schema_version"} <= {*value}), None)
    if ours and is_called_registry(document.path):
        return [
            document.find(
                [],
                rule="not-a-registry",
                message=f"this is a {ours} document of ours; a registry is an array of datasets",
                notes=(LOADING,),
                help="call it otherwise: Harbor and `validate` look for registries by this name",
            )
        ]
    if ours:
        return document.resolve(list(mismatch.findings(value, ours)))
    if "name" in value and "tasks" in value:
        return [
            document.find(
                [],
                rule="not-a-registry",
                message="this is a single dataset; a registry is an array of datasets",
                label="a dataset",
                notes=(f"{LOADING}: it goes through the keys of an object",),
                help="put `[` before it and `]` behind it",
            )
        ]
    if isinstance(value.get("datasets"), list):
        return [
            document.find(
                ["datasets"],
                key=True,
                rule="not-a-registry",
                message="a registry is an array of datasets, without an object around it",
                notes=(LOADING,),
                help="keep only the array",
            )
        ]
    return [
        document.find(
            [],
            rule="not-a-registry",
            message="this object is neither a registry nor a document of ours",
            notes=(LOADING,),
            help="a registry is an array of datasets",
        )
    ]
