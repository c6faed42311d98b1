"""`harbor-metrics report`."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from comparison.runs_by_hand import write_run
from conftest import JOBS, Run, registry_of_job, trial, write_job


def test_writes_a_page_and_says_so(cli: Run, tmp_path: Path) -> None:
    done = cli(
        "report", JOBS / "single", "--registry", registry_of_job("single"), "-o", "page.html"
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"page\.html: 4 pictures, \d+ kB\n", done.stderr)
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>\n")
    assert page.endswith("</html>\n")


def test_the_page_says_how_to_make_it_again(cli: Run, rewards: Path, tmp_path: Path) -> None:
    options = ("--metric", "pass-at-k k=2", "--level", "0.9")
    cli("report", rewards, *options, "--output", "one.html")
    cli("report", rewards, *options, "--output=other.html")
    one, other = (tmp_path / name for name in ("one.html", "other.html"))
    assert one.read_bytes() == other.read_bytes()
    again = (
        f"harbor-metrics report {rewards} --metric &#x27;pass-at-k k=2&#x27; --level 0.9 "
        "-o report.html"
    )
    assert again in one.read_text()


def test_a_failed_metric_exits_1_and_the_page_is_written(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("t", {"reward": 1})])
    metric = json.dumps({"type": "uv-script", "kwargs": {"script_path": "gone.py"}})
    done = cli("report", job, "--metric", metric, "-o", "page.html")
    assert done.returncode == 1
    assert "<strong>Failed: uv-script.</strong>" in (tmp_path / "page.html").read_text()


def test_missing_trials_are_said_on_top(cli: Run, tmp_path: Path) -> None:
    done = cli("report", JOBS / "interrupted", "--require-complete", "-o", "page.html")
    assert done.returncode == 1
    assert "--require-complete was given" in done.stderr
    assert "<strong>Planned trials are missing" in (tmp_path / "page.html").read_text()


def test_documents_and_sources_stand_on_one_page(cli: Run, rewards: Path, tmp_path: Path) -> None:
    cli("compute", JOBS / "single", "-o", "result.json")
    done = cli("report", "result.json", rewards, "-o", "page.html")
    assert done.returncode == 0
    page = (tmp_path / "page.html").read_text()
    assert "result.json holds no single trials: attempts, chances, rewards, costs" in page
    assert str(rewards) in page


def test_documents_of_one_name_are_told_apart(cli: Run, tmp_path: Path) -> None:
    for i, folder in enumerate(("mine", "new", "result.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.jsonl").write_text(f'{{"reward": {i}}}\n')
        cli("compute", f"{folder}/r.jsonl", "-o", f"{folder}/result.json")
    run = "result.json=result.json/r.jsonl"
    done = cli("report", "mine/result.json", "new/result.json", run, "-o", "page.html")
    assert done.returncode == 0
    values = re.findall(r"mean: [^<]*", (tmp_path / "page.html").read_text())[0]
    interval = r"(?: \[[^]]*\])?(?:, the 95% interval \([^)]*\))?"
    assert re.findall(rf"(\d){interval} \((.*?)\)", values) == [
        ("0", "mine/result.json"),
        ("1", "new/result.json"),
        ("2", "result.json"),
    ]


def test_refuses_to_write_over_its_input(cli: Run, rewards: Path) -> None:
    done = cli("report", rewards, "-o", rewards)
    assert done.returncode == 2
    assert "is the same file as the input" in done.stderr


def test_a_folder_that_is_not_there_is_found_first(cli: Run, rewards: Path) -> None:
    done = cli("report", rewards, "-o", "gone/page.html")
    assert done.returncode == 3
    assert "gone/page.html cannot be written" in done.stderr


def test_no_trials_are_no_reason_for_no_page(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("null\n")
    done = cli("report", "empty.jsonl", "-o", "page.html")
    assert done.returncode == 1
    assert "1 trial, 1 task, 1 missing" in (tmp_path / "page.html").read_text()


def test_a_document_of_another_kind_is_refused(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"schema_version": "1", "tool": {"name": "x"}}')
    done = cli("report", "odd.json", "-o", "page.html")
    assert done.returncode == 3
    assert "odd.json is not a result document" in done.stderr


def test_several_runs_are_compared(cli: Run, tmp_path: Path) -> None:
    jobs = [JOBS.parents[1] / "registry/jobs" / name for name in ("buoys", "buoys-sail-2")]
    done = cli("report", *jobs, "-o", "page.html")
    assert done.returncode == 0
    assert "page.html: 6 pictures" in done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "<strong>buoys@1.0: buoys-sail-2 against buoys (base), oracle: No difference" in page


def test_a_comparison_document_is_drawn(cli: Run, tmp_path: Path) -> None:
    cli("compare", JOBS / "two-models", "-o", "comparison.json")
    done = cli("report", "comparison.json", "-o", "page.html")
    assert done.returncode == 0
    page = (tmp_path / "page.html").read_text()
    assert re.findall('<figure id="([a-z-]*)"', page) == ["differences", "changes", "trials"]
    assert "holds no single trials: values, attempts, chances, rewards and costs are" in page
    assert f"This draws them: harbor-metrics report {JOBS / 'two-models'} -o report.html" in page
    # The denominators of both runs, and errors that the document counts and does not name.
    assert "sail-1: 50 trials, 10 tasks, 5 missing, 5 errored" in page
    assert "<th>errors</th><td>5</td><td>5</td>" in page


GATES = ("--no-worse", "mean", "--non-inferior", "mean:0.02", "--fail-if", "tasks.worse > 0")
FAILED = "<strong>Gate fail-if tasks.worse &gt; 0: failed: tasks.worse is 1.</strong>"
UNDECIDED = "<strong>Gate non-inferior mean:0.02: undecided: it may lose 0.02 or more, and it may"
PASSED = "<p>Gate no-worse mean: passed: it is not shown to be worse: +0.040, from -0.073 to"


def test_gates_of_a_document_stand_on_top(cli: Run, tmp_path: Path) -> None:
    assert cli("compare", JOBS / "two-models", *GATES, "-o", "comparison.json").returncode == 1
    done = cli("report", "comparison.json", "-o", "page.html")
    assert done.returncode == 1
    page = (tmp_path / "page.html").read_text()
    places = [page.index(words) for words in ("<h1>", FAILED, UNDECIDED, PASSED, "<figure ")]
    assert places == sorted(places)
    assert "It would take 491 tasks with 5 attempts" in page


def test_gates_of_runs_stand_on_top_and_decide_the_exit(cli: Run, tmp_path: Path) -> None:
    jobs = [JOBS.parents[1] / "registry/jobs" / name for name in ("buoys", "buoys-sail-2")]
    done = cli("report", *jobs, "--no-worse", "mean", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    assert "<p>Gate no-worse mean: passed: " in (tmp_path / "page.html").read_text()
    done = cli("report", *jobs, "--better", "mean", "-o", "page.html")
    assert done.returncode == 1
    assert "<strong>Gate better mean: undecided: " in (tmp_path / "page.html").read_text()


def test_a_gate_that_cannot_be_asked_is_refused(cli: Run, tmp_path: Path) -> None:
    jobs = [JOBS.parents[1] / "registry/jobs" / name for name in ("buoys", "charts")]
    assert cli("compute", jobs[0], "-o", "r.json").returncode == 0
    for arguments, words in (
        ([jobs[0], "--no-worse", "mean"], "a gate compares runs, and there is one source"),
        ([*jobs, "r.json", "--no-worse", "mean"], "r.json is a document, which holds none"),
        ([*jobs, "--no-worse", "mean"], "have no dataset in common"),
        ([*jobs, "--unpaired", "drop"], "and none is set"),
    ):
        done = cli("report", *arguments, "-o", "page.html")
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
        assert not (tmp_path / "page.html").exists()


def test_a_document_of_every_two_runs_has_their_places(cli: Run, tmp_path: Path) -> None:
    for run, passing in (("a", 2), ("b", 1), ("c", 20)):
        rewards = {f"t{i}": [int(i < passing or i % 4 == 0)] for i in range(20)}
        write_run(tmp_path / run, rewards, agent=run)
    cli("compare", "a", "b", "c", "--pairs", "all", "-o", "comparison.json")
    done = cli("report", "comparison.json", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert re.findall('<figure id="([a-z0-9-]*)"', page) == [
        "differences", "changes", "differences-2", "changes-2", "places", "trials",
    ]  # fmt: skip
    assert "<th>c</th><td>1</td>" in page
    assert done.returncode == 0


@pytest.mark.parametrize("kind", ["compute", "compare"])
def test_odd_numbers_and_diagnostics_of_a_document_are_no_traceback(
    kind: str, cli: Run, tmp_path: Path
) -> None:
    for name in ("a", "bb"):
        rows = ({"task": f"t{i}", "rewards": {"reward": i % (2 + len(name))}} for i in range(8))
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    sources = ("a.jsonl", "bb.jsonl") if kind == "compare" else ("a.jsonl",)
    done = cli(kind, *sources, "--metric", "mean", "-o", "whole.json")
    document = json.loads((tmp_path / "whole.json").read_text())
    assert done.returncode in (0, 1)
    whole = json.dumps(document)
    for odd in ({"path": "x"}, {"rule": "x", "message": "y", "span": {}}, {"line": "z"}):
        (tmp_path / "d.json").write_text(json.dumps(document | {"diagnostics": [odd]}))
        assert cli("report", "d.json", "-o", "o.html").returncode in (0, 1, 3)
    (tmp_path / "d.json").write_text(re.sub(r'"(stderr|high)": [0-9.e-]+', r'"\1": -1', whole))
    assert cli("report", "d.json", "-o", "o.html").returncode in (0, 1, 3)


def test_runs_of_a_document_are_called_by_it_beside_others(cli: Run, tmp_path: Path) -> None:
    """What a document calls its runs is its own word, and was shown as that of the user's own."""
    for name, value in (("a", 1), ("b", 0)):
        lines = [{"task": f"t{i}", "rewards": {"r": value}} for i in range(5)]
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    cli("compare", "a", "b", "--pairs", "all", "--no-worse", "mean", "-o", "theirs.json")
    cli("compare", "b", "a", "-o", "others.json")
    for sources in (("a", "b", "theirs.json"), ("theirs.json", "others.json")):
        done = cli("report", *sources, "-o", "page.html")
        assert done.returncode == 1, done.stderr
        page = (tmp_path / "page.html").read_text()
        text = " ".join(re.sub("<[^>]*>", " ", page).split())
        assert "theirs.json: b against theirs.json: a (base)" in text
        # The page's own runs stand there by their names, those of documents by the documents'.
        whose = set(re.findall(r"(\S+\.json: )?\b[ab] against", text))
        documents = {f"{name}: " for name in sources if name.endswith(".json")}
        assert whose == (documents | {""} if "a" in sources else documents)


