"""Whether a script is the one that a metric is pinned to."""

from __future__ import annotations

from ..documents.wording import printable
from ..errors import MetricFailure
from ..registries.script_file import Script
from ..registries.script_lock import lock_of, read_lock, without_digest

_TOO_MANY_MODULES = (
    "the sha256 is of the script alone: its folder has more modules, which it may import, than can "
    "be hashed"
)
_UNKNOWN_PACKAGES = (
    "of the packages that the script names one does not lie in its folder, is hidden or cannot be "
    "read, or there is more in them than can be hashed"
)


def check_pin(pin: str | None, script: Script) -> None:
    """Refuse a script that is another one than the metric names.

    Raises:
        MetricFailure: it is, or it cannot be told.
    """
    if pin is None:
        return
    if script.modules is None:
        raise MetricFailure(
            "script-pin",
            "the script imports from a folder with more modules than can be pinned: give it a "
            "folder of its own",
        )
    if script.packages is None:
        raise MetricFailure("script-pin", f"{_UNKNOWN_PACKAGES}: it cannot be pinned")
    if pin.lower() != script.pin:
        beside = f"with {script.company} " if script.company else ""
        raise MetricFailure(
            "script-pin",
            f"{beside}the script has the sha256 {script.pin}, and not {printable(pin)!r}, which "
            "the metric names: it was changed since, and was not run",
        )
    if script.lock and (name := without_digest(read_lock(lock_of(script.path)))):
        raise MetricFailure(
            "script-pin",
            f"the lock beside the script has no digest of {printable(name)}, so the index decides "
            "what is installed: make it anew from an index that tells digests (uv lock --script)",
        )


def not_pinned(script: Script) -> list[str]:
    """What the digest of a script does not tell."""
    notes = [_TOO_MANY_MODULES] if script.modules is None else []
    if script.packages is None:
        notes.append(f"{_UNKNOWN_PACKAGES}: no digest is of them")
    return notes
