"""System calls by their numbers."""

from __future__ import annotations

import ctypes
import errno

import pytest
from metric_scripts import linux

from harbor_metrics.confinement.kernel import call, checked


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
