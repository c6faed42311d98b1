"""The plugin, the script and the rows with the real Harbor, in environments that `.ci/run` makes.

Harbor's own numbers are what ours are held against, to the last bit.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from inside_harbor import datasets

HERE = Path(__file__).parent
ENVIRONMENTS = [Path(p) for p in os.environ.get("HARBOR_ENVIRONMENTS", "").split(os.pathsep) if p]
# How a plugin is run and told has changed between these; the numbers are asked of all.
FIRST_AND_LAST = list(dict.fromkeys([*ENVIRONMENTS[:1], *ENVIRONMENTS[-1:]])) or [Path("none")]
WHEEL = Path(os.environ.get("HARBOR_METRICS_WHEEL", ""))
pytestmark = [
    pytest.mark.real_harbor,
    pytest.mark.skipif(
        not ENVIRONMENTS, reason="HARBOR_ENVIRONMENTS names no environment with Harbor (.ci/run)"
    ),
]
PASS = {"type": "pass-at-k", "kwargs": {"k": [1, 2]}}
TIDES = {"t0": [1, 0, 1], "t1": [0, None, 1], "t2": [1, 1, 0.5]}
WINDS = {"w0": [0.25, 0.75, 0.1], "w1": [0.3, 0.1, 0.2]}


@dataclass
class Harbor:
    """One installation of Harbor with this package, and the folder that it is run in."""

    place: Path
    folder: Path

    def command(self, program: str, *args: object) -> list[str]:
        return [str(self.place / "bin" / program), *map(str, args)]

    @property
    def env(self) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if name[:6] != "PYTHON"}
        # No prices are fetched, and no Python is asked for elsewhere.
        env |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONPATH": str(HERE)}
        return env | {"PATH": f"{self.place / 'bin'}{os.pathsep}{env['PATH']}"}

    def call(self, program: str, *args: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(program, *args),
            cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    def run(self, name: str, *args: object, **config: Any) -> subprocess.CompletedProcess[str]:
        """What `harbor run` says of a job of this configuration."""
        return self.call("harbor", *self.asked(name, **config), *args)

    def asked(self, name: str, *, of: tuple[str, ...] = ("tides",), **config: Any) -> list[str]:
        named = [{"name": n, "version": "1.0", "registry_path": "registry.json"} for n in of]
        config = {
            "job_name": name,
            "jobs_dir": "jobs",
            "n_attempts": 3,
            "agents": [{"name": "oracle", "model_name": "acme/sail-1"}],
            "datasets": named,
            "environment": {"import_path": "own_environment:OwnEnvironment"},
            **config,
        }
        (self.folder / f"{name}.json").write_text(json.dumps(config))
        return ["run", "-c", f"{name}.json", "-y", "-q", "--plugin", "metrics"]

    def job(self, name: str) -> Path:
        return self.folder / "jobs" / name

    def evals(self, name: str) -> dict[str, Any]:
        """What Harbor itself reports, group by group."""
        return json.loads((self.job(name) / "result.json").read_text())["stats"]["evals"]

    def groups(self, name: str) -> dict[str, Any]:
        """What the plugin has left, by the keys of Harbor."""
        document = json.loads((self.job(name) / "harbor-metrics.json").read_text())
        return {group["evals_key"]: group for group in document["groups"]}


@pytest.fixture(params=FIRST_AND_LAST, ids=lambda path: path.name)
def harbor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harbor]:
    """Two datasets, one of them with a script by which Harbor gives our metrics."""
    harbor = Harbor(request.param, tmp_path)
    tides = datasets.write(tmp_path, "tides", TIDES, metrics=[{"type": "mean"}, {"type": "sum"}])
    winds = datasets.write(tmp_path, "winds", WINDS)
    datasets.write_registry(tmp_path, tides, winds)
    yield harbor
    shutil.rmtree(tmp_path / "jobs", ignore_errors=True)


def with_script(harbor: Harbor) -> None:
    """Put pass@k into the dataset as a script that fetches this package's wheel."""
    wheel = shutil.copy(WHEEL, harbor.folder)
    digest = sha256(WHEEL.read_bytes()).hexdigest()
    added = harbor.call(
        *("harbor-metrics", "add", "registry.json", "tides", "pass-at-k", "-k", "k=[1, 2]"),
        *("--for-harbor", "--from", f"file://{wheel}#sha256={digest}"),
    )
    assert added.returncode == 0, added.stderr
    assert harbor.call("harbor-metrics", "validate", "registry.json").returncode == 0


def assert_equal(harbor: Harbor, name: str) -> None:
    """Each number of Harbor's equals ours, in the same groups."""
    evals, groups = harbor.evals(name), harbor.groups(name)
    assert evals.keys() == groups.keys()
    for key, reported in evals.items():
        ours = [m for m in groups[key]["metrics"] if m["origin"] != "command-line"]
        assert [m["values"] for m in ours] == reported["metrics"]
        assert groups[key]["pass_at_k"] == reported.get("pass_at_k", {})
        assert groups[key]["counts"]["scored"] == reported["n_trials"]
        assert groups[key]["counts"]["errored"] == reported["n_errors"]


