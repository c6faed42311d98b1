"""The rewards that every script is tried with."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts.check import built_in, check
from harbor_metrics.scripts.options import ScriptOptions


def test_built_in_rewards_have_every_shape_that_a_job_gives() -> None:
    rewards = [row for table in built_in().values() for row in table.rewards()]
    shapes = {None if row is None else frozenset(row) for row in rewards}
    assert {None, frozenset(), frozenset({"reward"}), frozenset({"accuracy", "seconds"})} <= shapes


def test_script_is_tried_on_each_table_and_once_more(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "import json, random, sys\n"
        "n = len(open(sys.argv[2]).readlines())\n"
        "if n == 2: sys.exit('two')\n"
        "json.dump({'n': n, 'luck': random.random()}, open(sys.argv[4], 'w'))\n"
    )
    result = check(find(str(tmp_path / "m.py"), None), built_in(), ScriptOptions())
    assert [tried.n for tried in result.tried] == [3, 3, 3, 2]
    assert [bool(tried.error) for tried in result.tried] == [False, False, False, True]
    assert "two" in result.tried[-1].error
    assert result.differing == [tried.case for tried in result.tried[:3]]
    assert not result.ok


@pytest.mark.parametrize("beside", ["", "helper.py", "numpy-9.dist-info"])
def test_script_imports_the_same_whether_or_not_it_is_watched(beside: str, tmp_path: Path) -> None:
    """A folder of data is no package; what seems to be installed beside it is not."""
    (tmp_path / "extra").mkdir()
    if beside.endswith(".py"):
        (tmp_path / beside).touch()
    elif beside:
        (tmp_path / beside).mkdir()
        (tmp_path / beside / "METADATA").write_text("Name: numpy\nVersion: 9\n")
    (tmp_path / "m.py").write_text(
        "import importlib.metadata, importlib.util, json, sys\n"
        "if False: import helper\n"
        "found = {'extra': int(importlib.util.find_spec('extra') is not None)}\n"
        "installed = importlib.metadata.distributions()\n"
        "found['nines'] = sum(one.version == '9' for one in installed)\n"
        "json.dump(found, open(sys.argv[4], 'w'))\n"
    )
    result = check(find(str(tmp_path / "m.py"), None), built_in(), ScriptOptions())
    assert result.ok
    assert {(tried.values["extra"], tried.values["nines"]) for tried in result.tried} == {(0, 0)}
    assert result.differing == []
