"""One result or one list of diagnostics, many renderings: a file for each format."""
