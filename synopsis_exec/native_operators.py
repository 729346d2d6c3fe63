"""A statement as Spark's own stateful operators: its own SQL, over streams with watermarks.

Spark's planner decides what it is: a join, an aggregation by window, or nothing it can run.
It wants the application time to be a timestamp. So an integer one counts seconds in the views, and in the statement

    GROUP BY S.ts DIV 60         ->  GROUP BY window(S.ts, '60 SECOND')
    T.ts <= S.ts + 10            ->  T.ts <= S.ts + INTERVAL '10' SECOND
    everywhere else S.ts         ->  unix_seconds(S.ts)

or microseconds, where the statement takes windows of integers for such. The results are the same ones. SELECT DISTINCT
is `dropDuplicates`, as Spark takes the former for an aggregation without an end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.algebra.buckets import FLINK_COLUMNS
from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.decoding.quoting import quoted

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)
KEY = "_one"
"""A column that is 0 in every row: Spark joins streams on equal columns only, so it can be given one."""
_OF_INTEGERS = "timestamp_micros"
"""How a window of integers is written as one of Spark's (`recheck.oracle.time_buckets`)."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """A table as Spark reads it: the schema of its JSON, and its columns as SQL; ``time`` is a stream's watermark."""

    table: str
    schema: str
    columns: tuple[str, ...]
    time: str | None


@dataclass(frozen=True, slots=True)
class NativeStatement:
    """A statement for Spark over views, then without duplicates where ``distinct``; or why Spark cannot express it.

    ``keyed`` is the statement with an equality of constant columns, for a Spark that refuses joins without equality.
    """

    views: tuple[SourceView, ...] = ()
    sql: str = ""
    keyed: str = ""
    distinct: bool = False
    refused: str = ""


def native_operators(tree: exp.Expr, catalog: Catalog, inputs: Sequence[Input], joins: bool = False) -> NativeStatement:
    """The statement as Spark is to run it, whose results nobody reads if it only ``joins``.

    Whether Spark can it says when it starts.
    """
    times = {
        table.name.lower(): column.name.lower()
        for table in catalog.tables
        if table.kind is not Kind.RELATION and (column := table.column(str(table.timestamp))) is not None
        if column.type.family is Family.INTEGER
    }
    reads = {table.name.lower() for table in tree.find_all(exp.Table)}
    moments = _Moments({name: time for name, time in times.items() if name in reads}, _unit(tree))
    if moments.times and not joins and any(map(_is_star, tree.find_all(exp.Select))):
        return NativeStatement(refused="Spark wants the time to be a timestamp, and * would return it as one")
    if any(one.alias == FLINK_COLUMNS[-1] for one in tree.find_all(exp.Alias)):  # as `time_buckets` writes them
        return NativeStatement(refused="Spark has no table functions of windows: what it has is GROUP BY window(…)")
    views = tuple(_view(item, moments.clock, joins) for item in inputs)
    found = moments.rewritten(tree)
    for join in found.find_all(exp.Join):
        if join.kind == "CROSS":  # of streams Spark has none, but such inner joins
            join.set("kind", "INNER")
    distinct = isinstance(found, exp.Select) and found.args.pop("distinct", None) is not None
    sql, streams = found.sql("spark"), {item.name.lower() for item in inputs if item.timestamp is not None}
    for select in found.find_all(exp.Select) if joins else ():
        first, *others = [alias for alias, table in _tables(select) if table in streams] or [""]
        for other in others:
            one, two = (exp.column(KEY, table=alias, quoted=True) for alias in (first, other))
            select.where(one.eq(two), copy=False)
    return NativeStatement(views, sql, found.sql("spark") if joins else "", distinct)


def _view(item: Input, clock: str, key: bool) -> SourceView:
    """A table as Spark reads it: integers as timestamps by the function ``clock``, with a constant `KEY` or not."""
    schema = ", ".join(f"{quoted(column.name)} {_json_type(column)}" for column in item.declared)
    columns = []
    for column in item.declared:
        name = quoted(column.name)
        counted = column.name == item.timestamp and column.type.family is Family.INTEGER
        columns.append(f"{clock}({name}) AS {name}" if counted else name)
    if key:
        columns.append(f"pmod(hash({quoted(item.declared[0].name)}), 1) AS {KEY}")  # a literal would be folded away
    return SourceView(item.name, schema, tuple(columns), item.timestamp)


def _json_type(column: Column) -> str:
    return "STRING" if column.type.family in (Family.OTHER, Family.STRING) else column.type.name


def _is_star(select: exp.Select) -> bool:
    items = (one.unalias() for one in select.expressions)
    return any(isinstance(one, exp.Star) or (isinstance(one, exp.Column) and one.is_star) for one in items)


def _unit(tree: exp.Expr) -> str:
    micros = any(call.name.lower() == _OF_INTEGERS for call in tree.find_all(exp.Anonymous))
    return "MICROSECOND" if micros else "SECOND"


class _Moments:
    """Puts timestamps in the place of integer times; ``times`` are the streams' time columns, in lower case."""

    def __init__(self, times: Mapping[str, str], unit: str) -> None:
        self.times, self.unit = times, unit
        plural = "seconds" if unit == "SECOND" else "micros"
        self.clock, self.number = f"timestamp_{plural}", f"unix_{plural}"

    def rewritten(self, tree: exp.Expr) -> exp.Expr:
        """The statement over timestamps."""
        tree = tree.copy()
        for select in list(tree.find_all(exp.Select)):
            self._group(select)
        for node in [*tree.find_all(*_COMPARISONS), *tree.find_all(exp.Between)]:
            self._compare(node)
        done: set[int] = set()
        for select in tree.find_all(exp.Select):
            group = select.args.get("group")
            done.update(id(key) for key in (group.expressions if group else ()) if isinstance(key, exp.Column))
        for column in list(tree.find_all(exp.Column)):
            if id(column) not in done and not column.meta.get("moment") and self._is_time(column):
                self._as_number(column)
        return tree

    def _as_number(self, column: exp.Column) -> None:
        if _name(column.parent) == _OF_INTEGERS:  # it is one already
            column.parent.replace(column)  # type: ignore[union-attr]
            return
        called = isinstance(column.parent, exp.Select) and column.arg_key == "expressions"
        number = self._number(column.copy())
        column.replace(exp.alias_(number, column.name) if called else number)

    def _number(self, moment: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this=self.number, expressions=[moment])

    # --- buckets ------------------------------------------------------------------------------------------------------

    def _group(self, select: exp.Select) -> None:
        """Windows for the buckets that the block is grouped by."""
        group = select.args.get("group")
        for key in list(group.expressions) if group else ():
            meant = _item(select, key)
            if not isinstance(meant, exp.IntDiv) or (column := self._bucketed(meant)) is None:
                continue
            size = meant.expression.name
            named = [one for part in _parts(select) for one in part.find_all(exp.IntDiv) if self._same(one, meant)]
            key.replace(_window(column, size, self.unit))
            for bucket in named:
                start = exp.Dot(this=_window(column, size, self.unit), expression=exp.to_identifier("start"))
                bucket.replace(exp.IntDiv(this=self._number(start), expression=exp.Literal.number(size)))

    def _bucketed(self, bucket: exp.IntDiv) -> exp.Column | None:
        """The time that ``ts DIV 60`` is a bucket of."""
        column, size = bucket.this.unnest(), bucket.expression
        if isinstance(column, exp.Column) and self._is_time(column) and isinstance(size, exp.Literal) and size.is_int:
            return column if int(size.name) > 0 else None
        return None

    def _same(self, bucket: exp.IntDiv, meant: exp.IntDiv) -> bool:
        """Whether a bucket is that one, though one of them may not say of which table."""
        mine, other = self._bucketed(bucket), self._bucketed(meant)
        if mine is None or other is None or bucket.expression != meant.expression:
            return False
        tables = {one.table.lower() for one in (mine, other) if one.table}
        return len(tables) < 2 and mine.name.lower() == other.name.lower()

    # --- comparisons --------------------------------------------------------------------------------------------------

    def _compare(self, node: exp.Expr) -> None:
        """Timestamps on all sides of a comparison, where each side is a time, or one is a distance of two."""
        keys = ("this", "low", "high") if isinstance(node, exp.Between) else ("this", "expression")
        sides = [node.args[key] for key in keys]
        moments = self._apart(sides) or [self._moment(side) for side in sides]
        if all(moment is not None for moment in moments):
            for key, moment in zip(keys, moments, strict=True):
                node.set(key, moment)

    def _apart(self, sides: Sequence[exp.Expr]) -> list[exp.Expr | None] | None:
        """``a - b <= 3`` as ``a <= b + 3``; None for other comparisons."""
        place = next((n for n, side in enumerate(sides) if isinstance(side.unnest(), exp.Sub)), None)
        if place is None:
            return None
        distance, lengths = sides[place].unnest(), [_integer(side) for side in sides]
        later, earlier = self._moment(distance.this), self._moment(distance.expression)
        if later is None or earlier is None or any(one is None for n, one in enumerate(lengths) if n != place):
            return None
        return [
            later if length is None else exp.Add(this=earlier.copy(), expression=self._length(length))
            for length in lengths
        ]

    def _length(self, number: int) -> exp.Interval:
        return exp.Interval(this=exp.Literal.string(str(number)), unit=exp.var(self.unit))

    def _moment(self, node: exp.Expr) -> exp.Expr | None:
        """A time, or a time plus an interval, over timestamps; None for anything else."""
        node = node.unnest()
        if isinstance(node, exp.Column) and self._is_time(node):
            found = node.copy()
            found.meta["moment"] = True
            return found
        if not isinstance(node, exp.Add | exp.Sub):
            return None
        time, length = node.this, node.expression
        if isinstance(node, exp.Add) and _integer(time) is not None:
            time, length = length, time
        base, distance = self._moment(time), _integer(length)
        if base is None or distance is None:
            return None
        return type(node)(this=base, expression=self._length(distance))

    def _is_time(self, column: exp.Column) -> bool:
        """Whether a column is a stream's integer time, by the nearest block that has a table of that name."""
        for select in _enclosing(column):
            tables = dict(_tables(select))
            mine = [tables[column.table.lower()]] if column.table.lower() in tables else []
            mine = mine if column.table else [*tables.values()]
            if column.table and not mine and not any(_alias(one) == column.table.lower() for one in _sources(select)):
                continue
            if any(self.times.get(table) == column.name.lower() for table in mine):
                return True
            if mine or column.table:
                return False
        return False


