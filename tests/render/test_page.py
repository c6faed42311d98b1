"""The page of a report: every rule that makes it safe, small and readable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import JOBS, LOGS, Run
from render import picture
from render.colours import contrast, mixed
from render.pages import grid, page_of, write_trials
from render.test_markup import HOSTILE, Tree

from harbor_metrics.render import html, svg
from harbor_metrics.render.figures.attempts import ink

SOURCES = {
    "single": JOBS / "single",
    "multi": JOBS / "multi",
    "two-models": JOBS / "two-models",
    "interrupted": JOBS / "interrupted",
    "inspect": LOGS / "inspect",
}


@pytest.fixture(scope="module", params=SOURCES)
def shown(request: pytest.FixtureRequest) -> str:
    return page_of(SOURCES[request.param])


def test_nothing_runs_and_nothing_is_fetched(shown: str) -> None:
    tree = Tree(shown)
    assert not {"script", "link", "img", "iframe", "object", "use", "form", "a:"} & set(tree.tags)
    for name, value in tree.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "srcset", "style", "action", "xlink:href")
        assert name != "href" or str(value).startswith("#")
    assert "url(" not in shown
    assert "@import" not in shown


def test_the_policy_forbids_what_is_not_there(shown: str) -> None:
    policy = dict(Tree(shown).attributes)["content"]
    assert (
        '<meta http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;; '
        "style-src &#x27;unsafe-inline&#x27;; base-uri &#x27;none&#x27;; "
        'form-action &#x27;none&#x27;">'
    ) in shown
    assert policy


def test_pictures_say_what_they_are(shown: str) -> None:
    pictures = re.findall(r"<svg[^>]*role=\"img\".*?<title>(.*?)</title><desc>(.*?)</desc>", shown)
    figures = re.findall(r"<figure id=\"\w+\">", shown)
    assert len(pictures) >= len(figures) >= 2
    assert all(title and described for title, described in pictures)


def test_every_picture_has_its_numbers(shown: str) -> None:
    for figure in re.findall(r"<figure.*?</figure>", shown, re.DOTALL):
        assert "<details>" in figure
        assert "<tbody><tr" in figure


def test_links_lead_somewhere_and_ids_are_there_once(shown: str) -> None:
    attributes = Tree(shown).attributes
    ids = [value for name, value in attributes if name == "id"]
    links = [str(value)[1:] for name, value in attributes if name == "href"]
    assert len(ids) == len(set(ids))
    assert links
    assert set(links) <= set(ids)


def test_shapes_have_no_styles(shown: str) -> None:
    for drawn in re.findall(r"<svg.*?</svg>", shown, re.DOTALL):
        assert "class=" not in drawn
        assert "style" not in drawn


def test_the_same_input_gives_the_same_bytes() -> None:
    assert page_of(JOBS / "two-models") == page_of(JOBS / "two-models")


def test_metrics_and_tasks_can_be_linked_to() -> None:
    shown = page_of(JOBS / "single")
    assert 'id="mean"' in shown
    assert 'id="task-001"' in shown


def _hostile(tmp_path: Path, name: str) -> str:
    lines = [
        {
            "task": f"{name}{i}" if i else name,
            "attempt": attempt,
            "agent": name,
            "model": name,
            "dataset": name,
            "rewards": None if i == 1 else {name: attempt / (i + 1)},
            "error": name if i == 1 else None,
            "usage": {"cost_usd": 1.5},
        }
        for i in range(3)
        for attempt in (1, 2)
    ]
    return page_of(write_trials(tmp_path / "trials.jsonl", lines))


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_give_the_tree_of_harmless_ones(tmp_path: Path, name: str) -> None:
    if name == "\ud800":
        pytest.skip("JSON Lines hold no half of a surrogate pair")
    shown, harmless = Tree(_hostile(tmp_path, name)), Tree(_hostile(tmp_path, "plain"))
    assert shown.tags == harmless.tags
    known = dict(harmless.attributes).keys()
    assert {attribute for attribute, _ in shown.attributes} <= known
    assert all(c.isprintable() or c == "\n" for c in shown.text)


def test_two_runs_of_a_benchmark_are_small(tmp_path: Path) -> None:
    lines = [*grid(89, 5, model="one"), *grid(89, 5, seed=3, model="other")]
    shown = page_of(write_trials(tmp_path / "trials.jsonl", lines))
    assert len(shown.encode()) <= 80_000


def test_many_tasks_are_counted_and_not_listed(tmp_path: Path) -> None:
    shown = page_of(write_trials(tmp_path / "trials.jsonl", grid(2000, 5)))
    assert len(shown.encode()) <= 60_000
    assert "and 1800 tasks more" in shown
    assert "Tasks from the easiest to the hardest in up to 60 bars" in shown


@pytest.mark.parametrize(
    ("ink_", "ground"),
    [
        (html.INK, html.GROUND),
        (html.LINK, html.GROUND),
        (html.DARK_INK, html.DARK_GROUND),
        (html.DARK_LINK, html.DARK_GROUND),
    ],
)
def test_text_is_read_easily(ink_: str, ground: str) -> None:
    assert contrast(ink_, ground) >= 4.5


@pytest.mark.parametrize("ground", [html.GROUND, html.DARK_GROUND])
@pytest.mark.parametrize("colour", svg.COLOURS)
def test_the_lowest_reward_is_nearest_to_the_ground_in_light_and_in_dark(
    colour: str, ground: str
) -> None:
    seen = [contrast(mixed(colour, ground, ink(i / 5)), ground) for i in range(6)]
    assert seen == sorted(seen)
    assert seen[0] < 1.6
    assert seen[-1] >= 3


def test_the_picture_of_the_readme_is_of_the_page_as_it_is(tmp_path: Path) -> None:
    """Where it is not, `python tests/render/picture.py` draws it again; it needs Chromium."""
    assert picture.digest_in(picture.PICTURE) == picture.digest(picture.make_page(tmp_path))


def test_a_result_document_says_what_it_has_no_pictures_of(cli: Run, tmp_path: Path) -> None:
    cli("compute", JOBS / "multi", "-o", "result.json")
    shown = page_of(tmp_path / "result.json")
    assert re.findall(r"<figure id=\"(\w+)\"", shown) == ["values", "trials"]
    assert "holds no single trials: attempts, chances, rewards, costs and differences" in shown
    assert f"This draws them: harbor-metrics report {JOBS / 'multi'} -o report.html" in shown
