# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import sys,os,json,argparse,time
p=argparse.ArgumentParser();p.add_argument("-i");p.add_argument("-o");a=p.parse_args()
OUT=a.o; INP=a.i
def ok(d={"m":1.0}): open(OUT,"w").write(json.dumps(d))
sys.stderr.write("::error file=a.py::injected\n  ::stop-commands::x\n##[error]x \x1b[31mred\x1b]0;title\x07\n"); print("::set-output name=a::b"); sys.exit(3)
