"""Calls of aggregates and of functions over windows: from their syntax to what the algebra holds, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.window_functions import Gives, Looks, function_called
from streambound.analyzer.durations import UNITS
from streambound.analyzer.expressions.registry import is_aggregate
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.values import number

Reader = Callable[[exp.Expr], nodes.Scalar]
"""Makes an expression of its syntax."""
_SAME = {
    "STDDEV": "STDDEV_SAMP",
    "STD": "STDDEV_SAMP",
    "VARIANCE": "VAR_SAMP",
    "MEAN": "AVG",
    "EVERY": "BOOL_AND",
    "SOME": "BOOL_OR",
    "ANY": "BOOL_OR",
    "CARDINALITY": "SIZE",
    "COLLECT_LIST": "ARRAY_AGG",
}
"""Names of one meaning, by others."""
_OF_TRUTH = {"BOOL_AND": "MIN", "BOOL_OR": "MAX"}
"""Aggregates of truth values as others: false comes before true."""
_AROUND = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
"""What stands around a call and belongs to it."""
_PARTS = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


class UnreadCall(Exception):
    """A call that is no call of the algebra: its message says why, ``node`` is to blame, of None all of it.

    ``mismatch``: Spark refuses it, too.
    """

    def __init__(self, message: str, node: exp.Expr | None = None, help: str = "", mismatch: bool = False) -> None:
        super().__init__(message)
        self.node, self.help, self.mismatch = node, help, mismatch


def is_aggregate_call(node: exp.Expr) -> bool:
    """Whether a node is the call of an aggregate, with what belongs to it."""
    while isinstance(node, _AROUND):
        node = node.this
    return isinstance(node, exp.AggFunc) or (isinstance(node, exp.Anonymous) and is_aggregate(node.name.lower()))


def aggregate_call(node: exp.Expr, name: str, scalar: Reader) -> nodes.AggregateCall:
    """The call of an aggregate: ``SUM(DISTINCT v) FILTER (WHERE a > 1)``."""
    found = _parts(node, scalar)
    return nodes.AggregateCall(
        name, found.function, found.arguments, found.distinct, found.filter, found.order, found.ignore_nulls, node
    )


class _Parts(Struct, frozen=True):
    function: str
    arguments: tuple[nodes.Scalar, ...]
    distinct: bool = False
    filter: nodes.Scalar | None = None
    order: tuple[nodes.SortKey, ...] = ()
    ignore_nulls: bool = False


def _parts(node: exp.Expr, scalar: Reader) -> _Parts:
    """A call with what stands around it."""
    match node:
        case exp.Filter():
            found, condition = _parts(node.this, scalar), node.expression.this
            both = condition if found.filter is None else exp.and_(found.filter.syntax.copy(), condition.copy())
            return replace(found, filter=scalar(both))
        case exp.WithinGroup():
            return replace(_parts(node.this, scalar), order=sort_keys(node.expression, scalar))
        case exp.IgnoreNulls():
            return replace(_parts(node.this, scalar), ignore_nulls=True)
        case exp.RespectNulls():
            return _parts(node.this, scalar)
    given = [one for one in _arguments(node) if not isinstance(one, exp.Star)]
    order = given[-1] if given and isinstance(given[-1], exp.Order) else None
    if order is not None:  # ARRAY_AGG(v ORDER BY ts)
        given[-1] = order.this
    distinct = bool(given) and isinstance(given[0], exp.Distinct)
    if distinct:
        given = [*given[0].expressions, *given[1:]]
    name, arguments = function_name(node), tuple(map(scalar, given))
    if name == "COUNT_IF" and not distinct and len(arguments) == 1:
        return _Parts("COUNT", (), filter=arguments[0])
    if name == "COLLECT_SET":
        name, distinct = "ARRAY_AGG", True
    return _Parts(_OF_TRUTH.get(name, name), arguments, distinct, order=sort_keys(order, scalar))


def function_name(node: exp.Expr) -> str:
    """A function's name in capitals, one for all that mean the same."""
    written = node.name if isinstance(node, exp.Anonymous) else ""
    if not written:
        shown = re.match(r"\w+(?=\()", type(node)(this=exp.column("x")).sql("spark"))
        written = shown.group() if shown else node.sql_name()  # type: ignore[attr-defined]
    return _SAME.get(written.upper(), written.upper())


