"""MAX of counts of groups as that of running counts: a count never falls, so that no group is kept for the greatest.

MAX(n) of (SELECT k, COUNT(*) AS n FROM S GROUP BY k)
->  MAX(n) of (SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS n FROM S)

The rows are those of one stream, in order of its time, none of which is taken back.
"""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, meant, read_by
from streambound.analyzer.algebra.substitution import substituted
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.trees.with_inputs import with_inputs

_SO_FAR = nodes.Frame(nodes.Unit.RANGE, nodes.FrameEnd(nodes.Side.PRECEDING), nodes.FrameEnd(nodes.Side.CURRENT))


def greatest_counts(tree: nodes.Tree, catalog: Catalog) -> nodes.Tree:
    """A tree whose greatest counts are of running ones."""
    tree = with_inputs(tree, lambda one: greatest_counts(one, catalog))
    if not isinstance(tree, nodes.Aggregate):
        return tree
    named = tree.input if isinstance(tree.input, nodes.Alias) else None
    listed = tree.input if named is None else named.input
    running = _running(tree, listed, catalog) if isinstance(listed, nodes.Project) else None
    if running is None:
        return tree
    return replace(tree, input=running if named is None else replace(named, input=running))


def _running(tree: nodes.Aggregate, listed: nodes.Project, catalog: Catalog) -> nodes.Project | None:
    """The select list of groups over running counts; None where what is above is not of the greatest ones alone."""
    groups = listed.input
    time = _time(groups.input, catalog) if isinstance(groups, nodes.Aggregate) else None
    if not isinstance(groups, nodes.Aggregate) or time is None:
        return None
    given, shown, width = schema(groups, catalog), schema(tree.input, catalog), len(groups.keys)
    values = [*(key.value.syntax for key in groups.keys), *map(column_of, given[width:])]
    counts, items = set[int](), list[nodes.Item]()
    for place, item in enumerate(listed.items):
        node = item.value.syntax if isinstance(item, nodes.Named) else None
        found = None if node is None else substituted(node, given, values)
        if not isinstance(item, nodes.Named) or found is None:
            return None
        if any(one >= width for one in read_by(given, item.value.syntax)):
            if not isinstance(node, exp.Column):
                return None
            counts.add(place)
        items.append(replace(item, value=nodes.Scalar(found), alias=True))
    plain = all(call.function == "COUNT" and not call.distinct for call in groups.calls)
    greatest = [
        call.function == "MAX" and call.filter is None and _is_one_of(call, counts, shown) for call in tree.calls
    ]
    if not (plain and greatest and all(greatest)) or counts & read_by(shown, *(key.value.syntax for key in tree.keys)):
        return None
    partition, order = tuple(key.value for key in groups.keys), (nodes.SortKey(time),)
    calls = (
        nodes.WindowCall(
            call.name, "COUNT", call.arguments, partition, order, _SO_FAR, filter=call.filter, syntax=call.syntax
        )
        for call in groups.calls
    )
    return replace(listed, input=nodes.Over(groups.input, tuple(calls), syntax=groups.syntax), items=tuple(items))


def _is_one_of(call: nodes.AggregateCall, counts: set[int], shown: Schema) -> bool:
    """Whether a call is of one of the columns at these places."""
    (argument,) = call.arguments
    return isinstance(argument.syntax, exp.Column) and meant(argument.syntax, shown) in counts


def _time(tree: nodes.Tree, catalog: Catalog) -> nodes.Scalar | None:
    """The time at which the rows of a block of one stream come; None where a select list may have left it out."""
    if not is_block(tree, catalog):
        return None
    tables = [(scan, catalog.table(scan.table)) for scan in scans(tree)]
    streams = [(scan.alias, table.timestamp) for scan, table in tables if table is not None and table.timestamp]
    found = [one for one in schema(tree, catalog) if (one.alias, one.name) in streams]
    return nodes.Scalar(column_of(found[0])) if len(streams) == len(found) == 1 else None
