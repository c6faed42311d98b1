"""The patterns of a .gitignore, as git takes them, in time that grows with pattern and path."""

from __future__ import annotations

import codecs
import re
import string
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_STAR, _ONE = b"*", b"?"
_ANY_SIGN = re.compile(rb"[*?\[\\]")
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, [*range(32), 127])),
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "space": " \t\n\r\f\v",
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}
# So many bytes a name has at most, wherever it lies.
_LONGEST_NAME = 255
_NOTHING = re.compile(rb"(?!)")
# What one name on a path must be: a text, an expression, or `**`, any number of names.
_Step = bytes | re.Pattern[bytes] | None


class Pattern(NamedTuple):
    """What a line says of paths: the names on them, or the last alone.

    The `beginning` is what stands before the first sign; git takes what follows for a pattern of
    its own, so that `a**/b` fits `ab`, as `**/b` fits `b`.
    """

    leaves_out: bool
    folders_only: bool
    steps: tuple[_Step, ...]
    whole_path: bool
    beginning: bytes = b""

    def fits(self, names: Sequence[bytes], *, is_folder: bool) -> bool:
        """Whether it is about what lies there itself, not about a folder above."""
        if self.folders_only and not is_folder:
            return False
        if not self.whole_path:
            return _is(self.steps[0], names[-1])
        if self.beginning:
            path = b"/".join(names)
            if not path.startswith(self.beginning):
                return False
            names = path[len(self.beginning) :].split(b"/")
        step = at = 0
        # The last `**`, and where the names begin that it does not stand for: earlier ones need
        # not be tried again, since what follows them was found as early as can be.
        again: tuple[int, int] | None = None
        while at < len(names):
            if step < len(self.steps) and self.steps[step] is None:
                step += 1
                again = step, at
                if step == len(self.steps):
                    return True
            elif step < len(self.steps) and _is(self.steps[step], names[at]):
                step, at = step + 1, at + 1
            elif again is not None:
                step, at = again[0], again[1] + 1
                again = step, at
            else:
                return False
        return step == len(self.steps)


