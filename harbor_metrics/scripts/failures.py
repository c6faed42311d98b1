"""What is said of a script that ended otherwise than it should."""

from __future__ import annotations

import signal

from ..confinement.ending import REMAINING
from ..confinement.finished import Finished, ending
from ..confinement.places import SCRATCH_BYTES, SCRATCH_FILES
from ..confinement.usage import MEMORY
from ..documents.wording import last_lines
from ..registries.script_file import Script, metadata
from .bounds import FILE_SIZE, PROCESSES, THREADS
from .options import ScriptOptions

_MOST = {
    "processes": f"{PROCESSES}",
    "threads": f"{THREADS}",
    "bytes": f"{SCRATCH_BYTES >> 20} MiB",
    "files": f"{SCRATCH_FILES}",
}
_REFUSALS = (b"PermissionError", b"Permission denied", b"Network is unreachable", b"not permitted")


def ended(finished: Finished, options: ScriptOptions) -> str:
    """How it ended, and by which option or limit."""
    words = ending(finished, options.timeout)
    if finished.exceeded == REMAINING:
        return words
    if finished.timed_out:
        return f"{words} (--script-timeout)"
    if finished.exceeded == MEMORY:
        return f"{words}: more than {options.memory:g} GiB (--script-memory)"
    if finished.exceeded:
        return f"{words}: more than {_MOST[finished.exceeded]}"
    if finished.code == -signal.SIGXCPU:
        return f"{words}: it used the processor for longer than its time limit on all cores"
    if b"MemoryError" in finished.stderr or b"std::bad_alloc" in finished.stderr:
        return f"{words}: out of memory, of which it gets {options.memory:g} GiB (--script-memory)"
    if finished.code == -signal.SIGXFSZ or b"[Errno 27]" in finished.stderr:
        return f"{words}: it wrote a file of more than {FILE_SIZE >> 20} MiB"
    return words


def said(script: Script, finished: Finished) -> str:
    """What the script said last, and before it what may be behind it."""
    advice = ""
    if b"ModuleNotFoundError" in finished.stderr and metadata(script) is None:
        advice = (
            "; it has no PEP 723 block, so it gets the standard library alone: "
            "declare what it imports (`uv add --script`)"
        )
    elif finished.layers and any(words in finished.stderr for words in _REFUSALS):
        advice = "; the sandbox may have stopped it (`harbor-metrics script check` tells)"
    return f"{advice}{last_lines(finished.stderr)}"
