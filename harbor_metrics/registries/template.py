"""A metric script to begin with, that works as it is."""

from __future__ import annotations

import os

from ..documents.files import write_atomically
from ..errors import OutputError

SCRIPT = '''# /// script
# requires-python = ">=3.11"
# dependencies = []
# ///
"""The mean of each reward key; a trial without rewards counts as 0."""

import argparse
import json
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("-i", "--input-path", type=Path, required=True)
parser.add_argument("-o", "--output-path", type=Path, required=True)
args = parser.parse_args()

# One trial a line: an object of numbers, or null where the trial ended without rewards.
trials = [json.loads(line) for line in args.input_path.read_text().splitlines()]
keys = sorted({key for trial in trials if trial for key in trial})

answer = {key: sum((trial or {}).get(key, 0) for trial in trials) / len(trials) for key in keys}
answer["scored"] = sum(trial is not None for trial in trials)
args.output_path.write_text(json.dumps(answer))
'''


def write(path: str, text: str = SCRIPT) -> None:
    """Write the template, or another script, to a new file.

    Raises:
        OutputError: the file exists, or cannot be written.
    """
    if os.path.lexists(path):
        raise OutputError(f"{path} is there already; nothing was written")
    write_atomically(path, text.encode())
