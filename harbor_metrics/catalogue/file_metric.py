"""A metric from a file of the user's own, `my_metrics.py:worst_task`; never from a registry."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from types import ModuleType
from typing import Any

import msgspec

from ..contract import strangers
from ..contract.metric import Metric, metric_of
from ..documents.files import read_bytes
from ..documents.wording import in_command, listed
from ..errors import InputError, UsageError
from .sources import ReadSource, importable

_WRITTEN = re.compile(r"(?P<path>.+\.py):(?P<name>[A-Za-z_][A-Za-z0-9_]*)", re.DOTALL)


def load(text: str, pin: str | None = None) -> tuple[Metric, str, str]:
    """The metric, the path of its file, and the SHA-256 of the file.

    Raises:
        UsageError: the file cannot be run, has no such function, or is another one than the pin is
            the SHA-256 of.
        InputError: the file cannot be read.
    """
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise UsageError(f"{text} names a file and no function of it", _how_to_name(text))
    path, name = match["path"], match["name"]
    source = read_bytes(path)
    digest = sha256(source).hexdigest()
    if pin is not None and pin.lower() != digest:
        raise UsageError(
            f"{path} has the sha256 {digest}, and not {pin!r}, which the metric names: it was "
            "changed since, and was not run"
        )
    module = _run(path, source)
    function = getattr(module, name, None)
    if function is None:
        public = sorted(
            n
            for n, f in vars(module).items()
            if inspect.isfunction(f) and f.__module__ == module.__name__ and n[0] != "_"
        )
        raise UsageError(f"{path} has no function `{name}`; it has {', '.join(public) or 'none'}")
    try:
        metric = metric_of(function)
    except TypeError as error:
        raise UsageError(f"`{name}` of {path} is no metric: {error}") from error
    called = _calling(function, os.path.dirname(os.path.abspath(path)))
    return msgspec.structs.replace(metric, function=called), path, digest


def _how_to_name(path: str) -> str:
    """What to write for a function of the file, read and not run."""
    try:
        body = ast.parse(read_bytes(path)).body
    except (InputError, SyntaxError, ValueError):
        body = []
    names = [n.name for n in body if isinstance(n, ast.FunctionDef) and n.name[0] != "_"]
    if not names:
        script = in_command(f"uv-script script_path={in_command(path)}")
        return f"write {in_command(f'{path}:FUNCTION')}; of a metric script, {script}"
    return f"write {listed([in_command(f'{path}:{name}') for name in names])}"


def _run(path: str, source: bytes) -> ModuleType:
    """The module of the bytes that were read: what has the digest is what runs."""
    place = os.path.abspath(path)
    name = f"harbor_metrics_local_{abs(hash(path))}"
    loader = ReadSource(name, place, source)
    spec = importlib.util.spec_from_file_location(name, place, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    try:
        sys.modules[name] = module
        with strangers.quiet(), importable(os.path.dirname(place)):
            loader.exec_module(module)
    # Whatever the user's code raises is said, with the line, and no traceback.
    except (Exception, SystemExit) as error:
        raise UsageError(f"{path} cannot be run: {located(error, path)}") from error
    return module


def _calling(function: Callable[..., Any], folder: str) -> Callable[..., Any]:
    """The function, which imports when it is called what it could import when its file ran."""

    @wraps(function)
    def call(*arguments: Any, **kwargs: Any) -> Any:
        with importable(folder):
            return function(*arguments, **kwargs)

    return call


def located(error: BaseException, path: str) -> str:
    """The error in a line, with the last line of the file that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if os.path.abspath(f.filename) == os.path.abspath(path)]
    number = getattr(error, "lineno", None) or (lines[-1] if lines else None)
    where = f"line {number}: " if number else ""
    return f"{where}{strangers.summary(error)}"
