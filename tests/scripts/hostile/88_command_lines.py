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
reached = 0
for name in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{name}/cmdline", "rb") as file:
            reached += b"pytest" in file.read()
    except OSError:
        pass
with open("/proc/self/cmdline", "rb") as file:
    assert file.read()
with open(args.o, "w") as file:
    json.dump({"m": reached}, file)
