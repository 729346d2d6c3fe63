"""The same query as Spark's own stream-stream join, where Spark can express one: what `memory` compares the job with.

Spark keeps the rows of both sides in a state store until watermarks say that they can join no more. It wants the
application time to be a timestamp, so an integer one counts seconds here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from streambound.analyzer.calendar_text import MICROSECONDS
from streambound.analyzer.catalog import Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.query import (
    And,
    Attribute,
    Branch,
    Comparison,
    Formula,
    Not,
    OneOf,
    Op,
    Or,
    Query,
    Source,
    conjunction,
)
from streambound.analyzer.render import render_branch
from streambound.analyzer.types import DataType, Family
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.decoding.quoting import quoted

_MOMENT = DataType("timestamp", Family.TIMESTAMP)
KEY = "_one"
"""A column that is 0 in every row: Spark joins streams on equal columns only, so it can be given one."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """A table as Spark reads it: the schema of its JSON, and its columns as SQL; ``time`` is a stream's watermark.

    The rows of a relation that is computed of others are those of a ``query`` over their views.
    """

    table: str
    schema: str
    columns: tuple[str, ...]
    time: str | None
    query: str = ""


@dataclass(frozen=True, slots=True)
class NativeJoin:
    """Views, the query over them as a bag, and whether duplicates are then dropped.

    ``keyed`` is the query with an equality of constant columns, for a Spark that refuses joins without equality.
    """

    views: tuple[SourceView, ...]
    sql: str
    keyed: str
    distinct: bool


def native_join(query: Query, inputs: Sequence[Input]) -> NativeJoin:
    """The query as Spark is to run it on streams. Whether it can, Spark says when it starts.

    The ``inputs`` are the plan's. Relations come first, since subqueries ask them, and then those computed of them.
    """
    sources = {source.table: source for branch in query.branches for source in branch.sources}
    branches = [_with_moments(branch) for branch in query.branches]
    sql = "\nUNION ALL\n".join(render_branch(branch, False) for branch in branches)
    keyed = "\nUNION ALL\n".join(render_branch(_keyed(branch), False) for branch in branches)
    others = (item for item in inputs if item.name not in sources)
    views = [source_view(table.name, table.declared, None, key=True) for table in others]
    views += [
        source_view(source.table, source.columns, _watermark(source), source.query, key=True)
        for source in sources.values()
    ]
    views.sort(key=lambda view: (view.time is not None, view.query != ""))
    return NativeJoin(tuple(views), sql, keyed, query.distinct)


def reads_streams(query: Query) -> int:
    """How many streams the largest branch joins."""
    return max((len(branch.streams) for branch in query.branches), default=0)


def _watermark(source: Source) -> str | None:
    return source.timestamp if source.kind is not Kind.RELATION else None


def source_view(
    table: str,
    given: Sequence[Column],
    time: str | None,
    query: str = "",
    *,
    key: bool = False,
    clock: str = "timestamp_seconds",
) -> SourceView:
    """A table as Spark reads it: with a constant `KEY` or not, integers as timestamps by the function ``clock``."""
    declared = [column for column in given if not column.expression]
    schema = ", ".join(f"{quoted(column.name)} {_json_type(column)}" for column in declared)
    columns = []
    for column in given:
        name = quoted(column.name)
        counted = column.name == time and column.type.family is Family.INTEGER
        if column.expression:
            columns.append(f"CAST(({column.expression}) AS {_json_type(column)}) AS {name}")
        else:
            columns.append(f"{clock}({name}) AS {name}" if counted else name)
    if key:
        columns.append(f"pmod(hash({quoted(given[0].name)}), 1) AS {KEY}")  # a literal would be folded away
    return SourceView(table, schema, tuple(columns), time, query)


def _json_type(column: Column) -> str:
    return "STRING" if column.type.family in (Family.OTHER, Family.STRING) else column.type.name


def _keyed(branch: Branch) -> Branch:
    """The branch with an equality of the constant columns of its streams."""
    first, *others = (source.alias for source in branch.streams)
    key = Column(KEY, DataType("int", Family.INTEGER))
    sources = tuple(replace(source, columns=(*source.columns, key)) for source in branch.sources)
    equal = tuple(Comparison(Attribute(first, KEY), Op.EQ, Attribute(other, KEY), 0) for other in others)
    return replace(branch, sources=sources, where=conjunction((*equal, branch.where)))


def _with_moments(branch: Branch) -> Branch:
    """The branch with timestamps for application times that are integers: they count seconds."""
    counted = {s.alias for s in branch.streams if s.column(str(s.timestamp)).type.family is Family.INTEGER}
    sources = tuple(_clocked(source) if source.alias in counted else source for source in branch.sources)
    return replace(branch, sources=sources, where=_scaled(branch.where, branch, counted))


def _clocked(source: Source) -> Source:
    columns = tuple(replace(c, type=_MOMENT) if c.name == source.timestamp else c for c in source.columns)
    return replace(source, columns=columns)


def _scaled(formula: Formula, branch: Branch, counted: set[str]) -> Formula:
    """A condition whose constants of time are microseconds."""
    match formula:
        case Comparison(left=left, offset=int(offset)) if left.source in counted and branch.is_time(left):
            return replace(formula, offset=offset * MICROSECONDS)
        case OneOf(attribute, values) if attribute.source in counted and branch.is_time(attribute):
            return replace(formula, values=tuple(int(value) * MICROSECONDS for value in values))
        case And(parts):
            return And(_all(parts, branch, counted))
        case Or(parts):
            return Or(_all(parts, branch, counted))
        case Not(part):
            return Not(_scaled(part, branch, counted))
    return formula


def _all(parts: Sequence[Formula], branch: Branch, counted: set[str]) -> tuple[Formula, ...]:
    return tuple(_scaled(part, branch, counted) for part in parts)
