"""Which group a key of result.json is of, by names that versions of Harbor write otherwise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.audits import harbor_keys
from harbor_metrics.audits.harbor_keys import Keys, _bare

_NAMES = st.text("ab_-/", max_size=4)
_GROUPS = st.lists(
    st.tuples(st.sampled_from(["x", "x__a", ""]), st.none() | _NAMES, st.sampled_from("de_")),
    max_size=6,
)


def groups(named: list[tuple[str, str | None, str]]) -> dict[str, Any]:
    return {
        f"{agent}|{model}|{dataset}": SimpleNamespace(
            agent=agent, model=model, dataset=SimpleNamespace(name=dataset)
        )
        for agent, model, dataset in named
    }


def plainly(key: str, of: dict[str, Any], models: list[str]) -> str | None:
    """By looking at each group."""
    found = []
    for name, group in of.items():
        head, tail = f"{group.agent}__", f"__{group.dataset.name}"
        if key.startswith(head) and key.endswith(tail):
            given = _bare(key[len(head) : -len(tail)])
            own = [_bare(model) for model in ([group.model] if group.model else models)]
            if not given or any(given.endswith(m) or m.endswith(given) for m in own):
                found.append(name)
    return found[0] if len(found) == 1 else None


@given(_GROUPS, st.lists(_NAMES, max_size=3), st.text("xab_-/de", max_size=12))
def test_a_key_is_of_the_only_group_whose_model_may_be_called_so(
    named: list[tuple[str, str | None, str]], models: list[str], middle: str
) -> None:
    of = groups(named)
    keys = Keys(of, models)
    for key in (middle, f"x__{middle}__d", f"x__a__{middle}__e", "x__d"):
        assert keys.group_of(key) == plainly(key, of, models)


def test_keys_are_not_set_beside_each_group_and_model(monkeypatch: Any) -> None:
    """750 keys of as many groups and models took 20 seconds."""
    bared = []
    real = harbor_keys._bare
    monkeypatch.setattr(harbor_keys, "_bare", lambda name: bared.append(name) or real(name))
    n = 60
    of = groups([("x", f"m-{i}", "d") for i in range(n)])
    keys = Keys(of, [f"p/m-{i}" for i in range(n)])
    assert keys.group_of("x__p/m-7__d") == "x|m-7|d"
    assert [keys.group_of(f"x__q-{i}__d") for i in range(n)] == [None] * n
    assert len(bared) <= 3 * n + 1
