"""`harbor-metrics add` and `remove`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from conftest import Run
from metric_scripts import BLOCK, HEAD, registry_of
from registries_by_hand import DATASET

import harbor_metrics


def test_adding_what_is_there_changes_nothing(cli: Run, tmp_path: Path) -> None:
    text = json.dumps([{**DATASET, "metrics": [{"kwargs": {}}]}])
    (tmp_path / "r.json").write_text(text)
    stamp = (tmp_path / "r.json").stat().st_mtime_ns
    done = cli("add", "r.json", "a", "mean")
    assert (done.returncode, "nothing was changed" in done.stdout) == (0, True)
    assert (tmp_path / "r.json").stat().st_mtime_ns == stamp


@pytest.mark.parametrize(
    ("text", "arguments", "code", "words"),
    [
        ('[{"name": "a", "name": "b"}]', ["add", "a", "mean"], 1, "duplicate key"),
        ("[1 2]", ["add", "a", "mean"], 1, "missing comma"),
        (json.dumps([DATASET]), ["add", "b", "mean"], 1, "no dataset b; the registry has a@1"),
        (json.dumps([DATASET, {**DATASET, "version": "2"}]), ["add", "a", "mean"], 1, "a@1, a@2"),
        (json.dumps([DATASET, DATASET]), ["add", "a@1", "mean"], 1, "more than once"),
        (json.dumps([{**DATASET, "metrics": None}]), ["add", "a", "mean"], 3, "must be an array"),
        (json.dumps(DATASET), ["add", "a", "mean"], 3, "array of datasets"),
        (json.dumps([DATASET]), ["add", "a", "men"], 2, "did you mean `mean`"),
        (json.dumps([DATASET]), ["add", "a", "mean", "-k", "q=1"], 2, "takes no `q`"),
        (json.dumps([DATASET]), ["add", "a", "mean", "-k", "missing"], 2, "NAME=VALUE"),
        (json.dumps([DATASET]), ["add", "a", "uv-script"], 2, "needs `script_path`"),
        (json.dumps([DATASET]), ["remove", "a", "mean"], 1, "no metric `mean`"),
        (json.dumps([{**DATASET, "metrics": [{}]}]), ["remove", "a", "3"], 1, "no index 3"),
        (
            json.dumps([{**DATASET, "metrics": [{}, {}]}]),
            ["remove", "a", "mean"],
            1,
            "0: {}, 1: {}",
        ),
    ],
)
def test_what_is_refused_changes_nothing(
    text: str, arguments: list[str], code: int, words: str, cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "r.json").write_text(text)
    verb, *rest = arguments
    done = cli(verb, "r.json", *rest)
    assert done.returncode == code
    assert words in done.stderr
    assert (tmp_path / "r.json").read_text() == text


def test_byte_order_mark_mode_and_link_stay(cli: Run, tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    before = b"\xef\xbb\xbf" + json.dumps([DATASET]).encode()
    real.write_bytes(before)
    real.chmod(0o640)
    (tmp_path / "r.json").symlink_to("real.json")
    assert cli("add", "r.json", "a", "max").returncode == 0
    assert real.read_bytes().startswith(b"\xef\xbb\xbf[")
    assert real.stat().st_mode & 0o777 == 0o640
    assert cli("remove", "r.json", "a", "max").returncode == 0
    assert real.read_bytes() == before
    assert (tmp_path / "r.json").is_symlink()


def test_registry_is_not_changed_through_a_link_out_of_its_folder(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "r.json").write_text(json.dumps([DATASET]))
    work = tmp_path / "work"
    work.mkdir()
    (work / "r.json").symlink_to("../shared/r.json")
    (work / "metrics").symlink_to("../shared")
    (work / "own.json").write_text(json.dumps([DATASET]))
    script = ("uv-script", "-k", "script_path=metrics/new/m.py", "--new")
    for arguments in (
        ("add", "r.json", "a", "max"), ("remove", "r.json", "a", "0"),
        ("add", "own.json", "a", *script), ("validate", "r.json", "--fix"),
    ):  # fmt: skip
        done = cli(*arguments, cwd=work)
        assert (done.returncode, "a link" in done.stderr) == (3, True)
        assert "name the file itself, if it is yours" in done.stderr
    assert [p.name for p in (tmp_path / "shared").iterdir()] == ["r.json"]
    assert json.loads((tmp_path / "shared" / "r.json").read_text()) == [DATASET]
    assert cli("add", "../shared/r.json", "a", "max", cwd=work).returncode == 0


def test_name_with_an_at_is_reached(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([{**DATASET, "name": "d@x y"}]))
    assert cli("add", "r.json", "d@x y@1", "min").returncode == 0
    assert cli("remove", "r.json", "d@x y", "9" * 5000).returncode == 1
    assert cli("add", "r.json", "d@x y", "uv-script", "-k", "script_path=\udcff").returncode == 2


def test_default_that_no_longer_runs_is_said_beside_the_result(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([DATASET]))
    done = cli("add", "r.json", "a", "max")
    assert done.stdout == 'added {"type": "max"} to a@1, `metrics`\n'
    assert "harbor-metrics add r.json a@1 mean" in done.stderr


def task(folder: Path, text: str, name: str = "task.yaml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_metrics_of_an_lm_eval_task_are_added_once(cli: Run, tmp_path: Path) -> None:
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps([dataset]))
    path = task(tmp_path, "metric_list: [{metric: acc}, {metric: f1}, {metric: a, aggregation: b}]")
    done = cli("add", registry, "d", "--from-lm-eval", path, "--diff")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("added") == 2
    assert "metric_list[2] has no counterpart" in done.stderr
    assert json.loads(registry.read_text())[0]["extra_metrics"] == [
        {"type": "lm-eval/acc"},
        {"type": "lm-eval/f1"},
    ]
    before = registry.read_bytes()
    again = cli("add", registry, "d", "--from-lm-eval", path)
    assert again.stdout.count("nothing was changed") == 2
    assert registry.read_bytes() == before
    assert cli("validate", registry, "--ignore", "empty-dataset").returncode == 0
    nothing = task(tmp_path, "metric_list: [{metric: a, aggregation: b}]")
    assert cli("add", registry, "d", "--from-lm-eval", nothing).returncode == 1
    assert cli("add", registry, "d", "mean", "--from-lm-eval", path).returncode == 2
    assert cli("add", registry, "d").returncode == 2


@pytest.mark.usefixtures("own_caches")
class TestPins:
    """A digest beside `kwargs`."""

    def test_changed_script_is_not_run_until_the_pin_is_mended(
        self, cli: Run, tmp_path: Path
    ) -> None:
        (tmp_path / "m.py").write_text(BLOCK + HEAD + "answer(n=1)")
        (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
        registry_of(tmp_path)
        added = cli("add", "registry.json", "d", "uv-script", "-k", "script_path=m.py", "--pin")
        digest = hashlib.sha256((tmp_path / "m.py").read_bytes()).hexdigest()
        assert digest in added.stdout
        entry = json.loads((tmp_path / "registry.json").read_text())[0]["metrics"][0]
        assert entry == {
            "type": "uv-script",
            "kwargs": {"script_path": "m.py"},
            "sha256": digest,
        }
        assert cli("validate", "registry.json").returncode == 0
        compute = ("compute", "r.jsonl", "--registry", "registry.json")
        assert cli(*compute).returncode == 0
        (tmp_path / "m.py").write_text(BLOCK + HEAD + "answer(n=2)")
        done = cli(*compute)
        assert done.returncode == 1
        assert "sha256" in done.stdout
        assert "was not run" in done.stdout
        assert "script-pin" in cli("validate", "registry.json").stdout
        assert "wrote the sha256 of m.py" in cli("validate", "registry.json", "--fix").stderr
        assert cli("validate", "registry.json").returncode == 0

    def test_metric_that_is_there_is_pinned(self, cli: Run, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK + HEAD)
        registry_of(tmp_path, {"type": "uv-script", "kwargs": {"script_path": "m.py"}})
        add = ("add", "registry.json", "d", "uv-script", "-k", "script_path=m.py")
        assert "nothing was changed" in cli(*add).stdout
        assert "pinned" in cli(*add, "--pin").stdout
        assert "nothing was changed" in cli(*add, "--pin").stdout
        (entry,) = json.loads((tmp_path / "registry.json").read_text())[0]["metrics"]
        assert entry["sha256"] == hashlib.sha256((BLOCK + HEAD).encode()).hexdigest()

    def test_of_two_scripts_of_one_path_none_is_pinned(self, cli: Run, tmp_path: Path) -> None:
        (tmp_path / "ds").mkdir()
        (tmp_path / "m.py").write_text(BLOCK + HEAD + "answer(n=1)")
        (tmp_path / "ds" / "m.py").write_text(BLOCK + HEAD + "answer(n=2)")
        registry = registry_of(tmp_path / "ds")
        add = ("add", "ds/registry.json", "d", "uv-script", "-k", "script_path=m.py")
        done = cli(*add, "--pin")
        assert done.returncode == 2
        assert "m.py lies beside the registry and, with other contents, in the " in done.stderr
        entry = {"type": "uv-script", "kwargs": {"script_path": "m.py"}, "sha256": "0" * 64}
        registry_of(tmp_path / "ds", entry)
        text = registry.read_text()
        found = cli("validate", "ds/registry.json", "--fix").stdout
        assert "script-pin" in found
        assert "script-twice" in found
        assert registry.read_text() == text
        assert cli("validate", "registry.json", "--fix", cwd=tmp_path / "ds").returncode == 0

    @pytest.mark.parametrize("arguments", [("mean",), ("uv-script", "-k", "script_path=gone.py")])
    def test_pin_without_a_script_is_refused(
        self, arguments: tuple[str, ...], cli: Run, tmp_path: Path
    ) -> None:
        registry_of(tmp_path)
        assert cli("add", "registry.json", "d", *arguments, "--pin").returncode == 2


@pytest.mark.parametrize(
    "kwargs", [("script_path=../out.py",), ("script_path=g.py", "git_url=https://h.invalid/x")]
)
def test_new_writes_no_script_elsewhere(cli: Run, tmp_path: Path, kwargs: tuple[str, ...]) -> None:
    (tmp_path / "a").mkdir()
    registry = registry_of(tmp_path / "a")
    given = [part for each in kwargs for part in ("-k", each)]
    done = cli("add", registry, "d", "uv-script", *given, "--new")
    assert done.returncode == 2
    assert not list(tmp_path.rglob("*.py"))


def test_for_harbor_refuses_until_somebody_says_where_the_package_comes_from(
    cli: Run, tmp_path: Path
) -> None:
    before = json.dumps([DATASET])
    (tmp_path / "r.json").write_text(before)
    done = cli("add", "r.json", "a", "median", "--for-harbor")
    assert done.returncode == 2
    assert "whoever takes that name would run code there" in done.stderr
    assert (tmp_path / "r.json").read_text() == before
    assert not (tmp_path / "metric.py").exists()


def test_for_harbor_writes_the_script_and_mean_before_it(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([DATASET]))
    done = cli("add", "r.json", "a", "quantile", "-k", "q=0.5", "--for-harbor", "--released")
    assert done.returncode == 0, done.stderr
    assert "`mean` stands first: Harbor's progress bar shows the first metric" in done.stderr
    (dataset,) = json.loads((tmp_path / "r.json").read_text())
    entry = {"type": "uv-script", "kwargs": {"script_path": "metric.py"}}
    assert dataset["metrics"] == [{"type": "mean"}, entry]
    script = (tmp_path / "metric.py").read_text()
    assert f'dependencies = ["harbor-metrics=={harbor_metrics.__version__}"]' in script
    assert '# metrics = [{"type" = "quantile", "kwargs" = {"q" = 0.5}}]' in script
    assert cli("validate", "r.json").stdout.startswith("No mistakes")
    again = cli("add", "r.json", "a", "median", "--for-harbor", "--released")
    assert again.returncode == 3
    assert "metric.py is there already" in again.stderr
    other = cli("add", "r.json", "a", "median", "--for-harbor", "--released", "--script", "two.py")
    assert other.returncode == 0
    assert "stands first" not in other.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["median", "--released"], "go with --for-harbor"),
        (["median", "--script", "m.py"], "go with --for-harbor"),
        (["medain", "--for-harbor", "--released"], "did you mean `median`"),
        (["median", "--for-harbor", "--released", "--pin"], "give no --new or --pin"),
        (["uv-script", "-k", "script_path=m.py", "--for-harbor", "--released"], "as they are"),
        (["median", "--for-harbor", "--from", "https://x.org/a.whl"], "with its digest"),
    ],
)
def test_for_harbor_refuses_what_contradicts_itself(
    arguments: list[str], words: str, cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "r.json").write_text(json.dumps([DATASET]))
    done = cli("add", "r.json", "a", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "metric.py").exists()


def test_script_goes_again_where_the_entry_cannot_be_added(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([DATASET]))
    assert cli("add", "r.json", "b", "median", "--for-harbor", "--released").returncode == 1
    assert not (tmp_path / "metric.py").exists()


@pytest.mark.parametrize("arguments", [("max",), ("mean", "-k", "missing=skip")])
def test_what_runs_an_added_metric_is_said_where_harbor_does_not(
    arguments: tuple[str, ...], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "r.json").write_text(json.dumps([DATASET]))
    said = cli("add", "r.json", "a", *arguments).stdout
    ours = said.endswith("`compute` runs it; for Harbor itself: --for-harbor\n")
    assert ours is ("`extra_metrics`" in said) is ("missing=skip" in arguments)


@pytest.mark.parametrize("field", ["metrics", "extra_metrics"])
def test_function_of_a_file_is_no_entry_of_a_registry(field: str, cli: Run, tmp_path: Path) -> None:
    before = json.dumps([DATASET])
    (tmp_path / "r.json").write_text(before)
    done = cli("add", "r.json", "a", "my_metric.py:twice")
    assert done.returncode == 2
    assert "`my_metric.py:twice` is a function of a file" in done.stderr
    assert "an entry point in the group `harbor_metrics.metrics`" in done.stderr
    assert "harbor-metrics add r.json a uv-script -k script_path=metrics/mine.py" in done.stderr
    assert (tmp_path / "r.json").read_text() == before
    (tmp_path / "r.json").write_text(json.dumps([{**DATASET, field: [{"type": "m.py:twice"}]}]))
    found = cli("validate", "r.json").stdout
    assert "`m.py:twice` is a function of a file" in found
    assert "explain own-metric" in found


@pytest.mark.usefixtures("own_caches")
class TestPathOfAScript:
    """Where a script is written, and how the registry names it, from wherever one stands."""

    # Where one stands, and how the registry and the script are named from there.
    STANDS = (
        (".", "fh/registry.json", "fh/new/m.py"),
        (".", "fh/registry.json", "new/m.py"),
        ("fh", "registry.json", "new/m.py"),
        ("fh/sub", "../registry.json", "new/m.py"),
        ("beside", "../fh/registry.json", "new/m.py"),
    )

    @pytest.mark.parametrize(("stands", "registry", "script"), STANDS)
    @pytest.mark.parametrize("how", ["--new", "--for-harbor"])
    def test_new_script_is_named_from_the_registry(
        self, stands: str, registry: str, script: str, how: str, cli: Run, tmp_path: Path
    ) -> None:
        for folder in ("fh/sub", "beside"):
            (tmp_path / folder).mkdir(parents=True)
        registry_of(tmp_path / "fh")
        given = {
            "--new": ("uv-script", "-k", f"script_path={script}", "--new"),
            "--for-harbor": ("median", "--for-harbor", "--released", "--script", script),
        }
        done = cli("add", registry, "d", *given[how], cwd=tmp_path / stands)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "fh" / "new" / "m.py").is_file()
        (dataset,) = json.loads((tmp_path / "fh" / "registry.json").read_text())
        assert dataset["metrics"][-1]["kwargs"] == {"script_path": "new/m.py"}
        said = "Harbor looks for new/m.py from the folder that it is run in"
        assert (said in done.stderr) is (stands != "fh" or how == "--for-harbor")
        for folder in ("fh", "."):
            path = "registry.json" if folder == "fh" else "fh/registry.json"
            checked = cli("validate", path, "--ignore", "empty-dataset", cwd=tmp_path / folder)
            assert (checked.returncode, checked.stderr) == (0, "")

    def test_script_that_is_there_is_named_from_the_registry(
        self, cli: Run, tmp_path: Path
    ) -> None:
        (tmp_path / "fh").mkdir()
        registry_of(tmp_path / "fh")
        (tmp_path / "fh" / "m.py").write_text(BLOCK + HEAD)
        add = ("add", "fh/registry.json", "d", "uv-script", "-k")
        done = cli(*add, "script_path=fh/m.py", "--pin")
        assert done.returncode == 0, done.stderr
        assert "note: script_path is relative to fh, where the registry lies" in done.stderr
        assert "nothing was changed" in cli(*add, "script_path=m.py").stdout

    def test_folder_of_a_new_script_goes_again_where_nothing_is_added(
        self, cli: Run, tmp_path: Path
    ) -> None:
        registry_of(tmp_path)
        new = ("uv-script", "-k", "script_path=a/b/m.py", "--new")
        assert cli("add", "registry.json", "gone", *new).returncode == 1
        assert not (tmp_path / "a").exists()
        (tmp_path / "a").write_text("a file")
        done = cli("add", "registry.json", "d", *new)
        assert done.returncode == 3
        assert "a/b/m.py cannot be written" in done.stderr
