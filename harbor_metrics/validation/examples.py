"""A mistake for each rule of `validate` as people make it, and what to write instead."""

from __future__ import annotations

from typing import Literal

import msgspec

# What an example is part of, or the whole of: entries of an array, fields of a dataset, a file.
Part = Literal["metrics", "extra_metrics", "tasks", "fields", "registry", "rewards", "toml", "py"]

_DIGEST = "sha256:" + "0123456789abcdef" * 4
_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_GIT = f'"git_url": "https://example.org/r.git", "git_commit_id": "{_COMMIT}"'
_SCRIPT = '{"type": "uv-script", "kwargs": {"script_path": "m.py"}}'
_NAMED = '[dataset]\nname = "acme/buoys"\n'
_TAIL = '"description": "", "tasks": [{"name": "t", "path": "p"}]}'
_OPTIONS = 'parser.add_argument("-i", "--input-path")\nparser.add_argument("-o", "--output-path")'
_FOR_HARBOR = '{"type": "uv-script", "kwargs": {"script_path": "for-harbor.py"}}'
_SETTINGS = """# /// script
# dependencies = ["harbor-metrics{}"]
# [tool.harbor-metrics]
# metrics = ["{}"]
# ///"""
_HEAD = "# /// script\n# dependencies = []\n# ///\n"


class Example(msgspec.Struct, frozen=True):
    """What is wrong, and what is right in its place."""

    part: Part
    wrong: str
    right: str


