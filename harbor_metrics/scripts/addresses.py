"""Where a script's block or lock leads uv to, beyond the addresses that the user has set.

uv asks whatever address a PEP 723 block names, and sends it the passwords that it knows for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..documents.wording import listed, printable, without_passwords
from ..errors import MetricFailure
from ..registries.local_packages import INDEXES, settings_of
from . import indexes
from .lock import of_lock
from .requirements import is_beside, is_file_beside, is_plain, is_words
from .wheels import asks_for_an_address

# Settings that lead nowhere by themselves; what uv learns later is not among them.
_HARMLESS = {
    *("no-sources", "exclude-newer", "exclude-newer-package", "prerelease"),
    *("resolution", "fork-strategy", "index-strategy", "environments", "required-environments"),
    *("required-version", "conflicts", "dependency-metadata", "link-mode", "compile-bytecode"),
    *("no-build", "no-build-package", "no-build-isolation", "no-build-isolation-package"),
    *("no-binary", "no-binary-package", "config-settings", "config-settings-package"),
    *("constraint-dependencies", "override-dependencies", "build-constraint-dependencies"),
    *("extra-build-dependencies", "extra-build-variables", "exclude-dependencies", "offline"),
    *("no-index", "no-cache", "reinstall", "reinstall-package", "upgrade", "upgrade-package"),
    *("python-preference", "python-downloads", "package", "managed"),
    *("keyring-provider", "dev-dependencies", "default-groups"),
}
# Paths that lead to no package: we say where the cache is.
_FREE = {"cache-dir", "cache-keys"}
# What the source of a package may say that lies beside the script, or is one of an index.
_OF_SOURCE = {"path", "index", "editable", "package", "marker", "extra", "group"}
_VARIABLE = re.compile(r"\$\{?\w")


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
    `packages` it is asked whether they depend on something at an address. What could be read
    otherwise than we read it leads elsewhere.

    Raises:
        MetricFailure: it does, and the network is not allowed; or an address holds a variable.
    """
    dependencies, settings = wants.get("dependencies"), settings_of(wants)
    if any(_VARIABLE.search(text) for text in _texts([dependencies, settings])):
        raise MetricFailure(
            "script-metadata",
            "the PEP 723 block of the script holds a variable of the environment, which uv would "
            "put into an address: write the address itself",
        )
    elsewhere = list(dict.fromkeys(_of_block(dependencies, settings, folder)))
    elsewhere += dict.fromkeys(of_lock(lock, folder))
    elsewhere += [
        f"what {printable(os.path.basename(path))} depends on"
        for path in filter(asks_for_an_address, _each_once(packages))
    ]
    if elsewhere and not allow_network:
        shown = listed([without_passwords(text)[:200] for text in elsewhere])
        raise MetricFailure(
            "script-environment",
            f"the script asks uv for more than the indexes that you have set: {shown} "
            "(--allow-network permits it, without any password)",
        )
    return bool(elsewhere)


def _each_once(packages: Sequence[str]) -> Iterator[str]:
    """One path of each file: what has hundreds of names takes no more room than with one."""
    seen = set()
    for path in packages:
        try:
            status = os.stat(path)
        except OSError:
            continue  # nothing is installed from there
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            yield path


def _of_block(dependencies: Any, settings: Mapping[str, Any], folder: str) -> Iterator[str]:
    yield from _of_dependencies(dependencies, folder)
    for name, value in settings.items():
        if name in INDEXES:  # a folder there can lead to any address
            yield from _of_indexes(name, value)
        elif name == "sources":
            yield from _of_sources(value, folder)
        elif name not in _HARMLESS | _FREE:
            yield f"the setting `{name}`"
        elif name.endswith("dependencies"):
            yield from _of_dependencies(value, folder)
        elif name not in _FREE:
            yield from (text for text in _texts(value) if not is_words(text))


def _of_dependencies(value: Any, folder: str) -> Iterator[str]:
    for text in _texts(value):
        if not is_plain(text) and not is_file_beside(text, folder):
            yield text


def _of_indexes(name: str, value: Any) -> Iterator[str]:
    known = indexes.known(pages=name != "find-links")
    for entry in value if isinstance(value, list) else [value]:
        if not indexes.is_of_user(entry, known):
            url = entry.get("url") if isinstance(entry, dict) else entry
            yield url if isinstance(url, str) and url else f"the setting `{name}`"


def _of_sources(sources: Any, folder: str) -> Iterator[str]:
    for name, value in sources.items() if isinstance(sources, dict) else [("", sources)]:
        for source in value if isinstance(value, list) else [value]:
            table = source if isinstance(source, dict) else {"": source}
            beside = "path" not in table or is_beside(table["path"], folder)
            others = [inner for key, inner in table.items() if key != "path"]
            if not (table.keys() <= _OF_SOURCE and beside and all(map(is_words, _texts(others)))):
                places = [table.get(key) for key in ("url", "git", "path")]
                shown = next((text for text in places if isinstance(text, str)), None)
                yield shown or f"the source of `{name}`"


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, keys among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
