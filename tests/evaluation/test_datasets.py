"""Which datasets of which registry files the trials of a group are of."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import as_somebody_else

from harbor_metrics.errors import InputError
from harbor_metrics.evaluation.changes import of_metrics
from harbor_metrics.evaluation.datasets import Datasets, find_datasets
from harbor_metrics.registries.registry import Registries
from harbor_metrics.trials.snapshot import DatasetSnapshot
from harbor_metrics.trials.source import Job, JobDataset


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, *names: str, metric: str = "mean") -> str:
    """A registry with these datasets, as NAME@VERSION."""
    parts = [name.split("@") for name in names]
    entries = [{"name": n, "version": v, "metrics": [{"type": metric}]} for n, v in parts]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(entries))
    return path


def names(found: Datasets) -> list[str]:
    return [f"{entry} of {entry.registry}" for entry in found.entries]


def job(*datasets: JobDataset) -> tuple[str, Job]:
    return "jobs/one", Job(datasets=datasets)


@pytest.mark.usefixtures("here")
def test_best_version_counts_where_none_is_named() -> None:
    given = Registries([write("r.json", "d@1.0", "d@1.10", "d@1.9", "e@2")])
    assert names(find_datasets("d", None, [], given)) == ["d@1.10 of r.json"]
    assert names(find_datasets("d", "1.0", [], given)) == ["d@1.0 of r.json"]


@pytest.mark.usefixtures("here")
def test_first_registry_with_every_version_counts() -> None:
    given = Registries([write("a.json", "d@1"), write("b.json", "d@1", "d@2")])
    assert names(find_datasets("d", "1", [], given)) == ["d@1 of a.json"]
    assert names(find_datasets("d", "2", [], given)) == ["d@2 of b.json"]


@pytest.mark.usefixtures("here")
def test_part_of_a_dataset_has_the_entries_of_the_whole() -> None:
    given = Registries([write("r.json", "d@1")])
    assert names(find_datasets("d:words", None, [], given)) == ["d@1 of r.json"]


@pytest.mark.usefixtures("here")
def test_first_registry_that_has_the_part_or_the_whole_counts() -> None:
    """A registry named behind it, perhaps somebody else's, takes no part of a dataset."""
    whole, part = write("a.json", "d@1"), write("b.json", "d:words@1", "e@1")
    for given, expected in (
        ([whole, part], "d@1 of a.json"),
        ([part, whole], "d:words@1 of b.json"),
    ):
        assert names(find_datasets("d:words", None, [], Registries(given))) == [expected]


@pytest.mark.usefixtures("here")
def test_versions_of_several_jobs_are_pooled_with_a_note() -> None:
    given = Registries([write("r.json", "d@1", "d@2")])
    jobs = [job(JobDataset(name="d", version=v)) for v in ("1", "2")]
    found = find_datasets("d", None, jobs, given)
    assert names(found) == ["d@1 of r.json", "d@2 of r.json"]
    assert found.versions == ["1", "2"]
    assert [d.rule for d in found.diagnostics] == ["versions-pooled"]


@pytest.mark.usefixtures("here")
def test_a_source_without_a_job_means_the_best_version() -> None:
    given = Registries([write("r.json", "d@1", "d@2")])
    of_job = [job(JobDataset(name="d", version="1"))]
    found = find_datasets("d", None, of_job, given, without_job=True)
    assert names(found) == ["d@1 of r.json", "d@2 of r.json"]
    assert found.versions == ["1", "2"]
    assert [d.rule for d in found.diagnostics] == ["versions-pooled"]
    same = [job(JobDataset(name="d", version="2"))]
    assert find_datasets("d", None, same, given, without_job=True).diagnostics == []


@pytest.mark.usefixtures("here")
def test_registry_that_a_job_names_is_looked_for_above_the_job() -> None:
    write("jobs/reg.json", "d@1")
    jobs = [job(JobDataset(name="d", version="1", registry_path="reg.json"))]
    (found,) = names(find_datasets("d", None, jobs, Registries([])))
    assert found.startswith("d@1 of ")
    assert found.endswith("jobs/reg.json")


