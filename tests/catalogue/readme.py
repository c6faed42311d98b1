"""The code of a metric in the README, its check and its entry point."""

from __future__ import annotations

import re

from conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
(WORST,) = (code for code in PYTHON if code.startswith("# worst.py"))
(CHECK,) = (code for code in PYTHON if "import check_metric" in code)
(ENTRY,) = (t for t in re.findall(r"```toml\n(.*?)```", README, re.DOTALL) if "entry-points" in t)
