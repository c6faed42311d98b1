"""The shipped schemas, whole and by name."""

from __future__ import annotations

import pytest

from harbor_metrics.documents import schemas


@pytest.mark.parametrize("name", schemas.NAMES)
def test_bundled_schema_refers_to_no_other_file(name: str) -> None:
    def references(node: object) -> list[str]:
        if isinstance(node, list):
            return [ref for item in node for ref in references(item)]
        if not isinstance(node, dict):
            return []
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [ref for item in node.values() for ref in references(item)]

    schema = schemas.bundled(name)
    for reference in references(schema):
        assert reference.startswith("#/$defs/")
        assert reference.removeprefix("#/$defs/") in schema["$defs"]


def test_bundling_leaves_the_schema_as_it_is_written() -> None:
    before = str(schemas.load("registry"))
    assert schemas.bundled("registry") != schemas.load("registry")
    assert str(schemas.load("registry")) == before


def test_a_composed_schema_stands_for_the_written_one() -> None:
    composed = {**schemas.load("metric"), "minProperties": 1}
    metric = schemas.bundled("registry", {"metric": composed})["$defs"]["metric"]
    assert metric["minProperties"] == 1
    assert "minProperties" not in schemas.bundled("registry")["$defs"]["metric"]


def test_unknown_schema_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        schemas.load("../pyproject")
