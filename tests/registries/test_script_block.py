"""The PEP 723 block of a script, as any reader of it can follow."""

from __future__ import annotations

import tomllib

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_block import check_depth


def test_a_block_is_no_deeper_than_readers_follow() -> None:
    check_depth(tomllib.loads('dependencies = ["x"]\n[tool.uv.sources]\nx = [{index = "mine"}]'))
    with pytest.raises(MetricFailure, match="deeper"):
        check_depth(tomllib.loads("a" + ".a" * 3000 + " = 1"))
