"""Set operations: C1 (rows that both sides can have), C2 (EXCEPT), A5 (buckets), and Lemma 1 over so many rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product as every
from itertools import starmap

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.nodes import (
    Alias,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Named,
    Project,
    Tree,
    Union,
)
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.query import Query
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import ClaimedKey, NotRecheckedError
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.late_conditions import different_results, is_late
from streambound.recheck.circuits.rows import or_grouped
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import ONE, called, scalar
from streambound.recheck.circuits.view import ClosesBy, View


def difference(tree: Tree, states: States) -> View:
    """EXCEPT and INTERSECT, of bags and of sets."""
    assert isinstance(tree, Except | Intersect)
    left, right = states.of(tree.left), states.of(tree.right)
    names = tuple(column.name for column in schema(tree.left, states.catalog))
    if left.rows is not None and right.rows is not None:
        states.line("Lemma 1", names, left.rows + right.rows, "when both sides have it no more")
        return View(left.rows)
    if closing := _on_both_sides(left, right):
        states.line("A5", names, closing[0].open(0), "when its bucket has closed")
        return View(closing=closing)
    keeps_left = isinstance(tree, Except) and tree.distinct  # each row of it is printed once
    if keeps_left:
        splits = [derive(states.blocks.view(tree.left)).split]
    else:
        splits = [derive(one).split for one in _in_both(tree, len(names), states)]
    found = states.evidence.results(splits, by_values=True)
    filled = [one for one in splits if one.branches]
    keys = tuple(ClaimedKey(one, None) for one in names)
    if filled:
        keys = keys_with_values(names, filled[0], found.tables)
    freed = "never" if tree.distinct else "when both sides have it equally often"
    states.line("C2" if keeps_left else "C1", keys, found.entries, freed)
    return View()


def _in_both(tree: Except | Intersect, width: int, states: States) -> Iterator[Query]:
    """The rows that both sides can have, once for each set of columns that are NULL in both (C1)."""
    names, syntax = tuple(f"c{n}" for n in range(width)), tree.syntax or exp.Null()
    left, right = (Alias(one, name, names, syntax=syntax) for one, name in ((tree.left, "_l"), (tree.right, "_r")))
    items = [Named(name, scalar(exp.column(name, table="_l")), alias=True) for name in names]
    for nulls in sorted(every((False, True), repeat=width), key=_by_number):
        tests: list[exp.Expr] = []
        for name, null in zip(names, nulls, strict=True):
            mine, other = exp.column(name, table="_l"), exp.column(name, table="_r")
            is_null = [exp.Is(this=one, expression=exp.Null()) for one in (mine, other)]
            tests += is_null if null else [exp.EQ(this=mine, expression=other)]
        both = Join(JoinKind.INNER, left, right, syntax=syntax)
        yield states.blocks.query(Filter(both, scalar(exp.and_(*tests)), syntax=syntax), items)


def _by_number(nulls: tuple[bool, ...]) -> tuple[int, list[int]]:
    """Sets of columns with fewer first, then in order of their places."""
    return sum(nulls), [place for place, null in enumerate(nulls) if null]


def union(tree: Tree, states: States) -> View:
    """UNION ALL remembers nothing; UNION each row that is there."""
    assert isinstance(tree, Union)
    left, right = _side(tree.left, tree, states), _side(tree.right, tree, states)
    rows = None if left.rows is None or right.rows is None else left.rows + right.rows
    view = View(rows, _on_both_sides(left, right))
    return _once(tree, view, states) if tree.distinct else view


def _side(side: Tree, tree: Union, states: States) -> View:
    """A side that is a query; or the rows that satisfy one alternative of a condition, with what is read of them."""
    if not isinstance(side, Filter) or not is_block(side, states.catalog):
        return states.of(side)
    given = schema(side, states.catalog)
    places = [n for n, column in enumerate(given) if called(column, states.needed)]
    nodes = [exp.column(given[n].name, table=given[n].alias or None, quoted=True) for n in places]
    items = tuple(Named(f"c{n}", scalar(node), alias=True) for n, node in enumerate(nodes))
    selected = Project(side, items or (Named("c0", scalar(ONE), alias=True),), syntax=tree.syntax)
    return states.under(selected, None).at(lambda place: places[place : place + 1])


def _on_both_sides(left: View, right: View) -> tuple[ClosesBy, ...]:
    return tuple(one for one in starmap(_on_both, every(left.closing, right.closing)) if one.columns)


def _on_both(left: ClosesBy, right: ClosesBy) -> ClosesBy:
    """The columns by which rows of both sides close, with those that close later."""
    delays = [one.columns[0].delay for one in (left, right)]
    later = max(delays)
    columns = tuple(
        replace(mine, delay=later)
        for mine in left.columns
        if any((mine.place, mine.how, mine.size) == (one.place, one.how, one.size) for one in right.columns)
    )
    known = None if left.buckets is None or right.buckets is None else left.buckets + right.buckets
    return ClosesBy(
        columns,
        lambda more: left.open(more + later - delays[0]) + right.open(more + later - delays[1]),
        known if delays[0] == delays[1] else None,
    )


def distinct(tree: Tree, states: States) -> View:
    """The different rows of a view of so many rows (Lemma 1), or groups of equal rows."""
    return or_grouped(_different, tree, states)


def _different(tree: Tree, states: States) -> View:
    assert isinstance(tree, Distinct)
    view, below = states.of(tree.input), tree.input
    if view.rows is None and isinstance(below, Project) and is_late(below.input):
        values = [item.value for item in below.items if isinstance(item, Named)]
        if len(values) < len(below.items):
            raise NotRecheckedError("duplicate elimination of all columns of results that are tested late")
        view = View(different_results(below, values, states))
    elif view.rows is None and (known := facts(tree, states.catalog).different) is not None:
        view = replace(view, rows=Quantity.number(known))
    return _once(tree, view, states)


def _once(tree: Tree, view: View, states: States) -> View:
    names = tuple(column.name for column in schema(tree, states.catalog))
    if view.rows is not None:
        states.line("Lemma 1", names, view.rows, "when no such row is left")
    elif view.closing:
        states.line("A5", names, view.closing[0].open(0), "when its bucket has closed")
    else:
        raise NotRecheckedError("duplicate elimination above views without a number of rows")
    return view