def test_places_are_said_of_each_dataset(cli: Run, tmp_path: Path) -> None:
    for run, passing in (("a", 2), ("b", 1), ("c", 20)):
        lines = (
            {
                "task": f"t{i}",
                "dataset": name,
                "rewards": {"reward": int((i < passing) == (name == "d"))},
            }
            for name in "de"
            for i in range(20)
        )
        (tmp_path / f"{run}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert cli("report", "a.jsonl", "b.jsonl", "c.jsonl", "-o", "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    for dataset, first in (("d", "c.jsonl 1"), ("e", "c.jsonl 3")):
        assert f"<title>Places on {dataset}</title>" in page
        (said,) = set(re.findall(f"By mean on {dataset}, every two[^<]*", page))
        assert first in said


def test_a_text_that_a_run_says_twice_is_its_own(cli: Run, tmp_path: Path) -> None:
    for run, last in (("mine", 1), ("theirs", 0)):
        rewards = ({"reward": 1}, {"reward": last}, None)
        lines = (
            {"task": task, "agent": run, "dataset": run, "rewards": own}
            for task, own in zip("abc", rewards, strict=True)
        )
        (tmp_path / f"{run}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    mean = [{"type": "mean"}]
    theirs = {"name": "theirs", "version": "1", "metrics": mean, "extra_metrics": mean}
    registry = [theirs, {"name": "mine", "version": "1", "metrics": mean}]
    (tmp_path / "registry.json").write_text(json.dumps(registry))
    options = ("--registry", "registry.json", "-o", "page.html")
    cli("report", "theirs.jsonl", "mine.jsonl", *options)
    page = (tmp_path / "page.html").read_text()
    assert "0.3333 over 3; 0.5 over the 2 that have rewards (theirs.jsonl)" in page


def test_what_was_found_in_a_comparison_is_said_by_its_document(cli: Run, tmp_path: Path) -> None:
    """A stranger's run can be called as the user's own."""
    for name, tasks in (("a", "tuv"), ("b", "tuw"), ("mine", "tuv")):
        lines = [{"task": task, "rewards": {"r": int(name != "b")}} for task in tasks]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    gate = ("--fail-if", "errored > 0", "--unpaired", "drop")
    cli("compare", "mine=a.jsonl", "x=b.jsonl", *gate, "-o", "c.json")
    cli("report", "mine=mine.jsonl", "c.json", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "c.json: 1 task is only in mine, and not compared: v" in page
    assert "Gate fail-if errored &gt; 0: passed: c.json: errored is 0 in x" in page


ODD_KWARGS = [[1], {"type": [1]}, {"type": "mean", "kwargs": [1]}, {"type": None}, 5, None, "x"]


@pytest.mark.parametrize("key", ["missing", "metric", "by", "key", "k", "reducer", "script_path"])
@pytest.mark.parametrize("kind", ["compute", "compare"])
def test_kwargs_of_a_document_are_of_any_kind(
    key: str, kind: str, cli: Run, tmp_path: Path
) -> None:
    sources = ("a.jsonl", "b.jsonl")[: 1 + (kind == "compare")]
    for i, name in enumerate(sources):
        lines = [{"task": f"t{t}", "rewards": {"r": (t + i) % 2}} for t in range(3)]
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    cli(kind, *sources, "-o", "whole.json")
    text = (tmp_path / "whole.json").read_text()
    for type_ in ("mean", "grouped", "uv-script"):
        for odd in ODD_KWARGS:
            changed = text.replace('"kwargs": {}', f'"kwargs": {json.dumps({key: odd})}')
            changed = changed.replace('"type": "mean"', f'"type": "{type_}"')
            assert changed != text
            (tmp_path / "d.json").write_text(changed)
            assert cli("report", "d.json", "-o", "o.html").returncode in (0, 1, 3)


def test_more_trials_than_were_planned_are_not_missing_ones(cli: Run, tmp_path: Path) -> None:
    job = write_job(
        tmp_path / "job", [trial("a", {"r": 1}), trial("b", {"r": 0})], n_total_trials=1
    )
    done = cli("report", job, "-o", "page.html", "--require-complete")
    assert done.returncode == 1
    said = "there are more trials than were planned"
    assert f"error: {said}, and --require-complete was given" in done.stderr
    assert (
        f"T{said[1:]}: the numbers are over those that are there."
        in (tmp_path / "page.html").read_text()
    )


def test_a_page_begins_no_command_of_a_ci_system(cli: Run, tmp_path: Path) -> None:
    lines = '{"task": "a", "dataset": "##vso[task.x]##[error]", "rewards": {"r": 1}}\n'
    (tmp_path / "t.jsonl").write_text(lines)
    cli("report", "t.jsonl", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "##" not in page
    assert "##vso[task.x]##[error]" in html.unescape(page)


def test_a_report_says_what_its_comparison_found(cli: Run, tmp_path: Path) -> None:
    """And of the runs beside the base p is among these, as `compare` has it."""
    for name, seed in (("a", 0), ("b", 1), ("c", 2)):
        lines = [
            {"task": f"t{i}", "rewards": {"r": int((i * 7 + seed * i) % 5 > seed)}}
            for i in range(30 + seed)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    compared = cli("compare", "a.jsonl", "b.jsonl", "c.jsonl", "--format", "json")
    document = json.loads(compared.stdout)
    done = cli("report", "a.jsonl", "b.jsonl", "c.jsonl", "-o", "page.html")
    assert "tasks-unpaired" in done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "1 task is only in b.jsonl" in page
    for pair in document["comparisons"]:
        assert f">{pair['rows'][0]['p_adjusted']:.3f}</td>" in page


@pytest.mark.parametrize(
    ("options", "beside_sources"),
    [
        (["--missing", "skip"], True),
        (["--over", "attempts"], True),
        (["--level", "0.9"], True),
        (["--dataset", "x"], False),
        (["--only-asked", "--metric", "max"], False),
    ],
)
def test_options_that_a_document_would_be_shown_without_are_refused(
    options: list[str], beside_sources: bool, cli: Run, rewards: Path, tmp_path: Path
) -> None:
    cli("compute", rewards, "-o", "result.json")
    done = cli("report", "result.json", *options, "-o", "page.html")
    assert done.returncode == 2
    assert f"result.json was computed, and is shown as it is: {options[0]}" in " ".join(
        done.stderr.split()
    ).replace("--metric, ", "")
    assert not (tmp_path / "page.html").exists()
    assert (cli("report", "result.json", rewards, *options, "-o", "p.html").returncode == 2) == (
        beside_sources
    )


def test_trials_with_words_of_documents_are_no_document(cli: Run, tmp_path: Path) -> None:
    line = {"task": "a", "rewards": {"r": 1}, "labels": {"schema_version": "1", "tool": "x"}}
    (tmp_path / "t.jsonl").write_text(json.dumps(line))
    assert cli("report", "t.jsonl", "-o", "x.html").returncode == 0


def test_an_engine_that_is_not_there_is_said(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"task": "t", "rewards": {"reward": 1}}\n')
    done = cli("report", "t.jsonl", "--engine", "nonsense", "-o", "page.html")
    assert (done.returncode, (tmp_path / "page.html").exists()) == (2, False)
    assert "there is no engine `nonsense`" in done.stderr
