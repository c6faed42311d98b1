# /// script
# dependencies = []
# ///
x = (
