"""Conditions on rounded times, with the limits on the distance of the times that follow from them.

date(a.ts) = date(b.ts)
->  date(a.ts) = date(b.ts) AND a.ts < b.ts + INTERVAL 1 DAY AND b.ts < a.ts + INTERVAL 1 DAY

A comparison of a distance with a constant becomes comparisons of its two ends, which a join can test:

abs(unix_timestamp(b.ts) - unix_timestamp(a.ts)) < 60
->  unix_timestamp(b.ts) < unix_timestamp(a.ts) + 60 AND unix_timestamp(b.ts) > unix_timestamp(a.ts) - 60

Windows are equal where their starts are. Limits that all alternatives of an OR imply are added beside it. The new
condition is true where the old one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field
from sqlglot import exp

from streambound.analyzer.algebra.calls import microseconds
from streambound.analyzer.algebra.row_expressions import row_expression
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn, meant
from streambound.analyzer.elapsed import difference
from streambound.analyzer.expressions.expression import Expression
from streambound.analyzer.findings import Positions
from streambound.analyzer.query import Op
from streambound.analyzer.rounded_times import Limits, is_sum, limits
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.units_of_time import LENGTHS

_OPS: dict[type[exp.Expr], Op] = {exp.LT: Op.LT, exp.LTE: Op.LE, exp.EQ: Op.EQ, exp.GTE: Op.GE, exp.GT: Op.GT}
_NODES = {op: node for node, op in _OPS.items()}
_READ = (exp.Anonymous, exp.Cast, exp.Sub, exp.Interval, exp.IntDiv)
"""What a condition that is read here has; a column less a constant is a sum like others."""
_UNITS = (*((name.upper(), LENGTHS[name][0]) for name in ("day", "hour", "minute", "second")), ("MICROSECOND", 1))
_DAYS_BETWEEN = ("datediff", "date_diff")


def with_limits(condition: exp.Expr, given: Schema, positions: Positions) -> exp.Expr:
    """The condition, or a copy of it with what it says of times; ``given`` are the columns that it may read."""
    reader, read = _LimitReader(given, positions), list(_read(condition))
    reader.known.update(reader.plain(condition) if read else {})
    changed = [reader.with_limits(one) for one in read]
    if not any(changed):
        return condition
    holder = exp.Paren(this=condition.copy())
    for old, new in zip(list(_read(holder.this)), changed, strict=True):
        if new:
            made = exp.and_(*([old.copy()] if isinstance(old, exp.Or) else []), *new, copy=False)
            positions.in_place_of(old, made)
            old.replace(made)
    return holder.this.pop()  # type: ignore[no-any-return]


def may_have_limits(condition: exp.Expr) -> bool:
    """Whether a condition has something that is read here; quick, as most have not."""
    return any(map(_is_read, condition.find_all(*_READ, exp.Or)))


def _is_read(node: exp.Expr) -> bool:
    return not isinstance(node, exp.Sub) or node.expression.find(exp.Column) is not None


def _read(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The comparisons in ANDs and ORs, and then these ORs, the inner ones first; none that has subqueries."""
    left, alternatives = [condition], list[exp.Expr]()
    while left:
        one = left.pop()
        if isinstance(one, exp.Paren):
            left.append(one.this)
        elif isinstance(one, exp.And):
            left += reversed([*one.flatten(unnest=False)])
        elif isinstance(one, exp.Or) and one.find(exp.Query) is None:
            left += reversed([*one.flatten(unnest=False)])
            alternatives.insert(0, one)
        elif isinstance(one, (exp.Between, *_OPS)) and may_have_limits(one) and one.find(exp.Query) is None:
            yield one
    yield from alternatives


_Comparison = tuple[exp.Expr, Op, exp.Expr]


