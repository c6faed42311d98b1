"""The rewards that every script is tried with."""

from __future__ import annotations

from pathlib import Path

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
