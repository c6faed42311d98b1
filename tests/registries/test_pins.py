"""What of a lock becomes a line of what uv installs has one form, in the lock and in the line."""

from __future__ import annotations

import time

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.pins import odd_entry
from harbor_metrics.registries.script_lock import read_lock, without_digest

DIGEST = "sha256:" + "0a" * 32
# As uv writes it.
LOCK = """version = 1
revision = 3
requires-python = ">=3.10"
resolution-markers = ["python_full_version >= '3.12' and sys_platform == 'win32'", "extra != 'b'"]

[options]
exclude-newer = "2026-01-01T00:00:00Z"

[options.exclude-newer-package]
"ruamel.yaml" = "2026-01-01T00:00:00Z"

[manifest]
requirements = [{ name = "x", extras = ["e-f"], marker = "os_name == 'nt'", specifier = ">=1,<2" }]
constraints = [{ name = "ruamel-yaml", specifier = "<4" }]
overrides = [{ name = "y", path = "sub dir/y-1.whl" }]

[[manifest.dependency-metadata]]
name = "x"
version = "1.0"
requires-dist = ["y>=1 ; sys_platform == 'win32'", "z[a,b]>=1"]
requires-python = ">=3.8"
provides-extra = ["e"]

[[package]]
name = "x"
version = "1!2.0a1.post2.dev3+cu12.1"
source = { registry = "https://me@pypi.example/simple" }
resolution-markers = ["platform_machine in 'x86_64 arm64' or platform_version >= '6.1.0-13'"]
dependencies = [
    { name = "y", extra = ["s"], version = "1", source = { path = "sub dir/y-1.whl" } },
    { name = "z", marker = "(python_version < '3' and os_name not in 'a b') or 'c' in os_name" },
]
sdist = { url = "https://a.example/x-1.zip#-b -r c", hash = "sha512:0a", upload-time = "2026-01" }
wheels = [
    { url = "https://a.example/x-1.whl", hash = "sha256:0a", zstd = { hash = "blake2b:0a" } },
    { path = "links/x-1.whl", hash = "sha256:0b" },
]

[package.optional-dependencies]
e-f = [{ name = "z" }]

[package.metadata]
requires-dist = [{ name = "z", marker = "extra == 'e'", specifier = "==1.*" }]
provides-extras = ["e"]
"""
OPTION = " -r /tmp/other.txt"


def test_what_uv_writes_is_read() -> None:
    assert read_lock(LOCK.encode())["version"] == 1


@pytest.mark.parametrize("hash_", [', hash = "sha512:0a"', ', hash = "sha256:0a"'])
def test_a_lock_without_a_digest_leaves_open_what_is_installed(hash_: str) -> None:
    assert without_digest(read_lock(LOCK.encode())) is None
    assert without_digest(read_lock(LOCK.replace(hash_, "", 1).encode())) == "x"


@pytest.mark.parametrize("index", ["https://a.example/simple", "wheels", "/srv/wheels"])
@pytest.mark.parametrize("wheels", ["", 'wheels = [{ path = "x-1.whl" }]', "wheels = [{}]"])
def test_a_package_of_an_index_has_files_with_digests(index: str, wheels: str) -> None:
    """It is asked for by its name, from the user's indexes."""
    lock = f"""[[package]]
name = "x"
source = {{ registry = "{index}" }}
{wheels}"""
    assert without_digest(read_lock(lock.encode())) == "x"


def test_of_packages_that_no_index_has_a_lock_has_no_digest() -> None:
    lock = '[[package]]\nname = "x"\nsource = { path = "x-1.whl" }\nwheels = [{ url = "x-1.whl" }]'
    assert without_digest(read_lock(lock.encode())) is None