class _LimitReader(Struct, frozen=True):
    """``known`` is what the condition says in plain words, as comparisons of columns: so it is not said twice."""

    given: Schema
    positions: Positions
    known: Limits = field(default_factory=Limits)

    def with_limits(self, node: exp.Expr) -> list[exp.Expr]:
        """Comparisons for one, and what it says of times, or of an OR this alone; nothing where it says no more."""
        said = (
            self._limit(node, pair, most)
            for pair, most in self._said(node).items()
            if pair not in self.known or self.known[pair] > most
        )
        if isinstance(node, exp.Or):
            return [limit for limit in said if limit is not None]
        parts, apart = self._parts(node), self._parts_apart(node)
        more = [] if self._is_plain(node) else [limit for limit in said if limit is not None]
        if not more and len(apart) == len(parts) and all(a is b for a, b in zip(apart, parts, strict=True)):
            return []
        return [*(_NODES[op](this=left.copy(), expression=right.copy()) for left, op, right in apart), *more]

    def plain(self, condition: exp.Expr) -> Limits:
        """The limits by the parts of a condition that compare sums of columns."""
        node = condition.unnest()
        parts = [*node.flatten()] if isinstance(node, exp.And) else [node]
        return self._least(self._said(one) for one in parts if self._parts(one) and self._is_plain(one))

    def _is_plain(self, node: exp.Expr) -> bool:
        return all(is_sum(one) for left, _, right in map(self._read, self._parts_apart(node)) for one in (left, right))

    @staticmethod
    def _least(several: Iterable[Limits]) -> Limits:
        """The limits of several conjuncts together: the least for each pair."""
        found = Limits()
        for pair, most in (item for one in several for item in one.items()):
            found[pair] = min(most, found.get(pair, most))
        return found

    def _said(self, node: exp.Expr) -> Limits:
        """The limits that a condition sets on times: AND sets those of each part, OR only those of all alternatives."""
        node = node.unnest()
        if isinstance(node, exp.Or):
            first, *others = node.flatten(unnest=False)
            found = self._said(first)
            for other in others if found else []:
                more = self._said(other)
                found = {pair: max(most, more[pair]) for pair, most in found.items() if pair in more}
            return found
        parts = node.flatten(unnest=False) if isinstance(node, exp.And) else ()
        own = (limits(*sides, self._positive) for sides in map(self._read, self._parts_apart(node)))
        return self._least([*map(self._said, parts), *own])

    @property
    def _positive(self) -> frozenset[str]:
        """The columns that are times in whole numbers, which are not below 0."""
        whole = (one.time and one.type is not None and one.type.family is Family.INTEGER for one in self.given)
        return frozenset(str(place) for place, is_whole in enumerate(whole) if is_whole)

    def _read(self, compared: _Comparison) -> tuple[Expression | None, Op, Expression | None]:
        left, op, right = compared
        return row_expression(left, self.given), op, row_expression(right, self.given)

    def _parts(self, node: exp.Expr) -> list[_Comparison]:
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            return [(node.this, Op.GE, node.args["low"]), (node.this, Op.LE, node.args["high"])]
        return [(node.this, _OPS[type(node)], node.expression)] if type(node) in _OPS else []

    def _parts_apart(self, node: exp.Expr) -> list[_Comparison]:
        return [one for part in self._parts(node) for one in self._apart(*part)]

    def _apart(self, left: exp.Expr, op: Op, right: exp.Expr) -> list[_Comparison]:
        """A comparison of a distance with a constant as comparisons of its ends; another one as it is."""
        one, other = left.unnest(), right.unnest()
        windows = [_window(side) for side in (one, other)]
        if op is Op.EQ and windows[0] is not None and windows[1] is not None and windows[0][1] == windows[1][1]:
            return [(_begin(*windows[0]), op, _begin(*windows[1]))]
        if self._is_constant(one) and not self._is_constant(other):
            return self._apart(other, op.flipped, one)
        if self._is_constant(one) or not self._is_constant(other):
            return [(left, op, right)]
        match one:
            case exp.Anonymous(expressions=[value]) if one.name.lower() == "abs" and op in (Op.LT, Op.LE):
                if self._are(Family.INTEGER, value, other):
                    return [*self._apart(value, op, other), *self._apart(value, op.flipped, _negative(other))]
            case exp.Anonymous(expressions=[end, start]) if one.name.lower() in _DAYS_BETWEEN:
                if (days := [self._day(side) for side in (end, start)]) and self._are(Family.INTEGER, other):
                    later = exp.Anonymous(this="date_add", expressions=[days[1], other.copy()])
                    return [(days[0], op, later)] if self._are(Family.DATE, *days) else [(left, op, right)]
            case exp.Anonymous() if (found := difference(one, op, other)) is not None:
                if self._are(Family.TIMESTAMP, found[0].this, found[0].expression):
                    return [part for compared in found[1] for part in self._apart(found[0], *compared)]
            case exp.Sub(this=first, expression=second) if not any(map(self._is_constant, (first, second))):
                times = self._are(Family.TIMESTAMP, first, second) and isinstance(other, exp.Interval | exp.Neg)
                counted = self._are(Family.INTEGER, first, second, other)
                if times or counted:
                    return [(first, op, exp.Add(this=_enclosed(second), expression=_enclosed(other)))]
        return [(left, op, right)]

    def _limit(self, node: exp.Expr, pair: tuple[str, str], most: int) -> exp.Expr | None:
        """A limit of two times as a condition, at its place; None for other columns."""
        columns = [self.given[int(place)] for place in pair]
        kind = columns[0].type
        if kind is None or kind != columns[1].type or not all(map(_may_be_time, columns)):
            return None
        written = {meant(one, self.given): one for one in node.find_all(exp.Column)}
        limit = _limit(written[int(pair[0])].copy(), written[int(pair[1])].copy(), most, kind)
        span = self.positions.of(node)
        for leaf in limit.find_all(exp.Identifier, exp.Literal):
            leaf.meta.update(start=span.start, end=span.end - 1)
        return limit

    def _is_constant(self, node: exp.Expr) -> bool:
        return node.find(exp.Column) is None and row_expression(node, self.given) is not None

    def _are(self, family: Family, *nodes: exp.Expr) -> bool:
        """Whether expressions are values of one family; of timestamps, of one type."""
        found = [row_expression(node, self.given) for node in nodes]
        kinds = [None if one is None else one.kind for one in found]
        alike = family is not Family.TIMESTAMP or len({*kinds}) == 1
        return alike and all(kind is not None and kind.family is family for kind in kinds)

    def _day(self, node: exp.Expr) -> exp.Expr:
        """The day of a time."""
        at_time = self._are(Family.TIMESTAMP, node)
        return exp.Anonymous(this="to_date", expressions=[node.copy()]) if at_time else node.copy()


