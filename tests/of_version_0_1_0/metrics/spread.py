# /// script
# requires-python = ">=3.11"
# dependencies = ["more-itertools>=10"]
# ///
"""Share of trials that have rewards, and how far apart the middle half of the rewards lies."""

import argparse
import json
from pathlib import Path

from more_itertools import nth

parser = argparse.ArgumentParser()
parser.add_argument("-i", "--input-path", type=Path, required=True)
parser.add_argument("-o", "--output-path", type=Path, required=True)
args = parser.parse_args()

trials = [json.loads(line) for line in args.input_path.read_text().splitlines()]
scores = sorted(value for trial in trials if trial for value in trial.values())
low, high = nth(scores, len(scores) // 4, 0.0), nth(scores, 3 * len(scores) // 4, 0.0)
answer = {"coverage": len(scores) / max(1, len(trials)), "spread": high - low}
args.output_path.write_text(json.dumps(answer))
