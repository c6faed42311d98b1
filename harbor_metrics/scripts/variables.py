"""The variables of ours that other programs are told: by name, and no path in them a relative one.

They are started where a stranger's files lie, where a relative path would mean one of those. Nor
are they told of a place for programs, settings or caches that may have come with what we work on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ..documents.paths import real_path
from ..documents.work import among_work, is_among_work

# By name: ssh passes on whatever variables begin with LC_.
LOCALE = (
    *("LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION"),
    *("LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER"),
    *("LC_TELEPHONE", "LC_TIME"),
)
TO_ALL = ("PATH", *LOCALE, "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH")
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
# Where Pythons come from, which are run: addresses or paths, for who installs one alone. Of what is
# told it puts variables into the addresses that a package's metadata hold.
OF_PYTHONS = ("UV_PYTHON_INSTALL_MIRROR", "UV_PYPY_INSTALL_MIRROR", "UV_PYTHON_DOWNLOADS_JSON_URL")
# The one form: of others not everybody makes the same path.
_FILE = re.compile(r"file://(/[\w.~+/-]+)", re.ASCII)
# With who the user is: for what comes from addresses that the user has set.
TO_UV = (
    *(*TO_ANY_UV, *PROXIES, "SSL_CLIENT_CERT", "NETRC", "UV_CREDENTIALS_DIR", "UV_CACHE_DIR"),
    *(*TO_FIND_PYTHONS, "XDG_CACHE_HOME", "XDG_CONFIG_HOME"),
)
# Of variables that list folders what stands between them.
_SEPARATORS = {"PATH": ":", "LD_LIBRARY_PATH": "[:;]"}
# Where programs lie, or what names some, or what is taken for whole without being looked at.
_BELIEVED = (
    *("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("UV_CACHE_DIR", "UV_PYTHON_INSTALL_DIR", "GIT_CONFIG_GLOBAL"),
)
_PATHS = (*CERTIFICATES, "SSL_CLIENT_CERT", "NETRC", "UV_CREDENTIALS_DIR", "GIT_SSL_CAINFO")


def told(names: Iterable[str]) -> dict[str, str]:
    """Those of the variables that are set, and name nothing that may have come with our work."""
    return {
        name: value
        for name in names
        if name in os.environ and (value := _told(name, os.environ[name])) is not None
    }


def named(name: str) -> str | None:
    """The place that a variable names, whether or not it may have come with our work."""
    value = os.environ.get(name)
    return os.path.abspath(value) if value else None


def folders(name: str) -> list[str]:
    """The folders that a variable such as PATH lists by an absolute path; none among our work."""
    texts = re.split(_SEPARATORS[name], os.environ.get(name, ""))
    # An empty one is the current folder, too, and often an oversight.
    listed = [*filter(os.path.isabs, texts)]
    if name == "LD_LIBRARY_PATH":
        # What stands for `$LIB` the linker alone knows.
        listed = [text for text in listed if "$" not in text]
    work = among_work(listed) if listed else ()
    found = [folder for folder in listed if folder not in work]
    # Others may strike out `..` and a link before it, which lead elsewhere together.
    return [real_path(folder) if ".." in folder.split("/") else folder for folder in found]


def which(program: str) -> str | None:
    """Where a program lies, in `folders` of PATH."""
    # For weight: most scripts need none.
    import shutil

    return shutil.which(program, path=told(["PATH"]).get("PATH"))


def _told(name: str, value: str) -> str | None:
    if name in OF_PYTHONS and value:
        return _not_from_work(value)
    if name in _SEPARATORS:
        return os.pathsep.join(folders(name))
    if name in _BELIEVED and value and is_among_work(os.path.abspath(value)):
        return None
    if name in (*_BELIEVED, *_PATHS) and value:
        return os.pathsep.join(map(os.path.abspath, value.split(os.pathsep)))
    return value


def _not_from_work(value: str) -> str | None:
    """An address, or a path unless what lies there may have come with our work."""
    if re.match("https?://", value, re.IGNORECASE):
        return value
    file = _FILE.fullmatch(value)
    path = os.path.abspath(file[1] if file else value)
    if is_among_work(path):
        return None
    return f"file://{path}" if file else path
