# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import ctypes
import fcntl
import json
import os
import signal

signal.signal(signal.SIGIO, signal.SIG_IGN)  # what a watched folder or a lease sends
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
    # Of what it may read.
    script, folder = os.open(__file__, os.O_RDONLY), os.open(os.path.dirname(__file__), os.O_RDONLY)
    yield lambda: fcntl.ioctl(script, 0x40087602, b"12345678")  # FS_IOC_SETVERSION
    yield lambda: fcntl.fcntl(script, 1024, fcntl.F_RDLCK)  # F_SETLEASE
    yield lambda: fcntl.fcntl(folder, 1026, 1)  # F_NOTIFY


reached = 0
for attempt in tries():
    try:
        attempt()
        reached += 1
    except OSError:
        pass
with open(args.o, "w") as file:
    json.dump({"m": reached}, file)
