"""Code that is run in layers of the sandbox."""

from __future__ import annotations

import sys

import pytest

from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.workplace import Confinement, Workplace

in_all_layers = pytest.mark.parametrize(
    "layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")]
)


def confined(code: str, layers: tuple[str, ...], *readable: str, network: bool = False) -> Finished:
    """What became of code of Python; a test is skipped where a layer is not there."""
    confinement = Confinement(
        layers=layers, network=network, readable=(sys.prefix, sys.base_prefix, *readable)
    )
    with Workplace() as place:
        argv = [sys.executable, "-I", "-S", "-c", code]
        finished = place.run(argv, env={}, cwd="/", timeout=30, confinement=confinement)
    if finished.layers != layers:
        pytest.skip(f"not here: {finished.missing}")
    return finished
