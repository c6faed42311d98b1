"""What uv makes for a script, and when it is asked."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run
from metric_scripts import BLOCK, HEAD, linux, metric, wheel_with_a_start_file
from uv import find_uv_bin

from harbor_metrics import compute
from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.documents.contents import File, checked, contents
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.modules import Content
from harbor_metrics.registries.script_file import Script, find
from harbor_metrics.scripts.cache import ENVIRONMENTS, cache_folder
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.install import version
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.steps import Work
from harbor_metrics.scripts.uv_access import uv_cache


def test_declared_dependency_is_installed(outcome) -> None:
    one, done = outcome((ROOT / "registry" / "metrics" / "spread.py").read_text())
    assert done.returncode == 0, one
    assert one["values"] == {"coverage": 0.5, "spread": 0.0}


def test_home_that_cannot_be_written_is_not_needed(outcome) -> None:
    text = (
        "# /// script\n# dependencies = []\n# ///\n" + HEAD + "open(a.o, 'w').write('{\"a\": 1}')"
    )
    assert outcome(text, env={"HOME": "/proc/nope"})[0]["values"] == {"a": 1}


class TestEnvironment:
    """What uv makes, and when it is asked."""

    @pytest.fixture
    def steps(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The programs that are run, by their last words."""
        seen: list[str] = []
        run = Workplace.run

        def watched(self: Workplace, argv: list[str], **more: Any) -> Finished:
            seen.append(" ".join(argv[1:3]))
            return run(self, argv, **more)

        monkeypatch.setattr(Workplace, "run", watched)
        return seen

    @pytest.fixture
    def caches(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Where each environment's packages were kept by uv."""
        seen: list[str] = []
        step = Work.step

        def noted(work: Work, argv: list[str], *rest: Any, **more: Any) -> Finished:
            if "sync" in argv:
                seen.append(argv[argv.index("--cache-dir") + 1])
            return step(work, argv, *rest, **more)

        monkeypatch.setattr(Work, "step", noted)
        return seen

    def test_a_block_that_says_nan_is_not_taken_for_changed(self, tmp_path: Path) -> None:
        block = "# /// script\n# dependencies = []\n# [tool.x]\n# y = nan\n# ///\n"
        (tmp_path / "m.py").write_text(block)
        with Workplace() as place:
            assert environment(find(str(tmp_path / "m.py"), None), place).python

    def test_unchanged_script_is_resolved_once(self, steps: list[str], tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK + "1")
        with Workplace() as place:
            first = environment(find(str(tmp_path / "m.py"), None), place)
            assert steps[:2] == ["--version", "sync --quiet"]
            assert steps.count("--version") == 1
            steps.clear()
            (tmp_path / "m.py").write_text(BLOCK + "2")
            assert environment(find(str(tmp_path / "m.py"), None), place) == first
            assert steps == []
            (tmp_path / "m.py").write_text(BLOCK.replace("[]", "[ ]  # other") + "2")
            assert environment(find(str(tmp_path / "m.py"), None), place) == first
            assert steps == []
            (tmp_path / "m.py").write_text(BLOCK.replace("# d", '# requires-python=">=3"\n# d'))
            environment(find(str(tmp_path / "m.py"), None), place)
            assert steps[:2] == ["--version", "sync --quiet"]

    @pytest.mark.parametrize("links", [False, True])
    def test_script_has_a_python_that_only_path_names(
        self, links: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """As conda's, or a link in a folder of programs."""
        ours = f"3.{sys.version_info[1]}."
        versions = list(Path("~/.pyenv/versions").expanduser().glob("3.1[0-3].*"))
        others = [path for path in versions if not path.name.startswith(ours)]
        if not others:
            pytest.skip("no other Python is here")
        version, folder = others[0].name, others[0] / "bin"
        if links:
            (tmp_path / "bin").mkdir()
            (tmp_path / "bin" / "python3").symlink_to(folder / "python3")
            folder = tmp_path / "bin"
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        # Those of pyenv lie in one.
        monkeypatch.setattr("harbor_metrics.documents.work._OF_CHECKOUTS", ())
        (tmp_path / "m.py").write_text(
            BLOCK.replace("# d", f'# requires-python="=={version}"\n# d')
        )
        with Workplace() as place:
            assert environment(find(str(tmp_path / "m.py"), None), place).python == version

    def test_script_has_the_python_that_it_asks_for(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        pyenv = sorted(map(str, Path("~/.pyenv/versions").expanduser().glob("3.1[0-3].*/bin")))
        monkeypatch.setenv("PATH", os.pathsep.join([*pyenv, os.environ["PATH"]]))
        others = {"3.10", "3.11", "3.12", "3.13"} - {".".join(map(str, sys.version_info[:2]))}
        find_one = [find_uv_bin(), "python", "find", "--system", "--no-python-downloads", "--"]
        there = {
            version
            for version in others
            if not subprocess.run([*find_one, f"=={version}.*"], capture_output=True).returncode
        }
        if not there:
            pytest.skip("no other Python is here")
        other = max(there)
        (tmp_path / "m.py").write_text(
            BLOCK.replace("# d", f'# requires-python="=={other}.*"\n# d')
        )
        with Workplace() as place:
            made = environment(find(str(tmp_path / "m.py"), None), place)
            assert made.python.startswith(f"{other}.")
            code = "import sys; print(*sys.version_info[:2], sep='.')"
            done = place.run([*made.command, "-c", code], env={}, cwd="/", timeout=30)
        assert done.stdout.decode() == f"{other}\n"

    def test_a_page_that_came_along_and_a_password_are_not_told_together(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """Without the password an index may say that it has nothing, and another is asked."""
        (tmp_path / "simple").mkdir()
        (tmp_path / "m.py").write_text(BLOCK)
        monkeypatch.setenv("UV_INDEX", f"https://me:pw@a.example/simple {tmp_path}/simple")
        with Workplace() as place, pytest.raises(MetricFailure, match="UV_INDEX told uv passwords"):
            environment(find(str(tmp_path / "m.py"), None), place)

    def test_another_package_in_a_folder_of_the_user_is_another_environment(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """In the current folder, which may be a checkout of somebody else's branch by now."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("UV_FIND_LINKS", ".")
        monkeypatch.setenv("UV_OFFLINE", "1")
        (tmp_path / "m.py").write_text(BLOCK.replace("[]", "['eager']"))
        for body in ("which = 'a'", "which = 'b'"):
            wheel_with_a_start_file(tmp_path, "", body=body)
            with Workplace() as place:
                made = environment(find(str(tmp_path / "m.py"), None), place)
            (module,) = Path(made.readable[0]).glob("lib/python*/site-packages/eager.py")
            assert module.read_text() == body

    @pytest.mark.parametrize(
        "setting",
        [
            'https-proxy = "http://127.0.0.1:9"',
            'allow-insecure-host = ["a.example"]',
            "index = [{name = 'corp', url = 'http://127.0.0.1:9/simple'}]",
        ],
    )
    def test_who_leads_uv_elsewhere_shares_no_cache_of_uv(
        self, setting: str, caches: list[str], tmp_path: Path
    ) -> None:
        """What is taken from there would be of the user's indexes for everybody else."""
        (tmp_path / "m.py").write_text(BLOCK)
        (tmp_path / "n.py").write_text(
            BLOCK.replace("# ///\n", f"# [tool.uv]\n# {setting}\n# ///\n")
        )
        options = ScriptOptions(allow_network=True)
        with Workplace() as place:
            for name in ("m.py", "n.py"):
                environment(find(str(tmp_path / name), None), place, options)
            shared, own = caches
            assert shared == uv_cache(place)
            assert own.startswith(place.folder)

    def test_a_wheel_with_the_path_and_time_of_another_is_not_taken_for_it(
        self, caches: list[str], tmp_path: Path
    ) -> None:
        """uv knows it by both, and one unpacking gives many files one time."""
        folder = tmp_path / "a"
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            wheel_with_a_start_file(tmp_path / name, "", body=f"which = {name!r}")
            (tmp_path / name / "m.py").write_text(
                "# /// script\n# dependencies = ['eager']\n# [tool.uv.sources]\n"
                f"# eager = {{path = 'eager-1-py3-none-any.whl'}}\n# ///\n{name}"
            )
        with Workplace() as place:
            environment(find(str(folder / "m.py"), None), place)
            folder.rename(tmp_path / "before")
            (tmp_path / "b").rename(folder)
            made = environment(find(str(folder / "m.py"), None), place)
        (module,) = Path(made.readable[0]).glob("lib/python*/site-packages/eager.py")
        assert module.read_text() == "which = 'b'"
        assert len(set(caches)) == 2

    def test_packages_are_compiled_without_their_tests(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """Also where the cache lies in a folder of that name."""
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "tests" / "cache"))
        more = ("one/__init__.py", "one/tests/test_it.py", "one/attests/it.py")
        wheel_with_a_start_file(tmp_path, "", more=dict.fromkeys(more, ""))
        (tmp_path / "m.py").write_text(
            "# /// script\n# dependencies = ['eager']\n# [tool.uv.sources]\n"
            "# eager = {path = 'eager-1-py3-none-any.whl'}\n# ///\n"
        )
        with Workplace() as place:
            made = environment(find(str(tmp_path / "m.py"), None), place)
        (package,) = Path(made.readable[0]).glob("lib/python*/site-packages/one")
        compiled = {path.parts[-3] for path in package.rglob("*.pyc")}
        assert compiled == {"one", "attests"}

    def test_touched_environment_is_read_again_once(
        self, steps: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        read: list[str] = []

        def counted(folder: str, files: list[File], /) -> list[File] | None:
            read.append(folder)
            return checked(folder, files)

        monkeypatch.setattr("harbor_metrics.scripts.kept.checked", counted)
        (tmp_path / "m.py").write_text(BLOCK + "1")
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            assert not read
            steps.clear()
            os.utime(Path(first.command[0]).parents[1] / "pyvenv.cfg")
            assert [environment(script, place) for _ in range(3)] == [first] * 3
        assert (len(read), steps) == (1, [])

    def test_environment_that_changed_while_it_was_read_is_not_kept(
        self, steps: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        def changed(folder: str) -> list[File]:
            files = contents(folder)
            with open(os.path.join(folder, "pyvenv.cfg"), "ab") as file:
                file.write(b"# other\n")
            return files

        (tmp_path / "m.py").write_text(BLOCK + "1")
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            with monkeypatch.context() as patched:
                patched.setattr("harbor_metrics.scripts.kept.contents", changed)
                first = environment(script, place)
            steps.clear()
            assert environment(script, place).command != first.command
        assert steps

    def test_changed_environment_is_made_anew(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            (packages,) = Path(first.readable[0]).glob("lib/python*/site-packages")
            (packages / "sitecustomize.py").write_text("raise SystemExit(9)\n")
            second = environment(script, place)
            assert not packages.exists()
            assert not list(Path(second.readable[0]).rglob("sitecustomize.py"))

    def test_contents_are_hashed_again_where_the_status_differs(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            settings = Path(first.readable[0]) / "pyvenv.cfg"
            os.utime(settings, ns=(5, 5))
            assert environment(script, place) == first
            assert settings.exists()
            status = settings.stat()
            settings.write_text(settings.read_text().replace("false", "True "))
            os.utime(settings, ns=(status.st_atime_ns, status.st_mtime_ns))
            assert environment(script, place) != first

    def test_no_step_starts_the_python_that_sees_what_is_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheel_with_a_start_file(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')")
        monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
        table = "# [tool.uv]\n# compile-bytecode = true\n"
        table += "# [tool.uv.sources]\n# eager = {path = 'eager-1-py3-none-any.whl'}\n"
        (tmp_path / "m.py").write_text(f"# /// script\n# dependencies = ['eager']\n{table}# ///\n")
        with Workplace() as place:
            # Nothing would keep it from being written.
            made = environment(
                find(str(tmp_path / "m.py"), None), place, ScriptOptions(sandbox="off")
            )
        assert list(Path(made.readable[0]).rglob("eager.pth"))
        assert not (tmp_path / "ran").exists()

    def test_lock_beside_the_script_is_used_and_recorded(self, outcomes, tmp_path: Path) -> None:
        from uv import find_uv_bin

        (tmp_path / "m0.py").write_text(BLOCK + HEAD + "answer(n=1)")
        lock = [find_uv_bin(), "lock", "-q", "--python", sys.executable, "--script", "m0.py"]
        subprocess.run(lock, cwd=tmp_path, check=True)
        (one,), _ = outcomes(BLOCK + HEAD + "answer(n=1)")
        digest = hashlib.sha256((tmp_path / "m0.py.lock").read_bytes()).hexdigest()
        assert one["values"] == {"n": 1}
        assert one["script"]["lock_sha256"] == digest
        assert one["script"]["uv"].count(".") == 2
        assert one["script"]["python"] == ".".join(map(str, sys.version_info[:3]))
        (one,), _ = outcomes(BLOCK.replace("[]", '["six"]') + HEAD)
        assert "uv lock --script" in one["error"]["message"]

    @pytest.mark.parametrize("leads_to", ["../secret", ".env", "gone/../.env", "../gone", "sub/x"])
    def test_lock_that_leads_out_of_the_folder_or_to_what_is_hidden_is_not_read(
        self, tmp_path: Path, leads_to: str
    ) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "sub").mkdir()
        for path in (tmp_path / "secret", folder / ".env", folder / "sub" / "x"):
            path.write_text("PASSWORD")
        (folder / "m.py.lock").symlink_to(leads_to)
        script = Script(
            str(folder / "m.py"), Content(b"# /// script\n# dependencies = []\n# ///\n")
        )
        refused = pytest.raises(MetricFailure, match="is a link to what does not")
        with Workplace() as place, refused as raised:
            environment(script, place)
        assert "PASSWORD" not in str(raised.value)

    def test_uv_is_shown_copies_of_the_script_and_its_lock(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Others could change them after they were judged."""
        shown: list[str] = []

        def install(_wanted: Any, path: str, *_: Any) -> None:
            shown.extend([path, Path(path).read_text(), Path(f"{path}.lock").read_text()])
            raise MetricFailure("script-environment", "enough")

        monkeypatch.setattr("harbor_metrics.scripts.environment.install", install)
        text = b"# /// script\n# dependencies = []\n# ///\nprint()\n"
        (tmp_path / "m.py").write_bytes(text)
        (tmp_path / "m.py.lock").write_text("version = 1\n")
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place, pytest.raises(MetricFailure, match="enough"):
            environment(script, place)
        path, block, lock = shown
        assert not path.startswith(str(tmp_path))
        assert (block, lock) == (text.decode().removesuffix("print()\n"), "version = 1\n")

    @pytest.mark.parametrize("what", ["package", "lock"])
    def test_what_was_changed_since_it_was_hashed_is_not_installed(
        self, what: str, tmp_path: Path
    ) -> None:
        wheel_with_a_start_file(tmp_path, "", body="X = 1\n")
        table = "# [tool.uv.sources]\n# eager = {path = 'eager-1-py3-none-any.whl'}\n"
        (tmp_path / "m.py").write_text(f"# /// script\n# dependencies = ['eager']\n{table}# ///\n")
        script = find(str(tmp_path / "m.py"), None)
        if what == "package":
            wheel_with_a_start_file(tmp_path, "", body="X = 2\n")
        else:
            (tmp_path / "m.py.lock").write_text("version = 1\n")
        with Workplace() as place, pytest.raises(MetricFailure, match="was changed while"):
            environment(script, place)

    @pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
    def test_lock_that_is_no_file_is_not_waited_for(
        self, kind: str, outcomes, tmp_path: Path
    ) -> None:
        lock = tmp_path / "m0.py.lock"
        if kind == "pipe":
            os.mkfifo(lock)
        elif kind == "device":
            lock.symlink_to("/dev/zero")
        else:
            lock.mkdir()
        (one,), _ = outcomes(BLOCK + HEAD + "answer(n=1)")
        assert "the lock beside the script" in one["error"]["message"]

    def test_build_code_is_not_run(self, outcomes, tmp_path: Path) -> None:
        (tmp_path / "evil").mkdir()
        (tmp_path / "evil" / "pyproject.toml").write_text(
            '[project]\nname = "evil"\nversion = "1"\n[build-system]\nrequires = []\n'
            'build-backend = "b"\nbackend-path = ["."]\n'
        )
        (tmp_path / "evil" / "b.py").write_text(f"open({str(tmp_path / 'built')!r}, 'w')\n")
        block = '# /// script\n# dependencies = ["evil"]\n# [tool.uv.sources]\n'
        block += '# evil = {path = "evil"}\n# ///\n'
        (one,), _ = outcomes(block)
        assert "--allow-build" in one["error"]["message"]
        assert not (tmp_path / "built").exists()

    def test_package_beside_the_script_that_was_changed_is_installed_anew(
        self, outcomes, tmp_path: Path
    ) -> None:
        block = '# /// script\n# dependencies = ["eager"]\n# [tool.uv.sources]\n'
        block += '# eager = {path = "eager-1-py3-none-any.whl"}\n# ///\n'
        text = f"{block}{HEAD}import eager\nanswer(x=eager.X)"
        for number in (1, 2):
            wheel_with_a_start_file(tmp_path, "", body=f"X = {number}\n")
            (one,), _ = outcomes(text)
            assert one["values"] == {"x": number}, one

    @linux
    def test_build_code_is_confined_and_knows_no_password(
        self,
        outcomes,
        tmp_path: Path,
        tmp_path_factory: pytest.TempPathFactory,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        home = tmp_path_factory.mktemp("home")
        (home / ".netrc").write_text("machine localhost login a password NETRC\n")
        (tmp_path / "kind").mkdir()
        (tmp_path / "kind" / "pyproject.toml").write_text(
            '[project]\nname = "kind"\nversion = "1"\n[build-system]\nrequires = []\n'
            'build-backend = "b"\nbackend-path = ["."]\n'
        )
        # Where every program may read.
        every = (p for p in Path("/usr/share").glob("*/*") if p.is_file() and p.stat().st_size)
        shared = str(next(every, "/usr/share/none"))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", shared)
        text = BACKEND.format(folder=tmp_path, home=home, shared=shared)
        (tmp_path / "kind" / "b.py").write_text(text)
        block = '# /// script\n# dependencies = ["kind"]\n# [tool.uv.sources]\n'
        block += '# kind = {path = "kind"}\n# ///\n'
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("UV_INDEX_URL", "https://me:INDEX@localhost:1/simple")
        monkeypatch.setenv("UV_INDEX_OTHER_PASSWORD", "INDEX")
        text = f"{block}{HEAD}import kind\nanswer(**kind.SEEN)"
        (one,), _ = outcomes(text, arguments=("--allow-build",))
        assert one["values"] == {"netrc": 0, "passwords": 0, "wrote": 0, "cache": 0}, one

    @linux
    @pytest.mark.parametrize("layers", [("landlock",), ("namespaces",)])
    @pytest.mark.parametrize(
        ("how", "is_named"),
        [("link", False), ("read", False), ("source", False), ("source", True), ("own", True)],
    )
    def test_what_is_no_part_of_a_package_that_is_named_comes_into_none(
        self, how: str, is_named: bool, layers: tuple[str, ...], tmp_path: Path
    ) -> None:
        """Its pin would not be of that."""
        first, second = tmp_path / "first", tmp_path / "second"
        for folder in (first, second):
            (folder / "src").mkdir(parents=True)
            requires = ["second"] if how == "source" and folder == first else []
            (folder / "b.py").write_text(BUILDER.format(name=folder.name, requires=requires))
            (folder / "pyproject.toml").write_text(
                f'[project]\nname = "{folder.name}"\nversion = "1"\ndependencies = {requires}\n'
                '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
                + ('[tool.uv.sources]\nsecond = {path = "../second"}\n' if requires else "")
            )
        module = "second" if how == "source" else "first"
        (tmp_path / module / "src" / f"{module}.py").write_text("VALUE = 1\n")
        if how in ("link", "read"):
            own = first / "src" / "first.py"
            own.rename(tmp_path / "common.py")
            if how == "link":
                own.symlink_to("../../common.py")
            else:
                with (first / "b.py").open("a") as builder:
                    builder.write("MORE['first.py'] = open('../common.py').read()\n")
        names = ["first", *(["second"] if is_named and how == "source" else [])]
        sources = "".join(f'# {name} = {{path = "./{name}"}}\n' for name in names)
        block = f"# /// script\n# dependencies = {json.dumps(names)}\n# [tool.uv.sources]\n"
        block += f"{sources}# ///\n"
        text = f"{block}{HEAD}import {module}\nanswer(value={module}.VALUE)"
        (tmp_path / "m.py").write_text(text)
        (tmp_path / "r.jsonl").write_text("null\n")
        result = compute(
            str(tmp_path / "r.jsonl"),
            metrics=[metric(str(tmp_path / "m.py"))],
            only_asked=True,
            scripts=ScriptOptions(allow_build=True, layers=layers),
        )
        (one,) = result.groups[0].metrics
        assert one.values == ({"value": 1} if is_named else {}), one

    @linux
    @pytest.mark.parametrize("layers", [("namespaces",), ("landlock", "namespaces")])
    def test_build_code_sees_packages_alone_where_the_user_says_that_they_lie(
        self, layers: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Outside of what is private by its name."""
        try:
            links = Path(tempfile.mkdtemp(dir="/opt"))
        except OSError as error:
            pytest.skip(f"{error}")
        try:
            wheel_with_a_start_file(links, "pass", body="VALUE = 1\n")
            (links / "notes-of-mine.txt").write_text("")
            (links / "below").mkdir()
            (links / "below" / "secret").write_text("")
            kind = tmp_path / "kind"
            kind.mkdir()
            (kind / "pyproject.toml").write_text(
                '[project]\nname = "kind"\nversion = "1"\ndependencies = ["eager"]\n'
                '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
            )
            builder = BUILDER.format(name="kind", requires=["eager"])
            (kind / "b.py").write_text(
                f"{builder}import os\n"
                f"SEEN = sorted(n for _, a, b in os.walk({str(links)!r}) for n in a + b)\n"
                "MORE['kind.py'] = f'SEEN = {SEEN!r}'\n"
            )
            (kind / "src").mkdir()
            block = '# /// script\n# dependencies = ["kind"]\n# [tool.uv.sources]\n'
            block += '# kind = {path = "./kind"}\n# ///\n'
            text = f"{block}{HEAD}import eager, kind\n"
            text += "answer(value=eager.VALUE, others=sum('whl' not in n for n in kind.SEEN))"
            (tmp_path / "m.py").write_text(text)
            (tmp_path / "r.jsonl").write_text("null\n")
            monkeypatch.setenv("UV_FIND_LINKS", str(links))
            monkeypatch.setenv("UV_OFFLINE", "1")
            result = compute(
                str(tmp_path / "r.jsonl"),
                metrics=[metric(str(tmp_path / "m.py"))],
                only_asked=True,
                scripts=ScriptOptions(allow_build=True, layers=layers),
            )
        finally:
            shutil.rmtree(links)
        (one,) = result.groups[0].metrics
        assert one.values == {"value": 1, "others": 0}, one

    def test_cache_that_cannot_be_written_is_not_needed(self, outcomes) -> None:
        text = BLOCK + HEAD + "answer(n=1)"
        (one,), _ = outcomes(text, env={"XDG_CACHE_HOME": "/proc/nope"})
        assert one["values"] == {"n": 1}
        # uv gets one for this run alone.
        (one,), _ = outcomes(text + "#", env={"UV_CACHE_DIR": "/proc/n", "XDG_CACHE_HOME": "/proc"})
        assert one["values"] == {"n": 1}

    def test_concurrent_runs_on_an_empty_cache_succeed(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK + HEAD + "answer(n=1)")
        (tmp_path / "r.jsonl").write_text("null\n{}\n")
        command = [sys.executable, "-m", "harbor_metrics", "compute", "r.jsonl", "--metric"]
        runs = [
            subprocess.Popen(
                [*command, metric("m.py")], cwd=tmp_path, stdout=subprocess.PIPE, text=True
            )
            for _ in range(3)
        ]
        assert all("m.py: n" in run.communicate(timeout=60)[0] for run in runs)

    def test_undeclared_import_is_explained(self, outcomes) -> None:
        (one,), _ = outcomes("import numpy")
        assert "declare what it imports" in one["error"]["message"]


# Builds a package that says what could be seen while it was built.
BACKEND = """\
import glob, json, os, zipfile


def build_wheel(folder, config_settings=None, metadata_directory=None):
    seen = dict(netrc=0, passwords=0, wrote=0, cache=0)
    for path in ["{home}/.netrc", os.path.expanduser("~/.netrc"), {shared!r}]:
        try:
            seen["netrc"] += len(open(path).read())
        except OSError:
            pass
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            seen["passwords"] += open(path, "rb").read().count(b"IND" + b"EX@")
        except OSError:
            pass
    seen["passwords"] += sum("IND" + "EX@" in value for value in os.environ.values())
    seen["passwords"] += "UV_INDEX_OTHER_PASSWORD" in os.environ
    try:
        open("{folder}/built", "w")
        seen["wrote"] = 1
    except OSError:
        pass
    seen["cache"] = int(os.path.exists(os.environ.get("XDG_CACHE_HOME", "/nowhere")))
    files = {{
        "kind.py": f"SEEN = {{seen}}",
        "kind-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: kind\\nVersion: 1\\n",
        "kind-1.dist-info/WHEEL": "Wheel-Version: 1.0\\n"
        "Root-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    files["kind-1.dist-info/RECORD"] = "".join(f"{{name}},,\\n" for name in files)
    with zipfile.ZipFile(os.path.join(folder, "kind-1-py3-none-any.whl"), "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return "kind-1-py3-none-any.whl"
"""


@linux
def test_code_that_starts_with_an_interpreter_is_confined(
    cli: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    code = f"import os; open({str(outside)!r} + '/' + str(os.getpid()), 'w')"
    wheel_with_a_start_file(tmp_path, code)
    source = "[tool.uv.sources]\n# eager = {path = 'eager-1-py3-none-any.whl'}"
    block = f"# /// script\n# dependencies = ['eager']\n# {source}\n# ///\n"
    (tmp_path / "m.py").write_text(f"{block}{HEAD}\nimport eager\nanswer(x=1)")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    done = cli("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json")
    (_, one) = json.loads(done.stdout)["groups"][0]["metrics"]
    assert one["values"] == {"x": 1}, one["error"]
    if "landlock" in one["script"]["sandbox"]:
        assert list(outside.iterdir()) == []


@linux
def test_the_scripts_own_table_does_not_lead_uv_elsewhere(cli: Run, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    table = f"[tool.uv]\n# cache-dir = {str(elsewhere)!r}\n# link-mode = 'symlink'"
    block = f"# /// script\n# dependencies = []\n# {table}\n# ///\n"
    (tmp_path / "m.py").write_text(f"{block}{HEAD}\nanswer(x=1)")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    done = cli("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["metrics"][1]["values"] == {"x": 1}
    assert not elsewhere.exists()


@pytest.mark.parametrize(
    ("says", "number"),
    [("uv 0.13.9 (x86_64)", "0.13.9"), ("version: v9.9.1-rc.2", "9.9.1-rc.2"), ("", "unknown")],
)
def test_the_version_of_uv_is_found_in_whatever_it_says(
    tmp_path: Path, says: str, number: str
) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\necho '{says}'\n")
    uv.chmod(0o755)
    with Workplace() as place:
        assert version(str(uv), place) == number


class TestKept:
    """What is not as it was made is made anew, and nothing there is believed or waited for."""

    @pytest.mark.parametrize("added", ["pwn", "odd\udcff"])
    def test_folder_that_was_added_is_a_change(self, added: str, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            (packages,) = Path(first.readable[0]).glob("lib/python*/site-packages")
            (packages / added).mkdir()
            second = environment(script, place)
        assert second != first
        assert not list(Path(second.readable[0]).rglob(added))

    @pytest.mark.parametrize("how", ["bytes", "pipe", "NUL", "folder"])
    def test_odd_record_is_none(self, how: str, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            (record,) = Path(cache_folder(ENVIRONMENTS)).glob("*.json")
            line = record.read_text()
            record.unlink()
            if how == "bytes":
                record.write_bytes(b"\xff\xfe{}\n")
            elif how == "pipe":
                os.mkfifo(record)
            elif how == "folder":
                record.mkdir()
            else:
                record.write_text(line.replace('"folder":"', '"folder":"\\u0000'))
            assert environment(script, place) != first

    def test_other_choices_of_the_user_make_another(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            first = environment(script, place)
            monkeypatch.setenv("UV_EXCLUDE_NEWER", "2026-01-01T00:00:00Z")
            assert environment(script, place) != first

    def test_another_index_makes_another_and_another_password_does_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        monkeypatch.setenv("UV_DEFAULT_INDEX", "https://me:one@a.invalid/simple")
        with Workplace() as place:
            first = environment(script, place)
            monkeypatch.setenv("UV_DEFAULT_INDEX", "https://me:two@a.invalid/simple")
            monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:1")
            assert environment(script, place) == first
            monkeypatch.setenv("UV_DEFAULT_INDEX", "https://me:two@b.invalid/simple")
            assert environment(script, place) != first


BUILDER = """\
import glob, os, zipfile

MORE = {{}}


def build_wheel(folder, config_settings=None, metadata_directory=None):
    files = {{os.path.basename(path): open(path).read() for path in glob.glob("src/*.py")}}
    files |= MORE
    about = "{name}-1.dist-info"
    requires = "".join("Requires-Dist: " + name + "\\n" for name in {requires})
    files[about + "/METADATA"] = (
        "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1\\n" + requires
    )
    files[about + "/WHEEL"] = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[about + "/RECORD"] = "".join(name + ",,\\n" for name in files)
    with zipfile.ZipFile(folder + "/{name}-1-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return "{name}-1-py3-none-any.whl"


"""
