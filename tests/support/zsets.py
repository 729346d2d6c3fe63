"""Hypothesis strategies of Z-sets and of streams of them, over rows of two small columns with NULLs."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from streambound.incremental.zset import ZSet

VALUES = st.one_of(st.none(), st.integers(0, 2).map(Fraction))
ROWS = st.tuples(VALUES, VALUES)
ZSETS = st.dictionaries(ROWS, st.integers(-2, 3), max_size=5).map(ZSet)
BAGS = st.dictionaries(ROWS, st.integers(1, 3), max_size=5).map(ZSet)
SETS = BAGS.map(ZSet.distinct)
STREAMS = st.lists(ZSETS, min_size=1, max_size=5)
BAG_STREAMS = st.lists(BAGS, min_size=1, max_size=5)
