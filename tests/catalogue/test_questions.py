"""A stranger's question leads to the right metric by the words of `list`."""

from __future__ import annotations

import re

import pytest

from harbor_metrics.catalogue.listing import entries

METRICS = {entry.name: entry for entry in entries() if entry.kind == "metric" and not entry.of}
SMALL = {"are", "as", "is", "its", "the", "what", "would"}


def words(text: str) -> set[str]:
    """The words that say something, without an s at the end."""
    return {word.rstrip("s") for word in re.findall(r"[a-z]+", text.lower())} - SMALL


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("are attempts consistent?", "consistency"),
        ("is the judge as good as people?", "cohen-kappa"),
        ("is its confidence honest?", "calibration-error"),
        ("what would one more attempt buy?", "variance-components"),
    ],
)
def test_the_line_with_the_words_of_a_question_answers_it(question: str, name: str) -> None:
    shared = {
        other: len(words(question) & words(entry.summary)) for other, entry in METRICS.items()
    }
    assert words(question) <= words(METRICS[name].summary)
    assert [other for other in shared if shared[other] == max(shared.values())] == [name]
