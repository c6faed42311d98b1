"""A metric script to begin with, that works as it is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from ..documents.files import check_place, reason, write_atomically
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
# Which task a trial is of stands in the file that HARBOR_METRICS_TRIALS names, line by line in the
# same order, {"task": "t1", "rewards": …}: `harbor-metrics compute` sets that, Harbor does not.
trials = [json.loads(line) for line in args.input_path.read_text().splitlines()]
keys = sorted({key for trial in trials if trial for key in trial})

answer = {key: sum((trial or {}).get(key, 0) for trial in trials) / len(trials) for key in keys}
answer["scored"] = sum(trial is not None for trial in trials)
args.output_path.write_text(json.dumps(answer))
'''


@contextlib.contextmanager
def written(path: str, text: str = SCRIPT) -> Iterator[None]:
    """Write the template, or another script, to a new file in a folder that may be new, too.

    Both go again where what is done with them fails.

    Raises:
        OutputError: the file exists, or cannot be written.
    """
    if os.path.lexists(path):
        raise OutputError(f"{path} is there already; nothing was written")
    check_place(path)
    folders: list[str] = []
    folder = os.path.dirname(path)
    while folder and not os.path.lexists(folder):
        folders.append(folder)
        folder = os.path.dirname(folder)
    try:
        try:
            for missing in reversed(folders):
                os.mkdir(missing)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {reason(error)}") from error
        write_atomically(path, text.encode())
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        for made in folders:
            with contextlib.suppress(OSError):
                os.rmdir(made)
        raise
