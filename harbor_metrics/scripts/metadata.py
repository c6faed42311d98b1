"""The PEP 723 block of a script: which Python and which packages it needs."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from .file import Script, ScriptError

# The block format and this expression are those of PEP 723.
_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


def metadata(script: Script) -> dict[str, Any] | None:
    """The PEP 723 block of a script as a table, None if it has no block.

    Raises:
        ScriptError: the block stands there twice or is not TOML.
    """
    text = script.text.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    blocks = [match for match in _BLOCK.finditer(text) if match["type"] == "script"]
    if not blocks:
        return None
    if len(blocks) > 1:
        line = text.count("\n", 0, blocks[1].start()) + 1
        raise ScriptError(
            f"the script has more than one PEP 723 block, the second on line {line}",
            "script-metadata",
        )
    lines = blocks[0]["content"].splitlines()
    content = "\n".join(line[2:] if line.startswith("# ") else line[1:] for line in lines)
    try:
        return tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise ScriptError(
            f"the PEP 723 block of the script is not TOML: {why}", "script-metadata"
        ) from error
