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
# keyctl, add_key, request_key, io_uring_setup, bpf, userfaultfd; a socket to the hypervisor
calls = {"x86_64": (250, 248, 249, 425, 321, 323), "aarch64": (219, 217, 218, 425, 280, 282)}
reached = 0
for number in calls.get(platform.machine(), ()):
    if libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != 1:
        reached += 1
if libc.socket(40, 1, 0) >= 0:
    reached += 1
with open(args.o, "w") as file:
    json.dump({"m": reached}, file)