def _arguments(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        yield from node.expressions
        return
    for key in node.arg_types:
        value = node.args.get(key)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, exp.Expr):
                yield one


def sort_keys(order: exp.Expr | None, scalar: Reader) -> tuple[nodes.SortKey, ...]:
    """The sort keys of an ORDER BY."""
    return tuple(key for one in (order.expressions if order is not None else ()) for key in _sort_keys(one, scalar))


def _sort_keys(node: exp.Expr, scalar: Reader) -> list[nodes.SortKey]:
    if not isinstance(node, exp.Ordered):
        return [nodes.SortKey(one) for one in _values(node, scalar)]
    descending, first = bool(node.args.get("desc")), node.args.get("nulls_first")
    nulls_first = not descending if first is None else bool(first)
    return [nodes.SortKey(one, descending, nulls_first) for one in _values(node.this, scalar)]


def _values(node: exp.Expr, scalar: Reader) -> list[nodes.Scalar]:
    """The values of an expression that rows are put together, or in order, by: of a window its ends."""
    inner = node.unnest()
    if isinstance(inner, exp.Anonymous) and inner.name.lower() == "named_struct":
        return [scalar(one) for one in inner.expressions[1::2]]
    return [scalar(node)]


def window_call(node: exp.Window, name: str, scalar: Reader) -> nodes.WindowCall:
    """A function over a window: ``SUM(v) OVER (PARTITION BY a ORDER BY ts ROWS 3 PRECEDING)``; raises UnreadCall."""
    found = _with_number(_of_cases(_parts(node.this, scalar), scalar))
    order = sort_keys(node.args.get("order"), scalar)
    partition = tuple(value for one in node.args.get("partition_by") or () for value in _values(one, scalar))
    frame = None
    if function_called(found.function).looks is Looks.FRAME:
        frame = _frame(node.args.get("spec"), bool(order))
    return _of_one_row(
        nodes.WindowCall(
            name, found.function, found.arguments, partition, order, frame, found.distinct, found.filter,
            found.ignore_nulls, node,
        )
    )  # fmt: skip


def _of_cases(call: _Parts, scalar: Reader) -> _Parts:
    """A call over a window without a FILTER, where that is so, and without IGNORE NULLS, where it is a FILTER.

    SUM(v) FILTER (WHERE p) OVER w  ->  SUM(CASE WHEN p THEN v END) OVER w
    LAST_VALUE(v) IGNORE NULLS OVER w  ->  LAST_VALUE(v) FILTER (WHERE v IS NOT NULL) OVER w
    """
    function, value = function_called(call.function), call.arguments[0].syntax if call.arguments else None
    if call.distinct and call.function in ("MIN", "MAX"):
        call = replace(call, distinct=False)
    if call.ignore_nulls and function.looks is Looks.FRAME and value is not None and len(call.arguments) == 1:
        there = exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.Null()))
        tests = [there] if call.filter is None else [there, call.filter.syntax.copy()]
        call = replace(call, ignore_nulls=False, filter=scalar(exp.and_(*tests, copy=False)))
    if call.filter is None or function.gives is not Gives.AGGREGATE or len(call.arguments) > 1 or call.order:
        return call
    counted = exp.Literal.number(1) if value is None else value.copy()
    case = exp.Case(ifs=[exp.If(this=call.filter.syntax.copy(), true=counted)])
    return replace(call, arguments=(scalar(case),), filter=None)


def _of_one_row(call: nodes.WindowCall) -> nodes.WindowCall:
    """A function of the last row of a frame that ends before its own, or the first of one that begins after it.

    LAST_VALUE(v) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)  ->  LAG(v, 1) OVER (ORDER BY ts)

    The greatest value of the order is that of the last row, as NULL comes first.
    """
    if (
        call.frame is None
        or call.frame.unit is not nodes.Unit.ROWS
        or call.distinct
        or call.filter
        or call.ignore_nulls
    ):
        return call
    start, end = call.frame.start, call.frame.end
    key = call.order[0] if call.order else None
    rising = key is not None and not key.descending and key.nulls_first and call.arguments == (key.value,)
    if start.side is end.side is nodes.Side.PRECEDING and start.distance and end.distance:
        last = call.function == "LAST_VALUE" or (call.function == "MAX" and rising)
        return _beside(call, "LAG", end.distance) if last and start.distance >= end.distance else call
    if start.side is end.side is nodes.Side.FOLLOWING and start.distance and call.function == "FIRST_VALUE":
        there = end.distance is None or end.distance >= start.distance
        return _beside(call, "LEAD", start.distance) if there else call
    return call


