"""Who may log in nowhere is told no password of the user's, and none is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.documents.wording import last_lines
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.passwords import environ_without_passwords
from harbor_metrics.scripts.steps import Work

PROXIES = {
    "http://user:hunter2@proxy:3128": "http://proxy:3128",
    "user:hunter2@proxy:3128": "proxy:3128",
    "socks5h://user:hunter2@proxy": "socks5h://proxy",
    " HTTP://hunter2@proxy/ ": "HTTP://proxy/",
    "http://proxy:3128": "http://proxy:3128",
    # Not everybody finds the same host in these.
    "http://user:hunter2@more@proxy": "",
    "http://user:hunter2/x@proxy": "",
    "http:user:hunter2@proxy": "proxy",
    "http:/user:hunter2@proxy": "",
    "http:\\\\user:hunter2@proxy": "",
    "user:hun?hunter2@proxy": "",
    "user:h unter2 hunter2@proxy": "proxy",
}


@pytest.mark.parametrize("name", ["HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("value", PROXIES)
def test_a_proxy_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert environ_without_passwords(str(tmp_path))[name] == PROXIES[value]


def test_indexes_are_told_without_their_passwords(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, two = "corp=https://me:hunter2@a.example/x", "https://hunter2@b.example/y?token=hunter2"
    monkeypatch.setenv("UV_INDEX", f"{one}\n{two} https://c.example/hunter2@x ./wheels")
    monkeypatch.setenv("UV_FIND_LINKS", "https://me:hunter2@a.example/x,/opt/my wheels")
    monkeypatch.setenv("UV_INDEX_CORP_PASSWORD", "hunter2")
    env = environ_without_passwords(str(tmp_path))
    assert env["UV_INDEX"] == "corp=https://a.example/x https://b.example/y ./wheels"
    assert env["UV_FIND_LINKS"] == "https://a.example/x,/opt/my wheels"
    assert "hunter2" not in repr(env)


@pytest.mark.parametrize("value", PROXIES)
def test_what_uv_says_shows_no_password(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    monkeypatch.setenv("UV_INDEX_CORP_PASSWORD", "p%40rola")
    monkeypatch.setenv("UV_INDEX", "https://me:s3cr%65t@a.example")
    said = f"error: {value.strip()} and p%40rola, p@rola, s3cr%65t, s3cret, a.example\n".encode()
    with Workplace() as place:
        work = Work.of(place, ScriptOptions())
        message = str(work.failure(Finished(1, b"", said, False, 1.0), ""))
    assert "a.example" in message
    for secret in ("hunter2", "rola", "s3cr"):
        assert secret not in message


@pytest.mark.parametrize(
    "index",
    [
        *("https://a.example/tOkEn/org/simple/", "corp=https://me:hunter2@a.example/tOkEn/simple"),
        "https://a.example/simple?a=tOkEn",
    ],
)
def test_what_uv_says_shows_no_path_of_an_index(
    monkeypatch: pytest.MonkeyPatch, index: str
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", index)
    said = f"Failed to fetch: {index.partition('=')[2] if index[0] == 'c' else index}x/\n".encode()
    with Workplace() as place:
        work = Work.of(place, ScriptOptions())
        message = str(work.failure(Finished(1, b"", said, False, 1.0), ""))
    assert "a.example/" in message
    assert "tOkEn" not in message


def test_a_line_is_cut_where_no_password_is() -> None:
    said = "x" * 270 + " https://me:hunter2" + "y" * 90 + "@a.example"
    assert "hunter2" not in last_lines(said.encode())
