# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import argparse
import array
import fcntl
import json
import socket
import struct

parser = argparse.ArgumentParser()
parser.add_argument("-i")
parser.add_argument("-o")
args = parser.parse_args()
found = 0
with socket.socket() as any_socket:
    # SIOCGIFCONF: all interfaces with their addresses.
    room = array.array("B", bytes(4096))
    asked = bytearray(struct.pack("iP", len(room), room.buffer_info()[0]))
    try:
        fcntl.ioctl(any_socket, 0x8912, asked)
        found += struct.unpack("iP", asked)[0] // 40
    except OSError:
        pass
    # SIOCGIFADDR, SIOCGIFHWADDR, SIOCGIFINDEX.
    for request in (0x8915, 0x8927, 0x8933):
        try:
            fcntl.ioctl(any_socket, request, struct.pack("256s", b"lo"))
            found += 1
        except OSError:
            pass
with open(args.o, "w") as file:
    json.dump({"m": found}, file)
