"""Samples of lm-evaluation-harness."""
