"""Relations that change: proposition E1 (Lemma 1). One costs its rows, whatever its columns; so may a query over some.

Where the catalog does not say how many ``rows`` there are at most, the domains of its key do, or, of a bag of rows,
those of all its columns.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.clock import clock
from streambound.analyzer.algebra.nodes import Alias, Named, Scalar, Scan, Tree
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.criteria.judged import State
from streambound.criteria.operators.judge import UNLIMITED, Context, groups
from streambound.criteria.operators.parts import ChangesPart
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.recursive_blocks import as_stream
from streambound.criteria.size import Number, Size
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import derive


def judge_relation(tree: Tree, context: Context) -> JudgedPart:
    """The rows of a relation that changes."""
    assert isinstance(tree, Scan), "only scans are of relations"
    table = context.catalog.table(tree.table)
    assert table is not None and table.changes is not None, "a scan of another relation is a block"
    place = context.positions.of(tree.syntax or exp.Null())
    _check_columns(table, context, tree)
    most = Number(table.rows) if table.rows is not None else _by_domains(table, tree, context)
    if most is None and context.unbounded:
        most = UNLIMITED
    if most is None:
        message = f"{table.name} changes, and nothing says how many rows it has: all that are there must be remembered"
        help = f"declare it: rows = … in [relations.{table.name}], or domains of its key"
        violation = Violation("E1", tree.alias, "", message, place, Code.UNBOUNDED_PROJECTION, help)
        return JudgedPart(violations=(violation,))
    known = context.relations.get(table.name)
    if known is None:
        name = context.name(f"relation {table.name}")
        keys = table.changes.key or tuple(column.name for column in table.columns)
        state = State(name, "E1", most, keys, "when it is deleted", place)
        known = context.relations[table.name] = ChangesPart(name, table, table.columns), state
    part, state = known
    return JudgedPart(part=part, states=(state,), rows=most, retracts=True)


def relation_of(tree: Tree) -> Scan | None:
    """The relation that changes, which a side of a join is."""
    while isinstance(tree, Alias) and not tree.columns:
        tree = tree.input
    return tree if isinstance(tree, Scan) and tree.changes else None


def clock_of(tree: Tree, catalog: Catalog) -> Column:
    """The time of what a tree reads."""
    found = clock(tree, catalog)
    assert found is not None, "what changes has a time"
    return found


def _check_columns(table: DeclaredTable, context: Context, tree: Scan) -> None:
    """Without a key a delete has the row that it deletes, so that no column may say when and how it changes."""
    changes = table.changes
    assert changes is not None, "a relation that changes"
    told = [one.name for one in (changes.timestamp, changes.op) if table.column(one.name)]
    if told and not changes.key:
        message = f"{table.name}.{told[0]} is of a change, so that no delete has the row that was inserted"
        help = f'give {table.name} a key: changes = {{ …, key = ["…"] }}'
        if told[0] != changes.timestamp.name or any(one.kind is Kind.STREAM for one in context.catalog.tables):
            help += f"; or leave {told[0]} out of its columns"
        raise context.positions.finding(Code.UNSUPPORTED, message, tree.syntax or exp.Null(), help)


def _by_domains(table: DeclaredTable, tree: Scan, context: Context) -> Size | None:
    """How many values the key has; None where there is no end of them, or any number of equal rows."""
    assert table.changes is not None, "a relation that changes"
    if not table.changes.key:
        return None
    stream = as_stream(table)
    tables = tuple(stream if one.name == table.name else one for one in context.catalog.tables)
    reader = replace(context.blocks, catalog=replace(context.catalog, tables=tables))
    keys = [exp.column(name, table=tree.alias, quoted=True) for name in table.changes.key]
    items = [Named(f"c{n}", Scalar(key.sql("spark"), key), alias=True) for n, key in enumerate(keys)]
    return groups(derive(reader.query(replace(tree, changes=False), items)).split)
