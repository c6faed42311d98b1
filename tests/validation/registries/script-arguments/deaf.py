# /// script
# dependencies = []
# ///
print("-i")
