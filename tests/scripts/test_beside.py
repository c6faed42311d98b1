"""What of its folder a script is given: nothing hidden, and nothing that lies elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from metric_scripts import BLOCK, HEAD, linux, metric

from harbor_metrics.confinement import homes
from harbor_metrics.confinement.places import PRIVATE
from harbor_metrics.confinement.workplace import Confinement, Workplace
from harbor_metrics.documents.paths import holds_everything
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.modules import importable
from harbor_metrics.registries.private import check_holds_no_passwords
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts.beside import beside
from harbor_metrics.scripts.execution import Inputs, execute
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.uv_access import reach
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script's folder with something hidden, and a secret outside it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("s3cret")
    inside = tmp_path / "inside"
    (inside / "data" / ".kept").mkdir(parents=True)
    (inside / "data" / "v.txt").write_text("5")
    (inside / ".env").write_text("s3cret")
    (inside / "m.py").write_text("")
    return inside


def _given(folder: Path) -> set[str]:
    pairs, listed = beside(f"{folder}/m.py")
    readable = [name for name, _ in pairs]
    assert listed == (str(folder),)
    return {os.path.relpath(path, folder) for path in readable}


@pytest.mark.parametrize(
    "leads_to",
    [
        *("../outside", "../outside/secret", ".env", ".", "..", "/", "./data/..", "hop"),
        *("data/.kept", "../inside", "../inside/.env", "/proc/self/cwd"),
    ],
)
def test_a_link_that_leads_out_of_the_folder_or_to_what_is_hidden_is_not_given(
    folder: Path, leads_to: str
) -> None:
    (folder / "hop").symlink_to("../outside")
    (folder / "link").symlink_to(leads_to)
    assert _given(folder) == {"m.py", "data"}


@pytest.mark.parametrize("leads_to", ["data", "data/v.txt", "../inside/data", "m.py"])
def test_a_link_to_what_is_shown_in_the_folder_is_given(folder: Path, leads_to: str) -> None:
    (folder / "again").symlink_to(leads_to)
    (folder / "twice").symlink_to("again")
    assert _given(folder) == {"m.py", "data", "again", "twice"}


def test_a_folder_that_hides_nothing_is_given_whole_and_not_what_its_links_lead_to(
    folder: Path,
) -> None:
    (folder / ".env").unlink()
    (folder / "link").symlink_to("../outside")
    assert beside(f"{folder}/m.py") == ([(str(folder), str(folder))], ())


@pytest.mark.parametrize(
    ("variable", "names", "given"),
    [
        ("NETRC", "{}/netrc", {"m.py", "data"}),
        ("NETRC", "netrc", {"m.py", "data"}),
        ("GOOGLE_APPLICATION_CREDENTIALS", "{}/netrc", {"m.py", "data"}),
        ("KUBECONFIG", "/etc/none:{}/netrc", {"m.py", "data"}),
        ("UV_CREDENTIALS_DIR", "{}/data/.kept", {"m.py", "netrc", "again"}),
        ("NETRC", "{}/again", {"m.py", "data"}),
        ("XDG_DATA_HOME", "{}", {"m.py"}),
        ("HF_HOME", "{}/data", {"m.py", "netrc", "again"}),
        ("KRB5CCNAME", "FILE:{}/netrc", {"m.py", "data"}),
        ("XDG_DATA_HOME", "{}/..", {"m.py", "data", "netrc", "again"}),
        ("VIRTUAL_ENV", "{}/data", {"m.py", "data", "netrc", "again"}),
    ],
)
@pytest.mark.parametrize("hidden", [True, False])
def test_where_a_variable_says_that_passwords_lie_is_not_given(
    folder: Path,
    variable: str,
    names: str,
    given: set[str],
    hidden: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CI writes them beside what it works on, and a script tells everybody what it reads."""
    (folder / "netrc").write_text("s3cret")
    (folder / "again").symlink_to("netrc")
    if not hidden:
        (folder / ".env").unlink()
    monkeypatch.chdir(folder)
    monkeypatch.setenv(variable, names.format(folder))
    pairs, listed = beside(f"{folder}/m.py")
    readable = [name for name, _ in pairs]
    if readable == [str(folder)]:
        readable, listed = [entry.path for entry in os.scandir(folder)], (str(folder),)
    assert {os.path.relpath(path, folder) for path in readable} == given
    assert listed == (str(folder),)


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("layer", ["landlock", "namespaces"])
def test_what_a_link_leads_to_is_not_read_in_the_sandbox(
    folder: Path, layer: str, hidden: bool
) -> None:
    (folder / "link").symlink_to("../outside")
    if not hidden:
        (folder / ".env").unlink()
    pairs, listed = beside(f"{folder}/m.py")
    readable = [name for name, _ in pairs]
    confinement = Confinement(layers=(layer,), readable=tuple(readable), listed=listed)
    with Workplace() as place:

        def read(name: str) -> bytes:
            return place.run(
                ["/bin/cat", f"{folder}/{name}"],
                env={},
                cwd="/",
                timeout=20,
                confinement=confinement,
            ).stdout

        assert read("data/v.txt") == b"5"
        assert read("link/secret") == b""


