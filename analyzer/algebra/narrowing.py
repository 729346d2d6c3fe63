"""What a condition leaves of a row's columns: smaller domains, and times that are known by their distance from others.

What compares a column with a constant narrows its values, what compares two columns is a difference constraint; both go
into one difference-bound matrix (`analyzer.difference_bounds`), whose closure is read back. From a part of the
condition that is not read here nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.expression_facts import distance, moved, times_of
from streambound.analyzer.algebra.row_expressions import row_expression
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.value_sets import NOTHING, NULL, ValueSet, between, of_values
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise, promises
from streambound.analyzer.constants import Folded
from streambound.analyzer.difference_bounds import DifferenceBounds, Edge
from streambound.analyzer.expressions.evident import encoded
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.types import DataType, Family

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_EXACT = (Family.INTEGER, Family.DECIMAL)
_NUMBERS = (*_EXACT, Family.FLOAT)
_EXACT_DOUBLES = 2**53
"""Up to here a whole number, and its neighbours, are the same as doubles."""
_TIMES = (Family.INTEGER, Family.TIMESTAMP)
_MOST_COLUMNS = 200
"""Columns of a row above which no matrix is closed: its cost is cubic."""

Node = int | str
"""A column by its place, or the time of a source by its name."""
Difference = tuple[Node, Node, int]
"""``x - y <= c``."""


class RowFacts(Struct, frozen=True):
    """The columns of a row with their facts, and differences that hold between them and the times of sources.

    ``latest`` is as in `ViewFacts`. ``none``: no row satisfies what was asked.
    """

    schema: Schema
    columns: tuple[ColumnFacts, ...]
    differences: frozenset[Difference] = frozenset()
    latest: frozenset[str] | None = None
    none: bool = False

    def kind(self, place: int) -> DataType:
        """The type of a column."""
        return self.schema[place].type or ANY

    def with_values(self, place: int, values: ValueSet) -> RowFacts:
        """The row, a column of which is known to have some of these values only."""
        met = self.columns[place].values.meet(values)
        columns = (*self.columns[:place], replace(self.columns[place], values=met), *self.columns[place + 1 :])
        return replace(self, columns=columns, none=self.none or met == NOTHING)

    def join(self, other: RowFacts) -> RowFacts:
        """The facts that hold in one row or the other."""
        if self.none or other.none:
            return other if self.none else self
        columns = tuple(one.join(two) for one, two in zip(self.columns, other.columns, strict=True))
        return replace(self, columns=columns, differences=self.differences & other.differences)


def narrowed(condition: exp.Expr | None, row: RowFacts) -> RowFacts:
    """A row that satisfies a condition, after the closure of all that is known of it; without values, if none can."""
    row = replace(row, none=row.none or any(column.values == NOTHING for column in row.columns))
    parts = [row_expression(part, row.schema) for part in _conjuncts(condition)] if condition is not None else []
    known = [one for one in parts if one is not None]
    for one in known:
        row = _where(one, True, row)
    row = _closed(_with_equal_values([*filter(None, map(_equal_columns, known))], row))
    return replace(row, columns=tuple(ColumnFacts(NOTHING) for _ in row.columns)) if row.none else row


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    left = [node]
    while left:
        one = left.pop()
        if isinstance(one, exp.Paren | exp.Where):
            left.append(one.this)
        elif isinstance(one, exp.And):
            left += (one.expression, one.this)
        else:
            yield one


def _where(expression: Expression, wanted: bool, row: RowFacts) -> RowFacts:
    """A row of which an expression is true, or, where that is not ``wanted``, false."""
    match expression:
        case Literal(Folded(value=value)):
            return row if value == Fraction(wanted) else replace(row, none=True)
        case Field(name) if expression.kind.family is Family.BOOLEAN:
            return row.with_values(int(name), of_values((int(wanted),), null=False))
        case Call(function, arguments):
            return _called(function.name, arguments, wanted, row)
    return row


def _called(name: str, arguments: tuple[Expression, ...], wanted: bool, row: RowFacts) -> RowFacts:
    if name == "not":
        return _where(arguments[0], not wanted, row)
    if name in ("and", "or"):
        if (name == "and") is wanted:
            for argument in arguments:
                row = _where(argument, wanted, row)
            return row
        first, *others = (_closed(_where(argument, wanted, row)) for argument in arguments)
        for other in others:
            first = first.join(other)
        return first
    if name in _NEGATED:
        return _compared(arguments[0], name if wanted else _NEGATED[name], arguments[1], row)
    if name == "<=>" and wanted:
        return _same(arguments[0], arguments[1], row)
    if name == "in" and wanted:
        return _listed(arguments, row)
    if name == "is null" and isinstance(arguments[0], Field):
        place = int(arguments[0].name)
        return row.with_values(place, NULL if wanted else row.columns[place].values.not_null())
    return row


def _same(left: Expression, right: Expression, row: RowFacts) -> RowFacts:
    """``left <=> right``: equal, or both NULL."""
    both, nulls = _closed(_compared(left, "=", right, row)), row
    for side in (left, right):
        if isinstance(side, Field):
            nulls = nulls.with_values(int(side.name), NULL)
        elif isinstance(side, Literal) and side.constant.value is not None:
            return both
    return both.join(nulls)


def _listed(arguments: tuple[Expression, ...], row: RowFacts) -> RowFacts:
    """``x IN (1, 2)``; an item that is no constant may be anything."""
    sought, *items = arguments
    if not isinstance(sought, Field):
        return row
    row = row.with_values(int(sought.name), row.columns[int(sought.name)].values.not_null())
    found = [_constant(item, sought.kind) for item in items if not (_is_null(item))]
    if any(one is None for one in found):
        return row
    return row.with_values(int(sought.name), of_values((one for one in found if one is not None), null=False))


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.constant.value is None


def _constant(expression: Expression, kind: DataType) -> int | Fraction | str | None:
    """A constant as an encoded value of a type; a number between two values of it as it is. None where it is unlike."""
    if not isinstance(expression, Literal) or expression.constant.value is None:
        return None
    own, value = expression.constant.kind, expression.constant.value
    exact = not isinstance(value, str) and (own.family is not Family.FLOAT or abs(value) < _EXACT_DOUBLES)
    if not isinstance(value, str) and exact and own.family in _NUMBERS and kind.family in _EXACT:
        scaled = value * 10 ** (kind.scale or 0)
        return int(scaled) if scaled.denominator == 1 else scaled
    if own.family is not kind.family or kind.family not in (Family.STRING, Family.DATE, Family.TIMESTAMP, Family.FLOAT):
        return None
    return encoded(value, kind) if own.name == kind.name or kind.family is Family.STRING else None


def _compared(left: Expression, op: str, right: Expression, row: RowFacts) -> RowFacts:
    """``left op right``: neither is NULL."""
    for side in (left, right):
        if (place := _moved(side)) is not None:
            row = row.with_values(place[0], row.columns[place[0]].values.not_null())
        elif _is_null(side):
            return replace(row, none=True)
    for one, its, other in ((left, op, right), (right, _FLIPPED[op], left)):
        if (place := _moved(one)) is not None and isinstance(other, Literal):
            return _with_constant(place, its, other, row)
        if isinstance(other, Literal) and (sides := _difference(one)) is not None:
            return _with_distance(*sides, its, other, row)
    first, second = _moved(left), _moved(right)
    if first is not None and second is not None and _comparable(left.kind, right.kind):
        row = _with_column(first, op, second, row)
    return _buckets(left, op, right, row)


def _equal_columns(expression: Expression) -> tuple[int, int] | None:
    """Two columns of one type that are equal, which have the same values then."""
    match expression:
        case Call(function, (Field(x) as one, Field(y) as other)) if function.name == "=" and one.kind == other.kind:
            return (int(x), int(y)) if one.kind.discrete or one.kind.family is Family.STRING else None
    return None


def _with_equal_values(pairs: list[tuple[int, int]], row: RowFacts) -> RowFacts:
    """The row with the values that equal columns both may have, through as many of them as there are."""
    for x, y in pairs * len(pairs):
        both = row.columns[x].values.meet(row.columns[y].values).not_null()
        row = row.with_values(x, both).with_values(y, both)
    return row


def _comparable(kind: DataType, other: DataType) -> bool:
    return kind.discrete and other.discrete and kind.comparable(other)


def _moved(expression: Expression) -> tuple[int, int] | None:
    """A column by its place, and what is added to it; None for another expression."""
    match expression:
        case Field(name):
            return int(name), 0
    match moved(expression):
        case Field(name), more:
            return int(name), more
    return None


def _difference(expression: Expression) -> tuple[Expression, Expression] | None:
    """The sides of ``x - y``, of columns with whole numbers; None for another expression."""
    match expression:
        case Call(function, (x, y)) if function.name == "-" and _moved(x) and _moved(y) and _comparable(x.kind, y.kind):
            return x, y
    return None


def _with_distance(left: Expression, right: Expression, op: str, constant: Literal, row: RowFacts) -> RowFacts:
    """``x - y op c``: neither is NULL, and ``x op y + c``, as no difference that is computed is too large."""
    first, second = _moved(left), _moved(right)
    assert first is not None and second is not None, "they are sides of a difference"
    for place, _ in (first, second):
        row = row.with_values(place, row.columns[place].values.not_null())
    more = distance(constant.constant, left.kind)
    return row if more is None else _with_column(first, op, (second[0], second[1] + more), row)


def _with_constant(column: tuple[int, int], op: str, constant: Literal, row: RowFacts) -> RowFacts:
    place, more = column
    kind = row.kind(place)
    value = _constant(constant, kind)
    if value is None:
        return row
    if isinstance(value, str):
        return row.with_values(place, of_values((value,), null=False)) if op == "=" else row
    value -= more
    whole = kind.discrete
    if op == "=" and whole and value != int(value):
        return replace(row, none=True)
    if op == "<>":
        listed = row.columns[place].values.listed
        return row if listed is None else row.with_values(place, of_values(listed - {value}, null=False))
    low = value if op in ("=", ">", ">=") else None
    high = value if op in ("=", "<", "<=") else None
    if whole:
        low = None if low is None else floor(low) + 1 if op == ">" else ceil(low)
        high = None if high is None else ceil(high) - 1 if op == "<" else floor(high)
    return row.with_values(place, between(low, high, null=False))


def _with_column(first: tuple[int, int], op: str, second: tuple[int, int], row: RowFacts) -> RowFacts:
    """``x + a op y + b``, of types with whole numbers."""
    (x, a), (y, b) = first, second
    found = set(row.differences)
    if op in ("<", "<=", "="):
        found.add((x, y, b - a - (op == "<")))
    if op in (">", ">=", "="):
        found.add((y, x, a - b - (op == ">")))
    row = replace(row, differences=frozenset(found))
    return _with_same_times(x, y, row) if op == "=" and a == b and row.kind(x) == row.kind(y) else row


def _with_same_times(x: int, y: int, row: RowFacts) -> RowFacts:
    """Two columns with the same value: what one promises of times, the other does."""
    known: dict[tuple[str, str], TimePromise] = {}
    for one in (*row.columns[x].times, *row.columns[y].times):
        known[one.name] = known[one.name].meet(one) if one.name in known else one
    both = promises(known.values())
    columns = (replace(one, times=both) if place in (x, y) else one for place, one in enumerate(row.columns))
    return replace(row, columns=tuple(columns))


def _buckets(left: Expression, op: str, right: Expression, row: RowFacts) -> RowFacts:
    """A row's facts under a comparison of two buckets of time: the times are in the same order, to within a bucket."""
    sides = [times_of(side, row.columns) for side in (left, right)]
    found = set(row.differences)
    for one in sides[0]:
        for other in sides[1]:
            if not one.function or one.function != other.function or one.source == other.source:
                continue
            width = max(one.width, other.width) - 1
            for x, y, most in (
                (one, other, {"<": -1, "<=": width, "=": width}.get(op)),
                (other, one, {">": -1, ">=": width, "=": width}.get(op)),
            ):  # x.t <= u - x.low, y.t >= v - y.high, u - v <= most
                if most is not None and x.low is not None and y.high is not None:
                    found.add((x.source, y.source, most - x.low + y.high))
    return replace(row, differences=frozenset(found))


