"""By whose word a script runs: the user's, a registry's that only a job names, or a job's own."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, trial, write_job
from metric_scripts import BLOCK, HEAD, linux, registry_of

import harbor_metrics
from harbor_metrics.scripts.options import ScriptOptions

SCRIPT = BLOCK + HEAD + "answer(x=1)"
ENTRY = {"type": "uv-script", "kwargs": {"script_path": "m.py"}}


def job_of(folder: Path, **config: Any) -> Path:
    return write_job(folder, [trial("a", {"reward": 1}, 1)], **config)


def job_with_registry(folder: Path, *metrics: dict[str, Any], **config: Any) -> Path:
    registry = registry_of(folder, *metrics)
    registry.write_text(registry.read_text().replace('"name": "d"', '"name": "demo"'))
    named = {"name": "demo", "version": "1", "registry_path": "registry.json"}
    return job_of(folder / "job", datasets=[named], **config)


def script_of(done: Any) -> dict[str, Any]:
    (group,) = json.loads(done.stdout)["groups"]
    (one,) = [one for one in group["metrics"] if one["type"] == "uv-script"]
    return one


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job whose registry, which it names itself, names a script."""
    (tmp_path / "m.py").write_text(SCRIPT)
    return job_with_registry(tmp_path, {"type": "mean"}, ENTRY)