@pytest.mark.usefixtures("here")
def test_each_registry_of_the_path_that_a_job_names_is_asked_if_it_has_the_dataset() -> None:
    write("jobs/ds/reg.json", "d@1", metric="max")
    write("ds/reg.json", "d@1")
    write("jobs/one/../ds.json", "e@1")
    write("ds.json", "d@1")
    jobs = [job(JobDataset(name="d", version="1", registry_path="ds/reg.json"))]
    two = names(find_datasets("d", None, jobs, Registries([])))
    assert two == ["d@1 of jobs/ds/reg.json", "d@1 of ds/reg.json"]
    jobs = [job(JobDataset(name="d", version="1", registry_path="ds.json"))]
    assert names(find_datasets("d", None, jobs, Registries([]))) == ["d@1 of ds.json"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("near", "version", "rivals"),
    [
        ("d@1", None, []),
        ("d@99", None, [["d@99", "d@1"]]),
        ("d@99", "1", []),
        ("e@1", None, []),
    ],
)
def test_registries_of_the_path_that_a_job_names_are_rivals_where_they_say_otherwise(
    near: str, version: str | None, rivals: list[list[str]]
) -> None:
    write("jobs/ds/reg.json", near)
    write("ds/reg.json", "d@1")
    named = JobDataset(name="d", version=version, registry_path="ds/reg.json")
    jobs = [("jobs/one", Job(datasets=(named,))), ("jobs/two", Job(datasets=(named,)))]
    found = find_datasets("d", None, jobs, Registries([]))
    assert [[str(entry) for entry in each] for each in found.rivals] == rivals
    assert [d.rule for d in found.diagnostics] == ["registries-differ"] * len(rivals)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("to", ["nowhere", ".elsewhere/reg.json"])
