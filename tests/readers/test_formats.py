"""A format is a module and a line in the table: help, messages and recognition follow from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import Run

from harbor_metrics import readers
from harbor_metrics.errors import InputError, UsageError
from harbor_metrics.readers import formats
from harbor_metrics.readers.formats import FORMATS, Format, Origin
from harbor_metrics.readers.reading import Options, Reading
from harbor_metrics.readers.recognition import FITS, Fit
from harbor_metrics.trials.trial import Trial


@pytest.mark.parametrize("format_", FORMATS, ids=lambda format_: format_.name)
def test_each_has_a_reader(format_: Format) -> None:
    assert callable(format_.reader.read)
    assert format_.is_directory or callable(format_.reader.fit)


def test_names_are_of_one_format_each() -> None:
    assert len({format_.name for format_ in FORMATS}) == len(FORMATS)
    assert len({format_.noun for format_ in FORMATS}) == len(FORMATS)


def test_the_table_loads_no_reader_and_no_decoder() -> None:
    code = (
        "import sys, harbor_metrics.readers.formats;"
        "print(sorted(m for m in sys.modules if m.startswith(('msgspec', 'harbor_metrics.'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "['harbor_metrics.readers', 'harbor_metrics.readers.formats']\n"


@pytest.fixture
def dots(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format of one more line: a file of dots is as many trials."""
    module = ModuleType("dots")

    def fit(head: Any) -> Fit:
        return FITS if head.data.strip(b".\n") == b"" else Fit(0.9, "it has more than dots")

    def read(file: Any, _options: Options) -> list[readers.Source]:
        reading = Reading(file)
        for i in range(reading.content().count(b".")):
            reading.trials.append(Trial(task=f"dot:{i}", rewards={"reward": 1}))
        return [reading.source()]

    module.fit, module.read = fit, read  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dots", module)
    line = Format("dots", "dots", "dots", Origin.ANYBODY, in_folders=True)
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, line))


@pytest.mark.usefixtures("dots")
def test_a_format_more_is_recognised_read_and_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("...\n")
    for options in ({}, {"as_format": "dots"}):
        (source,) = readers.read(str(tmp_path / "file"), **options)
        assert (source.kind, len(source.trials)) == ("dots", 3)
    (source,) = readers.read(str(tmp_path))
    assert source.path == str(tmp_path / "file")
    (tmp_path / "file").write_text("nothing\n")
    with pytest.raises(InputError, match="not dots: it has more than dots") as refused:
        readers.read(str(tmp_path / "file"))
    assert refused.value.help.endswith("evsys rewards, a CSV or dots")
    with pytest.raises(UsageError, match="rewards, csv, dots"):
        readers.read(str(tmp_path / "file"), as_format="dot")


@pytest.mark.parametrize("command", ["compute", "audit", "convert"])
def test_help_names_every_format(command: str, cli: Run) -> None:
    words = " ".join(cli(command, "--help").stdout.split()).replace("- ", "-")
    *names, last = formats.names()
    assert f"{', '.join(names)} or {last}." in words