def _beside(call: nodes.WindowCall, function: str, rows: int) -> nodes.WindowCall:
    """LAG or LEAD, by a number of rows, of a function's argument, over its partition and order."""
    if len(call.arguments) != 1:
        return call
    offset = exp.Literal.number(rows)
    arguments = (call.arguments[0], nodes.Scalar(offset))
    return replace(call, function=function, arguments=arguments, frame=None)


def _with_number(call: _Parts) -> _Parts:
    """A call with its whole number, as that of LAG and LEAD, as Spark folds it; raises UnreadCall where it is none."""
    function, other = function_called(call.function), {"LAG": "LEAD", "LEAD": "LAG"}.get(call.function)
    place = function.number
    if place is None or len(call.arguments) <= place:
        return call
    given = call.arguments[place]
    number = _number_of_rows(given.syntax, call.function)
    if number < function.least:
        message = f"{call.function} by {number} is outside the query language"
        help = f"write {other}(…, {-number})" if other is not None else f"write {function.least} or more"
        raise UnreadCall(message, given.syntax, help, mismatch=other is None)
    value = exp.Literal.number(number)
    before, after = call.arguments[:place], call.arguments[place + 1 :]
    return replace(call, arguments=(*before, nodes.Scalar(value), *after))


def _number_of_rows(node: exp.Expr, what: str) -> int:
    """A constant INT; raises UnreadCall for anything else."""
    found = whole_number(node)
    if found is not None and found[1].name == "int":
        return found[0]
    shown = node.sql("spark")
    if found is None and not isinstance(node, exp.Literal):
        raise UnreadCall(f"{what} by {shown}, which is no constant, is outside the query language", node)
    help = f"write {found[0]}" if found is not None and abs(found[0]) < 2**31 else ""
    raise UnreadCall(f"{what} counts rows by an INT, and {shown} is none", node, help, mismatch=True)


_START, _END = nodes.FrameEnd(nodes.Side.PRECEDING), nodes.FrameEnd(nodes.Side.FOLLOWING)


def _frame(spec: exp.Expr | None, ordered: bool) -> nodes.Frame:
    """A frame: up to the rows equal to the current one where there is an order, all rows where there is none."""
    if spec is None:
        return (
            nodes.Frame(nodes.Unit.RANGE, _START, nodes.FrameEnd(nodes.Side.CURRENT))
            if ordered
            else nodes.Frame(nodes.Unit.ROWS, _START, _END)
        )
    kind = str(spec.args.get("kind") or "").lower()
    if kind not in tuple(nodes.Unit) or spec.args.get("exclude"):
        help = "write RANGE for a distance in the order, or ROWS for a number of rows, without EXCLUDE"
        raise UnreadCall(f"a frame of {kind.upper() or 'this kind'} is outside the query language", help=help)
    start = _end(spec, "start")
    end = _end(spec, "end") if spec.args.get("end") is not None else nodes.FrameEnd(nodes.Side.CURRENT)
    return nodes.Frame(nodes.Unit(kind), start, end)


def _end(spec: exp.Expr, which: str) -> nodes.FrameEnd:
    value, side = spec.args[which], str(spec.args.get(f"{which}_side") or "").lower()
    word = str(value).upper() if not isinstance(value, exp.Expr) else ""
    if word == "CURRENT ROW":
        return nodes.FrameEnd(nodes.Side.CURRENT)
    if word == "UNBOUNDED":
        return nodes.FrameEnd(nodes.Side(side))
    if isinstance(value, exp.Interval):
        length = microseconds(value)
        if length is not None and length >= 0:
            return nodes.FrameEnd(nodes.Side(side), length, interval=True)
    elif isinstance(value, exp.Expr):
        of_rows = str(spec.args.get("kind")).lower() == nodes.Unit.ROWS
        found = (_number_of_rows(value, "ROWS"), None) if of_rows else whole_number(value)
        if found is not None and found[0] >= 0:
            return nodes.FrameEnd(nodes.Side(side), found[0])
    at = value if isinstance(value, exp.Expr) else None
    raise UnreadCall("the end of a frame is a whole number, not negative, or an interval of fixed length", at)


