"""What a user's settings for git make of the address that a registry names."""

from __future__ import annotations

import re

import pytest

from harbor_metrics.confinement.supervisor import KEPT
from harbor_metrics.errors import MetricFailure
from harbor_metrics.scripts.git_address import (
    check_address,
    check_rewritten,
    said_by_git,
    settings_in,
)

URL = "https://a.example.org/x/y"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("https://me:T@a.example", "https://a.example"), ("https://T@a.", "https://a.")),
        *(("https://T@", "https://"), ("https://T@/", "https:"), ("http://T@b:1", "https://a")),
        *(("https://T@b?x", "https://a.example"), ("T@a", "https://a")),
    ],
)
def test_a_login_is_of_a_host_that_the_setting_names_whole(written: str, value: str) -> None:
    with pytest.raises(MetricFailure, match="get a login") as failed:
        check_rewritten(
            URL, written + URL[len(value) :], [("https://other/", "ssh://"), (written, value)]
        )
    assert "T@" not in str(failed.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("https://T@a.example.org", "https://a.example.org"), ("https://T@b/", "https://a.")),
        *(("git@a.example.org:", "https://a.example.org/"), ("ssh://git@", "https://")),
        *(("https://b", "https://a"), ("/srv/@mirror/", "https://"), ("https://T@b", URL)),
        ("https://T@b/gh", "https://a.example"),
    ],
)
def test_a_setting_that_names_the_host_is_followed(written: str, value: str) -> None:
    check_rewritten(URL, written + URL[len(value) :], [(written, value)])


def test_settings_that_do_not_fit_say_nothing() -> None:
    check_rewritten(URL, URL, [("https://T@a", "https://b"), ("https://T@a", "https://a")])


@pytest.mark.parametrize(
    "said",
    [
        b"fatal: asked for: https://me:T%40KEN@a/ redirect: https://me:T%40KEN@a/x",
        *(b"fatal: https://me:T%40KEN", b"fatal: no T@KEN", b"error: asked me:T%40KEN"),
        *(b"warning: https://me:T%40KE", b"fatal: https://me:T%40KE\r\nmore"),
    ],
)
def test_what_git_says_is_without_the_login_that_a_setting_has_written(said: bytes) -> None:
    shown = said_by_git(said, "https://me:T%40KEN@a.example/x", "https://b.example/x")
    assert b"KE" not in shown
    assert shown != said


@pytest.mark.parametrize(
    "line",
    [
        *("remote: CANARY", "CANARY of an ssh banner", "fatal: remote error: CANARY"),
        *("fatal: protocol error: bad line length character: CANA", "error: server said CANARY"),
        *("fatal: unable to access: CANARY is an unexpected answer", "remote: x\rerror: CANARY"),
        "error: x\rremote: CANARY\r",
    ],
)
def test_what_a_server_answers_is_not_repeated(line: str) -> None:
    own = "fatal: unable to access 'https://a.example/x/': The requested URL returned error: 403"
    assert said_by_git(f"{line}\n{own}\n".encode(), "https://a.example/x", URL) == own.encode()


@pytest.mark.parametrize("base", ["https://a.example/T0KEN-0123456789/", "git@a:T0KEN-0123456789/"])
def test_a_token_in_the_path_of_a_setting_is_not_shown(base: str) -> None:
    said = f"fatal: unable to access '{base}team/metrics/': Could not connect to server"
    shown = said_by_git(said.encode(), f"{base}team/metrics", "https://b.example/team/metrics")
    assert b"0123456789" not in shown
    assert b"/team/metrics/': Could not connect" in shown


@pytest.mark.parametrize(
    "line",
    [
        "SSL: certificate subject name (vault.corp.example) does not match target host name '{}'",
        "SSL: certificate subject name 'vault' does not match target host name '{}'",
        *("Could not resolve host: vault", "Failed to connect to vault port 443 after 2 ms"),
        "Failed to connect to 10.9.8.7 port 443: Couldn't connect to server",
    ],
)
def test_no_name_that_a_server_told_is_shown(line: str) -> None:
    """Of a server of the inside, which a stranger has named by its number, or leads to."""
    asked = "https://127.0.0.1:443/x"
    said = f"fatal: unable to access '{asked}/': {line.format('127.0.0.1')}"
    shown = said_by_git(said.encode(), asked, asked)
    assert shown.startswith(f"fatal: unable to access '{asked}/': ".encode())
    assert not {b"vault", b"corp", b"10.9.8.7"} & {*re.findall(rb"[\w.]+", shown)}
    said = "fatal: could not read Username for 'https://vault.corp.example': terminal prompts off"
    assert b"vault" not in said_by_git(said.encode(), asked, asked)
    for words in (
        "Could not resolve hostname vault: Name not known",
        "connect to host vault port 22",
    ):
        assert b"vault" not in said_by_git(f"ssh: {words}".encode(), "git@a:x", "git@a:x")
    own = b"fatal: unable to access 'https://127.0.0.1:443/x/': Could not resolve host: 127.0.0.1"
    assert said_by_git(own, asked, asked) == own


def test_half_of_a_proxys_password_is_not_shown() -> None:
    said = b"fatal: Unsupported proxy syntax in 'ann:hunter': Port number ended with 'h'"
    shown = said_by_git(said, URL, URL)
    assert shown == b"fatal: Unsupported proxy syntax in '***'"


def test_of_a_line_that_was_cut_nothing_is_shown() -> None:
    said = b"KEN@a.example/" + b"\nfatal: no" * KEPT
    assert not said_by_git(said[:KEPT], "https://me:TKEN@a.example/", URL).startswith(b"KEN")


def test_an_address_is_no_longer_than_any() -> None:
    """git cuts its messages after 4095 bytes."""
    url = f"https://a.example/{'a' * 982}"
    check_address(url, "a" * 40, "m.py", allow_outside=False)
    for longer, words in ((f"{url}b", "1,001 characters"), ("https://a.example/\u00e9", "%XX")):
        with pytest.raises(MetricFailure, match=words):
            check_address(longer, "a" * 40, "m.py", allow_outside=False)


def test_settings_are_told_by_how_they_end() -> None:
    found = "url.https://T@a.b/.insteadof\nhttps://a.b/\0http.extraheader\n\0core.bare\n\0"
    assert [*settings_in(found, "insteadof")] == [("https://T@a.b/", "https://a.b/")]
    assert not [*settings_in(found, "extraheader")]
    assert [*settings_in("http.https://a.extraheader\nX: y\0", "extraheader")] == [
        ("https://a", "X: y")
    ]
