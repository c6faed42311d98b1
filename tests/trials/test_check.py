"""A line that is not a trial is explained alike, whether it is validated or computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import trial, write_job
from inspect_logs import log, metric, sample
from lm_eval_logs import line, write

import harbor_metrics
from harbor_metrics import InputError
from harbor_metrics.documents.document import parse
from harbor_metrics.trials.check import check_trial
from harbor_metrics.trials.trial import GroupKey

GOOD = '{"task": "a", "rewards": {"reward": 1}}'


@pytest.mark.parametrize(
    ("line", "rule", "message"),
    [
        ('{"task": 1, "rewards": null}', "wrong-type", "`task` must be a string, not a number"),
        ('{"task": "a"}', "missing-field", "a trial has no `rewards` and no `reward`"),
        ('{"rewards": null}', "missing-field", "a trial has no `task`"),
        (
            '{"task": "a", "rewards": null, "reward": 1}',
            "schema",
            "a trial has `rewards` and `reward`, of which one says it all",
        ),
        ('{"task": "a", "reward": "1"}', "wrong-type", "`reward` must be a number or null, not a"),
        ('{"task": "a", "rewards": 0.5}', "invalid-rewards", "rewards must be an object of number"),
        ('{"task": "a", "rewards": {"r": true}}', "invalid-reward", "reward `r` must be a number"),
        ('{"task": "a", "rewards": null, "color": 1}', "schema", "a trial has no field `color`"),
        (
            '{"task": "a", "rewards": null, "atempt": 1}',
            "schema",
            "a trial has no field `atempt`; did you mean `attempt`?",
        ),
        ('{"task": "a", "rewards": null, "attempt": "1"}', "wrong-type", "`attempt` must be an in"),
        (
            '{"task": "a", "rewards": null, "texts": {"p": 5}}',
            "wrong-type",
            "`p` must be a string or an array, not a number",
        ),
        (
            '{"task": "a", "rewards": null, "usage": {"cost": 5}}',
            "schema",
            "`usage` has no field `cost`",
        ),
        ('["a", 1]', "wrong-type", "a trial must be an object such as"),
    ],
)
def test_compute_and_validate_say_the_same(
    line: str, rule: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "trials.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    result = harbor_metrics.compute(path)
    (found,) = harbor_metrics.validate(path).found
    assert result.diagnostics == [found.as_json()]
    assert (found.rule, message in found.message) == (rule, True), found.message
    assert found.subject == "line 2"
    assert result.groups[0].counts.unread == 1


def test_a_trial_is_not_complained_about() -> None:
    document, _ = parse(GOOD.encode(), "trials.jsonl")
    assert document is not None
    assert check_trial(document, "line 1") == []


AT_MOST = "n" * 16_384


@pytest.mark.parametrize("field", GroupKey._fields)
@pytest.mark.parametrize("form", ["jsonl", "csv", "harbor", "inspect", "lm-eval"])
def test_a_name_that_stands_in_every_row_is_no_longer_than_names_are(
    form: str, field: str, tmp_path: Path
) -> None:
    """An agent's name of 500 KB, and 2,000 metrics, made a CSV of a gigabyte."""
    for name in (AT_MOST, f"{AT_MOST}n"):
        source = named(form, field, name, tmp_path)
        if source is None:
            return
        if len(name) == len(AT_MOST):
            (group,) = harbor_metrics.compute(source).groups
            assert name in (group.agent, group.model, group.dataset and group.dataset.name)
        else:
            article = "an" if field == "agent" else "a"
            with pytest.raises(InputError, match=f"the name of {article} {field} has 16,385 char"):
                harbor_metrics.compute(source)


def named(form: str, field: str, name: str, folder: Path) -> str | None:
    """A source of a form whose agent, model or dataset has that name; None where it has none."""
    path = folder / f"t.{form}"
    if form == "jsonl":
        path.write_text(json.dumps({"task": "a", "rewards": {"r": 1}, field: name}))
    elif form == "csv":
        path.write_text(f"task,reward,{field}\na,1,{name}\n")
    elif form == "harbor":
        more: dict[str, Any] = {
            "agent": {"agent_info": {"name": name, "version": "1"}},
            "model": {"agent_info": {"name": "a", "version": "1", "model_info": {"name": name}}},
            "dataset": {"source": name},
        }[field]
        job = folder / f"job-{len(name)}"
        return str(write_job(job, [trial("a", {"reward": 1.0}, **more)]))
    elif form == "inspect":
        whole = log([sample("s1", 1.0)], metric("mean", 1.0))
        if field == "agent":
            whole["eval"]["solver"] = name
        else:
            whole["eval"]["task" if field == "dataset" else "model"] = name
        path.write_text(json.dumps(whole))
    elif field == "model":
        write(folder, [line(acc=1.0)], "samples_t_2026-01-01T00-00-00.000001.jsonl")
        results = {"results": {"t": {"acc,none": 1.0}}, "model_name": name}
        (folder / "results_2026-01-01T00-00-00.000001.json").write_text(json.dumps(results))
        return str(folder / "samples_t_2026-01-01T00-00-00.000001.jsonl")
    else:
        return None
    return str(path)


@pytest.mark.parametrize("form", ["evsys", "inspect sample", "inspect eval"])
def test_a_name_that_stands_in_many_trials_is_no_longer_than_names_are(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    for name in (AT_MOST, f"{AT_MOST}n"):
        whole: dict[str, Any] = {"task_rewards": {name: [1, 0]}}
        if form != "evsys":
            whole = log([sample("s1", 1.0)], metric("mean", 1.0))
            if form == "inspect eval":
                whole["eval"]["eval_id"] = name
            else:
                whole["samples"][0]["id"] = name
        path.write_text(json.dumps(whole))
        if len(name) == len(AT_MOST):
            assert harbor_metrics.compute(str(path)).groups
        else:
            with pytest.raises(InputError, match=r"x.json: the name of an? \w+ has 16,385 char"):
                harbor_metrics.compute(str(path))
