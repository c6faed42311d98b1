"""Chromium without a window, spoken to through a pipe in its own protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
# Where `.ci/prepare` puts axe-core.
AXE = Path(os.environ.get("AXE_CORE", Path(__file__).parents[2] / ".ci/node_modules/axe-core"))
WHY_NOT = "no chromium here; .ci/prepare installs it"

_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--disable-extensions", "--disable-background-networking", "--no-first-run",
    "--force-color-profile=srgb", "--remote-debugging-pipe",
]  # fmt: skip


class Browser:
    """One browser with one page in it."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._begun = b""
        self._last = 0
        self.events: list[dict[str, Any]] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """What the browser answers; what it tells meanwhile is in `events`."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._begun:
            read = os.read(self._read, 1 << 20)
            assert read, "the browser has ended"
            self._begun += read
        message, _, self._begun = self._begun.partition(b"\0")
        return json.loads(message)

    def open(
        self, path: Path, *, width: int = 900, dark: bool = False, printed: bool = False
    ) -> None:
        """Show a file, as wide, on white or black, on a screen or on paper."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        media = "print" if printed else "screen"
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call("Page.navigate", url=path.as_uri())
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self._next())

    def ask(self, expression: str) -> Any:
        """The value of an expression on the page; past the policy of the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def requests(self) -> list[str]:
        """All addresses that the page asked for, itself first."""
        sent = (e for e in self.events if e["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def said(self) -> list[str]:
        """What the browser wrote into its console, such as what a policy refused."""
        logged = (e for e in self.events if e["method"] == "Log.entryAdded")
        return [event["params"]["entry"]["text"] for event in logged]

    def picture(self, path: Path, *, height: int | None = None) -> None:
        """The whole page as a PNG, or so much of it."""
        width, whole = self.ask("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": height or whole, "scale": 1}
        shot = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip
        )
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self) -> bytes:
        """The page on paper, A4."""
        self.call("Emulation.setEmulatedMedia", media="print")
        printed = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(printed["data"])


@contextmanager
def started() -> Iterator[Browser]:
    """A browser, ended afterwards."""
    assert CHROMIUM is not None
    ours_read, theirs_write = os.pipe()
    theirs_read, ours_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # It reads from descriptor 3 and writes to 4.
        script = f'exec "$0" "$@" 3<&{theirs_read} 4>&{theirs_write}'
        process = subprocess.Popen(
            ["bash", "-c", script, CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(theirs_read, theirs_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_read)
        os.close(theirs_write)
        try:
            yield Browser(ours_read, ours_write)
        finally:
            os.close(ours_write)
            os.close(ours_read)
            process.kill()
            process.wait()
