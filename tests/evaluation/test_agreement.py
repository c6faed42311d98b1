"""Which metrics run where jobs that are pooled bring registries of their own."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, run_cli, trial, write_job
from lm_eval_logs import OLD
from metric_scripts import linux
from printed import group

from harbor_metrics.trials.snapshot import SNAPSHOT

SCRIPT = '# /// script\n# dependencies = []\n# ///\nimport sys\nopen(sys.argv[4], "w").write({!r})'
SCORE = {"type": "uv-script", "kwargs": {"script_path": "score.py"}}
MINE = [{"type": "mean"}, {"type": "max"}]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def job(who: str, entries: list[Any] | None, *, score: float = 1, **config: Any) -> str:
    """A job with a registry beside it, which it names, and a script."""
    folder = Path(who)
    own = {"name": "demo", "version": "1", "registry_path": f"{who}.json"}
    write_job(folder / "job", [trial(who, {"reward": score})], datasets=[own], **config)
    if entries is not None:
        dataset = {"name": "demo", "version": "1", "description": "", "tasks": []}
        text = json.dumps([{**dataset, "metrics": entries}])
        (folder / f"{who}.json").write_text(text)
    (folder / "score.py").write_text(SCRIPT.format(json.dumps({"score": score})))
    return f"{who}/job"


def ran(cli: Run, *arguments: str) -> tuple[int, list[tuple[str, Any, str]]]:
    """The exit code; of each metric its name, kwargs, and status or the rule that it failed by."""
    done = cli("compute", *arguments, "--format", "json")
    metrics = group(done)["metrics"]
    said = [m["error"]["rule"] if m.get("error") else m["status"] for m in metrics]
    return done.returncode, [
        (m["name"], m["kwargs"], how) for m, how in zip(metrics, said, strict=True)
    ]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("his_name", ["a", "z"])
def test_metric_that_one_registry_alone_has_fails(cli: Run, his_name: str) -> None:
    skipping = {"type": "mean", "kwargs": {"missing": "skip"}}
    mine, his = job("mine", MINE), job(his_name, [skipping, {"type": "max"}])
    assert ran(cli, mine, his) == ran(cli, his, mine)
    code, metrics = ran(cli, mine, his)
    assert code == 1
    assert metrics[0] == ("max", {}, "ok")
    assert sorted(metrics[1:], key=str) == [
        ("mean", {"missing": "skip"}, "metrics-differ"),
        ("mean", {}, "metrics-differ"),
    ]
    said = " ".join(cli("compute", mine, his, "--dry-run").stdout.split())
    assert "mine/mine.json, the registry of a job, has it" in said
    assert ran(cli, mine, his, "--registry", "mine/mine.json") == (
        0,
        [("mean", {}, "ok"), ("max", {}, "ok")],
    )


@pytest.mark.usefixtures("here")
def test_metrics_of_a_stranger_do_not_stand_for_the_default(cli: Run) -> None:
    code, metrics = ran(cli, job("mine", []), job("his", [{"type": "max"}]))
    assert (code, metrics) == (1, [("max", {}, "metrics-differ")])


@pytest.mark.usefixtures("here")
def test_same_definitions_run_once_and_nothing_is_said(cli: Run) -> None:
    sources = job("mine", MINE), job("his", MINE[::-1])
    code, metrics = ran(cli, *sources)
    assert (code, sorted(name for name, _, _ in metrics)) == (0, ["max", "mean"])
    assert cli("compute", *sources).stderr == ""


@pytest.mark.usefixtures("here")
def test_metric_that_is_asked_for_runs_also_where_registries_differ(cli: Run) -> None:
    code, metrics = ran(cli, job("mine", MINE), job("his", MINE[:1]), "--metric", "max")
    assert code == 1
    assert metrics == [("mean", {}, "ok"), ("max", {}, "metrics-differ"), ("max", {}, "ok")]


def apart(who: str) -> str:
    """A job with a script that lies in a folder of its own."""
    named = {"type": "uv-script", "kwargs": {"script_path": "own/score.py"}}
    source = job(who, [named])
    Path(f"{who}/own").mkdir()
    Path(f"{who}/score.py").rename(f"{who}/own/score.py")
    return source


@linux
@pytest.mark.usefixtures("here", "own_caches")
def test_script_with_nothing_beside_it_is_the_same_by_what_is_in_it(cli: Run) -> None:
    sources = apart("mine"), apart("his")
    kwargs = {"script_path": "own/score.py"}
    assert ran(cli, *sources) == (0, [("uv-script", kwargs, "ok")])
    for path in Path("mine/own/score.py"), Path("his/own/score.py"):
        path.write_text(path.read_text() + f"# {path}")
    assert ran(cli, *sources) == (1, [("uv-script", kwargs, "metrics-differ")] * 2)


@linux
@pytest.mark.usefixtures("here", "own_caches")
@pytest.mark.parametrize("name", ["weights.json", "data/weights.json", ".hidden"])
@pytest.mark.parametrize("whose", ["mine", "his"])
def test_script_that_has_data_beside_it_is_the_same_only_as_itself(
    cli: Run, name: str, whose: str
) -> None:
    sources = apart("mine"), apart("his")
    kwargs = {"script_path": "own/score.py"}
    beside = Path(whose, "own", name)
    beside.parent.mkdir(exist_ok=True)
    beside.write_text("0.5")
    code, metrics = ran(cli, *sources)
    assert (code, metrics) == (1, [("uv-script", kwargs, "metrics-differ")] * 2)
    other = Path("his" if whose == "mine" else "mine", "own/score.py")
    other.unlink()
    other.parent.rmdir()
    Path("own").symlink_to(f"{whose}/own")
    assert ran(cli, *sources) == (0, [("uv-script", kwargs, "ok")])


@linux
@pytest.mark.usefixtures("here", "own_caches")
def test_registry_beside_a_script_is_no_other_data_where_it_is_a_copy(cli: Run) -> None:
    sources = []
    for who in ("mine", "his"):
        own = {"name": "demo", "version": "1", "registry_path": f"{who}/registry.json"}
        dataset = {"name": "demo", "version": "1", "tasks": [], "metrics": [SCORE]}
        write_job(Path(f"{who}-job"), [trial(who, {"reward": 1})], datasets=[own])
        Path(who).mkdir()
        Path(who, "registry.json").write_text(json.dumps([dataset]))
        Path(who, "score.py").write_text(SCRIPT.format('{"score": 1}'))
        sources.append(f"{who}-job")
    assert ran(cli, *sources) == (0, [("uv-script", SCORE["kwargs"], "ok")])
    Path("his/registry.json").write_text(json.dumps([{**dataset, "description": "0.5"}]))
    code, metrics = ran(cli, *sources)
    assert (code, metrics) == (1, [("uv-script", SCORE["kwargs"], "metrics-differ")] * 2)


@linux
@pytest.mark.usefixtures("here", "own_caches")
def test_script_of_a_snapshot_is_known_by_its_digest(cli: Run) -> None:
    sources = job("mine", None), job("his", [SCORE])
    known = {"name": "demo", "version": "1", "entry": {"name": "demo", "version": "1"}}
    known["entry"] |= {"description": "", "metrics": [SCORE]}
    document = {"schema_version": "1", "datasets": [{**known, "scripts": {"score.py": "0" * 64}}]}
    Path("mine/job/harbor-metrics.snapshot.json").write_text(json.dumps(document))
    code, metrics = ran(cli, *sources)
    assert (code, {how for _, _, how in metrics}) == (1, {"script-missing", "metrics-differ"})


@linux
@pytest.mark.usefixtures("here", "own_caches")
def test_script_of_a_job_is_the_same_by_what_is_in_it(cli: Run) -> None:
    sources = job("mine", None, metrics=[SCORE]), job("his", None, metrics=[SCORE], score=0)
    for who in ("mine", "his"):
        Path(f"{who}/job/score.py").write_bytes(Path(f"{who}/score.py").read_bytes())
    code, metrics = ran(cli, *sources, "--job-scripts")
    assert (code, metrics) == (1, [("uv-script", SCORE["kwargs"], "metrics-differ")] * 2)
    Path("his/job/score.py").write_bytes(Path("mine/job/score.py").read_bytes())
    assert ran(cli, *sources, "--job-scripts") == (0, [("uv-script", SCORE["kwargs"], "ok")])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("his_name", ["a", "z"])
def test_a_job_whose_registry_is_not_there_means_the_default(cli: Run, his_name: str) -> None:
    mine, his = job("mine", None), job(his_name, [{"type": "max"}])
    assert ran(cli, mine, his) == ran(cli, his, mine) == (1, [("max", {}, "metrics-differ")])
    said = " ".join(cli("compute", mine, his).stderr.split())
    assert "its trials are taken to ask for mean, Harbor's default, and metrics of " in said
    assert said.endswith("run only where they are the same; --registry FILE names it")
    same = job("same", [{"type": "mean"}])
    assert ran(cli, mine, same) == (0, [("mean", {}, "ok")])
    assert ran(cli, mine, his, "--registry", f"{his_name}/{his_name}.json") == (
        0,
        [("max", {}, "ok")],
    )


def bare(who: str, kind: str) -> str:
    """A source of the same dataset that brings no metrics."""
    rewards = [trial(f"{who}-a", {"reward": 1.0}), trial(f"{who}-b", None)]
    if kind == "path":
        return str(write_job(Path(who, "job"), rewards, datasets=[{"path": "tasks/demo"}]))
    if kind == "no config":
        source = write_job(Path(who, "job"), rewards)
        (source / "config.json").unlink()
        return str(source)
    run_cli("convert", write_job(Path(who, "job"), rewards), "-o", f"{who}.jsonl")
    return f"{who}.jsonl"


SKIPPING = {"type": "mean", "kwargs": {"missing": "skip"}}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("his_name", ["a", "z"])
@pytest.mark.parametrize("kind", ["path", "no config", "rows"])
def test_source_that_brings_no_metrics_means_the_default(
    cli: Run, kind: str, his_name: str
) -> None:
    mine, his = bare("mine", kind), job(his_name, [SKIPPING])
    assert ran(cli, mine, his) == ran(cli, his, mine)
    assert ran(cli, mine, his) == (1, [("mean", {"missing": "skip"}, "metrics-differ")])
    said = " ".join(cli("compute", mine, his, "--dry-run").stdout.split())
    assert f"no metrics come with {mine}, which is pooled with it" in said
    registry = f"{his_name}/{his_name}.json"
    assert ran(cli, mine, his, "--registry", registry) == (
        0,
        [("mean", {"missing": "skip"}, "ok")],
    )
    assert ran(cli, his) == (0, [("mean", {"missing": "skip"}, "ok")])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("entries", [[], [{"type": "mean"}]])
@pytest.mark.parametrize("kind", ["path", "rows"])
def test_default_runs_where_all_sources_mean_it(cli: Run, kind: str, entries: list[Any]) -> None:
    code, metrics = ran(cli, bare("mine", kind), job("his", entries))
    assert (code, metrics) == (0, [("mean", {}, "ok")])
    code, metrics = ran(cli, bare("own", kind), job("other", [{"type": "mean"}, {"type": "max"}]))
    assert (code, metrics) == (1, [("mean", {}, "ok"), ("max", {}, "metrics-differ")])


@pytest.mark.usefixtures("here")
def test_source_whose_trials_came_before_means_the_default_too(cli: Run) -> None:
    his = job("a", [SKIPPING])
    cli("convert", his, "-o", "z.jsonl")
    assert ran(cli, his, "z.jsonl") == ran(cli, "z.jsonl", his)
    assert ran(cli, his, "z.jsonl")[0] == 1


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", ["path", "no config", "rows", "no registry"])
def test_metrics_that_one_job_configures_do_not_stand_for_the_default(cli: Run, kind: str) -> None:
    mine = job("mine", None) if kind == "no registry" else bare("mine", kind)
    his = job("his", None, metrics=[SKIPPING])
    assert ran(cli, his) == (0, [("mean", {"missing": "skip"}, "ok")])
    skipped = [("mean", {"missing": "skip"}, "metrics-differ")]
    assert ran(cli, mine, his) == ran(cli, his, mine) == (1, skipped)
    # Nor does the default run on the trials of who has named another.
    assert ran(cli, mine, his, "--metric", "mean")[1] == [*skipped, ("mean", {}, "ok")]


@pytest.mark.usefixtures("here")
def test_metrics_that_each_job_configures_run(cli: Run) -> None:
    his = job("his", None, metrics=[SKIPPING, {"type": "max"}])
    mine = job("mine", None, metrics=[{"type": "max"}, {"type": "min"}])
    code, metrics = ran(cli, mine, his)
    assert (code, metrics[0]) == (1, ("max", {}, "ok"))
    assert sorted(metrics[1:], key=str) == [
        ("mean", {"missing": "skip"}, "metrics-differ"),
        ("min", {}, "metrics-differ"),
    ]
    said = " ".join(cli("compute", mine, his, "--dry-run").stdout.split())
    assert f"the configuration of {his} has it, and {mine}, of the same job or a pooled" in said
    assert "has not, or with other kwargs (--metric runs it)" in said
    same = job("same", None, metrics=[{"type": "max"}, SKIPPING])
    assert ran(cli, same, his)[0] == 0
    own = job("own", None, metrics=[{"type": "mean"}, {"type": "max"}])
    assert ran(cli, own, job("z", None)) == (
        1,
        [("mean", {}, "ok"), ("max", {}, "metrics-differ")],
    )
    code, metrics = ran(cli, own, job("y", None, metrics=[{"type": "max"}]))
    assert (code, metrics) == (1, [("max", {}, "ok"), ("mean", {}, "metrics-differ")])
    # What all ask for by a registry is configured for all.
    with_registry = job("a", [{"type": "max"}]), job("b", [{"type": "max"}], metrics=[MINE[1]])
    assert ran(cli, *with_registry) == (0, [("max", {}, "ok"), ("max", {}, "ok")])


@pytest.mark.usefixtures("here")
def test_parts_of_one_job_have_its_metrics_alone(cli: Run) -> None:
    dataset = [{"path": "tasks/demo"}]
    for part in ("a", "b"):
        metrics = [{"type": "max"}]
        write_job(Path(part), [trial(part, {"reward": 1})], datasets=dataset, metrics=metrics)
    assert ran(cli, "a", "b") == (0, [("max", {}, "ok")])
    assert cli("compute", "a", "b").stderr == ""


@pytest.mark.usefixtures("here")
def test_the_registry_of_a_job_is_not_that_of_where_one_stands(cli: Run, tmp_path: Path) -> None:
    mine, strangers = job("mine", [{"type": "min"}]), tmp_path / "strangers"
    strangers.mkdir()
    entry = {"name": "demo", "version": "1", "description": "", "tasks": []}
    (strangers / "mine.json").write_text(json.dumps([{**entry, "metrics": [{"type": "max"}]}]))

    def names() -> list[str]:
        done = cli("compute", f"../{mine}", "--format", "json", cwd=strangers)
        return [metric["name"] for metric in group(done)["metrics"]]

    assert names() == ["min"]
    (tmp_path / "mine" / "mine.json").unlink()
    assert names() == ["mean"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("way", ["{}/private/r.json", "private/r.json", "his/link.json", ".r.json"])
def test_a_job_names_no_registry_but_one_near_it(
    cli: Run, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = Path("private")
    folder.mkdir()
    secret = {"name": "ACME", "version": "host-1", "description": "", "tasks": [], "metrics": []}
    (folder / "r.json").write_text(json.dumps([secret]))
    path = job("his", None)
    Path("his/link.json").symlink_to(tmp_path / folder / "r.json")
    Path("his/.r.json").write_text(json.dumps([secret]))
    config = json.loads(Path(path, "config.json").read_text())
    config["datasets"][0]["registry_path"] = way.format(tmp_path)
    Path(path, "config.json").write_text(json.dumps(config))
    assert ran(cli, path) == (0, [("mean", {}, "ok")])
    done = cli("compute", path)
    assert "registry-not-found" in done.stderr
    assert "ACME" not in done.stdout + done.stderr


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", ["rows", "job"])
def test_metrics_of_a_version_run_where_all_sources_are_of_it(cli: Run, kind: str) -> None:
    """The version that a stranger's job names said what runs on trials that name none."""
    own = {"name": "demo", "version": "1", "registry_path": "own.json"}
    his = str(write_job(Path("his"), [trial("a", {"reward": 1})], datasets=[own]))
    mine = bare("mine", "rows")
    if kind == "job":
        named = [{**own, "version": "2"}]
        mine = str(write_job(Path("other"), [trial("b", {"reward": 1})], datasets=named))
    versions = {"1": [{"type": "mean"}, {"type": "max"}], "2": [{"type": "mean"}, {"type": "min"}]}
    dataset = {"name": "demo", "description": "", "tasks": []}
    entries = [{**dataset, "version": v, "metrics": m} for v, m in versions.items()]
    Path("own.json").write_text(json.dumps(entries))
    given = ("--registry", "own.json")
    assert [name for name, _, _ in ran(cli, mine, *given)[1]] == ["mean", "min"]
    differing = [("max", {}, "metrics-differ"), ("min", {}, "metrics-differ")]
    for more in (given, ()) if kind == "job" else (given,):
        for order in ((mine, his), (his, mine)):
            assert ran(cli, *order, *more) == (1, [("mean", {}, "ok"), *differing])
    said = " ".join(cli("compute", mine, his, *given).stdout.split())
    assert "demo@1 in own.json has it, and demo@2 there, of the same job or a pooled one" in said
    assert "(--dataset NAME@VERSION says which runs)" in said
    code, metrics = ran(cli, mine, his, *given, "--dataset", "demo@2")
    assert (code, [name for name, _, _ in metrics]) == (0, ["mean", "min"])