@pytest.mark.parametrize(
    "text",
    [
        *("ruamel-yaml", "1!2.0a1.post2.dev3+cu12.1", "sha512:0a", "sha256:0a", "blake2b:0a"),
        *(
            "e-f",
            "os_name == 'nt'",
            ">=1,<2",
            "sub dir/y-1.whl",
            "links/x-1.whl",
        ),
        *(
            "extra != 'b'",
            "platform_version >= '6.1.0-13'",
            "extra == 'e'",
            "y>=1",
        ),
        *("https://me@pypi.example/simple", "2026-01-01T00:00:00Z", ">=3.8"),
    ],
)
@pytest.mark.parametrize("more", [OPTION, " --index-url=x", "\\u00a0-r x", "\\u3000-c x"])
def test_no_text_of_a_lock_goes_on_as_an_option(text: str, more: str) -> None:
    assert text in LOCK
    # Also within the quotes of a marker.
    places = [f"{text}{more}"] + ([f"{text[:-1]}{more}'"] if text.endswith("'") else [])
    for place in places:
        with pytest.raises(MetricFailure, match="uv lock --script"):
            read_lock(LOCK.replace(text, place, 1).encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(
            ("sha256:0a", text)
            for text in ("sha256:0A", "sha257:0a", "md5:0a", "0a", "sha256:", "sha256:0a b")
        ),
        *(('name = "x"', f'name = "{name}"') for name in ("", "x y", "-r", "x@y", "\u00fc", "x;y")),
        *(('"1!2.0a1', f'"{version}2.0a1') for version in ("v ", "-", "1 ", "@")),
        *(
            ("'c' in os_name", marker)
            for marker in ("'c' in -r", "c; d", "'c", "$HOME", "'a@b' in c")
        ),
        *((' ["s"]', f' ["{extra}"]') for extra in ("s t", "s]", "-s", "")),
        ("e-f = [", '"e f" = ['),
    ],
)
def test_a_name_version_digest_marker_or_extra_has_one_form(old: str, new: str) -> None:
    assert old in LOCK
    with pytest.raises(MetricFailure, match="uv lock --script"):
        read_lock(LOCK.replace(old, new, 1).encode())


LINES = [
    "x==1",
    "x==1!2.0a1+cu ; sys_platform == 'win32' or platform_machine in 'x86_64 arm64'",
    f"x.y-z==1 \\\n    --hash={DIGEST}",
    f"x==1 ; (os_name == 'nt') \\\n    --hash={DIGEST} \\\n    --hash=sha512:0a",
    "x[a,b-c]==1",
    "./x-1-py3-none-any.whl",
    f"./sub/\u00fc-1-py3-none-any.whl ; extra == 'a-b' \\\n    --hash={DIGEST}",
    "-e ./x",
    "-e /my/x",
    f"file:///my%20own/x-1-py3-none-any.whl \\\n    --hash={DIGEST}",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_uv_is_read(line: str) -> None:
    assert odd_entry(f"{line}\n".encode()) is None


def test_all_lines_are_read() -> None:
    assert odd_entry("".join(f"{line}\n" for line in [*LINES, ""]).encode()) is None
    assert odd_entry(b"") is None
    assert odd_entry("\n".join([*LINES, "-r x", *LINES]).encode()) == "-r x"


@pytest.mark.parametrize(
    "line",
    [
        *(
            "-r other.txt",
            "--index-url https://evil.example",
            "-c x",
            "#",
            "x",
            "x>=1",
            "x==1 -r y",
        ),
        *("x @ https://evil.example/x.whl", "https://evil.example/x.whl", "git+ssh://evil.example"),
        *(
            "x==1 --hash=sha256:0a -r y",
            "x==1 \\\n    --hash=sha256:0a -r y",
            "x==1 \\\n-r y",
            "x==1 \\",
        ),
        *("x==1 \\\n    --hash=sha256:0A", "x==1 \\\n    --hash=sha1:0a", "    --hash=sha256:0a"),
        *(
            "x==1\\\n    --hash=sha256:0a",
            "x==1 \\\n\n",
            "x==1\n    --hash=sha256:0a",
            "x==1\r-r y",
        ),
        *("x==1 ; os_name == 'a' -r y", "x==1 ; os_name == 'a -r y'", "x==1 ; os_name == '--hash'"),
        *(
            "./a b/x.whl",
            "./a -r y",
            "./x.whl --hash=sha256:0a",
            "./x.whl[e]",
            "../x.whl",
            "/x.whl",
        ),
        *("./${HOME}/x.whl", "-e ./a -r y", "-e git+https://evil.example", "-e ./a b", "-e  ./a"),
        *(
            "file:///a b",
            "file://evil.example/x",
            "file:///x#egg",
            "x==1\x0b-r y",
            "x==1\u2028-r y",
        ),
        *("./a\u00a0-r y", "./a\u3000b", "\ufeffx==1", "x==1 ;", "x== 1", "x==1;os_name"),
    ],
)
def test_any_other_line_is_odd(line: str) -> None:
    assert odd_entry(f"{line}\n".encode())
    assert odd_entry(f"y==1\n{line}\nz==1\n".encode())


def test_what_is_no_text_is_odd() -> None:
    assert odd_entry(b"x==1\n./\xff.whl\n")


@pytest.mark.parametrize(
    "text", ["x==1 ; " + "'a" * 500_001, "x==1 ; " + "(" * 1_000_000 + "-", "./" + "a " * 500_000]
)
def test_lines_are_read_in_time(text: str) -> None:
    started = time.monotonic()
    assert odd_entry(text.encode())
    assert time.monotonic() - started < 2
