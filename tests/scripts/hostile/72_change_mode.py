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
changed = 0
for change in (lambda p: os.chmod(p, 0o4755), lambda p: os.utime(p, (5, 5))):
    try:
        change(__file__)
        changed += 1
    except OSError:
        pass
with open(args.o, "w") as file:
    json.dump({"m": changed}, file)
