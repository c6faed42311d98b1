"""Who may log in nowhere is told no password of the user's, and none is printed."""

from __future__ import annotations

import functools
import os
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import Run
from listener import listening
from metric_scripts import HEAD, linux, metric, wheel_with_a_start_file
from printed import outcomes as printed_outcomes

from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.supervisor import KEPT
from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.documents.wording import first_line, last_lines
from harbor_metrics.errors import MetricFailure
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.passwords import (
    environ_without_passwords,
    whole_lines,
    with_passwords,
    without,
    without_our_passwords,
)
from harbor_metrics.scripts.steps import Work
from harbor_metrics.scripts.variables import OF_PYTHONS

PROXIES = {
    "http://user:hunter2@proxy:3128": "http://proxy:3128",
    "user:hunter2@proxy:3128": "proxy:3128",
    "socks5h://user:hunter2@proxy": "socks5h://proxy",
    " HTTP://hunter2@proxy/ ": "HTTP://proxy/",
    "http://proxy:3128": "http://proxy:3128",
    # Not everybody finds the same host in these.
    "http://user:hunter2@more@proxy": "",
    "http://user:hunter2/x@proxy": "",
    "http:user:hunter2@proxy": "proxy",
    "http:/user:hunter2@proxy": "",
    "http:\\\\user:hunter2@proxy": "",
    "user:hun?hunter2@proxy": "",
    "user:h unter2 hunter2@proxy": "proxy",
}


