# /// pyproject
# a = 1
# ///
import sys

sys.argv
