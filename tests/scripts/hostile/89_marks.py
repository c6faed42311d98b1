# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import ctypes
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()
secret = "/canary/secret.txt"
libc = ctypes.CDLL(None, use_errno=True)


def watch():
    return libc.inotify_add_watch(libc.inotify_init1(0), secret.encode(), 0xFFF)


def tries():
    yield lambda: os.setxattr(secret, "user.seen", b"1")
    yield lambda: os.chown(secret, os.getuid(), os.getgid())
    yield lambda: os.stat(secret if watch() >= 0 else "/nowhere")


reached = 0
for attempt in tries():
    try:
        attempt()
        reached += 1
    except OSError:
        pass
with open(args.o, "w") as file:
    json.dump({"m": reached}, file)
