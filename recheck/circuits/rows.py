"""Operators that remember nothing by themselves (linear), blocks, and relations: what rows they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.algebra.grouped_rows import as_groups
from streambound.analyzer.algebra.nodes import (
    Alias,
    Bucket,
    BucketKind,
    Distinct,
    Filter,
    Named,
    Project,
    Scan,
    SpjBlock,
    Star,
    Tree,
    Union,
)
from streambound.analyzer.algebra.schema import parsed, schema, starred_places
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.symbols import symbol
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.buckets import BucketOf, StreamBucket, inner_bucket
from streambound.recheck.circuits.changes import rows_of_relation
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.closing_columns import closing_columns, computed_columns
from streambound.recheck.circuits.ended_keys import ended_key
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.late_conditions import tested_late
from streambound.recheck.circuits.ranks import note_limits
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.tied_rows import note_read
from streambound.recheck.circuits.trees import called, names_in, read_by, scalar, with_conditions_moved
from streambound.recheck.circuits.view import ClosesBy, ClosingColumn, JoinedSide, View
from streambound.recheck.circuits.windows import TIME

_ENDS = ("start", "end", "last")


# --- blocks ----------------------------------------------------------------------------------------------------------


def block(tree: Tree, states: States) -> View:
    """A select-project-join block, or what of a set is kept for each group of equal rows."""
    return or_grouped(_block, tree, states)


def or_grouped(rule: Callable[[Tree, States], View], tree: Tree, states: States) -> View:
    """The states of a rule, or of the groups of equal rows, if the certificate has those of the groups (A5)."""
    grouped = as_groups(tree, states.catalog, states.blocks.positions)
    if grouped is None:
        return rule(tree, states)
    return states.either(lambda: rule(tree, states), lambda: states.under(grouped, None))


def _block(tree: Tree, states: States) -> View:
    """Its tables and, of a set, its results."""
    distinct = isinstance(tree, Distinct) or (isinstance(tree, Union) and tree.distinct)
    query = states.blocks.view(tree, distinct)
    derivation = derive(query)
    split = derivation.split
    width = len(split.branches[0].outputs) if split.branches else 0
    ended = ended_key(split, width, states) if distinct and width else None
    states.evidence.block(split, "set" if distinct else "bag", distinct, together=derivation.together)
    if not distinct:
        return View(closing=closing_columns(split))
    names = tuple(output.name for output in query.branches[0].outputs)
    if ended is not None:
        ended.line("K2", split, names, states)
    else:
        counted = states.evidence.counted(derivation)
        found = states.evidence.results([counted])
        states.line("set", keys_with_values(names, counted, found.tables), found.entries, "never")
    return View()


# --- linear operators ------------------------------------------------------------------------------------------------


def project(tree: Tree, states: States) -> View:
    """A select list over an operator, of the rows that its WHERE or HAVING leaves."""
    assert isinstance(tree, Project)
    below, where = tree.input, None
    if isinstance(below, Filter) and isinstance(below.input, SpjBlock):
        return tested_late(below.input, tree.items, below.condition, states)
    if isinstance(below, Filter):
        note_limits(below, states)
        below, where = with_conditions_moved(below.input, below.condition, states.catalog)
    else:
        below, where = with_conditions_moved(below, None, states.catalog)
    given, nodes = schema(below, states.catalog), list[exp.Expr]()
    read = read_by(tree, where, given)
    note_read(below, read, states)
    view = states.under(below, read)
    for item in tree.items:
        if isinstance(item, Star):
            every = (given[place] for place in starred_places(item, given))
            nodes += [exp.column(one.name, table=one.alias or None, quoted=True) for one in every]
        else:
            nodes.append(parsed(item.value))
    return computed_columns(view, nodes, given)


def filtered(tree: Tree, states: States) -> View:
    """The rows for which a condition is true, with all their columns."""
    assert isinstance(tree, Filter)
    if isinstance(tree.input, SpjBlock):
        return tested_late(tree.input, None, tree.condition, states)
    note_limits(tree, states)
    below, where = with_conditions_moved(tree.input, tree.condition, states.catalog)
    needed = states.needed
    if needed is not None and where is not None:
        needed = {**needed, **names_in([where])}
    note_read(below, needed, states)
    return states.under(below, needed)


def alias(tree: Tree, states: States) -> View:
    """The same rows, under another name."""
    assert isinstance(tree, Alias)
    return states.of(tree.input)


def buckets(tree: Tree, states: States) -> View:
    """Each row once for every tumbling or hopping bucket that it is in."""
    assert isinstance(tree, Bucket)
    if tree.kind is BucketKind.SESSION:
        raise NotRecheckedError("sessions of which nothing is aggregated, or of what several streams are joined to")
    everything, given = schema(tree, states.catalog), schema(tree.input, states.catalog)
    own = [n for n, one in enumerate(everything) if called(one, states.needed) and n < len(given)]
    nodes = [exp.column(given[n].name, table=given[n].alias or None, quoted=True) for n in own]
    items = [Named(f"c{n}", scalar(node), alias=True) for n, node in enumerate(nodes)]
    selected = Project(tree.input, (*items, Named(TIME, tree.time, alias=True)), syntax=tree.syntax)
    view = states.under(selected, None)
    found = next(((one, c) for one in view.closing for c in one.columns if c.place == len(own)), None)
    if found is None:
        return View()
    rows, column = found
    inner = inner_bucket(column.how, column.size)
    if inner is None:
        return View()
    delay, begun = inner.waits(column.delay)
    each = Quantity.number(-(-tree.size // (tree.slide or tree.size)))
    ends = zip(range(len(given), len(everything)), _ENDS, strict=False)
    closing = tuple(ClosingColumn(place, end, tree.size, delay) for place, end in ends)
    number = StreamBucket("", BucketOf("start", tree.slide or tree.size, tree.size), delay).open(inner.ahead)

    def in_buckets(open: Callable[[int], Quantity]) -> Callable[[int], Quantity]:
        return lambda more: each * open(tree.size - 1 + begun + more)

    last = range(len(given), len(everything))
    sides = tuple(
        JoinedSide(frozenset((*(own[place] for place in one.places if place < len(own)), *last)), in_buckets(one.open))
        for one in rows.sides
        if len(own) in one.places
    )
    return View(closing=(ClosesBy(closing, in_buckets(rows.open), number, sides),))


# --- relations -------------------------------------------------------------------------------------------------------


def changing_relation(tree: Tree, states: States) -> View:
    """E1: the rows of a relation that changes, once for all that read it."""
    assert isinstance(tree, Scan)
    table = states.catalog.table(tree.table)
    if table is None or table.changes is None:
        raise NotRecheckedError("a scan of what does not change")
    if table.name not in states.relations:
        rows = Quantity.number(table.rows) if table.rows is not None else rows_of_relation(table)
        if rows is None:
            raise NotRecheckedError("relations that change without a number of rows")
        states.relations[table.name] = rows
        keys = table.changes.key or tuple(column.name for column in table.columns)
        states.line("E1", tuple(keys), rows, "when it is deleted")
    return View(states.relations[table.name])


@dataclass(frozen=True, slots=True)
class StaticRows:
    """The rows of a relation that does not change, or of what is computed of some: the columns that are read."""

    table: DeclaredTable
    columns: tuple[str, ...]
    shown: tuple[ViewColumn, ...]
    view: View


def static_rows(tree: Tree, states: States) -> StaticRows:
    """Nothing is remembered of them here: they are there from the first timestamp on."""
    given: Schema = schema(tree, states.catalog)
    read = tuple(one for one in given if called(one, states.needed)) or given[:1]
    below = tree
    while isinstance(below, Alias) and not below.columns:
        below = below.input
    declared = states.catalog.table(below.table) if isinstance(below, Scan) else None
    if declared is not None:
        columns = tuple(one.name for one in read if declared.column(one.name) is not None)
    else:
        nodes = [exp.column(one.name, table=one.alias or None, quoted=True) for one in read]
        items = tuple(Named(f"c{n}", scalar(node), alias=True) for n, node in enumerate(nodes))
        syntax = tree.syntax or exp.Null()
        declared = states.blocks.relation(Alias(Project(tree, items, syntax=syntax), "relation", syntax=syntax))
        columns = tuple(column.name for column in declared.columns)
    name = symbol("rows", declared.name)
    rows = Quantity.symbol(name, declared.rows)
    states.evidence.symbols[name] = rows
    return StaticRows(declared, columns, read, View(rows))
