"""Labels of tasks: by task.toml where the trials' configuration points, or by the snapshot."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest
from conftest import JOBS, ROOT, Run, as_somebody_else, trial, write_job
from printed import values

from harbor_metrics import readers
from harbor_metrics.documents import schemas
from harbor_metrics.errors import InputError
from harbor_metrics.readers.harbor import documents, tasks
from harbor_metrics.trials.snapshot import SNAPSHOT, Snapshot

METADATA = (
    '[metadata]\ncategory = "{}"\ndepth = {}\ntags = ["a"]\n[metadata.author]\nname = "ada"\n'
)


def job_with_tasks(folder: Path, path: str = "tasks/{}", **more: str) -> Path:
    """A job of four trials of two tasks, whose folders lie in `tasks` beside the job."""
    trials = []
    for i, task in enumerate("abab", 1):
        labels = METADATA.format("odd" if task == "a" else "even", i)
        (folder / "tasks" / task).mkdir(parents=True, exist_ok=True)
        (folder / "tasks" / task / "task.toml").write_text(labels)
        config = {"task": {"path": path.format(task), **more}}
        trials.append(trial(task, {"reward": float(i)}, i, config=config))
    return write_job(folder / "job", trials)


def labels(job: Path) -> object:
    (source,) = readers.read(str(job))
    assert source.job is not None
    return source.job.labels()


def test_labels_are_the_scalars_of_metadata(tmp_path: Path) -> None:
    of_a = {"category": "odd", "depth": 3, "author.name": "ada"}
    of_b = {"category": "even", "depth": 4, "author.name": "ada"}
    assert labels(job_with_tasks(tmp_path)) == {"demo": {"a": of_a, "b": of_b}}


def test_group_by_is_short_for_grouped_around_each_metric(cli: Run, tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    short = cli("compute", job, "--metric", "max", "--group-by", "category", "--format", "json")
    assert short.returncode == 0, short.stderr
    assert values(short) == [{"all": 2.5, "even": 3.0, "odd": 2.0}, {"all": 4, "even": 4, "odd": 3}]
    written = [
        part
        for metric in ("mean", "max")
        for part in (
            "--metric",
            json.dumps({"type": "grouped", "kwargs": {"metric": metric, "by": "category"}}),
        )
    ]
    long = cli("compute", job, *written, "--format", "json")
    assert values(long)[1:] == values(short)


@pytest.mark.parametrize(
    "text",
    ["", "[metadata", "metadata = 1", "[metadata]\nx = nan\n", '[metadata]\nx = ["a"]\n', "\x00"],
)
def test_task_without_labels_has_none(text: str, tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    (tmp_path / "tasks" / "a" / "task.toml").write_text(text)
    assert list(labels(job)["demo"]) == ["b"]


def test_tasks_that_are_not_here_have_no_labels(cli: Run, tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    shutil.rmtree(tmp_path / "tasks")
    assert labels(job) == {"demo": {}}
    done = cli("compute", job, "--group-by", "category")
    assert done.returncode == 1
    said = " ".join((done.stderr + done.stdout).split())
    assert said.count("the trials have no label `category`; --labels FILE gives them") == 1
    done = cli("compute", job, "--group-by", "agent")
    said = " ".join((done.stderr + done.stdout).split())
    assert "each agent, model and dataset has numbers of its own already" in said


def test_path_in_a_repository_is_not_one_of_this_machine(tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path, git_url="https://example.org/tasks.git")
    assert labels(job) == {"demo": {}}


def test_labels_come_only_from_the_job_and_from_near_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    inside = home / "work" / "jobs"
    monkeypatch.setenv("HOME", str(home))
    elsewhere = home / "elsewhere"
    for path in (f"{elsewhere}/tasks/{{}}", "elsewhere/tasks/{}", "../../elsewhere/tasks/{}"):
        inside.mkdir(parents=True)
        job = Path(shutil.move(job_with_tasks(elsewhere, path), inside))
        for here in (tmp_path, home, elsewhere):
            # Where one stands may be a project of one's own, and the job a stranger's.
            monkeypatch.chdir(here)
            assert labels(job) == {"demo": {}}
        shutil.rmtree(home)
    job = job_with_tasks(inside, f"{inside}/tasks/{{}}")
    assert list(labels(job)["demo"]) == ["a", "b"]
    (inside / "tasks").rename(inside / ".tasks")
    for path in (f"{inside}/.tasks/{{}}", ".tasks/{}"):
        shutil.rmtree(job)
        job = job_with_tasks(inside, path)
        shutil.rmtree(inside / "tasks", ignore_errors=True)
        assert labels(job) == {"demo": {}}


def test_a_path_that_no_file_can_have_gives_no_labels(tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    for path in ("\ud800", "a\0b", "x" * 5000):
        for folder in job.glob("*__*"):
            (folder / "config.json").write_text(json.dumps({"task": {"path": path}}))
        assert labels(job) == {"demo": {}}


@pytest.mark.parametrize("link", ["tasks/a/task.toml", "tasks/a", "tasks"])
def test_labels_are_not_those_of_what_a_link_leads_to(
    link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    job = job_with_tasks(tmp_path / "work")
    place = tmp_path / "work" / link
    place.rename(tmp_path / "private")
    place.symlink_to(tmp_path / "private")
    assert "a" not in labels(job)["demo"]


@pytest.mark.parametrize("named", ["link", ".."])
def test_labels_are_not_those_of_a_trial_whose_folder_leads_out_of_the_job(
    named: str, tmp_path: Path
) -> None:
    job = job_with_tasks(tmp_path)
    for result in job.glob("*/result.json"):
        written = {**json.loads(result.read_text()), "trial_name": named}
        del written["config"]
        result.write_text(json.dumps(written))
    (tmp_path / "config.json").write_text(json.dumps({"task": {"path": "tasks/a"}}))
    (job / "link").symlink_to(tmp_path)
    assert labels(job) == {"demo": {}}


def test_snapshot_says_the_labels_that_the_job_ran_with(cli: Run, tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    tasks = {"a": {"category": "x"}, "b": {"category": "y"}}
    snapshot = {"schema_version": "1", "datasets": [{"name": "demo", "tasks": tasks}]}
    (job / SNAPSHOT).write_text(json.dumps(snapshot))
    done = cli("compute", job, "--group-by", "category", "--format", "json")
    assert values(done) == [{"all": 2.5, "x": 2.0, "y": 3.0}]


def test_registry_and_labels_file_come_before_task_toml(cli: Run, tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    (tmp_path / "labels.csv").write_text("task,category\na,one\nb,one\n")
    done = cli("compute", job, "--labels", "labels.csv", "--group-by", "category", "--format=json")
    assert values(done) == [{"all": 2.5, "one": 2.5}]


@pytest.mark.parametrize(
    ("of_registry", "n"),
    [
        ({"a": {"category": "odd"}, "b": {"category": "even"}}, 0),
        ({"a": {"category": "odd", "more": 1}, "c": {"category": "x"}}, 0),
        ({"a": {"category": "even"}, "b": {"category": "even"}}, 1),
        ({"a": {"depth": True}, "b": {"depth": "4"}}, 2),
    ],
)
def test_labels_of_a_registry_that_are_not_those_of_task_toml_are_said(
    of_registry: dict[str, dict[str, object]], n: int, cli: Run, tmp_path: Path
) -> None:
    job = job_with_tasks(tmp_path)
    tasks = [{"name": name, "metadata": own} for name, own in of_registry.items()]
    entry = {"name": "demo", "version": "1", "description": "", "metrics": [], "tasks": tasks}
    (tmp_path / "r.json").write_text(json.dumps([entry]))
    for command in (("--group-by", "category"), ("--metric", "mean")):
        done = cli("compute", job, "--registry", "r.json", *command)
        assert done.returncode == 0, done.stderr
        words = " ".join(done.stderr.split())
        said = f"labels of {n} task" in words and "not those of the tasks of" in words
        assert said == (n > 0 and command[0] == "--group-by")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON|ends|expected"),
        ("[]", "not a JSON object"),
        ('{"schema_version": "1", "datasets": [{"version": "1"}]}', "name"),
        ('{"schema_version": "2", "datasets": []}', "schema_version"),
    ],
)
def test_broken_snapshot_is_said_and_the_trials_count(
    text: str, words: str, cli: Run, job: Path
) -> None:
    (job / SNAPSHOT).write_text(text)
    done = cli("compute", job, "--format", "json")
    assert done.returncode == 0
    assert f"{SNAPSHOT} of the job cannot be read" in done.stderr
    assert any(word in done.stderr for word in words.split("|")), done.stderr


def test_example_of_the_schema_is_a_snapshot() -> None:
    import msgspec

    schema = schemas.load("snapshot")
    for example in schema["examples"]:
        assert msgspec.to_builtins(msgspec.convert(example, Snapshot)) == example
    assert set(schema["properties"]) == set(Snapshot.__struct_fields__)
    of_dataset = schema["$defs"]["dataset_snapshot"]
    (dataset,) = msgspec.convert(schema["examples"][0], Snapshot).datasets
    assert set(of_dataset["properties"]) == set(dataset.__struct_fields__)


def test_a_trial_named_like_a_path_leads_nowhere(tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    for path in job.glob("*/result.json"):
        path.write_text(path.read_text().replace('"trial_name": "', '"trial_name": "../'))
    assert labels(job) == {"demo": {}}


def test_example_job_has_the_labels_of_its_tasks(cli: Run) -> None:
    done = cli(
        *("compute", "registry/jobs/buoys", "--group-by", "category", "--format", "json"), cwd=ROOT
    )
    assert values(done)[0].keys() == {"lights", "all"}


def test_jobs_whose_tasks_are_gone_are_computed_as_before(cli: Run) -> None:
    assert cli("compute", JOBS / "single", "--group-by", "task").returncode == 0


def test_compare_knows_the_labels_of_the_tasks(cli: Run, tmp_path: Path) -> None:
    one, two = job_with_tasks(tmp_path / "one"), job_with_tasks(tmp_path / "two")
    for path in two.glob("*/result.json"):
        path.write_text(path.read_text().replace('"id": "', '"id": "other-'))
    by_cluster = cli("compare", f"a={one}", f"b={two}", "--cluster", "category")
    assert by_cluster.returncode == 0, by_cluster.stderr
    unknown = cli("compare", f"a={one}", f"b={two}", "--cluster", "colour")
    assert unknown.returncode == 2
    assert "category" in unknown.stderr


def test_two_tasks_of_the_path_that_a_trial_names_label_it_alike_or_not_at_all(
    tmp_path: Path,
) -> None:
    job = job_with_tasks(tmp_path)
    inner = Path(shutil.copytree(job, tmp_path / "jobs" / "job"))
    alone = labels(inner)
    shutil.copytree(tmp_path / "tasks", tmp_path / "jobs" / "tasks")
    assert labels(inner) == alone
    (tmp_path / "jobs" / "tasks" / "a" / "task.toml").write_text('[metadata]\ncategory = "x"\n')
    with pytest.raises(InputError, match=r'two folders of task "a".*jobs/tasks/a and .*/tasks/a'):
        labels(inner)


def test_link_in_another_job_is_none_on_the_way_to_labels(tmp_path: Path) -> None:
    """A stranger's job lies where the tasks of this one could."""
    job = job_with_tasks(tmp_path)
    inner = Path(shutil.copytree(job, tmp_path / "results" / "jobs" / "job"))
    known = labels(inner)
    theirs = write_job(tmp_path / "results" / "tasks", [trial("x", {"r": 1})])
    for task in "ab":
        (theirs / task).symlink_to("nowhere")
    assert labels(inner) == known != {"demo": {}}


