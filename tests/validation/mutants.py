"""Registries spoiled as people and merges spoil them, the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

TOKENS = [
    *("null", "true", "1", '"x"', "{}", "[]", ",", ":", "{", "}", "[", "]", '"', "'", "NaN"),
    *("-", "\\", "//", "<<<<<<< HEAD\n", "\ufeff", "\u0000", "1e999", '"type"', '"name": 1,'),
]


def mutants(texts: list[str], n: int, seed: int) -> Iterator[str]:
    """n texts, each one of `texts` with a mistake or two in it."""
    rng = random.Random(seed)
    for _ in range(n):
        text = rng.choice(texts)
        for _ in range(rng.choice([1, 1, 1, 2])):
            text = mutate(text, rng, texts)
        yield text


def mutate(text: str, rng: random.Random, texts: list[str]) -> str:
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(8)
    if kind == 0:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        lines[a], lines[b] = lines[b], lines[a]
    elif kind == 2:
        lines.insert(a, lines[a])
    elif kind == 3:
        del lines[a]
    elif kind == 4:
        return text[:at]
    elif kind == 5:
        return text[:at] + rng.choice(TOKENS) + text[at:]
    elif kind == 6:
        other = rng.choice(texts).split("\n")
        lines[a : a + 1] = other[: rng.randrange(1, 12)]
    else:
        words = ["name", "version", "tasks", "metrics", "type", "kwargs", "path", "description"]
        return text.replace(f'"{rng.choice(words)}"', f'"{rng.choice(words)}"', 1)
    return "\n".join(lines)
