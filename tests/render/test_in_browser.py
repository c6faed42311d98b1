"""The page in Chromium: what is written is what is built, asked for and seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import JOBS
from render import browser, picture
from render.browser import AXE, CHROMIUM, WHY_NOT, Browser
from render.pages import grid, page_of, write_trials
from render.test_markup import HOSTILE

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT),
]

# The tree that a browser has built, without its texts.
_TREE = "[...document.querySelectorAll('*')].map(e => e.tagName.toLowerCase() + (e.id && '#' + e.id)).join(' ')"  # noqa: E501
_WIDER = "[document.documentElement.scrollWidth, window.innerWidth]"
_OPEN = "document.querySelectorAll('details').forEach(d => d.open = true)"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.started() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Some pages, by name."""
    folder = tmp_path_factory.mktemp("pages")
    hostile = [
        {"task": f"{n}{i}", "agent": n, "model": n, "dataset": n, "rewards": {n: i / 2}, "error": n}
        for n in HOSTILE[:9]
        if n.isascii() or n != "\ud800"
        for i in range(3)
        if n != "\ud800"
    ]
    two = [*grid(89, 5, model="one"), *grid(89, 5, seed=3, model="other", usage={"cost_usd": 0.5})]
    made = {
        "multi": page_of(JOBS / "multi"),
        "interrupted": page_of(JOBS / "interrupted"),
        "two": page_of(write_trials(folder / "two.jsonl", two)),
        "many": page_of(write_trials(folder / "many.jsonl", grid(500, 4))),
        "hostile": page_of(write_trials(folder / "hostile.jsonl", hostile)),
        "compared": page_of(
            *(
                write_trials(folder / f"{name}.jsonl", grid(30, 3, seed=seed))
                for name, seed in (("main", 0), ("of-a-branch-with-a-long-name", 3), ("new", 40))
            ),
            metrics=("pass@2", "sum"),
        ),
    }
    for name, text in made.items():
        (folder / f"{name}.html").write_text(text)
    return {name: folder / f"{name}.html" for name in made}


NAMES = ("multi", "interrupted", "two", "many", "hostile", "compared")


def written_tree(text: str) -> str:
    elements = re.findall(r"<([a-zA-Z0-9]+)((?: [a-zA-Z0-9-]+=\"[^\"]*\")*)/?>", text)
    ids = [re.search(r' id="([^"]*)"', attributes) for _, attributes in elements]
    pairs = zip(elements, ids, strict=True)
    return " ".join(tag.lower() + (f"#{own[1]}" if own else "") for (tag, _), own in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_the_tree_is_the_one_that_is_written(
    chromium: Browser, pages: dict[str, Path], name: str
) -> None:
    chromium.open(pages[name])
    assert chromium.ask(_TREE) == written_tree(pages[name].read_text())


@pytest.mark.parametrize("name", NAMES)
def test_no_request_leaves_the_page(chromium: Browser, pages: dict[str, Path], name: str) -> None:
    chromium.open(pages[name])
    chromium.ask("new Promise(done => setTimeout(done, 50))")
    assert chromium.requests() == [pages[name].as_uri()]
    assert chromium.said() == []


def test_the_policy_stands(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["multi"])
    chromium.ask(
        "document.body.insertAdjacentHTML('beforeend', "
        '\'<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" onerror="window.ran=1">\')'
    )
    chromium.ask("new Promise(done => setTimeout(done, 100))")
    assert chromium.ask("window.ran") is None
    assert any("Content Security Policy" in line for line in chromium.said())


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_scrolled_sideways_on_a_telephone(
    chromium: Browser, pages: dict[str, Path], name: str
) -> None:
    chromium.open(pages[name], width=320)
    chromium.ask(_OPEN)
    wide, window = chromium.ask(_WIDER)
    assert wide <= window == 320


@pytest.mark.parametrize("name", ["two", "compared"])
def test_no_number_is_broken_on_a_telephone(
    chromium: Browser, pages: dict[str, Path], name: str
) -> None:
    chromium.open(pages[name], width=320)
    chromium.ask(_OPEN)
    heights = "[...document.querySelectorAll('table.wide td:not(:empty)')].map(c => c.clientHeight)"
    found = chromium.ask(heights)
    assert len(found) > 10
    # One line of text.
    assert max(found) < 25


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.skipif(not AXE.is_dir(), reason="no axe-core here; .ci/prepare installs it")
def test_axe_finds_nothing(
    chromium: Browser, pages: dict[str, Path], name: str, dark: bool
) -> None:
    chromium.open(pages[name], dark=dark)
    chromium.ask(_OPEN)
    chromium.ask((AXE / "axe.min.js").read_text() + ";0")
    found = chromium.ask(
        "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html.slice(0, 200)))"
    )
    assert found == []


def test_what_is_aimed_at_is_marked_and_opened(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["two"])
    chromium.ask("location.hash = '#task-017'")
    row = "document.querySelector('#task-017')"
    assert chromium.ask(f"getComputedStyle({row}).outlineStyle") == "solid"
    assert chromium.ask(f"{row}.closest('details').open")


def test_details_are_open_on_paper(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["two"], printed=True)
    shown = "document.querySelector('#task-017').checkVisibility()"
    assert chromium.ask(shown)
    assert not chromium.ask("document.querySelector('details').open")
    chromium.open(pages["two"])
    assert not chromium.ask(shown)


def test_no_picture_is_higher_than_a_sheet_of_paper(
    chromium: Browser, pages: dict[str, Path]
) -> None:
    for name in NAMES:
        chromium.open(pages[name], width=700, printed=True)
        heights = "[...document.querySelectorAll('figure > svg')].map(s => s.clientHeight)"
        # A4 less its margins, at 96 pixels an inch.
        assert max(chromium.ask(heights)) <= 1040, name


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_looks_as_it_should(
    chromium: Browser, pages: dict[str, Path], tmp_path: Path, dark: bool
) -> None:
    chromium.open(pages["multi"], dark=dark)
    ground = chromium.ask("getComputedStyle(document.body).backgroundColor")
    ink = chromium.ask(
        "getComputedStyle(document.querySelector('svg line[stroke=currentColor]')).stroke"
    )
    assert (ground, ink) == (
        ("rgb(22, 25, 29)", "rgb(230, 232, 235)")
        if dark
        else ("rgb(255, 255, 255)", "rgb(27, 31, 36)")
    )
    chromium.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_the_picture_of_the_readme_is_made_by_a_script(tmp_path: Path) -> None:
    picture.draw(tmp_path / "report.png")
    made, kept = (tmp_path / "report.png").read_bytes(), picture.PICTURE.read_bytes()
    # Width and height; of the rest the fonts of the machine decide.
    assert made[:24] == kept[:24]
    assert picture.digest_in(tmp_path / "report.png") == picture.digest_in(picture.PICTURE)
    assert "](docs/report.png)" in (picture.ROOT / "README.md").read_text()


def test_pictures_need_no_styles(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["two"], dark=True)
    chromium.ask("document.querySelector('style').remove()")
    shown = chromium.ask(
        "[...document.querySelectorAll('figure > svg')].map("
        "s => [s.clientWidth > 500, s.clientHeight == s.getAttribute('height')])"
    )
    assert len(shown) >= 5
    assert all(all(each) for each in shown)
    # The ink that a browser has without styles, on the ground that it has then.
    ink = "getComputedStyle(document.querySelector('svg line[stroke=currentColor]')).stroke"
    assert chromium.ask(ink) == "rgb(255, 255, 255)"
