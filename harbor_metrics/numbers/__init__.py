"""Exact arithmetic and statistics, without trials."""
