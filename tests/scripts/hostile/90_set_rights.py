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
    for bit in (stat.S_ISUID, stat.S_ISGID):
        yield lambda: os.open(f"{program}{bit}", os.O_CREAT | os.O_WRONLY, bit | 0o755)
        yield lambda: os.mknod(f"{program}{bit}-2", stat.S_IFREG | bit | 0o755)
        with open(program + "-3", "w") as file:
            yield lambda: os.chmod(program + "-3", bit | 0o755)
            yield lambda: os.fchmod(file.fileno(), bit | 0o755)


made = 0
for attempt in tries():
    try:
        attempt()
    except OSError:
        pass
folder = os.environ["TMPDIR"]
for name in os.listdir(folder):
    mode = os.stat(os.path.join(folder, name)).st_mode
    made += bool(mode & (stat.S_ISUID | stat.S_ISGID))
# What is usual goes on.
os.chmod(program + "-3", 0o755)
with open(args.o, "w") as file:
    json.dump({"m": made}, file)
