"""Parquet through DuckDB: what convert writes, what compute says of it, and what it refuses."""

from __future__ import annotations

import json
import shutil
import sys
from glob import escape
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import JOBS, Run
from printed import document

from harbor_metrics import compute
from harbor_metrics.engines import tasks
from harbor_metrics.engines.asked import Asked
from harbor_metrics.engines.parquet import written
from harbor_metrics.errors import InputError

# Of the system or of other programs: it is the same on every Python.
pytestmark = pytest.mark.one_python

METRICS = ("median", "pass@1", "ci", "mean-reward")


def asked(*metrics: str) -> list[str]:
    return [part for metric in metrics for part in ("--metric", metric)]


@pytest.fixture
def trials(cli: Run, tmp_path: Path) -> Path:
    """A trials file of two jobs, and the same as Parquet beside it."""
    lines = b""
    for job in ("graded", "multi"):
        assert cli("convert", JOBS / job, "-o", "part.jsonl").returncode == 0
        lines += (tmp_path / "part.jsonl").read_bytes()
    path = tmp_path / "trials.jsonl"
    path.write_bytes(lines)
    done = cli("convert", path, "-o", "trials.parquet")
    assert done.stderr == f"wrote {len(lines.splitlines())} trials to trials.parquet\n"
    return tmp_path / "trials.parquet"


def write(path: Path, query: str) -> Path:
    duckdb.sql(query).write_parquet(str(path))
    return path


def test_groups_are_those_of_the_trials_file(cli: Run, trials: Path) -> None:
    args = [*asked(*METRICS), "--format", "json"]
    kept = document(cli("compute", trials.with_suffix(".jsonl"), *args))
    found = document(cli("compute", trials, *args))
    assert found["groups"] == kept["groups"]
    (source,) = found["sources"]
    assert (source["kind"], source["sha256"]) == ("relation", None)
    assert source["engine"] == {"name": "duckdb", "version": duckdb.__version__}


def test_files_and_patterns_of_the_same_trials_have_one_digest(
    cli: Run, trials: Path, tmp_path: Path
) -> None:
    (tmp_path / "parts").mkdir()
    relation = duckdb.read_parquet(str(trials))
    for part in range(3):
        half = relation.project("*, row_number() over () as r").filter(f"r % 3 = {part}")
        half.project("* exclude r").write_parquet(str(tmp_path / f"parts/{part}.parquet"))
    sources: list[list[Any]] = [
        [trials],
        ["parts/*.parquet"],
        ["parts"],
        sorted((tmp_path / "parts").iterdir(), reverse=True),
    ]
    digests = set()
    for source in sources[:2] + sources[3:]:
        found = document(cli("compute", *source, *asked(*METRICS), "--format", "json"))
        digests.add(found["sources"][0]["answers_sha256"])
    assert len(digests) == 1
    found = document(cli("compute", "parts", "--engine", "duckdb", *asked(*METRICS),
                         "--format", "json"))  # fmt: skip
    assert {found["sources"][0]["answers_sha256"]} == digests


def test_what_lies_in_columns_comes_back(cli: Run, tmp_path: Path) -> None:
    rows = [
        {"task": "a", "attempt": 1, "rewards": {"reward": 1, 'odd "key': 0.5}, "labels": {"n": 1},
         "texts": {"x": ["one", "two"]}, "usage": {"cost_usd": 0.25, "n_input_tokens": 9}},
        {"task": "b", "rewards": None, "error": "Early", "labels": {"n": "two"},
         "texts": {"x": "three"}},
    ]  # fmt: skip
    path = tmp_path / "trials.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert cli("convert", path, "-o", "trials.parquet").returncode == 0
    relation = duckdb.read_parquet(str(tmp_path / "trials.parquet"))
    found = {n: str(t) for n, t in zip(relation.columns, relation.types, strict=True)}
    assert found == {
        "task": "VARCHAR", "attempt": "BIGINT", "error": "VARCHAR", "cost_usd": "DOUBLE",
        "label.n": "VARCHAR", "n_input_tokens": "BIGINT", 'reward.odd "key': "DOUBLE",
        "reward": "BIGINT", "text.x": "VARCHAR[]",
    }  # fmt: skip
    back = relation.project('task, reward, "label.n", "text.x"').order("task").fetchall()
    assert back == [("a", 1, "1", ["one", "two"]), ("b", None, "two", ["three"])]


def test_same_trials_give_the_same_bytes(cli: Run, trials: Path) -> None:
    again = trials.with_name("again.parquet")
    assert cli("convert", trials.with_suffix(".jsonl"), "-o", again).returncode == 0
    assert again.read_bytes() == trials.read_bytes()


