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
def state():
    status = os.stat(__file__)
    return status.st_mode, status.st_mtime


changed = 0
for change in (lambda p: os.chmod(p, 0o4755), lambda p: os.utime(p, (5, 5))):
    before = state()
    try:
        change(__file__)
    except OSError:
        pass
    changed += state() != before
with open(args.o, "w") as file:
    json.dump({"m": changed}, file)
