"""The script by which any metric of the catalogue runs inside Harbor: its text and its table."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from .. import __version__
from ..catalogue import names
from ..contract.spec import UV_SCRIPT, MetricSpec
from ..documents.mismatch import mismatch_with
from ..errors import MetricFailure, UsageError
from ..trials.table import Missing

DISTRIBUTION = "harbor-metrics"
FILE = "metric.py"
# A wheel and its digest; of http alone nobody knows who answers.
_SOURCE = re.compile(r"(?:https://|file:///)\S+\.whl#sha256=[0-9a-f]{64}")
# What TOML forbids, and what Python takes for the end of a line of the block.
_SEPARATORS = re.compile(r"[\x7f-\x9f\u2028\u2029]")
_TEXT = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = [{dependency}]
#
# [tool.harbor-metrics]
# metrics = {metrics}
# ///
"""Metrics of this dataset, chosen in the table above; while trials run it answers `trials` alone.

There, `missing = "skip"` leaves out trials without rewards; `stderr = true` adds standard errors.
"""

import sys

from harbor_metrics.inside_harbor.script import main

main(__file__, sys.argv[1:])
'''


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[tool.harbor-metrics]` of such a script: which metrics, and how they are computed."""

    metrics: list[str | MetricSpec]
    missing: Missing | None = None
    stderr: bool = False

    @property
    def specs(self) -> list[MetricSpec]:
        """The metrics as entries."""
        return [MetricSpec(type=m) if isinstance(m, str) else m for m in self.metrics]


def settings_of(block: Mapping[str, Any] | None) -> Settings | None:
    """What a script's PEP 723 block says to us; None where it says nothing.

    Raises:
        MetricFailure: it is not what it may be, or names a metric that there is not.
    """
    tool = block.get("tool") if block is not None else None
    table = tool.get(DISTRIBUTION) if isinstance(tool, dict) else None
    if table is None:
        return None
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        mismatch = mismatch_with(Settings, table)
        why = mismatch.sentence if mismatch else str(error)
        raise MetricFailure("script-settings", f"[tool.{DISTRIBUTION}]: {why}") from error
    if not settings.metrics:
        raise MetricFailure("script-settings", f"[tool.{DISTRIBUTION}]: `metrics` is empty")
    for spec in settings.specs:
        if spec.type == UV_SCRIPT:
            raise MetricFailure(
                "script-settings", f"[tool.{DISTRIBUTION}]: a script cannot run another script"
            )
        try:
            names.check(spec.type, spec.kwargs)
        except MetricFailure as error:
            raise MetricFailure("script-settings", f"[tool.{DISTRIBUTION}]: {error}") from error
    return settings


_FROM = (
    f"--released, if {DISTRIBUTION} {__version__} is on your index and yours; else a wheel "
    "that you keep, with the digest that `sha256sum` gives: "
    "--from https://HOST/FILE.whl#sha256=DIGEST, or file:///PATH/FILE.whl#sha256=DIGEST where it "
    "lies on every machine (`uv build --wheel` makes one in dist/ of a checkout)"
)


def dependency(*, released: bool, source: str | None) -> str:
    """How the script asks for this package: the version, or a wheel with its digest.

    Raises:
        UsageError: nobody has said where it is to come from, or there is no digest.
    """
    if released and source is not None:
        raise UsageError("--released and --from name two places to fetch it from", _FROM)
    if not released and source is None:
        raise UsageError(
            f"say from where the script gets {DISTRIBUTION}, by --released or --from: every "
            "machine that runs it fetches that, and whoever takes that name would run code there",
            _FROM,
        )
    if source is None:
        return f"{DISTRIBUTION}=={__version__}"
    if not _SOURCE.fullmatch(source):
        raise UsageError(
            f"--from {source}: write the address of a wheel with its digest, "
            "https://…/harbor_metrics-….whl#sha256=<64 hexadecimal digits>"
        )
    return f"{DISTRIBUTION} @ {source}"


def is_pinned(block: Mapping[str, Any]) -> bool:
    """Whether the block asks for one version of this package, or a wheel by its digest."""
    asked = block.get("dependencies")
    texts = [each for each in asked if isinstance(each, str)] if isinstance(asked, list) else []
    ours = [
        each for each in texts if re.match(r"harbor[-_.]metrics\b(?![-_.]\w)", each, re.IGNORECASE)
    ]
    pin = re.compile(r"[\w.-]+\s*(==\s*\d[^*,]*|@\s*\S+#sha256=[0-9a-f]{64})")
    return bool(ours) and all(pin.fullmatch(each) for each in ours)


def text(type_: str, kwargs: Mapping[str, Any], dependency: str) -> str:
    """The script that gives this metric in Harbor.

    Raises:
        UsageError: a kwarg is what TOML cannot hold: null.
    """
    entry: Any = {"type": type_, "kwargs": dict(kwargs)} if kwargs else type_
    try:
        written = _toml([entry])
    except TypeError:
        raise UsageError("a kwarg is null, which a script's table cannot hold") from None
    # For weight: only a script that is written needs it.
    import tomllib

    assert tomllib.loads(f"metrics = {written}") == {"metrics": [entry]}
    return _TEXT.format(dependency=json.dumps(dependency), metrics=written)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if value is None:
        raise TypeError
    written = json.dumps(value, ensure_ascii=False)
    return _SEPARATORS.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