def assert_as_compute(harbor: Harbor, name: str, *args: object) -> None:
    """What the plugin has left is what `compute` writes."""
    harbor.call("harbor-metrics", "compute", f"jobs/{name}", *args, "-o", "again.json")
    written = (harbor.job(name) / "harbor-metrics.json").read_text()
    assert (harbor.folder / "again.json").read_text() == written


@pytest.mark.parametrize("harbor", ENVIRONMENTS, ids=lambda path: path.name, indirect=True)
def test_numbers_are_harbors_in_every_group_and_a_failing_metric_harms_nothing(
    harbor: Harbor,
) -> None:
    with_script(harbor)
    grouped = {"type": "grouped", "kwargs": {"metric": "mean", "by": "category"}}
    failing = {"type": "grouped", "kwargs": {"metric": "mean", "by": "nonesuch"}}
    done = harbor.run(
        "all",
        "--pk",
        f"metrics={json.dumps([PASS, grouped, failing])}",
        of=("tides", "winds"),
        agents=[{"name": "oracle", "model_name": "acme/sail-1"}, {"name": "nop"}],
        metrics=[{"type": "max"}],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Metrics written to jobs/all/harbor-metrics.json" in done.stdout
    assert_equal(harbor, "all")
    groups = harbor.groups("all")
    assert len(groups) == 4
    for group in groups.values():
        _, by_category, failed = group["metrics"][-3:]
        assert set(by_category["values"]) == {"a", "b", "all"}
        assert failed["status"] == "failed"
    # What the script gives in Harbor is what the catalogue gives.
    for group in groups.values():
        if group["dataset"]["name"] == "tides":
            script = next(m for m in group["metrics"] if m["type"] == "uv-script")
            passing = group["metrics"][-3]["values"]
            counting = group["counts"]["found"] - group["counts"].get("left_out", 0)
            assert script["values"] == {
                "trials": counting, "pass-at-k 1": passing["1"], "pass-at-k 2": passing["2"]
            }  # fmt: skip
    assert any(group["exceptions"] for group in groups.values())
    metrics = [part for m in (PASS, grouped, failing) for part in ("--metric", json.dumps(m))]
    assert_as_compute(harbor, "all", *metrics, "--registry", "registry.json", "--job-scripts")


def test_rows_are_accepted_by_harbors_own_model(harbor: Harbor) -> None:
    assert harbor.run("one", of=("tides", "winds")).returncode == 0
    rows = harbor.call("harbor-metrics", "compute", "jobs/one", "--format", "hub-rows")
    assert rows.returncode == 0, rows.stderr
    (harbor.folder / "rows.json").write_text(rows.stdout)
    code = (
        "from harbor.hub.leaderboards import LeaderboardRowsCreateConfig as Config\n"
        "rows = Config.model_validate_json(open('rows.json').read()).rows\n"
        "print([(len(row.trial_ids), row.metrics['mean']) for row in rows])\n"
    )
    read = harbor.call("python", "-c", code)
    evals = harbor.evals("one")
    means = [
        (9 if "tides" in key else 6, evals[key]["metrics"][0]["mean"]) for key in sorted(evals)
    ]
    assert read.stdout.strip() == str(means), read.stderr


def test_interrupted_job_has_what_compute_needs_and_resumes_to_the_same_numbers(
    harbor: Harbor,
) -> None:
    slow = datasets.write(harbor.folder / "slow", "tides", TIDES, seconds=1)
    for task in slow["tasks"]:
        task["path"] = f"slow/{task['path']}"
    datasets.write_registry(harbor.folder, {**slow, "metrics": [{"type": "mean"}]})
    asked = harbor.asked("cut", n_concurrent_trials=1)
    with subprocess.Popen(
        harbor.command("harbor", *asked),
        cwd=harbor.folder,
        env=harbor.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        until = time.monotonic() + 120
        while not list(harbor.job("cut").glob("*/result.json")) and process.poll() is None:
            assert time.monotonic() < until, "no trial has ended"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "the job did not end; its numbers: harbor-metrics compute jobs/cut" in said
    # Python may complain of processes of Harbor's own that the end of its loop overtook.
    assert "harbor_metrics/" not in said.partition("did not end")[2]
    assert not (harbor.job("cut") / "harbor-metrics.json").exists()
    # Labels and the registry's entry were kept before there was a trial.
    for path in [*harbor.folder.glob("slow/tides/*/task.toml"), harbor.folder / "registry.json"]:
        path.rename(f"{path}.away")
    part = harbor.call(
        "harbor-metrics", "compute", "jobs/cut", "--group-by=category", "--format=json"
    )
    (group,) = json.loads(part.stdout)["groups"]
    assert 0 < group["counts"]["found"] < 9
    assert group["metrics"][0]["origin"] == "registry"
    for path in [*harbor.folder.glob("slow/tides/*/*.away"), harbor.folder / "registry.json.away"]:
        path.rename(path.with_suffix(""))
    resumed = harbor.call("harbor", "job", "resume", "-p", "jobs/cut", "--plugin", "metrics")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    (group,) = harbor.groups("cut").values()
    assert group["counts"]["found"] == 9
    assert_equal(harbor, "cut")
    assert_as_compute(harbor, "cut")


def test_document_that_cannot_be_written_harms_nothing(harbor: Harbor) -> None:
    (harbor.job("shut") / "harbor-metrics.json").mkdir(parents=True)
    done = harbor.run("shut")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "harbor-metrics: jobs/shut/harbor-metrics.json cannot be written" in done.stderr
    assert "its numbers: harbor-metrics compute jobs/shut" in done.stderr
    assert "3 tasks" in done.stdout
    assert "Traceback" not in done.stderr
    assert harbor.evals("shut")


def test_wrong_option_ends_the_run_before_the_first_trial(harbor: Harbor) -> None:
    done = harbor.run("wrong", "--pk", "metrics=stdrr")
    assert done.returncode == 2
    assert "did you mean `stderr`" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not list(harbor.job("wrong").glob("*/"))


def test_metric_that_ends_harbors_job_leaves_the_numbers_to_compute(harbor: Harbor) -> None:
    (harbor.folder / "broken.py").write_text("raise SystemExit('broken on purpose')\n")
    script = {"type": "uv-script", "kwargs": {"script_path": "broken.py"}}
    tides = datasets.write(harbor.folder / "two", "tides", TIDES)
    for task in tides["tasks"]:
        task["path"] = f"two/{task['path']}"
    datasets.write_registry(harbor.folder, {**tides, "metrics": [{"type": "mean"}, script]})
    done = harbor.run("dead")
    assert done.returncode != 0
    assert "the job did not end; its numbers: harbor-metrics compute jobs/dead" in done.stderr
    again = harbor.call("harbor-metrics", "compute", "jobs/dead", "--format", "json")
    mean, failed = json.loads(again.stdout)["groups"][0]["metrics"]
    assert mean["status"] == "ok"
    assert failed["status"] == "failed"


PAGE = HERE.parent.parent / "docs" / "from-harbor-run-to-a-leaderboard-row.md"


def test_every_command_of_the_page_works(harbor: Harbor) -> None:
    shutil.copy(WHEEL, harbor.folder)
    assert os.path.basename(WHEEL) in PAGE.read_text(encoding="utf-8")
    # Where a reader has containers, these tests have an environment of their own.
    wrapper = harbor.folder / "bin" / "harbor"
    wrapper.parent.mkdir()
    real = shlex.quote(str(harbor.place / "bin" / "harbor"))
    wrapper.write_text(f'#!/bin/sh\nexec {real} "$@" -e own_environment:OwnEnvironment\n')
    wrapper.chmod(0o755)
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    commands = [line[2:] for block in blocks for line in block.splitlines() if line[:2] == "$ "]
    assert len(commands) == 10
    env = {**harbor.env, "PATH": f"{wrapper.parent}{os.pathsep}{harbor.env['PATH']}"}
    done = subprocess.run(
        ["bash", "-euxc", "\n".join(commands)],
        cwd=harbor.folder, env=env, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((harbor.folder / "rows.json").read_text())["rows"]
    assert [row["metadata"]["model"].rpartition("/")[2] for row in rows] == ["sail-1", "sail-2"]
    for name in ("one", "two"):
        assert_equal(harbor, name)
        (group,) = harbor.groups(name).values()
        assert (
            "pass-at-k 2" in next(m for m in group["metrics"] if m["type"] == "uv-script")["values"]
        )


@pytest.mark.skipif(len(ENVIRONMENTS) < 2, reason="HARBOR_ENVIRONMENTS names one Harbor alone")
def test_jobs_of_an_older_and_a_newer_harbor_are_one_group(tmp_path: Path) -> None:
    datasets.write_registry(tmp_path, datasets.write(tmp_path, "winds", WINDS))
    for place in ENVIRONMENTS[:2]:
        assert Harbor(place, tmp_path).run(place.name, of=("winds",)).returncode == 0
    older, newer = (place.name for place in ENVIRONMENTS[:2])
    last = Harbor(ENVIRONMENTS[1], tmp_path)
    pooled = last.call(
        "harbor-metrics", "compute", f"jobs/{older}", f"jobs/{newer}", "--format", "json"
    )
    (group,) = json.loads(pooled.stdout)["groups"]
    assert (group["model"], group["provider"]) == ("sail-1", "acme")
    assert group["counts"]["found"] == 12
