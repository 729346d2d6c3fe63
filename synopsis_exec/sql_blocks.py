"""Select-project-join blocks as operators of the engine, and a query of joins as a circuit of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from streambound.analyzer.columns import Column
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.synopsis_plan import bound_formula, synopsis_plan
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.block_tables import BlockTable
from streambound_runtime.engine.first import SqlFirst
from streambound_runtime.engine.plan import CircuitPlan, ComputedRows, EngineOperator
from streambound_runtime.engine.tables import BIGINT, DOUBLE, HUGEINT, VARCHAR, engine_type
from streambound_runtime.operators.circuit_plan import KeyMember, MapNode, NamedTypes
from streambound_runtime.operators.plan import Subplan, SynopsisPlan, TableScan, Term

Types = Mapping[str, str]
"""Columns' types in Spark SQL."""


def circuit_of_joins(query: Plan) -> CircuitPlan:
    """A query's joins, what is computed of each of their results, and of a set which results have come."""
    computed = ["computed"] if query.kept is not None else []
    names = ["matches", *computed, "result"] if query.distinct else [*(["matches"] if computed else []), "result"]
    types = tuple(engine_type(column.type.name) for column in query.columns)
    synopsis = replace(synopsis_plan(query), name=names[0])
    operators: list[EngineOperator] = [sql_block(synopsis, types_of((*query.inputs, *query.computed)))]
    if query.kept is not None:
        given, made = _named(query.kept.columns), _named(query.columns)
        operators.append(ComputedRows(MapNode(names[1], names[0], given, made, query.kept.expressions), types, True))
    if query.distinct:
        time, lag = (None, 0) if query.stamp is None else (query.stamp.place, query.stamp.lag)
        operators.append(SqlFirst(names[-1], (names[-2],), types, time, lag))
    columns = tuple(column.name for column in query.columns)
    return CircuitPlan(columns, bound_formula(query), tuple(operators), most=synopsis.most)


def _named(columns: Iterable[Column]) -> NamedTypes:
    return tuple((column.name, column.type.name) for column in columns)


def sql_block(
    synopsis: SynopsisPlan,
    tables: Mapping[str, Types],
    members: Sequence[KeyMember] = (),
    keys: str = "",
) -> SqlBlock:
    """The block; with ``keys`` one of each key, which the streams have as the ``members`` say."""
    by_key = {one.stream: one.attributes for one in members}
    scans = [scan for branch in synopsis.branches for scan in branch.scans]
    related = [scan for branch in synopsis.branches for group in branch.relations for scan in group.scans]
    streams, relations = _read(scans, tables, by_key), _read(related, tables, {})
    every = {(table.name, column): kind for table in (*streams, *relations)
             for column, kind in zip(table.columns, table.types, strict=True)}  # fmt: skip
    kinds = tuple(tuple(sorted(_kinds(branch, every).items())) for branch in synopsis.branches)
    return SqlBlock(synopsis, kinds, streams, relations, keys)


def _read(
    scans: Iterable[TableScan], tables: Mapping[str, Types], keys: Mapping[str, tuple[str, ...]]
) -> tuple[BlockTable, ...]:
    """The tables of some scans, each once, with the columns that any scan needs and those of its key."""
    columns: dict[str, dict[str, None]] = {}
    for scan in scans:
        columns.setdefault(scan.table, {}).update(dict.fromkeys(column for _, column in scan.columns))
    found = []
    for table, names in columns.items():
        key = keys.get(table, ())
        needed = (*names, *(name for name in key if name not in names))
        types = tables[table]
        kinds = tuple(engine_type(types[column]) for column in needed)
        found.append(BlockTable(table, needed, kinds, tuple(needed.index(column) for column in key)))
    return tuple(found)


def types_of(tables: Iterable[Input]) -> dict[str, Types]:
    """The types of tables' columns, also of those that are derived, by the tables' names."""
    found: dict[str, dict[str, str]] = {}
    for table in tables:
        columns = found.setdefault(table.name, {})
        columns |= {column.name: column.type.name for column in (*table.declared, *table.columns)}
    return dict(found)


def _kinds(branch: Subplan, columns: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """The engine's types of a branch's variables: those of rows, and of what is kept of them."""
    scans = (*branch.scans, *(scan for group in branch.relations for scan in group.scans))
    found = {variable: columns[scan.table, column] for scan in scans for variable, column in scan.columns}
    known = dict(found)
    while True:
        before = dict(found)
        for place, terms in _kept(branch):
            for variable, term in zip(branch.tables[place].columns, terms, strict=False):
                kinds = [known[variable]] if variable in known else []
                kinds += [found[variable]] if variable in found else []
                found[variable] = _widest([*kinds, *_kinds_of(term, found)])
        if found == before:
            return found


def _kept(branch: Subplan) -> Iterable[tuple[int, Sequence[Term]]]:
    """The terms of the entries of tables."""
    for transition in branch.transitions:
        if transition.target is not None:
            yield transition.target, transition.values


def _kinds_of(term: Term, known: Types) -> list[str]:
    """The types of what a value is made of, as far as they are known."""
    found = [HUGEINT] if isinstance(term.offset, int) and term.offset else []
    found += [DOUBLE] if isinstance(term.offset, float) else []
    found += [VARCHAR] if isinstance(term.offset, str) else []
    found += [known.get(term.variable, BIGINT)] if term.variable is not None else []
    limits = (part for limit in (*term.lows, *term.highs) for part in limit)
    return [*found, *(kind for part in limits for kind in _kinds_of(part, known))]


def _widest(kinds: Sequence[str]) -> str:
    return next((kind for kind in (VARCHAR, DOUBLE, HUGEINT) if kind in kinds), BIGINT)
