"""Write what the pages say about the program from the program itself: `python docs/write.py`.

A page says what of it is written so: between `<!-- written: NAME -->` and `<!-- end -->` stands
what the function of that name gives. tests/test_pages.py shows that it is current.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT / "tests"))

import harbor_metrics  # noqa: E402
from harbor_metrics.catalogue.listing import entries  # noqa: E402
from harbor_metrics.cli import COMMANDS, group  # noqa: E402
from harbor_metrics.documents.rules import OF_RUNS, RULES  # noqa: E402
from harbor_metrics.metrics.intervals import ci  # noqa: E402
from harbor_metrics.validation.examples import EXAMPLES  # noqa: E402
from harbor_metrics.validation.explanations import explain, rule_names  # noqa: E402
from harbor_metrics.validation.rules import hints, rules  # noqa: E402
from harbor_metrics.validation.run_examples import run_examples  # noqa: E402

_PART = re.compile(r"(<!-- written: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

# From the first question to the last.
_ORDER = (
    "sources", "result-document", "metrics", "reducers", "intervals", "compare-and-gates",
    "report", "audit", "from-harbor-run-to-a-leaderboard-row", "registries", "rules", "ci",
    "plugins", "scripts", "more-than-one-machine", "python", "commands", "performance",
)  # fmt: skip


def written(text: str) -> str:
    """The page with what it takes from the program as the program says it today."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]().strip()}\n\n{part[3]}", text)


def contents() -> str:
    """A line for each page, in the order of `_ORDER`, those that it does not name at the end."""
    pages = {path.stem: path for path in DOCS.glob("*.md") if path.stem != "index"}
    stems = [stem for stem in _ORDER if stem in pages]
    stems += sorted(pages.keys() - set(stems))
    titles = {stem: pages[stem].read_text(encoding="utf-8").split("\n")[0] for stem in stems}
    return "\n".join(f"* [{title.removeprefix('# ')}]({stem}.md)" for stem, title in titles.items())


def fields() -> str:
    """A row for each field of the result document, with the sentence of its schema."""
    schema = json.loads((ROOT / "schemas" / "result.schema.json").read_text(encoding="utf-8"))
    parts = [("The document", schema)]
    parts += [(f"`{name}`", part) for name, part in schema["$defs"].items()]
    text = ""
    for title, part in parts:
        rows = "".join(f"| `{name}` | {_cell(said)} |\n" for name, said in _fields(part, ""))
        about = f"{part['description']}\n\n" if part is not schema and "description" in part else ""
        if rows:
            text += f"### {title}\n\n{about}| field | what it says |\n| :--- | :--- |\n{rows}\n"
    return text


