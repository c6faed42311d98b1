"""The instructions of a filter of system calls (classic BPF), and what they are made up from.

What each call gets is in denials.py. It runs in the process that starts the program, so it imports
next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Instruction = tuple[int, int, int, int]
    # First and last number of calls with one answer, and the answer.
    Run = tuple[int, int, Sequence[Instruction]]

# include/uapi/linux/bpf_common.h, filter.h, seccomp.h: what an instruction does.
_LOAD, _RETURN, _JUMP = 0x20, 0x06, 0x05
_AND, _XOR, _SHIFT_RIGHT = 0x54, 0xA4, 0x74
EQUAL, AT_LEAST, ANY_BIT = 0x15, 0x35, 0x45
# What a test jumps over has a byte.
_REACH = 255
_NUMBER, _MACHINE = 0, 4
# Where the first of six arguments lies, the lower half first on both machines.
_ARGUMENTS, _SIZE, _UPPER = 16, 8, 4
# x32 has the numbers of x86-64 with this bit.
_OTHER_NUMBERING = 0x40000000
# So many calls are gone through one by one.
_FEW = 4

ALLOW: Instruction = (_RETURN, 0, 0, 0x7FFF0000)
# The call is not made, and gives 0, or this error.
_FAILS = 0x00050000
DONE: Instruction = (_RETURN, 0, 0, _FAILS)
REFUSE: Instruction = (_RETURN, 0, 0, _FAILS | 1)  # EPERM
INVALID: Instruction = (_RETURN, 0, 0, _FAILS | 22)  # EINVAL
NOT_OF_THIS_FILE: Instruction = (_RETURN, 0, 0, _FAILS | 25)  # ENOTTY, after which programs go on
UNKNOWN: Instruction = (_RETURN, 0, 0, _FAILS | 38)  # ENOSYS
NO_SUCH_OPTION: Instruction = (_RETURN, 0, 0, _FAILS | 92)  # ENOPROTOOPT
NOT_SUPPORTED: Instruction = (_RETURN, 0, 0, _FAILS | 95)  # EOPNOTSUPP


def argument(index: int) -> Instruction:
    """Load the lower half of an argument of the call."""
    return _LOAD, 0, 0, _ARGUMENTS + index * _SIZE


def upper(index: int) -> Instruction:
    """Load the upper half of an argument."""
    return _LOAD, 0, 0, _ARGUMENTS + index * _SIZE + _UPPER


def only_bits(bits: int) -> Instruction:
    """Keep these of what is loaded."""
    return _AND, 0, 0, bits


def other_bits(bits: int) -> Instruction:
    """Turn each of these of what is loaded."""
    return _XOR, 0, 0, bits


def without_lowest(n_bits: int) -> Instruction:
    """Shift what is loaded to the right."""
    return _SHIFT_RIGHT, 0, 0, n_bits


def where(test: int, value: int, then: Sequence[Instruction]) -> list[Instruction]:
    """Where the test holds of what is loaded these, else what comes after them."""
    if len(then) <= _REACH:
        return [(test, 0, len(then), value), *then]
    return [(test, 1, 0, value), (_JUMP, 0, 0, len(then)), *then]


def unless(test: int, value: int, then: Sequence[Instruction]) -> list[Instruction]:
    """As `where`, where the test does not hold."""
    if len(then) <= _REACH:
        return [(test, len(then), 0, value), *then]
    return [(test, 0, 1, value), (_JUMP, 0, 0, len(then)), *then]


def where_among(values: Sequence[int], then: Sequence[Instruction]) -> list[Instruction]:
    """As `where`, where one of these values is loaded."""
    *others, last = values
    of_last = where(EQUAL, last, then)
    over = len(others) + len(of_last) - len(then) - 1
    return [*((EQUAL, over - i, 0, value) for i, value in enumerate(others)), *of_last]


def by_value(
    index: int, values: Sequence[int], among: Instruction, other: Instruction
) -> list[Instruction]:
    """One answer where an argument is among these values, else another."""
    return [argument(index), *where_among(values, [among]), other]


def program(
    machine: int, answers: Mapping[int, Sequence[Instruction]], *, last: int
) -> list[Instruction]:
    """All of a filter: the answer to each call by its number, which is unknown above the last.

    A call without an answer is allowed; one of another machine is refused.
    """
    return [
        (_LOAD, 0, 0, _MACHINE),
        *unless(EQUAL, machine, [REFUSE]),
        (_LOAD, 0, 0, _NUMBER),
        *where(AT_LEAST, last + 1, [*where(AT_LEAST, _OTHER_NUMBERING, [REFUSE]), UNKNOWN]),
        *_search(_runs(answers)),
    ]


def _runs(answers: Mapping[int, Sequence[Instruction]]) -> list[Run]:
    """The answers in order; of numbers that follow each other one that is the same for all."""
    runs: list[Run] = []
    for number, then in sorted(answers.items()):
        if runs and runs[-1][1:] == (number - 1, then):
            runs[-1] = (runs[-1][0], number, then)
        else:
            runs.append((number, number, then))
    return runs


def _search(answers: Sequence[Run]) -> list[Instruction]:
    """To the answer for the number of the call, which is loaded; a call without one is allowed.

    The kernel asks the program for every number when it takes it, and for some at every call.
    """
    if len(answers) < _FEW:
        parts: list[Instruction] = []
        for first, last, then in answers:
            if first == last:
                parts += where(EQUAL, first, then)
            else:
                parts += where(AT_LEAST, first, unless(AT_LEAST, last + 1, then))
        return [*parts, ALLOW]
    middle = len(answers) // 2
    lower = _search(answers[:middle])
    return [*unless(AT_LEAST, answers[middle][0], lower), *_search(answers[middle:])]