EXAMPLES: dict[str, Example] = {
    # Texts.
    "byte-order-mark": Example("registry", "\ufeff[]", "[]"),
    "conflict-marker": Example(
        "fields",
        '<<<<<<< HEAD\n"version": "1.0"\n=======\n"version": "1.1"\n>>>>>>> theirs',
        '"version": "1.1"',
    ),
    "duplicate-key": Example("fields", '"version": "1.0",\n"version": "1.1"', '"version": "1.1"'),
    "json-comment": Example("fields", '"version": "1.0" // the first', '"version": "1.0"'),
    "json-syntax": Example(
        "fields", '"version": "1.0"\n"metrics": []', '"version": "1.0",\n"metrics": []'
    ),
    "lone-surrogate": Example("fields", r'"name": "\ud83d"', r'"name": "\ud83d\ude00"'),
    "non-finite-number": Example("rewards", '{"reward": NaN}', '{"reward": 0.0}'),
    "not-json": Example("registry", "<!DOCTYPE html>\n<html>404</html>", "[]"),
    "not-utf-8": Example("registry", "[]\udcff", "[]"),
    "number-out-of-range": Example("rewards", '{"reward": 1e309}', '{"reward": 1e308}'),
    "toml-syntax": Example(
        "toml", "[dataset]\nname = acme/buoys", '[dataset]\nname = "acme/buoys"'
    ),
    "too-deep": Example("rewards", "[" * 5_000 + "]" * 5_000, '{"reward": 1}'),
    "trailing-comma": Example("metrics", '{"type": "mean"},', '{"type": "mean"}'),
    # Shapes.
    "empty-field": Example("fields", '"version": ""', '"version": "1.0"'),
    "empty-registry": Example("registry", "[]", f'[{{"name": "a", "version": "1.0", {_TAIL}]'),
    "missing-field": Example("tasks", '{"path": "p"}', '{"name": "t", "path": "p"}'),
    "not-a-registry": Example(
        "registry",
        f'{{"name": "a", "version": "1.0",\n {_TAIL}',
        f'[{{"name": "a", "version": "1.0",\n {_TAIL}]',
    ),
    "schema": Example(
        "rewards",
        '{"task": "t", "rewards": null, "seconds": 5}',
        '{"task": "t", "rewards": null, "usage": {"seconds": 5}}',
    ),
    "wrong-type": Example("fields", '"version": 1.0', '"version": "1.0"'),
    # Rewards.
    "invalid-reward": Example("rewards", '{"reward": "0.5"}', '{"reward": 0.5}'),
    "invalid-rewards": Example("rewards", "0.5", '{"reward": 0.5}'),
    "not-json-lines": Example(
        "rewards", '[{"reward": 1}, {"reward": 0}]', '{"reward": 1}\n{"reward": 0}'
    ),
    # Metrics.
    "default-metric-type": Example("metrics", '{"kwargs": {}}', '{"type": "mean"}'),
    "duplicate-metric": Example("metrics", '{"type": "max"}, {"type": "max"}', '{"type": "max"}'),
    "invalid-metric-kwargs": Example(
        "extra_metrics",
        '{"type": "quantile", "kwargs": {"q": 2}}',
        '{"type": "quantile", "kwargs": {"q": 0.5}}',
    ),
    "misplaced-kwargs": Example("metrics", '{"type": "uv-script", "script_path": "m.py"}', _SCRIPT),
    "not-in-harbor": Example(
        "fields",
        '"metrics": [{"type": "median"}]',
        '"extra_metrics": [{"type": "median"}]',
    ),
    "unknown-metric-field": Example("metrics", '{"typ": "max"}', '{"type": "max"}'),
    "unknown-metric-type": Example("metrics", '{"type": "Mean"}', '{"type": "mean"}'),
    "same-metric": Example(
        "extra_metrics",
        '{"type": "mean"}, {"type": "mean", "kwargs": {"missing": "zero"}}',
        '{"type": "mean"}',
    ),
    # Datasets and tasks.
    "duplicate-dataset": Example(
        "registry",
        f'[{{"name": "a", "version": "1.0", {_TAIL},\n {{"name": "a", "version": "1.0", {_TAIL}]',
        f'[{{"name": "a", "version": "1.0", {_TAIL},\n {{"name": "a", "version": "1.1", {_TAIL}]',
    ),
    "duplicate-task": Example(
        "tasks",
        '{"name": "t", "path": "p"}, {"name": "t", "path": "q"}',
        '{"name": "t", "path": "p"}, {"name": "u", "path": "q"}',
    ),
    "empty-dataset": Example("fields", '"tasks": []', '"tasks": [{"name": "t", "path": "p"}]'),
    "mixed-task-sources": Example(
        "tasks",
        f'{{"name": "t", "path": "p", {_GIT}}},\n{{"name": "u", "path": "q"}}',
        f'{{"name": "t", "path": "p", {_GIT}}},\n{{"name": "u", "path": "q", {_GIT}}}',
    ),
    "name-breaks-results": Example("fields", '"name": "my__bench"', '"name": "my-bench"'),
    "shared-task-path": Example(
        "tasks",
        '{"name": "t", "path": "p"}, {"name": "u", "path": "p"}',
        '{"name": "t", "path": "p"}, {"name": "u", "path": "q"}',
    ),
    "similar-dataset-names": Example(
        "registry",
        f'[{{"name": "Bench", "version": "1", {_TAIL},\n'
        f' {{"name": "bench", "version": "2", {_TAIL}]',
        f'[{{"name": "bench", "version": "1", {_TAIL},\n'
        f' {{"name": "bench", "version": "2", {_TAIL}]',
    ),
    "task-path": Example(
        "tasks",
        f'{{"name": "t", "path": "../t", {_GIT}}}',
        f'{{"name": "t", "path": "tasks/t", {_GIT}}}',
    ),
    "task-repository": Example(
        "tasks",
        '{"name": "t", "path": "p", "git_url": ""}',
        '{"name": "t", "path": "p"}',
    ),
    "task-without-commit": Example(
        "tasks",
        '{"name": "t", "path": "p", "git_url": "https://example.org/r.git"}',
        f'{{"name": "t", "path": "p", {_GIT}}}',
    ),
    "unknown-field": Example(
        "fields", '"metric": [{"type": "max"}]', '"metrics": [{"type": "max"}]'
    ),
    "unreachable-name": Example("fields", '"name": "acme/bench"', '"name": "acme-bench"'),
    "unreachable-version": Example(
        "registry",
        f'[{{"name": "a", "version": "1.0", {_TAIL},\n {{"name": "a", "version": "lite", {_TAIL}]',
        f'[{{"name": "a", "version": "1", {_TAIL},\n {{"name": "a-lite", "version": "1", {_TAIL}]',
    ),
    # Manifests.
    "package-name": Example("toml", '[dataset]\nname = "buoys"', _NAMED.rstrip()),
    "digest": Example(
        "toml",
        f'{_NAMED}\n[[tasks]]\nname = "acme/north"\ndigest = "{_DIGEST[7:]}"',
        f'{_NAMED}\n[[tasks]]\nname = "acme/north"\ndigest = "{_DIGEST}"',
    ),
    "manifest-file": Example(
        "toml",
        f'{_NAMED}\n[[files]]\npath = "docs/README.md"',
        f'{_NAMED}\n[[files]]\npath = "README.md"',
    ),
    # Scripts.
    "git-script-commit": Example(
        "metrics",
        '{"type": "uv-script", "kwargs": {"script_path": "m.py", "git_url": '
        '"https://example.org/r.git",\n "git_commit_id": "main"}}',
        '{"type": "uv-script", "kwargs": {"script_path": "m.py", "git_url": '
        f'"https://example.org/r.git",\n "git_commit_id": "{_COMMIT}"}}}}',
    ),
    "script-arguments": Example(
        "py",
        f'{_HEAD}path = "/logs/verifier/reward.json"',
        f"{_HEAD}import argparse\nparser = argparse.ArgumentParser()\n{_OPTIONS}",
    ),
    "script-dependency": Example(
        "py",
        '# /// script\n# dependencies = ["numpy"]\n# ///',
        '# /// script\n# dependencies = ["numpy==2.1.0"]\n# ///',
    ),
    "script-digest": Example(
        "metrics",
        _SCRIPT,
        '{"type": "uv-script", "kwargs": {"script_path": "m.py"}, "sha256": "<64 digits>"}',
    ),
    "script-first": Example("metrics", _FOR_HARBOR, f'{{"type": "mean"}},\n{_FOR_HARBOR}'),
    "script-metadata": Example(
        "py", "# /// script\n# dependencies = []", "# /// script\n# dependencies = []\n# ///"
    ),
    "script-of-catalogue": Example(
        "py",
        'json.dump({"mean": sum(values) / len(values)}, file)',
        'json.dump({"solved_by_hand": 3}, file)',
    ),
    "script-path": Example(
        "metrics", '{"type": "uv-script", "kwargs": {"script_path": "/home/me/m.py"}}', _SCRIPT
    ),
    "script-pin": Example(
        "metrics",
        '{"type": "uv-script", "kwargs": {"script_path": "m.py"}, "sha256": "0123"}',
        '{"type": "uv-script", "kwargs": {"script_path": "m.py"}, "sha256": "<64 digits>"}',
    ),
    "script-settings": Example(
        "py", _SETTINGS.format("== 0.2.0", "medain"), _SETTINGS.format("== 0.2.0", "median")
    ),
    "script-unpinned": Example(
        "py", _SETTINGS.format("", "median"), _SETTINGS.format("== 0.2.0", "median")
    ),
    "script-twice": Example(
        "metrics", _SCRIPT, '{"type": "uv-script", "kwargs": {"script_path": "metrics/m.py"}}'
    ),
}
