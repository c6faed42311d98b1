"""Metrics x table -> result."""
