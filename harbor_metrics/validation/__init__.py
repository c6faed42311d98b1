"""A document -> diagnostics."""
