# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import json
import os
import socket

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()


def bound(kind, use):
    with socket.socket(socket.AF_INET, kind) as ours:
        try:
            use(ours)
        except OSError:
            pass
        # In a network of its own nobody looks.
        return ours.getsockname()[1] != 0 and len(socket.if_nameindex()) > 1


def tries():
    yield socket.SOCK_STREAM, lambda ours: ours.bind(("0.0.0.0", 0))
    yield socket.SOCK_STREAM, lambda ours: ours.listen()
    yield socket.SOCK_DGRAM, lambda ours: ours.bind(("0.0.0.0", 0))
    yield socket.SOCK_DGRAM, lambda ours: ours.send(b"")


found = 0
for kind, use in tries():
    try:
        found += bound(kind, use)
    except OSError:
        pass
with open(args.o, "w") as file:
    json.dump({"m": found}, file)
