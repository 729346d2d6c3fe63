"""A statement's constants with their sums, and the properties of values that it reads beyond their order.

A witness holds at every size where its elements are farther apart than all constants together, so that conditions see
their order alone, and where expressions with finitely many values agree in all elements: a remainder, a part of a text
or of the calendar. For this values are multiples of all divisors, texts have long ends in common, and times are whole
weeks, or 28 years, apart. An expression that still sees more is *opaque*: no witness may depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil
from typing import cast

from msgspec import Struct, field
from msgspec.structs import asdict
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import ConstantError, numeral
from streambound.analyzer.expressions.registry import BY_NAME, is_aggregate
from streambound.analyzer.literals import fixed_interval
from streambound.analyzer.types import Family
from streambound.analyzer.units_of_time import LENGTHS
from streambound.criteria.witnesses.executed import Executed

DAY = LENGTHS["day"][0]
MOST_COUNTED = 600
"""Rows are counted to at most this number; then more elements than that are executed."""
_YEAR = LENGTHS["year"][1]
_FEWEST = 1 << 16
"""A type with no more values than SMALLINT has few."""
_INFINITE = (Family.INTEGER, Family.FLOAT, Family.DECIMAL, Family.STRING, Family.DATE)
_REMAINDERS = frozenset({"mod", "pmod", "bitwiseand", "bitwiseor", "bitwisexor"})
_QUOTIENTS = frozenset({"intdiv", "div", "floor", "ceil", "ceiling", "round", "bround"})
_ARITHMETIC = _REMAINDERS | _QUOTIENTS | {"add", "sub", "mul", "neg", "paren", "abs", "cast", "trycast"}
_SLICES = frozenset({"substring", "substr", "left", "right", "lpad", "rpad"})
_LETTERS = frozenset({"upper", "lower", "ucase", "lcase", "trim", "ltrim", "rtrim", "btrim", "reverse", "paren"})
_OF_WEEK = frozenset({"hour", "minute", "second", "dayofweek", "weekday", "dow"})
_OF_YEAR = frozenset({"month", "quarter", "day", "dayofmonth", "dayofyear", "weekofyear", "week", "doy"})
_OPAQUE = frozenset({"regexp_extract", "regexp_replace"})
_UNITS = {
    **dict.fromkeys(("datediff", "date_diff", "date_add", "dateadd", "date_sub", "unix_date", "to_date"), DAY),
    **dict.fromkeys(("unix_timestamp", "to_unix_timestamp", "unix_seconds"), LENGTHS["second"][0]),
    "timestampdiff": _YEAR,
    "year": _YEAR,
}
"""What a number may stand for as a distance of times, by the functions that make one of the other."""


class Constants(Struct, frozen=True):
    """The constants of a statement.

    ``numbers`` and ``texts`` are each one; ``total`` is the sum of all numbers, wherever they occur, and ``duration``
    that of all lengths of time, in microseconds. ``multiple`` is the product of all divisors, ``length`` how far into a
    text it may look, ``counted`` the greatest number that rows may be counted to, and elements differ in time by
    multiples of ``period``. ``opaque`` are the columns of which it may see more than this. ``read`` are the names that
    it mentions, and ``equal`` those that are to be equal.
    """

    numbers: frozenset[int]
    texts: frozenset[str]
    read: frozenset[str]
    equal: tuple[frozenset[str], ...]
    everything: bool
    total: int
    duration: int
    multiple: int
    length: int
    counted: int
    period: int
    opaque: frozenset[str]

    @classmethod
    def of(cls, statement: Executed) -> Constants:
        """Those of all its operators, those of its subqueries as well."""
        found = _Collector()
        trees = (statement.tree, *statement.queries.values())
        for tree in trees:
            found.look(tree)
        tables = {name for tree in trees for name in scanned(tree)}
        known = [table for name in tables if (table := statement.catalog.table(name)) is not None]
        return cls._made(found, known)

    @classmethod
    def of_syntax(cls, query: exp.Expr, tables: Iterable[DeclaredTable]) -> Constants:
        """Those of a query over some tables, by its syntax tree: rows are counted to what HAVING compares with."""
        found = _Collector()
        found.look(nodes.Scalar(query), counts=False)
        views = (one for one in query.find_all(exp.Select) if any(one.find_all(exp.Subquery)))
        conditions = (*query.find_all(exp.Having), *(one.args["where"] for one in views if one.args.get("where")))
        for literal in (literal for one in conditions for literal in one.find_all(exp.Literal)):
            found.counted = max(found.counted, _whole(literal))
        return cls._made(found, tables)

    @classmethod
    def _made(cls, found: _Collector, tables: Iterable[DeclaredTable]) -> Constants:
        columns = {column.name.lower() for table in tables for column in table.columns}
        period = 28 * 1461 * DAY // 4 if found.yearly else 7 * DAY if found.weekly else 1
        total = sum(found.occurrences)
        return cls(
            frozenset(found.occurrences), frozenset(found.texts), frozenset(found.read), tuple(found.equal),
            found.everything, total, found.duration + total * found.unit, found.multiple, found.length, found.counted,
            period, frozenset(name if name in columns else "" for name in found.opaque),
        )  # fmt: skip

    def is_fresh(self, column: Column) -> bool:
        """Whether there is always one more value of a column that the statement has not seen, nor sees the end of.

        Not of a type or domain with few values, and of nothing that is computed where that may have few.
        """
        kind = column.type
        few = kind.range is not None or (kind.family is Family.DECIMAL and 10**kind.precision <= _FEWEST)
        seen = column.name.lower() in self.opaque or "" in self.opaque
        return kind.family in _INFINITE and column.domain is None and not few and not seen

    def between_times(self, clock: Family) -> int:
        """Times of elements lie farther apart than this: in microseconds, or whole numbers."""
        return self.duration if clock is Family.TIMESTAMP else self.total


def scanned(tree: nodes.Tree) -> Iterator[str]:
    """The tables that a tree reads."""
    if isinstance(tree, nodes.Scan):
        yield tree.table
    for below in nodes.inputs(tree):
        yield from scanned(below)


class _Collector(Struct):
    """What was found so far in a tree."""

    occurrences: list[int] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    equal: list[frozenset[str]] = field(default_factory=list)
    opaque: set[str] = field(default_factory=set)
    everything: bool = False
    duration: int = 0
    unit: int = 0
    multiple: int = 1
    length: int = 0
    counted: int = 0
    weekly: bool = False
    yearly: bool = False

    def look(self, part: object, counts: bool = False) -> None:
        """Look through a part of a tree, of rows that are ``counts`` of others."""
        match part:
            case nodes.Scalar():
                self._expression(part.syntax, counts)
            case nodes.Bucket():
                self._lengths(part.size, part.slide, part.offset)
                self.look((part.input, part.time, part.columns, part.keys))
            case nodes.Frame():
                for end in (part.start, part.end):
                    self._frame_end(end, part.unit is nodes.Unit.ROWS)
            case bool() | str() | None:
                pass
            case tuple():
                for one in part:
                    self.look(one, counts)
            case nodes.Star():
                self.everything = True
            case nodes.WindowCall():
                self._fields(part, counts=True)
            case nodes.Operator():
                self.read |= {name.lower() for name in getattr(part, "using", ())}
                self._fields(
                    part, isinstance(part, nodes.FirstRows) or any(map(_counts, nodes.inputs(cast("nodes.Tree", part))))
                )
            case Struct():
                self._fields(part, counts)

    def _fields(self, part: Struct, counts: bool) -> None:
        for name, value in asdict(part).items():
            if name not in ("syntax", "at"):
                self.look(value, counts)

    def _lengths(self, *lengths: int) -> None:
        """Of a bucket or a frame: whole numbers, or microseconds."""
        self.duration += sum(map(abs, lengths))
        self.occurrences += [-(-abs(length) // DAY) if abs(length) >= LENGTHS["second"][0] else abs(length)
                             for length in lengths]  # fmt: skip

    def _frame_end(self, end: nodes.FrameEnd, rows: bool) -> None:
        distance = abs(end.distance or 0)
        if end.interval:
            self._lengths(distance)
            return
        self.occurrences.append(distance)
        self.counted = max(self.counted, distance if rows else 0)

    def _expression(self, root: exp.Expr, counts: bool) -> None:
        self.read |= {column.name.lower() for column in root.find_all(exp.Column)}
        for node in root.walk():
            match node:
                case exp.Interval():
                    self.duration += _length_of(node) * _factor(node)
                case exp.Literal(is_string=True):
                    self._text(node)
                case exp.Literal():
                    self._number(node, counts)
                case exp.EQ() | exp.NullSafeEQ():
                    self._equal(node)
            self._call(node)

    def _text(self, node: exp.Literal) -> None:
        if isinstance(node.parent, exp.Interval):
            self.occurrences += [int(word) for word in node.name.split() if word.isdecimal()]
            return
        self.texts.add(node.name)
        self.occurrences += [int(word) for word in node.name.split() if word.isdecimal()]
        self.length += len(node.name)
        if _name(node.parent) in ("date_trunc", "trunc"):
            self.duration += LENGTHS.get(node.name.lower(), (0, _YEAR))[1]

    def _number(self, node: exp.Literal, counts: bool) -> None:
        number = _whole(node)
        self.occurrences.append(number)
        if counts:
            self.counted = max(self.counted, number)

    def _equal(self, node: exp.Expr) -> None:
        if isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Column):
            names = frozenset((node.this.name.lower(), node.expression.name.lower()))
            joined = [one for one in self.equal if one & names]
            self.equal = [one for one in self.equal if not one & names] + [names.union(*joined)]

    def _call(self, node: exp.Expr) -> None:
        name = _name(node)
        literals = [_whole(one) for one in node.find_all(exp.Literal)]
        self.unit = max(self.unit, _UNITS.get(name, 0), DAY if _is_day(node) else 0)
        part = node.name.lower() if isinstance(node, exp.Extract) else name
        self.weekly |= part in _OF_WEEK
        self.yearly |= part in _OF_YEAR
        if name in _REMAINDERS | _QUOTIENTS:
            for number in literals:
                self.multiple *= 1 << number.bit_length() if name.startswith("bitwise") else max(number, 1)
        if name in ("round", "bround", "floor", "ceil", "ceiling"):
            self.multiple *= 10 ** max(literals, default=0)
        if name in _SLICES:
            self.length += sum(literals)
        if not _is_seen_through(node, name):
            self.opaque |= {column.name.lower() for column in node.find_all(exp.Column)}


def _whole(literal: exp.Literal) -> int:
    """The least whole number that is as large as a number, signs apart; that of a text of digits, and 0 of others.

    >>> [_whole(exp.Literal.number(text)) for text in ("97L", "1.5BD", "1e2")]
    [97, 2, 100]
    """
    if literal.is_string:
        return int(literal.name) if literal.name.isdecimal() else 0
    return ceil(abs(numeral(literal.name).exact))


def _counts(tree: nodes.Tree) -> bool:
    """Whether a tree has columns that may say how many rows of another there are."""
    return isinstance(tree, nodes.Aggregate | nodes.Over | nodes.FirstRows) or any(map(_counts, nodes.inputs(tree)))


def _name(node: exp.Expr | None) -> str:
    return node.name.lower() if isinstance(node, exp.Anonymous) else node.key if node is not None else ""


def _is_day(node: exp.Expr) -> bool:
    return isinstance(node, exp.Cast) and node.to.this in (exp.DataType.Type.DATE, exp.DataType.Type.BIGINT)


def _is_seen_through(node: exp.Expr, name: str) -> bool:
    """Whether what a call has few values of is the same for all elements, by how these are chosen."""
    if name in _REMAINDERS:
        inside = (one for one in node.walk() if not isinstance(one, exp.Column | exp.Literal | exp.Identifier))
        by = node.expressions[-1] if isinstance(node, exp.Anonymous) else node.expression
        return isinstance(by.unnest(), exp.Literal) and all(
            _name(one) in _ARITHMETIC or isinstance(one, exp.DataType) for one in inside
        )
    if name in _SLICES:
        text = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
        while _name(text) in _LETTERS and not isinstance(text, exp.Column):
            text = text.expressions[0] if isinstance(text, exp.Anonymous) else text.this
        return isinstance(text, exp.Column)
    if isinstance(node, exp.Anonymous):
        function = BY_NAME.get(name)
        evaluated = function is not None and (function.value or function.lazy) is not None
        return name not in _OPAQUE and (evaluated or is_aggregate(name) or name in ("window", "session_window"))
    return name not in _OPAQUE


def _length_of(node: exp.Interval) -> int:
    """The longest that an interval may be, in microseconds."""
    try:
        return abs(int(fixed_interval(node).exact))
    except ConstantError:
        numbers = [int(one) for one in str(node.this.name).replace("-", " ").split() if one.isdecimal()]
        return (sum(numbers) + 1) * _YEAR


def _factor(node: exp.Expr) -> int:
    """What an interval is multiplied by."""
    product, above = 1, node.parent
    while isinstance(above, exp.Mul | exp.Paren | exp.Neg):
        for one in above.find_all(exp.Literal):
            product *= max(_whole(one) if one.parent is not node and not one.is_string else 1, 1)
        above = above.parent
    return product
