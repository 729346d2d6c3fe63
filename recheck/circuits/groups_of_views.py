"""Aggregates of what other operators give: of m rows there are at most m groups (D1), and values (D6).

Where a join's rows have no number, since what is added up is unbounded, the sums are pushed below it: the left side is
grouped by what the join and the keys read of it, and so many groups are joined (A1, E1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.hidden_keys import with_hidden_keys
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Apply,
    AsOf,
    Filter,
    Join,
    JoinKind,
    Named,
    Project,
    Scalar,
    Tree,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.closing_columns import computed_columns
from streambound.recheck.circuits.each_key import with_several_values
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.joined_values import different_rows
from streambound.recheck.circuits.late_conditions import different_results, is_late, is_marked
from streambound.recheck.circuits.open_rows import open_condition
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.tied_rows import note_read
from streambound.recheck.circuits.trees import (
    Names,
    all_of,
    called,
    columns_in,
    names_in,
    plain_aliases,
    scalar,
    turned,
    under_filter,
    with_conditions_moved,
)
from streambound.recheck.circuits.view import ClosesBy, View
from streambound.recheck.circuits.view_joins import JoinWithView

BEST = ("MIN", "MAX")
PERCENTILE = "PERCENTILE"
"""Any percentile, of a value that is its one argument."""
_LEFT = "_l"


def groups_of_view(tree: Aggregate, states: States) -> View:
    """The groups of the rows of an operator, or of all keys of the groups below, if the certificate has those (D2)."""
    shown = None
    if any(call.function in BEST for call in tree.calls):
        shown = with_hidden_keys(tree.input, states.blocks.positions)
    if shown is None:
        return _groups(tree, states)
    other = replace(tree, input=shown)
    return states.either(lambda: _groups(tree, states), lambda: _groups(other, states))


def _groups(tree: Aggregate, states: States) -> View:
    joined, read = _is_join(tree.input), _read(tree)
    note_read(tree.input, read, states)
    needed = read if joined or is_marked(tree.input) else None
    if joined and (pushed := _join_below(tree, states)) is not None:
        with states.tried():
            try:
                found = states.under(tree.input, needed)
                as_it_is = found.rows is not None or bool(found.closing)
            except (RejectedError, NotRecheckedError):
                as_it_is = False
        if not as_it_is:
            return _SumBelow(tree, pushed, states).view()
    view = states.under(tree.input, needed)
    given = schema(tree.input, states.catalog)
    told_apart, names = with_several_values(tree.keys, tree.input, states), tuple(key.value.text for key in tree.keys)
    keys = [parsed(key.value) for key in told_apart]
    closing = _values(view, keys, given)
    valued = [call for call in tree.calls if call.distinct or call.function in (*BEST, PERCENTILE)]
    if view.rows is None and closing:
        states.line("A5", names, _open_groups(tree, closing[0], states), "when its window has closed")
        for call in valued:
            open = _values(view, [*keys, _read_by(call)], given, len(keys))[0].open
            states.line("A5", (*names, "value"), open(0), "when its window has closed")
        return View(closing=closing)
    if is_marked(tree.input):
        return _groups_by_values(tree, valued, states, different_results)
    rows = view.rows
    if rows is None:
        rows = _of_a_side(view, [keys, *([*keys, _read_by(call)] for call in valued)], given)
    if rows is None and (keys or valued):
        best = view.closing[0].open(0) if view.closing else None
        return _groups_by_values(tree, valued, states, different_rows, best)
    most = _at_a_time(view, keys, given) if keys else Quantity.number(1)
    states.line("D1", names, most, "when its last row goes")
    for call in valued if rows is not None else ():
        states.line("D6", (*names, "value"), _at_a_time(view, [*keys, _read_by(call)], given), "when its last row goes")
    return View(most)


def _at_a_time(view: View, nodes: Sequence[exp.Expr], given: Schema) -> Quantity:
    """The most different values of some expressions over rows that have a number: of one side of a join, its rows."""
    found = computed_columns(view, nodes, given).values(frozenset(range(len(nodes))))
    return Quantity.number(1) if found is None else found


def _of_a_side(view: View, several: Sequence[Sequence[exp.Expr]], given: Schema) -> Quantity | None:
    """The rows of the sides that all of some lists of expressions are of; None where others are read, too."""
    found = [computed_columns(view, nodes, given).values(frozenset(range(len(nodes)))) for nodes in several]
    known = [one for one in found if one is not None]
    return known[0] if len(known) == len(found) else None


def _read_by(call: AggregateCall) -> exp.Expr:
    """What a call reads of a row."""
    return exp.Tuple(expressions=[parsed(one) for one in (*call.arguments, call.filter) if one is not None])


def _open_groups(tree: Aggregate, closing: ClosesBy, states: States) -> Quantity:
    """One for each row that may change, or for each bucket and what the other keys can be."""
    places = {column.place for column in closing.columns}
    beside = [key.value for place, key in enumerate(tree.keys) if place not in places]
    if closing.buckets is None:
        return closing.open(0)
    items = tuple(Named(f"c{n}", value, alias=True) for n, value in enumerate(beside))
    if items and facts(Project(tree.input, items, syntax=tree.syntax), states.catalog).different is None:
        return closing.open(0)
    each = Quantity.number(closing.buckets)
    return each * different_rows(tree.input, beside, states) if beside else each


def _groups_by_values(
    tree: Aggregate,
    valued: list[AggregateCall],
    states: States,
    different: Callable[[Tree, Sequence[Scalar], States], Quantity],
    open: Quantity | None = None,
) -> View:
    """The groups of rows that have no number: by how many values their columns have.

    Rows of closed windows are taken back no more: beside the best of these, those of ``open`` ones are kept (D2).
    """
    names = tuple(key.value.text for key in tree.keys)
    keys = [key.value for key in with_several_values(tree.keys, tree.input, states)]
    most = different(tree.input, keys, states) if keys else Quantity.number(1)
    states.line("D1", names, most, "when its last row goes")
    for call in valued:
        if open is not None and call.function in BEST:
            states.line("D2", (*names, "value"), open, "when its window has closed")
            continue
        if len(call.arguments) != 1:
            raise NotRecheckedError("aggregates of several arguments")
        values = different(tree.input, [*keys, call.arguments[0]], states)
        states.line("D6", (*names, "value"), values, "when its last row goes")
    return View(most)


def _values(view: View, nodes: Sequence[exp.Expr], given: Schema, keys: int | None = None) -> tuple[ClosesBy, ...]:
    """The different values of some expressions, by the ones among the first that close."""
    every = frozenset(range(len(nodes)))
    found = computed_columns(view, nodes, given).closing
    known = (one for one in found if any(column.place < (keys or len(nodes)) for column in one.columns))
    return tuple(replace(one, open=partial(one.open_values, every)) for one in known)


def _is_join(tree: Tree) -> bool:
    while isinstance(tree, Filter):
        tree = tree.input
    return isinstance(tree, Join | Apply)


def _read(tree: Aggregate) -> Names:
    """The columns that the keys and arguments read, and the conditions below."""
    scalars = [key.value for key in tree.keys]
    for call in tree.calls:
        scalars += [*call.arguments, *([call.filter] if call.filter is not None else [])]
    below = tree.input
    while isinstance(below, Filter) and not is_late(below):
        scalars.append(below.condition)
        below = below.input
    return names_in(scalars)


def _join_below(tree: Aggregate, states: States) -> Join | None:
    """The inner join of a block with a view that an aggregate is of, all conditions in it."""
    below, where = under_filter(tree.input)
    below, where = with_conditions_moved(below, where, states.catalog)
    inner = isinstance(below, Join) and below.kind is JoinKind.INNER and not below.using and where is None
    if isinstance(below, Join) and inner and is_block(below.right, states.catalog):
        below = below if is_block(below.left, states.catalog) else turned(below, states.catalog)
    if not isinstance(below, Join) or not inner or isinstance(plain_aliases(below.right), AsOf):
        return None
    return below if is_block(below.left, states.catalog) and not is_block(below.right, states.catalog) else None


class _SumBelow:
    """``γ_g(S ⋈ W)`` as ``γ_g(γ_k(S) ⋈ W)``, k being what the join and the keys read of S."""

    def __init__(self, tree: Aggregate, join: Join, states: States) -> None:
        self.tree, self.join, self.states = tree, join, states
        scalars = [key.value for key in tree.keys] + ([join.condition] if join.condition is not None else [])
        self.read = names_in(scalars)
        given = schema(join.left, states.catalog)
        self.left = [column for column in given if called(column, self.read)]

    def view(self) -> View:
        """The lines of the left side's groups, the view, both sides of their join, and the groups above."""
        states, tree = self.states, self.tree
        groups = self._left_groups()
        right = states.under(self.join.right, self.read).rows
        if right is None:
            raise NotRecheckedError("a join with a view whose rows have no number")
        for rows in (groups, right):
            states.line("E1", (), rows, "when it is taken back")
        keys = tuple(self._over(parsed(key.value)) for key in tree.keys)
        pairs = groups * right

        def different(scalars: Sequence[Scalar]) -> Quantity:
            mine = [self._is_mine(one) for one in columns_in(parsed(each) for each in scalars)]
            return groups if all(mine) else pairs if any(mine) else right

        read = [key.value for key in tree.keys]
        most = different(read) if keys else Quantity.number(1)
        states.line("D1", keys, most, "when its last row goes")
        kept = {
            (call.function, call.arguments[0].text): call.arguments[0] for call in tree.calls if call.function in BEST
        }
        for argument in kept.values():
            states.line("D6", (*keys, "value"), different([*read, argument]), "when its last row goes")
        return View(most)

    def _is_mine(self, node: exp.Column) -> bool:
        given = schema(self.join.left, self.states.catalog)
        return any(column.called(node.name, node.table) for column in given)

    def _left_groups(self) -> Quantity:
        join, states = self.join, self.states
        before, states.needed = states.needed, self.read
        one = JoinWithView(join, states)
        one.join_with_stream()
        states.needed = before
        condition = open_condition(one.split, self.left)
        below, known = under_filter(join.left)
        parts = ([parsed(known)] if known else []) + ([condition] if condition is not None else [])
        if parts:
            every = all_of(parts)
            assert every is not None
            syntax = join.left.syntax or join.syntax
            below = Filter(below, every, syntax=syntax)
        nodes = [exp.column(c.name, table=c.alias or None, quoted=True) for c in self.left]
        keys = [Named(f"_k{n}", scalar(node), alias=True) for n, node in enumerate(nodes, 1)]
        derivation = derive(states.blocks.query(below, keys))
        split = derivation.split
        states.evidence.block(split, "A1", False, together=derivation.together)
        names = tuple(node.sql("spark") for node in nodes)
        if not names:
            states.line("A1", (), Quantity.number(1), "never, but a group of no rows")
            return Quantity.number(1)
        counted = states.evidence.counted(derivation)
        found = states.evidence.results([counted])
        keys_ = keys_with_values(names, counted, found.tables)
        states.line("A1", keys_, found.entries, "never, but a group of no rows")
        return found.entries

    def _over(self, node: exp.Expr) -> str:
        """A key above the join, where the left side has other names."""

        def meant(one: exp.Expr) -> exp.Expr:
            if not isinstance(one, exp.Column):
                return one
            place = next((n for n, column in enumerate(self.left) if column.called(one.name, one.table)), None)
            return one if place is None else exp.column(f"c{place}", table=_LEFT)

        return node.copy().transform(meant).sql("spark")