@pytest.mark.parametrize("name", ["HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("value", PROXIES)
def test_a_proxy_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    if PROXIES[value]:
        assert environ_without_passwords(str(tmp_path))[name] == PROXIES[value]
        return
    # Without it uv would go past the proxy.
    with pytest.raises(MetricFailure, match=f"{name} holds an address") as raised:
        environ_without_passwords(str(tmp_path))
    assert "hunter2" not in str(raised.value)


def test_indexes_are_told_without_their_passwords(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, two = "corp=https://me:hunter2@a.example/x", "https://hunter2@b.example/y?token=hunter2"
    monkeypatch.setenv("UV_INDEX", f"{one}\n{two} ./wheels")
    monkeypatch.setenv("UV_FIND_LINKS", "https://me:hunter2@a.example/x,/opt/my wheels")
    monkeypatch.setenv("UV_INDEX_CORP_PASSWORD", "hunter2")
    env = environ_without_passwords(str(tmp_path))
    assert env["UV_INDEX"] == "corp=https://a.example/x https://b.example/y ./wheels"
    assert env["UV_FIND_LINKS"] == "https://a.example/x,/opt/my wheels"
    assert "hunter2" not in repr(env)


@pytest.mark.parametrize("address", ["https://me:hun@ter2@a.example/x", "https://c.example/@x/y"])
def test_an_index_that_may_hold_a_login_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    """uv would ask the next one, or that of everybody."""
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    with pytest.raises(MetricFailure, match="UV_DEFAULT_INDEX holds an address"):
        environ_without_passwords(str(tmp_path))


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_a_login_with_a_space_is_one(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(name, "http://me:hunter2 x@a.example/simple")
    assert environ_without_passwords(str(tmp_path))[name] == "http://a.example/simple"
    assert b"hunter2" not in without_our_passwords(b"error: http://me:hunter2 x@a.example\n")


@pytest.mark.parametrize("value", PROXIES)
def test_what_uv_says_shows_no_password(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    monkeypatch.setenv("UV_INDEX_CORP_PASSWORD", "p%40rola")
    monkeypatch.setenv("UV_INDEX", "https://me:s3cr%65t@a.example")
    said = f"error: {value.strip()} and p%40rola, p@rola, s3cr%65t, s3cret, a.example\n".encode()
    with Workplace() as place:
        work = Work.of(place, ScriptOptions())
        message = str(work.failure(Finished(1, b"", said, False, 1.0), {}))
    assert "a.example" in message
    for secret in ("hunter2", "rola", "s3cr"):
        assert secret not in message


@pytest.mark.parametrize(
    "index",
    [
        *("https://a.example/tOkEn/org/simple/", "corp=https://me:hunter2@a.example/tOkEn/simple"),
        "https://a.example/simple?a=tOkEn",
    ],
)
def test_what_uv_says_shows_no_path_of_an_index(
    monkeypatch: pytest.MonkeyPatch, index: str
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", index)
    said = f"Failed to fetch: {index.partition('=')[2] if index[0] == 'c' else index}x/\n".encode()
    with Workplace() as place:
        work = Work.of(place, ScriptOptions())
        message = str(work.failure(Finished(1, b"", said, False, 1.0), {}))
    assert "a.example/" in message
    assert "tOkEn" not in message


def test_what_uv_makes_of_the_address_of_an_index_shows_no_part_of_its_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A package depends on `x @ ${UV_DEFAULT_INDEX}/../x.whl`."""
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://a.example/tOkEn_01.2345678/simple")
    said = b"add `x @ https://a.example/tOkEn_01.2345678/x.whl`, not token-01-2345678\n"
    assert without_our_passwords(said) == b"add `x @ https://a.example/***/x.whl`, not ***\n"


def test_a_line_is_cut_where_no_password_is() -> None:
    said = "x" * 270 + " https://me:hunter2" + "y" * 90 + "@a.example"
    assert "hunter2" not in last_lines(said.encode())


@pytest.mark.parametrize("n", [2_960, 2_968, 2_980, 60_000])
def test_a_line_is_cut_where_no_password_is_however_much_of_it_is_hidden(n: int) -> None:
    said = f"a://{'b' * n}@x https://me:hunter2@a.example"
    assert "hunter" not in last_lines(said.encode())
    assert "hunter" not in first_line(f"{'x' * 60} {said[n + 7 :]}".encode())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("UV_INDEX_CORP_PASSWORD", "x"), ("UV_INDEX_CORP_USERNAME", "tOkEn")),
        *(("UV_DEFAULT_INDEX", "corp=https://tOkEn@a.example/x"), ("UV_FIND_LINKS", "/x,/@")),
        *(("HTTPS_PROXY", "me:hunter2@proxy:3128"), ("UV_INDEX", "https://a.example/?x=tOkEn")),
        ("UV_PYTHON_INSTALL_MIRROR", "https://me:hunter2@a.example"),
    ],
)
def test_a_variable_with_a_login_tells_a_password(name: str, value: str) -> None:
    assert with_passwords({name: value}) == [name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("PATH", "/opt/python@3.11/bin"), ("UV_DEFAULT_INDEX", "https://a.example/whl/cpu")),
        *(("UV_INDEX_CORP_PASSWORD", ""), ("HTTP_PROXY", "http://proxy:3128")),
    ],
)
def test_a_variable_without_a_login_tells_no_password(name: str, value: str) -> None:
    assert with_passwords({name: value}) == []


def test_a_secret_is_found_in_whatever_letters_an_address_has_it() -> None:
    said = b"a b/C-1; A B%2fc%2D1; %61%20b%2Fc-1; a%2520b%252Fc-1"
    for secret in ("a b/C-1", "a%20b%2FC-1"):
        assert without({secret}, said) == b"***; ***; ***; ***"


def test_of_a_line_whose_beginning_is_not_known_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UV_INDEX_CORP_PASSWORD", "hunter2")
    said = (b"ter2 is wrong\n" + b"x" * KEPT)[:KEPT]
    assert b"ter2" not in without_our_passwords(said)
    assert whole_lines(said[:-1]) == said[:-1]


@linux
@pytest.mark.usefixtures("own_caches")
@pytest.mark.parametrize(
    "address",
    [
        "https://${SECRET}.a.example/x-1-py3-none-any.whl",
        *("https://a.example/${SECRET}", "${SECRET}"),
    ],
)
def test_what_uv_says_is_not_shown_where_a_package_could_have_a_password_printed(
    cli: Run, tmp_path: Path, address: str
) -> None:
    """The package of an index names a variable, which uv puts into the address and prints."""
    place = tmp_path / "simple" / "eager"
    place.mkdir(parents=True)
    wants = address.replace("SECRET", "UV_INDEX_CORP_PASSWORD")
    wheel_with_a_start_file(place, "", wants=f"Requires-Dist: x @ {wants}\n")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    (tmp_path / "m.py").write_text(f"# /// script\n# dependencies = ['eager']\n# ///\n{HEAD}")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        env = {
            "UV_DEFAULT_INDEX": f"http://127.0.0.1:{server.server_port}/simple",
            "UV_INDEX_CORP_PASSWORD": "Hunter-2#more",
            "UV_INDEX": "",
            "UV_OFFLINE": "0",
            "NO_PROXY": "127.0.0.1",
            "UV_HTTP_RETRIES": "0",
        }
        try:
            done = cli(
                *("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json"), env=env
            )
        finally:
            server.shutdown()
    message = printed_outcomes(done)[-1]["error"]["message"]
    assert "hunter" not in done.stdout.lower()
    assert "since UV_INDEX_CORP_PASSWORD told it passwords" in message
    # Else uv runs what a stranger's folder has as `.venv/bin/python`.
    command = "uv lock --no-config --dry-run --no-build --script m.py --python "
    assert os.access(message.partition(command)[2].split()[0], os.X_OK)


@linux
@pytest.mark.usefixtures("own_caches")
def test_no_password_becomes_part_of_an_address_that_a_package_names(
    cli: Run, tmp_path: Path
) -> None:
    """uv follows the address in a package that a script has from an address of its own."""
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, listening() as (port, heard):
        threading.Thread(target=server.serve_forever).start()
        parts = "${UV_INDEX_CORP_PASSWORD}/${UV_INDEX}/${HTTPS_PROXY}"
        wants = f"Requires-Dist: x @ http://127.0.0.1:{port}/{parts}/x-1-py3-none-any.whl\n"
        wheel_with_a_start_file(tmp_path, "", wants=wants)
        wheel = f"eager @ http://127.0.0.1:{server.server_port}/eager-1-py3-none-any.whl"
        (tmp_path / "m.py").write_text(f"# /// script\n# dependencies = ['{wheel}']\n# ///\n")
        env = {
            "UV_INDEX": "http://me:hunter2@127.0.0.1:1/simple",
            "UV_INDEX_CORP_PASSWORD": "hunter2",
            "HTTPS_PROXY": "http://me:hunter2@127.0.0.1:1",
            "UV_OFFLINE": "0",
            "NO_PROXY": "127.0.0.1",
            "UV_HTTP_RETRIES": "0",
        }
        command = ("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json")
        try:
            done = cli(*command, "--allow-network", env=env)
        finally:
            server.shutdown()
    assert heard, done.stdout
    assert not any(b"hunter2" in request for request in heard)
    assert "hunter2" not in done.stdout


@pytest.mark.parametrize("name", OF_PYTHONS)
def test_the_token_in_the_path_of_a_mirror_is_not_printed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "https://mirror.example/Token-0123456789/pythons")
    said = b"error: https://mirror.example/token-0123456789/pythons/3.12.tar.gz: 404"
    assert b"0123456789" not in without_our_passwords(said)
