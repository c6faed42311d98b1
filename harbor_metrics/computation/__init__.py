"""From a request to a result: sources are read, metrics planned, and then run."""
