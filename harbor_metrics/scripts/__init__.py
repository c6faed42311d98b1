"""A user's metric script: its file, its environment, its run, its answer."""