@pytest.mark.parametrize("link", ["jobs/ds", "jobs/ds/reg.json"])
def test_link_in_the_place_of_the_nearest_registry_is_said(
    link: str, to: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    away = tmp_path_factory.mktemp("away") / to
    write("ds/reg.json", "d@1")
    if to != "nowhere":
        write(str(away), "d@99")
    Path(link).parent.mkdir(parents=True, exist_ok=True)
    Path(link).symlink_to(away.parent if link == "jobs/ds" and to != "nowhere" else away)
    jobs = [job(JobDataset(name="d", version="1", registry_path="ds/reg.json"))]
    found = find_datasets("d", None, jobs, Registries([]))
    assert names(found) == ["d@1 of ds/reg.json"]
    (said,) = found.diagnostics
    assert said.rule == "registries-differ"
    assert f"what {Path.cwd()}/{link} leads to" in said.message


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("path", ["ds", "ds/reg.json"])
def test_a_rival_registry_that_is_shut_is_not_passed_over(path: str) -> None:
    write("jobs/ds/reg.json", "d@1")
    write("ds/reg.json", "d@99")
    jobs = [job(JobDataset(name="d", registry_path="ds/reg.json"))]
    find_datasets("d", None, jobs, Registries([]))
    Path(path).chmod(0)
    try:
        with (
            as_somebody_else(),
            pytest.raises(InputError, match="Permission denied"),
        ):
            find_datasets("d", None, jobs, Registries([]))
    finally:
        Path(path).chmod(0o700)


@pytest.mark.usefixtures("here")
def test_registries_of_one_path_that_list_other_tasks_are_rivals() -> None:
    for path, task in (("jobs/ds/reg.json", "s"), ("ds/reg.json", "t")):
        entry = {"name": "d", "version": "1", "tasks": [{"name": task}]}
        Path(path).parent.mkdir(parents=True)
        Path(path).write_text(json.dumps([entry]))
    jobs = [job(JobDataset(name="d", version="1", registry_path="ds/reg.json"))]
    (found,) = find_datasets("d", None, jobs, Registries([])).diagnostics
    assert found.rule == "registries-differ"
    assert found.message == (
        "a job ran with one of jobs/ds/reg.json (d@1), ds/reg.json (d@1): all of them fit the path "
        "that it names, and they differ in dataset d"
    )


@pytest.mark.usefixtures("here")
def test_a_registry_that_a_link_leads_to_is_asked_once() -> None:
    write("ds/reg.json", "d@1")
    Path("jobs").mkdir()
    Path("jobs/ds").symlink_to("../ds")
    jobs = [job(JobDataset(name="d", version="1", registry_path="ds/reg.json"))]
    assert len(find_datasets("d", None, jobs, Registries([])).entries) == 1


@pytest.mark.parametrize(
    ("dataset", "where"),
    [
        (JobDataset(name="d", registry_path="gone.json"), "gone.json"),
        (JobDataset(name="d", registry_url="https://x.org/r"), "https://x.org/r"),
        (JobDataset(name="d"), "the default registry of Harbor"),
    ],
)
@pytest.mark.usefixtures("here")
def test_registry_that_is_not_found_is_named(dataset: JobDataset, where: str) -> None:
    found = find_datasets("d", None, [job(dataset)], Registries([]))
    (diagnostic,) = found.diagnostics
    assert found.entries == []
    assert diagnostic.rule == "registry-not-found"
    assert diagnostic.message.endswith(where)


@pytest.mark.usefixtures("here")
def test_folder_of_tasks_needs_no_registry() -> None:
    jobs = [job(JobDataset(path="data/d"))]
    assert find_datasets("d", None, jobs, Registries([])) == Datasets([], [], [])
    given = Registries([write("r.json", "e@1")])
    assert find_datasets("d", None, jobs, given).entries == []


@pytest.mark.usefixtures("here")
def test_dataset_that_a_registry_lacks_is_refused_with_the_nearest_names() -> None:
    given = Registries([write("r.json", "zebra@1", "damo@2")])
    with pytest.raises(InputError, match=r"r\.json has no dataset demo; it has damo@2, zebra@1"):
        find_datasets("demo", None, [], given)
    with pytest.raises(InputError, match="has no dataset damo@3"):
        find_datasets("damo", "3", [], given)


@pytest.mark.usefixtures("here")
def test_datasets_of_a_registry_that_only_a_job_names_are_not_listed() -> None:
    write("jobs/reg.json", "damo@2", "secret@1")
    jobs = [job(JobDataset(name="demo", registry_path="reg.json"))]
    with pytest.raises(
        InputError, match=r"reg\.json, which a job names, has no dataset demo$"
    ) as no:
        find_datasets("demo", None, jobs, Registries([]))
    assert no.value.help == "name a registry that has it: --registry FILE"
    with pytest.raises(InputError, match="it has damo@2, secret@1"):
        find_datasets("demo", None, jobs, Registries([]), own_jobs=True)


@pytest.mark.usefixtures("here")
def test_trials_without_a_dataset_have_no_metrics_of_a_registry() -> None:
    given = Registries([write("r.json", "d@1")])
    found = find_datasets(None, None, [], given)
    assert [d.rule for d in found.diagnostics] == ["dataset-not-said"]
    assert find_datasets(None, None, [], Registries([])).diagnostics == []


@pytest.mark.usefixtures("here")
def test_last_of_equal_datasets_counts() -> None:
    same = [{"name": "d", "version": "1"}, {"name": "d", "version": "1"}]
    Path("r.json").write_text(json.dumps([*same, {**same[0], "metrics": [{"type": "max"}]}]))
    found = find_datasets("d", None, [], Registries(["r.json"]))
    assert [entry.metrics for entry in found.entries] == [({"type": "max"},)]
    assert {d.rule for d in found.diagnostics} == {"duplicate-dataset"}
    assert found.diagnostics[0].message.endswith("they differ in metrics; the first is on line 1")


def snapshot_job(*datasets: JobDataset, metric: str = "max", **more: object) -> tuple[str, Job]:
    known = DatasetSnapshot(
        name="d",
        version="1",
        entry={"name": "d", "version": "1", "metrics": [{"type": metric, **more}]},
        scripts={"m.py": "0" * 64},
    )
    return "jobs/one", Job(datasets=datasets, snapshot=(known,))


@pytest.mark.usefixtures("here")
def test_entry_of_the_snapshot_stands_in_for_a_registry_that_is_not_there() -> None:
    named = JobDataset(name="d", registry_path="gone.json")
    jobs = [snapshot_job(named), ("jobs/two", snapshot_job(named)[1])]
    found = find_datasets("d", None, jobs, Registries([]))
    (entry,) = found.entries
    assert (str(entry), entry.metrics) == ("d@1", ({"type": "max"},))
    assert entry.registry == "jobs/one/harbor-metrics.snapshot.json"
    assert not found.diagnostics


@pytest.mark.usefixtures("here")
def test_scripts_of_a_snapshot_are_pinned_to_what_they_were() -> None:
    kwargs = {"script_path": "m.py"}
    jobs = [snapshot_job(JobDataset(name="d"), metric="uv-script", kwargs=kwargs)]
    (entry,) = find_datasets("d", None, jobs, Registries([])).entries
    assert entry.metrics[0]["sha256"] == "0" * 64


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("metric", "rules"), [("max", []), ("min", ["registry-changed"])])
def test_registry_that_was_changed_since_the_job_ran_is_said(metric: str, rules: list[str]) -> None:
    write("reg.json", "d@1", metric="max")
    jobs = [snapshot_job(JobDataset(name="d", registry_path="reg.json"), metric=metric)]
    found = find_datasets("d", None, jobs, Registries([]))
    assert names(found) == ["d@1 of reg.json"]
    assert [d.rule for entry in found.entries for d in of_metrics(entry, jobs)] == rules


