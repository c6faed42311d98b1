"""What `explain` says: the docstrings of rules, metrics and reducers, and what they take."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from textwrap import fill, indent, wrap
from typing import Any

import msgspec

from ..catalogue import aliases, elsewhere, plugins
from ..catalogue.families import families, metric_names, reducer_names
from ..catalogue.names import find_metric, find_reducer
from ..catalogue.suggestions import in_our_words
from ..contract.spec import UV_SCRIPT, CommonKwargs, ScriptKwargs
from ..documents.rules import OF_DOCUMENTS, OF_RUNS, RULES
from ..documents.wording import did_you_mean, nearest, printable
from ..errors import MetricFailure, UsageError
from .examples import EXAMPLES
from .rules import hints, rules
from .run_examples import run_examples
from .topics import TOPICS

_SCRIPT = """\
A script of the dataset's own: Python that reads rewards from `-i`, an object or null a line, and
writes an object of numbers to `-o`. What it imports stands in its PEP 723 block. `sha256` beside
`kwargs` pins it; `harbor-metrics script check FILE` tries it, `harbor-metrics add … --new` writes
one to begin with.

A line of `-i` is a trial, and does not say of which task. In Harbor that is all there is: lines
come in the order in which trials ended, the script is called after each of them with those so far,
and all environment variables are passed on. A failure ends the job, and so does an answer without a
number, where the script is the first metric.

In `compute` the lines of a task stand together, and HARBOR_METRICS_TRIALS names a file that says
all that is known of each trial, in the same order: {"task": "t1", "rewards": {"reward": 1}} a line.
HARBOR_METRICS_SCRIPT_DIR is the folder of the script. Of your variables there are none but those of
`--script-env`.

