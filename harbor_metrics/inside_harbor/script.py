"""What the metric script of a dataset does in Harbor, which calls it after every trial.

Harbor gives a script nothing but rewards. This one finds its trials: in the file that `compute`
hands to scripts, else in the folder of the job that calls it. While trials run it answers `trials`
alone, and imports nothing that this does not need: every call holds up all trials.
"""

from __future__ import annotations

import os

# As `typing.TYPE_CHECKING`, whose module takes time to load.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..computation.preparation import Prepared
    from ..computation.request import Request
    from ..evaluation.result import Outcome
    from ..registries.harbor_script import Settings

# What `compute` and the plugin tell a script by.
TRIALS, JOB = "HARBOR_METRICS_TRIALS", "HARBOR_METRICS_JOB"
_COUNT, _STDERR = "trials", " stderr"


def main(script: str, arguments: Sequence[str]) -> None:
    """Answer Harbor, or `compute`, whose `-i` and `-o` the arguments name.

    In Harbor it never fails, because that would end the job, and never answers an empty object.
    In `compute` a metric that fails is an error.
    """
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    with open(given["-i"], "rb") as file:
        lines = file.read().splitlines()
    values: dict[str, int | float] = {_COUNT: len(lines)}
    if TRIALS in os.environ:
        values |= _in_compute(script, os.environ[TRIALS])
    else:
        job = os.environ.get(JOB) or _folder_of_the_job()
        if job is not None and _has_ended(job):
            try:
                values |= _in_harbor(script, job, lines)
            except Exception as error:  # noqa: BLE001  # a failure would end the job
                _say(f"{type(error).__name__}: {error}")
    with open(given["-o"], "w", encoding="utf-8") as file:
        file.write(_as_json(values))


def _as_json(values: dict[str, int | float]) -> str:
    if len(values) == 1:
        return f'{{"{_COUNT}": {values[_COUNT]}}}'
    # For weight: while trials run there is one number.
    import json

    return json.dumps(values)


def _say(sentence: str) -> None:
    # For weight: hardly any call has something to say.
    from ..output.streams import print_line

    print_line(f"harbor-metrics: {sentence}")


def _folder_of_the_job() -> str | None:
    """The folder of the job.log that a process above this one has open: uv, then Harbor.

    Linux alone tells; elsewhere only the plugin does.
    """
    process = os.getppid()
    while process > 1:
        try:
            for entry in os.scandir(f"/proc/{process}/fd"):
                path = os.readlink(entry.path)
                if path.endswith("/job.log") and os.path.isfile(f"{path[:-8]}/lock.json"):
                    return path[:-8]
            with open(f"/proc/{process}/stat", "rb") as file:
                process = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError):
            return None
    return None


def _has_ended(job: str) -> bool:
    """Whether all trials of the job have; Harbor has then asked for the last time, or nearly."""
    try:
        with open(f"{job}/result.json", "rb") as file:
            said = file.read()
        return _first_number(said, b"n_completed_trials") == _first_number(said, b"n_total_trials")
    except (OSError, ValueError):
        return False


def _first_number(document: bytes, name: bytes) -> int:
    """The number behind a name, read without a decoder, which takes longer to import than all else.

    Harbor writes both names before any text of somebody else's.

    Raises:
        ValueError: there is none.
    """
    _, _, rest = document.partition(b'"%s":' % name)
    return int(rest.replace(b"}", b",").partition(b",")[0])


def _in_compute(script: str, trials: str) -> dict[str, int | float]:
    # For weight: in Harbor, before the end, nothing of this is needed.
    from functools import reduce
    from operator import add

    import msgspec

    from ..computation.preparation import prepare
    from ..errors import MetricFailure

    settings = _settings(script)
    request = _request(settings, trials)
    prepared = prepare(request)
    if len(prepared.groups) > 1:
        # What is handed over is one group, whatever names its trials have kept. With their rows:
        # a metric that needs them would else have them read again, in the groups of the file.
        prepared = prepare(request, keep=True)
        pool = reduce(add, (group.pool for group in prepared.groups))
        whole = msgspec.structs.replace(prepared.groups[0], pool=pool)
        prepared = msgspec.structs.replace(prepared, groups=[whole])
    failed, values = _values(settings, request, prepared)
    if failed:
        raise MetricFailure("script-failed", failed[0])
    return values[0] if values else {}