def test_key_that_no_trial_has_and_columns_without_any_reward_are_undefined(
    cli: Run, tmp_path: Path
) -> None:
    write(tmp_path / "x.parquet", "select 't' || range as task, 1 as reward from range(3)")
    write(tmp_path / "none.parquet", "select 't' || range as task, null as reward from range(3)")
    metric = '{"type": "mean", "kwargs": {"key": "else"}}'
    done = cli("compute", "x.parquet", "--metric", metric, "--only-asked", "--format", "json")
    assert "no trial has the reward `else`" in done.stdout
    done = cli("compute", "none.parquet")
    assert (done.returncode, "0 of 3 trials have rewards" in done.stderr) == (1, True)


def test_parquet_is_known_by_its_content(cli: Run, trials: Path) -> None:
    shutil.copy(trials, trials.with_name("history"))
    assert cli("compute", "history").stdout == cli("compute", trials).stdout


def test_metric_that_needs_rows_fails_by_name_and_the_others_run(cli: Run, trials: Path) -> None:
    done = cli("compute", trials, *asked("bleu", "median"), "--format", "json")
    assert done.returncode == 1
    group = json.loads(done.stdout)["groups"][0]
    failed = {m["name"]: m["error"] for m in group["metrics"] if m["status"] == "failed"}
    assert failed["bleu"]["rule"] == "needs-rows"
    assert failed["bleu"]["message"].startswith("it needs every trial, and the trials were only")
    assert {m["name"] for m in group["metrics"] if m["status"] == "ok"} >= {"mean", "median"}


def test_more_rewards_than_are_counted_are_told_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MOST_VALUES", 1_000)
    monkeypatch.setattr(tasks, "_SAMPLE", 100)
    write(
        tmp_path / "x.parquet",
        "select 't' || range as task, range * 0.37 as reward from range(9000)",
    )
    result = compute(tmp_path / "x.parquet", metrics="median", only_asked=True)
    failure = result.groups[0].metrics[0].error
    assert failure is not None
    assert failure.message.startswith("it needs every reward (more than 1,000 different rewards), ")


def test_dry_run_says_what_an_engine_cannot_answer(cli: Run, trials: Path) -> None:
    done = cli("compute", trials, "--dry-run", *asked("any-first-k k=2"))
    assert done.returncode == 1
    assert "needs every reward" in done.stdout


ROW = "'t' || range as task, range % 2 as reward"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select 1.0 as reward from range(3)", "has no column of tasks; it has reward"),
        (
            "select 'a' as task, 1.0 as reward, true as Left_Out from range(3)",
            "`Left_Out` says which trials are left out, and that is not read",
        ),
        ("select 'a' as task from range(3)", "has no column of rewards; it has task"),
        ("select 't' as task, 'x' as reward from range(3)", "holds texts, and reward needs"),
        ("select 't' as task, true as reward from range(3)", "holds true and false"),
        ("select 1.5::double as task, 1 as reward from range(3)", "holds Float64, and task needs"),
        (
            "select 't' as task, if(range = 1, 'nan'::double, 1) as reward from range(3)",
            "1 of 3 rewards `reward` are NaN or infinite",
        ),
        (
            "select 't' as task, 9007199254740993::bigint as reward from range(3)",
            "has the integer 9007199254740993",
        ),
        ("select case range when 1 then 't' end as task, 1 as reward from range(3)",
         "2 of 3 trials have no task"),
        ("select 't' as task, 'x' as trial, 1 as reward from range(3)", "2 trials more than once"),
        ("select 'x' as id, 't' as task, 1 as reward from range(3)", "2 trials more than once"),
    ],
)  # fmt: skip
def test_relation_that_no_metric_could_be_computed_of_is_refused(
    cli: Run, tmp_path: Path, query: str, words: str
) -> None:
    done = cli("compute", write(tmp_path / "x.parquet", query))
    assert (done.returncode, done.stdout) == (3, "")
    assert words in done.stderr