So a metric by task reads that file, and where the variable is not set answers something else, such
as the number of trials. For numbers by task from Harbor itself make it a metric with a name
(`harbor-metrics explain own-metric`) and `add TYPE --for-harbor`: that script finds its tasks in
the job's folder.
"""
# What people ask for, and the topic that answers it.
_ASKED = {
    "no-worse": "gates",
    "non-inferior": "gates",
    "non-inferiority": "gates",
    "noninferiority": "gates",
    "better": "gates",
    "fail-if": "gates",
    "gating": "gates",
    "regression": "gates",
    "threshold": "gates",
    "github": "validate-in-ci",
    "github-actions": "validate-in-ci",
    "actions": "validate-in-ci",
    "pre-commit": "validate-in-ci",
    "fix": "validate-in-ci",
    "plugin": "own-metric",
    "entry-point": "own-metric",
    "estimate": "own-metric",
    "script": "scripts",
    "dataframe": "tables",
    "pandas": "tables",
    "plot": "tables",
}
_WIDTH = 80
_LONGEST = 98


def rule_names() -> list[str]:
    """Every rule that `validate` may find, sorted: those that it can select and ignore."""
    return sorted({*rules(), *OF_DOCUMENTS})


def other_rule_names() -> list[str]:
    """Every rule that only other commands find, sorted."""
    return sorted(OF_RUNS)


def explain(name: str) -> str:
    """All there is to say about a rule, a metric, a reducer or a name of another system.

    Raises:
        UsageError: there is nothing of that name; the message names what is near.
    """
    parts = [*_topic(name), *_rule(name), *_metric(name), *_reducer(name)]
    is_ours = bool(parts)
    parts += [_alias(alias) for alias in aliases.find(name) if not is_ours or "/" in name]
    if parts:
        return "\n".join(parts)
    if (other := elsewhere.find(name)) is not None:
        return _elsewhere(other)
    known = [*TOPICS, *metric_names(), *reducer_names(), *rule_names(), *other_rule_names()]
    known += [a.name.replace("{k}", "1") for a in (*aliases.METRICS, *aliases.REDUCERS)]
    known += elsewhere.names()
    own = _ASKED.get(name.lower().lstrip("-").replace("_", "-")) or in_our_words(name)
    meant = [own] if own is not None else nearest(name, known)
    raise UsageError(
        f"there is no topic, metric, reducer or rule `{name}`{did_you_mean(meant)}",
        "`harbor-metrics explain` lists the topics and rules, `harbor-metrics list` the metrics",
    )


def exists(name: str) -> bool:
    """Whether there is anything to say about it."""
    try:
        explain(name)
    except UsageError:
        return False
    return True


def topics() -> str:
    """All topics with their questions, and every other name, by kind."""
    width = max(map(len, TOPICS))
    lines = [f"  {name:{width}}  {topic.question}" for name, topic in TOPICS.items()]
    usual = [rule for rule in rule_names() if rule not in hints()]
    kinds = {
        "metrics": metric_names(),
        "reducers": reducer_names(),
        "rules of validate": usual,
        "hints, which validate finds with --select hints": sorted(hints()),
        "rules of folders and of the other commands": other_rule_names(),
    }
    folded = [f"{kind}\n{_folded(', '.join(names))}" for kind, names in kinds.items()]
    head = "harbor-metrics explain NAME, where NAME is one of these\n\ntopics\n"
    return head + "\n".join(lines) + "\n\n" + "\n\n".join(folded) + "\n"


def _folded(text: str) -> str:
    return "\n".join(f"  {line}" for line in wrap(text, _WIDTH - 2, break_on_hyphens=False))


def _topic(name: str) -> Iterator[str]:
    if name in TOPICS:
        parts = TOPICS[name].answer.split("\n\n")
        folded = [
            part if part[:2] == "  " else fill(part, _WIDTH, break_on_hyphens=False)
            for part in parts
        ]
        yield "\n\n".join([TOPICS[name].question, *folded]) + "\n"


def _rule(name: str) -> Iterator[str]:
    if name in RULES:
        yield f"{name}\n\n{fill(RULES[name].paragraph, _WIDTH)}\n{_example_of(name)}"
    elif name in rules():
        yield f"{name}\n\n{inspect.getdoc(rules()[name])}\n{_example_of(name)}"


def _example_of(name: str) -> str:
    """A mistake and what to write instead; nothing for a rule that has no example yet."""
    example = EXAMPLES.get(name)
    if example is None:
        files, wrong, right = run_examples().get(name, ("", "", ""))
        run = (("files", files), ("wrong", wrong), ("write", right))
        return "".join(f"\n{title}\n{indent(text, '  ')}\n" for title, text in run if text)
    parts = (("wrong", example.wrong), ("write", example.right))
    return "".join(f"\n{title}\n{_shown(text)}" for title, text in parts)


def _shown(text: str) -> str:
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    lines = [printable(line) for line in text.split("\n")]
    return "".join(f"  {line if len(line) < _LONGEST else f'{line[:_WIDTH]}…'}\n" for line in lines)


def _metric(name: str) -> Iterator[str]:
    if name == UV_SCRIPT:
        yield _page(f"{name}: a metric", _SCRIPT, [*_kwargs(ScriptKwargs)], name, ScriptKwargs)
    elif name in families("metrics") or name in plugins.installed("metrics"):
        try:
            metric = find_metric(name)
        except MetricFailure as error:
            raise UsageError(str(error)) from error
        common = [line for line in _kwargs(CommonKwargs) if line.split(":")[0] in metric.common]
        lines = [*_kwargs(metric.kwargs), *common]
        whose = f" of the plugin {metric.plugin.plugin}" if metric.plugin else ""
        title = f"{name}: a metric{whose}{_known_as(name, aliases.METRICS)}"
        yield _page(title, metric.description, lines, name, metric.kwargs)


def _reducer(name: str) -> Iterator[str]:
    if name in families("reducers") or name in plugins.installed("reducers"):
        try:
            reducer = find_reducer(name)
        except MetricFailure as error:
            raise UsageError(str(error)) from error
        title = f"{name}: a reducer, one task's attempts -> one value"
        title += _known_as(name, aliases.REDUCERS)
        lines = _kwargs(reducer.kwargs)
        required = _examples(reducer.kwargs)
        spec = {"type": name, "kwargs": required} if required else name
        entry = {"type": "mean", "kwargs": {"reducer": spec}}
        yield _text(title, reducer.description, lines, json.dumps(entry))


def _alias(alias: aliases.Alias) -> str:
    spec: dict[str, Any] = {"type": alias.type, "kwargs": alias.kwargs}
    if "{k}" in alias.name:
        spec["kwargs"] = {"k": "{k}", **alias.kwargs}
    elsewhere = f"the name of a {alias.kind} elsewhere"
    known = elsewhere if alias.system else f"a common name of a {alias.kind}"
    lines = [f"{alias.name}: {known}", "", "It means", *_json(spec)]
    if alias.difference:
        lines += ["", *wrap(alias.difference, _WIDTH)]
    if not alias.system:
        find = find_metric if alias.kind == "metric" else find_reducer
        lines += ["", *"\n".join(_paragraphs(find(alias.type).description)).strip().split("\n")]
    return "\n".join([*lines, "", f"See `harbor-metrics explain {alias.type}`.", ""])


def _elsewhere(other: elsewhere.Elsewhere) -> str:
    title = f"{other.name}: the name of a {other.kind} elsewhere, without one here"
    lines = [title, "", *wrap(other.paragraph, _WIDTH)]
    if other.instead is not None:
        lines += ["", "instead", *_json(other.instead)]
    return "\n".join([*lines, ""])


def _known_as(name: str, known: tuple[aliases.Alias, ...]) -> str:
    names = [alias.name for alias in known if alias.type == name]
    return f" (elsewhere {', '.join(names)})" if names else ""


def _page(title: str, about: str, lines: list[str], name: str, struct: type[msgspec.Struct]) -> str:
    required = _examples(struct)
    entry = {"type": name, **({"kwargs": required} if required else {})}
    return _text(title, about, lines, json.dumps(entry))


def _text(title: str, about: str, lines: list[str], example: str) -> str:
    kwargs = [
        part
        for line in lines
        for part in wrap(line, _WIDTH, initial_indent="  ", subsequent_indent="      ")
    ]
    parts = [fill(title, _WIDTH), "", *_paragraphs(about)]
    if kwargs:
        parts += ["kwargs", *kwargs, ""]
    return "\n".join([*parts, "example", *_json(json.loads(example)), ""])


def _json(value: Any) -> list[str]:
    """JSON in one line, or in several where that is too long."""
    line = json.dumps(value)
    lines = [line] if len(line) <= _WIDTH - 2 else json.dumps(value, indent=2).split("\n")
    return [f"  {line}" for line in lines]


def _paragraphs(about: str) -> Iterator[str]:
    for paragraph in about.split("\n\n"):
        yield fill(" ".join(paragraph.split()), _WIDTH)
        yield ""


def _examples(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """A value for each kwarg that is needed."""
    properties = _schema(struct)
    needed = [field.name for field in msgspec.structs.fields(struct) if field.required]
    return {name: _example(properties[name]) for name in needed}


def _example(field: dict[str, Any]) -> Any:
    options = [field, *field.get("anyOf", ())]
    examples = [o["examples"][0] for o in options if "examples" in o]
    choices = [o["enum"][0] for o in options if "enum" in o]
    return next(iter([*examples, *choices]), "metrics/mine.py")


def _kwargs(struct: type[msgspec.Struct]) -> list[str]:
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    lines = []
    for name, schema in _schema(struct).items():
        default = "needed" if fields[name].required else f"default {_default(fields[name])}"
        lines.append(f"{name}: {_description(schema)} [{_choices(schema)}{default}]")
    return lines


def _default(field: Any) -> str:
    is_made = field.default_factory is not msgspec.NODEFAULT
    return json.dumps(field.default_factory() if is_made else field.default)


def _schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([struct])
    properties: dict[str, Any] = components[struct.__name__]["properties"]
    return properties


def _choices(field: dict[str, Any]) -> str:
    options = [field, *field.get("anyOf", ())]
    values: list[Any] = next((o["enum"] for o in options if "enum" in o), [])
    return f"{', '.join(map(str, values))}; " if values else ""


def _description(field: dict[str, Any]) -> str:
    options = [field, *field.get("anyOf", ())]
    return next((str(o["description"]) for o in options if "description" in o), "")
