"""Names of which no two are alike, and none is another's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

_Of = TypeVar("_Of", bound=Hashable)


def apart(
    wished: Mapping[_Of, str],
    parts: Sequence[str] = (),
    taken: Collection[str] = (),
    rank: Callable[[_Of], tuple[int, ...]] | None = None,
    mark: Callable[[_Of, bool], str | None] | None = None,
) -> dict[_Of, str]:
    """Names for one flat object: none is given twice, alone or with a part of `parts` behind it.

    A name that several wish for is that of the lowest by `rank`, by default of the first. Where
    those are equal it is nobody's, for who looks for it would find another's number. The others
    have their own `mark` behind it, which is asked of each and of whether it has an equal; without
    one `#2`, or the next number that is free.
    """

    def own(name: str) -> list[str]:
        return [name, *(f"{name}{part}" for part in parts)]

    ranks = {of: rank(of) if rank is not None else (i,) for i, of in enumerate(wished)}
    wishing: dict[str, list[_Of]] = {}
    for of in sorted(wished, key=ranks.__getitem__):
        for name in own(wished[of]):
            wishing.setdefault(name, []).append(of)

    def is_best(of: _Of, name: str) -> bool:
        return name not in taken and ranks[wishing[name][0]] == ranks[of]

    def is_equalled(of: _Of, name: str) -> bool:
        # Those of one rank stand beside each other, and the best ones first.
        return len(wishing[name]) > 1 and ranks[wishing[name][1]] == ranks[of]

    best = {of for of, wish in wished.items() if all(is_best(of, name) for name in own(wish))}
    equal = {of for of in best if any(is_equalled(of, name) for name in own(wished[of]))}
    marked = {
        of: f"{wish}#{own_mark}"
        for of, wish in wished.items()
        if mark is not None
        and (of in equal or of not in best)
        and (own_mark := mark(of, of in equal)) is not None
    }
    # Nobody can take them by being called so.
    reserved = {name for of in marked for name in own(marked[of])}
    names = {of: wished[of] for of in best - equal if reserved.isdisjoint(own(wished[of]))}
    used, numbers = {*taken, *wishing} - reserved, dict.fromkeys(wished.values(), 1)
    others = (of for of in wished if of not in names)
    for of in sorted(others, key=lambda of: (of not in marked, ranks[of])):
        name = wish = marked.get(of, wished[of])
        numbers.setdefault(wish, 1)
        while not used.isdisjoint(own(name)):
            numbers[wish] += 1
            name = f"{wish}#{numbers[wish]}"
        used.update(own(name))
        names[of] = name
    return names


def mark_of(thing: object) -> str:
    """What tells a thing from all others: 80 bits, for which nobody finds another thing."""
    # For weight: hardly any names are alike.
    from hashlib import sha256

    return sha256(repr(thing).encode("utf-8", "surrogatepass")).hexdigest()[:20]


def joined_apart(things: Sequence[Sequence[str]], between: str) -> list[str]:
    """The parts of each thing as one name, of which no two are alike.

    A part can hold what stands between parts.
    """
    names = [between.join(filter(None, parts)) or "—" for parts in things]
    if len(set(names)) == len(names):
        return names
    whole = (between.join(part or "—" for part in parts) for parts in things)
    numbered = apart(dict(enumerate(whole)))
    return [numbered[i] for i in range(len(things))]
