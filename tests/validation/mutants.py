"""Registries and manifests spoiled as people and merges spoil them, the same for the same seed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

TOKENS = [
    *("null", "true", "1", '"x"', "{}", "[]", ",", ":", "{", "}", "[", "]", '"', "'", "NaN"),
    *("-", "\\", "//", "<<<<<<< HEAD\n", "\ufeff", "\u0000", "1e999", '"type"', '"name": 1,'),
]
WORDS = ["name", "version", "tasks", "metrics", "type", "kwargs", "path", "description"]
KEYS = ["name", "version", "tasks", "dataset", "files", "path", "digest", "authors", "keywords"]
VALUES: list[Any] = [
    *(None, True, 0, 1.5, "", "x", "head", [], {}, ["x"], {"x": 1}, "../../x", "/x", "a/../../b"),
    *("mean", "max", "uv-script", "median", "Mean", "pass-at-k", "a\ud800", "1" * 400, 10**25),
    *([{"type": "mean", "kwargs": {"key": "x"}}], [{"type": "uv-script"}], [{"kwargs": {"k": 1}}]),
    *([{"type": "uv-script", "kwargs": {"script_path": path}}] for path in ("gone.py", 5, None)),
    *({"script_path": "metrics/spread.py"}, {"script_path": "metrics\\spread.py"}, {"key": "r"}),
    [{"type": "mean", "kwargs": {"missing": "skip"}}, {"type": "median"}],
    {"name": "t", "path": "../out", "git_url": "", "git_commit_id": None},
]
IN_TOML = [
    *(
        '""',
        '"x"',
        '"a/b"',
        '"a/b/c"',
        '"a..b/c"',
        '".a/b"',
        '"a/b "',
        '"a/b\\n"',
        '"é/b"',
        '"a/-b"',
    ),
    *("1", "1.0", "true", "[]", "{}", '["x"]', '[{name = "x"}]', "[{}]", "nan", "1979-05-27"),
    *('{name = "a/b"}', '"sha256:"', f'"sha256:{"a" * 64}"', f'"SHA256:{"a" * 64}"', "'''x'''"),
    *(f'"sha256:{"A" * 64}"', f'"sha256:{"a" * 63}"', f'"{"a" * 64}"', '"metric.py"', '"a\\\\b"'),
]


def mutants(texts: list[str], n: int, seed: int) -> Iterator[str]:
    """n registries, each one of `texts` with a mistake or two in it."""
    return _mutants(texts, n, seed, lambda text, rng: spoil_value(text, rng))


def manifest_mutants(texts: list[str], n: int, seed: int) -> Iterator[str]:
    """n manifests, each one of `texts` with a mistake or two in it."""
    return _mutants(texts, n, seed, lambda text, rng: spoil_toml(text, rng))


def _mutants(
    texts: list[str], n: int, seed: int, spoil: Callable[[str, random.Random], str]
) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(n):
        text = rng.choice(texts)
        for _ in range(rng.choice([1, 1, 1, 2])):
            text = mutate(text, rng, texts) if rng.random() < 0.5 else spoil(text, rng)
        yield text


def mutate(text: str, rng: random.Random, texts: list[str]) -> str:
    """A text with a mistake of the keyboard or of a merge."""
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
        return text.replace(f'"{rng.choice(WORDS)}"', f'"{rng.choice(WORDS)}"', 1)
    return "\n".join(lines)


def spoil_value(text: str, rng: random.Random) -> str:
    """A registry with another value somewhere, a field less or a field more, as JSON again."""
    try:
        registry = json.loads(text)
    except ValueError:
        return text
    above, step = [registry], 0
    while isinstance(above[step], dict | list) and above[step] and rng.random() < 0.8:
        above = above[step]
        step = rng.choice([*above] if isinstance(above, dict) else range(len(above)))
    kind = rng.randrange(4)
    if isinstance(above, dict) and kind == 0:
        del above[step]
    elif isinstance(above, dict) and kind == 1:
        above[rng.choice([*WORDS, "git_url", "script_path", "key"])] = rng.choice(VALUES)
    else:
        above[step] = rng.choice(VALUES)
    return json.dumps(registry, indent=rng.choice([None, 2]))


def spoil_toml(text: str, rng: random.Random) -> str:
    """A manifest with another value, another key or another header somewhere."""
    kind = rng.randrange(3)
    pattern = (r"(?<== )\S[^\n]*", r"(?m)^\w+(?= =)", r"(?m)^\[\[?\w+\]\]?")[kind]
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    place = rng.choice(places)
    header = rng.choice(["[{}]", "[[{}]]"]).format(rng.choice([*KEYS, "task", "metadata"]))
    instead = (rng.choice(IN_TOML), rng.choice(KEYS), header)[kind]
    return text[: place.start()] + instead + text[place.end() :]
