# /// script
# dependencies = [
# ///
import sys

sys.argv