def test_metric_that_one_of_two_runs_of_lm_eval_has_fails(cli: Run, tmp_path: Path) -> None:
    (results,) = OLD.glob("results_*")
    (samples,) = OLD.glob("samples_two_choices_*")
    value = json.loads(results.read_text())
    for folder, stamp in (("mine", ".json"), ("theirs", "1.json")):
        (tmp_path / folder).mkdir()
        for name, text in ((samples.name, samples.read_text()), (results.name, json.dumps(value))):
            (tmp_path / folder / name.replace(".json", stamp)).write_text(text)
        value["configs"]["two_choices"]["metric_list"] = [
            {"metric": "acc", "aggregation": "median"}
        ]
    for order in (["mine", "theirs"], ["theirs", "mine"]):
        done = cli("compute", *order, "--format", "json")
        assert done.returncode == 1
        metrics = json.loads(done.stdout)["groups"][0]["metrics"]
        failed = {m["name"]: m["error"]["rule"] for m in metrics if m["status"] == "failed"}
        assert failed["lm-eval/median"] == failed["lm-eval/acc"] == "metrics-differ"


@pytest.mark.usefixtures("here")
def test_metric_of_one_of_two_registries_with_the_path_that_a_job_names_fails(cli: Run) -> None:
    own = {"name": "demo", "version": "1", "registry_path": "ds/registry.json"}
    mine = str(write_job(Path("jobs/mine"), [trial("a", {"reward": 1})], datasets=[own]))
    for folder, entries in (("ds", MINE), ("jobs/ds", [SKIPPING, {"type": "max"}])):
        assert ran(cli, mine)[0] == 0
        dataset = {"name": "demo", "version": "1", "description": "", "tasks": []}
        Path(folder).mkdir()
        Path(folder, "registry.json").write_text(json.dumps([{**dataset, "metrics": entries}]))
    code, metrics = ran(cli, mine)
    assert (code, metrics[0]) == (1, ("max", {}, "ok"))
    assert {how for _, _, how in metrics[1:]} == {"metrics-differ"}
    said = " ".join(cli("compute", mine, "--dry-run").stdout.split())
    assert "jobs/ds/registry.json, the registry of a job, has it, and ds/registry.json" in said
    code, metrics = ran(cli, mine, "--registry", "ds/registry.json")
    assert (code, [name for name, _, _ in metrics]) == (0, ["mean", "max"])


