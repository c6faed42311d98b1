"""Names in which others lie: each of these repeats them, so that a long one takes the square."""

from __future__ import annotations

LONGEST = 1_000
_SHOWN = 200


def of_parts(name: str) -> str:
    """A name that is put before those of its parts.

    Raises:
        ValueError: it is longer than any that a harness writes.
    """
    if len(name) > LONGEST:
        raise ValueError(
            f"the name of a value with others in it, {name[:20]}…, has more than {LONGEST:,} "
            "characters"
        )
    return name


def shown(name: str) -> str:
    """As much of a name as tells where its parts stand."""
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
