"""Tables for a query that need not be bounded: keys hold whole values where none are clipped (docs/theory-bags.md).

The tables and how matches grow are right for every select-project-join query; only that there are finitely many keys
takes the criterion. Where it does not hold, a table has at most as many entries as its streams have brought matches.
"""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Kind
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.analyzer.symbols import symbol
from streambound.criteria.bound import (
    BranchBound,
    QueryBound,
    TableBound,
    results_count,
    results_layout,
    table_count,
)
from streambound.criteria.cases import Case
from streambound.criteria.count import Count, CountingRule, every, rows
from streambound.criteria.size import Size, Symbol, total
from streambound.criteria.synopsis import Synopsis
from streambound.criteria.tables import SynopsisTable


def unlimited(split: Query, repeats: bool = False) -> QueryBound:
    """The tables of a split query and their sizes, which are formulas over ``n_S``, the tuples of stream S so far.

    No table keeps extrema, so each is a count of matches, or says for a set whether there are any. With ``repeats`` a
    set need not remember its results.
    """
    found = []
    for number, branch in enumerate(split.branches):
        synopsis = Synopsis(Facts.of(branch))
        prefix = f"{number + 1}:" if len(split.branches) > 1 else ""
        tables = tuple(_tables(synopsis, prefix, split.distinct and not repeats))
        found.append(BranchBound(number, Case(branch), synopsis, tables))
    return QueryBound(tuple(found), total(table.size for branch in found for table in branch.tables), grows=True)


def _tables(synopsis: Synopsis, prefix: str, distinct: bool) -> Iterator[TableBound]:
    facts = synopsis.facts
    for table in synopsis.tables:
        yield TableBound(prefix + table.name, table, table_count(facts, table) or _matches(facts, table))
    if distinct:
        layout = results_layout(synopsis)
        count = results_count(facts, layout) or _matches(facts, layout)
        yield TableBound(f"{prefix}results", layout, count, results=True)


def _matches(facts: Facts, table: SynopsisTable) -> Count:
    """All matches of a table's sources."""
    streams = [
        Count(CountingRule.TUPLES, _so_far(facts.branch, stream), _stored(table, stream), stream)
        for stream in table.streams
    ]
    return every([*streams, *(rows(facts, relation, _stored(table, relation)) for relation in table.relations)])


def _so_far(branch: Branch, stream: str) -> Size:
    source = branch.source(stream)
    assert source.kind is not Kind.RELATION
    return Symbol(symbol("n", source.table))


def _stored(table: SynopsisTable, source: str) -> tuple[Attribute, ...]:
    return tuple(stored.attribute for stored in table.key if stored.attribute.source == source)