class Patterns:
    """The patterns of a file together: those without signs are looked up, the others tried."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns
        # A name, or a path with true before it -> the last pattern that is that: of all, and of
        # those about folders.
        self._exact: tuple[dict[tuple[bool, bytes], int], ...] = ({}, {})
        self.others: list[tuple[int, Pattern]] = []
        for place, pattern in enumerate(patterns):
            exact = pattern.beginning if pattern.whole_path else pattern.steps[0]
            if isinstance(exact, bytes) and (not pattern.whole_path or pattern.steps == (b"",)):
                self._exact[pattern.folders_only][pattern.whole_path, exact] = place
            else:
                self.others.append((place, pattern))

    def leave_out(self, names: Sequence[bytes], *, is_folder: bool) -> bool | None:
        """What the last one says that is about what lies there; None where none is."""
        keys = (False, names[-1]), (True, b"/".join(names))
        tables = self._exact if is_folder else self._exact[:1]
        last = max(table.get(key, -1) for table in tables for key in keys)
        for place, pattern in reversed(self.others):
            if place < last:
                break
            if pattern.fits(names, is_folder=is_folder):
                last = place
                break
        return None if last < 0 else self._patterns[last].leaves_out


def patterns_in(data: bytes) -> list[Pattern]:
    """The patterns of a file, the first first; a line that is none, for git either, is passed."""
    lines = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    found = (_pattern(_trimmed(line.removesuffix(b"\r"))) for line in lines if line[:1] != b"#")
    return [pattern for pattern in found if pattern is not None]


def _pattern(line: bytes) -> Pattern | None:
    leaves_out = not line.startswith(b"!")
    line = line if leaves_out else line[1:]
    folders_only = line.endswith(b"/")
    line = line[:-1] if folders_only else line
    whole_path = b"/" in line
    line = line.removeprefix(b"/")
    beginning = _ANY_SIGN.split(line, maxsplit=1)[0] if whole_path else b""
    try:
        parts = _split(line[len(beginning) :])
    except _NoPatternError:
        return None
    if not whole_path:
        return Pattern(leaves_out, folders_only, (_step(parts[0]),), whole_path) if line else None
    # Two in a row stand for no more than one.
    steps = [None if len(part) > 1 and {*part} == {_STAR} else _step(part) for part in parts]
    kept = [s for s, before in zip(steps, [b"", *steps], strict=False) if {s, before} != {None}]
    return Pattern(leaves_out, folders_only, tuple(kept), whole_path, beginning)


class _NoPatternError(Exception):
    """Nothing is what the line describes."""


def _trimmed(line: bytes) -> bytes:
    """The line without the spaces at its end, but for one with a backslash before it."""
    bare = line.rstrip(b" ")
    n_backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if n_backslashes % 2 and bare != line else bare


def _split(pattern: bytes) -> list[list[bytes | frozenset[int]]]:
    """What stands between slashes: signs, texts of one byte as sets of it, and sets."""
    parts: list[list[bytes | frozenset[int]]] = [[]]
    at = 0
    while at < len(pattern):
        sign = pattern[at : at + 1]
        at += 1
        if sign in (_STAR, _ONE):
            parts[-1].append(sign)
            continue
        if sign == b"[":
            chosen, at = _set(pattern, at)
            parts[-1].append(chosen)
            continue
        if sign == b"\\":
            sign = pattern[at : at + 1]
            at += 1
            if not sign:
                raise _NoPatternError
        if sign == b"/":
            parts.append([])
        else:
            parts[-1].append(frozenset(sign))
    return parts


def _set(pattern: bytes, start: int) -> tuple[frozenset[int], int]:
    """The bytes that brackets stand for, and where what follows them begins."""
    negated = pattern[start : start + 1] in (b"!", b"^")
    at = first = start + negated
    chosen: set[int] = set()
    before: int | None = None
    while at == first or pattern[at : at + 1] != b"]":
        if pattern[at : at + 2] == b"[:":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                raise _NoPatternError
            if end > at + 2 and pattern[end - 1 : end] == b":":
                name = pattern[at + 2 : end - 1].decode("latin-1")
                if name not in _CLASSES:
                    raise _NoPatternError
                chosen |= set(_CLASSES[name].encode())
                at, before = end + 1, None
                continue
        is_range = pattern[at : at + 1] == b"-" and before is not None
        if is_range and pattern[at + 1 : at + 2] not in (b"", b"]"):
            byte, at = _byte(pattern, at + 1)
            chosen |= {*range(before or 0, byte + 1)}
            before = None
        else:
            before, at = _byte(pattern, at)
            chosen.add(before)
    return frozenset({*range(256)} - chosen if negated else chosen), at + 1


def _byte(pattern: bytes, at: int) -> tuple[int, int]:
    """A byte in brackets, which may have a backslash before it, and where the next stands."""
    at += pattern[at : at + 1] == b"\\"
    if at >= len(pattern):
        raise _NoPatternError
    return pattern[at], at + 1


def _step(part: list[bytes | frozenset[int]]) -> _Step:
    if len(part) - part.count(_STAR) > _LONGEST_NAME:
        return _NOTHING
    if all(isinstance(sign, frozenset) and len(sign) == 1 for sign in part):
        return bytes(byte for sign in part for byte in sign)
    pieces: list[bytes] = [b""]
    for sign in part:
        if sign == _STAR:
            pieces.append(b"")
        else:
            pieces[-1] += b"." if sign == _ONE else b"".join(_expression(sign))
    first, *others = pieces
    if not others:
        return re.compile(first, re.DOTALL)
    # Each piece as early as can be and never elsewhere, so that no number of stars takes long.
    between = b"".join(b"(?>.*?%b)" % piece for piece in others[:-1] if piece)
    return re.compile(b"%b%b.*%b" % (first, between, others[-1]), re.DOTALL)


def _expression(chosen: bytes | frozenset[int]) -> Iterator[bytes]:
    # Nothing is in `[!\x00-\xff]`.
    yield b"[" if chosen else b"(?!"
    for first, last in _ranges(sorted(chosen)):
        yield b"\\x%02x" % first if first == last else b"\\x%02x-\\x%02x" % (first, last)
    yield b"]" if chosen else b")"


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of those that follow one another."""
    begins = [n for n, before in zip(numbers, [None, *numbers], strict=False) if before != n - 1]
    ends = [n for n, after in zip(numbers, [*numbers[1:], None], strict=True) if after != n + 1]
    yield from zip(begins, ends, strict=True)


def _is(step: _Step, name: bytes) -> bool:
    if isinstance(step, bytes):
        return step == name
    return step is None or step.fullmatch(name) is not None