def test_a_link_that_leads_nowhere_is_no_error(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    (folder / "gone").symlink_to("nowhere")
    assert _given(folder) >= {"m.py", "data"}


def test_of_a_folder_that_holds_everything_only_its_own_files_are_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").unlink()
    monkeypatch.setenv("HOME", str(folder))
    (folder / "deep").symlink_to("data/v.txt")
    (folder / "again").symlink_to("m.py")
    (folder / "loop").symlink_to("loop")
    assert _given(folder) == {"m.py", "again"}


def test_the_home_that_the_system_names_holds_everything_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "another"))
    monkeypatch.setattr(homes, "home_of_system", lambda: str(tmp_path / "home"))
    assert holds_everything(str(tmp_path / "home"))
    assert not holds_everything(str(tmp_path / "home" / "jobs"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
def test_the_home_of_another_holds_everything_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root reads it as well."""
    (tmp_path / "home" / "jobs").mkdir(parents=True)
    for path in (tmp_path / "home", tmp_path / "home" / "jobs"):
        os.chown(path, 65534, 65534)
    monkeypatch.setattr(homes, "home_of", {65534: str(tmp_path / "home"), 0: "/root"}.get)
    assert holds_everything(str(tmp_path / "home"))
    assert not holds_everything(str(tmp_path / "home" / "jobs"))


@pytest.mark.parametrize("place", ["/", *PRIVATE, "/var", "/dev", "/home/x", "/Users/x"])
def test_what_everybody_shares_holds_everything_wherever_temporary_files_lie(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert holds_everything(os.path.realpath(place))
    assert holds_everything(str(tmp_path))
    assert not holds_everything(str(tmp_path / "job"))


def test_uv_reads_nothing_that_is_hidden_beside_a_script(folder: Path) -> None:
    reached = reach("uv", f"{folder}/m.py", [])
    names = (path if isinstance(path, str) else path[0] for path in reached.readable)
    inside = [path for path in names if path.startswith(str(folder))]
    assert sorted(inside) == [f"{folder}/data", f"{folder}/m.py", f"{folder}/m.py"]


@linux
def test_code_in_a_place_of_passwords_is_no_module_of_a_script(
    outcomes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("config", "lib"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "settings.py").write_text("TOKEN = 7")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    text = f"""{BLOCK}{HEAD}
found = [p for top in sys.path for p, _, names in os.walk(top) if "settings.py" in names]
from lib import settings
answer(token=settings.TOKEN, n=len([p for p in found if p.endswith("config")]))
"""
    (one,), _ = outcomes(text)
    assert one["values"] == {"token": 7, "n": 0}, one


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("name", ["conf/netrc", "m.py.lock"])
def test_a_place_of_passwords_is_no_script_or_lock(
    name: str, linked: bool, cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf").mkdir()
    for path in ("conf/netrc", "m.py"):
        (tmp_path / path).write_text("CANARY = 'not ended" if "netrc" in path else BLOCK)
    if name.endswith("lock"):
        (tmp_path / name).symlink_to("conf/netrc")
    monkeypatch.setenv("NETRC", "conf/netrc" if linked else str(tmp_path / "conf" / "netrc"))
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    script = "m.py" if name.endswith("lock") else name
    for command in (
        ("compute", "r.jsonl", "--metric", metric(script), "--format", "json"),
        ("script", "check", script),
    ):
        done = cli(*command)
        assert "passwords are, and is no script or lock" in done.stdout + done.stderr
        assert "CANARY" not in done.stdout + done.stderr


@linux
def test_passwords_are_kept_where_every_program_may_read(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = next(Path("/usr/share").glob("*/*.*"), None)
    if shared is None:
        pytest.skip("nothing lies there")
    other = next(p for p in Path("/usr/share").glob("*/*.*") if p.parent != shared.parent)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(shared))
    code = f"""{HEAD}
def reads(path):
    try: os.listdir(path) if os.path.isdir(path) else open(path, "rb").read()
    except OSError: return 0
    return 1
answer(password=reads({str(shared)!r}), other=reads({str(other)!r}))
"""
    (tmp_path / "m.py").write_text(code)
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    done = cli("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json")
    (_, one) = json.loads(done.stdout)["groups"][0]["metrics"]
    if "landlock" not in (one["script"]["sandbox"] or ""):
        pytest.skip("not here")
    assert one["values"] == {"password": 0, "other": 1}


def test_of_a_folder_of_passwords_only_modules_are_a_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("m.py", "helper.py", "kaggle.json", "creds"):
        (tmp_path / name).write_text("")
    (tmp_path / "again.py").symlink_to("helper.py")
    (tmp_path / "x.py").symlink_to("kaggle.json")
    folder = os.path.realpath(tmp_path)
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", folder)
    assert {name for name, _ in beside(f"{folder}/m.py")[0]} == {
        f"{folder}/{name}" for name in ("m.py", "helper.py", "again.py")
    }
    with pytest.raises(MetricFailure, match=r"x\.py beside the script is a link"):
        importable(f"{folder}/m.py", b"import helper")
    (tmp_path / "x.py").unlink()
    assert [name for name, _ in importable(f"{folder}/m.py", b"import helper")] == [
        "again.py",
        "helper.py",
    ]
    check_holds_no_passwords(f"{folder}/m.py")
    with pytest.raises(MetricFailure):
        check_holds_no_passwords(f"{folder}/creds")


@pytest.mark.parametrize("value", ["{}/conf/netrc", "~/conf/netrc"])
def test_links_into_an_entry_with_passwords_are_not_given(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf" / "aws").mkdir(parents=True)
    for name in ("conf/netrc", "conf/aws/key", "m.py", "data"):
        (tmp_path / name).write_text("")
    folder = os.path.realpath(tmp_path)
    for link, to in {"one": "conf/aws", "two": "conf/aws/key", "three": "data"}.items():
        (tmp_path / link).symlink_to(to)
    monkeypatch.setenv("HOME", folder)
    monkeypatch.chdir("/")
    monkeypatch.setenv("NETRC", value.format(folder))
    monkeypatch.setattr("harbor_metrics.scripts.beside.holds_everything", lambda _: False)
    assert {name for name, _ in beside(f"{folder}/m.py")[0]} == {
        f"{folder}/{name}" for name in ("m.py", "data", "three")
    }


def test_a_colon_can_be_a_part_of_a_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "12:00").write_text("s3cret")
    monkeypatch.setenv("NETRC", f"{folder}/12:00")
    assert f"{folder}/12:00" not in dict(beside(f"{folder}/m.py")[0])


@linux
@pytest.mark.parametrize("where", ["above", "lib"])
def test_modules_are_the_same_wherever_the_user_stands_and_passwords_lie(
    where: str, cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "weights.py").write_text("W = 7")
    (tmp_path / "lib" / "netrc").write_text("")
    (tmp_path / "m.py").write_text(f"{HEAD}from lib.weights import W\nanswer(w=W)")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    monkeypatch.setenv("NETRC", str(tmp_path / "lib" / "netrc"))
    cwd = tmp_path / "lib" if where == "lib" else tmp_path
    asked = ("--metric", metric(str(tmp_path / "m.py")), "--format", "json")

    def value() -> Any:
        done = cli("compute", str(tmp_path / "r.jsonl"), *asked, cwd=cwd)
        return json.loads(done.stdout)["groups"][0]["metrics"][1]

    assert value()["values"] == {"w": 7}
    (tmp_path / "x.py").symlink_to("lib/netrc")
    (tmp_path / "m.py").write_text(f"{HEAD}from lib.weights import W\nimport x\nanswer(w=W)")
    assert "x.py beside the script is a link" in value()["error"]["message"]


@linux
@pytest.mark.parametrize("layer", ["landlock", "namespaces"])
@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("where", [".", "work", "work/here", ".."])
def test_a_scripts_folder_is_its_own_wherever_the_user_stands(
    where: str, hidden: bool, layer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "f"
    (folder / "work" / "here").mkdir(parents=True)
    (folder / "work" / "here" / "data").write_text("7")
    (tmp_path / "work").write_text("")
    if hidden:
        (folder / ".env").write_text("")
    (folder / "all").symlink_to("work/here")
    names = [str(folder / name) for name in ("work/here/data", "all/data", ".env", "../work")]
    code = f"""{HEAD}
def reads(path):
    try: return len(open(path).read()) or 1
    except OSError: return 0
answer(**{{str(n): reads(path) for n, path in enumerate({names})}})
"""
    (folder / "m.py").write_text(code)
    monkeypatch.chdir(folder / where)
    inputs = Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})]))
    with Workplace() as place:
        script = find(str(folder / "m.py"), None)
        ran = execute(script, inputs, ScriptOptions(layers=(layer,)), place)
    assert ran.values == {"0": 1, "1": 1, "2": 0, "3": 0}


@linux
@pytest.mark.parametrize(
    "layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")], ids="-".join
)
@pytest.mark.parametrize("to", ["/proc/self/cwd", "/dev/fd/../cwd", "/proc/thread-self/cwd"])
@pytest.mark.parametrize("hidden", [True, False])
def test_a_link_leads_a_script_where_it_led_us(
    hidden: bool, to: str, layers: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By way of what each process has for itself others come elsewhere."""
    folder, secret = tmp_path / "f", tmp_path / "secret"
    (folder / secret.relative_to("/")).parent.mkdir(parents=True)
    (folder / secret.relative_to("/")).write_text("own")
    secret.write_text("s3cret")
    (folder / "x").symlink_to(f"{to}{secret}")
    (folder / "all").symlink_to(to)
    if hidden:
        (folder / ".env").write_text("")
    paths = [str(folder / "x"), f"{folder}/all{secret}", str(secret)]
    code = f"""{HEAD}
found = 0
for path in {paths}:
    try: found += "s3cret" in open(path).read()
    except OSError: pass
answer(found=found)
"""
    (folder / "m.py").write_text(code)
    monkeypatch.chdir(folder)
    inputs = Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})]))
    with Workplace() as place:
        script = find(str(folder / "m.py"), None)
        ran = execute(script, inputs, ScriptOptions(layers=layers), place)
    assert ran.values == {"found": 0}


