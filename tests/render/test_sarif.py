"""SARIF, for code scanning."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from validation.validated import FOLDERS, report_of

from harbor_metrics.documents.diagnostics import Diagnostic
from harbor_metrics.render.sarif import sarif
from harbor_metrics.validation.explanations import explain

TEXT = {"type": "string", "minLength": 1}
NUMBER = {"type": "integer", "minimum": 1}


def exactly(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def needed(**properties: Any) -> dict[str, Any]:
    return {**exactly(**properties), "required": list(properties)}


def items(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": schema, **more}


# Of the standard's schema, 2.1.0, the part that is written here.
RULE = needed(id=TEXT, shortDescription=needed(text=TEXT), help=needed(text=TEXT))
REGION = needed(startLine=NUMBER, startColumn=NUMBER, endLine=NUMBER, endColumn=NUMBER)
PLACE = exactly(
    artifactLocation=needed(uri={"type": "string", "pattern": "^[A-Za-z0-9/._~%+-]+$"}),
    region=REGION,
)
LOCATION = exactly(
    physicalLocation={**PLACE, "required": ["artifactLocation"]},
    logicalLocations=items(needed(fullyQualifiedName=TEXT), uniqueItems=True),
)
RESULT = exactly(
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level={"enum": ["none", "note", "warning", "error"]},
    message=needed(text=TEXT),
    locations=items(LOCATION),
)
RUN = needed(
    tool=needed(
        driver=needed(name=TEXT, version=TEXT, rules=items(RULE, uniqueItems=True)),
    ),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=items({**RESULT, "required": ["message", "ruleId", "level"]}),
)
SARIF = needed(**{"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": items(RUN)})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_sarif_holds_every_diagnostic_with_its_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = report_of(folder, monkeypatch)
    document = json.loads(sarif(report.found, explain))
    jsonschema.Draft202012Validator(SARIF).validate(document)
    (run,) = document["runs"]
    assert len(run["results"]) == len(report.found)
    for result, d in zip(run["results"], report.found, strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == d.rule
        region = result["locations"][0]["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"]) == (d.span.line, d.span.column)


def test_a_message_holds_no_placeholder_and_no_link() -> None:
    found = Diagnostic(rule="not-json", message="a {0} [x](https://e.org) {", notes=("b}",))
    (result,) = json.loads(sarif([found], explain))["runs"][0]["results"]
    assert result["message"]["text"] == r"a {{0}} \[x\](https://e.org) {{. b}}."


@pytest.mark.parametrize("text", ["[x](y)", r"\[x\](y)", r"\\[x\\](y)", r"a\b ](", r"[x\](y) [z"])
def test_a_message_reads_as_it_was_written(text: str) -> None:
    found = Diagnostic(rule="not-json", message=text)
    (result,) = json.loads(sarif([found], explain))["runs"][0]["results"]
    shown = result["message"]["text"]
    assert re.sub(r"\\(.)", r"\1", shown) == f"{text}."
    assert not re.search(r"[\[\]]", re.sub(r"\\.", "", shown))
