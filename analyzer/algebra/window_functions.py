"""Functions over windows: at which rows of a partition each looks, and what it gives. Another one is a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import aggregate_type
from streambound.analyzer.algebra.nodes import Scalar, Side, WindowCall
from streambound.analyzer.algebra.value_sets import Number
from streambound.analyzer.constants import DOUBLE, INT
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.types import DataType

LeastValue = Callable[[exp.Expr], Number | None]
"""The least value of a column; None where it is not known."""


class Looks(Enum):
    """At which rows of its partition a function looks."""

    SO_FAR = auto()
    """The rows up to its own in the order: ranks, whose first ones a condition may select."""
    BACK = auto()
    """The row at a distance before."""
    AHEAD = auto()
    """The row at a distance after."""
    FRAME = auto()
    """Those of a frame."""
    ALL = auto()


class Gives(Enum):
    """The kinds of results of functions over windows."""

    NUMBER = auto()
    """An INT from 1 on."""
    VALUE = auto()
    """The value of one of the rows."""
    SHARE = auto()
    """A DOUBLE from 0 to 1."""
    AGGREGATE = auto()
    """The aggregate of the rows that has this name."""


class WindowFunction(Struct, frozen=True):
    """A function over a window; ``ties``: it is alike for rows that the order leaves equal.

    ``number`` is the place of the argument that is a whole number, of rows mostly, from ``least`` on; it is 1 where it
    is left out. ``continues``: what it is so far, one value, is enough to go on with. No rule decides what is not
    ``decided``.
    """

    looks: Looks
    gives: Gives
    ties: bool = False
    number: int | None = None
    least: int = 0
    continues: bool = True
    decided: bool = True


SPREADS = ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
"""Functions of the squares of numbers, which are summed where they are exact: not of doubles."""
_UNKNOWN = WindowFunction(Looks.FRAME, Gives.AGGREGATE, decided=False)
WINDOW_FUNCTIONS = {
    "ROW_NUMBER": WindowFunction(Looks.SO_FAR, Gives.NUMBER),
    "RANK": WindowFunction(Looks.SO_FAR, Gives.NUMBER, ties=True),
    "DENSE_RANK": WindowFunction(Looks.SO_FAR, Gives.NUMBER, ties=True),
    "LAG": WindowFunction(Looks.BACK, Gives.VALUE, number=1),
    "LEAD": WindowFunction(Looks.AHEAD, Gives.VALUE, number=1),
    **{name: WindowFunction(Looks.FRAME, Gives.AGGREGATE) for name in ("COUNT", "SUM", "MIN", "MAX", "AVG")},
    **{name: WindowFunction(Looks.FRAME, Gives.AGGREGATE, continues=False) for name in SPREADS},
    "FIRST_VALUE": WindowFunction(Looks.FRAME, Gives.VALUE),
    "LAST_VALUE": WindowFunction(Looks.FRAME, Gives.VALUE),
    "NTH_VALUE": WindowFunction(Looks.FRAME, Gives.VALUE, number=1, least=1, continues=False),
    "MEDIAN": WindowFunction(Looks.FRAME, Gives.AGGREGATE, continues=False),
    "NTILE": WindowFunction(Looks.ALL, Gives.NUMBER, number=0, least=1),
    "PERCENT_RANK": WindowFunction(Looks.ALL, Gives.SHARE, ties=True),
    "CUME_DIST": WindowFunction(Looks.ALL, Gives.SHARE, ties=True),
}
"""The functions by their names. Any other one is an aggregate over a frame."""


def function_called(name: str) -> WindowFunction:
    """The function of a name."""
    return WINDOW_FUNCTIONS.get(name, _UNKNOWN)


def window_function(call: WindowCall) -> WindowFunction:
    """The function of a call."""
    return function_called(call.function)


def is_decided(call: WindowCall) -> bool:
    """Whether a rule decides a call: only COUNT may have DISTINCT, only FIRST_VALUE and LAST_VALUE a FILTER."""
    function, one = window_function(call), call.function in ("FIRST_VALUE", "LAST_VALUE")
    unusual = call.ignore_nulls or (call.distinct and call.function != "COUNT") or (call.filter is not None and not one)
    several = not is_beside(call) and len(operands(call)) > 1
    return function.decided and not unusual and not several


def continues(call: WindowCall) -> bool:
    """Whether one value for each partition says what a call is so far."""
    return window_function(call).continues and not call.distinct


def is_running_count(call: WindowCall) -> bool:
    """Whether a call is COUNT(DISTINCT x) of all rows up to the current one, in an order."""
    if call.function != "COUNT" or not call.distinct or call.frame is None or not call.order or call.filter:
        return False
    start, end = call.frame.start, call.frame.end
    return start.side is Side.PRECEDING and start.distance is None and end.side is Side.CURRENT


def never_falls(call: WindowCall, least: LeastValue) -> bool:
    """Whether a call is a running count, or a running sum of what is never negative: it is no less in later rows."""
    plain = not (call.distinct or call.filter or call.ignore_nulls) and call.order and not call.order[0].descending
    if not plain or call.frame is None or call.function not in ("COUNT", "SUM"):
        return False
    start, end = call.frame.start, call.frame.end
    so_far = start.side is Side.PRECEDING and start.distance is None and end.side is Side.CURRENT
    return so_far and (call.function == "COUNT" or _is_never_negative(call.arguments[0].syntax, least))


def _is_never_negative(node: exp.Expr, least: LeastValue) -> bool:
    """Whether a value, if there is one, is 0 or more: such as 1 where a condition holds and else 0."""
    match node.unnest():
        case exp.Column() as column:
            return (known := least(column)) is not None and known >= 0
        case exp.Literal() as literal:
            return not literal.is_string
        case exp.Null():
            return True
        case exp.Case() as case:
            results = [*(one.args["true"] for one in case.args["ifs"]), case.args.get("default") or exp.null()]
            return all(_is_never_negative(one, least) for one in results)
        case exp.If() as choice:
            results = [choice.args["true"], choice.args.get("false") or exp.null()]
            return all(_is_never_negative(one, least) for one in results)
    return False


def is_rank(call: WindowCall) -> bool:
    """Whether a function numbers rows in order, so that a condition on it selects the first ones."""
    return window_function(call).looks is Looks.SO_FAR


def is_beside(call: WindowCall) -> bool:
    """Whether a function gives the value of a row at a fixed distance: LAG or LEAD."""
    return window_function(call).looks in (Looks.BACK, Looks.AHEAD)


def number_of(call: WindowCall) -> int:
    """A call's whole number: how many rows LAG and LEAD look away."""
    place = window_function(call).number
    if place is None or len(call.arguments) <= place:
        return 1
    found = whole_number(call.arguments[place].syntax)
    assert found is not None, "it was folded when it was read"
    return found[0]