def test_magnitudes_too_far_apart_fail_the_metric(cli: Run, tmp_path: Path) -> None:
    query = "select 't' as task, if(range = 1, 1e-30, 1e30) as reward from range(3)"
    done = cli("compute", write(tmp_path / "x.parquet", query), "--format", "json")
    (metric,) = json.loads(done.stdout)["groups"][0]["metrics"]
    assert done.returncode == 1
    assert metric["error"]["rule"] == "beyond-engine"
    assert "magnitudes from 1e-30 to 1e+30" in metric["error"]["message"]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["x.parquet", "--columns", "task=id"], 3, "has no column `id` for task; it has task"),
        (["x.parquet", "lines.jsonl"], 2, "some sources lie on an engine, and some are read"),
        (["none/*.parquet"], 3, "no file is there for none/*.parquet"),
        (["x.parquet", "--engine", "dask"], 2, "there is no engine `dask`"),
        (
            ["x", "--engine", "sc://127.0.0.1:1"],
            3,
            "no server of Spark Connect answers at sc://127",
        ),
        (["lines.jsonl", "--engine", "duckdb"], 3, "lines.jsonl is not Parquet"),
        (["t;ls;.parquet"], 3, "harbor-metrics convert 't;ls;.parquet' -o trials.parquet"),
        (["x.parquet", "--labels", "l.csv"], 2, "joins a file to trials, which stay on the engine"),
        (["x.parquet", "--as", "csv"], 2, "--as names the format of a file"),
        (["x.parquet", "--format", "hub-rows"], 2, "this needs every trial"),
    ],
)
def test_what_is_asked_of_an_engine_in_vain(
    cli: Run, tmp_path: Path, args: list[str], code: int, words: str
) -> None:
    write(tmp_path / "x.parquet", f"select {ROW} from range(3)")
    (tmp_path / "lines.jsonl").write_text('{"reward": 1}\n')
    (tmp_path / "t;ls;.parquet").write_text("no Parquet")
    (tmp_path / "l.csv").write_text("task,kind\nt0,a\n")
    done = cli("compute", *args)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr


def test_columns_of_mixed_types_over_files_are_refused(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", "select 'a' as task, 1.5::double as reward")
    write(tmp_path / "b.parquet", "select 'b' as task, 'good' as reward")
    done = cli("compute", "*.parquet")
    assert done.returncode == 3
    assert "`reward` is DOUBLE in a.parquet and VARCHAR in b.parquet" in done.stderr


def test_integers_beyond_a_column_are_refused_by_convert(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    path.write_text(
        '{"task": "a", "rewards": {"reward": 9007199254740993}}\n'
        '{"task": "b", "rewards": {"reward": 0.5}}\n'
    )
    done = cli("convert", path, "-o", "x.parquet")
    assert done.returncode == 3
    assert "no column of Parquet holds the integers and floats of `reward`" in done.stderr
    assert not (tmp_path / "x.parquet").exists()


def test_rewards_without_any_key_are_refused_by_convert(cli: Run, tmp_path: Path) -> None:
    """They count as 0, and in columns would be missing."""
    (tmp_path / "trials.jsonl").write_text('{"task": "a", "rewards": {}}\n')
    done = cli("convert", "trials.jsonl", "-o", "x.parquet")
    assert done.returncode == 3
    assert "trials have rewards without any key, which count as 0" in done.stderr
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, "1"], '1 and "1", which as texts would be one'),
        (["true", "x", True], '"true" and true, which as texts would be one'),
        ([False, 0], "false and 0, which as texts would be two"),
        ([1.0, "x", True], "1.0 and true, which as texts would be two"),
        ([1, 1.0, "x", None, 2.5, False], None),
        ([1, 1.0, True], "1 and true, which as texts would be two"),
        ([1, 1.0, 2], None),
        ([True, False, None], None),
    ],
)
def test_labels_that_would_be_other_clusters_are_refused_by_convert(
    values: list[Any], words: str | None, cli: Run, tmp_path: Path
) -> None:
    rows = [
        {"task": f"t{i}", "rewards": {"reward": i % 3}, "labels": {"suite": value, "plain": "x"}}
        for i, value in enumerate([value for value in values if value is not None] * 4)
    ]
    path = tmp_path / "trials.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = cli("convert", path, "-o", "x.parquet")
    if words is not None:
        assert (done.returncode, words in done.stderr) == (3, True)
        assert not (tmp_path / "x.parquet").exists()
        return
    metrics = asked(
        "stderr cluster=suite", '{"type": "grouped", "kwargs": {"by": "suite", "metric": "mean"}}'
    )
    found, kept = (
        document(cli("compute", each, *metrics, "--format", "json"))["groups"]
        for each in ("x.parquet", path)
    )
    assert found == kept


