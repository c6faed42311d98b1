# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import json
import os
import stat

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()
program = os.path.join(os.environ["TMPDIR"], "program")


def tries():
    yield lambda: os.open(program, os.O_CREAT | os.O_WRONLY, 0o4755)
    yield lambda: os.mknod(program + "-2", 0o104755)
    with open(program + "-3", "w") as file:
        yield lambda: os.chmod(program + "-3", 0o4755)
        yield lambda: os.fchmod(file.fileno(), 0o4755)


made = 0
for attempt in tries():
    try:
        attempt()
    except OSError:
        pass
folder = os.environ["TMPDIR"]
for name in os.listdir(folder):
    made += bool(os.stat(os.path.join(folder, name)).st_mode & stat.S_ISUID)
# What is usual goes on.
os.chmod(program + "-3", 0o755)
with open(args.o, "w") as file:
    json.dump({"m": made}, file)
