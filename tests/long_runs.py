"""Run each pattern of the rooms that read strangers' texts over long runs: python long_runs.py.

It has seconds of the processor, in which none ends that takes the square of its text. The last
line that is printed names the pattern that was at work.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import itertools
import pkgutil
import re
import resource
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

ROOMS = ("harbor_metrics.scripts", "harbor_metrics.registries")
SECONDS = 20
SEARCHING = ("search", "sub", "split", "findall", "finditer")
LENGTH = 50_000
RUNS = (
    *(" ", "\t", "\n", "\r", "=", "'", '"', "\\", "[", "(", "{", "<", "a", "1", ".", "/", "-"),
    *(":", "@", "#", ",", "$", "a ", "a.", "a,", "\\'", "= ", "1.", "://"),
)
BEFORE = ("", "a", ">=3", "a >=3", "a[x]", "a @ file:///", "import ", "'")


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    n = 0
    for n, (module, pattern, method) in enumerate(sorted(patterns(), key=str), start=1):
        sys.stdout.write(f"{n} {module} {method} {pattern.pattern!r}\n")
        sys.stdout.flush()
        for run, before in itertools.product(RUNS, BEFORE):
            text: Any = before + run * (LENGTH // len(run)) + "!"
            getattr(pattern, method)(text.encode() if isinstance(pattern.pattern, bytes) else text)
    sys.stdout.write(f"{n}\n")


def patterns() -> set[tuple[str, re.Pattern[Any], str]]:
    """The modules, their patterns, and by which method each is matched."""
    found = set()
    for room in map(importlib.import_module, ROOMS):
        for _, name, _ in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            module = importlib.import_module(name)
            for expression, method in asked(module):
                how = "search" if method in SEARCHING else method
                how = how if how in ("search", "match") else "fullmatch"
                found |= {(name, pattern, how) for pattern in compiled(expression)}
    return found


def asked(module: ModuleType) -> Iterator[tuple[Any, str]]:
    """What is matched in a module, and by which method: `re.sub(X, …)`, `_X.sub(…)`, `_X[…]`."""
    assert module.__file__ is not None
    with open(module.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    methods = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method), args=[one, *_]):
                # What is made of a local name is not known here.
                with contextlib.suppress(NameError):
                    whole = compile(ast.Expression(one), "", "eval")
                    yield eval(whole, {**vars(module)}), method
            case ast.Attribute(value=ast.Name(id=name), attr=method):
                methods[name] = method
    for name, value in vars(module).items():
        if not isinstance(value, str | bytes):
            yield value, methods.get(name, "fullmatch")
    yield from ((expression, "search") for _, expression in getattr(module, "_CALLS", ()))


def compiled(value: Any) -> Iterator[re.Pattern[Any]]:
    """A pattern, one that is written, or those in a table."""
    if isinstance(value, re.Pattern | str | bytes):
        yield re.compile(value)
    elif isinstance(value, dict):
        yield from (inner for inner in value.values() if isinstance(inner, re.Pattern))


if __name__ == "__main__":
    main()