def _fields(part: dict[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, field in part.get("properties", {}).items():
        reference = field.get("$ref") or field.get("items", {}).get("$ref") or ""
        reference = reference or _reference(field.get("additionalProperties"))
        of = f" See `{reference.rpartition('/')[2]}` below." if "#/$defs" in reference else ""
        yield f"{before}{name}", field.get("description", "") + of
        for inner in (field, *field.get("anyOf", ())):
            yield from _fields(inner, f"{before}{name}.")
        if isinstance(field.get("items"), dict):
            yield from _fields(field["items"], f"{before}{name}[].")


def _reference(part: Any) -> str:
    return str(part.get("$ref", "")) if isinstance(part, dict) else ""


def metrics() -> str:
    """A section for each metric, by family, as `explain` has it."""
    return _catalogue("metric")


def reducers() -> str:
    """A section for each reducer, by family, as `explain` has it."""
    return _catalogue("reducer")


def _catalogue(kind: str) -> str:
    own = [entry for entry in entries() if entry.kind == kind and entry.of is None]
    text = ""
    for family, members in groupby(own, key=lambda entry: entry.family):
        text += f"## {family}\n\n"
        for entry in members:
            pages = re.split(r"(?m)^(?=\S+: an? (?:metric|reducer))", explain(entry.name))
            (page,) = [page for page in pages if page.startswith(f"{entry.name}: a {kind}")]
            text += f"### `{entry.name}`\n\n{_explained(page)}\n"
    others = [entry for entry in entries() if entry.kind == kind and entry.of is not None]
    text += "## Names in other systems\n\n| name | what it is here |\n| :--- | :--- |\n"
    for entry in others:
        assert entry.of is not None
        means = f"`{entry.of['type']}`"
        if entry.of["kwargs"]:
            means += f" with `{json.dumps(entry.of['kwargs'])}`"
        text += f"| `{entry.name}` | {_cell(means)} |\n"
    return text


def _explained(page: str) -> str:
    """What `explain` says of a metric, as Markdown: paragraphs, a table of kwargs, an entry."""
    about, _, example = page.partition("\nexample\n")
    about, _, kwargs = about.partition("\nkwargs\n")
    title, _, about = about.partition("\n\n")
    elsewhere = " ".join(title.split()).partition(" (elsewhere ")[2].removesuffix(")")
    text = "\n".join(_prose(line) for line in about.strip().splitlines()) + "\n"
    if elsewhere:
        names = ", ".join(f"`{name}`" for name in elsewhere.split(", "))
        text += f"\nElsewhere: {names}.\n"
    if kwargs.strip():
        text += "\n| kwarg | what it says | |\n| :--- | :--- | :--- |\n"
        for row in re.split(r"\n(?=  \S)", kwargs.strip("\n")):
            name, _, said = " ".join(row.split()).partition(": ")
            said, _, values = said.rpartition(" [")
            text += f"| `{name}` | {_cell(_prose(said))} | {_cell(_prose(values[:-1]))} |\n"
    example = "\n".join(line.removeprefix("  ") for line in example.strip("\n").splitlines())
    return f"{text}\n```json\n{example}\n```\n"


def rule_sections() -> str:
    """A section a rule: its paragraph, a file that breaks it, what is printed, what to write."""
    usual = [name for name in rule_names() if name not in hints()]
    text = "## Rules of `validate`\n\n" + "".join(_rule(name) for name in usual)
    text += "## Hints, with `--select hints`\n\n" + "".join(_rule(name) for name in sorted(hints()))
    text += "## Rules of the other commands\n\n"
    return text + "".join(_rule(name) for name in sorted(OF_RUNS))


def _rule(name: str) -> str:
    paragraph = RULES[name].paragraph if name in RULES else str(inspect.getdoc(rules()[name]))
    text = f"### {name}\n\n{_prose(paragraph)}\n\n"
    example = EXAMPLES.get(name)
    if example is None:
        if name not in run_examples():
            return text
        files, wrong, right = run_examples()[name]
        text += f"Files:\n\n{_fence('text', files)}" if files else ""
        return f"{text}{_fence('text', wrong)}Write instead:\n\n{_fence('text', right)}"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = lay(example, example.wrong, Path())
        shown = path.read_bytes().decode("utf-8", "backslashreplace").replace("\ufeff", r"\ufeff")
        _, out, _ = record.in_this_process(["validate", path.name, "--select", name], b"")
    if example.part == "py":
        shown = f"# m.py\n{example.wrong}"
    text += _fence("text", _short(shown)) + _fence("text", _short(out.decode()))
    return f"{text}Write instead:\n\n" + _fence("text", example.right)


def api() -> str:
    """Each public name with its signature and its docstring."""
    text = ""
    for name in sorted(harbor_metrics.__all__, key=lambda name: (name[0].isupper(), name)):
        thing = getattr(harbor_metrics, name)
        if name in ("__version__", "Attempts"):
            continue
        title = f"{name}(…)" if inspect.isroutine(thing) else name
        text += f"## `{title}`\n\n"
        if inspect.isroutine(thing):
            said = str(inspect.signature(thing)).replace("'", "")
            rows = re.sub(r", (?=\**\w+: )", ",\n    ", said)
            text += _fence("text", f"{name}{rows}".replace(f"{name}(", f"{name}(\n    ", 1))
        text += f"{_docstring(str(inspect.getdoc(thing)))}\n"
        members = "".join(
            _member(thing, member) for member in sorted(vars(thing)) if inspect.isclass(thing)
        )
        text += f"{members}\n" if members else ""
    return text


def _member(of: type, name: str) -> str:
    """A line for a public method or property that says something; else nothing."""
    member = vars(of)[name]
    says = inspect.getdoc(member) if isinstance(member, property) or callable(member) else None
    if name[0] == "_" or not says:
        return ""
    shown = name if isinstance(member, property) else f"{name}(…)"
    return f"* `{shown}`: {_prose(' '.join(says.partition(chr(10) * 2)[0].split()))}\n"


def _docstring(doc: str) -> str:
    head, *sections = re.split(r"(?m)^(Args|Raises|Returns):\n", doc)
    text = f"{_prose(head.strip())}\n"
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        rows = re.split(r"\n(?=    \S)", body.rstrip())
        items = "".join(f"* {_item(' '.join(row.split()))}\n" for row in rows)
        text += f"\n{'Arguments' if title == 'Args' else title}:\n\n{items}"
    return text


def _item(row: str) -> str:
    names, _, said = row.partition(": ")
    return f"`{names}`: {_prose(said)}" if re.fullmatch(r"[\w, ]+", names) else _prose(row)


def commands() -> str:
    """The help of every command."""
    text = ""
    for name in COMMANDS:
        command = group.get_command(None, name)  # type: ignore[arg-type]
        inner = [f"{name} {sub}" for sub in getattr(command, "commands", ())] or [name]
        for path in inner:
            _, out, _ = record.in_this_process([*path.split(), "--help"], b"")
            text += f"## {path}\n\n" + _fence("text", out.decode())
    return text


def coverage() -> str:
    """How often intervals of 95 % cover, from the brackets of what `explain ci` says."""
    said = " ".join(str(inspect.getdoc(ci)).split()).partition("Of a macro mean")[0]
    proportions, _, amounts = said.partition("For amounts: ")
    text = "| method | of | 5 tasks | 10 | 20 | 50 |\n| :--- | :--- | ---: | ---: | ---: | ---: |\n"
    for kind, part in (("rewards between 0 and 1", proportions), ("amounts", amounts)):
        for method, numbers in re.findall(r"`([a-z-]+)`[^`\[]*?\[([^\]]*)\]", part):
            for row in numbers.split("; "):
                of = "rewards of 0 and 1" if row.endswith("of 0 and 1") else kind
                values = re.findall(r"0\.\d\d", row)
                if len(values) == 4:
                    text += f"| `{method}` | {of} | {' | '.join(values)} |\n"
    return text


def _prose(text: str) -> str:
    """Text as Markdown that shows it as it is; what stands in backticks is left alone."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p[:1] == "`" else re.sub(r"([*<>\\])", r"\\\1", p) for p in parts)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


def _fence(kind: str, text: str) -> str:
    return f"```{kind}\n{text.rstrip()}\n```\n\n"


def _short(text: str) -> str:
    return "\n".join(f"{row[:97]}…" if len(row) > 160 else row for row in text.split("\n"))


record = importlib.import_module("recorded.record")
lay = importlib.import_module("validation.test_examples").lay

PARTS: dict[str, Callable[[], str]] = {
    "api": api,
    "commands": commands,
    "contents": contents,
    "coverage": coverage,
    "fields": fields,
    "metrics": metrics,
    "reducers": reducers,
    "rules": rule_sections,
}


def main() -> None:
    """Write every page anew."""
    os.environ["COLUMNS"] = "80"
    for path in (ROOT / "README.md", *sorted(DOCS.glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        path.write_text(written(text), encoding="utf-8")


if __name__ == "__main__":
    main()
