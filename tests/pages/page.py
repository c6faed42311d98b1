"""A page of Markdown as a reader follows it: its blocks, and one shell that runs them in order.

A fenced block of `console` is commands (`$ `, continued with `> `) and what a terminal shows of
them, both streams; a command that fails ends with `# exits N`. `python` is a program, and what it
prints stands in the comments behind its `print`s. Any other block is there to be read. Before a
block an HTML comment may say

    <!-- file: worst.py -->       the block is a file, which is written at this place
    <!-- not run: WHY -->         the block needs what is not here

A `…` in what is printed stands for any text; alone on a line it stands for any lines.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
# What a fresh checkout needs before a command; here it is there.
SET_UP = "python3 -m pip install uv && python3 -m uv run "

_BLOCK = re.compile(
    r"(?:^<!-- *(?P<mark>[a-z ]+): *(?P<say>[^>]*?) *-->\n+)?"
    r"^```(?P<kind>[a-z]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_EXIT = re.compile(r"\s+# exits (\d+)$")
_PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
# What stands between two pieces of output, with the exit code of the first.
_END = "\x1e"


@dataclass(frozen=True)
class Step:
    """What is run: its line, the command as the page shows it, what it prints and how it ends."""

    line: int
    shown: str
    command: str
    printed: str
    code: int = 0


class Page:
    """The blocks of one page."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.not_run: dict[int, str] = {}
        self.steps: list[Step] = []
        for match in _BLOCK.finditer(self.text):
            line, mark, say, text = self._line(match), match["mark"], match["say"], match["text"]
            if mark == "not run":
                self.not_run[line] = say
            elif mark == "file":
                self.steps.append(Step(line, say, _here(f"cat > {say}", text), ""))
            elif match["kind"] == "console":
                self.steps += _commands(line, text)
            elif match["kind"] == "python":
                printed = "".join(f"{said}\n" for said in _PRINTED.findall(text))
                self.steps.append(Step(line, text, _here("python3 -", text), printed))

    def run(self, folder: Path, env: dict[str, str]) -> list[tuple[str, int]]:
        """What each step prints and its exit code, from one shell in a copy of the example."""
        shutil.copytree(ROOT / "registry", folder / "registry")
        end = f"\nprintf '{_END}%d{_END}' $?\n"
        script = "".join(f"{{ {step.command}\n}} 2>&1 </dev/null{end}" for step in self.steps)
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=env, capture_output=True, timeout=300
        )
        assert done.returncode == 0, done.stderr.decode()
        *parts, rest = done.stdout.decode().split(_END)
        assert rest == "", rest
        return [(said, int(code)) for said, code in zip(parts[::2], parts[1::2], strict=True)]

    def with_outputs(self, outcomes: list[tuple[str, int]]) -> str:
        """The page with what was printed, where it differs, in place of what it shows."""
        shown: dict[int, str] = {}
        for step, (printed, _) in zip(self.steps, outcomes, strict=True):
            said = step.printed if matches(step.printed, printed) else printed
            shown[step.line] = shown.get(step.line, "") + step.shown + said

        def block(match: re.Match[str]) -> str:
            if match["kind"] != "console" or match["mark"] is not None:
                return match[0]
            return f"```console\n{shown[self._line(match)]}```"

        return _BLOCK.sub(block, self.text)

    def _line(self, block: re.Match[str]) -> int:
        return self.text.count("\n", 0, block.start("text")) + 1


def matches(expected: str, printed: str) -> bool:
    """Whether it is what a page shows, where `…` stands for any text."""
    lines = expected.splitlines(keepends=True)
    pattern = "".join(
        r"(?:.*\n)*" if line == "…\n" else ".*".join(re.escape(part) for part in line.split("…"))
        for line in lines
    )
    return re.fullmatch(pattern, printed) is not None


def _here(command: str, text: str) -> str:
    """The command with the text on its standard input."""
    return f"{command} <<'END OF THE BLOCK'\n{text}END OF THE BLOCK"


def _commands(line: int, text: str) -> list[Step]:
    steps = []
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        n = 1 + next((i for i, row in enumerate(lines[1:]) if not row.startswith("> ")), len(lines))
        command = "".join(row[2:] for row in lines[:n]).removeprefix(SET_UP).rstrip("\n")
        code = _EXIT.search(command)
        shown = "".join(lines[:n])
        steps.append(Step(line, shown, command, "".join(lines[n:]), int(code[1]) if code else 0))
    return steps
