"""Whatever is done to a source, the answer is a result or a sentence, never a traceback."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import LOGS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import harbor_metrics
from harbor_metrics.audits import audit
from harbor_metrics.errors import HarborMetricsError

LM_EVAL = LOGS / "lm_eval" / "0.4.13"
WHOLE = {
    "inspect.eval": (LOGS / "inspect" / "of-0.3.120.eval").read_bytes(),
    "inspect.json": gzip.decompress((LOGS / "inspect" / "of-0.3.25.json.gz").read_bytes()),
    "lm-eval": next(LM_EVAL.glob("samples_three*")).read_bytes(),
    "csv": b'task,reward,attempt,kind\na,0.1,1,x\na,,2,"y\nz"\nb,1,1,x\n',
    "evsys": b'{"task_rewards": [[1, null], [0.5]], "task_names": ["b", "a"]}',
    "trials": b'{"task": "a", "rewards": {"r": 1}, "labels": {"x": 1}}\n',
}
PIECES = [b"", b"NaN", b"null", b"{}", b"[", b'"', b"\xff", b"\0", b"-1", b"1e999", b"true", b"\n"]
PIECES += [b'"\\ud800"', b"9" * 400, b"[[1]]", b",", b'"x"']


@pytest.mark.parametrize("name", WHOLE)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_source_is_a_result_or_a_sentence(
    name: str, tmp_path: Path, data: st.DataObject
) -> None:
    content = WHOLE[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        gone = data.draw(st.sampled_from([0, 1, 2, 8, 100, len(content)]))
        piece = data.draw(st.sampled_from(PIECES))
        content = content[:at] + piece + content[at + gone :]
    path = tmp_path / "source"
    path.write_bytes(content)
    assert said(lambda: harbor_metrics.compute(path))
    assert said(lambda: audit(str(path)))


def said(work: Callable[[], object]) -> str:
    """What is answered."""
    try:
        return str(work())
    except HarborMetricsError as error:
        return str(error)
