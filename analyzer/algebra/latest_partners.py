"""ASOF JOIN, and LATERAL … ORDER BY ts DESC LIMIT 1, as running values over the rows of both sides in order of time.

SELECT S.k, T.v FROM S ASOF LEFT JOIN T ON T.k = S.k AND T.ts <= S.ts
->  SELECT S.k, S.v FROM (SELECT k, ts, LAST_VALUE(v) FILTER (WHERE _s = 0) OVER (PARTITION BY k ORDER BY ts, _s
      ROWS UNBOUNDED PRECEDING) AS v, _s FROM (SELECT k, ts, 1 AS _s, NULL AS v FROM S
        UNION ALL SELECT k, ts, 0, v FROM T WHERE k IS NOT NULL)) AS S WHERE _s = 1

A row of S sees the latest row of T with its key that is no later; so an entry is kept for each key, and no row. If the
join also asks for T.ts >= S.ts - INTERVAL 1 HOUR, the window is RANGE INTERVAL 1 HOUR PRECEDING, and its rows are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.calls import interval_syntax
from streambound.analyzer.algebra.narrowing import RowFacts, narrowed
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn, places_of
from streambound.analyzer.algebra.syntax import both_ends, conjuncts, null_of
from streambound.analyzer.algebra.view_facts import ColumnFacts
from streambound.analyzer.types import Family

ColumnsOf = Callable[[exp.Expr], Schema]
"""The columns of an entry of FROM."""
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def may_have_latest(node: exp.Select) -> bool:
    """Whether a join of a SELECT may be with the latest row."""
    return any(map(_may_be, node.args.get("joins") or []))


def _may_be(join: exp.Join) -> bool:
    return join.method == "ASOF" or isinstance(join.this, exp.Lateral)


def with_latest(node: exp.Select, columns: ColumnsOf, fresh: Callable[[str], str]) -> exp.Select | None:
    """The SELECT without its first join with the latest row of another entry of FROM; None where it has no such.

    A join before it of other rows does not change which row is the latest:
    ``S JOIN U ON … ASOF JOIN T ON T.k = S.k AND T.ts <= S.ts`` is ``(S ASOF JOIN T …) AS S JOIN U ON …``.
    ``fresh`` makes a name one that no column has.
    """
    number, join = next((n, one) for n, one in enumerate(node.args["joins"]) if _may_be(one))
    asked = _asked(join, columns)
    place = None if asked is None else _entry(node, number, asked)
    if asked is None or place is None:
        return None
    first = node.args["from_"].this if place < 0 else node.args["joins"][place].this
    named = {column.name.lower() for column in node.find_all(exp.Column)}
    named |= {name.name.lower() for one in node.args["joins"] for name in one.args.get("using") or ()}
    outer = tuple(column for column in columns(first) if column.name.lower() in named)
    asked = replace(asked, items={name: one for name, one in asked.items.items() if name.lower() in named})
    found = _Latest(first, outer, asked, columns(asked.rows), fresh)
    made = found.made() if found.read() else None
    return None if made is None else found.select(node, made, number, place)


class _Asked(Struct):
    """A join with the latest row of ``rows``, under an alias, and the columns that it selects.

    ``inside``: the row is a subquery's, whose own columns hide outer ones.
    """

    alias: str
    rows: exp.Expr
    parts: list[exp.Expr]
    items: Mapping[str, exp.Expr]
    order: list[exp.Expr]
    inner: bool
    inside: bool


def _entry(node: exp.Select, number: int, asked: _Asked) -> int | None:
    """The join before that one, or -1 for FROM, whose rows are asked for their latest partners; None for no such."""
    before = node.args["joins"][:number]
    names = [one.this.alias_or_name.lower() for one in (node.args["from_"], *before)]
    mine = {asked.alias.lower(), asked.rows.alias_or_name.lower(), ""}
    tables = {column.table.lower() for part in asked.parts for column in part.find_all(exp.Column)} - mine
    found = [n for n, name in enumerate(names, -1) if name and name in (tables or names[:1])]
    inner = [not one.side and (one.kind or "INNER") in ("INNER", "CROSS") for one in before]
    kept = all(one.side in ("", "LEFT") and not one.method for one in before)
    return found[0] if len(found) == 1 and kept and (found[0] < 0 or inner[found[0]]) else None


def _asked(join: exp.Join, columns: ColumnsOf) -> _Asked | None:
    """A join with the latest row, read; None for any other join."""
    inner = not join.side and (join.kind or "INNER") in ("INNER", "CROSS")
    if (not inner and join.side != "LEFT") or join.args.get("using"):
        return None
    if join.method == "ASOF":
        on, rows = join.args.get("on"), join.this
        named = {one.name: _column(one.name, rows.alias_or_name) for one in columns(rows)} if on else {}
        return None if on is None else _Asked(rows.alias_or_name, rows, conjuncts(on), named, [], inner, False)
    on, subquery = join.args.get("on"), join.this.this
    select = subquery.this if isinstance(subquery, exp.Subquery) else None
    always = on is None or (isinstance(on, exp.Boolean) and on.this)
    clauses = {name for name, value in select.args.items() if value} if isinstance(select, exp.Select) else set()
    if not always or select is None or clauses != {"expressions", "from_", "where", "order", "limit"}:
        return None
    items = {one.alias_or_name: one.unalias() for one in select.expressions}
    count = select.args["limit"].expression
    plain = all(items) and len(items) == len(select.expressions) and not any(one.is_star for one in select.expressions)
    if not plain or not isinstance(count, exp.Literal) or count.name != "1":
        return None
    parts, keys = conjuncts(select.args["where"].this), select.args["order"].expressions
    return _Asked(join.this.alias_or_name, select.args["from_"].this, parts, items, keys, inner, True)


class _Latest(Struct):
    """Rows of an entry of FROM, each with the latest row of another entry."""

    first: exp.Expr
    outer: Schema
    asked: _Asked
    inner: Schema
    fresh: Callable[[str], str]
    keys: dict[str, ViewColumn] = field(default_factory=dict)
    own: list[exp.Expr] = field(default_factory=list)
    time: tuple[str, ViewColumn, bool] | None = None
    """The times that are compared, and whether one is earlier than the other."""
    within: int | None = None
    """How much earlier it may be, in the unit of the times."""

    def read(self) -> bool:
        """Read the condition; whether it is one of equal columns, and one of times."""
        given, mine = (*self.inner, *self.outer), len(self.inner)
        for part in (one for whole in self.asked.parts for one in both_ends(whole)):
            node, places = part.unnest(), [self._place(one, given) for one in part.find_all(exp.Column)]
            if all(place < mine for place in places):
                self.own.append(part)
            elif isinstance(node, exp.EQ) and {type(node.left), type(node.right)} == {exp.Column}:
                place, other = sorted(places)
                if place >= mine or other == len(given) or given[place].type != given[other].type:
                    return False
                self.keys[given[other].name] = given[place]
            elif len(given) in places or node.find(exp.Query) or not self._compared(node, given):
                return False
        values = self.asked.items.values()
        known = all(self._mine(one) is not None for value in values for one in value.find_all(exp.Column))
        typed = all(type_of(value, self.inner)[0] is not None for value in values)
        return self.time is not None and known and typed and all(one.type is not None for one in self.outer)

    def _place(self, column: exp.Column, given: Schema) -> int:
        """The place of the one column that a name means; one more than there are where it means none, or several."""
        found = list(places_of(column, given))
        own = [place for place in found if place < len(self.inner)] if self.asked.inside else []
        return next(iter(own or found)) if len(own or found) == 1 else len(given)

    def _compared(self, node: exp.Expr, given: Schema) -> bool:
        """Read how far times are apart at most, and how one comes before the other; whether nothing else is said."""
        if not isinstance(node, _COMPARISONS):
            return False
        found = narrowed(node, RowFacts(given, tuple(ColumnFacts() for _ in given))).differences
        for x, y, most in found:
            assert isinstance(x, int) and isinstance(y, int), "no source is known"
            if not given[x].time or not given[y].time or given[x].type != given[y].type:
                return False
            if x < len(self.inner) <= y and self.time is None and most in (0, -1):
                self.time = given[y].name, given[x], most < 0
            elif y < len(self.inner) <= x and self.within is None and most > 0:
                self.within = most
            else:
                return False
        return len(found) == 1

    def made(self) -> exp.Subquery | None:
        """The rows with what is shown of the latest one."""
        assert self.time is not None, "it was read"
        time, mine, earlier = self.time
        order = [one.this.unnest() if isinstance(one, exp.Ordered) else one.unnest() for one in self.asked.order]
        falls = [isinstance(one, exp.Ordered) and bool(one.args.get("desc")) for one in self.asked.order]
        if order and (self._mine(order[0]) != mine or not falls[0] or len(order) > 1):
            return None
        names, number = [column.name for column in self.outer], self.fresh("_n")
        rows = [_column(name, self.first.alias_or_name) for name in names]
        values = [exp.alias_(value.copy(), name, quoted=True) for name, value in self.shown.items()]
        kinds = {name: type_of(value, self.inner)[0] for name, value in self.shown.items()}
        nulls = [exp.alias_(null_of(kind), name, quoted=True) for name, kind in kinds.items()]
        left = _select([*rows, exp.alias_(exp.Literal.number(1), self.side), *nulls], self.first)
        same = {name: _column(one.name, one.alias) for name, one in (*self.keys.items(), (time, mine))}
        others = [
            exp.alias_(same[one.name].copy() if one.name in same else null_of(one.type), one.name, quoted=True)
            for one in self.outer
        ]
        right = _select([*others, exp.alias_(exp.Literal.number(0), self.side), *values], self.asked.rows)
        there = [
            exp.Not(this=exp.Is(this=_column(one.name, one.alias), expression=exp.Null())) for one in self.keys.values()
        ]
        if self.own or there:
            right.set("where", exp.Where(this=exp.and_(*[one.copy() for one in self.own], *there, copy=False)))
        both = exp.Union(this=left, expression=right, distinct=False)
        keys = [exp.Ordered(this=_column(time), nulls_first=True)]
        if self.within is None:
            keys.append(exp.Ordered(this=_column(self.side), desc=earlier, nulls_first=not earlier))
        calls = [
            exp.alias_(self._over(exp.LastValue(this=_column(name)), keys), name, quoted=True) for name in self.shown
        ]
        calls.append(exp.alias_(self._over(exp.Count(this=exp.Star(), big_int=True), keys), number))
        over = _select([*map(_column, names), _column(self.side), *calls], _subquery(both, "_both"))
        shown = exp.EQ(this=_column(self.side), expression=exp.Literal.number(1))
        found = [exp.GT(this=_column(number), expression=exp.Literal.number(0))] if self.asked.inner else []
        last = _select(list(map(_column, (*names, *self.shown))), _subquery(over, "_latest"))
        last.set("where", exp.Where(this=exp.and_(shown, *found, copy=False)))
        return _subquery(last, self.first.alias_or_name)

    @property
    def side(self) -> str:
        """The column that is 1 in the rows that ask, and 0 in the others."""
        return self.fresh("_s")

    @property
    def shown(self) -> dict[str, exp.Expr]:
        """The selected columns of the latest row, by names that no other column has."""
        return {self._called(name): value for name, value in self.asked.items.items()}

    def _called(self, name: str) -> str:
        taken = {one.name.lower() for one in self.outer}
        return name if name.lower() not in taken else self.fresh(f"_{self.asked.alias}_{name}")

    def select(self, node: exp.Select, made: exp.Subquery, number: int, place: int) -> exp.Select | None:
        """The SELECT over these rows, in place of an entry, without a join; None where it names them otherwise."""
        node, parent = node.copy(), node.parent
        joins = node.args["joins"]
        entry = node.args["from_"] if place < 0 else joins[place]
        node.set("joins", [one for n, one in enumerate(joins) if n != number])
        node.parent = parent
        alias, called = self.asked.alias.lower(), {name.lower(): self._called(name) for name in self.asked.items}
        mine = {one.name.lower() for one in self.outer}
        for clause in [
            one for key, value in node.args.items() if key not in ("from_", "with_") for one in _list(value)
        ]:
            if any(table.alias_or_name.lower() == alias for table in clause.find_all(exp.Table, exp.Subquery)):
                return None
            if any(not isinstance(star.parent, exp.Count) for star in clause.find_all(exp.Star)):
                return None
            for column in list(clause.find_all(exp.Column)):
                name = column.name.lower()
                if not column.table and name in mine and name in called:
                    return None
                if column.table.lower() == alias and name in called:
                    other = _column(called[name], self.first.alias_or_name)
                    other.this.meta.update(column.this.meta)
                    is_item = isinstance(column.parent, exp.Select) and column.arg_key == "expressions"
                    column.replace(exp.alias_(other, column.name, quoted=True) if is_item else other)
        entry.set("this", made)
        return node

    def _over(self, call: exp.Expr, keys: list[exp.Ordered]) -> exp.Expr:
        counted = exp.Where(this=exp.EQ(this=_column(self.side), expression=exp.Literal.number(0)))
        spec = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
        if self.within is not None:
            spec.set("kind", "RANGE")
            spec.set("start", self._written(self.within))
            if self.time is not None and self.time[2]:
                spec.set("end", self._written(1))
                spec.set("end_side", "PRECEDING")
        return exp.Window(
            this=exp.Filter(this=call, expression=counted), partition_by=list(map(_column, self.keys)),
            order=exp.Order(expressions=[one.copy() for one in keys]), spec=spec, over="OVER",
        )  # fmt: skip

    def _written(self, length: int) -> exp.Expr:
        """A length of time, as the end of a frame."""
        assert self.time is not None, "it was read"
        kind = self.time[1].type
        is_timestamp = kind is not None and kind.family is Family.TIMESTAMP
        return interval_syntax(length) if is_timestamp else exp.Literal.number(length)

    def _mine(self, node: exp.Expr) -> ViewColumn | None:
        """The column of the latest row that an expression is; None for any other expression."""
        return _only(node, self.inner, () if self.asked.inside else self.outer)


def _only(node: exp.Expr, given: Schema, hides: Schema) -> ViewColumn | None:
    """The one column that an expression is, which none of those may be that hide it; None for another one."""
    if not isinstance(node, exp.Column):
        return None
    found = [one for one in given if one.called(node.name, node.table)]
    others = [one for one in hides if one.called(node.name, node.table)]
    return found[0] if len(found) == 1 and not others else None


def _column(name: str, alias: str = "") -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=alias or None, quoted=True)


def _list(value: object) -> list[exp.Expr]:
    """The expressions of a clause."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, exp.Expr)]


def _select(items: list[exp.Expr], entry: exp.Expr) -> exp.Select:
    return exp.Select(expressions=items, from_=exp.From(this=entry.copy()))


def _subquery(query: exp.Query, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
