"""Two runs of the same tasks: pairing, differences, what they are worth."""