def _window(node: exp.Expr) -> tuple[exp.Expr, int] | None:
    """The time and the length of a window, or of the one whose start or end this is; None for anything else."""
    if isinstance(node, exp.Dot) and node.expression.name.lower() in ("start", "end"):
        node = node.this
    if (
        not isinstance(node, exp.Anonymous)
        or node.name.lower() not in ("window", "tumble")
        or len(node.expressions) != 2
    ):
        return None
    length = microseconds(node.expressions[1])
    return None if length is None or length <= 0 else (node.expressions[0], length)


def _begin(time: exp.Expr, length: int) -> exp.Expr:
    """When a window begins, in microseconds since 1970."""
    since = exp.Anonymous(this="unix_micros", expressions=[time.copy()])
    passed = exp.Anonymous(this="pmod", expressions=[since.copy(), _number(length)])
    return exp.Sub(this=since, expression=passed)


def _may_be_time(column: ViewColumn) -> bool:
    """Whether limits are read of a column: not of one that is declared, and is no time."""
    return column.time or column.column is None


def _negative(constant: exp.Expr) -> exp.Expr:
    return constant.this.copy() if isinstance(constant, exp.Neg) else exp.Neg(this=constant.copy())


def _enclosed(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node.copy()) if isinstance(node, exp.Binary) else node.copy()


def _limit(left: exp.Expr, right: exp.Expr, most: int, kind: DataType) -> exp.Expr:
    """``left - right <= most``; of timestamps as ``<``, with the longest unit that divides the interval."""
    if kind.family is not Family.TIMESTAMP:
        return exp.LTE(this=left, expression=exp.Add(this=right, expression=_number(most)))
    unit, length = next(one for one in _UNITS if (most + 1) % one[1] == 0)
    interval = exp.Interval(this=exp.Literal.string(str((most + 1) // length)), unit=exp.Var(this=unit))
    return exp.LT(this=left, expression=exp.Add(this=right, expression=interval))


def _number(value: int) -> exp.Expr:
    found = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=found) if value < 0 else found