# --- the closure ------------------------------------------------------------------------------------------------------


def _closed(row: RowFacts) -> RowFacts:
    """The row with what follows from its differences, promises and domains together."""
    if row.none or not (row.differences or _comes_after_an_end(row)):
        return row
    matrix, nodes = _matrix(row)
    if not matrix.satisfiable:
        return replace(row, none=True)
    for place, node in nodes.items():
        if isinstance(place, int):
            low, high = _limit(matrix, 0, node), _limit(matrix, node, 0)
            row = row.with_values(place, between(None if low is None else -low, high, null=False))
    if row.none:
        return row
    columns = list(row.columns)
    for place in nodes:
        if isinstance(place, int):
            known = {one.name: one for one in columns[place].times}
            for one in (*_distances(place, row, matrix, nodes), *_now(place, row, matrix, nodes)):
                known[one.name] = known[one.name].meet(one) if one.name in known else one
            columns[place] = replace(columns[place], times=promises(known.values()))
    return replace(row, columns=tuple(columns))


def _comes_after_an_end(row: RowFacts) -> bool:
    """Whether the row has several streams and one of them ends, so that the end limits times of the others, too."""
    return len(row.latest or ()) > 1 and any(
        column.values.ends[1] is not None and any(one.source in (row.latest or ()) for one in column.times)
        for column in row.columns
    )


