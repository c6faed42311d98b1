# /// script
# dependencies = []
# ///
"""Share of trials at or above a half, and the distance between the best and the worst reward."""

import argparse
import json
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("-i", "--input-path", type=Path, required=True)
parser.add_argument("-o", "--output-path", type=Path, required=True)
args = parser.parse_args()

rewards = []
for line in args.input_path.read_text().splitlines():
    reward = json.loads(line)
    rewards.append(0.0 if reward is None else next(iter(reward.values())))
args.output_path.write_text(
    json.dumps(
        {
            "passing": sum(r >= 0.5 for r in rewards) / len(rewards),
            "spread": max(rewards) - min(rewards),
        }
    )
)
