"""Where a script's block or lock leads uv to, beyond the addresses that the user has set.

uv asks whatever address a PEP 723 block names, and sends it the passwords that it knows for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from ..documents.wording import listed, printable, without_passwords
from ..errors import MetricFailure
from .local_packages import asks_for_an_address

_OF_USER = (
    *("UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
)
# Settings that name where packages are looked for: a folder there can lead to any address.
_INDEXES = ("index", "index-url", "extra-index-url", "find-links")
# Settings that lead nowhere by themselves; what uv learns later is not among them.
_HARMLESS = {
    *("sources", "no-sources", "exclude-newer", "exclude-newer-package", "prerelease"),
    *("resolution", "fork-strategy", "index-strategy", "environments", "required-environments"),
    *("required-version", "conflicts", "dependency-metadata", "link-mode", "compile-bytecode"),
    *("no-build", "no-build-package", "no-build-isolation", "no-build-isolation-package"),
    *("no-binary", "no-binary-package", "config-settings", "config-settings-package"),
    *("constraint-dependencies", "override-dependencies", "build-constraint-dependencies"),
    *("extra-build-dependencies", "extra-build-variables", "exclude-dependencies", "offline"),
    *("no-index", "no-cache", "reinstall", "reinstall-package", "upgrade", "upgrade-package"),
    *("python-preference", "python-downloads", "preview", "package", "managed", "cache-keys"),
    *("cache-dir", "keyring-provider", "dev-dependencies", "default-groups"),
}
# As the URL parser of uv takes them: with or without slashes, or those of Windows.
_ADDRESS = re.compile(r"(?:https?|ssh|git|ftps?|file|s3|gs|sftp):|:[/\\]{2}|^[/\\]{2}|git@")
# A name, and a file of this machine, perhaps with its digest.
_FILE = re.compile(r"[\w.\[\],-]+ *@ *file://(/[^#?\s;\\\x00]*)(?:#sha256=[0-9a-f]{64})?")
_VARIABLE = re.compile(r"\$\{?\w")
# What would be more than a part of one line where uv writes names and paths of a lock into lines.
_BEYOND_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029#\\]|\$\{?\w")


def lead_elsewhere(
    wants: Mapping[str, Any],
    lock: Mapping[str, Any],
    packages: Sequence[str] = (),
    *,
    folder: str,
    allow_network: bool,
) -> bool:
    """Whether the script leads to an address of its own, so that no password may be sent.

    A file that lies in the script's own `folder` is as near as the script itself; of the local
    `packages` it is asked whether they depend on something at an address.

    Raises:
        MetricFailure: it does, and the network is not allowed; or an address holds a variable.
    """
    dependencies, settings = wants.get("dependencies"), _settings(wants)
    if any(_VARIABLE.search(text) for text in _texts([dependencies, settings])):
        raise MetricFailure(
            "script-metadata",
            "the PEP 723 block of the script holds a variable of the environment, which uv would "
            "put into an address: write the address itself",
        )
    if isinstance(dependencies, list):
        dependencies = [text for text in dependencies if not _is_beside(text, folder)]
    elsewhere = list(dict.fromkeys([*_of_block(dependencies, settings), *_of_lock(lock)]))
    elsewhere += [
        f"what {printable(os.path.basename(path))} depends on"
        for path in filter(asks_for_an_address, packages)
    ]
    if elsewhere and not allow_network:
        shown = listed([without_passwords(text)[:200] for text in elsewhere])
        raise MetricFailure(
            "script-environment",
            f"the script asks uv for more than the indexes that you have set: {shown} "
            "(--allow-network permits it, without any password)",
        )
    return bool(elsewhere)


def _is_beside(dependency: Any, folder: str) -> bool:
    """Whether a dependency is a file in that folder, or below it."""
    match = _FILE.fullmatch(dependency) if isinstance(dependency, str) else None
    if match is None:
        return False
    path, own = os.path.realpath(unquote(match[1])), os.path.realpath(folder)
    return os.path.commonpath([path, own]) == own


def _settings(wants: Mapping[str, Any]) -> dict[str, Any]:
    tool = wants.get("tool")
    settings = tool.get("uv") if isinstance(tool, dict) else None
    return settings if isinstance(settings, dict) else {}


def _of_block(dependencies: Any, settings: Mapping[str, Any]) -> Iterator[str]:
    known = _of_user() if settings else set()
    for name, value in settings.items():
        if name in _INDEXES:
            entries = value if isinstance(value, list) else [value]
            places = [e.get("url", "") if isinstance(e, dict) else e for e in entries]
            yield from (text for text in _texts(places) if _plain(text) not in known)
        elif name not in _HARMLESS:
            yield f"the setting `{name}`"
        else:
            yield from filter(_is_address, _texts(value))
    yield from filter(_is_address, _texts(dependencies))


def read_lock(lock: bytes | None) -> dict[str, Any]:
    """The table of a lock, empty where there is none.

    Raises:
        MetricFailure: it is not what uv writes, so that uv may read something else in it.
    """
    if lock is None:
        return {}
    # For weight: few scripts have a lock.
    import tomllib

    try:
        content = tomllib.loads(lock.decode())
    except (ValueError, RecursionError) as error:
        raise _not_of_uv(f"is not TOML: {error}") from error
    # None of the addresses of files is used.
    texts = _texts(content, without="url")
    odd = next((text for text in texts if _BEYOND_A_LINE.search(text)), None)
    if odd is not None:
        raise _not_of_uv(f"holds {printable(odd[:200])!r}, which is no name, path or marker")
    return content


def _not_of_uv(what: str) -> MetricFailure:
    return MetricFailure(
        "script-environment",
        f"the lock beside the script {what} (make it anew: uv lock --script)",
    )


def _of_lock(lock: Mapping[str, Any]) -> Iterator[str]:
    """The addresses in a lock, but those of packages that an index has.

    Of these the name, the version and the digests are used, and the user's indexes are asked.
    """
    content = dict(lock)
    packages = content.pop("package", [])
    if isinstance(packages, list):
        packages = [package for package in packages if not _of_index(package)]
    known = _of_user() if content or packages else set()
    for text in filter(_is_address, _texts([content, packages])):
        if _plain(text) not in known:
            yield text


def _of_index(package: Any) -> bool:
    source = package.get("source") if isinstance(package, dict) else None
    return isinstance(source, dict) and list(source) == ["registry"]


def _of_user() -> set[str]:
    """The plain addresses that the user has set."""
    texts = [os.environ.get(name, "") for name in _OF_USER]
    addresses = [address for text in texts for address in re.split(r"[\s,]+", text)]
    # An index can have a name.
    return {_plain(re.sub(r"^[\w.-]+=", "", address)) for address in addresses}


def _texts(value: Any, without: str | None = None) -> Iterator[str]:
    """All texts in a value, keys among them; of the key `without` only the key."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key != without:
                yield from _texts(inner, without)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, without)


def _is_address(text: str) -> bool:
    return _ADDRESS.search(_plain(text)) is not None


def _plain(text: str) -> str:
    """An address without what says nothing of where it leads."""
    return re.sub(r"[\x00-\x20]|(?<=://)[^/\s]*@|/+$", "", text).lower()
