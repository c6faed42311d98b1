# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import sys,os,json,argparse,time
p=argparse.ArgumentParser();p.add_argument("-i");p.add_argument("-o");a=p.parse_args()
OUT=a.o; INP=a.i
def ok(d={"m":1.0}): open(OUT,"w").write(json.dumps(d))
import threading
def f(): raise ValueError("in a thread")
t=threading.Thread(target=f); t.start(); t.join(); ok({"m":0})
