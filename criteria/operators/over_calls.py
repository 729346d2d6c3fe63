"""Functions over windows of rows, one by one: how far each looks from its row, and what it is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streambound.analyzer.algebra.nodes import Named, Side, Unit, WindowCall
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import INT
from streambound.analyzer.flatten import written
from streambound.analyzer.types import DataType, Family
from streambound.criteria.operators.judge import NoRule
from streambound.criteria.operators.parts import OverColumn
from streambound.criteria.result_columns import aggregate_type

RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
_BESIDE = ("LAG", "LEAD")
_ENDS = ("FIRST_VALUE", "LAST_VALUE")
_FRAMED = ("COUNT", "SUM", "MIN", "MAX", "AVG", *_ENDS)


@dataclass(frozen=True, slots=True)
class Looks:
    """How far a function looks before and after its row: so many rows, or so much of what they are ordered by.

    ``before`` is None where it looks back to the first row; ``whole`` says that it looks so far that all rows matter.
    """

    unit: Unit
    before: int | None
    after: int
    whole: bool = False


def check_call(call: WindowCall) -> None:
    """Raises NoRule for a function that is none of those decided here."""
    if call.function not in _BESIDE and len(call.arguments) > 1:  # COUNT(a, b), FIRST_VALUE(v, true)
        raise NoRule(f"{call.function} of several arguments over a window", at=call)
    if call.distinct or call.filter is not None or call.ignore_nulls:
        help = "filter the rows in a subquery, and number or add up those that are left"
        raise NoRule("DISTINCT, FILTER or IGNORE NULLS over a window", help, call)
    if call.function not in (*RANKS, *_BESIDE, *_FRAMED):
        known = ", ".join((*RANKS, *_BESIDE, *_FRAMED))
        raise NoRule(f"the window function {call.function}", f"the window functions that are decided are {known}", call)
    if call.function in _FRAMED and call.frame is not None and call.frame.unit is Unit.RANGE:
        low, high = _frame_of(call)
        if (low is not None and low > 0) or (high is not None and high < 0):
            help = "let the frame include the current row, and subtract what is too much"
            raise NoRule("a frame of RANGE without its own row", help, call)


def window_of(call: WindowCall) -> object:
    """What functions over the same window have in common."""
    return call.partition, call.order


def reach_of(call: WindowCall) -> Looks:
    """How far a function that is no rank looks; up to the last row that is at all rows."""
    if call.function in _BESIDE:
        offset = _offset(call)
        return Looks(Unit.ROWS, offset, 0) if call.function == "LAG" else Looks(Unit.ROWS, 0, offset)
    low, high = _frame_of(call)
    if call.frame is None or high is None:
        return Looks(Unit.ROWS, None, 0, whole=True)
    before_own = call.frame.unit is Unit.ROWS and high == -1
    if low is None and high and not before_own:
        return Looks(Unit.ROWS, None, 0, whole=True)
    return Looks(call.frame.unit, None if low is None else max(0, -low), max(0, high))


def argument_items(calls: Sequence[WindowCall], prefix: str = "") -> list[Named]:
    """What some functions are of, and what LAG and LEAD are without such a row, by names of their own."""
    found = []
    for number, call in enumerate(calls, 1):
        found += [Named(f"{prefix}_v{number}", one, alias=True) for one in call.arguments[:1]]
        found += [Named(f"{prefix}_d{number}", one, alias=True) for one in call.arguments[2:]]
    return found


def over_columns(calls: Sequence[WindowCall], given: Sequence[Column], place: int) -> tuple[OverColumn, ...]:
    """Functions of columns, which are those of `argument_items`, the first of them at a place."""
    found = []
    for call in calls:
        value = place if call.arguments else None
        place += bool(call.arguments)
        default = place if len(call.arguments) > 2 else None
        place += default is not None
        argument = None if value is None else given[value].type
        if default is not None and not _fits(given[default].type, argument):
            raise NoRule(f"{call.function} with a default of another type")
        frame = None
        if call.function in _FRAMED and call.frame is not None:
            frame = (call.frame.unit is Unit.ROWS, *_frame_of(call))
        offset = _offset(call) if call.function in _BESIDE else 0
        found.append(OverColumn(call.function.lower(), _kind(call, argument), value, default, offset, frame))
    return tuple(found)


def _fits(default: DataType, values: DataType | None) -> bool:
    return default == values or (values is not None and default.family is values.family is Family.INTEGER)


def _kind(call: WindowCall, argument: DataType | None) -> DataType:
    if call.function in RANKS:
        return INT
    if call.function in (*_BESIDE, *_ENDS):
        assert argument is not None
        return argument
    return aggregate_type(call.function, argument)


def _frame_of(call: WindowCall) -> tuple[int | None, int | None]:
    """Where a frame begins and ends, from its row; None: with the first row, or the last."""
    frame = call.frame
    if frame is None:
        return None, None
    ends = []
    for one in (frame.start, frame.end):
        distance = 0 if one.side is Side.CURRENT else one.distance
        ends.append(-distance if distance is not None and one.side is Side.PRECEDING else distance)
    return ends[0], ends[1]


def _offset(call: WindowCall) -> int:
    """How many rows before or after."""
    return int(written(call.arguments[1]).name) if len(call.arguments) > 1 else 1


def together(calls: Sequence[WindowCall]) -> Looks:
    """How far some functions look that look as far by rows, or by the order's values."""
    found = [reach_of(call) for call in calls if call.function not in RANKS]
    unit = found[0].unit if found else Unit.ROWS
    return Looks(unit, max([0, *(one.before or 0 for one in found)]), max([0, *(one.after for one in found)]))
