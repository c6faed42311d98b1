"""What a script may take and reach, from the options."""

from __future__ import annotations

import os

import pytest

from harbor_metrics.confinement.workplace import RefusedError
from harbor_metrics.scripts.bounds import confinement, limits, refusal
from harbor_metrics.scripts.options import ScriptOptions


def test_limits_follow_from_seconds_and_memory() -> None:
    found = limits(ScriptOptions(memory=0.5), seconds=2)
    assert found["RLIMIT_AS"] == 1 << 29
    assert found["RLIMIT_CPU"] == 2 * (os.cpu_count() or 1) + 1
    assert found["RLIMIT_CORE"] == 0


def test_memory_of_0_is_not_limited() -> None:
    assert "RLIMIT_AS" not in limits(ScriptOptions(memory=0), seconds=1)


@pytest.mark.parametrize(
    ("sandbox", "asked", "layers", "filtered", "required"),
    [
        ("auto", "no", ScriptOptions().layers, True, "no"),
        ("auto", "one", ScriptOptions().layers, True, "one"),
        ("require", "no", ScriptOptions().layers, True, "all"),
        ("off", "no", (), False, "no"),
    ],
)
def test_confinement_is_what_the_user_wants_and_the_work_requires(
    sandbox: str, asked: str, layers: tuple[str, ...], filtered: bool, required: str
) -> None:
    options = ScriptOptions(sandbox=sandbox)
    found = confinement(options, asked, readable=["/r"], writable=["/w"])
    assert (found.layers, found.filtered, found.required) == (layers, filtered, required)
    assert (found.readable, found.writable, found.network) == (("/r",), ("/w",), False)


def test_refusal_says_what_is_missing() -> None:
    required = refusal(RefusedError("landlock: no"), ScriptOptions(sandbox="require"))
    assert required.rule == "script-sandbox"
    assert "not there: landlock: no (--sandbox auto runs without)" in str(required)
    of_a_job = refusal(RefusedError(""), ScriptOptions(sandbox="off"))
    assert of_a_job.rule == "script-not-confined"
    assert "--sandbox off" in str(of_a_job)
