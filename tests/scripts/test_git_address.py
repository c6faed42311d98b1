"""What a user's settings for git make of the address that a registry names."""

from __future__ import annotations

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.scripts.git_address import check_rewritten

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
