# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import glob
import json

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()
found = 0
for places in ("class/net/*", "devices/*/net/*", "devices/*/*/net/*", "devices/*/*/*/net/*"):
    for name in glob.glob(f"/sys/{places}/address"):
        try:
            with open(name) as file:
                found += bool(file.read())
        except OSError:
            pass
with open(args.o, "w") as file:
    json.dump({"m": found}, file)