def _in_harbor(script: str, job: str, lines: Sequence[bytes]) -> dict[str, int | float]:
    # For weight: once a job.
    import json
    from collections import Counter

    import msgspec

    from ..computation.preparation import prepare

    settings = _settings(script)
    request = _request(settings, job)
    # With rows: a metric that needs them would else have all groups read again.
    prepared = prepare(request, keep=True)
    given = Counter(json.dumps(json.loads(line), sort_keys=True) for line in lines)
    groups = [
        group
        for group in prepared.groups
        if Counter(json.dumps(r, sort_keys=True) for r in group.pool.table.rewards()) == given
    ]
    prepared = msgspec.structs.replace(prepared, groups=groups)
    failed, values = _values(settings, request, prepared)
    for sentence in failed:
        _say(sentence)
    if not values:
        return {}
    # Groups of the same rewards cannot be told apart: what all have is right for each.
    return {
        name: value
        for name, value in values[0].items()
        if all(other.get(name) == value for other in values)
    }


def _settings(script: str) -> Settings:
    # For weight: once a job.
    from ..errors import InputError
    from ..registries.harbor_script import settings_of
    from ..registries.script_file import metadata, read

    settings = settings_of(metadata(read(os.path.realpath(script), script)))
    if settings is None:
        raise InputError(f"{script} has no [tool.harbor-metrics] in its PEP 723 block")
    return settings


def _request(settings: Settings, source: str) -> Request:
    # For weight: once a job.
    from ..computation.request import LEVEL, Request

    return Request(
        sources=(source,),
        metrics=tuple(settings.specs),
        missing=settings.missing,
        level=LEVEL if settings.stderr else None,
        only_asked=True,
    )


def _values(
    settings: Settings, request: Request, prepared: Prepared
) -> tuple[list[str], list[dict[str, int | float]]]:
    """Why metrics failed, and the values of each group by name."""
    # For weight: once a job.
    from ..computation.computing import finish

    result = finish(request, prepared)
    outcomes = [outcome for group in result.groups for outcome in group.metrics]
    failed = [f"{o.name}: {o.error.message}" for o in outcomes if o.status == "failed" and o.error]
    return failed, [_flat(group.metrics, stderr=settings.stderr) for group in result.groups]


def _flat(outcomes: Iterable[Outcome], *, stderr: bool) -> dict[str, int | float]:
    """Values by name; one that is undefined is left out, since Harbor formats numbers alone."""
    # For weight: once a job.
    from ..evaluation.distinct import apart, mark_of
    from ..evaluation.naming import is_only

    outcomes = list(outcomes)
    wished: dict[tuple[int, str], str] = {}
    for i, outcome in enumerate(outcomes):
        once = sum(other.name == outcome.name for other in outcomes) == 1
        title = outcome.name if once else _with_kwargs(outcome)
        for key in outcome.values:
            wished[i, key] = title if is_only(outcome, key) else f"{title} {key}"
    parts = (_STDERR,) if stderr else ()
    # A stranger's reward can be called as one of these with a number behind it.
    names = apart(
        wished,
        parts,
        (_COUNT,),
        rank=lambda of: of[:1],
        mark=lambda of, has_equal: mark_of(wished[of]) if has_equal else None,
    )
    values: dict[str, int | float] = {}
    for (i, key), name in ((of, names[of]) for of in wished):
        value, sure = outcomes[i].values[key], outcomes[i].uncertainty.get(key)
        if value is None:
            continue
        values[name] = value
        if stderr and sure is not None and sure.stderr is not None:
            values[f"{name}{_STDERR}"] = sure.stderr
    return values


def _with_kwargs(outcome: Outcome) -> str:
    return f"{outcome.name}({', '.join(_texts(outcome))})" if outcome.kwargs else outcome.name


def _texts(outcome: Outcome) -> Iterator[str]:
    # For weight: once a job.
    import json

    for name, value in outcome.kwargs.items():
        yield f"{name}={value if isinstance(value, str) else json.dumps(value)}"
