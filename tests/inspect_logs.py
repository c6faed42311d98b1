"""Inspect logs: those of tests/logs taken apart, and others written by hand."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

from backports import zstd
from conftest import HERE

from harbor_metrics import readers
from harbor_metrics.readers.files.archive import Archive
from harbor_metrics.readers.files.file import File
from harbor_metrics.trials.trial import Trial

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
        packed = b"".join(zstd.compress(data[i : i + step]) for i in range(0, len(data), step))
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


def trials(path: Path, *, with_texts: bool = False) -> list[Trial]:
    (source,) = readers.read(str(path), with_texts=with_texts)
    return list(source.trials)


def scored(value: str, tmp_path: Path, **more: Any) -> Path:
    """A log of one sample with this score, as text."""
    header = members("unreduced")["header.json"]
    header["results"] = None
    sample = {"id": "s", "epoch": 1, "input": "", "target": "", "metadata": {}, "model_usage": {}}
    sample |= {"scores": {"words": {"value": "HERE"}}, **more}
    text = json.dumps({**header, "samples": [sample]}).replace('"HERE"', value)
    (tmp_path / "x.json").write_text(text)
    return tmp_path / "x.json"


def sample(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": name, "epoch": 1, "input": "q", "target": "x", "metadata": {}, "model_usage": {},
        "scores": {"num": {"value": value}}, **more,
    }  # fmt: skip


def metric(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "params": {}, **more}


def log(samples: list[dict[str, Any]], *metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A log in one document, the numbers of its scorer `num` as they are given."""
    named: dict[str, Any] = {}
    for each in metrics:
        again = sum(each["name"] == other["name"] for other in named.values())
        named[f"{each['name']}{again + 1}" if again else each["name"]] = each
    row = {"name": "num", "scorer": "num", "metrics": named}
    results = {"total_samples": len(samples), "completed_samples": len(samples), "scores": [row]}
    return {
        "version": 2, "status": "success", "plan": {"steps": [{"solver": "s"}]},
        "eval": {"task": "t", "model": "m", "eval_id": "e", "dataset": {"samples": len(samples)}},
        "results": results, "samples": samples, **more,
    }  # fmt: skip


def archived(document: dict[str, Any], summaries: list[dict[str, Any]]) -> Members:
    header = {k: v for k, v in document.items() if k != "samples"}
    whole = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in document["samples"]}
    return {"header.json": header, **whole, "summaries.json": summaries}
