"""What a terminal is told to make of a part of a text."""

from __future__ import annotations

BOLD, DIM, RED, YELLOW, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
STYLES = (BOLD, DIM, RED, YELLOW, PLAIN)
