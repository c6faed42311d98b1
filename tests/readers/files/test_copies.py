"""Files that have the bytes of another."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.readers.files import copies as module
from harbor_metrics.readers.files.copies import copies


@given(contents=st.lists(st.binary(max_size=3), max_size=12))
def test_each_copy_is_told_with_the_first_of_its_bytes(
    contents: list[bytes], tmp_path_factory: object
) -> None:
    folder: Path = tmp_path_factory.mktemp("files")  # type: ignore[attr-defined]
    files = [folder / str(i) for i in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    wanted = {
        (str(files[i]), str(files[contents.index(content)]))
        for i, content in enumerate(contents)
        if contents.index(content) != i
    }
    assert set(copies([*map(str, files), str(folder / "gone")])) == wanted


def test_files_of_one_end_are_told_apart_before_it(tmp_path: Path) -> None:
    end = b"e" * module._END
    for name, beginning in (("a", b"1"), ("b", b"2"), ("c", b"2")):
        (tmp_path / name).write_bytes(beginning + end)
    found = list(copies(str(tmp_path / name) for name in "abc"))
    assert found == [(str(tmp_path / "c"), str(tmp_path / "b"))]
