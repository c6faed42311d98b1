"""What of a lock becomes a line of what uv installs has one form, in the lock and in the line."""

from __future__ import annotations

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_lock import read_lock

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
    { path = "links/x-1.whl" },
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
            for text in ("sha256:0A", "sha257:0a", "0a", "sha256:", "sha256:0a b")
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
