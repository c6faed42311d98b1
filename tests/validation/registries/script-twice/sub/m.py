# /// script
# dependencies = []
# ///
import sys
print(sys.argv)
