"""The code of a metric on the page of plugins, its check and its entry point."""

from __future__ import annotations

import re

from conftest import ROOT

PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(WORST,) = (code for code in PYTHON if code.startswith("# worst.py"))
(CHECK,) = (code for code in PYTHON if "import check_metric" in code)
(ENTRY,) = (t for t in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "entry-points" in t)
