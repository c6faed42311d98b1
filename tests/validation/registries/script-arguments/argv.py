# /// script
# dependencies = []
# ///
import sys

print(sys.argv[2])
