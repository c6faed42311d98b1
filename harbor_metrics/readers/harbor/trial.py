"""A trial's result.json, as much of it as is read, and why one cannot be read."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec

from ...documents.diagnostics import Diagnostic
from ...documents.document import parse, repeats_a_key
from ...documents.files import reason
from ...documents.limits import check_limits
from ...numbers import exact
from ...numbers.exact import Number
from ...trials.rewards import check
from ...trials.source import REFUSED
from ...trials.trial import NO_USAGE, Rewards, Trial, Usage
from ...trials.validity import is_left_out


class _Model(msgspec.Struct, gc=False):
    name: str


class _Agent(msgspec.Struct, gc=False):
    name: str
    model_info: _Model | None = None


class _Verifier(msgspec.Struct, gc=False):
    rewards: dict[str, Number] | None = None


class _Policy(msgspec.Struct, gc=False):
    has_valid_reward: bool | None = None


class _Exception(msgspec.Struct, gc=False):
    exception_type: str
    policy_override: _Policy | None = None


class _Spent(msgspec.Struct, gc=False):
    n_input_tokens: int | None = None
    n_cache_tokens: int | None = None
    n_output_tokens: int | None = None
    cost_usd: Number | None = None


class _Step(msgspec.Struct, gc=False):
    agent_result: _Spent | None = None
    exception_info: _Exception | None = None


class Result(msgspec.Struct, gc=False):
    """What of a result.json is read."""

    task_name: str
    trial_name: str
    agent_info: _Agent
    id: str | None = None
    source: str | None = None
    task_checksum: str | None = None
    agent_result: _Spent | None = None
    step_results: list[_Step] | None = None
    verifier_result: _Verifier | None = None
    exception_info: _Exception | None = None
    reward_valid: bool | None = None
    schema_version: Any = None
    started_at: str | None = None
    finished_at: str | None = None


_decode = msgspec.json.Decoder(Result).decode
_OF_REWARDS = ("verifier_result", "rewards")
_PLAIN = re.compile(r"[\w .:-]*", re.ASCII)
# A sign that such a name has, written by its number.
_ESCAPED = re.compile(rb"\\u00[2-7]")


def result_of(data: bytes) -> Result:
    """What a result.json says.

    Raises:
        msgspec.DecodeError, ValueError, RecursionError: it is not a trial result of Harbor.
    """
    check_limits(data)
    if not data.isascii():
        # Harbor reads all of it as UTF-8, the decoder what it keeps.
        data.decode()
    result = _decode(data)
    if _may_have_two(data, _rewards(result)) and repeats_a_key(data):
        raise ValueError("a key stands twice")
    return result


def trial_of(result: Result, leaves_out: bool | None = None) -> Trial:
    """The trial that a result tells of.

    `leaves_out`: whether the Harbor that wrote the job's numbers leaves trials without a valid
    reward out of them; None where only the trial itself can tell.
    """
    rewards, model = _rewards(result), result.agent_info.model_info
    if leaves_out is None:
        leaves_out = result.reward_valid is not None
    found = _errors(result, with_steps=leaves_out)
    return Trial(
        task=result.task_name,
        rewards=rewards,
        trial=result.trial_name,
        id=result.id,
        started_at=result.started_at,
        agent=result.agent_info.name,
        model=model.name if model is not None else None,
        dataset=result.source,
        task_version=result.task_checksum,
        error=found[0].exception_type if found else None,
        left_out=leaves_out and is_left_out(rewards, map(_with_policy, found)),
        usage=_usage(result),
    )


def errors_of(data: bytes) -> tuple[str, list[str]]:
    """A trial's name, and its errors with those of its steps: since 0.26 Harbor counts all.

    Raises:
        msgspec.DecodeError, ValueError, RecursionError: it is not a trial result of Harbor.
    """
    result = _decode(data)
    errors = _errors(result, with_steps=True)
    return result.trial_name, [each.exception_type for each in errors]


def _rewards(result: Result) -> Rewards | None:
    verifier = result.verifier_result
    return verifier.rewards if verifier is not None else None


def _with_policy(error: _Exception) -> tuple[str, bool | None]:
    own = error.policy_override
    return error.exception_type, own.has_valid_reward if own is not None else None


def _errors(result: Result, *, with_steps: bool) -> list[_Exception]:
    steps = result.step_results if with_steps else None
    found = [result.exception_info, *(step.exception_info for step in steps or ())]
    return [each for each in found if each is not None]


def _may_have_two(data: bytes, rewards: Rewards | None) -> bool:
    """Whether the text can say twice what the rewards are, where the decoder keeps the last."""
    names = (*_OF_REWARDS, *(rewards or ()))
    # One key can be written in several ways.
    if not all(map(_PLAIN.fullmatch, names)) or (b"\\" in data and _ESCAPED.search(data)):
        return True
    # What stands before the first of the names is about something else.
    told = data[data.find(b'"verifier_result"') :]
    return any(told.count(b'"%b"' % name.encode()) > 1 for name in names)


def _usage(result: Result) -> Usage:
    spent = result.agent_result
    if spent is None and result.step_results:
        spent = _of_steps(result.step_results)
    seconds = _seconds(result.started_at, result.finished_at)
    if spent is None:
        return NO_USAGE if seconds is None else Usage(seconds=seconds)
    return Usage(
        n_input_tokens=spent.n_input_tokens,
        n_cache_tokens=spent.n_cache_tokens,
        n_output_tokens=spent.n_output_tokens,
        cost_usd=spent.cost_usd,
        seconds=seconds,
    )


def _of_steps(steps: list[_Step]) -> _Spent:
    """What the steps of a trial spent together; None where no step says it."""
    spent = [step.agent_result for step in steps if step.agent_result is not None]

    def total(name: str) -> Any:
        values = [value for each in spent if (value := getattr(each, name)) is not None]
        return exact.total(values) if values else None

    return _Spent(
        n_input_tokens=total("n_input_tokens"),
        n_cache_tokens=total("n_cache_tokens"),
        n_output_tokens=total("n_output_tokens"),
        cost_usd=total("cost_usd"),
    )


def has_misplaced_reward(data: bytes) -> bool:
    """Whether the reward of a trial stands in its `verifier_result` itself, where none is read."""
    if b'"reward"' not in data:
        return False
    verifier = msgspec.json.decode(data).get("verifier_result")
    return isinstance(verifier, dict) and "reward" in verifier and verifier.get("rewards") is None


def _seconds(started: str | None, finished: str | None) -> float | None:
    if started is None or finished is None:
        return None
    try:
        took = datetime.fromisoformat(finished) - datetime.fromisoformat(started)
    except (ValueError, TypeError):
        return None
    # Where a clock was set meanwhile, nobody knows how long it was.
    seconds = took.total_seconds()
    return seconds if seconds >= 0 else None


def explain(path: str, name: str, data: bytes) -> list[Diagnostic]:
    """Why the result.json of a trial could not be read; at least one diagnostic."""
    subject = f"trial {name}"
    document, slips = parse(data, path)
    if slips or document is None:
        return [
            Diagnostic(
                rule="unread-trial",
                message=f"trial {name} could not be read: line {_line(d)}: {d.message}",
                path=d.path,
                span=d.span,
                subject=subject,
                label=d.label,
                notes=d.notes,
                help=d.help,
            )
            for d in slips[:3]
        ]
    value = document.value
    verifier = value.get("verifier_result") if isinstance(value, dict) else None
    if isinstance(verifier, dict) and "rewards" in verifier:
        wrong: list[Diagnostic] = check(document, ["verifier_result", "rewards"], subject)
        if wrong:
            return [msgspec.structs.replace(d, message=f"trial {name}: {d.message}") for d in wrong]
    try:
        _decode(data)
    except REFUSED as error:
        # Inside, for weight: only a result that is wrong needs it.
        from ...documents.mismatch import mismatch_with

        mismatch = mismatch_with(Result, value)
        why = mismatch.sentence if mismatch else error
        message = f"trial {name}: not a trial result of Harbor: {why}"
    else:
        message = f"trial {name} was being rewritten each time it was read"
    return [Diagnostic(rule="unread-trial", message=message, path=path, subject=subject)]


def _line(diagnostic: Diagnostic) -> int:
    return diagnostic.span.line if diagnostic.span else 1


def unreadable(path: str, name: str, error: OSError) -> Diagnostic:
    """That the system does not let the result.json of a trial be read."""
    return Diagnostic(
        rule="unread-trial",
        message=f"trial {name} could not be read: {reason(error)}",
        path=path,
        subject=f"trial {name}",
    )