@linux
@pytest.mark.usefixtures("here")
def test_scripts_that_may_not_be_the_same_are_told_where_agents_differ(cli: Run) -> None:
    def told(*arguments: str) -> list[str]:
        done = cli("compute", *arguments, "--format", "json")
        found = json.loads(done.stdout)["diagnostics"]
        return [d["message"] for d in found if d["rule"] == "scripts-differ"]

    mine, his = (job(who, [SCORE], score=1) for who in ("mine", "his"))
    (path,) = Path(his).glob("*/result.json")
    path.write_text(path.read_text().replace('"oracle"', '"another"'))
    assert told(mine, his, "--registry", "mine/mine.json") == []
    (message,) = told(mine, his)
    assert "mine/score.py" in message
    assert "his/score.py" in message


@linux
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("his_name", ["a", "z"])
@pytest.mark.parametrize("is_right", [True, False])
def test_a_pin_of_one_source_holds_for_all(cli: Run, his_name: str, is_right: bool) -> None:
    """The first of two entries ran, with or without its pin, by the order of the paths."""
    text = SCRIPT.format(json.dumps({"score": 1}))
    digest = sha256(text.encode()).hexdigest()
    entry = {"type": "uv-script", "kwargs": {"script_path": "m/score.py"}}
    pinned = {**entry, "sha256": digest if is_right else "1" * 64}
    mine, his = job("mine", [pinned]), job(his_name, [entry])
    for who in ("mine", his_name):
        Path(who, "m").mkdir()
        Path(who, "m", "score.py").write_text(text)
    for sources in ((mine, his), (his, mine)):
        _, metrics = ran(cli, *sources)
        said = [how for name, _, how in metrics if name == "uv-script"]
        assert said == ["ok" if is_right else "script-pin"]


