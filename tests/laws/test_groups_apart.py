"""What is said of a group is the same whatever other groups stand beside it."""

from __future__ import annotations

import random
from functools import cache
from itertools import permutations

import msgspec
import pytest
from conftest import JOBS, LOGS, ROOT

from harbor_metrics.computation.computing import compute_request
from harbor_metrics.computation.request import Request
from harbor_metrics.errors import HarborMetricsError
from harbor_metrics.evaluation.result import Group
from harbor_metrics.trials.trial import GroupKey

PLACES = ((JOBS, "*/"), (ROOT / "registry" / "jobs", "*/"), (LOGS, "*/*"), (LOGS, "*/found/*"))
SOURCES = sorted(str(path) for folder, pattern in PLACES for path in folder.glob(pattern))


def groups(*sources: str) -> dict[GroupKey, bytes]:
    """Each group as a document has it; none where a source is refused."""
    try:
        found = compute_request(Request(sources=sources)).groups
    except HarborMetricsError:
        return {}
    return {key_of(group): msgspec.json.encode(group) for group in found}


def key_of(group: Group) -> GroupKey:
    dataset = group.dataset.name if group.dataset is not None else None
    return GroupKey(agent=group.agent, model=group.model, dataset=dataset)


alone = cache(groups)


@pytest.mark.parametrize("seed", range(2))
def test_a_group_is_the_same_beside_groups_of_other_sources(seed: int) -> None:
    compared = 0
    for mine, other in random.Random(seed).sample(list(permutations(SOURCES, 2)), 40):
        if not alone(mine) or not alone(other):
            continue
        both = groups(mine, other)
        for key in alone(mine).keys() - alone(other).keys():
            assert both[key] == alone(mine)[key], (mine, other)
            compared += 1
    assert compared
