"""Parquet on object storage: a server of S3 on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import duckdb
import pytest
from conftest import Run

LACKING = [name for name in ("moto", "s3fs") if find_spec(name) is None]
WHY_NOT = f"no {' and no '.join(LACKING)} here: uv sync --group cluster"
pytestmark = [pytest.mark.cluster, pytest.mark.skipif(bool(LACKING), reason=WHY_NOT)]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What a client needs in its environment to find a bucket `lab` with two files of trials."""
    import s3fs

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    log = tmp_path_factory.mktemp("moto") / "log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        server = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        for _ in range(600):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        files = s3fs.S3FileSystem(
            key="key",
            secret="secret",
            endpoint_url=env["AWS_ENDPOINT_URL"],
            use_listings_cache=False,
        )
        files.mkdir("lab")
        for part in range(2):
            path = log.parent / f"{part}.parquet"
            query = f"select 't' || range as task, range % 2 as reward from range({part}, 9, 2)"
            duckdb.sql(query).write_parquet(str(path))
            files.put(str(path), f"lab/trials/{part}.parquet")
        yield env
    finally:
        server.kill()
        server.wait()


def test_bucket_is_computed_where_it_lies(cli: Run, storage: Any, tmp_path: Any) -> None:
    done = cli("compute", "s3://lab/trials/*.parquet", env=storage)
    assert done.returncode == 0, done.stderr
    query = "select 't' || range as task, range % 2 as reward from range(9)"
    duckdb.sql(query).write_parquet(str(tmp_path / "same.parquet"))
    assert done.stdout == cli("compute", "same.parquet").stdout


@pytest.mark.parametrize(
    ("source", "env", "words"),
    [
        ("s3://lab/none/*.parquet", {}, "cannot be read"),
        ("s3://else/x.parquet", {}, "s3://else/x.parquet cannot be read"),
        ("s3://lab/trials/*.parquet", {"AWS_ACCESS_KEY_ID": ""}, "credentials"),
        ("gs://lab/trials/*.parquet", {}, "gs:// cannot be read"),
        ("nowhere://lab/x.parquet", {}, "nowhere:// cannot be read"),
    ],
)
def test_storage_that_gives_nothing_is_said(
    cli: Run, storage: Any, source: str, env: dict[str, str], words: str
) -> None:
    given = {**storage, **env}
    if not given["AWS_ACCESS_KEY_ID"]:
        # Nor from a file, nor from the machine.
        given |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
        given |= {"AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true"}
    done = cli("compute", source, env=given)
    assert (done.returncode, done.stdout) == (3, "")
    assert words in done.stderr
