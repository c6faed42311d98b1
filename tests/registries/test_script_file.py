"""Where a script may lie."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st
from metric_scripts import COUNT
from printed import group
from registries_by_hand import dataset

from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries import script_file as script
from harbor_metrics.registries.modules import Content
from harbor_metrics.registries.script_block import blocks


class TestFind:
    """Where a script may lie."""

    def test_script_beside_the_registry_comes_before_one_in_the_current_directory(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        (tmp_path / "here").mkdir()
        (tmp_path / "there").mkdir()
        (tmp_path / "here" / "m.py").write_text("1")
        monkeypatch.chdir(tmp_path / "here")
        registry = str(tmp_path / "there" / "registry.json")
        assert script.find("m.py", registry).text == b"1"
        (tmp_path / "there" / "m.py").write_text("2")
        assert script.find("m.py", registry).text == b"2"

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("/etc/passwd", "absolute"),
            ("../secret.py", "outside"),
            ("link.py", "outside"),
            ("gone.py", "not found; looked for"),
            ("folder", "is a directory"),
            ("pipe", "not a regular file"),
            ("m\0.py", "NUL"),
        ],
    )
    def test_path_that_leads_out_or_to_no_file_is_refused(
        self, path: str, words: str, tmp_path: Path, monkeypatch
    ) -> None:
        home = tmp_path / "home"
        (home / "folder").mkdir(parents=True)
        (tmp_path / "secret.py").write_text("")
        (home / "link.py").symlink_to("../secret.py")
        os.mkfifo(home / "pipe")
        monkeypatch.chdir(home)
        with pytest.raises(MetricFailure, match=words):
            script.find(path, str(home / "registry.json"))

    def test_script_outside_is_found_when_allowed(self, tmp_path: Path) -> None:
        (tmp_path / "secret.py").write_text("")
        (tmp_path / "home").mkdir()
        registry = str(tmp_path / "home" / "registry.json")
        assert script.find("../secret.py", registry, allow_outside=True).path


@pytest.mark.parametrize("name", [".env", "link.py", "deep.py", ".git/../.env", ".git/config"])
def test_what_is_hidden_is_no_script_of_a_registry(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git").mkdir()
    for path in (".env", ".git/config", ".git/config.py"):
        (tmp_path / path).write_text("PASSWORD")
    (tmp_path / "link.py").symlink_to(".env")
    (tmp_path / "deep.py").symlink_to(".git/config.py")
    registry = str(tmp_path / "registry.json")
    with pytest.raises(MetricFailure, match="hidden"):
        script.find(name, registry)
    assert script.find(name, registry, allow_outside=True).text == b"PASSWORD"


def test_a_script_in_a_hidden_folder_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "m.py").write_text("1")
    assert script.find(".github/m.py", str(tmp_path / "registry.json")).text == b"1"
    (tmp_path / "seen").symlink_to(".github")
    for folder in (".github", "seen"):
        assert script.find("m.py", str(tmp_path / folder / "registry.json")).text == b"1"


def test_another_script_in_the_current_directory_is_reported(
    cli: Run, job: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "m.py").write_text(COUNT)
    (tmp_path / "m.py").write_text("1/0")
    metrics = [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}]
    (tmp_path / "there" / "r.json").write_text(json.dumps([dataset("demo", metrics=metrics)]))
    done = cli("compute", job, "--registry", "there/r.json", "--format", "json")
    assert group(done)["metrics"][0]["values"] == {"n": 10}
    assert "in the current directory" in done.stderr


class TestBlock:
    """What stands in a block is what uv reads in it."""

    @staticmethod
    def block(text: str) -> dict[str, object] | None:
        return script.metadata(script.Script("m.py", Content(text.encode())))

    def test_lines_end_at_line_feeds_alone(self) -> None:
        for separator in ("\u2028", "\u0085"):
            text = (
                f"# /// script\n# a = '''{separator}'''\n# dependencies = [\"evil\"]\n# b = '''\n"
                "# dependencies = []\n# c = ''' #'''\n# ///\n"
            )
            table = self.block(text)
            assert table is not None
            assert table["dependencies"] == ["evil"]

    def test_lines_may_end_as_on_windows(self) -> None:
        text = '# /// script\r\n# dependencies = ["a"]\r\n# ///\r\n'
        assert self.block(text) == {"dependencies": ["a"]}

    @pytest.mark.parametrize("lines", ["# a" + ".a" * 501 + " = 1\n", "# a = 1\n" * 50_000])
    def test_block_that_takes_long_to_read_is_refused(self, lines: str) -> None:
        with pytest.raises(MetricFailure, match=r"256 KiB, or a line with more than 500 dots"):
            script.metadata(script.Script("", Content(f"# /// script\n{lines}# ///\n".encode())))

    @pytest.mark.parametrize(
        "other",
        [
            "#\r# /// script\n# dependencies = ['evil']\n# ///\n",
            "# /// other\n# /// script\n# dependencies = ['evil']\n# ///\n\n",
            "# /// other\n# a = 1\n# ///\n\n",
            "'''\n# /// scripts\n'''\n",
            "# ///\n\n",
        ],
    )
    def test_no_other_line_could_be_of_a_block(self, other: str) -> None:
        block = "# /// script\n# dependencies = []\n# ///\n"
        assert self.block(f"{block}# trailing\n") == {"dependencies": []}
        for text in (f"{other}{block}# trailing\n", f"{block}\n{other}"):
            with pytest.raises(MetricFailure, match=r"more than one|begin with `# ///`"):
                self.block(text)

    # The expression as PEP 723 has it.
    REFERENCE = r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$"
    LINES = ("# /// script", "# /// b", "# ///", "#", "# a", "#a", "", "x", "# ///  c", "# /// ")

    @given(
        st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\n", "\n", "\r", ""])))
    )
    def test_blocks_are_those_of_the_expression_of_pep_723(
        self, pieces: list[tuple[str, str]]
    ) -> None:
        text = "".join(line + end for line, end in pieces)
        expected = [
            (
                match["type"],
                text.count("\n", 0, match.start()),
                match["content"].removesuffix("\n").split("\n"),
            )
            for match in re.finditer(self.REFERENCE, text)
        ]
        assert list(blocks(text)) == expected

    @pytest.mark.parametrize("piece", ["# /// script\n", "# /// script\n#\n", "#\n", "# ///\n"])
    def test_openings_without_an_end_are_read_once(self, piece: str) -> None:
        assert self.block(f"{piece * 200_000}x") is None


def test_a_script_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "m.py").open("wb") as file:
        file.truncate((16 << 20) + 1)
    with pytest.raises(MetricFailure, match="16 MiB"):
        script.read(str(tmp_path / "m.py"), "m.py")


NAMES = ["gone\udcff\x1b.py", "/gone\udcff\n.py", "../\udcff\x1b", "\udcff"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_any_name_can_be_printed(tmp_path: Path, name: str) -> None:
    (tmp_path / "\udcff").mkdir()
    (tmp_path.parent / "\udcff\x1b").touch()
    with pytest.raises(MetricFailure) as raised:
        script.find(name, str(tmp_path / "registry.json"))
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("odd", ["\n", "\r", "\x1b", "\x85", "\u2028"])
def test_a_path_that_ends_a_line_is_no_script(tmp_path: Path, odd: str) -> None:
    """Programs that are told the path write it into lines of their own."""
    place = tmp_path / f"e{odd}evil @ http:x"
    place.mkdir()
    (place / "m.py").write_text("1")
    for registry in (None, str(place / "registry.json")):
        with pytest.raises(MetricFailure, match="control character") as caught:
            script.find(str(place / "m.py") if registry is None else "m.py", registry)
        assert str(caught.value).isprintable()


def test_a_link_out_of_its_folder_is_no_script_that_was_named(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("PASSWORD")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "m.py").symlink_to("../secret")
    (tmp_path / "here" / "n.py").symlink_to("plain.py")
    (tmp_path / "here" / "plain.py").write_text("1")
    with pytest.raises(MetricFailure, match="a link to"):
        script.find(str(tmp_path / "here" / "m.py"), None)
    assert script.find(str(tmp_path / "here" / "n.py"), None).text == b"1"


def test_more_links_than_a_system_follows_lead_to_no_script(tmp_path: Path) -> None:
    for i in range(1_500):
        (tmp_path / f"link{i}").symlink_to(f"link{i + 1}")
    (tmp_path / "link1500").write_text("1")
    for name, registry in (
        (str(tmp_path / "link0"), None),
        ("link0", str(tmp_path / "registry.json")),
    ):
        if sys.version_info >= (3, 13):
            # It follows them one by one, to a file of the folder.
            assert script.find(name, registry).text == b"1"
        else:
            with pytest.raises(MetricFailure, match=r"where no path leads|leads outside"):
                script.find(name, registry)


def test_what_a_person_has_is_not_the_registrys_to_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "downloads" / "job"
    job.mkdir(parents=True)
    (tmp_path / "work").mkdir()
    for name in ("work/passwords.txt", "work/m.py", "downloads/job/m.py", "downloads/n.py"):
        (tmp_path / name).write_text("1")
    (job / "link.py").symlink_to("../../work/passwords.txt")
    monkeypatch.chdir(tmp_path)
    registry = str(job / "registry.json")
    assert script.find("work/m.py", registry).text == b"1"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert script.find("m.py", registry).text == b"1"
    assert script.find("work/m.py", str(tmp_path / "registry.json")).text == b"1"
    assert script.find("work/m.py", registry, allow_outside=True).text == b"1"
    for name in ("work/m.py", "work/passwords.txt", "link.py", "../n.py"):
        with pytest.raises(MetricFailure, match="leads outside"):
            script.find(name, registry)
    with pytest.raises(MetricFailure, match=r"does not end in \.py"):
        script.find("work/passwords.txt", str(tmp_path / "registry.json"))


@pytest.mark.parametrize(
    "registry", ["jobs/evil/registry.json", "registry.json", "../registry.json"]
)
@pytest.mark.parametrize("name", ["secrets.yaml", "conf/prod.env", "id_deploy.pem", "link.py"])
def test_what_is_no_python_by_its_name_is_no_script_where_somebody_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, registry: str
) -> None:
    here = tmp_path / "here"
    for folder in ("conf", "jobs/evil"):
        (here / folder).mkdir(parents=True)
    for path in ("secrets.yaml", "conf/prod.env", "id_deploy.pem"):
        (here / path).write_text("AWS_SECRET_ACCESS_KEY=hunter2")
    (here / "link.py").symlink_to("secrets.yaml")
    (here / "conf" / "m.py").write_text("1")
    monkeypatch.chdir(here)
    if registry.startswith(".."):
        name = f"here/{name}"
    with pytest.raises(MetricFailure, match=r"does not end in \.py") as raised:
        script.find(name, registry)
    assert raised.value.rule == "script-outside"
    assert script.find(name, registry, allow_outside=True).text
    assert script.find("conf/m.py", registry).text == b"1"


def test_a_script_in_a_folder_of_the_registrys_own_has_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "registry").mkdir(parents=True)
    (tmp_path / "here" / "registry" / "score").write_text("1")
    monkeypatch.chdir(tmp_path / "here")
    assert script.find("score", "registry/registry.json").text == b"1"


def test_a_linked_folder_out_of_the_current_one_holds_no_script_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "m.py").write_text("password = 1")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "linked").symlink_to("../own")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(MetricFailure, match="a link to"):
        script.find("linked/m.py", None)
    assert script.find(str(tmp_path / "own" / "m.py"), None).text == b"password = 1"


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can become somebody else")
def test_a_script_in_a_folder_that_is_shut_is_not_looked_for_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("mine/metrics", "here/metrics"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "m.py").write_text(folder)
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 65534, 65534)
    (tmp_path / "mine" / "metrics").chmod(0)
    monkeypatch.chdir(tmp_path / "here")
    registry = "../mine/registry.json"
    assert script.find("metrics/m.py", registry).text == b"mine/metrics"
    os.seteuid(65534)
    try:
        with pytest.raises(MetricFailure):
            script.find("metrics/m.py", registry)
    finally:
        os.seteuid(0)


def test_a_script_that_was_exchanged_for_a_link_is_not_read(tmp_path: Path) -> None:
    """It was judged by its real path."""
    (tmp_path / "secret").write_text("token hunter2")
    (tmp_path / "m.py").symlink_to("secret")
    with pytest.raises(MetricFailure, match="exchanged meanwhile"):
        script.read(str(tmp_path / "m.py"), "m.py")


def test_a_script_lies_beside_the_registry_where_that_really_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its letters the path of one led to a folder of its reader's."""
    here = tmp_path / "here"
    (here / "job" / "x" / "a" / "b").mkdir(parents=True)
    (here / "job" / "l").symlink_to("x/a/b")
    for folder in (here / "notes", here / "job" / "x" / "notes"):
        folder.mkdir()
        (folder / "r.json").write_text("[]")
    (here / "notes" / "passwords.py").write_text("1")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    registry = "../here/job/l/../../notes/r.json"
    with pytest.raises(MetricFailure, match="not found"):
        script.find("passwords.py", registry)
    (here / "job" / "x" / "notes" / "passwords.py").write_text("2")
    assert script.find("passwords.py", registry).text == b"2"
