"""One result or one list of findings, many renderings: a file a format."""
