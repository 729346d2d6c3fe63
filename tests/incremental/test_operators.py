"""What operators declare holds: linear, bilinear; for those that are neither, that a change touches its keys only."""

from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import given

from streambound.analyzer.expressions.function import Fails
from streambound.incremental.circuit import Op
from streambound.incremental.operators import TouchedOp
from streambound.incremental.zset import ZSet
from support.profiles import examples
from support.row_expressions import BILINEAR, GROUPS, KEYED, LINEAR, ONE_ROW, TWO
from support.zsets import BAGS, ZSETS


@pytest.mark.parametrize("op", LINEAR, ids=lambda op: type(op).__name__)
@examples(30)
@given(ZSETS, ZSETS)
def test_linear_operators_are(op: Any, a: ZSet, b: ZSet) -> None:
    assert op.linear
    assert op.apply(a + b) == op.apply(a) + op.apply(b)
    assert not op.apply(ZSet())


@pytest.mark.parametrize("op", BILINEAR)
@examples(30)
@given(ZSETS, ZSETS, ZSETS)
def test_joins_are_bilinear(op: Any, a: ZSet, b: ZSet, c: ZSet) -> None:
    assert op.bilinear
    assert op.apply(a + b, c) == op.apply(a, c) + op.apply(b, c)
    assert op.apply(a, b + c) == op.apply(a, b) + op.apply(a, c)


@examples(30)
@given(ZSETS, ZSETS, ZSETS, ZSETS)
def test_plus_is_linear_in_both_at_once(a: ZSet, b: ZSet, c: ZSet, d: ZSet) -> None:
    (plus,) = TWO
    assert plus.apply(a + c, b + d) == plus.apply(a, b) + plus.apply(c, d)


@pytest.mark.parametrize("op", KEYED, ids=lambda op: type(op).__name__)
@examples(40)
@given(BAGS, BAGS, BAGS)
def test_a_change_touches_its_keys_only(op: Any, before: ZSet, removed: ZSet, added: ZSet) -> None:
    after = (before - removed).positive() + added
    assert TouchedOp(op).apply(before, after - before) == op.apply(after) - op.apply(before)


@pytest.mark.parametrize(("sums", "rows"), GROUPS)
@examples(40)
@given(BAGS, BAGS, BAGS)
def test_so_do_aggregates_that_are_functions_of_sums(
    sums: Any, rows: Any, before: ZSet, removed: ZSet, added: ZSet
) -> None:
    after = (before - removed).positive() + added
    touched = TouchedOp(rows).apply(sums.apply(before), sums.apply(after - before))
    assert touched == rows.apply(sums.apply(after)) - rows.apply(sums.apply(before))


def test_some_operator_is_not_linear_and_declares_so() -> None:
    row = (Fraction(1), None)
    twice = ZSet({row: 2})
    for op in KEYED[:2]:
        assert not op.linear
    assert KEYED[0].apply(twice) != KEYED[0].apply(ZSet({row: 1})) + KEYED[0].apply(ZSet({row: 1}))  # type: ignore


def test_every_kind_of_operator_is_listed() -> None:
    listed = {type(op) for op in (*LINEAR, *BILINEAR, *KEYED, *TWO)} | {type(op) for pair in GROUPS for op in pair}
    assert {op for op in get_args(Op) if hasattr(op, "apply")} - listed == {TouchedOp}


def test_several_rows_are_no_value() -> None:
    with pytest.raises(Fails, match="more than one row"):
        ONE_ROW.apply(ZSet({(Fraction(1), None): 2}))
