"""The lock beside a script: what uv writes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..documents.files import open_real, reason
from ..documents.paths import real_path
from ..documents.wording import printable
from ..errors import MetricFailure
from .pins import odd_text

# That of a script with hundreds of packages has a third of it.
MOST_BYTES = 4 << 20
# uv writes none outside of texts, and reading a long row of dotted keys takes its square.
_MOST_DOTS = 6
# What uv takes for `package` still, and nobody else does.
_OLDER = "distribution"
_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?")


def lock_of(script: str) -> bytes | None:
    """The lock beside the script at a path, None where there is none.

    Raises:
        MetricFailure: it cannot be read, is too large, or is a link that leads elsewhere.
    """
    folder, name = os.path.split(f"{script}.lock")
    try:
        to = os.readlink(os.path.join(folder, name))
    except OSError:
        to = name  # no link
    # By a bare name: on a longer way uv, another process, can come elsewhere. Of what stands there
    # our messages and those of uv tell; a link that lies there, too, is not followed.
    if to != name and ("/" in to or to.startswith(".")):
        raise MetricFailure(
            "script-environment",
            "the lock beside the script is a link to what does not lie right beside it, or is "
            "hidden there: put the lock itself there",
        )
    real = os.path.join(real_path(folder), to)
    try:
        with open_real(real) as file:
            lock = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        if to == name:
            return None
        raise MetricFailure(
            "script-environment",
            f"the lock beside the script is a link to {printable(to)}, which is not there",
        ) from None
    except OSError as error:
        raise MetricFailure(
            "script-environment", f"the lock beside the script cannot be read: {reason(error)}"
        ) from error
    if len(lock) > MOST_BYTES:
        raise MetricFailure(
            "script-environment",
            f"the lock beside the script has more than {MOST_BYTES >> 20} MiB",
        )
    return lock


def without_digest(lock: Mapping[str, Any]) -> str | None:
    """The name of a package of which an index decides later what file it is; None of none."""
    for package in _tables(lock.get("package")):
        source = package.get("source")
        files = [*_tables(package.get("wheels")), *_tables([package.get("sdist")])]
        of_index = isinstance(source, dict) and "registry" in source
        if of_index and not (files and all("hash" in file for file in files)):
            return str(package.get("name"))
    return None


def _tables(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


@lru_cache(maxsize=4)
def read_lock(lock: bytes | None) -> dict[str, Any]:
    """The table of a lock, empty where there is none.

    Raises:
        MetricFailure: it is not what uv writes, so that uv may read something else in it.
    """
    if lock is None:
        return {}
    # For weight: few scripts have a lock.
    from ..documents.toml import loads

    if len(lock) > MOST_BYTES:
        raise _not_of_uv(f"has more than {MOST_BYTES >> 20} MiB")
    try:
        text = lock.decode()
        if '"""' in text or "'''" in text:
            raise _not_of_uv("holds a text of several lines")
        if any(line.count(".") > _MOST_DOTS for line in _TEXT.sub("", text).splitlines()):
            raise _not_of_uv("holds a key of too many parts")
        content = loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_of_uv(f"is not TOML: {error}") from error
    if _OLDER in content:
        raise _not_of_uv(f"names its packages by `{_OLDER}`, as uv did before it called them so")
    odd = odd_text(content)
    if odd is not None:
        raise _not_of_uv(
            f"holds {printable(odd[:200])!r}, which is no name, version, digest, path or marker"
        )
    return content


def _not_of_uv(what: str) -> MetricFailure:
    return MetricFailure(
        "script-environment",
        f"the lock beside the script {what} (make it anew: uv lock --script)",
    )
