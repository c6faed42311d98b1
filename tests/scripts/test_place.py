"""Where there is no place for temporary files, a user is told what to do."""

from __future__ import annotations

import pytest

from harbor_metrics.confinement.workplace import NoPlaceError
from harbor_metrics.errors import OutputError
from harbor_metrics.scripts.place import place_needed


def test_missing_place_is_an_error_of_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/full")
    with pytest.raises(OutputError, match="TMPDIR /full: No space left") as refused, place_needed():
        raise NoPlaceError(OSError(28, "No space left on device"))
    assert "a metric script needs a place for its input" in str(refused.value)


def test_other_errors_stay_themselves() -> None:
    with pytest.raises(ZeroDivisionError), place_needed():
        raise ZeroDivisionError