@pytest.mark.parametrize(("most", "code"), [(2**53 - 3, 0), (2**53, 0), (2**53 + 1, 1)])
def test_tokens_beyond_what_engines_add_exactly_are_not_rounded(
    most: int, code: int, cli: Run, tmp_path: Path
) -> None:
    query = f"select 't' as task, 1 as reward, unnest([{most}::bigint, 3]) as n_input_tokens"
    path = write(tmp_path / "x.parquet", query)
    done = cli("compute", path, "--only-asked", "--metric", "total-tokens", "--format", "json")
    (group,) = json.loads(done.stdout)["groups"]
    (metric,) = group["metrics"]
    assert done.returncode == code
    if code:
        assert metric["error"]["rule"] == "beyond-engine"
        assert f"have the integer {most}" in metric["error"]["message"]
        assert group["usage"]["n_input_tokens"] is None
    else:
        assert metric["values"] == {"total-tokens": most + 3}
        assert group["usage"]["n_input_tokens"] == most + 3


def test_level_off_asks_for_totals_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import harbor_metrics
    from harbor_metrics.engines import limbs

    path = str(
        write(tmp_path / "x.parquet", "select 't' as task, range / 7 as reward from range(9)")
    )
    kept = harbor_metrics.compute(path).groups[0].metrics[0]

    def never(*_: Any) -> Any:
        raise AssertionError("products were asked for")

    monkeypatch.setattr(limbs, "product", never)
    off = harbor_metrics.compute(path, level=None).groups[0].metrics[0]
    assert (off.values, off.uncertainty) == (kept.values, {})
    assert kept.uncertainty


def test_what_does_not_fit_into_memory_leaves_no_folder_behind(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "x.parquet", f"select {ROW}, 'n' || range as trial from range(3)")
    (tmp_path / "spilled").mkdir()
    done = cli("compute", "x.parquet", env={"TMPDIR": str(tmp_path / "spilled")})
    assert done.returncode == 0
    assert list((tmp_path / "spilled").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"x.parquet", "spilled"}


@pytest.mark.parametrize(
    ("package", "extra", "engine"),
    [("duckdb", "engine", None), ("narwhals", "engine", None), ("pyspark", "spark", "spark")],
)
def test_an_engine_that_is_not_installed_leads_to_its_extra(
    package: str, extra: str, engine: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write(tmp_path / "x.parquet", f"select {ROW} from range(1)"))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=f"{package} is not installed") as caught:
        compute(path, engine=engine)
    assert caught.value.help == f"pip install 'harbor-metrics[{extra}]'"


def test_reward_keys_are_as_they_were(cli: Run, tmp_path: Path) -> None:
    rewards = {"": 0.25, "a.b": 1.0, "a/b": 0.0, "reward": 0.5, "é": 0.1, "e\u0301": 0.2}
    line = {"task": "t", "rewards": rewards}
    (tmp_path / "t.jsonl").write_text(json.dumps(line))
    assert cli("convert", "t.jsonl", "-o", "t.parquet").returncode == 0
    for name in ("t.jsonl", "t.parquet"):
        found = document(cli("compute", name, "--metric", "mean", "--format", "json"))
        assert found["groups"][0]["metrics"][0]["values"] == rewards
    (tmp_path / "t.csv").write_text("task,reward.,reward\nt,0.25,0.5\n")
    found = document(cli("compute", "t.csv", "--metric", "mean", "--format", "json"))
    assert found["groups"][0]["metrics"][0]["values"] == {"": 0.25, "reward": 0.5}


def test_reward_keys_that_differ_in_case_alone_are_refused(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"task": "t", "rewards": {"A": 1, "a": 0}}')
    done = cli("convert", "t.jsonl", "-o", "t.parquet")
    assert done.returncode == 3
    assert "differ in case alone: `reward.A` and `reward.a`" in done.stderr
    assert not (tmp_path / "t.parquet").exists()


SIGNS = ("r[1]", "a*", "q?", "{x,y}", "it's", "back\\s", "b]", "[!c]", "file:d", "k=1")
# What the names would fit, were they patterns.
OTHERS = ("r1", "ab", "qq", "x", "y", "its", "backs", "d", "k")


@pytest.fixture
def named(tmp_path: Path) -> None:
    """A file and a folder of each name; the reward tells which."""
    for i, name in enumerate((*SIGNS, *OTHERS)):
        query = f"select '{i}-' || range as task, {2**i}::double as reward from range(3)"
        write(tmp_path / "plain", query).rename(tmp_path / f"{name}.parquet")
        (tmp_path / name).mkdir()
        # A name in the folder is no pattern, either.
        query = f"select '{i}+' || range as task, {2**i}::double as reward from range(3)"
        write(tmp_path / "plain", query).rename(tmp_path / name / "p[1].parquet")


