# /// script
# a = 1
# ///
# /// script
# a = 1
# ///
import sys

sys.argv
