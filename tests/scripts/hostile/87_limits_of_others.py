# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import json
import os
import resource

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()
try:
    limits = resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)
    resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, limits)
    reached = 1
except OSError:
    reached = 0
# Its own it may look at.
resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE)
with open(args.o, "w") as file:
    json.dump({"m": reached}, file)
