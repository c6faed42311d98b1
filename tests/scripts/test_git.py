"""Scripts in a repository, which the tests make on disk."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import threading
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, trial, write_job
from metric_scripts import HEAD, linux, metric, registry_of

import harbor_metrics
from harbor_metrics.scripts import cache, git_program
from harbor_metrics.scripts.git_home import Home
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.variables import LOCALE

pytestmark = pytest.mark.one_python


class TestGit:
    """Scripts in a repository, which the test makes on disk."""

    @pytest.fixture
    def repository(self, tmp_path: Path) -> tuple[Path, str]:
        """A repository with a script, things beside and elsewhere, and its only commit."""
        path = tmp_path / "repository"
        folder = path / "metrics" / "of it"
        (folder / "data").mkdir(parents=True)
        text = HEAD + "here = os.environ['HARBOR_METRICS_SCRIPT_DIR']\n"
        text += "answer(v=int(open(here + '/data/v.txt').read()), n=len(os.listdir(here)))\n"
        (folder / "m.py").write_text(text)
        (folder / "data" / "v.txt").write_bytes(b"5\r\n")
        (folder / "link.py").symlink_to("/etc/passwd")
        (path / "large.bin").write_bytes(b"x" * 1000)
        (path / ".gitattributes").write_text("* filter=evil ident\n")
        command = ["git", "-C", str(path), "-c", "user.name=n", "-c", "user.email=e"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
            subprocess.run([*command, *arguments], check=True, capture_output=True)
        head = subprocess.run([*command, "rev-parse", "HEAD"], capture_output=True, text=True)
        return path, head.stdout.strip()

    @staticmethod
    def compute(
        folder: Path,
        url: str,
        commit: str,
        path: str = "metrics/of it/m.py",
        *,
        by_job: bool = False,
        **more: Any,
    ):
        kwargs = {"git_url": url, "git_commit_id": commit, "script_path": path}
        registry = registry_of(folder, {"type": "mean"}, {"type": "uv-script", "kwargs": kwargs})
        (folder / "r.jsonl").write_text('{"reward": 1.0}\n')
        source, given = folder / "r.jsonl", (registry,)
        if by_job:
            named = {"name": "d", "version": "1", "registry_path": "registry.json"}
            one = trial("a", {"reward": 1.0}, source="d")
            source, given = write_job(folder / "job", [one], datasets=[named]), ()
        result = harbor_metrics.compute(source, registry=given, scripts=ScriptOptions(**more))
        mean, one = result.groups[0].metrics
        assert mean.values == {"mean": 1.0}
        return one

    def test_script_runs_from_that_commit_with_its_folder_alone(
        self, repository: tuple[Path, str], tmp_path: Path
    ) -> None:
        path, commit = repository
        one = self.compute(tmp_path, f"file://{path}", commit, allow_outside=True)
        assert one.values == {"v": 5, "n": 3}, one.error
        (kept,) = (Path(os.environ["XDG_CACHE_HOME"]) / "harbor-metrics" / "git").iterdir()
        files = {str(p.relative_to(kept)) for p in kept.rglob("*") if not p.is_dir()}
        here = "tree/metrics/of it"
        assert files == {f"{here}/m.py", f"{here}/data/v.txt", f"{here}/link.py"}
        assert (kept / here / "data" / "v.txt").read_bytes() == b"5\r\n"
        assert not (kept / here / "link.py").is_symlink()
        shutil.rmtree(path)
        again = self.compute(tmp_path, f"file://{path}", commit.upper(), allow_outside=True)
        assert again.values == one.values

    @pytest.mark.parametrize(
        ("url", "commit", "path", "words"),
        [
            ("file:///nowhere", "1" * 40, "m.py", "--allow-outside"),
            ("/nowhere", "1" * 40, "m.py", "--allow-outside"),
            ("ext::sh -c id", "1" * 40, "m.py", "no address"),
            ("--upload-pack=id", "1" * 40, "m.py", "no address"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "m.py", "could not be fetched"),
            ("https://127.0.0.1:9/x.git", "main", "m.py", "full commit"),
            ("https://127.0.0.1:9/x.git", "1" * 7, "m.py", "full commit"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "../m.py", "out of the repository"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "/etc/m.py", "out of the repository"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "a\n!/b\n/m.py", "out of the repository"),
            ("https://127.0.0.1:9/x.git", "1" * 40, ".git/config", "out of the repository"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "conf/.env", "is hidden, or does not end"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "secrets.yaml", "is hidden, or does not end"),
            ("https://127.0.0.1:9/x.git", "1" * 40, ".conf/m.py", "is hidden, or does not end"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "./m.py", "could not be fetched"),
        ],
    )
    def test_wrong_address_commit_or_path_is_refused(
        self, url: str, commit: str, path: str, words: str, tmp_path: Path
    ) -> None:
        one = self.compute(tmp_path, url, commit, path)
        assert one.status == "failed"
        assert words in one.error.message

    def test_script_or_commit_that_the_repository_lacks_is_reported(
        self, repository: tuple[Path, str], tmp_path: Path
    ) -> None:
        path, commit = repository
        one = self.compute(tmp_path, str(path), commit, "gone.py", allow_outside=True)
        assert "there is no script gone.py" in one.error.message
        one = self.compute(tmp_path, str(path), "1" * 40, allow_outside=True)
        assert "could not be fetched" in one.error.message

    @pytest.mark.parametrize("kind", ["tags", "heads"])
    @pytest.mark.parametrize("digits", [40, 64])
    def test_a_name_that_looks_like_a_commit_is_none(
        self,
        kind: str,
        digits: int,
        repository: tuple[Path, str],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        path, commit = repository
        name = "ab" * (digits // 2)
        refs = path / ".git" / "refs" / kind
        refs.mkdir(parents=True, exist_ok=True)
        (refs / name).write_text(f"{commit}\n")
        monkeypatch.setenv("HOME", str(tmp_path))
        settings = f'[remote "origin"]\n\tfetch = +refs/{kind}/*:refs/{kind}/*\n'
        (tmp_path / ".gitconfig").write_text(settings)
        one = self.compute(tmp_path, str(path), name, allow_outside=True)
        assert one.error.rule == "script-git"

    def test_a_commit_of_sha256_is_fetched(self, tmp_path: Path) -> None:
        path = tmp_path / "repository"
        command = ["git", "-C", str(path), "-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "init", "-q", "--object-format=sha256", str(path)], check=True)
        (path / "m.py").write_text(f"{HEAD}answer(v=1)\n")
        for arguments in (["add", "-A"], ["commit", "-qm", "first"]):
            subprocess.run([*command, *arguments], check=True, capture_output=True)
        head = subprocess.run([*command, "rev-parse", "HEAD"], capture_output=True, text=True)
        commit = head.stdout.strip().upper()
        one = self.compute(tmp_path, str(path), commit, "m.py", allow_outside=True)
        assert one.values == {"v": 1}

    def test_git_is_needed_and_a_cache_is_not(
        self, repository: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, commit = repository
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nope")
        one = self.compute(tmp_path, str(path), commit, allow_outside=True)
        assert one.values == {"v": 5, "n": 3}
        monkeypatch.setenv("PATH", "/nowhere")
        one = self.compute(tmp_path, str(path), commit, allow_outside=True)
        assert "install git" in one.error.message


def test_a_password_in_an_address_is_not_printed(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    url = "https://user:hunter2@localhost:1/x"
    more = {"git_url": url, "git_commit_id": "a" * 40}
    done = cli("compute", "r.jsonl", "--metric", metric("m.py", **more))
    assert "https://***@localhost:1/x could not be fetched" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr


class TestLimits:
    """git is a program that a stranger's repository has to do with."""

    @pytest.fixture
    def bomb(self, tmp_path: Path) -> tuple[str, str]:
        """A repository of a few objects and a million paths."""
        path = tmp_path / "bomb"
        git = ["git", "-C", str(path), "-c", "user.name=n", "-c", "user.email=e"]

        def run(*arguments: str, text: str = "") -> str:
            done = subprocess.run([*git, *arguments], input=text, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            return done.stdout.strip()

        path.mkdir()
        run("init", "-q")
        blob = run("hash-object", "-w", "--stdin", text="x")
        tree = run("mktree", text="".join(f"100644 blob {blob}\t{i}\n" for i in range(10)))
        for _ in range(5):
            tree = run("mktree", text="".join(f"040000 tree {tree}\t{i}\n" for i in range(10)))
        script = run("hash-object", "-w", "--stdin", text=HEAD + "answer(v=1)")
        tree = run("mktree", text=f"040000 tree {tree}\td\n100644 blob {script}\tm.py\n")
        commit = run("commit-tree", tree, "-m", "bomb")
        run("update-ref", "refs/heads/main", commit)
        return f"file://{path}", commit

    def test_a_repository_of_endless_paths_is_not_checked_out(
        self, bomb: tuple[str, str], tmp_path: Path
    ) -> None:
        one = TestGit.compute(tmp_path, *bomb, "m.py", allow_outside=True)
        assert one.status == "failed"
        assert "could not be fetched: git was ended for" in one.error.message
        assert os.listdir(Path(os.environ["XDG_CACHE_HOME"]) / "harbor-metrics" / "git") == []


class TestVerification:
    """What was fetched is what runs, and what was being fetched does not stay."""

    repository = TestGit.repository

    def test_a_changed_repository_is_fetched_again(
        self, repository: tuple[Path, str], tmp_path: Path
    ) -> None:
        path, commit = repository
        fetched = TestGit.compute(tmp_path, f"file://{path}", commit, allow_outside=True)
        (kept,) = (Path(os.environ["XDG_CACHE_HOME"]) / "harbor-metrics" / "git").iterdir()
        here = kept / "tree" / "metrics" / "of it"
        for change in (
            lambda: (here / "m.py").write_text(HEAD + "answer(v=666)"),
            lambda: (here / "data" / "v.txt").write_text("6"),
            lambda: (here / "more.py").write_text(""),
            lambda: (here / "link.py").unlink(),
        ):
            change()
            again = TestGit.compute(tmp_path, f"file://{path}", commit, allow_outside=True)
            assert again.values == fetched.values == {"v": 5, "n": 3}

    @linux
    def test_a_repository_with_a_name_that_is_no_text_runs(
        self, repository: tuple[Path, str], tmp_path: Path
    ) -> None:
        path, _ = repository
        (path / "metrics" / "of it" / os.fsdecode(b"\xff")).write_text("")
        command = ["git", "-C", str(path), "-c", "user.name=n", "-c", "user.email=e"]
        for arguments in (["add", "-A"], ["commit", "-qm", "second"]):
            subprocess.run([*command, *arguments], check=True, capture_output=True)
        head = subprocess.run([*command, "rev-parse", "HEAD"], capture_output=True, text=True)
        for _ in range(2):
            one = TestGit.compute(
                tmp_path, f"file://{path}", head.stdout.strip(), allow_outside=True
            )
            assert one.values == {"v": 5, "n": 4}

    def test_a_changed_repository_stays_while_somebody_runs_it(
        self, repository: tuple[Path, str], tmp_path: Path
    ) -> None:
        path, commit = repository
        there = (tmp_path, f"file://{path}", commit)
        fetched = TestGit.compute(*there, allow_outside=True)
        (kept,) = (Path(os.environ["XDG_CACHE_HOME"]) / "harbor-metrics" / "git").iterdir()
        held: dict[str, int] = {}
        assert cache.hold(str(kept), held)
        odd = kept / "tree" / "metrics" / "of it" / "more.py"
        odd.write_text("")
        assert TestGit.compute(*there, allow_outside=True).values == fetched.values
        assert odd.exists()
        cache.release(str(kept), held)
        assert TestGit.compute(*there, allow_outside=True).values == fetched.values
        assert not odd.exists()

    def test_what_a_killed_run_was_fetching_goes(
        self, repository: tuple[Path, str], tmp_path: Path
    ) -> None:
        path, commit = repository
        folder = Path(os.environ["XDG_CACHE_HOME"]) / "harbor-metrics" / "git"
        (folder / "half.1234.tmp" / "tree").mkdir(parents=True)
        one = TestGit.compute(tmp_path, f"file://{path}", commit, allow_outside=True)
        assert one.values == {"v": 5, "n": 3}
        assert [entry.name for entry in folder.iterdir()] != []
        assert not list(folder.glob("*.tmp"))


def test_a_result_holds_no_password_and_no_token(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    (tmp_path / "s.jsonl").write_text('{"reward": 0.0}\n')
    for url in (
        "https://user:hunter2@localhost:1/x",
        "https://hunter2@localhost:1/x",
        "https://localhost:1/x?access_token=hunter2&b=1",
        "ssh://git:hunter2@localhost:1/x",
        "file://user:hunter2@localhost/x",
    ):
        more = {"git_url": url, "git_commit_id": "a" * 40}
        one = metric("m.py", **more)
        registry_of(tmp_path, {"type": "uv-script", "kwargs": {"script_path": "m.py", **more}})
        for arguments in (
            ("compute", "r.jsonl", "--metric", one, "--format", "json", "-o", "out.json"),
            ("compute", "r.jsonl", "--metric", one, "--dry-run"),
            ("compute", "r.jsonl", "--registry", "registry.json"),
            ("validate", "registry.json"),
            ("remove", "registry.json", "d", "uv-script"),
            *(
                ("compare", "r.jsonl", "s.jsonl", "--metric", one, "--format", form, "-o", "c.json")
                for form in ("json", "csv", "markdown", "table")
            ),
            ("audit", "r.jsonl", "--registry", "registry.json", "--format", "json"),
            ("report", "r.jsonl", "--metric", one, "-o", "page.html"),
        ):
            done = cli(*arguments)
            assert "hunter2" not in done.stdout + done.stderr, arguments
        for written in ("out.json", "c.json", "page.html"):
            assert "hunter2" not in (tmp_path / written).read_text()


def test_what_is_said_of_an_address_at_a_wrong_place_holds_no_password(
    cli: Run, tmp_path: Path
) -> None:
    """Where the key stands twice, or beside `kwargs`, it was printed, and uploaded as SARIF."""
    url = "https://user:hunter2-hunter2-hunter2-hunter2-hunter2-hunter2@localhost:1/x"
    twice = f'{{"script_path": "m.py", "git_url": "{url}", "git_url": "{url}"}}'
    beside = f'"kwargs": {{"script_path": "m.py"}}, "git_url": "{url}"'
    for entry in (f'"kwargs": {twice}', beside, f'"kwargs": {{"{url}": 1, "key": {{"{url}": 2}}}}'):
        text = f'{{"type": "uv-script", {entry}}}'
        head = '[{"name": "d", "version": "1", "description": "", "tasks": [], "metrics": ['
        (tmp_path / "registry.json").write_text(f"{head}{text}]}}]")
        for form in ("text", "json", "jsonl", "sarif", "concise", "github"):
            done = cli("validate", "registry.json", "--format", form)
            assert "hunter2" not in done.stdout + done.stderr, (form, entry)
        (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
        for command in (
            ("compute", "r.jsonl", "--registry", "registry.json"),
            ("add", "registry.json", "d", "mean"),
            ("remove", "registry.json", "d", "max"),
        ):
            done = cli(*command)
            assert "hunter2" not in done.stdout + done.stderr, (command, entry)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a user says who he is at hosts of his own."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


def heard_by_hosts(
    folder: Path,
    path: str = "x",
    *,
    login: str = "",
    config: Path | None = None,
    by_job: bool = False,
) -> tuple[str, list[tuple[str, Message]]]:
    """What a failed fetch from `localhost` says, and what was asked: of which host, how.

    That host asks who is there, or, for the path `away`, sends to another name of itself. In the
    user's `config` its address stands for `{}`.
    """
    heard: list[tuple[str, Message]] = []

    class Host(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = str(self.headers["Host"]).partition(":")[0]
            heard.append((name, self.headers))
            if self.path.startswith("/away") and name == "localhost":
                self.send_response(302)
                there = f"http://127.0.0.1:{self.server.server_address[1]}{self.path}"
                self.send_header("Location", there)
            else:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://localhost:{server.server_address[1]}/{path}"
            if config is not None:
                config.write_text(config.read_text().replace("{}", url))
            url = url.replace("//", f"//{login}")
            one = TestGit.compute(folder, url, "a" * 40, "m.py", allow_outside=True, by_job=by_job)
        finally:
            server.shutdown()
            thread.join()
    return one.error.message, heard


def told(heard: list[tuple[str, Message]], header: str = "Authorization") -> set[tuple[str, str]]:
    found = {(name, headers[header]) for name, headers in heard if headers[header]}
    return {(name, _plain(value) if header == "Authorization" else value) for name, value in found}


def _plain(basic: str) -> str:
    return base64.b64decode(basic.removeprefix("Basic ")).decode()


OTHERS = "default login me password DEFAULT\nmachine 127.0.0.1 login me password OTHER\n"


def test_the_host_of_a_script_is_told_no_password_for_others(tmp_path: Path, home: Path) -> None:
    (home / ".netrc").write_text(OTHERS)
    message, heard = heard_by_hosts(tmp_path)
    assert heard
    assert not told(heard)
    assert "could not be fetched" in message
    assert ".netrc" not in message


def test_the_host_of_a_script_is_told_the_password_that_is_its_own(
    tmp_path: Path, home: Path
) -> None:
    (home / ".netrc").write_text(f"machine localhost login me password MINE\n{OTHERS}")
    _, heard = heard_by_hosts(tmp_path)
    assert told(heard) == {("localhost", "me:MINE")}


def test_a_host_that_another_sends_to_is_told_no_password(tmp_path: Path, home: Path) -> None:
    (home / ".netrc").write_text(f"machine localhost login me password MINE\n{OTHERS}")
    _, heard = heard_by_hosts(tmp_path, "away")
    assert "127.0.0.1" in {name for name, _ in heard}
    assert not told(heard)


def test_a_netrc_that_cannot_be_read_strictly_is_told_to_nobody(tmp_path: Path, home: Path) -> None:
    (home / ".netrc").write_text("machine localhost login me pass MINE\n")
    message, heard = heard_by_hosts(tmp_path)
    assert heard
    assert not told(heard)
    assert "git was told nothing of ~/.netrc" in message
    assert "MINE" not in message


def test_a_host_is_not_told_what_languages_are_spoken(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert home
    for name in LOCALE:
        monkeypatch.setenv(name, "eu_ES.UTF-8")
    _, heard = heard_by_hosts(tmp_path)
    assert heard
    assert not told(heard, "Accept-Language")


def test_a_header_for_all_hosts_is_not_sent_and_one_for_the_host_is(
    tmp_path: Path, home: Path
) -> None:
    (home / "cookies").write_text("Set-Cookie: sid=COOKIE\n")
    everywhere = f"[http]\nextraHeader = X-All: ALL\ncookieFile = {home}/cookies\n"
    everywhere += "userAgent = AGENT-OF-ALL\n[credential]\nusername = somebody\n"
    other = '[http "https://example.com"]\nextraHeader = X-Other: OTHER\n'
    config = home / ".gitconfig"
    config.write_text(everywhere + other)
    _, heard = heard_by_hosts(tmp_path, config=config)
    assert heard
    for header in ("X-All", "X-Other", "Cookie", "Authorization"):
        assert not told(heard, header), header
    assert told(heard, "User-Agent") == {("localhost", "git")}
    config.write_text(f'{other}[http "{{}}"]\nextraHeader = X-Own: OWN\n{everywhere}')
    _, heard = heard_by_hosts(tmp_path, config=config)
    assert told(heard, "X-Own") == {("localhost", "OWN")}
    assert not told(heard, "Cookie") | told(heard, "X-All") | told(heard, "X-Other")


def test_a_login_for_a_host_is_not_sent_to_one_whose_name_begins_alike(
    tmp_path: Path, home: Path
) -> None:
    """git compares the letters of `insteadOf`, and not the host."""
    instead = '[url "http://me:TOKEN@{0}"]\ninsteadOf = http://{0}\n'
    config = home / ".gitconfig"
    config.write_text(instead.format("localhos"))
    message, heard = heard_by_hosts(tmp_path)
    assert not heard
    assert "end both addresses of the setting in `/`" in message
    assert "TOKEN" not in message
    config.write_text('[url "http://me:TOKEN@localhost:1"]\ninsteadOf = {}\n')
    message, _ = heard_by_hosts(tmp_path, config=config)
    assert "could not be fetched" in message
    assert "TOKEN" not in message


def test_a_header_for_one_host_is_not_taken_to_where_that_host_sends_to(
    tmp_path: Path, home: Path
) -> None:
    config = home / ".gitconfig"
    config.write_text('[http "{}"]\nextraHeader = X-Own: OWN\n')
    message, heard = heard_by_hosts(tmp_path, "away", config=config)
    assert told(heard, "X-Own") == {("localhost", "OWN")}
    assert {name for name, _ in heard} == {"localhost"}
    assert "could not be fetched" in message


def test_the_rest_of_the_users_settings_is_where_it_was(tmp_path: Path, home: Path) -> None:
    (home / ".netrc").write_text(OTHERS)
    (home / ".config" / "git").mkdir(parents=True)
    helper = "!f() { echo username=me; echo password=HELPED; }; f"
    (home / ".config" / "git" / "config").write_text(f'[credential]\nhelper = "{helper}"\n')
    _, heard = heard_by_hosts(tmp_path)
    assert told(heard) == {("localhost", "me:HELPED")}


@pytest.mark.parametrize("of", ["credential", 'credential "{}"'])
@pytest.mark.parametrize("login", ["", "me:WRONG@"])
def test_a_helper_is_asked_for_a_login_and_never_told_one(
    tmp_path: Path, home: Path, of: str, login: str
) -> None:
    """It forgot the user's where a host refused one, that of the address perhaps."""
    socket = tmp_path / "sockets" / "s"
    socket.parent.mkdir(mode=0o700)
    helper = (
        f"!f() {{ sed s/^host=.*/host=localhost/ | git credential-cache --socket {socket} $1; }}"
    )
    config = home / ".gitconfig"
    config.write_text(f'[{of}]\nhelper = "{helper}; f"\n')

    def cache(action: str) -> str:
        command = ["git", "credential-cache", "--socket", str(socket), action]
        mine = "protocol=http\nhost=localhost\nusername=me\n"
        mine += "password=MINE\n\n" if action == "store" else "\n"
        done = subprocess.run(command, input=mine, text=True, stdout=subprocess.PIPE, check=True)
        return done.stdout

    cache("store")
    try:
        _, heard = heard_by_hosts(tmp_path, login=login, config=config)
        assert told(heard) == {("localhost", "me:WRONG" if login else "me:MINE")}
        assert "password=MINE" in cache("get")
    finally:
        cache("exit")


@pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh")
def test_the_server_of_a_script_is_lent_no_agent_and_no_port(tmp_path: Path) -> None:
    """Whoever sets `ForwardAgent yes` for all hosts means his own: a server signs with his keys."""
    config = tmp_path / "config"
    config.write_text(
        "Host *\n ForwardAgent yes\n ForwardX11 yes\n GSSAPIDelegateCredentials yes\n"
        " RemoteForward 2222 localhost:22\n Tunnel yes\n IdentityFile /mine\n"
    )
    command = [*git_program._SSH.split(), "-F", str(config), "-G", "a.example"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    assert {"forwardagent no", "forwardx11 no", "tunnel false", "identityfile /mine"} <= {*said}
    assert {"gssapidelegatecredentials no", "clearallforwardings yes"} <= {*said}


class _Asked(Exception):
    """What a program is run with."""


@pytest.mark.parametrize("nobodys", [True, False])
def test_where_nobody_is_told_who_the_user_is_the_system_says_nothing_either(
    nobodys: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine's settings for git can hold a token."""

    class Place:
        folder = "/"

        def run(self, _argv: list[str], **how: Any) -> None:
            raise _Asked(how)

    monkeypatch.setenv("SSH_AUTH_SOCK", "/agent")
    monkeypatch.setenv("KRB5CCNAME", "KEYRING:persistent:0")
    home = Home("/home", empty=nobodys, nobodys=nobodys)
    run = git_program.Git(Place(), "/usr/bin/git", "https://a.example/", "/", False, 1e9, home)
    with pytest.raises(_Asked) as asked:
        run(["init"])
    how = asked.value.args[0]
    env = how["env"]
    assert ("SSH_AUTH_SOCK" in env) is not nobodys
    # A ticket, of the kernel's keyring perhaps, is a login for all hosts: git and ssh have none.
    assert (env["KRB5CCNAME"], env["KRB5_CLIENT_KTNAME"]) == ("MEMORY:none", "FILE:/dev/null")
    assert (env.get("GIT_CONFIG_NOSYSTEM") == "1") is nobodys
    assert ("/etc/gitconfig" in how["confinement"].readable) is not nobodys


@pytest.mark.parametrize("file", [".netrc", ".gitconfig"])
def test_for_a_script_that_only_a_job_names_no_host_is_told_a_login(
    file: str, tmp_path: Path, home: Path
) -> None:
    """A stranger would name what the user alone may read."""
    helper = "!f() { echo username=me; echo password=MINE; }; f"
    text = f'[credential]\nhelper = "{helper}"\n'
    (home / file).write_text(
        text if file == ".gitconfig" else "machine localhost login me password MINE\n"
    )
    (tmp_path / "work").mkdir()
    message, heard = heard_by_hosts(tmp_path / "work", by_job=True)
    assert heard
    assert not told(heard)
    assert "no login of yours is used" in message
    assert "--registry" in message
    message, heard = heard_by_hosts(tmp_path / "work")
    assert told(heard) == {("localhost", "me:MINE")}
    assert "no login of yours" not in message
