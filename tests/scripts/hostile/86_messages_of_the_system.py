# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import ctypes
import json
import platform

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()
libc = ctypes.CDLL(None, use_errno=True)
# A queue and a piece of memory that every process of the user finds by number or name.
reached = int(libc.msgget(0, 0o600 | 0o1000) >= 0) + int(libc.shmget(0, 4096, 0o600 | 0o1000) >= 0)
mq_open = {"x86_64": 240, "aarch64": 180}.get(platform.machine())
if mq_open and libc.syscall(ctypes.c_long(mq_open), b"hostile", 0o102, 0o600, None) >= 0:
    reached += 1
    libc.syscall(ctypes.c_long(mq_open + 1), b"hostile")
with open(args.o, "w") as file:
    json.dump({"m": reached}, file)
