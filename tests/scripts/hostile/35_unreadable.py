# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import sys,os,json,argparse,time
p=argparse.ArgumentParser();p.add_argument("-i");p.add_argument("-o");a=p.parse_args()
OUT=a.o; INP=a.i
def ok(d={"m":1.0}): open(OUT,"w").write(json.dumps(d))
for d in (os.environ["TMPDIR"],os.path.dirname(OUT)):
    os.makedirs(os.path.join(d,"a/b/c")); open(os.path.join(d,"a/b/f"),"w"); os.chmod(os.path.join(d,"a/b"),0); os.chmod(os.path.join(d,"a"),0)
ok(); os.chmod(os.environ["TMPDIR"],0)
