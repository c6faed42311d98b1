"""Of a lock only what uv writes is read, and what leads elsewhere is found."""

from __future__ import annotations

import time

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_lock import read_lock
from harbor_metrics.scripts.lock import of_lock

LOCK = """version = 1
[[package]]
name = "x"
source = {0}
wheels = [{{ url = "https://evil.example/x-1-py3-none-any.whl" }}]
"""


def elsewhere(lock: str) -> bool:
    return any(of_lock(read_lock(lock.encode()), "/me/metrics"))


@pytest.mark.parametrize(
    ("source", "foreign"),
    [
        ('{ registry = "https://evil.example/simple" }', False),
        ('{ path = "x-1-py3-none-any.whl" }', True),
        ('{ registry = "https://evil.example/simple", url = "https://evil.example" }', True),
        ('{ url = "https://evil.example/x-1-py3-none-any.whl" }', True),
        ('{ git = "git@evil.example:x" }', True),
        ('"registry"', True),
    ],
)
def test_a_lock_leads_elsewhere_but_for_packages_of_an_index(source: str, foreign: bool) -> None:
    assert elsewhere(LOCK.format(source)) == foreign


@pytest.mark.parametrize(
    ("source", "foreign"),
    [
        *(('{ path = "x-1-py3-none-any.whl" }', False), ('{ path = "../x.whl" }', True)),
        *(('{ path = "/etc/x.whl" }', True), ('{ editable = "." }', True)),
        *(('{ directory = "../x" }', True), ('{ virtual = "../x" }', True)),
        *(('{ url = "x" }', True), ('{ git = "x" }', True)),
    ],
)
def test_a_package_of_a_lock_lies_beside_the_script(source: str, foreign: bool) -> None:
    lock = f'version = 1\n[[package]]\nname = "x"\nsource = {source}\n'
    lock += 'wheels = [{ filename = "x-1-py3-none-any.whl", hash = "sha256:00" }]\n'
    assert elsewhere(lock) == foreign
    named = f'[manifest]\nrequirements = [{{ name = "x", {source.strip("{ }")} }}]\n'
    assert elsewhere(named) == foreign


@pytest.mark.parametrize(
    ("path", "foreign"),
    [("a b/x.whl", True), ("./a b/x.whl", True), ("/me/metrics/a b/x.whl", False)],
)
def test_a_path_that_uv_would_write_with_a_space_leads_elsewhere(path: str, foreign: bool) -> None:
    assert elsewhere(f'[[package]]\nname = "x"\nsource = {{ path = "{path}" }}\n') == foreign


def test_an_index_that_a_lock_requires_by_itself_leads_elsewhere() -> None:
    lock = '[manifest]\nrequirements = [{ name = "x", index = "https://evil.example/simple" }]\n'
    assert elsewhere(lock)


@pytest.mark.parametrize(
    "lock",
    [
        # TOML 1.1, which uv reads.
        'escape = "\\e"',
        "table = {\n a = 1,\n}",
        "version = ",
        # Each would be a line of its own where uv writes what is to be installed.
        LOCK.format('{ path = "x\\n-r other.txt\\ny/x-1-py3-none-any.whl" }'),
        LOCK.format('{ path = "x\\r--index-url=other" }'),
        LOCK.format('{ path = "x\\u2028--index-url=other" }'),
        LOCK.format('{ path = "${UV_INDEX_CORP_PASSWORD}/x-1-py3-none-any.whl" }'),
        LOCK.format('{ registry = "x" }') + "marker = \"sys_platform == 'a\\n-r other'\"",
        LOCK.format('{ registry = "x" }') + "marker = \"sys_platform == ' #'\"",
        # Each would be an option in that line.
        LOCK.format('{ registry = "x" }').replace('whl" }', 'whl", hash = "sha256:00 -r other" }'),
        LOCK.format('{ registry = "x" }').replace('"x"', '"x -r other"', 1),
        LOCK.format('{ registry = "x" }') + 'version = "1 --index-url=other"',
        LOCK.format('{ path = "x -r other/x-1-py3-none-any.whl" }'),
        # The older name of the same, by which its packages would be installed and in no pin.
        LOCK.format('{ path = "x-1-py3-none-any.whl" }').replace("[[package]]", "[[distribution]]"),
    ],
)
def test_a_lock_that_uv_may_read_otherwise_is_refused(lock: str) -> None:
    with pytest.raises(MetricFailure, match="uv lock --script"):
        elsewhere(lock)


@pytest.mark.parametrize(
    "lock",
    [
        *("a" + ".a" * 500_000 + "=1", "[a" + ".a" * 500_000 + "]\nb=1\n"),
        *("x = {a" + ".a" * 500_000 + "=1}", '"\\""' + ".a" * 500_000, "'\\'" + ".a" * 500_000),
        *('#"\na' + ".a" * 500_000 + "=1", "x=" + "[" * 1_000_000, "x=" + "1" * 1_000_000),
        *('"' + '\\"' * 500_000, '"""\n' + ".a" * 9, '"' * 1_000_001, "a=1\n" * 1_100_000),
    ],
    ids=lambda lock: ascii(lock[:8]),
)
def test_a_lock_is_read_in_time(lock: str) -> None:
    started = time.monotonic()
    with pytest.raises(MetricFailure, match="uv lock --script"):
        elsewhere(lock)
    assert time.monotonic() - started < 5
