"""A trial of a script, for its author."""

from __future__ import annotations

from typing import Any

from harbor_metrics.registries.modules import Content
from harbor_metrics.registries.script_file import Script
from harbor_metrics.render.check import check
from harbor_metrics.scripts.check import Check, Tried
from harbor_metrics.scripts.kept import Environment

SCRIPT = Script(path="/x/m.py", shown="m.py", text=Content(b""))
FINE = Tried(case="one key", n=3, seconds=0.25, values={"mean": 0.5, "n": 3})


def tried(*cases: Tried, **more: Any) -> str:
    fields = {
        "script": SCRIPT,
        "environment": Environment(command=[], readable=[], hidden=(), python="3.12.1"),
        "prepared_in": 1.25,
        "layers": ("landlock",),
        "filtered": True,
        "missing": (),
        "refused": [],
        "differing": [],
        **more,
    }
    return check(Check(tried=list(cases), **fields))


def test_values_stand_below_their_case() -> None:
    assert tried(FINE).splitlines() == [
        "m.py",
        f"sha256 {SCRIPT.sha256}",
        "Python 3.12.1, no PEP 723 block: the standard library alone; ready after 1.2 s",
        "sandbox landlock, seccomp",
        "",
        "one key: 3 trials, 250 ms",
        "  mean  0.5",
        "  n     3",
    ]


def test_what_the_script_said_stands_below_its_values() -> None:
    said = Tried(case="one key", n=3, seconds=0.25, values={"n": 3}, said="it said\n  | why")
    assert tried(said).endswith("250 ms\n  n  3\n  it said\n    | why\n")


def test_failure_stands_in_place_of_values() -> None:
    text = tried(Tried(case="empty", n=1, seconds=2, error="it failed\n| why\x1b"))
    assert text.endswith("empty: 1 trial, 2.0 s\n  failed: it failed\n  | why\\x1b\n")


def test_environment_names_uv_and_its_lock() -> None:
    locked = Environment(command=[], readable=[], hidden=(), python="3.12.1", uv="0.9.1", lock="ab")
    assert "\nPython 3.12.1, uv 0.9.1, locked; ready" in tried(FINE, environment=locked)


def test_missing_layers_refusals_and_other_numbers_are_listed() -> None:
    text = tried(
        FINE, layers=(), filtered=False, missing=("landlock: no",), refused=["open /x"],
        differing=["one key"],
    )  # fmt: skip
    assert "sandbox none\n  without landlock: no\n" in text
    assert "refused, by the sandbox or the system:\n  open /x\n" in text
    assert text.endswith("the same rewards gave other numbers the second time:\n  one key\n")
