# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()
found = 0
try:
    found = sum(name.startswith("psm_hostile-neighbour-") for name in os.listdir("/dev/shm"))
except OSError:
    pass
with open(args.o, "w") as file:
    json.dump({"m": found}, file)
