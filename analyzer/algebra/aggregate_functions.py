"""Aggregates: what a group keeps for each, how it is called, and the type of its value. Another one is a line here.

Percentiles are doubles, as in Spark: a continuous one is interpolated between its two neighbours, the discrete one is
the first value, in order, with at least that share of the values up to it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra.nodes import AggregateCall, Scalar, SortKey
from streambound.analyzer.constants import BIGINT, DOUBLE, MOST_PLACES, kind_of, numeral
from streambound.analyzer.types import NUMERIC, DataType, Family, list_of

_SUM_DIGITS, _MEAN_PLACES = 10, 4
"""How many more digits Spark gives to sums of decimals, and how many more decimal places to their means."""
_PART = "which part of the values is below a percentile is a number from 0 to 1, such as 0.9"


class GroupKeeps(Enum):
    """What a group keeps for an aggregate."""

    NUMBER = auto()
    """How many values there are."""
    SUM = auto()
    """Also their sum."""
    SQUARES = auto()
    """Also that of their squares."""
    LEAST = auto()
    GREATEST = auto()
    VALUES = auto()
    """Each value, with how often it is there."""
    ELEMENTS = auto()
    """Each value with its number, for an array of them; an array without values is empty, not NULL."""


class KeptValues(Struct, frozen=True):
    """The values that an aggregate is computed of: those of ``value``.

    ``greatest``: only the greatest (True) or the least one (False) matters. ``counted``: how often each is there. The
    aggregate looks at them in their order, in falling order if ``descending``: a percentile at this ``part`` of them.
    A value of the same row may matter ``beside`` it: of the row with the best one it is shown, of several rows the best
    one, where NULL is the least; an array is in its order, then in that of the values.
    """

    value: Scalar
    greatest: bool | None = None
    counted: bool = False
    part: float | None = None
    descending: bool = False
    beside: Scalar | None = None


class NoAggregate(Struct, frozen=True):
    """Why a call has no rule: ``refused``, Spark or the query language has none such. Without words it is unknown."""

    words: str = ""
    refused: bool = False
    help: str = ""


def _of_argument(call: AggregateCall) -> KeptValues | NoAggregate:
    """``MAX(x)``, ``SUM(DISTINCT x)``."""
    best = {GroupKeeps.GREATEST: True, GroupKeeps.LEAST: False}.get(AGGREGATES[call.function].kept or GroupKeeps.VALUES)
    if len(call.arguments) == 1:
        return KeptValues(call.arguments[0], best)
    words = f"{call.function} of several distinct arguments, of which one is a double, or has no texts"
    return NoAggregate("" if best is not None else words)


class AggregateFunction(Struct, frozen=True):
    """An aggregate: what is ``kept`` for it, None where no rule decides it, and its type by that of its values.

    The type is None for values that it is not of. ``read`` finds the values in its call.
    """

    kept: GroupKeeps | None
    kind: Callable[[DataType], DataType | None]
    read: Callable[[AggregateCall], KeptValues | NoAggregate] = _of_argument

    @property
    def picks(self) -> bool:
        """Whether its value is one of the values that it is of."""
        return self.kind is _same

    @property
    def is_linear(self) -> bool:
        """Whether sums of what each row adds are enough."""
        return self.kept in (GroupKeeps.NUMBER, GroupKeeps.SUM, GroupKeeps.SQUARES)

    @property
    def of_one_value(self) -> bool:
        """Whether it is the value where there is one: it is NULL only where there is none."""
        return self.kept not in (GroupKeeps.NUMBER, GroupKeeps.SQUARES, GroupKeeps.ELEMENTS)


def values_of(call: AggregateCall) -> KeptValues | NoAggregate | None:
    """The values that are kept for a call; None where sums of what each row adds are enough."""
    function = AGGREGATES.get(call.function)
    if function is None or function.kept is None:
        return NoAggregate(_REFUSED.get(call.function, ""), call.function in _REFUSED)
    if not function.is_linear:
        return function.read(call)
    if call.order:
        return NoAggregate()
    return _of_argument(call) if call.distinct else None


def computed_of(call: AggregateCall) -> tuple[Scalar, ...]:
    """The operands of a call; the first is the one whose value the call may return."""
    found = values_of(call)
    if not isinstance(found, KeptValues):
        return call.arguments
    if found.beside is None:
        return (found.value,)
    return (found.value, found.beside) if found.greatest is None else (found.beside, found.value)


def aggregate_type(function: str, argument: DataType | None) -> DataType | None:
    """The type of an aggregate of values of a type (Spark's `Sum`, `Average`, `CentralMomentAgg`); None: not known."""
    found = AGGREGATES.get(function)
    if found is None or (argument is None and found.kept is not GroupKeeps.NUMBER):
        return None
    return found.kind(argument or BIGINT)


# --- types ------------------------------------------------------------------------------------------------------------


def _same(kind: DataType) -> DataType | None:
    return kind


def _number(kind: DataType) -> DataType | None:
    return BIGINT


def _double(kind: DataType) -> DataType | None:
    return DOUBLE if kind.family in NUMERIC else None


def _sum(kind: DataType) -> DataType | None:
    match kind.family:
        case Family.INTEGER:
            return BIGINT
        case Family.DECIMAL:
            return kind_of(f"decimal({min(kind.precision + _SUM_DIGITS, MOST_PLACES)},{kind.scale or 0})")
    return _double(kind)


def _mean(kind: DataType) -> DataType | None:
    if kind.family is not Family.DECIMAL:
        return _double(kind)
    digits, places = (min(one + _MEAN_PLACES, MOST_PLACES) for one in (kind.precision, kind.scale or 0))
    return kind_of(f"decimal({digits},{places})")


# --- calls ------------------------------------------------------------------------------------------------------------


def _median(call: AggregateCall) -> KeptValues | NoAggregate:
    return _percentile(call, 1, "MEDIAN(x) has one argument")


def _of_part(call: AggregateCall) -> KeptValues | NoAggregate:
    words = "PERCENTILE(x, p) has two arguments; frequencies are outside the query language"
    return _percentile(call, 2, words)


def _percentile(call: AggregateCall, arguments: int, words: str) -> KeptValues | NoAggregate:
    if call.order:
        return NoAggregate(f"{call.function} takes no WITHIN GROUP; PERCENTILE_CONT does", refused=True)
    if len(call.arguments) != arguments:
        return NoAggregate(words, refused=True)
    return _at(call, call.arguments[0], call.arguments[1] if arguments > 1 else None)


def _within_group(call: AggregateCall) -> KeptValues | NoAggregate:
    """``PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x DESC)``."""
    if len(call.arguments) != 1 or len(call.order) != 1:
        words = f"{call.function} (p) WITHIN GROUP (ORDER BY x) has one part p, and is ordered by one value"
        return NoAggregate(words, refused=True)
    if call.distinct:
        return NoAggregate("WITHIN GROUP takes no DISTINCT; PERCENTILE(DISTINCT x, p) does", refused=True)
    (key,) = call.order
    return _at(call, key.value, call.arguments[0], key.descending)


def _at(
    call: AggregateCall, value: Scalar, given: Scalar | None = None, descending: bool = False
) -> KeptValues | NoAggregate:
    """The percentile at a part, or the median; at 0 or 1 the least or greatest value, with the percentile's type."""
    part = 0.5 if given is None else _part(given)
    if part is None:
        return NoAggregate(_PART, refused=True)
    greatest = None if part not in (0, 1) else (part == 1) != descending
    return KeptValues(value, greatest, greatest is None and not call.distinct, part, descending)


def _mode(call: AggregateCall) -> KeptValues | NoAggregate:
    """``MODE() WITHIN GROUP (ORDER BY x DESC)``: of the most frequent values the first one in order."""
    if call.arguments or call.distinct or len(call.order) != 1:
        words = "MODE() WITHIN GROUP (ORDER BY x) is the first of the most frequent values; MODE(x) may be any of them"
        return NoAggregate(words, refused=True)
    return KeptValues(call.order[0].value, counted=True, descending=call.order[0].descending)


def _best_by(call: AggregateCall) -> KeptValues | NoAggregate:
    """``MAX_BY(x, y)``: x of the row with the greatest y, as the field x of MAX(STRUCT(y, x)) where y is not NULL."""
    if len(call.arguments) != 2 or call.distinct or call.order:
        words = f"{call.function}(x, y) is of two arguments: x of the row with the {call.function[:3].lower()}imum of y"
        return NoAggregate(words, refused=True)
    return KeptValues(call.arguments[1], call.function == "MAX_BY", beside=call.arguments[0])


def _array(call: AggregateCall) -> KeptValues | NoAggregate:
    """``ARRAY_AGG(x ORDER BY y)``, without NULLs; of equal y in order of x. A set is in order of its values."""
    if len(call.arguments) != 1 or len(call.order) > 1:
        return NoAggregate("ARRAY_AGG(x ORDER BY y) is of one value, in the order of one", refused=True)
    (value,) = call.arguments
    if not call.order and not call.distinct:
        help = "write ARRAY_AGG(x ORDER BY ts), or sort_array(collect_list(x)), of a window of time"
        return NoAggregate("COLLECT_LIST and ARRAY_AGG have no order of their own", help=help)
    (key,) = call.order or (SortKey(value),)
    if key.nulls_first is key.descending:
        words = "NULLS LAST in ARRAY_AGG: NULL is the least, as in Spark's SORT_ARRAY"
        return NoAggregate(words, refused=True)
    beside = None if key.value.text == value.text else key.value
    if call.distinct and beside is not None:
        return NoAggregate("ARRAY_AGG(DISTINCT x ORDER BY y) has no order where y is not x", refused=True)
    return KeptValues(value, counted=not call.distinct, descending=key.descending, beside=beside)


def _part(given: Scalar) -> float | None:
    node = given.syntax.unnest()
    if isinstance(node, exp.Cast) and node.is_type("double"):
        node = node.this
    part = numeral(node.name).exact if isinstance(node, exp.Literal) and not node.is_string else None
    return float(part) if part is not None and 0 <= part <= 1 else None


AGGREGATES = {
    "COUNT": AggregateFunction(GroupKeeps.NUMBER, _number),
    "SUM": AggregateFunction(GroupKeeps.SUM, _sum),
    "AVG": AggregateFunction(GroupKeeps.SUM, _mean),
    "VAR_SAMP": AggregateFunction(GroupKeeps.SQUARES, _double),
    "VAR_POP": AggregateFunction(GroupKeeps.SQUARES, _double),
    "STDDEV_SAMP": AggregateFunction(GroupKeeps.SQUARES, _double),
    "STDDEV_POP": AggregateFunction(GroupKeeps.SQUARES, _double),
    "MIN": AggregateFunction(GroupKeeps.LEAST, _same),
    "MAX": AggregateFunction(GroupKeeps.GREATEST, _same),
    "MIN_BY": AggregateFunction(GroupKeeps.LEAST, _same, _best_by),
    "MAX_BY": AggregateFunction(GroupKeeps.GREATEST, _same, _best_by),
    "MEDIAN": AggregateFunction(GroupKeeps.VALUES, _double, _median),
    "PERCENTILE": AggregateFunction(GroupKeeps.VALUES, _double, _of_part),
    "PERCENTILE_CONT": AggregateFunction(GroupKeeps.VALUES, _double, _within_group),
    "PERCENTILE_DISC": AggregateFunction(GroupKeeps.VALUES, _double, _within_group),
    "MODE": AggregateFunction(GroupKeeps.VALUES, _same, _mode),
    "ARRAY_AGG": AggregateFunction(GroupKeeps.ELEMENTS, list_of, _array),
    "ANY_VALUE": AggregateFunction(None, _same),
    "FIRST": AggregateFunction(None, _same),
    "LAST": AggregateFunction(None, _same),
}
"""The aggregates by their names, one for all that mean the same."""
NULL_OF_NONE = frozenset(
    name for name, one in AGGREGATES.items() if one.kept not in (None, GroupKeeps.NUMBER, GroupKeeps.ELEMENTS)
)
"""Those that a rule decides, and that are NULL where there are no rows."""
_APPROXIMATE = "an approximate percentile depends on how rows are put together; PERCENTILE is exact"
_REFUSED = dict.fromkeys(("APPROX_PERCENTILE", "PERCENTILE_APPROX", "APPROX_QUANTILE"), _APPROXIMATE)
