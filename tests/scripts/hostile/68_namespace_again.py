# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import sys,os,json,argparse,time
p=argparse.ArgumentParser();p.add_argument("-i");p.add_argument("-o");a=p.parse_args()
OUT=a.o; INP=a.i
def ok(d={"m":1.0}): open(OUT,"w").write(json.dumps(d))
import ctypes
r=ctypes.CDLL(None).unshare(0x10000000)
try: open("/canary/secret.txt").read(); ok({"m":1})
except OSError: ok({"m":0})
