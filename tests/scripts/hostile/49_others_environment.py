# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import sys,os,json,argparse,time
p=argparse.ArgumentParser();p.add_argument("-i");p.add_argument("-o");a=p.parse_args()
OUT=a.o; INP=a.i
def ok(d={"m":1.0}): open(OUT,"w").write(json.dumps(d))
n=0
for q in os.listdir("/proc"):
    try: n+=b"HOSTILE_"+b"SECRET" in open("/proc/%s/environ"%q,"rb").read()
    except OSError: pass
ok({"m":int(n>0)})
