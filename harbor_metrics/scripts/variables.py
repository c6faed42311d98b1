"""The variables of ours that other programs are told: by name, and no path in them a relative one.

They are started where a stranger's files lie, where a relative path would mean one of those.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

# By name: ssh passes on whatever variables begin with LC_.
_LOCALE = (
    *("LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT"),
    *("LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME"),
)
TO_ALL = ("PATH", "LANG", "LANGUAGE", *_LOCALE, "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_NETWORK = ("NO_PROXY", "no_proxy", *CERTIFICATES)
# What decides which packages are chosen, and nothing that opens a door.
CHOICES = (
    *("UV_INDEX_STRATEGY", "UV_NO_INDEX", "UV_EXCLUDE_NEWER", "UV_PRERELEASE", "UV_RESOLUTION"),
    *("UV_FORK_STRATEGY", "UV_TORCH_BACKEND"),
)
TO_ANY_UV = (
    *(*TO_ALL, *_NETWORK, *CHOICES),
    *("UV_OFFLINE", "UV_HTTP_TIMEOUT", "UV_REQUEST_TIMEOUT", "UV_HTTP_RETRIES"),
    *("UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST"),
    *("UV_CONCURRENT_DOWNLOADS", "UV_CONCURRENT_INSTALLS", "UV_LOCK_TIMEOUT"),
)
TO_FIND_PYTHONS = (
    *("HOME", "XDG_DATA_HOME", "UV_PYTHON_INSTALL_DIR", "UV_PYTHON_PREFERENCE"),
    *("UV_PYTHON_DOWNLOADS", "UV_MANAGED_PYTHON", "UV_NO_MANAGED_PYTHON"),
)
# With who the user is: for what comes from addresses that the user has set.
TO_UV = (
    *(*TO_ANY_UV, *PROXIES, "SSL_CLIENT_CERT", "NETRC", "UV_CREDENTIALS_DIR", "UV_CACHE_DIR"),
    *(*TO_FIND_PYTHONS, "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "UV_PYTHON_INSTALL_MIRROR"),
    *("UV_PYPY_INSTALL_MIRROR", "UV_PYTHON_DOWNLOADS_JSON_URL"),
)
_LISTS = ("PATH", "LD_LIBRARY_PATH")
_PATHS = (
    *(*CERTIFICATES, "SSL_CLIENT_CERT", "NETRC", "UV_CREDENTIALS_DIR", "UV_CACHE_DIR"),
    *("UV_PYTHON_INSTALL_DIR", "GIT_CONFIG_GLOBAL", "GIT_SSL_CAINFO"),
    *("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
)


def told(names: Iterable[str]) -> dict[str, str]:
    """Those of the variables that are set."""
    return {name: _absolute(name, os.environ[name]) for name in names if name in os.environ}


def folders(name: str) -> list[str]:
    """The folders that a variable such as PATH lists, those by an absolute path."""
    # An empty one is the current folder, too, and often an oversight.
    return [*filter(os.path.isabs, os.environ.get(name, "").split(os.pathsep))]


def which(program: str) -> str | None:
    """Where a program lies, in the folders that PATH lists by an absolute path."""
    # For weight: most scripts need none.
    import shutil

    return shutil.which(program, path=told(["PATH"]).get("PATH"))


def _absolute(name: str, value: str) -> str:
    if name in _LISTS:
        return os.pathsep.join(folders(name))
    if name in _PATHS and value:
        return os.pathsep.join(map(os.path.abspath, value.split(os.pathsep)))
    return value
