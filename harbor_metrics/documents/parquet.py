"""By what a file is taken for Parquet, which engines are asked about and readers do not read."""

SUFFIX = ".parquet"
# What it begins with.
MARK = b"PAR1"


def is_called_so(path: str) -> bool:
    """Whether a path is that of Parquet by its name."""
    return path.rstrip("/").lower().endswith(SUFFIX)
