"""What a job computes of rows, in DuckDB's SQL beside Spark's, where both compute the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from itertools import count

from streambound.analyzer.constants import BOOLEAN, kind_of
from streambound.analyzer.engine_queries import Relations, engine_asking, engine_query
from streambound.analyzer.expressions.engine_sql import NotInEngine, engine_sql
from streambound.analyzer.types import DataType
from streambound_runtime import spec
from streambound_runtime.decoding.raw import own
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.block_tables import RowsOfStream
from streambound_runtime.engine.linear import SqlPick
from streambound_runtime.engine.plan import CircuitPlan, ComputedRows, EngineOperator, NativeNode
from streambound_runtime.operators.circuit_plan import NamedTypes, PeriodNode
from streambound_runtime.operators.period_plan import SliceFilter, SliceJoin, SlicePlan, SliceProject
from streambound_runtime.operators.plan import TableScan, Test
from streambound_runtime.reading.relation_views import view_of


def with_engine(job: spec.JobSpec) -> spec.JobSpec:
    """A job whose expressions have a text for DuckDB, if there is one."""
    views = {view_of(one.name).lower(): _view(one) for one in job.relations}
    derived = partial(_derived, views=views, more=_asked_more_of(job.plan))
    return replace(
        job,
        streams=tuple(replace(table, derived=derived(table)) for table in job.streams),
        relations=tuple(replace(table, derived=derived(table)) for table in job.relations),
        queries=tuple(_query(query, derived(query.relation), views) for query in job.queries),
        plan=replace(job.plan, operators=tuple(map(_operator, job.plan.operators))),
    )


def _view(relation: spec.Relation) -> dict[str, DataType]:
    """The columns of a relation's view."""
    kinds = {column.name: kind_of(column.type) for column in relation.columns}
    return {name: kinds[name] for name in relation.needs if name in kinds}


def _asked_more_of(plan: object) -> frozenset[str]:
    """The columns of tables of which a plan may ask more than whether they are true.

    Where they are split off an OR, as many rows are taken of which one is false as of which it is NULL.
    """
    parts, balance = list(_scans_and_names(plan)), Counter[str]()
    found = {part for part in parts if isinstance(part, str)}
    for scan in (part for part in parts if isinstance(part, TableScan)):
        for variable, name in scan.columns:
            tests = [test for test in scan.tests if test.left == variable and test.right is None]
            values = [test.offset for test in tests if test.op == "=="]
            balance[name] += (0 in values) - any(test.op == "is null" for test in tests)
            other = any(test.or_null or test.op not in ("==", "is null", "is not null") for test in tests)
            if variable in scan.kept or other or (tests and not values and tests[0].op == "is not null"):
                found.add(name)
    return frozenset(found | {name for name, number in balance.items() if number})


def _scans_and_names(plan: object) -> Iterator[TableScan | str]:
    """The scans of a plan, and all texts elsewhere in it."""
    match plan:
        case str() | TableScan():
            yield plan
        case tuple():
            yield from (found for part in plan for found in _scans_and_names(part))
        case CircuitPlan(operators=operators):
            yield from (found for one in operators for found in _scans_and_names(_as_scans(one, operators)))
        case SqlBlock(synopsis=synopsis):  # what it reads of streams says nothing of how it uses that
            yield from _scans_and_names(synopsis)
        case _ if is_dataclass(plan) and not isinstance(plan, Test):
            yield from (found for field in fields(plan) for found in _scans_and_names(getattr(plan, field.name)))


def _as_scans(one: EngineOperator, operators: Sequence[EngineOperator]) -> object:
    """An operator, or the scans that are all that is made of a stream's rows."""
    readers = [other for other in operators if one.name in other.inputs]
    if not isinstance(one, RowsOfStream) or not all(isinstance(reader, SqlPick) for reader in readers):
        return one
    columns = tuple((f"c{place}", column) for place, column in enumerate(one.columns))
    return tuple(
        TableScan(one.stream, columns, scan.picked, scan.tests) for scan in readers if isinstance(scan, SqlPick)
    )


def _query(query: spec.RelationQuery, derived: tuple[spec.Derived, ...], views: Relations) -> spec.RelationQuery:
    found = engine_query(query.query, views)
    engine = "" if isinstance(found, NotInEngine) else found
    return replace(query, relation=replace(query.relation, derived=derived), engine=engine)


def _derived(table: spec.Stream | spec.Relation, views: Relations, more: frozenset[str]) -> tuple[spec.Derived, ...]:
    given = {column.name: kind_of(column.type) for column in table.columns}
    names = (own(table, f"subquery {number}") for number in count(1))

    def in_engine(column: spec.Derived) -> spec.Derived:
        kind = kind_of(column.type)
        made = engine_sql(column.expression, given, kind) if not column.asks else NotInEngine
        if isinstance(made, str):
            return replace(column, engine=made)
        tested = column.name not in more
        found = engine_asking(column.expression, given, kind, views, partial(next, names), tested)
        if isinstance(found, NotInEngine):
            return column
        return replace(column, engine=found.sql, subqueries=found.subqueries)

    return tuple(map(in_engine, table.derived))


def _operator(one: EngineOperator) -> EngineOperator:
    match one:
        case ComputedRows(node=node):
            engine = _texts(node.given, node.expressions, [kind for _, kind in node.columns])
            return replace(one, node=replace(node, engine=engine, engine_where=_condition(node.given, node.where)))
        case NativeNode(node=PeriodNode(query=query) as node):
            found = replace(query, plan=_periods(query.plan))
            return replace(one, node=replace(node, query=found))
    return one


def _periods(plan: SlicePlan) -> SlicePlan:
    """An operator over rows with periods, with all under it."""
    below = {field.name: getattr(plan, field.name) for field in fields(plan)}
    plan = replace(plan, **{name: _periods(part) for name, part in below.items() if is_dataclass(part)})  # type: ignore[arg-type]
    match plan:
        case SliceProject() if plan.picks is None:
            return replace(plan, engine=_texts(plan.given, plan.items, plan.types))
        case SliceFilter() | SliceJoin():
            return replace(plan, engine=_condition(plan.given, plan.condition))
    return plan


def _condition(given: NamedTypes, where: str) -> str:
    return _texts(given, [where], [BOOLEAN.name])[0] if where else ""


def _texts(given: NamedTypes, expressions: Sequence[str], kinds: Sequence[str]) -> tuple[str, ...]:
    """The text of each expression over columns of these types; empty where there is none."""
    columns = {name: kind_of(kind) for name, kind in given}
    found = (engine_sql(text, columns, kind_of(kind)) for text, kind in zip(expressions, kinds, strict=True))
    return tuple("" if isinstance(text, NotInEngine) else text for text in found)
