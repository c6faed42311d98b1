"""The only way out: standard output and standard error, written whole or failing."""
