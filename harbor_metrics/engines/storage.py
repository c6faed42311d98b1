"""Object storage, through fsspec, with the user's own settings and no others."""

from __future__ import annotations

import os
from typing import Any

from ..documents.wording import printable
from ..documents.work import is_among_work
from ..errors import InputError
from .asked import first_line
from .extras import require

# They say which host is asked and gets the credentials, and which programs are run for these.
_EXPANDED = ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CREDENTIAL_FILE")
_EXPANDED_LIST = "AWS_DATA_PATH"
_AS_WRITTEN = ("FSSPEC_CONFIG_DIR", "BOTO_CONFIG")


def filesystem(protocol: str) -> Any:
    """The storage of a protocol, as DuckDB is told of it.

    Raises:
        InputError: what is needed is not installed, or the settings may be a stranger's.
    """
    _check_settings(protocol)
    fsspec = require("fsspec", "s3")
    try:
        return fsspec.filesystem(protocol)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"{protocol}:// cannot be read: {first_line(error)}",
            "pip install 'harbor-metrics[engine,s3]'"
            if protocol in ("s3", "s3a")
            else f"install what fsspec needs for {protocol}://",
        ) from error


def _check_settings(protocol: str) -> None:
    for name, path in _settings():
        if is_among_work(os.path.abspath(path)):
            raise InputError(
                f"{protocol}:// is not read: its settings would come from {name} "
                f"({printable(path)}): they may have come with the current folder or a checkout, "
                "and decide who gets your credentials",
                f"set {name} to a place outside of them, with AWS_ACCESS_KEY_ID and the like in "
                "variables, or start in another folder",
            )


def _settings() -> list[tuple[str, str]]:
    """What fsspec and botocore read settings from: a variable, and each path in it.

    What holds credentials or certificates alone is not among them: that may lie anywhere.
    """
    found = [(name, os.environ.get(name, "")) for name in _AS_WRITTEN]
    listed = os.environ.get(_EXPANDED_LIST, "").split(os.pathsep)
    named = [(name, os.environ.get(name, "")) for name in _EXPANDED]
    named += [(_EXPANDED_LIST, path) for path in listed]
    found += [(name, os.path.expanduser(os.path.expandvars(path))) for name, path in named]
    return [("HOME", os.path.expanduser("~")), *((name, path) for name, path in found if path)]
