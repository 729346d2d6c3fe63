"""Bags of keys: what has ended, and bags with what is new, against what a plain dictionary says."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.operators.counted import Counted, Key, Together
from support.profiles import examples

KEYS = st.tuples(st.sampled_from(["x", None]), st.integers(0, 5) | st.none())
STEPS = st.lists(st.tuples(KEYS, st.booleans()), max_size=6)
BAGS = st.dictionaries(KEYS, st.integers(1, 3), max_size=6)


def end(key: Key) -> int | None:
    return None if key[1] is None else int(key[1]) + 2


@examples(50)
@given(BAGS, st.lists(STEPS, min_size=1, max_size=6))
def test_keys_end_once_their_time_has_come(before: Mapping[Key, int], ticks: list[list[tuple[Key, bool]]]) -> None:
    bag, plain = Counted(before), dict(before)
    for now, steps in enumerate(ticks):
        for key, comes in steps:
            if comes:
                bag.put(key, 1)
                plain[key] = 1
            elif key in plain:
                bag.remove([key])
                del plain[key]
        ended = bag.ended(end, now)
        assert len(ended) == len(set(ended))
        assert set(ended) == {key for key in plain if (at := end(key)) is not None and at <= now}
        bag.remove(ended)
        plain = {key: n for key, n in plain.items() if key not in ended}
        assert bag.entries == plain


@examples(50)
@given(BAGS, BAGS, st.booleans())
def test_a_bag_with_what_is_new(old: Mapping[Key, int], new: Mapping[Key, int], distinct: bool) -> None:
    if distinct:
        old, new = dict.fromkeys(old, 1), dict.fromkeys(new, 1)
    both = Together(Counted(old), new, distinct)
    plain = {key: 1 if distinct else old.get(key, 0) + new.get(key, 0) for key in {**old, **new}}
    assert both.entries == plain
    for value in ("x", None):
        assert both.of((0,), (value,)) == {key: n for key, n in plain.items() if key[0] == value}
