"""What `explain` shows of a rule: a mistake that breaks it, and what to write, which does not."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from validation.validated import rules_of

from harbor_metrics.validation.examples import EXAMPLES, Example
from harbor_metrics.validation.explanations import explain, rule_names
from harbor_metrics.validation.rules import hints
from harbor_metrics.validation.validation import validate

GIT = '"git_url": "https://example.org/r.git", "git_commit_id": "' + "0" * 40 + '"'
FIELDS = {
    "name": '"buoys"',
    "version": '"1.0"',
    "description": '"d"',
    "tasks": f'[{{"name": "t", "path": "p", {GIT}}}]',
}
SCRIPT = "# /// script\n# dependencies = []\n# ///\nimport sys\nprint(sys.argv)\n"


def document(example: Example, text: str) -> tuple[str, str]:
    """The name and the text of a file that has an example in it."""
    if example.part == "registry":
        return "registry.json", text
    if example.part == "rewards":
        return "rewards.jsonl", text
    if example.part == "toml":
        return "dataset.toml", text
    if example.part == "py":
        text = '"metrics": [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}]'
    elif example.part != "fields":
        text = f'"{example.part}": [{text}]'
    own = set(re.findall(r'(?m)^"(\w+)"', text))
    others = [f'"{name}": {value}' for name, value in FIELDS.items() if name not in own]
    return "registry.json", "[{" + ",\n".join([*others, text]) + "\n}]"


def lay(example: Example, text: str, folder: Path) -> Path:
    """Write a document that has the example in it, and the scripts that it may name."""
    for place in ("m.py", "metrics/m.py"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(f"{text}\nimport sys\n" if example.part == "py" else SCRIPT)
    if example.part == "py" and "argv" not in text and "-i" not in text and "logs" not in text:
        (folder / "m.py").write_text(f"{text}\nimport sys\nprint(sys.argv)\n")
    (folder / "for-harbor.py").write_text(EXAMPLES["script-settings"].right)
    digest = hashlib.sha256((folder / "m.py").read_bytes()).hexdigest()
    name, content = document(example, text.replace("<64 digits>", digest))
    (folder / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    return folder / name


def broken(example: Example, text: str, folder: Path) -> list[str]:
    """The rules that a file with an example in it breaks, hints among them."""
    folder.mkdir()
    path = lay(example, text, folder)
    found = [d.rule for d in validate(path, select=["hints"]).found]
    return [*rules_of(path), *found]


@pytest.mark.parametrize("name", rule_names())
def test_what_is_wrong_breaks_the_rule_and_what_is_right_does_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = EXAMPLES[name]
    if name == "script-twice":
        (tmp_path / "m.py").write_text("other contents")
    monkeypatch.chdir(tmp_path)
    assert name in broken(example, example.wrong, tmp_path / "wrong")
    assert name not in broken(example, example.right, tmp_path / "right")


@pytest.mark.parametrize("name", rule_names())
def test_the_page_of_a_rule_shows_what_is_wrong_and_what_to_write(name: str) -> None:
    wrong, write = explain(name).rpartition("\nwrong\n")[2].split("\nwrite\n")
    for text, shown in ((EXAMPLES[name].wrong, wrong), (EXAMPLES[name].right, write)):
        first = text.split("\n")[0]
        assert shown.startswith("  ")
        assert not first.isascii() or first[:60] in shown
    assert write != wrong


def test_every_example_is_of_a_rule() -> None:
    assert EXAMPLES.keys() == {*rule_names()}
    assert hints() < EXAMPLES.keys()
