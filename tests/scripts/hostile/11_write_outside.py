# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
import sys,os,json,argparse,time
p=argparse.ArgumentParser();p.add_argument("-i");p.add_argument("-o");a=p.parse_args()
OUT=a.o; INP=a.i
def ok(d={"m":1.0}): open(OUT,"w").write(json.dumps(d))
import pwd
here=os.environ.get("HARBOR_METRICS_SCRIPT_DIR") or os.path.dirname(os.path.abspath(__file__))
n=0
for d in (here,os.path.dirname(here),pwd.getpwuid(os.getuid()).pw_dir,"/dev/shm","/var/tmp"):
    try: open(os.path.join(d,"hostile-was-here"),"w").write("x"); n+=d!="/dev/shm"
    except OSError: pass
ok({"m":n})
