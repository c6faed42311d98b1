"""What lies in a folder or fits a pattern: each once, and nothing that a link leads out to."""

from __future__ import annotations

from ...documents.diagnostics import Diagnostic
from ...documents.paths import is_address, leads_out, real_path, up_to_link

# Protocols of files of this machine.
_HERE = ("file", "local")


class Entries:
    """Which paths are read, and in `diagnostics` why others are not."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._first: dict[str, str] = {}

    def admits(self, path: str, folder: str | None = None, *, is_job: bool = False) -> bool:
        """Whether a path is to be read: it was not yet, and leads to what lies in the folder.

        Without a folder somebody has named the path itself, and it may lead anywhere.
        """
        said = None if folder is None else stray(path, folder, is_job=is_job)
        real = _real(path)
        if said is None and (first := self._first.get(real)) is not None:
            same = f"the same as {first}" if first != path else "meant more than once"
            said = Diagnostic(
                rule="repeated-source", message=f"{path} is {same} and counts once", path=path
            )
        if said is not None:
            # A pattern fits many files behind one link.
            if said not in self.diagnostics[-1:]:
                self.diagnostics.append(said)
            return False
        self._first[real] = path
        return True


def _real(path: str) -> str:
    """What a path leads to, by whichever name; what lies on storage has no links."""
    if not is_address(path):
        return real_path(path)
    protocol, _, rest = path.partition("://")
    return real_path(rest) if protocol in _HERE and rest.startswith("/") else path


def copied(path: str, other: str) -> Diagnostic:
    """That a source has the bytes of another, and trials that no ids tell to be that one's."""
    return Diagnostic(
        rule="source-copied",
        message=f"{path} is a copy of {other}, and its trials, which have no ids, count again",
        path=path,
    )


def stray(path: str, folder: str, *, is_job: bool = False) -> Diagnostic | None:
    """Why what was found in a folder is not read: it is a link out of there; else None.

    Whoever made the folder may not know what it leads to, and whoever reads it may.
    """
    if not leads_out(path, folder):
        return None
    path = up_to_link(path, folder, lambda part: leads_out(part, folder))
    return Diagnostic(
        rule="unread-job" if is_job else "unread-file",
        message=f"{path} is not read: it is a link to what lies outside of {folder}",
        path=path,
        help="name it itself, if it is yours, or copy what links lead to (`cp -RL`)",
    )
