"""The numbers of an lm-eval run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from conftest import HERE, LOGS, Run
from lm_eval_logs import line, write

from harbor_metrics.audits import audit
from harbor_metrics.audits.row import Verdict


def test_numbers_of_shortened_lm_eval_samples_are_unverified(cli: Run, tmp_path: Path) -> None:
    for path in (LOGS / "lm_eval" / "0.4.13").iterdir():
        text = path.read_text()
        if "two_choices" in path.name:
            text = "".join(text.splitlines(keepends=True)[:5])
        (tmp_path / path.name).write_text(text)
    done = cli("audit", ".")
    assert done.returncode == 1
    assert "nothing that ./samples_two_choices" in done.stderr
    assert ", 0 explained, " in done.stdout
    assert "9 of 14 trials are missing on disk" in done.stdout


def test_absent_task_explains_the_number_of_its_group(cli: Run, tmp_path: Path) -> None:
    for path in (LOGS / "lm_eval" / "0.4.13").iterdir():
        if "two_choices" not in path.name:
            shutil.copy(path, tmp_path)
    done = cli("audit", ".")
    assert done.returncode == 0
    assert "the samples of two_choices are not among the sources" in done.stdout


def test_group_of_a_run_is_listed_once() -> None:
    done = audit(str(LOGS / "lm_eval" / "0.4.13"))
    names = [(row.group, row.name) for row in done.rows]
    assert len(names) == len(set(names))
    weighed = {row.name: row.reason for row in done.rows if row.group == "scripted on both"}
    assert weighed["acc,none"] == "tasks weigh as they have samples"
    assert weighed["acc_norm,none"] == "every task weighs the same"


def test_a_forged_second_run_in_a_folder_is_audited(tmp_path: Path) -> None:
    (old,) = sorted((HERE / "logs" / "lm_eval" / "0.5.0.dev1").glob("samples_*"))[:1]
    (results,) = (HERE / "logs" / "lm_eval" / "0.5.0.dev1").glob("results_*")
    stamp = results.stem.removeprefix("results_")
    document = json.loads(results.read_text())
    task = old.name.removeprefix("samples_").removesuffix(f"_{stamp}.jsonl")
    number = next(n for n, v in document["results"][task].items() if type(v) is float)
    for other, by in ((stamp, 0), ("2030" + stamp[4:], 0.125)):
        document["results"][task][number] += by
        (tmp_path / f"results_{other}.json").write_text(json.dumps(document))
        (tmp_path / f"samples_{task}_{other}.jsonl").write_bytes(old.read_bytes())
    done = audit(str(tmp_path))
    assert [row.name for row in done.rows if row.verdict == Verdict.DIFFERS] == [number]


def test_numbers_of_what_was_not_scored_are_explained(tmp_path: Path) -> None:
    rows = [line(i, metrics=["bypass"], bypass=-1) for i in range(3)]
    write(tmp_path, rows, "samples_t_2026-01-01T00-00-00.0.jsonl")
    results = {"results": {"t": {"bypass,none": 999, "bypass_stderr,none": 0.0, "sample_len": 3}}}
    (tmp_path / "results_2026-01-01T00-00-00.0.json").write_text(json.dumps(results))
    done = audit(str(tmp_path))
    assert [row.verdict for row in done.rows] == [Verdict.EQUAL] + [Verdict.EXPLAINED] * 2
    assert "nothing was scored" in done.rows[2].reason


def test_two_tasks_of_one_name_are_verified_by_the_samples_of_both(tmp_path: Path) -> None:
    """Task `t` behind filter `a:b` and task `t:a` behind filter `b` are one group."""
    stamp = "2026-01-01T00-00-00.000001"
    for task, filters, value in (("t", ("a:b", "x"), 1.0), ("t:a", ("b", "x"), 0.0)):
        rows = [line(i, acc=value, filter=name) for name in filters for i in range(5)]
        write(tmp_path, rows, f"samples_{task}_{stamp}.jsonl")
    said = {"t": {"acc,a:b": 1.0, "acc,x": 1.0}, "t:a": {"acc,b": 1.0, "acc,x": 0.0}}
    document = {"results": said, "model_name": "m", "configs": {}}
    (tmp_path / f"results_{stamp}.json").write_text(json.dumps(document))
    rows = [row for row in audit(str(tmp_path)).rows if row.name in ("acc,a:b", "acc,b")]
    assert rows
    assert all(row.verdict == Verdict.DIFFERS for row in rows)
