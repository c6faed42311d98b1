"""Scripts in a repository, which the tests make on disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from metric_scripts import HEAD, linux, metric, registry_of

import harbor_metrics
from harbor_metrics.scripts import cache
from harbor_metrics.scripts.options import ScriptOptions


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
    def compute(folder: Path, url: str, commit: str, path: str = "metrics/of it/m.py", **more: Any):
        kwargs = {"git_url": url, "git_commit_id": commit, "script_path": path}
        registry = registry_of(folder, {"type": "mean"}, {"type": "uv-script", "kwargs": kwargs})
        (folder / "r.jsonl").write_text('{"reward": 1.0}\n')
        result = harbor_metrics.compute(
            folder / "r.jsonl", registry=registry, scripts=ScriptOptions(**more)
        )
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
        ):
            done = cli(*arguments)
            assert "hunter2" not in done.stdout + done.stderr, arguments
        assert "hunter2" not in (tmp_path / "out.json").read_text()
