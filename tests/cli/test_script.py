"""`harbor-metrics script check`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import Run
from metric_scripts import HEAD


@pytest.mark.usefixtures("own_caches")
class TestCheck:
    """`script check`, for a script's author."""

    def test_script_is_tried_with_every_shape_of_rewards(self, cli: Run, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(
            HEAD + "rows = [json.loads(line) for line in open(a.i)]\n"
            "try: open('/etc/shadow.bak')\nexcept OSError: pass\n"
            "try: open(os.path.expanduser('~root/secret'), 'w')\nexcept OSError: pass\n"
            "import random\n"
            "answer(total=sum(r['reward'] for r in rows), luck=random.random())"
        )
        done = cli("script", "check", "m.py")
        assert done.returncode == 1
        assert "one key: 3 trials" in done.stdout
        assert "  total  1.5" in done.stdout
        assert "KeyError: 'reward'" in done.stdout
        assert "NoneType" in done.stdout
        assert "other numbers the second time:\n  one key" in done.stdout
        assert sys.platform != "linux" or "secret w: " in done.stdout

    def test_what_a_script_says_stands_below_its_answer(self, cli: Run, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(HEAD + "print('I wonder', file=sys.stderr); answer(n=1)")
        done = cli("script", "check", "m.py")
        assert done.returncode == 0
        assert "  n  1\n  it said\n    | I wonder\n" in done.stdout

    def test_template_passes_the_check(self, cli: Run, tmp_path: Path) -> None:
        from harbor_metrics.registries.template import SCRIPT

        (tmp_path / "m.py").write_text(SCRIPT)
        done = cli("script", "check", "m.py")
        assert done.returncode == 0, done.stdout
        assert "other numbers" not in done.stdout
        assert "refused" not in done.stdout

    def test_script_is_checked_on_the_rewards_of_a_job(
        self, cli: Run, job: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "m.py").write_text(HEAD + "answer(n=len(open(a.i).readlines()))")
        assert "n  10" in cli("script", "check", "m.py", "--rewards", job).stdout

    def test_missing_script_is_refused(self, cli: Run) -> None:
        assert cli("script", "check", "gone.py").returncode == 3
