"""`--columns`: which column is what."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import JOBS

from harbor_metrics import UsageError, readers


def test_wrong_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not for rewards"):
        readers.read(str(JOBS), as_format="rewards", columns="task=a")
    with pytest.raises(UsageError, match="not FIELD=COLUMN"):
        readers.read(str(JOBS), columns="task")
    with pytest.raises(UsageError, match="given twice"):
        readers.read(str(JOBS), columns="task=a,task=b")