def test_pins_that_differ_let_nothing_run(cli: Run, here: Path) -> None:
    entry = {"type": "uv-script", "kwargs": {"script_path": "m/score.py"}}
    mine, his = (
        job(who, [{**entry, "sha256": digit * 64}]) for who, digit in (("mine", "1"), ("his", "2"))
    )
    for who in ("mine", "his"):
        (here / who / "m").mkdir()
        (here / who / "m" / "score.py").write_text("1")
    code, metrics = ran(cli, mine, his)
    assert code == 1
    assert {how for _, _, how in metrics} == {"script-pin"}


@linux
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("his_name", ["a", "z"])
def test_scripts_of_two_snapshots_are_two(cli: Run, his_name: str) -> None:
    """Where their entries said the same the first one's script ran over the trials of both."""
    entry = {"type": "uv-script", "kwargs": {"script_path": "m/score.py"}}
    sources = []
    for who, score in (("mine", 1), (his_name, 2)):
        source = Path(job(who, None))
        of_dataset = {"name": "demo", "version": "1", "metrics": [entry]}
        known = {"name": "demo", "version": "1", "entry": of_dataset}
        text = json.dumps({"schema_version": "1", "datasets": [known]})
        (source / SNAPSHOT).write_text(text)
        (source / "m").mkdir()
        (source / "m" / "score.py").write_text(SCRIPT.format(json.dumps({"score": score})))
        sources.append(str(source))
        assert ("uv-script", entry["kwargs"], "ok") in ran(cli, str(source))[1]
    for both in (sources, sources[::-1]):
        assert {how for name, _, how in ran(cli, *both)[1] if name == "uv-script"} == {
            "metrics-differ"
        }


@linux
def test_a_registry_that_a_job_names_has_no_script_of_the_current_folder(
    cli: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's checkout had its file run over the user's own job, without a word."""
    entry = {"type": "uv-script", "kwargs": {"script_path": "m/score.py"}}
    mine = here / job("mine", [entry])
    stranger = here / "stranger"
    for folder, score in ((here / "mine", 1), (stranger, 2)):
        (folder / "m").mkdir(parents=True)
        (folder / "m" / "score.py").write_text(SCRIPT.format(json.dumps({"score": score})))
    assert "script-elsewhere" not in cli("compute", mine).stderr
    (here / "mine" / "m" / "score.py").unlink()
    monkeypatch.chdir(stranger)
    done = run_cli("compute", mine, "--format", "json", cwd=stranger)
    failed = group(done)["metrics"][0]["error"]
    assert failed["rule"] == "script-missing"
    assert "lies in the current folder alone" in failed["message"]
    own = here / "mine" / "mine.json"
    done = run_cli("compute", mine, "--registry", own, "--format", "json", cwd=stranger)
    assert group(done)["metrics"][0]["values"] == {"score": 2}
    assert "warning[script-elsewhere]" in done.stderr