def _limit(matrix: DifferenceBounds, x: int, y: int) -> int | None:
    limit = matrix.limit(x, y)
    return None if limit is None else int(limit[0])


def _matrix(row: RowFacts) -> tuple[DifferenceBounds, dict[Node, int]]:
    """All that is known of columns that are not NULL and of the times of sources."""
    nodes: dict[Node, int] = {}
    whole = [p for p, column in enumerate(row.columns) if row.kind(p).discrete and not column.values.null]
    compared = {node for x, y, _ in row.differences for node in (x, y)}
    for place in whole[:_MOST_COLUMNS]:
        if place in compared or row.columns[place].times:
            nodes[place] = len(nodes) + 1
    sources = {time.source for column in row.columns for time in column.times}
    for source in sorted(sources | {node for node in compared if isinstance(node, str)}):
        nodes[source] = len(nodes) + 1
    edges: list[Edge] = [(nodes[x], nodes[y], c, False) for x, y, c in row.differences if x in nodes and y in nodes]
    for name, node in nodes.items():
        if isinstance(name, int):
            edges += _edges(node, row.columns[name], nodes)
    return DifferenceBounds(len(nodes) + 1, edges), nodes


def _edges(node: int, column: ColumnFacts, nodes: dict[Node, int]) -> Iterator[Edge]:
    low, high = column.values.ends
    pairs = [(0, low, high), *((nodes[t.source], t.low, t.high) for t in column.times if not t.function)]
    for other, least, most in pairs:
        if most is not None:
            yield node, other, floor(most), False
        if least is not None:
            yield other, node, -ceil(least), False


