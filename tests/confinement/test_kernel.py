"""System calls by their numbers."""

from __future__ import annotations

import ctypes
import errno
import os

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import kernel
from harbor_metrics.confinement.kernel import call, checked, fork


def test_result_that_is_not_negative_is_given() -> None:
    assert checked(7) == 7


def test_failed_call_raises_the_error_of_the_system() -> None:
    ctypes.set_errno(errno.EACCES)
    with pytest.raises(PermissionError):
        checked(-1)


@linux
def test_unknown_call_is_an_error() -> None:
    with pytest.raises(OSError, match="Function not implemented"):
        call(100_000)


@linux
def test_copy_of_a_process_is_its_child() -> None:
    pid = fork()
    if pid == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


class Without:
    """A system that does not know a call."""

    @staticmethod
    def syscall(*_: object) -> int:
        ctypes.set_errno(errno.ENOSYS)
        return -1


def test_system_without_the_call_copies_as_python_does_but_not_into_namespaces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel, "_HOLDING", Without)
    monkeypatch.setattr(os, "fork", lambda: 42)
    assert fork() == 42
    with pytest.raises(OSError, match="not implemented"):
        fork(namespaces=0x10000000)