@pytest.mark.usefixtures("named")
def test_path_that_is_there_is_no_pattern(cli: Run) -> None:
    for i, name in enumerate(SIGNS):
        for path in (f"{name}.parquet", name):
            asked = ("compute", "--metric", "mean", "--engine=duckdb", "--format", "json")
            done = cli(*asked, path)
            if "neither is taken for what is meant" in done.stderr:
                path = f"{path}/" if path == name else escape(path)
                done = cli(*asked, path)
            if path == "back\\s":
                assert "DuckDB takes a backslash" in done.stderr
                continue
            found = document(done)
            (metric,) = found["groups"][0]["metrics"]
            assert (path, metric["values"]["mean"]) == (path, 2**i)
            assert found["sources"][0]["path"] == path


@pytest.mark.cluster
@pytest.mark.usefixtures("named")
def test_nor_is_it_for_spark(cli: Run) -> None:
    pytest.importorskip("pyspark")
    # `file:d` is a protocol to it, whose names have no colon.
    names = [name for name in SIGNS if ":" not in name and "=" not in name]
    paths = [path for name in names for path in (escape(f"{name}.parquet"), f"{name}/")]
    done = cli("compute", *paths, "--metric", "mean", "--engine=spark", "--format", "json")
    (metric,) = document(done)["groups"][0]["metrics"]
    wanted = sum(2 ** SIGNS.index(name) for name in names) / len(names)
    assert metric["values"] == {"mean": wanted}


def test_pattern_is_one_where_nothing_has_its_name(cli: Run, tmp_path: Path) -> None:
    for i in (1, 2):
        write(tmp_path / f"r{i}.parquet", f"select 't{i}' as task, {i} as reward")
    found = document(cli("compute", "r[12].parquet", "--metric", "mean", "--format", "json"))
    assert found["groups"][0]["metrics"][0]["values"] == {"mean": 1.5}


def test_backslash_beside_signs_is_refused(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "plain", "select 't' as task, 1 as reward").rename(tmp_path / "b\\[1].parquet")
    done = cli("compute", "b\\[1].parquet")
    assert done.returncode == 3
    assert "takes a backslash for part of a pattern" in done.stderr


def test_path_on_storage_that_is_there_is_no_pattern() -> None:
    fsspec = pytest.importorskip("fsspec")
    storage = fsspec.filesystem("memory")
    for name, reward in (("r[1]", 0), ("r1", 1)):
        with storage.open(f"/lab/{name}.parquet", "wb") as file:
            file.write(
                written([{"task": "t", "reward": reward}], {"task": "VARCHAR", "reward": "BIGINT"})
            )
    for pattern, value in (("r[[]1]", 0), ("r[1-9]", 1)):
        result = compute(f"memory://lab/{pattern}.parquet", metrics=["mean"])
        assert result.groups[0].metrics[0].values == {"mean": value}
    named = "memory://lab/r[1].parquet"
    with pytest.raises(InputError, match=r"r1\.parquet fits, too: neither is taken"):
        compute(named)
    result = compute(named, "memory://lab/r1.parquet", metrics=["mean"])
    assert result.groups[0].metrics[0].values == {"mean": 0.5}
    storage.rm("/lab/r1.parquet")
    assert compute(named, metrics=["mean"]).groups[0].metrics[0].values == {"mean": 0}


def test_temporary_folder_may_have_signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t[1]").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t[1]"))
    assert written([{"task": "t"}], {"task": "VARCHAR"})[:4] == b"PAR1"


def test_file_that_changes_between_two_questions_is_refused(
    trials: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Asked.unrecorded

    def unrecorded(asked: Asked, *args: Any) -> Any:
        rows = ask(asked, *args)
        trials.with_suffix(".new").write_bytes(trials.read_bytes())
        trials.with_suffix(".new").replace(trials)
        return rows

    monkeypatch.setattr(Asked, "unrecorded", unrecorded)
    with pytest.raises(InputError, match="was changed while it was read"):
        compute(str(trials))


def test_a_metric_of_what_no_trial_has_is_undefined_as_of_rows(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"task": "a", "rewards": {"reward": 1}}\n' * 2)
    assert cli("convert", "rows.jsonl", "-o", "rows.parquet").returncode == 0
    asked = ("--metric", "balanced-accuracy reference=x key=reward", "--missing", "skip")
    of_rows, of_columns = (
        json.loads(cli("compute", path, *asked, "--format", "json").stdout)["groups"][0]["metrics"]
        for path in ("rows.jsonl", "rows.parquet")
    )
    assert of_columns == of_rows
    assert of_rows[-1]["status"] == "undefined"
