"""`harbor run --plugin metrics`: the numbers of a job, shown and kept when it ends.

Harbor calls `on_job_start` before the first trial and `on_job_end` after its own table. It does not
call the latter after an interrupt or a failed metric of its own; it shows what the former raises
as a traceback, but for SystemExit, which ends the run.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

import msgspec

from ..computation.computing import compute_request
from ..computation.request import Request
from ..documents.files import put_into, write_atomically
from ..documents.wording import in_command, printable
from ..errors import HarborMetricsError, UsageError
from ..evaluation.result import Result
from ..output.streams import as_printed, print_line, print_note, print_text
from ..trials.snapshot import SNAPSHOT, Snapshot
from . import running_job
from .options import Options, options_of, refuse_overwriting
from .script import JOB
from .snapshot import taken_at_end, taken_at_start

DOCUMENT, MARKDOWN = "harbor-metrics.json", "harbor-metrics.md"


class MetricsPlugin:
    """Computes the metrics of registry and job, and those asked for, over a job's trials.

    Nothing of it can harm the job: what goes wrong once there are trials is one sentence.
    """

    def __init__(self, **given: Any) -> None:
        self.folder = ""
        self.snapshot = Snapshot(datasets=[])
        try:
            self.options = options_of(given)
        except UsageError as error:
            raise _stop(error) from None

    async def on_job_start(self, job: Any) -> None:
        """Leave what `compute` needs of a job that is interrupted, and refuse what cannot work.

        Raises:
            SystemExit: an option contradicts the job; there is no trial yet.
        """
        self.folder = running_job.folder_of(job)
        os.environ[JOB] = os.path.abspath(self.folder)
        try:
            refuse_overwriting(self.options, self.folder)
            self.snapshot = taken_at_start(job, self.options.registry)
        except HarborMetricsError as error:
            raise _stop(error) from None
        except Exception as error:  # noqa: BLE001  # Harbor may be another than we know
            self._say(f"labels and registry were not kept: {_sentence(error)}")
        self._keep()
        atexit.register(self._not_ended)

    async def on_job_end(self, job_result: Any) -> None:
        """Compute, keep and show; whatever happens, the job is as Harbor left it."""
        atexit.unregister(self._not_ended)
        os.environ.pop(JOB, None)
        try:
            self._end(job_result)
        except Exception as error:  # noqa: BLE001  # the job must not be harmed
            self._say(f"{_sentence(error)}; the job is as Harbor left it; {self._by_hand()}")

    def _end(self, job_result: Any) -> None:
        try:
            self.snapshot = taken_at_end(self.snapshot, job_result.trial_results)
        except Exception as error:  # noqa: BLE001  # Harbor may be another than we know
            self._say(f"labels were not kept: {_sentence(error)}")
        self._keep()
        result = compute_request(request_of(self.folder, self.options))
        document = self.options.document or os.path.join(self.folder, DOCUMENT)
        unwritten = self._write(result, document)
        if not self.options.quiet:
            _show(result)
        for sentence in unwritten:
            self._say(sentence)
        if not unwritten and not self.options.quiet:
            print_text(f"Metrics written to {printable(document)}\n")
        if self.options.require_complete and not result.complete:
            self._say(f"{result.not_as_planned}, and require_complete was given")

    def _write(self, result: Result, document: str) -> list[str]:
        """Write the document and its Markdown; why not, where it cannot be done."""
        # Inside, for weight: Harbor loads plugins before it knows that there will be a job.
        from ..render.markdown import markdown
        from ..render.overview import sheets

        written = as_printed(result.to_json(), "json")
        page = as_printed(markdown(sheets(result)), "markdown")
        try:
            if self.options.document is None:
                put_into(self.folder, DOCUMENT, written)
                put_into(self.folder, MARKDOWN, page)
            else:
                write_atomically(document, written)
                write_atomically(f"{os.path.splitext(document)[0]}.md", page)
        except HarborMetricsError as error:
            return [f"{error}; {self._by_hand()}"]
        return []

    def _keep(self) -> None:
        """Write the snapshot; a folder that cannot be written is said at the end."""
        text = msgspec.json.format(msgspec.json.encode(self.snapshot), indent=2).decode()
        data = as_printed(f"{text}\n", "json")
        try:
            put_into(self.folder, SNAPSHOT, data)
        except HarborMetricsError as error:
            self._say(str(error))

    def _not_ended(self) -> None:
        self._say(f"the job did not end; {self._by_hand()}")

    def _by_hand(self) -> str:
        return f"its numbers: harbor-metrics compute {in_command(self.folder)}"

    def _say(self, sentence: str) -> None:
        print_line(f"harbor-metrics: {sentence}")


def request_of(folder: str, options: Options) -> Request:
    """What `compute` would be asked for this job."""
    return Request(
        sources=(folder,),
        registries=options.registry,
        metrics=options.metrics,
        missing=options.missing,
        level=options.level,
        own_jobs=True,
    )


def _show(result: Result) -> None:
    """The table, and what there is to say about it, after all that Harbor has printed."""
    # Inside, for weight: Harbor loads plugins before it knows that there will be a job.
    import shutil

    from ..render.overview import sheets
    from ..render.remarks import remarks
    from ..render.table import table

    sys.stdout.flush()
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else 80
    print_text("\n" + table(sheets(result), width=width, colour=terminal), styles=terminal)
    print_note(remarks(result.found, width=width))


def _sentence(error: Exception) -> str:
    if isinstance(error, HarborMetricsError):
        return f"{error} ({error.help})" if error.help else str(error)
    return f"{type(error).__name__}: {error}".split("\n")[0]


def _stop(error: HarborMetricsError) -> SystemExit:
    """What ends the run before there is a trial, in one line."""
    sentence = " ".join(_sentence(error).split())
    print_line(f"harbor-metrics: error: {sentence}")
    return SystemExit(error.exit_code)
