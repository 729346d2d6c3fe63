"""30 streams with 20 attributes each and 600 predicates: decided, rightly, and without trying combinations."""

from __future__ import annotations

import time

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.benchmarks.wide_query import SHAPES, Shape, wide_query
from streambound.criteria.check import Checked, check_source
from streambound.criteria.vocabulary import Verdict

ENOUGH = 15
"""Seconds of processor time, an order of magnitude more than needed: combinations would take hours."""


def checked(streams: int, attributes: int, shape: Shape, distinct: bool) -> Checked:
    sql, mapping = wide_query(streams, attributes, shape, distinct)
    (found,) = check_source(SourceText("wide.sql", sql), catalog_from_mapping(mapping))
    return found


@pytest.mark.parametrize(
    ("shape", "distinct"),
    [*((shape, False) for shape in SHAPES), *((shape, True) for shape in SHAPES[::3])],
    ids=lambda value: value.name if isinstance(value, Shape) else str(value),
)
def test_a_wide_query_is_decided(shape: Shape, distinct: bool) -> None:
    begun = time.process_time()
    wide = checked(*((20, 12) if distinct else (30, 20)), shape, distinct)
    assert time.process_time() - begun < ENOUGH
    if shape.domains:
        assert wide.verdict is Verdict.BOUNDED
        assert wide.bound is not None
    else:
        assert wide.verdict in ((Verdict.UNKNOWN, Verdict.UNBOUNDED) if distinct else (Verdict.UNBOUNDED,))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_wide_query_has_a_predicate_per_attribute_and_uses_all(shape: Shape) -> None:
    sql, _ = wide_query(10, 8, shape)
    conditions = sql.partition("WHERE ")[2].split("\n  AND ")
    assert len(conditions) == 80
    assert all(any(f"S{i}.a{j} " in f"{c} " for c in conditions) for i in range(10) for j in range(8))
