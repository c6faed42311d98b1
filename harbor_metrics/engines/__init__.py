"""Trials that lie on an engine: the questions that a metric asks, asked of a relation."""
