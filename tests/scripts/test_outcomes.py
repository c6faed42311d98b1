"""What is made of a script's end and of its answer."""

from __future__ import annotations

import pytest
from metric_scripts import HEAD


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit('the reason')", ["exit code 1", "the reason"]),
        ("import os; os.kill(os.getpid(), 11)", ["SIGSEGV"]),
        ("raise ValueError('caf\\xe9 \\x1b[31m')", ["ValueError", "\\x1b[31m"]),
        ("", ["wrote no output"]),
        (HEAD + "open(a.o, 'w').write('{')", ["not JSON", "ends inside an object"]),
        (HEAD + "open(a.o, 'w')", ["not JSON", "empty"]),
        (HEAD + "open(a.o, 'w').write('[1]')", ["an array"]),
        (HEAD + "open(a.o, 'w').write('{}')", ["empty object"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": NaN}')", ["`NaN`"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": 1e999}')", ["out of range"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": true}')", ["`a`", "a boolean"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": {\"b\": 1}}')", ["`a`", "an object"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": 1, \"a\": 2}')", ["duplicate key `a`"]),
        (HEAD + "json.dump({str(i): 1 for i in range(1001)}, open(a.o, 'w'))", ["1001 keys"]),
        (HEAD + "open(a.o, 'w').write(' ' * 2_000_000)", ["larger than"]),
        (HEAD + "os.mkfifo(a.o)", ["not a regular file"]),
        (HEAD + "os.mkdir(a.o)", ["not a regular file"]),
        (HEAD + "os.symlink('/etc/hostname', a.o)", ["symbolic link"]),
        ("# /// script\n# dependencies = [\n# ///\n", ["PEP 723", "not TOML"]),
        (
            "# /// script\n# a = 1\n# ///\nx = 1\n# /// script\n# a = 1\n# ///\n",
            ["more than one PEP 723"],
        ),
        ("# /// script\n# requires-python = '>=3.99'\n# ///\n", ["environment", "3.99"]),
        ("# /// script\n# requires-python = 'new'\n# ///\n", ["requires-python"]),
    ],
)
def test_failed_script_says_why(text: str, words: list[str], outcome) -> None:
    one, done = outcome(text)
    assert done.returncode == 1
    assert one["status"] == "failed"
    for word in words:
        assert word in one["error"]["message"]
    assert "\x1b" not in done.stdout