@linux
def test_what_is_asked_for_runs_by_the_word_of_who_asks(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ran already, and stayed a script of the job's registry."""
    monkeypatch.chdir(job.parent)
    options = ScriptOptions(sandbox="off")
    asked = "uv-script script_path=m.py"
    result = harbor_metrics.compute("job", metrics=asked, scripts=options)
    (_, one) = result.groups[0].metrics
    assert one.values == {"x": 1}


@linux
def test_scripts_of_a_jobs_registry_run_confined(cli: Run, job: Path) -> None:
    assert script_of(cli("compute", "job", "--format", "json"))["values"] == {"x": 1}


@pytest.mark.parametrize("options", [{"sandbox": "off"}, {"layers": ()}])
def test_scripts_of_a_jobs_registry_do_not_run_unconfined(
    job: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(job.parent)
    result = harbor_metrics.compute("job", scripts=ScriptOptions(**options))
    mean, one = result.groups[0].metrics
    assert mean.values == {"mean": 1}
    assert one.error.rule == "script-not-confined"


def test_the_command_in_the_message_makes_it_the_users_word(cli: Run, job: Path) -> None:
    done = cli("compute", "job", "--sandbox", "off", "--format", "json")
    assert done.returncode == 1
    one = script_of(done)
    assert one["error"]["rule"] == "script-not-confined"
    command = shlex.split(one["error"]["message"].splitlines()[-1].partition(": ")[2])
    assert command[0] == "harbor-metrics"
    assert "--registry" in command
    done = cli(*command[1:], "--sandbox", "off", "--format", "json")
    assert done.returncode == 0
    assert script_of(done)["values"] == {"x": 1}


@linux
def test_a_script_of_the_users_own_is_not_quoted_at_the_word_of_a_job(
    cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "m.py").write_text(BLOCK + "print('out', flush=True); 1 / 0  # hunter2")
    (tmp_path / "jobs").mkdir()
    registry = job_with_registry(tmp_path / "jobs", ENTRY).parent / "registry.json"
    done = cli("compute", "jobs/job", "--format", "json")
    error = script_of(done)["error"]
    assert error["rule"] == "script-failed"
    assert "what it says is not shown" in error["message"]
    assert "harbor-metrics script check m.py" in error["message"]
    for output in (done.stdout, done.stderr, cli("compute", "jobs/job").stdout):
        assert "hunter2" not in output
    for known in (("--registry", registry), ()):
        done = cli("compute", "jobs/job", *known, "--format", "json")
        assert "hunter2" in script_of(done)["error"]["message"]
        (registry.parent / "m.py").write_bytes((tmp_path / "m.py").read_bytes())


@linux
@pytest.mark.parametrize(
    "dependency",
    [
        *("hunter2 @ https://a.example/hunter2.whl", "x y hunter2", "x>=hunter2"),
        "hunter2 @ file:///hunter2/x-1-py3-none-any.whl",
    ],
)
def test_what_a_script_of_the_users_needs_is_not_quoted_at_the_word_of_a_job(
    dependency: str, cli: Run, tmp_path: Path
) -> None:
    block = f"# /// script\n# dependencies = [{json.dumps(dependency)}]\n# ///\n"
    (tmp_path / "m.py").write_text(block + HEAD)
    (tmp_path / "jobs").mkdir()
    registry = job_with_registry(tmp_path / "jobs", ENTRY).parent / "registry.json"
    done = cli("compute", "jobs/job", "--format", "json")
    error = script_of(done)["error"]
    assert error["rule"] in ("script-metadata", "script-environment")
    assert "what it says is not shown" in error["message"]
    assert "harbor-metrics script check m.py" in error["message"]
    assert "hunter2" not in done.stdout + done.stderr
    done = cli("compute", "jobs/job", "--registry", registry, "--format", "json")
    assert "hunter2" in script_of(done)["error"]["message"]


@linux
@pytest.mark.parametrize(
    "output", ["hunter2", '{"hunter2": "x"}', '{"x": "hunter2"}', '{"hunter2": 1, "hunter2": 2}']
)
def test_what_a_script_of_the_users_writes_is_not_quoted_at_the_word_of_a_job(
    output: str, cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "m.py").write_text(f"{BLOCK}{HEAD}open(a.o, 'w').write({output!r})")
    (tmp_path / "jobs").mkdir()
    job_with_registry(tmp_path / "jobs", ENTRY)
    done = cli("compute", "jobs/job", "--format", "json")
    message = script_of(done)["error"]["message"]
    assert message.startswith("the script's output is no answer; what it says is not shown")
    assert "hunter2" not in done.stdout + done.stderr


@linux
def test_a_script_in_a_repository_is_not_quoted_at_the_word_of_a_job(
    cli: Run, tmp_path: Path
) -> None:
    """It can be one that the user alone may read."""
    path = tmp_path / "repository"
    path.mkdir()
    (path / "m.py").write_text(BLOCK + "1 / 0  # hunter2")
    command = ["git", "-C", str(path), "-c", "user.name=n", "-c", "user.email=e"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*command, *arguments], check=True, capture_output=True)
    head = subprocess.run([*command, "rev-parse", "HEAD"], capture_output=True, text=True)
    place = {"git_url": f"file://{path}", "git_commit_id": head.stdout.strip()}
    kwargs = {"script_path": "m.py", **place}
    (tmp_path / "jobs").mkdir()
    job_with_registry(tmp_path / "jobs", {"type": "uv-script", "kwargs": kwargs})
    done = cli("compute", "jobs/job", "--allow-outside", "--format", "json")
    error = script_of(done)["error"]
    assert error["rule"] == "script-failed"
    assert "what it says is not shown" in error["message"]
    assert "hunter2" not in done.stdout + done.stderr


@linux
def test_a_script_that_only_a_job_names_reads_no_trials_of_another_run(
    cli: Run, job: Path, tmp_path: Path
) -> None:
    """Its answer, which is shown, may be what it has read."""
    (tmp_path / "m.py").write_text(
        f"{BLOCK}{HEAD}answer(**{{open(os.environ['HARBOR_METRICS_TRIALS']).read()[:200]: 1}})"
    )
    mine = {"task": "a", "rewards": {"reward": 0}, "dataset": "demo", "labels": {"l": "hunter2"}}
    for name in ("mine", "mine2"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(mine | {"trial": name}))
    for known in ((), ("--registry", "registry.json")):
        done = cli("compare", "job", "mine.jsonl", "--format", "json", *known)
        rows = json.loads(done.stdout)["comparisons"][0]["rows"]
        (row,) = [row for row in rows if row["type"] == "uv-script"][:1]
        assert ("--registry FILE runs it over both" in str(row.get("reason"))) is not bool(known)
        assert ("hunter2" in done.stdout) is bool(known)
    done = cli("compare", "--pairs", "all", "job", "mine.jsonl", "mine2.jsonl", "--format", "json")
    assert "runs it over both" in done.stdout
    assert "hunter2" not in done.stdout
    (tmp_path / "other").mkdir()
    other = job_with_registry(tmp_path / "other", {"type": "mean"}, ENTRY)
    (tmp_path / "other" / "m.py").write_bytes((tmp_path / "m.py").read_bytes())
    done = cli("compare", "job", other, "--format", "json")
    assert "runs it over both" not in done.stdout


@linux
def test_a_script_of_the_current_folder_is_nobodys_word_where_the_registry_lies_elsewhere(
    cli: Run, tmp_path: Path
) -> None:
    """Harbor takes it, too; but whoever made the folder may have put it there."""
    for name in ("lab/registry", "lab/metrics", "here/metrics"):
        (tmp_path / name).mkdir(parents=True)
    entry = {"type": "uv-script", "kwargs": {"script_path": "metrics/m.py"}}
    registry_of(tmp_path / "lab" / "registry", entry)
    for folder in ("lab", "here"):
        (tmp_path / folder / "metrics" / "m.py").write_text(f"{BLOCK}1 / 0  # hunter2")
        (tmp_path / folder / "r.jsonl").write_text('{"reward": 1}')
    for folder, registry in (("lab", "registry"), ("here", "../lab/registry")):
        given = (
            "compute",
            "r.jsonl",
            "--registry",
            f"{registry}/registry.json",
            "--format",
            "json",
        )
        done = cli(*given, cwd=tmp_path / folder)
        rules = [said["rule"] for said in json.loads(done.stdout)["diagnostics"]]
        assert ("script-elsewhere" in rules) is (folder == "here")
        assert ("hunter2" in script_of(done)["error"]["message"]) is (folder == "lab")
    done = cli(*given, "--sandbox", "off", cwd=tmp_path / "here")
    error = script_of(done)["error"]
    assert error["rule"] == "script-not-confined"
    command = shlex.split(error["message"].splitlines()[-1].partition(": ")[2])
    done = cli(*command[1:], "--sandbox", "off", "--format", "json", cwd=tmp_path / "here")
    assert "hunter2" in script_of(done)["error"]["message"]


@linux
@pytest.mark.parametrize("more", [(), ("third.jsonl", "--pairs", "all")])
def test_each_run_is_computed_with_what_lies_beside_its_own_script(
    more: tuple[str, ...], cli: Run, tmp_path: Path
) -> None:
    text = (
        BLOCK
        + HEAD
        + (
            "here = os.environ['HARBOR_METRICS_SCRIPT_DIR']\n"
            "answer(x=int(open(here + '/v.txt').read()))\n"
        )
    )
    runs = []
    for name, value in (("one", "1"), ("two", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(text)
        (tmp_path / name / "v.txt").write_text(value)
        runs.append(job_with_registry(tmp_path / name, ENTRY))
        (result,) = runs[-1].glob("*/result.json")
        result.write_text(result.read_text().replace('"a-1"', f'"{name}"'))
    trial_of = {"task": "a", "rewards": {"reward": 0}, "dataset": "demo", "trial": "other"}
    (tmp_path / "third.jsonl").write_text(json.dumps(trial_of))
    for base, candidate, values in ((*runs, [1, 2]), (*runs[::-1], [2, 1])):
        given = (f"a={base}", f"b={candidate}", *(f"c={name}" for name in more[:1]), *more[1:])
        done = cli("compare", *given, "--format", "json")
        first = json.loads(done.stdout)["comparisons"][0]
        (row,) = [row for row in first["rows"] if row["type"] == "uv-script"]
        assert [row["base"], row["candidate"]] == values, row


class TestJobScripts:
    """Those that only the configuration of a job names."""

    @linux
    def test_are_quoted_where_they_lie_in_the_job(self, cli: Run, tmp_path: Path) -> None:
        text = BLOCK + "print('out', flush=True); 1 / 0  # hunter2"
        (tmp_path / "m.py").write_text(text)
        job_of(tmp_path / "job", metrics=[ENTRY])
        done = cli("compute", "job", "--job-scripts", "--format", "json")
        assert script_of(done)["error"]["rule"] == "script-failed"
        assert "hunter2" not in done.stdout + done.stderr
        (tmp_path / "job" / "m.py").write_text(text)
        done = cli("compute", "job", "--job-scripts", "--format", "json")
        assert "hunter2" in script_of(done)["error"]["message"]

    def test_are_not_run(self, cli: Run, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(SCRIPT)
        job_of(tmp_path / "job", metrics=[ENTRY])
        done = cli("compute", "job", "--format", "json")
        assert done.returncode == 1
        assert script_of(done)["error"]["rule"] == "job-script-not-run"
        assert "--job-scripts" in script_of(done)["error"]["message"]
        assert cli("compute", "job", "--dry-run").returncode == 1

    @linux
    def test_run_where_the_user_says_so(self, cli: Run, tmp_path: Path) -> None:
        job = job_of(tmp_path / "job", metrics=[ENTRY])
        (job / "m.py").write_text(SCRIPT)
        done = cli("compute", "job", "--job-scripts", "--format", "json")
        assert script_of(done)["values"] == {"x": 1}
        done = cli("compute", "job", "--job-scripts", "--sandbox", "off", "--format", "json")
        assert script_of(done)["error"]["rule"] == "script-not-confined"

    def test_lie_inside(self, cli: Run, tmp_path: Path, tmp_path_factory: Any) -> None:
        outside = tmp_path_factory.mktemp("outside") / "m.py"
        outside.write_text(SCRIPT)
        for path in (str(outside), f"../{outside.parent.name}/m.py"):
            entry = {"type": "uv-script", "kwargs": {"script_path": path}}
            job_of(tmp_path / f"job{len(path)}", metrics=[entry])
            done = cli("compute", f"job{len(path)}", "--job-scripts", "--format", "json")
            assert script_of(done)["error"]["rule"] in ("script-outside", "script-missing")

    @linux
    def test_run_where_a_registry_names_the_same(self, cli: Run, job: Path) -> None:
        config = json.loads((job / "config.json").read_text())
        (job / "config.json").write_text(json.dumps({**config, "metrics": [ENTRY]}))
        done = cli("compute", "job", "--registry", "registry.json", "--format", "json")
        (group,) = json.loads(done.stdout)["groups"]
        assert [one["values"] for one in group["metrics"]] == [{"mean": 1}, {"x": 1}, {"x": 1}]

    def test_do_not_run_for_an_audit_either(self, cli: Run, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(HEAD + "open('/dev/shm/audited', 'w')\nanswer(x=1)")
        job = job_with_registry(tmp_path, {"type": "mean"}, metrics=[ENTRY])
        own = json.loads((job / "result.json").read_text())
        key = "oracle__sail-1__demo"
        own["stats"] = {"evals": {key: {"metrics": [{"mean": 1.0}, {"x": 1}]}}}
        (job / "result.json").write_text(json.dumps(own))
        assert "only the configuration of the job names" in cli("audit", "job", "--all").stdout
        if Path("/dev/shm").is_dir():
            assert not Path("/dev/shm/audited").exists()
