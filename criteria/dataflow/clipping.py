"""How far waiting values are told apart: a join with limits on both sides is harmless beyond (docs/theory-bags.md; D5).

``S.v <= W.n`` with W.n >= 0 and S.v <= 9: all S.v up to 0 fare alike, so that 10 values are told apart. So it is of
``S.v <> W.n``. Where only the existence of a row is asked, of ``T.v < S.v`` the least T.v is enough (B1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.row_expressions import row_expression, type_of
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.value_sets import Number, between
from streambound.analyzer.expressions.whole_numbers import added_number, whole_number
from streambound.analyzer.types import DataType, Family
from streambound.criteria.dataflow.state import BestValue
from streambound.criteria.dataflow.view import OperatorView, Places, place_of

_LESS, _GREATER = (exp.LT, exp.LTE), (exp.GT, exp.GTE)


class ComparedColumn(Struct, frozen=True):
    """A column is less than ``other + more``, or greater, or another value, or not so.

    Where that is 0 at least, all values up to ``below`` fare alike; where it is 0 at most, all from ``above`` on.
    """

    other: int
    more: int
    below: int
    above: int


_ENDS: dict[type[exp.Expr], tuple[int, int]] = {
    exp.LT: (-1, 0),
    exp.LTE: (0, 1),
    exp.GT: (0, 1),
    exp.GTE: (-1, 0),
    exp.NEQ: (-1, 1),
}
_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}


Clips = Mapping[int, tuple[int | None, int | None]]
"""The least and the greatest value of a column that are told apart: those beyond count as the nearest."""


def clipped(
    view: OperatorView, first: int, pair: OperatorView, conditions: Sequence[exp.Expr], places: Places
) -> Clips:
    """A side of a join, whose columns at these places only the conditions read; it begins at ``first`` in the pairs."""
    found = dict[int, tuple[int | None, int | None]]()
    for place in sorted(places):
        values, kind = view.columns[place].values, view.schema[place].type
        if values.size is not None or kind is None or kind.family is not Family.INTEGER:
            continue
        limits = [_compared(one, place + first, pair) for one in conditions if place + first in pair.read_by(one)]
        known = [one for one in limits if one is not None]
        if not limits or len(known) < len(limits):
            continue
        (low, high), (below, above) = _whole(values.ends), _beyond(known, pair)
        least = below if low is None else None
        most = above if high is None else None
        least = least if least is None or high is None else min(least, high)
        most = most if most is None or low is None else max(most, low)
        if None not in (low if least is None else least, high if most is None else most):
            found[place] = least, most
    return found


def with_clips(view: OperatorView, clips: Clips) -> OperatorView:
    """A view whose values count as the nearest value within the clips."""
    columns = list(view.columns)
    for place, (least, greatest) in clips.items():
        values = columns[place].values
        low, high = values.ends
        known = between(low if least is None else least, high if greatest is None else greatest, values.null)
        columns[place] = replace(columns[place], values=known)
    return replace(view.narrowed(columns), clipped=view.clipped | clips.keys())


def extremal(first: int, pair: OperatorView, conditions: Sequence[exp.Expr], places: Places) -> Iterator[BestValue]:
    """The columns of a side, which begins at ``first`` in the pairs, of which the least or greatest value is enough.

    Only comparisons with the other side read such a column, all in one direction.
    """
    for place in sorted(places):
        reading = [one for one in conditions if place + first in pair.read_by(one)]
        directions = {_direction(one, place + first, first, pair) for one in reading}
        if len(directions) == 1 and (lesser := directions.pop()) is not None:
            yield BestValue(place, not lesser)


def _direction(condition: exp.Expr, place: int, first: int, pair: OperatorView) -> bool | None:
    """Whether a comparison of a column with the other side is true of all lesser values; None for another condition."""
    if not isinstance(condition, (*_LESS, *_GREATER)):
        return None
    for own, other in ((condition.left, condition.right), (condition.right, condition.left)):
        column = own.unnest()
        while isinstance(column, exp.Add | exp.Sub) and not pair.read_by(column.expression):
            column = column.this.unnest()
        if place_of(column, pair) == place and all(one < first for one in pair.read_by(other)):
            return isinstance(condition, _LESS) is (own is condition.left)
    return None


def _whole(ends: tuple[Number | None, Number | None]) -> tuple[int | None, int | None]:
    """The least and the greatest value of a column of whole numbers."""
    low, high = ends
    return None if low is None else ceil(low), None if high is None else floor(high)


def _beyond(limits: Sequence[ComparedColumn], pair: OperatorView) -> tuple[int | None, int | None]:
    """The greatest value below which all fare alike in all comparisons, and the least one above which they do."""
    low, high = ([_end(one, pair, which) for one in limits] for which in (0, 1))
    lows, highs = ([end for end in ends if end is not None] for ends in (low, high))
    below = min(lows) if len(lows) == len(limits) else None
    return below, max(highs) if len(highs) == len(limits) else None


def _end(limit: ComparedColumn, pair: OperatorView, which: int) -> int | None:
    end = pair.columns[limit.other].values.ends[which]
    return end + limit.more + (limit.above if which else limit.below) if isinstance(end, int) else None


def _compared(condition: exp.Expr, place: int, pair: OperatorView) -> ComparedColumn | None:
    """The column with which a condition compares a column; None unless it is an inequality."""
    if not isinstance(condition, (*_LESS, *_GREATER, exp.NEQ)):
        return None
    left, right = _term(condition.left, pair), _term(condition.right, pair)
    if left is None or right is None or (left[0] == place) is (right[0] == place):
        return None
    kind: type[exp.Expr] = type(condition)
    own, other = left, right
    if left[0] != place:
        kind, own, other = _TURNED.get(kind, kind), right, left
    return ComparedColumn(other[0], other[1] - own[1], *_ENDS[kind])


def _term(node: exp.Expr, pair: OperatorView) -> tuple[int, int] | None:
    """A column with what is added to it."""
    node = node.unnest()
    if isinstance(node, exp.Add | exp.Sub):
        number, column = whole_number(node.expression), place_of(node.this, pair)
        if number is None or column is None:
            return None
        return column, number[0] if isinstance(node, exp.Add) else -number[0]
    found = place_of(node, pair)
    return None if found is None else (found, 0)


# --- conditions that a job tests --------------------------------------------------------------------------------------


_COMPARISONS = (exp.LT, exp.LTE, exp.EQ, exp.NullSafeEQ, exp.GTE, exp.GT, exp.NEQ)
_NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.FLOAT)


def untested(
    condition: Scalar | None, pair: OperatorView, width: int, joined: frozenset[int] = frozenset()
) -> exp.Expr | None:
    """The first conjunct that no job tests, of a condition on pairs; its first columns are the left side's.

    Nothing is computed of rows of the sides (0 and 1) that are ``joined`` in each tick.
    """
    return next((part for part in conjuncts(condition) if not _is_condition(part, pair, width, joined)), None)


def _is_condition(node: exp.Expr, pair: OperatorView, width: int, joined: frozenset[int]) -> bool:
    """Whether a condition is tested, or alternatives of such."""
    node = node.unnest()
    if isinstance(node, exp.And):
        return all(_is_condition(part, pair, width, joined) for part in node.flatten())
    if not isinstance(node, exp.Or) or _side(node, pair, width) is not None:
        return _is_test(node, pair, width, joined)
    return all(_is_test(one, pair, width, joined) for part in node.flatten() for one in conjuncts(part))


def _is_test(node: exp.Expr, pair: OperatorView, width: int, joined: frozenset[int]) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Boolean):
        return bool(node.this) or not joined
    if isinstance(node, exp.Between):
        ends = (
            exp.GTE(this=node.this, expression=node.args["low"]),
            exp.LTE(this=node.this, expression=node.args["high"]),
        )
        return all(_is_test(one, pair, width, joined) for one in ends)
    if row_expression(node, pair.schema) is None:
        return False
    if isinstance(node, _COMPARISONS):
        sides = {_side(node.left, pair, width), _side(node.right, pair, width)}
        if sides == {0, 1}:
            types = [type_of(one, pair.schema)[0] for one in (node.left, node.right)]
            again = [one for one in (node.left, node.right) if _side(one, pair, width) in joined]
            plain = not again or (_are_alike(*types) and all(_is_column(one, pair) for one in again))
            return plain and _is_compared(*types)
    side = _side(node, pair, width)
    return side is not None and side not in joined


def _is_column(node: exp.Expr, pair: OperatorView) -> bool:
    """Whether an expression is a column, or one to which a number is added."""
    node = node.unnest()
    if isinstance(node, exp.Add | exp.Sub):
        kind = type_of(node.this, pair.schema)[0]
        node = node.this.unnest() if kind is not None and added_number(node.expression, kind) is not None else node
    return isinstance(node, exp.Column)


def _is_compared(one: DataType | None, other: DataType | None) -> bool:
    """Whether values of two types are compared as they are, or as doubles."""
    if one is None or other is None:
        return False
    if _are_alike(one, other):
        return True
    return Family.FLOAT in (one.family, other.family) and one.family in _NUMBERS and other.family in _NUMBERS


def _are_alike(one: DataType | None, other: DataType | None) -> bool:
    """Whether values of two types are compared as they are."""
    return one is not None and other is not None and one.family is other.family and one.scale == other.scale


def _side(node: exp.Expr, pair: OperatorView, width: int) -> int | None:
    """The side whose columns an expression reads; None for both, or none."""
    sides = {int(place >= width) for place in pair.read_by(node)}
    return sides.pop() if len(sides) == 1 else None
