"""The plugin beside a stand-in for Harbor; `test_real_harbor.py` has the real one."""

from __future__ import annotations

import asyncio
import json
import os
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import Run
from inside_harbor import stand_in

from harbor_metrics.documents import schemas
from harbor_metrics.inside_harbor.plugin import MetricsPlugin
from harbor_metrics.inside_harbor.snapshot import digests
from harbor_metrics.registries.script_file import find
from harbor_metrics.trials.snapshot import SNAPSHOT


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the plugin says to scripts does not outlive the test."""
    monkeypatch.setenv("HARBOR_METRICS_JOB", "")


@pytest.fixture
def task(tmp_path: Path) -> Any:
    folder = tmp_path / "task-0"
    folder.mkdir()
    (folder / "task.toml").write_text('[metadata]\ncategory = "tides"\n')
    return stand_in.task_config(folder)


def run(job: Path, task: Any, *datasets: Any, private: Any = None, **options: Any) -> None:
    """What Harbor calls at the start and at the end of a job."""
    plugin = MetricsPlugin(**options)
    begun = stand_in.running(job, task, datasets=datasets, **(private or {}))
    asyncio.run(plugin.on_job_start(begun))
    asyncio.run(plugin.on_job_end(stand_in.ended(("task-0", task))))


def snapshot(job: Path) -> Any:
    written = json.loads((job / SNAPSHOT).read_text())
    jsonschema.Draft202012Validator(schemas.bundled("snapshot")).validate(written)
    return written


def test_it_is_installed_as_a_plugin_of_harbor() -> None:
    (entry,) = entry_points(group="harbor.plugins", name="metrics")
    assert entry.load() is MetricsPlugin


def test_document_equals_compute_and_the_table_is_shown(
    cli: Run, job: Path, task: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    run(job, task, metrics=["stderr", {"type": "quantile", "kwargs": {"q": 0.5}}], missing="skip")
    quantile = '{"type": "quantile", "kwargs": {"q": 0.5}}'
    done = cli("compute", job, "--metric=stderr", "--metric", quantile, "--missing=skip", "-o", "r")
    assert (job / "harbor-metrics.json").read_text() == (job.parent / "r").read_text()
    shown = capfd.readouterr().out
    assert done.stdout in shown
    assert f"Metrics written to {job}/harbor-metrics.json" in shown
    assert (job / "harbor-metrics.md").read_text().startswith("### oracle")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ["stdrr"]}, "--pk metrics: stdrr: unknown metric type"),
        ({"metrics": 3}, "--pk metrics=3: write a type"),
        ({"metrics": {"type": "quantile", "kwargs": {"q": 2}}}, "at most 1"),
        ({"missing": "one"}, '--pk missing="one": write zero, skip, error'),
        ({"level": 95}, "--pk level=95: write a number between 0 and 1, or off"),
        ({"level": True}, "--pk level=true"),
        ({"registry": "gone.json"}, "--pk registry: gone.json"),
        ({"registry": 1}, "--pk registry=1"),
        ({"require_complete": "yes"}, '--pk require_complete="yes": write true or false'),
        ({"quiet": 1}, "--pk quiet=1"),
        ({"document": "nowhere/r.json"}, "--pk document: nowhere/r.json cannot be written"),
        ({"document": ""}, "the path of a file"),
        ({"metric": "mean"}, "--pk metric: there is no such option; there are metrics, missing"),
    ],
)
def test_wrong_option_ends_the_run_in_one_line(
    options: dict[str, Any], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        MetricsPlugin(**options)
    assert end.value.code in (2, 3)
    said = capfd.readouterr().err
    assert said.startswith("harbor-metrics: error: ")
    assert words in said
    assert said.count("\n") == 1


def test_document_of_the_job_is_not_overwritten(
    job: Path, task: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    plugin = MetricsPlugin(document=str(job / "result.json"))
    with pytest.raises(SystemExit):
        asyncio.run(plugin.on_job_start(stand_in.running(job, task)))
    assert "which would be read" in capfd.readouterr().err


def test_registry_that_lacks_the_dataset_ends_the_run(
    job: Path, task: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.json").write_text('[{"name": "other", "version": "1", "tasks": []}]')
    plugin = MetricsPlugin(registry=str(tmp_path / "r.json"))
    demo = stand_in.dataset_config(name="demo", version="1")
    with pytest.raises(SystemExit):
        asyncio.run(plugin.on_job_start(stand_in.running(job, task, datasets=(demo,))))
    assert "has no dataset demo; it has other@1" in capfd.readouterr().err


def test_snapshot_has_labels_entry_and_digests_before_there_is_a_trial(
    job: Path, task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("")
    script = {"type": "uv-script", "kwargs": {"script_path": "m.py"}}
    entry = {"name": "demo", "version": "2", "description": "é", "metrics": [{}, script]}
    (tmp_path / "r.json").write_text(json.dumps([{**entry, "tasks": [{"name": "task-0"}]}]))
    demo = stand_in.dataset_config(name="demo", registry_path="r.json")
    plugin = MetricsPlugin()
    asyncio.run(plugin.on_job_start(stand_in.running(job, task, datasets=(demo,))))
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    expected = {
        "name": "demo",
        "version": "2",
        "registry": "r.json",
        "entry": entry,
        "scripts": {"m.py": digest},
        "tasks": {"task-0": {"category": "tides"}},
    }
    assert snapshot(job)["datasets"] == [expected]
    assert os.environ["HARBOR_METRICS_JOB"] == str(job)
    asyncio.run(plugin.on_job_end(stand_in.ended(("task-0", task))))
    assert "HARBOR_METRICS_JOB" not in os.environ


@pytest.mark.parametrize("path", ["{}/note.txt", "../note.txt", ".env"])
def test_a_registry_names_no_file_outside_of_its_folder_here_either(
    path: str, job: Path, task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its line was quoted on the terminal and in the job's folder."""
    for place in (tmp_path / "note.txt", tmp_path / "work" / ".env"):
        place.parent.mkdir(exist_ok=True)
        place.write_text("hunter2 = (\n")
    monkeypatch.chdir(tmp_path / "work")
    script = {"type": "uv-script", "kwargs": {"script_path": path.format(tmp_path)}}
    entry = {"name": "demo", "version": "2", "tasks": [], "extra_metrics": [script]}
    Path("r.json").write_text(json.dumps([entry]))
    demo = stand_in.dataset_config(name="demo", registry_path="r.json")
    run(job, task, demo)
    (group,) = json.loads((job / "harbor-metrics.json").read_text())["groups"]
    failed = {m["type"]: m["error"]["rule"] for m in group["metrics"] if m["status"] == "failed"}
    assert failed == {"uv-script": "script-outside"}
    assert not any("hunter2" in file.read_text() for file in job.glob("harbor-metrics*"))


