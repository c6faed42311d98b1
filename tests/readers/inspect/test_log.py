"""Inspect logs: the shapes they have had, what becomes of a score, and what is refused."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import msgspec
import pytest
from conftest import Run
from inspect_logs import (
    LOGS,
    Members,
    log,
    members,
    metric,
    sample,
    scored,
    trials,
    write,
    write_zstd,
)
from metric_scripts import HEAD
from metric_scripts import metric as script

from harbor_metrics import compute, readers
from harbor_metrics.errors import InputError
from harbor_metrics.trials.trial import Trial


def plain(found: list[Trial]) -> list[Trial]:
    """Without what only the samples have."""
    return [msgspec.structs.replace(trial, texts={}) for trial in found]


def test_scores_become_rewards() -> None:
    found = {t.trial: t for t in trials(LOGS / "reducers.eval")}
    assert found["1_epoch_1"].rewards == {"letters": 1.0}
    assert found["4_epoch_3"].rewards == {"letters": 0.5}
    assert found["6_epoch_1"].rewards == {"letters": 0.0}
    one = found["6_epoch_1"]
    assert (one.task, one.attempt, one.agent, one.model, one.dataset) == (
        "6", 1, "answering", "mockllm/model", "reducers",
    )  # fmt: skip
    assert one.labels["kind"] == "art"
    assert one.labels["nested.deep"] == 5
    assert one.labels["inspect/value"] == "N"
    assert (one.usage.n_input_tokens, one.usage.n_output_tokens) == (3, 33)
    assert one.usage.seconds is not None
    failed = found["4_epoch_2"]
    assert (failed.rewards, failed.error) == (None, "ValueError")
    assert failed.labels["inspect/status"] == "error"


@pytest.mark.parametrize("error", ["", {"message": "", "traceback": "", "traceback_ansi": ""}])
def test_sample_with_an_error_without_a_message_is_errored(error: object, tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(log([{**sample(1, {"s": 1}), "error": error}])))
    (found,) = trials(tmp_path / "log.json")
    assert found.error == "error"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("task_args", {"subject": "law"}),
        ("task_args", {"b": 2**70, "\ud800": float("nan")}),
        ("task_version", 1),
        ("dataset", {"name": "law"}),
    ],
)
def test_logs_of_one_task_that_ran_otherwise_are_told(
    setting: str, value: object, cli: Run, tmp_path: Path
) -> None:
    """Samples are called by their numbers, and those of another subject are other tasks."""
    for name, own in (("a", {}), ("b", {setting: value})):
        written = log([sample("1", 1)])
        defaults = {"task_args": {"subject": "math"}, "task_version": 0, "dataset": {"name": "m"}}
        written["eval"] |= {**defaults, "eval_id": name, **own}
        (tmp_path / f"{name}.json").write_text(json.dumps(written))
    said = " ".join(cli("compute", "a.json", "b.json").stderr.split())
    assert f"dataset t: runs of one group differ in {setting}, and their samples" in said
    said = " ".join(cli("compare", "a.json", "b.json").stderr.split())
    assert f"a.json and b.json differ in {setting}: their tasks are paired by their names" in said
    assert "differ in" not in cli("compute", "a.json", "a.json").stderr


def test_logs_of_one_task_with_other_scorers_are_told(cli: Run, tmp_path: Path) -> None:
    """In one log they are groups of their own."""
    for name in ("strict", "lenient"):
        written = log([{**sample("1", 1), "scores": {name: {"value": {"acc": 1}}}}])
        written["results"]["scores"] = []
        (tmp_path / f"{name}.json").write_text(json.dumps(written))
    said = " ".join(cli("compute", "strict.json", "lenient.json").stderr.split())
    assert "runs of one group differ in scorer" in said


def test_tasks_of_one_joined_name_are_told(cli: Run, tmp_path: Path) -> None:
    """Of several scorers each is a group `t:s`, as a task may be called itself."""
    for task, scorers in (("t", ("s", "r")), ("t:s", ("s",))):
        scores = {name: {"value": len(scorers) - 1} for name in scorers}
        written = log([{**sample("1", 1), "scores": scores}])
        written["eval"] |= {"eval_id": task, "task": task}
        written["results"]["scores"] = []
        (tmp_path / f"{len(scorers)}.json").write_text(json.dumps(written))
    said = " ".join(cli("compute", "1.json", "2.json").stderr.split())
    assert "dataset t:s: runs of one group differ in task" in said


def test_solvers_of_one_joined_name_are_told(cli: Run, tmp_path: Path) -> None:
    for name, steps in (("one", ["a", "b"]), ("two", ["a+b"])):
        written = log([sample("1", 1)])
        written["eval"]["eval_id"] = name
        written["plan"] = {"steps": [{"solver": step} for step in steps]}
        (tmp_path / f"{name}.json").write_text(json.dumps(written))
    said = " ".join(cli("compute", "one.json", "two.json").stderr.split())
    assert "runs of one group differ in solver" in said
    assert "differ in solver" not in cli("compare", "one.json", "two.json").stderr


def test_error_unscored_and_missing_are_kept_apart() -> None:
    found = {t.trial: t for t in trials(LOGS / "parts.eval")}
    assert found["2_epoch_1"].rewards == {"a1": 2 / 7 + 1, "flag": 1.0}
    assert found["3_epoch_1"].labels["inspect/status"] == "missing"
    assert found["5_epoch_1"].labels["inspect/status"] == "unscored"
    assert found["3_epoch_1"].rewards is None is found["5_epoch_1"].rewards
    (source,) = readers.read(str(LOGS / "parts.eval"))
    assert [d.message for d in source.diagnostics] == [
        "parts: of 16 samples 2 unscored, 2 without a score"
    ]


def test_every_scorer_is_a_group() -> None:
    found = trials(LOGS / "scorers.eval")
    assert {t.dataset for t in found} == {
        "scorers:letters", "scorers:loglikelihood", "scorers:words",
    }  # fmt: skip
    words = [t for t in found if t.dataset == "scorers:words"]
    assert [(t.rewards or {})["words"] for t in words] == [0.0, 0.25, 1.0, 1.0] * 2
    chances = next(t for t in found if t.dataset == "scorers:loglikelihood")
    assert chances.rewards == {"loglikelihood": -1.5, "sum_log_probs": -1.5, "num_tokens": 4}
    assert len({t.id for t in found}) == len(found) == 24


def test_order_of_summaries_changes_no_trial(tmp_path: Path) -> None:
    content = members("reducers")
    content["summaries.json"].reverse()
    assert trials(write(tmp_path / "x", content)) == trials(LOGS / "reducers.eval")


@pytest.mark.parametrize("name", ["reducers", "parts", "scorers", "unreduced"])
def test_every_shape_gives_the_same_trials(name: str, tmp_path: Path) -> None:
    content = members(name)
    expected = trials(LOGS / f"{name}.eval")
    samples = {n: v for n, v in content.items() if n.startswith("samples/")}
    journal = {n: v for n, v in content.items() if n.startswith("_journal/")}
    rows = content["summaries.json"]
    half = len(rows) // 2
    journal |= {"_journal/summaries/9.json": rows[:half], "_journal/summaries/10.json": rows[half:]}
    chunked: Members = {}
    for path, member in samples.items():
        folder = path.removesuffix(".json")
        chunked[f"{folder}/metadata.json"] = member["metadata"]
        chunked[f"{folder}/sample.json"] = {**member, "metadata": {}}
        chunked[f"{folder}/events/0.json"] = [{"event": "x"}]
    without = {n: v for n, v in content.items() if n != "summaries.json"}
    older = [{k: v for k, v in r.items() if k not in ("metadata", "model_usage")} for r in rows]
    whole = {**content["header.json"], "samples": list(samples.values())}
    shapes: dict[str, Path] = {
        "deflate": write(tmp_path / "deflate", content),
        "stored": write(tmp_path / "stored", content, zipfile.ZIP_STORED),
        "frames": write_zstd(tmp_path / "frames", content, 3),
        "summaries": write(
            tmp_path / "summaries",
            {n: v for n, v in content.items() if n in ("header.json", "summaries.json")},
        ),
        "samples": write(
            tmp_path / "samples", {n: v for n, v in without.items() if n not in journal}
        ),
        "older": write(tmp_path / "older", {**content, "summaries.json": older}),
        "journal": write(tmp_path / "journal", journal | samples),
        "chunked": write(
            tmp_path / "chunked", {n: v for n, v in content.items() if n not in samples} | chunked
        ),
        "chunks": write(tmp_path / "chunks", {"header.json": content["header.json"], **chunked}),
    }
    (tmp_path / "json").write_text(json.dumps(whole))
    (tmp_path / "indented").write_text(json.dumps(whole, indent=2))
    (tmp_path / "packed").write_bytes(gzip.compress(json.dumps(whole).encode()))
    shapes |= {each: tmp_path / each for each in ("json", "indented", "packed")}
    for shape, path in shapes.items():
        assert plain(trials(path)) == expected, shape
    texts = trials(shapes["json"])
    for shape in ("deflate", "chunked", "chunks", "older"):
        assert trials(shapes[shape], with_texts=True) == texts, shape
    assert any(t.texts for t in texts)


def test_texts_are_the_samples_own(tmp_path: Path) -> None:
    assert not any(t.texts for t in trials(LOGS / "reducers.eval"))
    found = {t.trial: t for t in trials(LOGS / "reducers.eval", with_texts=True)}
    assert found["2_epoch_3"].texts == {
        "prediction": "answer 3\n  in lines",
        "reference": ["yes", "y"],
    }


@pytest.mark.parametrize("finished", [True, False])
def test_two_samples_of_one_name_are_refused(finished: bool, cli: Run, tmp_path: Path) -> None:
    content = members("reducers")
    row = {k: v for k, v in content["summaries.json"][0].items() if k != "uuid"}
    rows = [{**row, "id": 1}, {**row, "id": "1"}]
    start = {"_journal/start.json": content["_journal/start.json"]}
    journal = start | {"_journal/summaries/1.json": rows}
    whole = {"header.json": content["header.json"], "summaries.json": rows}
    write(tmp_path / "x.eval", whole if finished else journal)
    done = cli("compute", "x.eval")
    assert done.returncode == 3
    assert 'x.eval has sample "1" of epoch 1 beside sample 1' in done.stderr


@pytest.mark.parametrize("uuids", [["a", "b"], [None, None]])
def test_sample_that_stands_twice_is_refused(uuids: list[str | None], tmp_path: Path) -> None:
    whole = {**members("reducers")["header.json"]}
    one = next(v for n, v in members("reducers").items() if n.startswith("samples/"))
    log = {**whole, "samples": [{**one, "uuid": uuid} for uuid in uuids]}
    (tmp_path / "x.json").write_text(json.dumps(log))
    with pytest.raises(InputError, match=r"has sample .* of epoch 1 twice"):
        readers.read(str(tmp_path / "x.json"))


def test_running_log_is_incomplete(cli: Run, tmp_path: Path) -> None:
    content = members("reducers")
    rows = content["summaries.json"]
    again = {**rows[0], "scores": {"letters": {"value": "P"}}}
    write(
        tmp_path / "x.eval",
        {
            "_journal/start.json": content["_journal/start.json"],
            "_journal/summaries/1.json": rows[:3],
            "_journal/summaries/2.json": [again, rows[3]],
        },
    )
    done = cli("compute", "x.eval", "--format", "json")
    group = json.loads(done.stdout)["groups"][0]
    assert (done.returncode, group["complete"]) == (0, False)
    assert group["counts"]["found"] == 4
    assert group["counts"]["expected"] == 24
    assert "is not finished: 4 of 24" in done.stderr
    found = {t.trial: t for t in trials(tmp_path / "x.eval")}
    assert found[f"{rows[0]['id']}_epoch_{rows[0]['epoch']}"].rewards == {"letters": 0.5}


def test_failed_log_is_read_and_its_error_reported(cli: Run) -> None:
    done = cli("compute", LOGS / "failed.eval")
    assert done.returncode == 0
    assert "ended with status error: ValueError('the sandbox is gone')" in " ".join(
        done.stderr.split()
    )


def test_every_log_of_a_folder_is_read(cli: Run) -> None:
    done = cli("compute", LOGS, "--format", "json")
    names = [source["path"].rpartition("/")[2] for source in json.loads(done.stdout)["sources"]]
    assert "make_logs.py" not in names
    assert {"reducers.eval", "log1_reducers_error.json.gz"} <= set(names)
    groups = json.loads(done.stdout)["groups"]
    assert {g["dataset"]["name"] for g in groups} >= {"letters_task", "noreduce:letters1", "parts"}


def test_the_same_log_twice_counts_once(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "copy", members("reducers"))
    done = cli("compute", LOGS / "reducers.eval", "copy", "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["counts"]["found"] == 24
    assert "24 trials found more than once, counted once" in done.stderr


def test_nan_inside_a_text_stays(tmp_path: Path) -> None:
    odd = r"a \"NaN\" in [NaN, Infinity] \\"
    path = scored("0.5", tmp_path, metadata={"note": json.loads(f'"{odd}"')})
    path.write_text(path.read_text().replace('"note": ', '"bare": NaN, "note": '))
    (trial,) = trials(path)
    assert trial.labels["note"] == 'a "NaN" in [NaN, Infinity] \\'
    assert trial.labels["bare"] == "NaN"


def test_half_a_surrogate_pair_is_read_and_converted(cli: Run, tmp_path: Path) -> None:
    path = scored("0.5", tmp_path, metadata={"note": "x\ud83d"})
    (trial,) = trials(path)
    assert trial.rewards == {"words": 0.5}
    assert cli("convert", path, "-o", tmp_path / "t.jsonl").returncode == 0


def test_usage_counts_cached_tokens_as_input(tmp_path: Path) -> None:
    newer = {"input_tokens": 10, "input_tokens_cache_read": 90, "output_tokens": 5}
    newer |= {"total_tokens": 105, "total_cost": 0.25}
    older = {"input_tokens": 100, "input_tokens_cache_read": 90, "output_tokens": 5}
    older |= {"total_tokens": 105}
    for spent, cost in ((newer, 0.25), (older, None)):
        (trial,) = trials(scored("1", tmp_path, model_usage={"m": spent}, total_time=2.5))
        usage = trial.usage
        assert (usage.n_input_tokens, usage.n_cache_tokens, usage.n_output_tokens) == (100, 90, 5)
        assert (usage.cost_usd, usage.seconds) == (cost, 2.5)


def test_sample_without_an_id_is_reported(cli: Run, tmp_path: Path) -> None:
    done = cli("compute", scored("1", tmp_path, id=None))
    assert done.returncode == 1
    assert "a sample of epoch 1 has no id" in done.stderr


def test_json_cut_in_the_middle_is_refused(cli: Run, tmp_path: Path) -> None:
    path = scored("1", tmp_path)
    path.write_text(path.read_text()[:-40])
    done = cli("compute", path)
    assert done.returncode == 3
    assert "x.json is no Inspect log: line 1" in done.stderr


def test_fault_of_a_sample_is_reported_once_for_all_scorers(cli: Run, tmp_path: Path) -> None:
    samples = [sample(f"s{i}", 1.0) for i in range(3)]
    for each in samples:
        each["scores"]["other"] = {"value": 1.0}
    samples[0]["id"] = None
    (tmp_path / "x.json").write_text(json.dumps(log(samples, metric("mean", 1.0))))
    done = cli("audit", "x.json")
    assert done.stderr.count("has no id") == 1
    assert "1 samples could not be read" in done.stdout


def test_log_with_a_scorer_for_each_sample_is_refused(cli: Run, tmp_path: Path) -> None:
    """Each would make a trial of each sample: 182 kB took 3.5 GB."""
    samples = [{"id": i, "epoch": 1, "scores": {f"s{i}": {"value": 1.0}}} for i in range(100)]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(log(samples[:99], metric("mean", 1.0))))
    assert len(trials(path)) == 99 * 100
    path.write_text(json.dumps(log(samples, metric("mean", 1.0))))
    done = cli("compute", path)
    assert done.returncode == 3
    assert "x.json: its samples have scores of 101 scorers; at most 100 are read" in done.stderr


@pytest.mark.parametrize(
    ("n_labels", "n_scored", "n_scorers", "is_read"),
    # A trial for each scorer that results name takes its own labels: 36 kB took 4 GB.
    [(100, 1, 30, False), (100, 30, 30, True), (0, 1, 30, False), (0, 30, 30, True),
     (100, 1, 10, True), (0, 1, 10, True), (0, 0, 30, False)],
)  # fmt: skip
def test_trials_without_a_score_are_not_many_times_what_a_log_says(
    n_labels: int,
    n_scored: int,
    n_scorers: int,
    is_read: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harbor_metrics.readers.inspect.log._ANY_LOG", 1_000)
    metadata = {f"l{i}": i for i in range(n_labels)}
    scores = {f"s{i}": {"value": 1.0} for i in range(n_scored)}
    samples = [{"id": i, "epoch": 1, "metadata": metadata, "scores": scores} for i in range(20)]
    whole = log(samples, metric("mean", 1.0))
    (first,) = whole["results"]["scores"]
    named = [{**first, "name": f"s{i}", "scorer": f"s{i}"} for i in range(n_scorers)]
    whole["results"]["scores"] = named
    path = tmp_path / "x.json"
    path.write_text(json.dumps(whole))
    if is_read:
        assert len(trials(path)) == 20 * n_scorers
    else:
        with pytest.raises(InputError, match=f"{n_scorers} scorers have {20 * n_scored} scores of"):
            trials(path)


def test_name_that_metadata_gives_two_values_is_no_label(cli: Run, tmp_path: Path) -> None:
    twice = {"a": {"b": "x"}, "a.b": "y", "c": {"d": 1}, "c.d": 1}
    path = scored("0.5", tmp_path, metadata=twice)
    (trial,) = trials(path)
    assert "a.b" not in trial.labels
    assert trial.labels["c.d"] == 1
    done = cli("compute", path, "--only-asked", "--metric", "mean")
    assert done.returncode == 0
    assert "warning[duplicate-key]" in done.stderr
    assert "metadata has two values called `a.b`" in " ".join(done.stderr.split())
    grouped = cli("compute", path, "--only-asked", "--metric", "mean", "--group-by", "a.b")
    assert grouped.returncode == 1


def test_code_of_the_users_is_given_the_texts_of_a_log(cli: Run, tmp_path: Path) -> None:
    """Whatever stands beside it: a summary has none."""
    sample = {"id": 1, "epoch": 1, "input": "q", "target": "t", "metadata": {}, "model_usage": {}}
    sample |= {"scores": {"acc": {"value": 1, "answer": "t"}}}
    head = {"version": 2, "status": "success", "plan": {}}
    head |= {"eval": {"task": "t", "eval_id": "e", "dataset": {"samples": 1}, "config": {}}}
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(head))
        archive.writestr("summaries.json", json.dumps([sample]))
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample))
    (tmp_path / "fn.py").write_text(
        "from harbor_metrics import Table\n"
        "def right(trials: Table) -> float:\n"
        '    """Share of trials whose answer is the target."""\n'
        "    return sum(t.texts.get('prediction') == 't' for t in trials) / len(trials)\n"
    )
    (tmp_path / "m.py").write_text(
        f"{HEAD}lines = open(os.environ['HARBOR_METRICS_TRIALS'])\n"
        "texts = [json.loads(line).get('texts') for line in lines]\n"
        "answer(right=sum(text == {'reference': 't', 'prediction': 't'} for text in texts))\n"
    )
    for named in ("fn.py:right", script("m.py")):
        done = cli("compute", "a.eval", "--only-asked", "--metric", named, "--format", "json")
        (one,) = json.loads(done.stdout)["groups"][0]["metrics"]
        assert [*one["values"].values()] == [1], one["error"]


@pytest.mark.parametrize("name", ["samples/{}_epoch_1.json", "samples/{}_epoch_1/sample.json"])
def test_ids_of_samples_can_have_slashes(name: str, tmp_path: Path) -> None:
    """Inspect writes them so, and reads them again."""
    head = {"version": 2, "status": "success", "plan": {}}
    head |= {"eval": {"task": "t", "eval_id": "e", "dataset": {"samples": 2}, "config": {}}}
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(head))
        for id_, value in (("math/one", 1), ("two", 0)):
            sample = {"id": id_, "epoch": 1, "input": "q", "target": "t", "metadata": {}}
            sample |= {"model_usage": {}, "scores": {"acc": {"value": value, "answer": "t"}}}
            archive.writestr(name.format(id_), json.dumps(sample))
    assert [trial.task for trial in trials(tmp_path / "a.eval")] == ["math/one", "two"]


def test_every_sample_in_an_archive_is_read(tmp_path: Path) -> None:
    """As Inspect does, however its member is called, but what is a piece of another."""
    content = members("reducers")
    names = [name for name in content if name.startswith("samples/")]
    expected = len(trials(LOGS / "reducers.eval"))
    del content["summaries.json"]
    for name in (n for n in [*content] if n.startswith("_journal/summaries")):
        del content[name]
    content["samples/a/b.json"] = content.pop(names[0])
    write(tmp_path / "deep.eval", content)
    assert len(trials(tmp_path / "deep.eval")) == expected
    content["samples/x_epoch_1/sample.json"] = content.pop(names[1])
    content["samples/x_epoch_1/events/0.json"] = [{"event": "x"}]
    write(tmp_path / "pieces.eval", content)
    assert len(trials(tmp_path / "pieces.eval")) == expected


@pytest.mark.parametrize(("ids", "complete"), [([1, 2], True), ([1, 3], False), ([1, "2"], True)])
def test_sample_that_the_header_lists_and_is_not_there_is_missing(
    ids: list[int | str], complete: bool, tmp_path: Path
) -> None:
    """Though there are as many."""
    head = members("reducers")["header.json"]
    one = next(v for n, v in members("reducers").items() if n.startswith("samples/"))
    config = {**head["eval"].get("config", {}), "epochs": 1}
    listed = {**head["eval"], "dataset": {"samples": 2, "sample_ids": ids}, "config": config}
    samples = [{**one, "id": id_, "epoch": 1, "uuid": str(id_)} for id_ in (1, 2)]
    log = {**head, "eval": listed, "samples": samples}
    (tmp_path / "x.json").write_text(json.dumps(log))
    assert compute(tmp_path / "x.json").complete is complete