def _distances(place: int, row: RowFacts, matrix: DifferenceBounds, nodes: dict[Node, int]) -> Iterator[TimePromise]:
    """How far a column is from the times of sources, where that does not follow from constants alone."""
    if row.kind(place).family not in _TIMES:
        return
    families = {t.source: row.kind(p).family for p, c in enumerate(row.columns) for t in c.times if not t.function}
    node = nodes[place]
    for source, family in families.items():
        t = nodes[source]
        high = None if matrix.implied_through(node, 0, t) else _limit(matrix, node, t)
        low = None if matrix.implied_through(t, 0, node) else _limit(matrix, t, node)
        if family is row.kind(place).family:
            yield TimePromise(source, None if low is None else -low, high)


def _now(place: int, row: RowFacts, matrix: DifferenceBounds, nodes: dict[Node, int]) -> Iterator[TimePromise]:
    """How far a column is from the newest of the times of the row's sources, at which it comes."""
    if not row.latest or not all(source in nodes for source in row.latest):
        return
    for one in row.columns[place].times:
        if one.source == NOW:
            continue
        ends = [
            (_limit(matrix, nodes[source], nodes[one.source]), _limit(matrix, nodes[one.source], nodes[source]))
            for source in row.latest
        ]
        lows = [None if one.low is None or before is None else one.low - before for before, _ in ends]
        highs = [one.high + after for _, after in ends if one.high is not None and after is not None]
        low = None if None in lows else min(low for low in lows if low is not None)
        yield replace(one, source=NOW, low=low, high=min(highs, default=None))


def apart(row: RowFacts, one: str, other: str) -> int | None:
    """The most that the time of one source is after that of another one; None without a limit."""
    matrix, nodes = _matrix(row)
    if one not in nodes or other not in nodes or not matrix.satisfiable:
        return None
    return _limit(matrix, nodes[one], nodes[other])
