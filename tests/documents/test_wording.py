"""The words that messages share."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents import wording
from harbor_metrics.output.streams import print_note

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=8,
)


def test_a_noun_takes_an_s_unless_there_is_one() -> None:
    assert [wording.plural(n, "trial") for n in (0, 1, 2)] == ["0 trials", "1 trial", "2 trials"]


def test_a_long_list_ends_with_how_many_more_there_are() -> None:
    assert wording.listed([]) == ""
    assert wording.listed(["a", "b", "c"]) == "a, b, c"
    assert wording.listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert wording.listed(["a\x1b", "b"], 1) == "a\\x1b and 1 more"


def test_case_and_underscores_make_a_name_no_other() -> None:
    assert wording.nearest("Pass_At_K", ["mean", "pass-at-k"]) == ["pass-at-k"]
    assert wording.nearest("extra-metric", ["extra_metrics", "tasks"]) == ["extra_metrics"]
    assert wording.nearest("nothing", ["mean", "sum"]) == []
    assert wording.nearest("meen", ["mean", "men"], most=2, cutoff=0.7) == ["men", "mean"]


def test_a_near_name_is_asked_for_and_none_is_passed_over() -> None:
    assert wording.did_you_mean(["mean"]) == "; did you mean `mean`?"
    assert wording.did_you_mean([]) == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        *((None, "null"), (True, "a boolean"), (1, "a number"), (1.5, "a number")),
        *(("", "a string"), ([], "an array"), ({}, "an object")),
    ],
)
def test_a_value_is_called_as_json_calls_it(value: object, words: str) -> None:
    assert wording.article(value) == words


@given(JSON)
def test_every_json_becomes_one_that_can_be_written(value: object) -> None:
    for errors in ("backslashreplace", "replace"):
        assert json.dumps(wording.encodable(value, errors), ensure_ascii=False).encode()


@given(JSON)
def test_what_can_be_written_stays_as_it_is(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    assert wording.encodable(value) == value


@given(st.text(st.characters()))
def test_printable_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    printed = wording.printable(text)
    assert printed.isprintable()
    assert wording.printable(printed) == printed


def test_a_program_is_quoted_by_its_last_lines() -> None:
    said = wording.last_lines(b"\n".join(b"line %d" % n for n in range(20)))
    assert said.splitlines()[0] == ": it said"
    assert said.splitlines()[1] == "  | line 8"
    assert said.splitlines()[-1] == "  | line 19"
    assert wording.last_lines(b" \n") == ""


def test_wide_and_combining_characters_take_their_columns() -> None:
    assert [wording.columns(text) for text in ("abc", "日本", "e\u0301")] == [3, 4, 1]


def test_no_character_takes_other_columns_than_unicode_says() -> None:
    for char in map(chr, range(0x3100)):
        wide = 2 if unicodedata.east_asian_width(char) in "WF" else 1
        assert wording.columns(char) == (0 if unicodedata.combining(char) else wide), char


def test_words_load_nothing_that_only_a_mistake_needs() -> None:
    code = "import sys, harbor_metrics.documents.wording; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "harbor_metrics.documents.wording" in loaded
    assert not {"difflib", "json", "unicodedata", "msgspec"} & set(loaded)


def test_names_in_a_command_are_words_and_no_options() -> None:
    assert (
        wording.in_command("a b", "--metric=evil.py:f", "-", "x;y")
        == "'a b' ./--metric=evil.py:f ./- 'x;y'"
    )


@pytest.mark.parametrize(
    "name",
    [
        "a".join(map(chr, [*range(1, 0x101), 0x202E, 0x2028, 0xDCFF])),
        "-rf",
        "t;touch PWNED;.parquet",
        "b'B $(touch PWNED) \" #",
        "http://u:p@h/x?sig=a'$(touch PWNED)&key=b",
        "s3://u:p@h ; s3://'v:q@h'",
        "'\"$`\\\n" * 333,
    ],
)
def test_a_command_that_is_printed_has_the_words_that_were_meant(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    shown = wording.in_command("x", name, "y")
    print_note(f"  = help: harbor-metrics compute {shown}\n")
    words = shlex.split(capfd.readouterr().err.partition("help: ")[2])
    meant = wording.printable(f"./{name}" if name[0] == "-" else name)
    assert words == ["harbor-metrics", "compute", "x", meant, "y"]
    # Some messages are made safe once more as a whole.
    assert wording.printable(shown) == shown


def test_whoever_logs_in_at_one_of_several_addresses_is_hidden() -> None:
    text = r"http://u:p@a.b://v:q@c http:\\w:r:\\s@d ssh://git@e://x"
    assert wording.without_passwords(text) == r"http://***@a.b://***@c http:\\***@d ssh://git@e://x"
    assert wording.without_passwords("x://a:b@c:d@e", "*") == "x://*******@e"


@pytest.mark.parametrize(
    "password", ["it's-hunter2", 'a"hunter2', "a<hunter2", "a>hunter2'", "''h2"]
)
def test_a_password_may_hold_what_quotes_addresses(password: str) -> None:
    for quote in ("", "'", '"'):
        said = wording.without_passwords(
            f"got {quote}https://ann:{password}@a.example/x{quote}, b@c"
        )
        assert said == f"got {quote}https://***@a.example/x{quote}, b@c"
    text = '{"a": "https://a.example","b": "c@d"} <https://a.example> c@d'
    assert wording.without_passwords(text) == text


@pytest.mark.parametrize(
    "address",
    [
        *(r"https:\/\/u:hunter2@h\/x", r"https://u:hunter2\u0040h/x", r"https\u003a//u:hunter2@h"),
        *(r"https://h/x?token\u003dhunter2", r"\U00000068ttps:\/\/u:hunter2@h"),
    ],
)
def test_no_line_shows_a_password_by_the_escapes_of_its_document(address: str) -> None:
    line = f'"git_url": "{address}", "a": 1'
    assert wording.quoted_line(line) == "*" * len(line)
    for plain in (r'"a": "b\n\u0040", "url": "https:\/\/h\/x"', r'"a": "\ud800 \Uffffffff"', "\\"):
        assert wording.quoted_line(plain) == plain
    own = '"url": "https://u:hunter2@h"'
    assert wording.quoted_line(own) == '"url": "https://*********@h"'


@pytest.mark.parametrize("mark", ["?", "&", "[?]"])
def test_a_signature_is_hidden_however_an_address_is_written(mark: str) -> None:
    said = wording.without_passwords(f"http://a/b{mark}X-Amz-Signature=abc&x=1")
    assert said == f"http://a/b{mark}X-Amz-Signature=***&x=1"


def test_a_text_of_many_addresses_is_looked_through_once() -> None:
    for text in (":\\\\" * 500_000, "://" * 500_000, "://a:" * 500_000):
        assert wording.without_passwords(text) == text


@pytest.mark.parametrize(
    ("name", "is_password"),
    [
        *((name, True) for name in ("token", "access_token", "X-Api-Key", "pat", "my-pat", "jwt")),
        *((name, True) for name in ("auth", "authorization", "client_secret", "passwd", "pass")),
        *((name, True) for name in ("code", "sig", "credential", "PWD", "id_jwt", "bearer")),
        *((name, False) for name in ("path", "pattern", "author", "page", "compass", "decode")),
        *((name, False) for name in ("q", "ref", "branch", "size", "passing")),
    ],
)
def test_queries_whose_names_speak_of_passwords_are_hidden(name: str, is_password: bool) -> None:
    said = wording.without_passwords(f"https://a.b/c?x=1&{name}=hunter2&y=3")
    assert said == f"https://a.b/c?x=1&{name}={'***' if is_password else 'hunter2'}&y=3"
