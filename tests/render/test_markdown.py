"""Markdown: what is a stranger's is text, and nothing else, where it is rendered."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run, trial, write_job
from hypothesis import given
from hypothesis import strategies as st
from render import rendered

from harbor_metrics.documents.wording import printable
from harbor_metrics.output.escapes import escaped
from harbor_metrics.render.markdown import inert, markdown, row
from harbor_metrics.render.sheet import Line, Sheet

HOSTILE = [
    "<script>alert(1)</script>", "</details><img src=x onerror=alert(1)>", "<!-- x", "-->", "a|b",
    "[x](https://evil.example)", "![x](y)", "<https://evil.example>", "https://evil.example/a",
    "www.evil.example", "mailto:a@b.example", "a@b.example", "local-single@1.0", "@octocat",
    "(@octocat)", "#12", "octo/repo#12", "GH-12", ":tada:", "$x^2$", "`code`", "**bold**", "__b__",
    "~~gone~~", "# head", "- item", "1. item", "> [!TIP]", "    code", "---", "===", "| a | b |",
    "&lt;b&gt;", "&#64;octocat", "\\", "\\`", "a\nb", "a\r\n\r\n# b", "::error::x", "##[error]x",
    "\x1b[31m", "\u202ex", "[^1]", "[x]: https://evil.example", "$$x$$", "@", "#", "é*", "",
    "abc1234", "(1234567a)", "0123456789abcdef0123456789abcdef01234567", "octo@DeadBeef",
    "pay@.evil.example", "@.x", "a@-.b",
    "1https://evil.example/x", "t_www.evil.example", "a_https://evil.example", "_abc1234_",
    "¹https://evil.example/a", "éwww.evil.example", "²GH-12", "³abc1234",
]  # fmt: skip
PARTS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=3), st.sampled_from(list("@#:$<>&`")))
TEXTS = st.lists(PARTS, max_size=6).map("".join)


def in_a_table(text: str) -> str:
    return "\n".join([row(["a"]), row([":---"]), row([inert(printable(text))]), ""])


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_stranger_wrote_is_read_as_he_wrote_it(text: str) -> None:
    assert list(rendered.cells(in_a_table(text)))[1] == " ".join(printable(text).split())


@given(TEXTS)
def test_what_a_stranger_wrote_makes_no_element(text: str) -> None:
    own = [tag for tag in rendered.tags(in_a_table(text)) if tag != "span"]
    assert own == rendered.tags(in_a_table("x"))
    heading = f"### {inert(printable(text))} x\n"
    assert set(rendered.tags(heading)) <= {"h3", "span"}


BEGINNINGS = [
    *("- a", "+ a", "* a", "-", "+", "1. a", "12) a", "1.", "---", "- - -", "===", "=", "***"),
    *("~~~", "     a", "# a", "> a", "| a |", "```", "<b>a", "    - a", "[x]: y", "[ ] a", "-\\"),
]


@pytest.mark.parametrize("before", ["", "- ", "> ", "a\n", "- our own: "])
@pytest.mark.parametrize("text", BEGINNINGS)
def test_a_text_at_the_beginning_of_a_line_begins_nothing(before: str, text: str) -> None:
    ours = rendered.tags(f"{before}x\n")
    assert rendered.tags(f"{before}{inert(printable(text))}\n") == ours


@given(TEXTS, st.sampled_from(["", "- ", "> ", "- - "]))
def test_no_text_begins_anything(text: str, before: str) -> None:
    shown = rendered.tags(f"{before}a{inert(printable(text))}\n{before}")
    own = rendered.tags(f"{before}{inert(printable(text))}\n")
    assert {*shown, *own} <= {"p", "ul", "li", "blockquote", "span"}


def test_a_number_beside_a_name_from_right_to_left_stays_beside_it() -> None:
    shown = rendered.html(inert("\u05d0\u05d1 \u05d2: 3 of 5, \u0627 7"))
    assert shown == "<p>\u2068\u05d0\u05d1 \u05d2\u2069: 3 of 5, \u2068\u0627\u2069 7</p>\n"


@given(TEXTS)
def test_nothing_is_mentioned_or_linked(text: str) -> None:
    shown = rendered.html(in_a_table(text))
    assert not rendered.linked(shown), shown


@pytest.mark.parametrize("text", [*HOSTILE, "abc1234", "1e1234567", "f" * 40, "a/1234567f/b"])
def test_no_name_becomes_a_link(text: str) -> None:
    table = in_a_table(text)
    assert not rendered.linked(rendered.html(table))
    assert not [tag for tag in rendered.tags(table) if tag.startswith("a ")]


@pytest.mark.parametrize("text", ["1234567", "0.46153846153846156", "abc123", "f" * 41, "gabc1234"])
def test_numbers_and_words_stay_as_they_are(text: str) -> None:
    assert inert(text) == text


@given(TEXTS)
def test_it_is_printed_as_it_is(text: str) -> None:
    table = in_a_table(text)
    assert escaped(table) == table


def test_markdown_escapes_names(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("t", {"a|b": 1, "c": 2})])
    done = cli("compute", job, "--format", "markdown")
    assert "| &emsp;a\\|b | 1 | — |" in done.stdout


@pytest.mark.parametrize(
    "text", ["![x](https://e.org/p.png)", "@octocat", "<img src=x>", "x:tada", "#1"]
)
def test_what_stands_below_a_table_is_inert_as_a_whole(text: str) -> None:
    sheet = Sheet(
        title="d",
        counts="2 trials",
        headings=("agent", "mean"),
        lines=[Line((text, "—"), why=text)],
        below=[(text, text)],
    )
    below = markdown([sheet]).split("\n\n")[-1].splitlines()
    assert below == [f"- {inert(f'{text}: {text}')}"]
