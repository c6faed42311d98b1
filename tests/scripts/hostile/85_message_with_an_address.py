# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import json
import socket

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()
reached = 0
there = ("127.0.0.1", 9911)


def tries():
    yield lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, there)
    yield lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(there)
    for protocol in (262, 132, 136, 33):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, 6):
            yield lambda k=kind, p=protocol: socket.socket(socket.AF_INET, k, p).connect(there)
    # With the first bytes of a connection that is only being opened.
    yield lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).sendto(b"x", 0x20000000, there)


for attempt in tries():
    try:
        attempt()
        reached += 1
    except OSError:
        pass
with open(args.o, "w") as file:
    json.dump({"m": reached}, file)
