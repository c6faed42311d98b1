"""What a user's settings for git make of the address that a registry names."""

from __future__ import annotations

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
    "line",
    [
        *("remote: CANARY", "CANARY of an ssh banner", "fatal: remote error: CANARY"),
        *("fatal: protocol error: bad line length character: CANA", "error: server said CANARY"),
        *("fatal: unable to access: CANARY is an unexpected answer", "remote: x\rerror: CANARY"),
        *("error: x\rremote: CANARY\r", "fatal: invalid server response; got 'CANARY'"),
        *(
            "fatal: expected 'packfile', received 'CANARY'",
            "fatal: asked for: https://me:CANARY@a/",
        ),
        "fatal: unable to access 'https://a/CANARY/': Could not connect to server",
        "fatal: access 'https://a/': SSL: certificate subject name (CANARY) does not match",
        "fatal: could not read Username for 'https://CANARY.corp': terminal prompts disabled",
        "fatal: unable to access 'https://a/x/': Could not resolve host: CANARY.corp.example",
        "fatal: unable to access 'https://a/x/': Failed to connect to CANARY port 443 after 2 ms",
        *("ssh: Could not resolve hostname CANARY: Name not known", 'Load key "CANARY": invalid'),
        *("ssh: connect to host CANARY port 22: Connection refused", "Permission denied (CANARY)."),
        "fatal: Unsupported proxy syntax in 'ann:CANARY': Port number ended with 'h'",
    ],
)
def test_nothing_that_a_server_or_a_setting_tells_is_shown(line: str) -> None:
    own = "fatal: unable to access 'https://a.example/x/': The requested URL returned error: 403"
    shown = said_by_git(f"{line}\n{own}\n".encode())
    assert b"CANA" not in shown
    assert shown.endswith(b"The requested URL returned error: 403")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            "fatal: unable to access 'https://a/': Could not resolve host: a",
            "Could not resolve host",
        ),
        ("ssh: connect to host a port 22: Connection refused", "Connection refused"),
        ("fatal: Authentication failed for 'https://a/'", "Authentication failed"),
        (
            "fatal: could not read Username for 'https://a': terminal prompts disabled",
            "could not read Username\nterminal prompts disabled",
        ),
        ("error: 403\nfatal: early EOF\nfatal: early EOF", "early EOF"),
    ],
)
def test_what_went_wrong_is_shown_once_in_words_of_git(said: str, words: str) -> None:
    assert said_by_git(said.encode()) == words.encode()


def test_that_something_is_not_shown_is_said() -> None:
    assert said_by_git(b"fatal: something new") == said_by_git(b"remote: words")
    assert b"not shown" in said_by_git(b"fatal: something new")
    assert said_by_git(b"") == b""
    # Of a line that was cut nobody knows the beginning.
    assert b"early" not in said_by_git((b"fatal: early EOF" + b"\nx" * KEPT)[:KEPT])


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


@pytest.mark.parametrize("url", ["ssh://u%0a@h/x", "ssh://$(id)@h/x", "ssh://git@h%60/x"])
def test_nothing_that_ssh_could_put_into_a_command_is_a_login(url: str) -> None:
    with pytest.raises(MetricFailure, match="could take for a command"):
        check_address(url, "a" * 40, "m.py", allow_outside=False)


@pytest.mark.parametrize(
    "url", ["ssh://git@h:22/x", "ssh://h/x", "git@h.example:o/r.git", "ssh://me:pw@[::1]:2/x"]
)
def test_a_plain_login_is_permitted(url: str) -> None:
    check_address(url, "a" * 40, "m.py", allow_outside=False)


@pytest.mark.parametrize(
    "login", ["u:$(id)@h", "u:`id`@h", "u:;id;@h", "u:a%60@h", "u:@h:22:", "h:x"]
)
def test_what_stands_behind_the_user_is_plain_too(login: str) -> None:
    with pytest.raises(MetricFailure, match="could take for a command"):
        check_address(f"ssh://{login}/x", "a" * 40, "m.py", allow_outside=False)
