"""Collects the rules that Python files utter: whatever they give as `rule`, by name or by place."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from harbor_metrics.documents.rules import RULES

# What runs the functions that are rules gives them their names.
RUNNER = ("validation/rules/__init__.py", "name")


class Utterances:
    """What the files, name -> text, utter.

    `places` is rule -> where; `unclear` is what is given as a rule without saying which; `needless`
    is where the severity is spelt that the rule has anyway.
    """

    def __init__(self, files: dict[str, str]) -> None:
        self.places: dict[str, list[str]] = defaultdict(list)
        self.unclear: list[str] = []
        self.needless: list[str] = []
        trees = {name: ast.parse(text) for name, text in files.items()}
        self.constants = dict(pair for tree in trees.values() for pair in constants(tree))
        # What takes a rule -> at which place; file and name, where it is of that file alone.
        self.positions: dict[str | tuple[str, str], set[int]] = defaultdict(set)
        self.own = {(file, name) for file, tree in trees.items() for name in functions(tree)}
        for file, tree in trees.items():
            for name, place in takers(tree):
                self.positions[name].add(place)
                self.positions[file, name].add(place)
        for file, tree in trees.items():
            for node, parameters in with_parameters(tree):
                for rule in self.given(node, file):
                    self.take(rule, file, parameters)
                if isinstance(node, ast.Call):
                    self.look_for_severity(node, file)

    def given(self, node: ast.AST, file: str) -> Iterator[ast.expr]:
        """What a call or an object gives as a rule."""
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "rule":
                    yield value
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            is_own = isinstance(node.func, ast.Name) and (file, name) in self.own
            places = self.positions.get((file, name) if is_own else name, set())
            yield from (node.args[i] for i in places if i < len(node.args))
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "rule")

    def take(self, rule: ast.expr, file: str, parameters: set[str]) -> None:
        where = f"{file}:{rule.lineno}"
        name = last_name(rule)
        if isinstance(rule, ast.IfExp):
            self.take(rule.body, file, parameters)
            self.take(rule.orelse, file, parameters)
        elif isinstance(rule, ast.Constant) and isinstance(rule.value, str):
            self.places[rule.value].append(where)
        elif name in self.constants:
            self.places[self.constants[name]].append(where)
        # Where it is passed on, whoever gave it is looked at, too.
        elif name == "rule" and (isinstance(rule, ast.Attribute) or "rule" in parameters):
            pass
        elif (file, name) != RUNNER:
            self.unclear.append(f"{where}: {ast.unparse(rule)}")

    def look_for_severity(self, call: ast.Call, file: str) -> None:
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        known = RULES.get(getattr(named.get("rule"), "value", ""))
        if known and last_name(named.get("severity")) == known.severity.name:
            self.needless.append(f"{file}:{call.lineno}")


def last_name(node: ast.AST | None) -> str:
    """`c` of `c` and of `a.b.c`, nothing of anything else."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def functions(tree: ast.Module) -> list[str]:
    """The functions of a module."""
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names of a module that stand for a text."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                    yield target.id, node.value.value


def takers(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What takes a rule by place: the name that is called, and which argument it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            statements = (s for s in node.body if isinstance(s, ast.AnnAssign))
            fields = [s.target.id for s in statements if isinstance(s.target, ast.Name)]
            if "rule" in fields:
                yield node.name, fields.index("rule")
        for inner in node.body if isinstance(node, ast.ClassDef | ast.Module) else ():
            if isinstance(inner, ast.FunctionDef):
                names = [a.arg for a in inner.args.args if a.arg != "self"]
                if "rule" in names:
                    called = getattr(node, "name", "") if inner.name == "__init__" else inner.name
                    yield called, names.index("rule")


def with_parameters(
    node: ast.AST, parameters: frozenset[str] = frozenset()
) -> Iterator[tuple[ast.AST, set[str]]]:
    """Every node with the parameters of the functions that it stands in."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        parameters |= {argument.arg for argument in every}
    yield node, set(parameters)
    for child in ast.iter_child_nodes(node):
        yield from with_parameters(child, parameters)
