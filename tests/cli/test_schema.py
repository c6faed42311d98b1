"""`harbor-metrics schema`."""

from __future__ import annotations

import json

import jsonschema
import pytest
from conftest import Run

from harbor_metrics.documents import schemas


@pytest.mark.parametrize("name", schemas.NAMES)
def test_schema_is_whole_and_its_examples_hold(name: str, cli: Run) -> None:
    schema = json.loads(cli("schema", name).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema.pop("$id") == f"urn:harbor-metrics:schema:{name}:1"
    assert "urn:" not in json.dumps(schema)
    for example in schema["examples"]:
        jsonschema.Draft202012Validator(schema).validate(example)
