"""A comparison as a comment on a pull request: what stands there, how much, and in what shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from comparison.runs_by_hand import write_run
from conftest import JOBS, Run
from hypothesis import given
from hypothesis import strategies as st
from output.test_strangers_texts import EVIL
from printed import is_text
from render import rendered
from render.test_markdown import HOSTILE

from harbor_metrics import Comparison, compare
from harbor_metrics.documents.diagnostics import Diagnostic
from harbor_metrics.output.escapes import escaped
from harbor_metrics.render.comment import MARKER, MOST, comment
from harbor_metrics.render.github import github_of_comparison

GOLDEN = Path(__file__).with_name("comment.md").read_text(encoding="utf-8")
GATES: dict[str, Any] = {
    "no_worse": "mean", "non_inferior": "mean:0.02", "fail_if": "tasks.worse > 0",
}  # fmt: skip


@pytest.fixture(scope="module")
def models() -> Comparison:
    found = compare(JOBS / "two-models", **GATES)
    return msgspec.structs.replace(found, diagnostics=[])


def many(folder: Path, n_tasks: int, names: list[str], **asked: Any) -> Comparison:
    """Runs of so many tasks, of which all turn, every two of them compared."""
    paths = []
    for number, name in enumerate(names):
        rewards = {f"task-{i:04}-{'x' * 30}": [(i + number) % 2] for i in range(n_tasks)}
        paths.append(write_run(folder / f"{number}.jsonl", rewards, agent=name))
    sources = [f"{name}={path}" for name, path in zip(names, paths, strict=True)]
    return compare(*sources, pairs="all", **asked)


def test_the_whole_comment(models: Comparison) -> None:
    assert comment(models) == GOLDEN


def test_it_renders_as_tables_and_folded_lists(models: Comparison) -> None:
    tags = rendered.tags(comment(models))
    assert tags.count("table") == 4
    assert tags.count("details") == tags.count("summary") == 2
    cells = list(rendered.cells(comment(models)))
    assert cells[:6] == [
        "outcome",
        "gate",
        "why",
        "failed",
        "fail-if tasks.worse > 0",
        "tasks.worse is 1",
    ]
    assert "[-0.073, +0.153]" in cells
    # A callout of GitHub is a quotation that begins so.
    assert "<blockquote>\n<p>[!CAUTION]" in rendered.html(comment(models))


@pytest.mark.parametrize(
    ("outcome", "verdict", "callout"),
    [
        ("failed", "better", "CAUTION"),
        ("undecided", "better", "WARNING"),
        ("passed", "better", "TIP"),
        ("passed", "worse", "NOTE"),
        (None, "better", "TIP"),
        (None, "~", "NOTE"),
    ],
)
def test_the_callout_follows_the_gates_and_then_the_verdict(
    outcome: str | None, verdict: str, callout: str, models: Comparison
) -> None:
    (only,) = models.comparisons
    rows = [msgspec.structs.replace(only.rows[0], verdict=verdict)]
    gates = [msgspec.structs.replace(models.gates[0], outcome=outcome)] if outcome else []
    changed = msgspec.structs.replace(
        models, comparisons=[msgspec.structs.replace(only, rows=rows)], gates=gates
    )
    assert comment(changed).startswith(f"{MARKER}\n> [!{callout}]\n> ")


def test_of_many_candidates_the_worst_are_told(tmp_path: Path) -> None:
    base = {f"t{i:02}": [i % 2] for i in range(40)}
    worst = {task: [0] for task in base}
    paths = [write_run(tmp_path / f"run-{i}", base, agent=f"a{i}") for i in range(7)]
    for i, path in enumerate(paths):
        own = {**base, f"t{i:02}": [1 - i % 2]} if i else base
        write_run(path, worst if i == 6 else own, agent=f"a{i}")
    told = comment(compare(*paths)).partition("\n\n")[0]
    assert "> **Worse: mean -0.500.** run-6 against run-0" in told
    assert told.endswith("> And 1 more.")


def test_twenty_tasks_of_a_kind_are_listed(tmp_path: Path) -> None:
    text = comment(many(tmp_path, 60, ["one", "two"]))
    assert "<summary>30 tasks worse, the 20 largest changes</summary>" in text
    assert text.count("| task-") == 40


def test_what_has_no_room_is_cut_at_a_whole_row_and_said(tmp_path: Path) -> None:
    names = [f"run-{i}" for i in range(8)]
    whole = many(tmp_path, 60, names, metrics=["sum", "pass-rate", "mean-reward"])
    text = comment(whole)
    assert len(text) <= MOST
    assert text.endswith("_There is no room for the rest: the comparison document has all._\n")
    assert text.count("<details>") == text.count("</details>")
    assert len(whole.comparisons) == 28


@given(st.integers(1_200, 6_000))
def test_a_cut_comment_is_the_beginning_of_the_whole(most: int) -> None:
    cut = comment(WHOLE, most=most)
    assert len(cut) <= most
    *kept, empty, said = cut.splitlines()
    whole = comment(WHOLE).splitlines()
    if said.startswith("_There is no room"):
        assert empty == ""
        tail = ["", "</details>"] if kept[-1:] == ["</details>"] else []
        body = kept[: len(kept) - len(tail)]
        assert body == whole[: len(body)]
        assert rendered.tags(cut).count("details") == cut.count("</details>")
    else:
        assert cut == comment(WHOLE)


WHOLE = msgspec.structs.replace(compare(JOBS / "two-models", **GATES), diagnostics=[])


def strange(folder: Path, text: str) -> Comparison:
    """A comparison in which all that people name has this name, or begins with it."""
    for agent, shift in (("a", 0), ("b", 1)):
        lines = [
            {
                "task": f"{text}{i}", "rewards": {f"{text}k": (i + shift) % 2}, "agent": agent,
                "dataset": f"{text}d", "model": f"{text}m",
            }
            for i in range(12)
        ]  # fmt: skip
        lines.append({**lines[0], "task": f"{text}{agent}"})
        (folder / agent).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    name = text.replace("/", "").replace("=", "") or "x"
    return compare(
        f"{name}1={folder / 'a'}",
        f"{name}2={folder / 'b'}",
        metrics=json.dumps({"type": "grouped", "kwargs": {"metric": "mean", "by": "task"}}),
        no_worse="mean",
        unpaired="drop",
    )


@pytest.mark.parametrize("text", [*HOSTILE, EVIL, "x" * 10_000], ids=lambda text: repr(text[:20]))
def test_hostile_names_stay_inert_in_markdown(text: str, tmp_path: Path) -> None:
    if "\x00" in text:
        pytest.skip("no name of a run holds NUL")
    (tmp_path / "harmless").mkdir()
    shown = comment(strange(tmp_path, text))
    harmless = comment(strange(tmp_path / "harmless", "x"))
    tags = [tag for tag in rendered.tags(shown) if tag != "span"]
    if len(text) < 1_000:
        assert tags == rendered.tags(harmless)
    assert not rendered.linked(rendered.html(shown))
    assert is_text(shown)
    assert escaped(shown) == shown
    assert len(shown) <= MOST


@pytest.mark.parametrize("text", [*HOSTILE, EVIL], ids=lambda text: repr(text[:20]))
def test_hostile_names_give_no_commands(text: str, tmp_path: Path) -> None:
    shown = github_of_comparison(strange(tmp_path, text))
    printed = escaped(shown, commands=True)
    assert is_text(printed, commands=True)
    started = [line.split("::")[1].split()[0] for line in printed.splitlines()]
    assert set(started) <= {"error", "warning", "notice"}
    assert len(printed.splitlines()) == len(shown.splitlines()) == len(started)


def test_annotations_of_gates(models: Comparison) -> None:
    failed, undecided = github_of_comparison(models).splitlines()
    assert failed == (
        "::error title=harbor-metrics (gate-failed)::fail-if tasks.worse > 0: tasks.worse is 1 "
        "(in local-single: sail-2 against sail-1)"
    )
    assert undecided.startswith("::warning title=harbor-metrics (gate-undecided)::non-inferior")
    assert "%0Ahelp: It would take 491 tasks" in undecided


def test_the_command_writes_every_format_beside_another(cli: Run, tmp_path: Path) -> None:
    job = JOBS / "two-models"
    done = cli(
        "compare", job, "--no-worse", "mean", "--fail-if", "tasks.worse > 0", "--format", "github",
        "--also", "markdown:c.md", "--also", "json:c.json", "--also", "table:c.txt",
        "--also", "csv:c.csv", "--also", "github:c.gh",
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("::error title=harbor-metrics (gate-failed)::fail-if")
    assert "gate  no-worse mean: passed" in done.stderr
    assert (tmp_path / "c.gh").read_text() == done.stdout
    written = Comparison.read(str(tmp_path / "c.json"))
    assert (tmp_path / "c.md").read_text() == comment(written)
    assert cli("compare", job, "--format", "markdown").returncode == 0
    assert (tmp_path / "c.csv").read_text().startswith("dataset,base_run,candidate_run,")
    assert (tmp_path / "c.txt").read_text().startswith("local-single@1.0: sail-2 against sail-1")


@pytest.mark.parametrize(
    ("also", "code", "words"),
    [
        ("xml:c.xml", 2, "write FORMAT:FILE"),
        ("markdown", 2, "a format is table, markdown, json, csv, github"),
        ("markdown:gone/c.md", 3, "gone/c.md cannot be written"),
        ("markdown:-", 2, "- is not a file\n  = help: --format markdown prints it"),
        ("markdown:x.json", 2, "x.json would be written twice"),
        ("csv:./one", 2, "--also csv:./one: ./one would be written twice"),
    ],
)
def test_another_rendering_that_cannot_be(
    also: str, code: int, words: str, cli: Run, tmp_path: Path
) -> None:
    written = ("-o", "x.json", "--also", "markdown:one", "--also", also)
    done = cli("compare", JOBS / "two-models", *written)
    assert (done.returncode, done.stdout) == (code, "")
    assert not {path.name for path in tmp_path.iterdir()} & {"x.json", "one", "-"}
    assert words in done.stderr


def test_no_rendering_is_written_over_a_source(cli: Run, tmp_path: Path) -> None:
    write_run(tmp_path / "a", {"t": [1]}, agent="a")
    write_run(tmp_path / "b", {"t": [0]}, agent="b")
    done = cli("compare", "x=a", "b", "--also", "markdown:a")
    assert done.returncode == 2
    assert "the same file" in done.stderr


def test_what_is_found_is_said_of_its_runs(tmp_path: Path) -> None:
    found = many(tmp_path, 3, ["a", "b", "c"])
    said = Diagnostic(
        rule="tasks-unpaired", message="1 task is changed", subject="c against a"
    ).as_json()
    text = comment(msgspec.structs.replace(found, diagnostics=[said]))
    assert "- warning: c against a: 1 task is changed" in text
