# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import sys,os,json,argparse,time
p=argparse.ArgumentParser();p.add_argument("-i");p.add_argument("-o");a=p.parse_args()
OUT=a.o; INP=a.i
def ok(d={"m":1.0}): open(OUT,"w").write(json.dumps(d))
f=open(OUT,"wb"); f.write(b'{"m":1}'); f.truncate(200<<20)
