"""An environment of Harbor that runs commands in a temporary folder, as whoever runs the tests.

`harbor run -e own_environment:OwnEnvironment`, with this folder on PYTHONPATH. The folders that
Harbor means by /logs, /tests, /solution and /app lie in HARBOR_ROOT, where tasks find them.
"""

import asyncio
import os
import re
import shutil
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

_FOLDERS = ("logs", "tests", "solution", "app")
_PATH = re.compile(rf"(?<![\w./-])/({'|'.join(_FOLDERS)})(?![\w-])")


class OwnEnvironment(BaseEnvironment):
    @staticmethod
    def type():
        return "own"

    @property
    def capabilities(self):
        return EnvironmentCapabilities()

    def _validate_definition(self):
        pass

    async def start(self, force_build):
        self._root = Path(tempfile.mkdtemp(prefix="harbor-root-"))
        for name in (*_FOLDERS, "logs/agent", "logs/verifier", "logs/artifacts"):
            (self._root / name).mkdir()

    async def stop(self, delete):
        shutil.rmtree(getattr(self, "_root", None) or "/nonexistent", ignore_errors=True)

    def _here(self, path):
        return self._root / str(path).lstrip("/")

    async def upload_file(self, source_path, target_path):
        self._here(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, self._here(target_path))

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self._here(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path, target_path):
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self._here(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self._here(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-c",
            _PATH.sub(lambda found: f"{self._root}/{found[1]}", command),
            cwd=self._here(cwd or "/app"),
            env={**os.environ, **(env or {}), "HARBOR_ROOT": str(self._root)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout_sec)
        except TimeoutError:
            process.kill()
            await process.communicate()
            raise
        return ExecResult(stdout=out.decode(), stderr=err.decode(), return_code=process.returncode)
