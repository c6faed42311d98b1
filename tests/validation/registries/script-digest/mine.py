# /// script
# dependencies = []
# ///
import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument("-i", "--input-path", required=True)
parser.add_argument("-o", "--output-path", required=True)
arguments = parser.parse_args()
with open(arguments.input_path) as file:
    rewards = [json.loads(line) or {} for line in file]
values = [reward.get("reward", 0) for reward in rewards]
with open(arguments.output_path, "w") as file:
    json.dump({"score": sum(values) / len(values)}, file)
