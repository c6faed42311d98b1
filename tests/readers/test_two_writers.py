"""What two writers at one file leave is found at its line, and never counts as something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import HERE, Run
from printed import group

import harbor_metrics

FILES = HERE / "readers" / "two_writers"
STAMP = "2026-11-21T00-57-32.749507"


def rewards(i: int) -> str:
    return json.dumps({"reward": i / 7, "n_steps": i})


def repeated(i: int) -> str:
    """A line of a file that has few different ones."""
    return json.dumps({"reward": float(i % 2)})


def sparse(i: int) -> str:
    return json.dumps({"reward": i / 7} if i % 2 else {"other": i / 7, "third": 0.5})


def odd(i: int) -> str:
    return json.dumps({'a "quoted" key': i / 7})


def trial(i: int) -> str:
    return json.dumps({"task": f"t{i}", "rewards": {"reward": i / 7}, "labels": {"level": 1}})


def trial_with_nulls(i: int) -> str:
    texts = {"answer": 'it said "no" \u00e9\\'}
    one = {"task": f"t{i}", "rewards": {"reward": i / 7}, "attempt": None, "texts": texts}
    return json.dumps({**one, "labels": {}, "usage": {}})


def trial_with_escaped_quotes(i: int) -> str:
    return trial(i).replace('"labels": {', '"labels": {"\\u0022": null, ')


def sample(i: int) -> str:
    doc = {"question": 'is "it"?', "answer": i}
    fixed = {"doc_id": i, "doc": doc, "target": "1", "arguments": {}, "resps": [["1"]]}
    return json.dumps({**fixed, "filtered_resps": ["1"], "filter": "none", "acc": i / 7})


def compact_sample(i: int) -> str:
    return json.dumps(json.loads(sample(i)), separators=(",", ":"))


def sample_with_nan(i: int) -> str:
    return sample(i)[:-1] + ', "f1": NaN}'


KINDS = [
    rewards,
    repeated,
    sparse,
    odd,
    trial,
    trial_with_nulls,
    trial_with_escaped_quotes,
    sample,
    compact_sample,
    sample_with_nan,
]


def doubled(line: str) -> str:
    """The line with its last member once more, in the innermost object that ends with it."""
    brace = line.index("}")
    start = max(line.rfind("{", 0, brace), line.rfind(", ", 0, brace)) + 1
    if line.startswith('{"doc_id"'):
        start, brace = line.rfind(",") + 1, len(line) - 1
    member = line[start:brace].strip()
    comma = ", " if ", " in line else ","
    return f"{line[:brace]}{comma}{member}{line[brace:]}"


# Name -> lines with the slip, and the numbers of those that cannot be read; 3 is the first.
SLIPS: dict[str, Callable[[str, str], tuple[list[str], list[int]]]] = {
    "glued": lambda a, b: ([a + b], [3]),
    "glued with a space": lambda a, b: ([f"{a} {b}"], [3]),
    "glued to null": lambda a, b: ([f"{a}null", b], [3]),
    "over two lines": lambda a, b: ([a[: a.index(":") + 1], a[a.index(":") + 1 :], b], [3, 4]),
    "glued, and over two": lambda a, b: (
        [a + b, b[: b.index(":") + 1], b[b.index(":") + 1 :]],
        [3, 4, 5],
    ),
    "a key twice": lambda a, b: ([doubled(a), b], [3]),
    "cut": lambda a, b: ([a[: len(a) // 2], b], [3]),
    "one in another": lambda a, b: ([a[:9] + b + a[9:], b], [3]),
}


def path_of(kind: Callable[[int], str], folder: Path) -> Path:
    return folder / (f"samples_x_{STAMP}.jsonl" if "sample" in kind.__name__ else "lines.jsonl")


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_compute_and_validate_find_it_at_its_line(
    kind: Callable[[int], str], slip: str, tmp_path: Path
) -> None:
    path = path_of(kind, tmp_path)
    lines, unread = SLIPS[slip](kind(1), kind(2))
    before, after = [kind(3), kind(4)], [kind(i) for i in range(5, 600)]
    path.write_text("\n".join([*before, *lines, *after]) + "\n")
    result = harbor_metrics.compute(path)
    counts = result.groups[0].counts
    n_lines = len(before) + len(lines) + len(after)
    assert (counts.found, counts.unread) == (n_lines - len(unread), len(unread))
    for findings in (result.found, harbor_metrics.validate(path).found):
        slips = [d for d in findings if d.rule in {"json-syntax", "duplicate-key"}]
        assert {d.span.line for d in slips if d.span} >= set(unread)
        assert {d.path for d in slips} == {str(path)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_right_is_read_whole(kind: Callable[[int], str], cli: Run, tmp_path: Path) -> None:
    path = path_of(kind, tmp_path)
    path.write_text("\n".join([kind(1), "", *(kind(i) for i in range(2, 600)), "  ", ""]))
    counts = harbor_metrics.compute(path).groups[0].counts
    assert (counts.found, counts.unread) == (599, 0)


@pytest.mark.parametrize(
    ("name", "unread"),
    [("glued", 1), ("glued_and_cut", 2), ("duplicate_key", 1), ("over_two_lines", 2)],
)
def test_compute_and_validate_agree_about_a_file(name: str, unread: int, cli: Run) -> None:
    path = FILES / f"{name}.jsonl"
    done = cli("compute", path, "--format", "json")
    assert done.returncode == 1
    assert group(done)["counts"]["unread"] == unread
    told = json.loads(cli("validate", path, "--format", "json").stdout)
    assert len(told) == unread
    for diagnostic in told:
        place = f"{path}:{diagnostic['line']}:{diagnostic['column']}\n"
        assert f"error[{diagnostic['rule']}]: {diagnostic['message']}\n" in done.stderr
        assert place in done.stderr
