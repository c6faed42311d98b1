"""uv asks the addresses that the user has set; a script's own with the network, and no password."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
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
from harbor_metrics.scripts.addresses import lead_elsewhere, read_lock

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
]
AT_HOME = [
    'dependencies = ["x @ file:///me/metrics/x-1-py3-none-any.whl#sha256=%s"]' % ("0" * 64),
    "dependencies = []",
    'dependencies = ["numpy>=1,<3; python_version>=\'3.8\'", "x[y]~=1.0"]',
    'dependencies = ["x"]\n[tool.uv.sources]\nx = {path = "x-1-py3-none-any.whl"}',
    'dependencies = ["x"]\n[tool.uv]\nexclude-newer = "2026-01-01T00:00:00Z"\nprerelease = "allow"',
    'dependencies = ["x"]\n[tool.uv.sources]\nx = {index = "mine"}',
    'dependencies = ["x"]\n[[tool.uv.index]]\nurl = "https://packages.mine.example/simple"',
    'dependencies = ["x"]\n[tool.other]\nurl = "https://evil.example"',
]
LOCK = """version = 1
[[package]]
name = "x"
source = {0}
wheels = [{{ url = "https://evil.example/x-1-py3-none-any.whl" }}]
"""
EAGER = """\
# /// script
# dependencies = ["eager"]
# [tool.uv.sources]
# eager = {path = "eager-1-py3-none-any.whl"}
# ///
"""
MINE = "https://me:password@packages.mine.example/simple"


def elsewhere(text: str, *, allow_network: bool = False, lock: str | None = None) -> bool:
    given = None if lock is None else lock.encode()
    wants = tomllib.loads(text)
    return lead_elsewhere(
        wants, read_lock(given), folder="/me/metrics", allow_network=allow_network
    )


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


@pytest.mark.parametrize("text", AT_HOME)
def test_what_the_user_has_set_needs_nothing(text: str) -> None:
    assert not elsewhere(text)


@pytest.mark.parametrize("text", ["https://evil.example/${UV_INDEX_CORP_PASSWORD}", "$HOME/x.whl"])
def test_no_variable_becomes_part_of_an_address(text: str) -> None:
    for allow_network in (False, True):
        with pytest.raises(MetricFailure, match="variable"):
            elsewhere(f'dependencies = ["x @ {text}"]', allow_network=allow_network)


@pytest.mark.parametrize(
    ("source", "foreign"),
    [
        ('{ registry = "https://evil.example/simple" }', False),
        ('{ path = "x-1-py3-none-any.whl" }', True),
        ('{ registry = "https://evil.example/simple", url = "https://evil.example" }', True),
        ('{ url = "https://evil.example/x-1-py3-none-any.whl" }', True),
        ('{ git = "git@evil.example:x" }', True),
        ('"registry"', True),
    ],
)
def test_a_lock_leads_elsewhere_but_for_packages_of_an_index(source: str, foreign: bool) -> None:
    assert elsewhere("", allow_network=True, lock=LOCK.format(source)) == foreign


def test_an_index_that_a_lock_requires_by_itself_leads_elsewhere() -> None:
    lock = '[manifest]\nrequirements = [{ name = "x", index = "https://evil.example/simple" }]\n'
    assert elsewhere("", allow_network=True, lock=lock)


@pytest.mark.parametrize(
    "lock",
    [
        # TOML 1.1, which uv reads.
        'escape = "\\e"',
        "table = {\n a = 1,\n}",
        "version = ",
        # Each would be a line of its own where uv writes what is to be installed.
        LOCK.format('{ path = "x\\n-r other.txt\\ny/x-1-py3-none-any.whl" }'),
        LOCK.format('{ path = "x\\r--index-url=other" }'),
        LOCK.format('{ path = "x\\u2028--index-url=other" }'),
        LOCK.format('{ path = "${UV_INDEX_CORP_PASSWORD}/x-1-py3-none-any.whl" }'),
        LOCK.format('{ registry = "x" }') + "marker = \"sys_platform == 'a\\n-r other'\"",
        LOCK.format('{ registry = "x" }') + "marker = \"sys_platform == ' #'\"",
    ],
)
def test_a_lock_that_uv_may_read_otherwise_is_refused(lock: str) -> None:
    with pytest.raises(MetricFailure, match="uv lock --script"):
        elsewhere("", allow_network=True, lock=lock)


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