@pytest.mark.parametrize("broken", ["<<<<<<< HEAD", "link"])
def test_task_whose_nearest_folder_tells_nothing_has_no_labels_of_another(
    broken: str, tmp_path: Path
) -> None:
    job = job_with_tasks(tmp_path)
    inner = Path(shutil.copytree(job, tmp_path / "jobs" / "job"))
    shutil.copytree(tmp_path / "tasks", tmp_path / "jobs" / "tasks")
    nearest = tmp_path / "jobs" / "tasks" / "a" / "task.toml"
    if broken == "link":
        nearest.unlink()
        nearest.symlink_to("nowhere")
    else:
        nearest.write_text(broken)
    with pytest.raises(InputError, match='two folders of task "a"'):
        labels(inner)


def test_labels_are_not_those_of_a_folder_that_is_called_as_another_trial(tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    first, second = (min(job.glob(f"{task}__*")) for task in "ab")
    assert labels(job) != {"demo": {}}
    for name, other in ((first, second), (second, first)):
        said = json.loads((name / "result.json").read_text())
        said["config"]["trial_name"] = other.name
        (name / "result.json").write_text(json.dumps(said))
    assert labels(job) == {"demo": {}}


@pytest.mark.parametrize("shut", ["tasks", "tasks/a", "tasks/a/task.toml"])
def test_a_task_that_is_shut_is_not_passed_over(shut: str, open_to_all: Path) -> None:
    job = job_with_tasks(open_to_all)
    shutil.copytree(job, "jobs/job")
    shutil.copytree("tasks", "jobs/tasks")
    labels(Path("jobs/job"))
    Path(shut).chmod(0)
    try:
        with as_somebody_else(), pytest.raises(InputError, match="says: Permission denied"):
            labels(Path("jobs/job"))
    finally:
        Path(shut).chmod(0o700)


def test_a_folder_that_all_trials_name_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 trials and a file of a megabyte took 39 s, and twice the trials twice as long."""
    asked: list[str] = []

    def contents(path: str) -> bytes:
        asked.append(path)
        return documents.contents(path)

    monkeypatch.setattr(tasks, "contents", contents)
    (tmp_path / "tasks" / "a").mkdir(parents=True)
    (tmp_path / "tasks" / "a" / "task.toml").write_text('[metadata]\nkind = "x"\n')
    config = {"task": {"path": "tasks/a"}}
    several = [trial(f"t{i}", {"reward": 1.0}, 1, config=config) for i in range(20)]
    job = write_job(tmp_path / "job", several)
    assert labels(job) == {"demo": {f"t{i}": {"kind": "x"} for i in range(20)}}
    assert len(asked) == 1


def test_a_task_has_no_more_labels_than_any(tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    path = tmp_path / "tasks" / "a" / "task.toml"
    path.write_text("[metadata]\n" + "".join(f"l{i} = {i}\n" for i in range(1_000)))
    labels(job)
    path.write_text(path.read_text() + "more = 1\n")
    with pytest.raises(InputError, match=r"a/task.toml has 1,001 labels under \[metadata\]; at"):
        labels(job)


@pytest.mark.parametrize("jobs_dir", ["jobs", "./jobs/", "a/../jobs", "elsewhere", "/jobs", None])
def test_another_job_lends_none_of_its_files(jobs_dir: str | None, tmp_path: Path) -> None:
    """A stranger's job that is called `tasks` labelled those of the user's own beside it."""
    mine = job_with_tasks(tmp_path / "jobs")
    config = json.loads((mine / "config.json").read_text())
    if jobs_dir is not None:
        (mine / "config.json").write_text(json.dumps({**config, "jobs_dir": jobs_dir}))
    lies_as_it_says = jobs_dir is not None and "jobs" in jobs_dir and jobs_dir[0] != "/"
    # From where it ran, `jobs/tasks` is no `tasks`; of one that was moved nobody knows.
    assert labels(mine) == {"demo": {}} if lies_as_it_says else labels(mine)["demo"]
    shutil.copytree(tmp_path / "jobs" / "tasks", tmp_path / "tasks")
    assert list(labels(mine)["demo"]) == ["a", "b"]
    shutil.rmtree(tmp_path / "tasks")
    (tmp_path / "jobs" / "tasks" / "config.json").write_text(json.dumps(config))
    assert labels(mine) == {"demo": {}}


def test_a_job_that_lies_where_it_ran_is_asked_beside(tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path)
    config = json.loads((job / "config.json").read_text())
    for jobs_dir in (".", "", "./"):
        (job / "config.json").write_text(json.dumps({**config, "jobs_dir": jobs_dir}))
        assert list(labels(job)["demo"]) == ["a", "b"]


def test_where_a_job_ran_nothing_above_is_asked(tmp_path: Path) -> None:
    job = job_with_tasks(tmp_path / "here")
    config = json.loads((job / "config.json").read_text())
    shutil.copytree(tmp_path / "here" / "tasks", tmp_path / "tasks")
    (tmp_path / "tasks" / "a" / "task.toml").write_text('[metadata]\ncategory = "x"\n')
    with pytest.raises(InputError, match="and other labels"):
        labels(job)
    (job / "config.json").write_text(json.dumps({**config, "jobs_dir": "."}))
    assert labels(job)["demo"]["a"]["category"] == "odd"
    shutil.rmtree(tmp_path / "here" / "tasks")
    assert labels(job)["demo"]["a"]["category"] == "x"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("true", "1", False), ("1", "1.0", True), ("0.0", "-0.0", True), ("false", "0.0", False),
        ("1", '"1"', False), ("true", '"true"', False), ('"a"', '"a"', True),
    ],
)  # fmt: skip
def test_labels_of_two_folders_are_the_same_where_they_name_one_group(
    one: str, other: str, same: bool, tmp_path: Path
) -> None:
    job = job_with_tasks(tmp_path / "here")
    shutil.copytree(tmp_path / "here" / "tasks", tmp_path / "tasks")
    for folder, value in ((tmp_path / "here", one), (tmp_path, other)):
        text = f"[metadata]\ncategory = {value}\n"
        (folder / "tasks" / "a" / "task.toml").write_text(text)
    with nullcontext() if same else pytest.raises(InputError, match="and other labels"):
        labels(job)


@pytest.mark.parametrize("by", ["a trial", "result.json", "config.json", "a job in it"])
@pytest.mark.parametrize("where", ["tasks", "tasks/a", "."])
def test_no_job_lends_files_by_whatever_it_is_one(by: str, where: str, tmp_path: Path) -> None:
    mine = job_with_tasks(tmp_path / "jobs")
    other = tmp_path / "jobs" / where
    if by == "a job in it":
        write_job(other / "job2", [trial("x", {"reward": 1.0})])
    elif by == "a trial":
        (other / "x__1").mkdir()
        (other / "x__1" / "result.json").write_text(json.dumps(trial("x", {"reward": 1.0})))
    else:
        said = {"n_total_trials": 1, "stats": {}} if by == "result.json" else {"n_attempts": 1}
        (other / by).write_text(json.dumps(said))
    # Nor does a folder of jobs, which `tasks` is where one of its folders is a job.
    of_one = ["b"] if by == "a job in it" else []
    expected = {"tasks": [], "tasks/a": of_one, ".": ["a", "b"]}[where]
    # A folder that holds the job that asks is none beside it.
    assert list(labels(mine)["demo"]) == expected


@pytest.mark.parametrize("to", ["../other/a", "../job/a", "../plain/a"])
def test_no_link_in_another_job_leads_to_files_either(to: str, tmp_path: Path) -> None:
    mine = job_with_tasks(tmp_path / "jobs")
    jobs = tmp_path / "jobs"
    other = write_job(jobs / "other", [trial("x", {"reward": 1.0})])
    for folder in (other, mine, jobs / "plain"):
        shutil.copytree(jobs / "tasks" / "a", folder / "a")
    shutil.rmtree(jobs / "tasks" / "a")
    (jobs / "tasks" / "a").symlink_to(to)
    # Of a folder that is no job a link may lead to others, but to none of a job beside.
    assert list(labels(mine)["demo"]) == (["b"] if "other" in to else ["a", "b"])
    write_job(jobs / "tasks" / "c", [trial("x", {"reward": 1.0})])
    assert list(labels(mine)["demo"]) == []
