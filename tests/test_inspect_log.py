"""Inspect logs: the shapes they have had, what becomes of a score, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from conftest import HERE, Run

from harbor_metrics import InputError, readers
from harbor_metrics.readers.archive import Archive
from harbor_metrics.readers.file import File
from harbor_metrics.trial import Trial

LOGS = HERE / "logs" / "inspect"
Members = dict[str, Any]


def members(name: str) -> Members:
    """The members of a log by name, decoded."""
    path = str(LOGS / f"{name}.eval")
    with Archive(File(path, path)) as archive:
        return {each: json.loads(archive.read(each)) for each in archive.names}


def write(path: Path, content: Members, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, value in content.items():
            archive.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path


def write_zstd(path: Path, content: Members, frames: int) -> Path:
    """As `zipfile` of Python 3.14 and Inspect do, the data of a member in several frames."""
    out = io.BytesIO()
    directory = io.BytesIO()
    for name, value in content.items():
        data = json.dumps(value).encode()
        step = len(data) // frames + 1
        packed = b"".join(zstandard.compress(data[i : i + step]) for i in range(0, len(data), step))
        fields = b"".join(
            number.to_bytes(size, "little")
            for number, size in [
                (63, 2), (0, 2), (93, 2), (0, 4), (zlib.crc32(data), 4), (len(packed), 4),
                (len(data), 4), (len(name.encode()), 2), (0, 2),
            ]
        )  # fmt: skip
        entry = b"PK\1\2" + (63).to_bytes(2, "little") + fields + bytes(10)
        directory.write(entry + out.tell().to_bytes(4, "little") + name.encode())
        out.write(b"PK\3\4" + fields + name.encode() + packed)
    start, index = out.tell(), directory.getvalue()
    out.write(index + b"PK\5\6" + bytes(4) + len(content).to_bytes(2, "little") * 2)
    out.write(len(index).to_bytes(4, "little") + start.to_bytes(4, "little") + bytes(2))
    path.write_bytes(out.getvalue())
    return path


def trials(path: Path, *, whole: bool = False) -> list[Trial]:
    (source,) = readers.read(str(path), whole=whole)
    return list(source.trials)


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


def test_a_group_a_scorer() -> None:
    found = trials(LOGS / "scorers.eval")
    assert {t.dataset for t in found} == {
        "scorers:letters", "scorers:loglikelihood", "scorers:words",
    }  # fmt: skip
    words = [t for t in found if t.dataset == "scorers:words"]
    assert [(t.rewards or {})["words"] for t in words] == [0.0, 0.25, 1.0, 1.0] * 2
    chances = next(t for t in found if t.dataset == "scorers:loglikelihood")
    assert chances.rewards == {"loglikelihood": -1.5, "sum_log_probs": -1.5, "num_tokens": 4}
    assert len({t.id for t in found}) == len(found) == 24


def test_the_order_of_summaries_says_nothing(tmp_path: Path) -> None:
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
    for path, sample in samples.items():
        folder = path.removesuffix(".json")
        chunked[f"{folder}/metadata.json"] = sample["metadata"]
        chunked[f"{folder}/sample.json"] = {**sample, "metadata": {}}
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
        assert trials(shapes[shape], whole=True) == texts, shape
    assert any(t.texts for t in texts)


def test_texts_are_the_samples_own(tmp_path: Path) -> None:
    assert not any(t.texts for t in trials(LOGS / "reducers.eval"))
    found = {t.trial: t for t in trials(LOGS / "reducers.eval", whole=True)}
    assert found["2_epoch_3"].texts == {
        "prediction": "answer 3\n  in lines",
        "reference": ["yes", "y"],
    }


def test_a_running_log(cli: Run, tmp_path: Path) -> None:
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


def test_a_log_that_failed(cli: Run) -> None:
    done = cli("compute", LOGS / "failed.eval")
    assert done.returncode == 0
    assert "ended with status error: ValueError('the sandbox is gone')" in done.stderr


def test_logs_of_a_folder(cli: Run) -> None:
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


def scored(value: str, tmp_path: Path, **more: Any) -> Path:
    """A log of one sample with this score, as text."""
    header = members("unreduced")["header.json"]
    header["results"] = None
    sample = {"id": "s", "epoch": 1, "input": "", "target": "", "metadata": {}, "model_usage": {}}
    sample |= {"scores": {"words": {"value": "HERE"}}, **more}
    text = json.dumps({**header, "samples": [sample]}).replace('"HERE"', value)
    (tmp_path / "x.json").write_text(text)
    return tmp_path / "x.json"


@pytest.mark.parametrize(
    ("value", "rewards"),
    [
        ("1", {"words": 1}),
        ("0.25", {"words": 0.25}),
        ("true", {"words": 1.0}),
        ('"C"', {"words": 1.0}),
        ('"P"', {"words": 0.5}),
        ('"I"', {"words": 0.0}),
        ('"N"', {"words": 0.0}),
        ('"YES"', {"words": 1.0}),
        ('"False"', {"words": 0.0}),
        ('" 7 "', {"words": 7.0}),
        ('"1_000"', {"words": 1000.0}),
        ('"1e3"', {"words": 1000.0}),
        ('"nan"', {"words": 0.0}),
        ('"c"', {"words": 0.0}),
        ('"-inf"', {"words": 0.0}),
        ("NaN", None),
        ("null", None),
        ('{"a": null}', None),
        ('{"a": NaN, "b": "C"}', {"b": 1.0}),
        ('{"a": {"x": 1, "y": [2, 3]}}', {"a/x": 1, "a/y/0": 2, "a/y/1": 3}),
        ("[1, null, true]", {"words/0": 1, "words/2": 1.0}),
    ],
)
def test_conversion(value: str, rewards: dict[str, float] | None, tmp_path: Path) -> None:
    (trial,) = trials(scored(value, tmp_path))
    assert trial.rewards == rewards
    if rewards is None:
        assert trial.labels["inspect/status"] == "unscored"


def test_a_null_that_was_nan_is_unscored_not_zero(cli: Run, tmp_path: Path) -> None:
    """Fault J26."""
    done = cli("compute", scored('{"a": null, "b": 1}', tmp_path), "--format", "json")
    assert done.returncode == 0
    group = json.loads(done.stdout)["groups"][0]
    assert group["metrics"][0]["values"] == {"mean": 1}


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", '{"a": Infinity}', "1e999"])
def test_an_infinite_score_is_an_error_with_its_place(value: str, cli: Run, tmp_path: Path) -> None:
    done = cli("compute", scored(value, tmp_path), "--format", "json")
    assert done.returncode == 1
    assert "sample s_epoch_1: score `" in done.stderr
    assert "` is infinite" in done.stderr


def test_a_text_that_is_no_number_is_said(cli: Run, tmp_path: Path) -> None:
    done = cli("compute", scored('"excellent"', tmp_path))
    assert "1 scores are texts that are no numbers" in done.stderr
    assert '"excellent"' in done.stderr


def test_constants_inside_texts_stay(tmp_path: Path) -> None:
    odd = r"a \"NaN\" in [NaN, Infinity] \\"
    path = scored("0.5", tmp_path, metadata={"note": json.loads(f'"{odd}"')})
    path.write_text(path.read_text().replace('"note": ', '"bare": NaN, "note": '))
    (trial,) = trials(path)
    assert trial.labels["note"] == 'a "NaN" in [NaN, Infinity] \\'
    assert trial.labels["bare"] == "NaN"


def test_half_a_surrogate_pair_is_no_obstacle(cli: Run, tmp_path: Path) -> None:
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


def _encrypted(data: bytes) -> bytes:
    """The flag of every member set."""
    out = bytearray(data)
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = 0
        while (start := out.find(mark, start)) >= 0:
            out[start + at] |= 1
            start += 4
    return bytes(out)


def _with(change: Callable[[Members], None]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        content = members("unreduced")
        change(content)
        write(path, content)

    return make


def _on_bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        write(path, members("unreduced"))
        path.write_bytes(change(path.read_bytes()))

    return make


BAD: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "cut": (_on_bytes(lambda data: data[: len(data) // 2]), ["zip", "inspect log recover"]),
    "tail": (_on_bytes(lambda data: data[:-30]), ["zip"]),
    "encrypted": (_on_bytes(_encrypted), ["member header.json is encrypted"]),
    "other archive": (
        lambda path: write(path, {"a.txt": "x"}) and None,
        ["no Inspect log", "header.json", "_journal/start.json"],
    ),
    "version": (
        _with(lambda m: m["header.json"].update(version=3)),
        ["version 3", "versions 1 to 2", "inspect log convert"],
    ),
    "header is no object": (_with(lambda m: m.update({"header.json": []})), ["header.json"]),
    "header is cut": (
        _with(lambda m: m.update({"header.json": b'{"eval": {"task"'})),
        ["member header.json", "cut off"],
    ),
    "summaries are no list": (
        _with(lambda m: m.update({"summaries.json": {}})),
        ["member summaries.json"],
    ),
    "no eval": (_with(lambda m: m["header.json"].pop("eval") and None), ["`eval`"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_archives(name: str, cli: Run, tmp_path: Path) -> None:
    """Fault J25, and more."""
    make, words = BAD[name]
    make(tmp_path / "x.eval")
    done = cli("compute", "x.eval")
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    for word in ["x.eval", *words]:
        assert word in done.stderr


def test_a_damaged_member(cli: Run, tmp_path: Path) -> None:
    content = members("unreduced")
    path = write(tmp_path / "x.eval", content, zipfile.ZIP_STORED)
    data = path.read_bytes()
    at = data.rindex(json.dumps(content["summaries.json"]).encode())
    path.write_bytes(data[: at + 50] + b"~" + data[at + 51 :])
    done = cli("compute", "x.eval")
    assert done.returncode == 3
    assert "is damaged: its checksum is another" in done.stderr


@pytest.mark.parametrize("frames", [1, 2])
def test_a_damaged_zstd_member(frames: int, cli: Run, tmp_path: Path) -> None:
    content = {"header.json": members("unreduced")["header.json"]}
    path = write_zstd(tmp_path / "x.eval", content, frames)
    data = bytearray(path.read_bytes())
    at = data.index(b"\x28\xb5\x2f\xfd") + 30
    data[at : at + 8] = bytes(8)
    path.write_bytes(data)
    done = cli("compute", "x.eval")
    assert done.returncode == 3
    assert "member header.json is damaged" in done.stderr


def test_an_absurd_member_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.readers.archive.MOST_BYTES", 1 << 20)
    content = members("unreduced")
    content["summaries.json"] = bytes(2 << 20)
    path = write(tmp_path / "x", content)
    with pytest.raises(InputError, match="would unpack to 2,097,152 bytes; the most"):
        readers.read(str(path))


def test_a_member_that_lies_about_its_size(tmp_path: Path) -> None:
    path = write(tmp_path / "x", members("unreduced"))
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"header.json") - 46
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(InputError, match="unpacks to more than it says"):
        readers.read(str(path))


def test_members_that_lead_out_are_not_read(cli: Run, tmp_path: Path) -> None:
    content = {"../../evil.json": {"x": 1}, **members("unreduced")}
    write(tmp_path / "x.eval", content)
    done = cli("compute", "x.eval")
    assert done.returncode == 0
    assert "../../evil.json, which leads out of the archive" in done.stderr
    assert not (tmp_path.parent.parent / "evil.json").exists()


def test_a_sample_without_an_id(cli: Run, tmp_path: Path) -> None:
    done = cli("compute", scored("1", tmp_path, id=None))
    assert done.returncode == 1
    assert "a sample of epoch 1 has no id" in done.stderr


def test_json_cut_in_the_middle(cli: Run, tmp_path: Path) -> None:
    path = scored("1", tmp_path)
    path.write_text(path.read_text()[:-40])
    done = cli("compute", path)
    assert done.returncode == 3
    assert "x.json is no Inspect log: line 1" in done.stderr


def test_numbers_of_a_log_are_data() -> None:
    (source,) = readers.read(str(LOGS / "parts.eval"))
    values = {each.place: each for each in source.reported()}
    mean = values["a1, mean: mean"]
    assert (mean.metric, mean.key, mean.reducer) == ("mean", "a1", "mean")
    assert mean.value is not None
    assert math.isclose(mean.value, 13 / 6)
    low = values["a1, max: ci_lower"]
    assert (low.metric, low.part, low.reducer) == ("ci", "lower", "max")
    assert values["a2, mean: unscored_samples"].value == 2
