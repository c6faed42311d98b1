"""Parquet on object storage: a server of S3 on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import Run

LACKING = [name for name in ("moto", "s3fs") if find_spec(name) is None]
WHY_NOT = f"no {' and no '.join(LACKING)} here: uv sync --group cluster"


def against_a_server(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.cluster(pytest.mark.skipif(bool(LACKING), reason=WHY_NOT)(test))


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


@against_a_server
def test_bucket_is_computed_where_it_lies(cli: Run, storage: Any, tmp_path: Any) -> None:
    done = cli("compute", "s3://lab/trials/*.parquet", env=storage)
    assert done.returncode == 0, done.stderr
    query = "select 't' || range as task, range % 2 as reward from range(9)"
    duckdb.sql(query).write_parquet(str(tmp_path / "same.parquet"))
    assert done.stdout == cli("compute", "same.parquet").stdout


@against_a_server
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


@pytest.mark.parametrize(
    ("env", "refused"),
    [
        ({}, ""),
        ({"HOME": "{work}"}, "HOME"),
        ({"HOME": "{work}/deep"}, "HOME"),
        ({"FSSPEC_CONFIG_DIR": "{work}/fsspec"}, "FSSPEC_CONFIG_DIR"),
        ({"FSSPEC_CONFIG_DIR": "~/fsspec"}, "FSSPEC_CONFIG_DIR"),
        ({"FSSPEC_CONFIG_DIR": "fsspec"}, "FSSPEC_CONFIG_DIR"),
        ({"AWS_CONFIG_FILE": "~/.aws/other"}, ""),
        ({"AWS_CONFIG_FILE": "$WORK/config", "WORK": "{work}"}, "AWS_CONFIG_FILE"),
        ({"AWS_SHARED_CREDENTIALS_FILE": "{work}/keys"}, "AWS_SHARED_CREDENTIALS_FILE"),
        ({"AWS_DATA_PATH": "/usr/share/aws:{work}/models"}, "AWS_DATA_PATH"),
        ({"BOTO_CONFIG": "{link}"}, "BOTO_CONFIG"),
        ({"OPENSSL_CONF": "{work}/openssl.cnf"}, ""),  # Not used at all: `__main__`
        ({"SSL_CERT_FILE": "{work}/ca.pem", "AWS_WEB_IDENTITY_TOKEN_FILE": "{work}/token"}, ""),
    ],
)
def test_settings_of_storage_that_may_have_come_with_the_work_are_not_believed(
    env: dict[str, str], refused: str, cli: Run, tmp_path: Path
) -> None:
    """They say which host gets the credentials, and which program is run for them."""
    work = tmp_path / "work"
    for folder in (work / ".git", work / "deep", tmp_path / "home", tmp_path / "here"):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(work / "boto.cfg")
    given = {
        name: value.format(work=work, link=tmp_path / "link")
        for name, value in ({"HOME": str(tmp_path / "home")} | env).items()
    }
    # Nothing answers there, and nobody is asked: no credentials.
    given |= {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_EC2_METADATA_DISABLED": "true"}
    done = cli("compute", "s3://lab/x.parquet", env=given, cwd=tmp_path / "here")
    assert (done.returncode, done.stdout) == (3, "")
    assert (f"its settings would come from {refused} (" in done.stderr) == bool(refused)
    assert f"set {refused} to a place outside" in done.stderr or not refused
