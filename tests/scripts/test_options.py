"""How scripts are run."""

from __future__ import annotations

from harbor_metrics.scripts.options import ScriptOptions


def test_the_layers_of_the_options_are_those_of_the_sandbox() -> None:
    from harbor_metrics.confinement.places import LAYERS

    assert ScriptOptions().layers == LAYERS
