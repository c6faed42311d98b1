# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import sys,os,json,argparse,time
p=argparse.ArgumentParser();p.add_argument("-i");p.add_argument("-o");a=p.parse_args()
OUT=a.o; INP=a.i
def ok(d={"m":1.0}): open(OUT,"w").write(json.dumps(d))
import signal
n=0
for q in os.listdir("/proc"):
    if q.isdigit() and int(q)!=os.getpid():
        try:
            with open("/proc/%s/cmdline"%q,"rb") as f: canary=b"hostile_canary" in f.read()
            if canary: os.kill(int(q),signal.SIGKILL); n+=1
        except OSError: pass
ok({"m":n})
