"""Run by a Python that has Harbor: says of each file named on standard input what Harbor does.

`L`: it loads, and a job can be made of each dataset. `F`: it does not load. `M`: a job cannot be
made. Behind a tab the reason. Metrics with a `git_url` are left to the extension that runs them,
and a dataset without tasks to nobody. The current directory is that of the registry.
"""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from harbor.job import Job
from harbor.models.dataset.manifest import DatasetManifest
from harbor.models.job.config import DatasetConfig, JobConfig
from harbor.registry.client.factory import RegistryClientFactory
from harbor.registry.client.json import JsonRegistryClient

EXTENSION = {"git_url", "git_commit_id", "script_path"}


class Client:
    """Harbor's own client of a registry, which is asked for a dataset by its place."""

    def __init__(self, client, spec):
        self.client, self.spec = client, spec

    async def get_dataset_metadata(self, _name):
        return self.client._spec_to_metadata(self.spec)


async def make_job(client, spec):
    """The steps of `Job.create` that read the registry's entry; nothing is downloaded."""
    RegistryClientFactory.create = lambda **_: Client(client, spec)
    config = JobConfig(datasets=[DatasetConfig(name="d", version="1", registry_path="r")])
    tasks = await Job._resolve_task_configs(config) if spec.tasks else []
    await Job._resolve_metrics(config, tasks)


def is_of_extension(metric):
    kwargs = metric.kwargs
    return (
        metric.type.value == "uv-script"
        and kwargs.keys() <= EXTENSION
        and {"git_url", "script_path"} <= kwargs.keys()
        and all(isinstance(value, str) for value in kwargs.values())
    )


def verdict(path):
    try:
        if path.suffix == ".toml":
            DatasetManifest.from_toml_file(path)
            return "L", ""
        client = JsonRegistryClient(path=path)
    except Exception as error:  # noqa: BLE001  # whatever Harbor fails with
        return "F", error
    for spec in client._registry.datasets:
        spec.metrics = [metric for metric in spec.metrics if not is_of_extension(metric)]
        try:
            asyncio.run(make_job(client, spec))
        except Exception as error:  # noqa: BLE001  # whatever Harbor fails with
            return "M", error
    return "L", ""


def main():
    for line in sys.stdin:
        mark, reason = verdict(Path(line.strip()))
        text = " ".join(f"{type(reason).__name__} {reason}".split())[:200] if reason else ""
        print(f"{mark}\t{text}".encode("ascii", "backslashreplace").decode(), flush=True)


if __name__ == "__main__":
    main()
