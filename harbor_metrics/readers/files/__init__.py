"""Files as they lie on disk: packed, archived, in lines, read in two processes."""
