"""The witness of a statement beyond joins: its tables, and what its probes change after each subset."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from streambound.analyzer.algebra.nodes import Scan, Tree, inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.expressions.evident import encoded
from streambound.analyzer.query import Branch, Query, Source, conjunction
from streambound.analyzer.spans import Span
from streambound.analyzer.statement import Statement
from streambound.analyzer.values import to_json
from streambound.criteria.witness import Witness
from streambound.criteria.witnesses.executed import Executed
from streambound.criteria.witnesses.witness import CircuitWitness, subsets
from streambound.incremental.zset import Row as Values
from streambound.incremental.zset import ZSet
from streambound.reports.witness_report import MOST_SHOWN

MOST_SUBSETS = 3
"""The most elements of which all subsets are printed."""


def tables_of(executed: Executed, statement: Statement) -> Query:
    """The streams and relations of a statement, as the sources of one query."""
    names = dict.fromkeys(name for tree in (executed.tree, *executed.queries.values()) for name in _scanned(tree))
    sources = tuple(source for name in names for source in _source(executed, name, statement.span))
    branch = Branch(sources, conjunction(()), (), statement.span)
    return Query(statement.name, statement.source.file, False, (branch,), statement.span)


def _scanned(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Scan):
        yield tree.table
    for below in inputs(tree):
        yield from _scanned(below)


def _source(executed: Executed, name: str, span: Span) -> Iterator[Source]:
    table = executed.catalog.table(name)
    if table is None:
        return
    columns, timestamp = table.columns, table.timestamp
    if table.changes is not None:
        time, op = table.changes.timestamp, table.changes.op
        columns, timestamp = (*(c for c in columns if c.name not in (time.name, op.name)), op, time), time.name
    yield Source(table.name, table.name, table.kind, columns, timestamp, span)


def change_lines(found: CircuitWitness, witness: Witness) -> Iterator[str]:
    """The changes by each probe: after every subset of a few elements; with more, by the first probes after all."""
    few, first = witness.size <= MOST_SUBSETS, range(min(witness.size, MOST_SHOWN))
    for subset in subsets(witness.size) if few else [tuple(range(witness.size))]:
        after = f"element{'s' * (len(subset) > 1)} {', '.join(str(k + 1) for k in subset)}" if few else "all elements"
        yield f"after {after if subset else 'no element'}:"
        for number, rows in enumerate(changes(found, witness, subset, first), start=1):
            shown = "; ".join(f"{one['_mult']:+d} {json.dumps(one['row'], ensure_ascii=False)}" for one in rows)
            yield f"  probe {number} changes {shown or 'nothing'}"
    if witness.size > MOST_SHOWN:
        yield f"… and {witness.size - MOST_SHOWN} more probes"


def changes(
    found: CircuitWitness, witness: Witness, subset: Sequence[int], probes: Sequence[int]
) -> list[list[dict[str, Any]]]:
    """For each of some probes the rows that it adds or takes away, with how often."""
    return [_rows(found.statement, change) for change in found.changes(witness, subset, probes)]


def _rows(executed: Executed, change: ZSet) -> list[dict[str, Any]]:
    shown = sorted(change.items(), key=lambda pair: (pair[1], str(pair[0])))
    return [{"row": _named(executed, row), "_mult": weight} for row, weight in shown]


def _named(executed: Executed, row: Values) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column, value in zip(schema(executed.tree, executed.catalog), row, strict=True):
        kind = column.type
        if value is None or kind is None:
            found[column.name] = value if value is None or isinstance(value, str) else float(value)
        else:
            found[column.name] = to_json(encoded(value, kind), kind)
    return found