def microseconds(node: exp.Expr) -> int | None:
    """The length of ``INTERVAL '10' MINUTES``, or of a text such as ``'10 minutes'``; None where it is not fixed."""
    if isinstance(node, exp.Interval):
        amount, unit = node.this, node.args.get("unit")
        negative = isinstance(amount, exp.Neg)
        amount = amount.this if negative else amount
        if not isinstance(amount, exp.Literal) or isinstance(unit, exp.IntervalSpan):
            return None
        found = text_microseconds(f"{amount.name} {unit.name}" if unit is not None else amount.name)
        return -found if negative and found is not None else found
    return text_microseconds(node.name) if isinstance(node, exp.Literal) and node.is_string else None


def text_microseconds(text: str) -> int | None:
    """The length of ``1 hour 30 minutes``, with or without INTERVAL before it; None where it is none, or has parts.

    >>> text_microseconds("interval 1 minute 30 seconds")
    90000000
    """
    rest = re.sub(r"^\s*interval\s", "", text, flags=re.I)
    total, at = number("0"), 0
    while at < len(rest):
        part = _PARTS.match(rest, at)
        unit = part.group(2).upper().removesuffix("S") if part else ""
        if part is None or unit not in UNITS:
            return None
        total += number(part.group(1)) * UNITS[unit]
        at = part.end()
    return total.numerator if at and total.denominator == 1 else None


# --- back to syntax -----------------------------------------------------------------------------------------------


def call_syntax(call: nodes.AggregateCall | nodes.WindowCall, copied: Callable[[nodes.Scalar], exp.Expr]) -> exp.Expr:
    """The syntax of a call in Spark's SQL, without its name."""
    given = [copied(one) for one in call.arguments] or ([exp.Star()] if call.function == "COUNT" else [])
    if call.distinct:
        given = [exp.Distinct(expressions=given)]
    node: exp.Expr = exp.Anonymous(this=call.function, expressions=given)
    if isinstance(call, nodes.AggregateCall) and call.order:
        node = exp.WithinGroup(this=node, expression=order_syntax(call.order, copied))
    if call.ignore_nulls:
        node = exp.IgnoreNulls(this=node)
    if call.filter is not None:
        node = exp.Filter(this=node, expression=exp.Where(this=copied(call.filter)))
    if isinstance(call, nodes.WindowCall):
        node = exp.Window(this=node, partition_by=[copied(one) for one in call.partition], over="OVER")
        if call.order:
            node.set("order", order_syntax(call.order, copied))
        if call.frame is not None:
            node.set("spec", _spec(call.frame))
    return node


def order_syntax(order: tuple[nodes.SortKey, ...], copied: Callable[[nodes.Scalar], exp.Expr]) -> exp.Order:
    """The syntax of an ORDER BY."""
    keys = [exp.Ordered(this=copied(k.value), desc=k.descending, nulls_first=k.nulls_first) for k in order]
    return exp.Order(expressions=keys)


def _spec(frame: nodes.Frame) -> exp.WindowSpec:
    spec = exp.WindowSpec(kind=frame.unit.upper())
    for which, end in (("start", frame.start), ("end", frame.end)):
        value: exp.Expr | str = "CURRENT ROW" if end.side is nodes.Side.CURRENT else "UNBOUNDED"
        if end.distance is not None:
            value = exp.Literal.number(end.distance)
            if end.interval:
                value = interval_syntax(end.distance)
        spec.set(which, value)
        if end.side is not nodes.Side.CURRENT:
            spec.set(f"{which}_side", end.side.upper())
    return spec


def interval_syntax(length: int) -> exp.Interval:
    """``INTERVAL '10' MINUTE``: a length in microseconds, in the greatest unit that it is a multiple of."""
    unit, size = next((u, s) for u, s in reversed(UNITS.items()) if length % s == 0)
    return exp.Interval(this=exp.Literal.string(str(length // size)), unit=exp.Var(this=unit))
