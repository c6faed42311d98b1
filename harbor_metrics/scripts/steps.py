"""The steps that make an environment: each within limits, in a folder that is nobody else's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from ..confinement.finished import Finished, ending
from ..confinement.workplace import Confinement, RefusedError, Workplace
from ..documents.wording import last_lines, listed
from ..errors import MetricFailure
from .bounds import GIB, limits, refusal, whole
from .options import ScriptOptions
from .passwords import with_passwords, without_our_passwords

# A step has as long as the script has, but not less.
LEAST_SECONDS = 10.0
# What uv may take, whose wheels are larger than what a script writes.
_FILE_SIZE, _OPEN_FILES = 16 * GIB, 16_384
# GiB of all its processes together.
_MEMORY = 4.0


def not_made(why: str, said: str = "") -> MetricFailure:
    """There is no environment, and why; `said` is what a program said of it."""
    message = f"the environment of the script could not be made: {why}"
    return MetricFailure("script-environment", message, said=said)


def changed() -> MetricFailure:
    """What is installed is not what the pin of the script was of."""
    return MetricFailure(
        "script-environment", "the script was changed while its environment was made"
    )


@dataclass(frozen=True, slots=True)
class Work:
    """What each step may take, and the folder that it starts in and has for temporary files."""

    place: Workplace
    options: ScriptOptions
    folder: str
    # Whether what a program says when it fails is shown.
    quoted: bool = True
    # What says the same to who runs it himself, where it is not shown.
    again: str = ""

    @classmethod
    def of(
        cls, place: Workplace, options: ScriptOptions, *, quoted: bool = True, again: str = ""
    ) -> Work:
        """Work in a new folder: what code of packages leaves in it nobody else reads.

        Raises:
            MetricFailure: there is no room for a folder.
        """
        folder = os.path.join(place.folder, f"uv-{os.urandom(4).hex()}")
        try:
            os.mkdir(folder, 0o700)
        except OSError as error:
            raise not_made(str(error)) from error
        return cls(place, options, folder, quoted, again)

    def step(
        self,
        argv: list[str],
        env: dict[str, str],
        confined: Confinement,
        *,
        may_fail: bool = False,
        advice: str = "",
    ) -> Finished:
        """Run a program as a step.

        Raises:
            MetricFailure: it cannot be run, or it failed and may not.
        """
        seconds = max(LEAST_SECONDS, self.options.timeout)
        options = self.options
        if options.memory:
            options = replace(options, memory=max(options.memory, _MEMORY))
        most = limits(options, seconds=seconds)
        most |= {"RLIMIT_FSIZE": _FILE_SIZE, "RLIMIT_NOFILE": _OPEN_FILES}
        try:
            # In an empty folder: uv looks around where it is started, and has locks in TMPDIR.
            finished = self.place.run(
                argv,
                env={**env, "TMPDIR": self.folder},
                cwd=self.folder,
                timeout=seconds,
                limits=most,
                confinement=confined,
                # How much packages take on the disk nobody knows before.
                whole=whole(options, [], n_bytes=0, n_files=0),
            )
        except RefusedError as error:
            raise refusal(error, self.options) from error
        except OSError as error:
            raise not_made(str(error)) from error
        failed = not may_fail and (finished.timed_out or finished.code != 0)
        if failed or finished.exceeded:
            raise self.failure(finished, env, advice)
        return finished

    def failure(
        self, finished: Finished, env: Mapping[str, str], advice: str = ""
    ) -> MetricFailure:
        """What uv said when it failed in that environment, and what to do about it."""
        seconds = max(LEAST_SECONDS, self.options.timeout)
        late = "(--script-timeout)" if finished.timed_out else advice
        why = f"{ending(finished, seconds)}{f' {late}' if late else ''}"
        known = with_passwords(env)
        said = ""
        if self.quoted and known:
            why += (
                f"; what it said is not shown, since {listed(known)} told it passwords, which a "
                "package can make it print"
            )
            why += f": see {self.again}" if self.again else ""
        elif self.quoted:
            said = last_lines(without_our_passwords(finished.stderr))
        return not_made(f"uv {why}", said)