def test_what_was_no_link_is_given_as_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another account can put one in its place before it is asked where it leads."""
    real = str(folder / "data")
    monkeypatch.setattr(
        "harbor_metrics.scripts.beside.followed",
        lambda path, _: str(folder / "m.py") if path == real else path,
    )
    assert dict(beside(f"{folder}/m.py")[0])[real] == real


@linux
def test_beside_a_script_in_the_root_passwords_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    files = (f"/{name}" for name in os.listdir("/") if name[0] != ".")
    inside = next(filter(os.path.isfile, files), None)
    if inside is None:
        pytest.skip("no file lies there")
    assert inside in dict(beside("/m.py")[0])
    monkeypatch.setenv("NETRC", inside)
    assert inside not in dict(beside("/m.py")[0])


@linux
def test_a_variable_that_is_handed_on_shows_what_it_names(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "eval.yaml").write_text("7")
    (tmp_path / "netrc").write_text("s3cret")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    code = f"""{HEAD}
def read(name):
    try: return len(open(os.path.join(os.environ["HARBOR_METRICS_SCRIPT_DIR"], name)).read())
    except OSError: return 0
answer(settings=read("eval.yaml"), netrc=read("netrc"))
"""
    (tmp_path / "m.py").write_text(code)
    monkeypatch.setenv("EVAL_CONFIG", str(tmp_path / "eval.yaml"))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    handed_on = ("--script-env", "EVAL_CONFIG", "--script-env", "NETRC")
    for more, settings in (((), 0), (handed_on, 1)):
        asked = ("--metric", metric(str(tmp_path / "m.py")), "--format", "json", *more)
        done = cli("compute", str(tmp_path / "r.jsonl"), *asked)
        (_, one) = json.loads(done.stdout)["groups"][0]["metrics"]
        assert one["values"] == {"settings": settings, "netrc": 0}, one


@linux
@pytest.mark.parametrize("layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")])
def test_what_is_told_to_be_nowhere_hides_no_device(
    layers: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CI says so that no settings are to be read."""
    for name in ("PIP_CONFIG_FILE", "GIT_CONFIG_GLOBAL", "APP_CONFIG", "APP_TOKEN_FILE"):
        monkeypatch.setenv(name, os.devnull)
    for name in ("NETRC", "APP_KEY"):
        monkeypatch.setenv(name, "")
    code = f"{HEAD}print(file=open(os.devnull, 'w'))\nanswer(n=len(open(os.devnull).read()))\n"
    (tmp_path / "m.py").write_text(code)
    inputs = Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})]))
    with Workplace() as place:
        script = find(str(tmp_path / "m.py"), None)
        ran = execute(script, inputs, ScriptOptions(layers=layers), place)
    assert ran.values == {"n": 0}
