"""Our own metrics and reducers by name, and the module that each stands in."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module

from ..contract.spec import UV_SCRIPT
from .plugins import Kind


@cache
def families(kind: Kind) -> dict[str, str]:
    """The module of each of our own metrics or reducers, by name; imports none of them."""
    package = import_module(f"harbor_metrics.{kind}")
    (folder,) = package.__path__
    modules: dict[str, str] = {}
    for file in sorted(os.listdir(folder)):
        stem, ending = os.path.splitext(file)
        if ending == ".py" and not stem.startswith("_"):
            with open(os.path.join(folder, file), encoding="utf-8") as source:
                functions = (part.partition("(")[0] for part in source.read().split("\ndef ")[1:])
                for function in functions:
                    if not function.startswith("_"):
                        modules[function.replace("_", "-")] = f"{package.__name__}.{stem}"
    return modules


def metric_names() -> list[str]:
    """Our own metric types, sorted."""
    return sorted([*families("metrics"), UV_SCRIPT])


def reducer_names() -> list[str]:
    """Our own reducers, sorted."""
    return sorted(families("reducers"))