def operands(call: WindowCall) -> tuple[Scalar, ...]:
    """The operands of a call, without its whole number: a value, and for LAG and LEAD a default."""
    place = window_function(call).number
    return tuple(one for n, one in enumerate(call.arguments) if n != place)


def looks_back(call: WindowCall) -> bool:
    """Whether a function is of rows that its window's order has no later than its own."""
    if not call.order or call.order[0].descending:
        return False
    if call.frame is None:
        return window_function(call).looks in (Looks.SO_FAR, Looks.BACK)
    end = call.frame.end
    return end.side is Side.CURRENT or (end.side is Side.PRECEDING and end.distance is not None)


def farthest_ahead(call: WindowCall, calls: Sequence[WindowCall]) -> bool:
    """Whether a call is the LEAD of the farthest row of some, which are all of rows after its own in one order."""
    ahead = all(window_function(one).looks is Looks.AHEAD for one in (call, *calls))
    alike = all((one.partition, one.order) == (call.partition, call.order) for one in calls)
    rises = bool(call.order) and not call.order[0].descending
    return ahead and alike and rises and number_of(call) >= max(1, *map(number_of, calls))


def window_type(call: WindowCall, argument: DataType | None) -> DataType | None:
    """The type of a function over a window, by that of what it is of; None: not known."""
    match window_function(call).gives:
        case Gives.NUMBER:
            return INT
        case Gives.SHARE:
            return DOUBLE
        case Gives.VALUE:
            return argument
    return aggregate_type(call.function, argument)