def _enclosing(node: exp.Expr) -> Iterator[exp.Select]:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, exp.Select):
            yield parent
        parent = parent.parent


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    first = select.args.get("from_")
    if first is not None:
        yield first.this
    yield from (join.this for join in select.args.get("joins") or ())


def _tables(select: exp.Select) -> Iterator[tuple[str, str]]:
    """The tables that a block reads, in lower case, by their aliases."""
    defined = {cte.alias.lower() for above in [select, *_enclosing(select)] for cte in above.ctes}
    for source in _sources(select):
        if isinstance(source, exp.Table) and source.name.lower() not in defined:
            yield _alias(source), source.name.lower()


def _alias(source: exp.Expr) -> str:
    return str(source.alias_or_name).lower()


def _parts(select: exp.Select) -> Iterator[exp.Expr]:
    """Where a block names what it is grouped by."""
    yield from select.expressions
    for clause in ("having", "order"):
        if (found := select.args.get(clause)) is not None:
            yield found


def _item(select: exp.Select, key: exp.Expr) -> exp.Expr:
    """A key, or what the select list has under its name or number."""
    items = select.expressions
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(items):
        place: exp.Expr = items[int(key.name) - 1]
        return place.unalias()
    if isinstance(key, exp.Column) and not key.table:
        named = (one.this for one in items if isinstance(one, exp.Alias) and one.alias.lower() == key.name.lower())
        return next(named, key)
    return key


def _window(time: exp.Column, size: str, unit: str) -> exp.Expr:
    moment = time.copy()
    moment.meta["moment"] = True
    return exp.Anonymous(this="window", expressions=[moment, exp.Literal.string(f"{size} {unit}")])


def _name(node: exp.Expr | None) -> str:
    return node.name.lower() if isinstance(node, exp.Anonymous) else ""


def _integer(node: exp.Expr) -> int | None:
    """The integer that a literal is, with its sign."""
    node = node.unnest()
    if isinstance(node, exp.Neg):
        return None if (number := _integer(node.this)) is None else -number
    return int(node.name) if isinstance(node, exp.Literal) and node.is_int else None