def test_a_snapshot_holds_no_password_of_an_address(
    job: Path, task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    address = {"git_url": "https://me:hunter2@localhost:1/x", "git_commit_id": "a" * 40}
    script = {"type": "uv-script", "kwargs": {"script_path": "m.py", **address}}
    entry = {"name": "demo", "version": "2", "description": "", "metrics": [{}, script]}
    (tmp_path / "r.json").write_text(json.dumps([{**entry, "tasks": []}]))
    demo = stand_in.dataset_config(name="demo", registry_path="r.json")
    asyncio.run(MetricsPlugin().on_job_start(stand_in.running(job, task, datasets=(demo,))))
    (kept,) = snapshot(job)["datasets"]
    assert kept["entry"]["metrics"][1]["kwargs"]["git_url"] == "https://***@localhost:1/x"
    # Nor is it said that the registry was changed since.
    said = cli("compute", job, "--dry-run", cwd=tmp_path)
    assert "registry-changed" not in said.stdout + said.stderr


def test_snapshot_has_every_version_of_a_dataset_that_a_job_runs(
    job: Path, task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    entries = [
        {"name": "demo", "version": version, "description": "", "metrics": [{"type": metric}]}
        for version, metric in (("1", "max"), ("2", "min"))
    ]
    (tmp_path / "r.json").write_text(json.dumps([{**entry, "tasks": []} for entry in entries]))
    run(job, task, *(
        stand_in.dataset_config(name="demo", version=version, registry_path="r.json")
        for version in "21"
    ))  # fmt: skip
    assert [dataset["entry"] for dataset in snapshot(job)["datasets"]] == entries


def test_a_task_with_more_labels_than_are_read_does_not_end_the_job(
    job: Path, task: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    labels = "".join(f"l{i} = 1\n" for i in range(1_001))
    (folder / "task.toml").write_text(f"[metadata]\n{labels}")
    other = stand_in.task_config(folder)
    plugin = MetricsPlugin(quiet=True)
    asyncio.run(plugin.on_job_start(stand_in.running(job, task, other)))
    asyncio.run(plugin.on_job_end(stand_in.ended(("task-0", task), ("other", other))))
    (kept,) = snapshot(job)["datasets"]
    assert kept["tasks"] == {"other": {}, "task-0": {"category": "tides"}}


@pytest.mark.parametrize("known", [True, False])
def test_snapshot_has_the_labels_of_the_registry_before_those_of_a_task(
    known: bool, job: Path, task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Run
) -> None:
    """That they are others today was never told, nor which ones the numbers were by."""
    monkeypatch.chdir(tmp_path)

    def registry(easy: bool) -> None:
        entry = {"name": "demo", "version": "2", "description": "", "metrics": [{"type": "mean"}]}
        labels = {"task-0": {"easy": easy, "category": "reefs", "at": "https://a:b@c.example"}}
        tasks = [{"name": name, "metadata": own} for name, own in labels.items()]
        (tmp_path / "r.json").write_text(json.dumps([{**entry, "tasks": tasks}]))

    registry(easy=True)
    demo = stand_in.dataset_config(name="demo", registry_path="r.json")
    begun = stand_in.running(job, *([task] if known else []), datasets=(demo,))
    plugin = MetricsPlugin(quiet=True)
    asyncio.run(plugin.on_job_start(begun))
    asyncio.run(plugin.on_job_end(stand_in.ended(("task-0", task))))
    (kept,) = snapshot(job)["datasets"]
    assert kept["tasks"] == {"task-0": {"category": "reefs", "easy": True}}
    for easy, said in ((True, False), (False, True)):
        registry(easy=easy)
        done = cli("compute", job, "--group-by", "easy", "--registry", "r.json", cwd=tmp_path)
        assert ("registry-changed" in done.stderr) == said, done.stderr


def test_metrics_that_harbor_runs_are_kept_where_the_registry_is_far_away(
    job: Path, task: Any
) -> None:
    demo = stand_in.dataset_config(name="demo", registry_url="https://example.org/registry.json")
    run(job, task, demo, private={"_metrics": {"demo": [stand_in.Sum()]}})
    (kept,) = snapshot(job)["datasets"]
    assert kept["entry"] == {"name": "demo", "version": "", "metrics": [{"type": "sum"}]}
    (group,) = json.loads((job / "harbor-metrics.json").read_text())["groups"]
    assert [m["type"] for m in group["metrics"]] == ["sum"]
    registry = f"{job}/harbor-metrics.snapshot.json"
    assert group["dataset"] == {"name": "demo", "version": None, "registry": registry}


def test_surprise_inside_harbor_is_a_sentence_and_the_numbers_are_there(
    job: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plugin = MetricsPlugin(quiet=True)
    begun = stand_in.running(job)
    del begun.config
    asyncio.run(plugin.on_job_start(begun))
    asyncio.run(plugin.on_job_end(object()))
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "labels and registry were not kept: AttributeError" in printed.err
    assert "labels were not kept: AttributeError" in printed.err
    assert json.loads((job / "harbor-metrics.json").read_text())["groups"]


@pytest.mark.parametrize("name", ["harbor-metrics.json", "harbor-metrics.snapshot.json"])
def test_folder_that_cannot_be_written_is_a_sentence(
    name: str, job: Path, task: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    (job / name).mkdir()
    run(job, task)
    printed = capfd.readouterr()
    assert "mean" in printed.out
    assert f"harbor-metrics: {job}/{name}" in printed.err
    assert "irectory" in printed.err
    assert "Traceback" not in printed.err


def test_job_that_cannot_be_read_is_a_sentence(
    tmp_path: Path, task: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "gone", task)
    said = capfd.readouterr().err
    assert "the job is as Harbor left it; its numbers: harbor-metrics compute" in said


def test_failing_metric_and_missing_trials_are_said_and_the_rest_is_there(
    job: Path, task: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    next(job.glob("task-3__*/result.json")).unlink()
    grouped = {"type": "grouped", "kwargs": {"metric": "mean", "by": "none"}}
    run(job, task, metrics=grouped, require_complete=True)
    printed = capfd.readouterr()
    assert "failed" in printed.out
    assert "trials are missing, and require_complete was given" in printed.err
    (group,) = json.loads((job / "harbor-metrics.json").read_text())["groups"]
    assert [metric["status"] for metric in group["metrics"]] == ["ok", "failed"]


def test_document_goes_where_it_is_asked_for(job: Path, task: Any, tmp_path: Path) -> None:
    run(job, task, document=str(tmp_path / "out.json"), quiet=True, level="off")
    assert json.loads((tmp_path / "out.json").read_text())["groups"]
    assert (tmp_path / "out.md").exists()
    assert not (job / "harbor-metrics.json").exists()


def test_links_in_the_folder_of_a_job_are_replaced_and_not_followed(
    job: Path, task: Any, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "profile").write_text("mine\n")
    names = ("harbor-metrics.json", "harbor-metrics.md", SNAPSHOT)
    for name, target in zip(names, ("profile", "not-there", ""), strict=True):
        (job / name).symlink_to(tmp_path / "mine" / target)
    run(job, task, quiet=True)
    assert [(job / name).is_symlink() for name in names] == [False] * 3
    assert json.loads((job / names[0]).read_text())["groups"]
    assert snapshot(job)["datasets"]
    assert [(p.name, p.read_text()) for p in (tmp_path / "mine").iterdir()] == [
        ("profile", "mine\n")
    ]


def test_document_that_is_asked_for_is_not_written_through_a_link_out(
    job: Path, task: Any, tmp_path: Path
) -> None:
    (tmp_path / "profile").write_text("mine\n")
    (job / "out.json").symlink_to(tmp_path / "profile")
    with pytest.raises(SystemExit):
        run(job, task, document=str(job / "out.json"))
    (job / "out.json").unlink()
    (job / "out.md").symlink_to(tmp_path / "profile")
    run(job, task, document=str(job / "out.json"))
    assert (tmp_path / "profile").read_text() == "mine\n"


def test_a_snapshot_holds_the_pin_of_a_script_with_modules(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("X = 1\n")
    (tmp_path / "m.py").write_text("import helper\n")
    entry = {"type": "uv-script", "kwargs": {"script_path": "m.py"}}
    registry = str(tmp_path / "registry.json")
    assert digests([entry], registry) == {"m.py": find("m.py", registry).pin}


def test_no_digest_tells_what_is_in_a_file_that_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "pin.txt").write_text("1234")
    (tmp_path / "linked.py").symlink_to(tmp_path / "pin.txt")
    (tmp_path / "m.py").write_text("")
    names = ("m.py", "linked.py", "pin.txt", str(tmp_path / "pin.txt"))
    metrics = [{"type": "uv-script", "kwargs": {"script_path": name}} for name in names]
    assert list(digests(metrics, str(tmp_path / "r.json"))) == ["m.py"]
