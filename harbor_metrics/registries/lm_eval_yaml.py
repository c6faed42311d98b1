"""YAML of lm-eval: safe tags and `!function`, and no value that would take all memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from ..documents.limits import is_huge

# Task files have some hundreds.
_MOST_VALUES = 100_000
# So many letters of a text count as a value more.
_A_VALUE = 100
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_LONGEST_NUMBER = 400
_TOO_LARGE = "a number is larger than any binary64 number"


class Function(NamedTuple):
    """A `!function` of a task file: the name of code that the task brings."""

    name: str


class Loader(yaml.SafeLoader):
    """A loader that keeps a `!function` as a name, calls nothing and makes nothing large."""

    def __init__(self, stream: bytes) -> None:
        super().__init__(stream)
        # How many values each node stands for: what an alias repeats counts again.
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:  # noqa: D102
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if node is None:
            return None
        if not is_alias:
            inside = sum(self._sizes[id(inner)] for inner in _inside(node))
            self._sizes[id(node)] = 1 + inside + _length(node) // _A_VALUE
        # What is not whole yet has no size: it holds itself.
        if self._sizes.get(id(node), _MOST_VALUES) >= _MOST_VALUES:
            raise _error(node, f"a value holds itself, or {_MOST_VALUES:,} others")
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: D102
        # Numbers of base 60 are made sign by sign, each time of all before: `1:1:1:…`.
        if node.tag in _NUMBERS and _length(node) > _LONGEST_NUMBER:
            raise _error(node, _TOO_LARGE)
        try:
            value = super().construct_object(node, deep)
        except (yaml.YAMLError, RecursionError):
            raise
        # It raises whatever it stumbles over, such as AttributeError of a time that is none.
        except Exception as error:
            raise _error(node, "a value is not what its tag, or its form, says") from error
        if is_huge(value):
            raise _error(node, _TOO_LARGE)
        return value


def _function(_: yaml.SafeLoader, node: yaml.Node) -> Function:
    return Function(str(getattr(node, "value", "")))


Loader.add_constructor("!function", _function)


def _inside(node: Any) -> Iterator[Any]:
    """The nodes right in a node: of a mapping keys and values."""
    for part in node.value if not isinstance(node.value, str) else ():
        yield from part if isinstance(part, tuple) else (part,)


def _length(node: Any) -> int:
    return len(node.value) if isinstance(node.value, str) else 0


def _error(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, problem, node.start_mark)
