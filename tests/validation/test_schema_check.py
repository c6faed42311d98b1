"""The two validators of schemas."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
from conftest import HERE, ROOT
from validation.mutants import mutants

from harbor_metrics.documents import schemas


def test_the_two_validators_agree(tmp_path: Path) -> None:
    """jsonschema-rs decides and jsonschema explains: each must find what the other finds."""
    import jsonschema_rs

    schema = schemas.bundled("registry")
    fast, slow = jsonschema_rs.validator_for(schema), jsonschema.Draft202012Validator(schema)
    source = (ROOT / "registry" / "registry.json").read_text()
    values = [
        json.loads(f.read_text()) for f in HERE.glob("validation/registries/*-[ft]*/registry.json")
    ]
    for mutant in mutants([source], 400, 11):
        try:
            value = json.loads(mutant)
            # A lone surrogate is found before the schema is asked.
            json.dumps(value, ensure_ascii=False).encode()
            values.append(value)
        except ValueError:
            continue
    wrong = 0
    for value in values:
        ours = {tuple(e.instance_path) for e in fast.iter_errors(value)}
        assert ours == {tuple(e.absolute_path) for e in slow.iter_errors(value)}
        wrong += bool(ours)
    assert wrong > 20