@pytest.mark.parametrize(("changed", "rules"), [(False, []), (True, ["registry-changed"])])
def test_script_that_was_changed_since_the_job_ran_is_said(
    changed: bool, rules: list[str], here: Path
) -> None:
    metrics = [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}]
    entry = {"name": "d", "version": "1", "metrics": metrics}
    (here / "reg.json").write_text(json.dumps([entry]))
    (here / "m.py").write_text("1")
    digest = sha256((here / "m.py").read_bytes()).hexdigest()
    known = DatasetSnapshot(name="d", version="1", entry=entry, scripts={"m.py": digest})
    if changed:
        (here / "m.py").write_text("2")
    named = JobDataset(name="d", registry_path="reg.json")
    jobs = [("jobs/one", Job(datasets=(named,), snapshot=(known,)))]
    (entry,) = find_datasets("d", None, jobs, Registries([])).entries
    found = list(of_metrics(entry, jobs))
    assert [d.rule for d in found] == rules
    said = "the scripts of d@1 in reg.json (m.py) are not those that jobs/one ran with"
    assert all(d.message.startswith(said) for d in found)


@pytest.mark.usefixtures("here")
def test_a_registry_is_read_where_its_path_leads_and_not_where_its_letters_do() -> None:
    """Behind a link `..` leads elsewhere: what was read was hidden in the home of its reader."""
    write("secret/r.json", "d@1", metric="max")
    write("jobs/one/x/secret/r.json", "d@1", metric="sum")
    Path("jobs/one/x/a/b/c").mkdir(parents=True)
    Path("jobs/one/l").symlink_to("x/a/b/c")
    named = JobDataset(name="d", registry_path="one/l/../../../secret/r.json")
    # By its letters `secret/r.json`, three folders above `jobs/one/l`.
    (entry,) = find_datasets("d", None, [job(named)], Registries([])).entries
    assert entry.metrics == ({"type": "sum"},)
    assert entry.registry == "jobs/one/x/secret/r.json"


@pytest.mark.usefixtures("here")
def test_versions_that_ran_are_said_where_another_one_is_asked_for() -> None:
    given = Registries([write("r.json", "d@1", "d@2")])
    jobs = [job(JobDataset(name="d", version=v)) for v in ("1", "2")]
    found = find_datasets("d", "2", jobs, given)
    assert names(found) == ["d@2 of r.json"]
    assert found.versions == ["1", "2"]
    (said,) = found.diagnostics
    assert (
        said.message == "trials of d at 1, 2 are pooled, as Harbor does, and have the metrics of 2"
    )
    alone = find_datasets("d", "2", jobs[:1], given)
    assert alone.versions == ["1"]
    assert [d.message for d in alone.diagnostics] == ["trials of d at 1 have the metrics of 2"]
    assert find_datasets("d", "2", jobs[1:], given).diagnostics == []
    assert find_datasets("d", "2", [], given).versions == ["2"]
