"""What does not fit a schema: found where jsonschema-rs finds it, and said in our own words."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ROOT

from harbor_metrics.documents import schemas
from harbor_metrics.documents.mismatch import Noun, _decider, findings, fits, mismatches_in

TRIAL = schemas.load("trials")["examples"][1]
DATASET = json.loads((ROOT / "registry" / "registry.json").read_text())[1]
RESULT = schemas.load("result")["examples"][0]
ODD = [None, True, 0, -1, 2.5, "", "x", [], [1], ["x"], {}, {"x": None}, {"type": 5}]


def spoilt(value: Any, n: int) -> Iterator[Any]:
    """n copies with something odd, something more or something less in them."""
    rng = random.Random(7)
    for _ in range(n):
        other = copy.deepcopy(value)
        for _ in range(rng.choice([1, 1, 2])):
            place, parents = other, []
            while isinstance(place, dict | list) and place and rng.random() < 0.8:
                step = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
                parents.append((place, step))
                place = place[step]
            if not parents:
                other = copy.deepcopy(rng.choice(ODD))
                continue
            parent, step = parents[-1]
            change = rng.randrange(3)
            if change == 0:
                parent[step] = copy.deepcopy(rng.choice(ODD))
            elif change == 1 and isinstance(parent, dict):
                parent[rng.choice(["x", f"{step}s", "type", "kwargs"])] = copy.deepcopy(
                    rng.choice(ODD)
                )
            else:
                del parent[step]
        yield other


@pytest.mark.parametrize(("noun", "whole"), [("trial", TRIAL), ("dataset", DATASET)])
def test_whatever_does_not_fit_is_described_in_our_words(noun: Noun, whole: Any) -> None:
    wrong = 0
    for value in spoilt(whole, 1_000):
        messages = [finding.message for finding in findings(value, noun)]
        assert not [message for message in messages if "does not fit" in message], value
        if messages:
            assert not fits(value, noun), value
        else:
            # A field whose name is nearly right is said by the rule for unknown fields.
            assert broken_keywords(value, noun) <= {"required"}, value
        wrong += bool(messages)
    assert wrong > 300


def test_whatever_is_wrong_with_a_result_is_described() -> None:
    for value in spoilt(RESULT, 1_000):
        messages = [finding.message for finding in findings(value, "result")]
        assert messages or broken_keywords(value, "result") <= {"required"}, value


def test_what_we_have_no_words_for_is_said_by_jsonschema() -> None:
    (mismatch,) = mismatches_in(3, {"multipleOf": 2}, {})
    assert (mismatch.path, mismatch.rule) == ((), "schema")
    assert mismatch.words == "does not fit: 3 is not a multiple of 2"


def broken_keywords(value: Any, noun: Noun) -> set[str]:
    """What of a schema jsonschema-rs finds broken."""
    return {str(error.schema_path[-1]) for error in _decider(noun).iter_errors(value)}


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"type": "string"}, 5, "must be a string, not a number"),
        ({"type": ["integer", "null"]}, "5", "must be an integer or null, not a string"),
        ({"type": ["string", "number", "null"]}, [], "must be a string, a number or null, not an "),
        ({"type": "integer"}, 1.5, "must be an integer, not a number"),
        ({"type": "number"}, True, "must be a number, not a boolean"),
        ({"type": "object", "examples": [{"type": "mean"}]}, 5, 'such as {"type": "mean"}, not a'),
        ({"minimum": 1}, 0, "must be at least 1, not 0"),
        ({"maximum": 1.0}, 2, "must be at most 1, not 2"),
        ({"exclusiveMinimum": 0}, 0, "must be more than 0, not 0"),
        ({"exclusiveMaximum": 0.5}, 0.5, "must be less than 0.5, not 0.5"),
        ({"maximum": 2**53}, 1e300, "must be at most 9007199254740992, not 1e+300"),
        ({"minLength": 1}, "", "must not be empty"),
        ({"minItems": 1}, [], "must not be empty"),
        ({"minItems": 2}, [1], "must have at least 2 elements"),
        ({"pattern": "^a"}, "b", 'must match `^a`, and "b" does not'),
        ({"const": "1"}, "2", 'must be "1", not "2"'),
        ({"enum": ["lower", "upper"]}, "Uper", "is `Uper`; did you mean `upper`?; it is one of"),
        ({"enum": ["lower", "upper"]}, 5, "must be a string, not a number"),
        ({"required": ["a"]}, {}, "has no `a`"),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "has no `a` and no `b`"),
        ({"not": {"required": ["a", "b"]}}, {"a": 1, "b": 1}, "has `a` and `b`, of which one"),
        (
            {"properties": {"colour": {}}, "additionalProperties": False},
            {"color": 1},
            "has no field `color`; did you mean `colour`?",
        ),
        ({"additionalProperties": {"type": "string"}}, {"a": 1}, "must be a string"),
        ({"items": {"type": "string"}}, ["a", 1], "must be a string"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5, "must be a string or null, not a n"),
        ({"anyOf": [{"type": "null"}, {"minimum": 1, "type": "integer"}]}, 0, "must be at least 1"),
        (
            {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
            ["x"],
            "must be an integer, not a string",
        ),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, 5, "must be a string"),
    ],
    ids=lambda x: json.dumps(x)[:40],
)
def test_words(schema: dict[str, Any], value: Any, words: str) -> None:
    (found,) = mismatches_in(value, schema, schema)
    assert words in found.words


def test_a_mismatch_knows_its_path() -> None:
    schema = {"properties": {"k": {"items": {"minimum": 1}}}}
    (found,) = mismatches_in({"k": [1, 0]}, schema, schema)
    assert found.path == ("k", 1)
