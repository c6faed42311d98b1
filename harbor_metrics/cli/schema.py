"""`harbor-metrics schema`: a document schema, whole, for editors and other validators."""

from __future__ import annotations

import click

from ..errors import UsageError
from ..output.streams import print_json, print_text
from . import Examples

_EXAMPLES = """\
harbor-metrics schema
harbor-metrics schema result
harbor-metrics schema registry > registry.schema.json"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print the schema of a document; without a NAME, the names of all.

    Those of a registry and a metric say which kwargs each metric takes, plugins' included.
    """
    import json

    from ..catalogue.schema import composed
    from ..documents.schemas import NAMES
    from ..documents.wording import did_you_mean, nearest

    if name is None:
        print_text("\n".join(NAMES) + "\n")
    elif name in NAMES:
        print_json(json.dumps(composed(name), indent=2, ensure_ascii=False) + "\n")
    else:
        near = did_you_mean(nearest(name, NAMES))
        raise UsageError(f"there is no schema `{name}`{near}", f"one of: {', '.join(NAMES)}")
    return 0
