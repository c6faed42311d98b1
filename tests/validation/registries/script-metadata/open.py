import sys

sys.argv
# /// script
# dependencies = []
