"""What a script may ask for, so that everybody reads it as the same."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from harbor_metrics.scripts.requirements import is_beside, is_file_beside, is_plain, is_words

PLAIN = [
    *("numpy", "x[y,z]", "x [y]>=1", "x~=1.0,!=1.0.5", "x == 1.*", "x (>=1.0)", "Zope.Interface"),
    *("x>=1.0a1; python_version >= '3.8' and extra == \"test\"", "x;os_name=='nt'", "x==1!2+cu1"),
    *("x ; (sys_platform != 'win32') or platform_machine in 'x86_64 arm64'", "x>=1 ; os_name<'a'"),
]
OTHER = [
    *("x@https://evil.example/x.whl", "x @ https://evil.example", "x@./x.whl", "x @ /x.whl"),
    *("x[y]@file:///x.whl", "x @ file:/x.whl", "x @ C:\\x.whl", "https://evil.example/x.whl"),
    *("./x.whl", "/x.whl", "git+https://evil.example", "x\t@y", "x\n", "x; os_name == '\n@'"),
    *("x @\u00a0y", "\uff58", "x>=1 @ y", "x>=1 #egg", "x;@", "-r other.txt", "", "x" * 20_000),
    *("x; platform_version == '@'", "x=='\\x'", "x; a == '${HOME}'", "x%40y"),
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_name_with_versions_and_a_marker_is_plain(text: str) -> None:
    assert is_plain(text)
    assert Requirement(text).url is None


@pytest.mark.parametrize("text", OTHER)
def test_nothing_else_is(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    "text", ["https:x", "a/b", "git@x", "x%2f", "HTTPS:x", "a\\b", "$x", "a\nb", "\u2044"]
)
def test_words_hold_no_address(text: str) -> None:
    assert not is_words(text)
    assert is_words("2026-01-01T00:00:00Z")


class TestFile:
    """A file beside the script, in one form."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        folder = tmp_path / "mine"
        (folder / "wheels").mkdir(parents=True)
        for path in (folder / "x.whl", folder / "wheels" / "a b.whl", tmp_path / "out.whl"):
            path.write_bytes(b"")
        (folder / "link.whl").symlink_to("../out.whl")
        (folder / "inner.whl").symlink_to("wheels/a b.whl")
        (folder / "up").symlink_to("..")
        return folder

    @pytest.mark.parametrize("path", ["x.whl", "wheels/a%20b.whl", "inner.whl", "nowhere.whl"])
    def test_beside_the_script_is(self, folder: Path, path: str) -> None:
        assert is_file_beside(f"x @ file://{folder}/{path}", str(folder))
        assert is_file_beside(f"x[y]@file://{folder}/{path}#sha256={'0' * 64}", str(folder))
        assert is_beside(path.replace("%20", " "), str(folder))
        assert is_beside(f"./{path.replace('%20', ' ')}", str(folder))

    @pytest.mark.parametrize(
        "path",
        [
            *(
                "link.whl",
                "up/out.whl",
                "wheels/../x.whl",
                "%2e%2e/out.whl",
                "../out.whl",
                "./x.whl",
            ),
            *("x.whl#subdirectory=a", "x.whl#egg=x", "x.whl?x", "x.whl;x", "x%00.whl", "x%25.whl"),
            *(
                "x%ff.whl",
                "x%5c.whl",
                "/x.whl",
                "",
                "x.whl ; os_name",
                "x%.whl",
                "x.whl\n",
                "./x.whl",
            ),
        ],
    )
    def test_elsewhere_or_in_another_form_is_not(self, folder: Path, path: str) -> None:
        assert not is_file_beside(f"x @ file://{folder}/{path}", str(folder))

    @pytest.mark.parametrize(
        "start", ["file:", "file:/", "file://localhost", "file://evil.example", "FILE:\\", ""]
    )
    def test_in_another_form_is_not(self, folder: Path, start: str) -> None:
        assert not is_file_beside(f"x @ {start}{folder}/x.whl", str(folder))

    @pytest.mark.parametrize(
        "path",
        [
            *("../out.whl", "up/out.whl", "link.whl", "wheels/../../out.whl", ".", "", "./", "/"),
            *("/etc", "x.whl#a", "x%2ewhl", "file:x.whl", "https://x", "a\\b", "x\0", "~/x.whl"),
            *(".//x.whl", "a -r b/x.whl", "a  --b/x.whl"),
        ],
    )
    def test_a_path_out_of_the_folder_is_not(self, folder: Path, path: str) -> None:
        assert not is_beside(path, str(folder))


@pytest.mark.parametrize("text", [" " * (1 << 20) + "@", "x" + " " * (1 << 20), "x[" + "," * 999])
def test_a_long_text_is_read_in_one_go(text: str) -> None:
    started = time.monotonic()
    assert not is_plain(f"{text}\n")
    assert not is_file_beside(text, "/")
    assert not is_beside(text, "/me")
    assert time.monotonic() - started < 1
