"""The patient reader: loaded for a text that was refused, and for no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMPUTE = """
import sys
import harbor_metrics

try:
    harbor_metrics.compute(sys.argv[1])
except harbor_metrics.InputError:
    pass
print("harbor_metrics.documents.syntax" in sys.modules)
"""


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ('{"reward": 1}\n{"reward": 0.5}\nnull\n', False),
        ('{"reward": 1}\n{"reward": 0.5,}\nnull\n', True),
    ],
)
def test_the_patient_reader_loads_only_for_a_text_that_was_refused(
    text: str, loaded: bool, tmp_path: Path
) -> None:
    rewards = tmp_path / "rewards.jsonl"
    rewards.write_text(text)
    ran = subprocess.run(
        [sys.executable, "-c", COMPUTE, rewards], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(loaded), ran.stderr
