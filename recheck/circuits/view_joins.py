"""Joins of a block with a view that may change at any time: D4 (aggregates), D5 (a scalar subquery), E2 (a relation).

A view is later than every stream, so that past results are corrected. All rows of the view are kept and, of the block,
the different rows that can have a partner in it at all; what is only compared with a column of the view counts as
the nearest value of those that the column's values tell apart. So nothing else need be known (Lemma 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.clock import clock
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Named,
    Project,
    Scan,
    Tree,
    inputs,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.findings import Finding
from streambound.analyzer.query import Attribute, Comparison, Query
from streambound.analyzer.types import Family
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.distances import ContradictionError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.casts import with_casts
from streambound.recheck.circuits.changes import TIME
from streambound.recheck.circuits.claims import ClaimedKey, NotRecheckedError
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.keyed_joins import keyed_join
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import (
    ONE,
    aggregate_of,
    all_of,
    call_named,
    called,
    columns_in,
    conjuncts,
    joined,
    node_of,
    plain_aliases,
    scalar,
    with_input,
)
from streambound.recheck.circuits.view import JoinedSide, View
from streambound_runtime.promises import Domain

Limits = tuple[int | None, int | None]
VIEW = "(view)"
_KINDS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)


def view_join(tree: Join, states: States) -> View:
    """A join of a block with a view on its right; with one whose rows close, of rows that close, too."""
    if tree.kind not in _KINDS or tree.using:
        return keyed_join(tree, states)
    with states.tried():
        try:
            found = states.under(tree.right, None)
            closing = found.rows is None and bool(found.closing)
        except (RejectedError, NotRecheckedError):
            closing = False
    return keyed_join(tree, states) if closing else JoinWithView(tree, states).view()


class JoinWithView:
    """One join; ``split`` is the inner one with a virtual stream for the view: the left columns, then the view's."""

    split: Query

    def __init__(self, tree: Join, states: States) -> None:
        self.states, self.catalog, self.given = states, states.catalog, tree
        tree = with_casts(tree, self.catalog)
        scan = plain_aliases(tree.right)
        is_relation = isinstance(scan, Scan) and scan.changes
        self.relation = self.catalog.table(scan.table) if isinstance(scan, Scan) and is_relation else None
        read = [] if tree.condition is None else columns_in([parsed(tree.condition)])
        self.shown = [c for c in schema(tree, self.catalog) if called(c, states.needed)]
        self.left = [
            column
            for column in schema(tree.left, self.catalog)
            if called(column, states.needed) or any(column.called(one.name, one.table) for one in read)
        ]
        self.right = list(schema(tree.right, self.catalog))
        self.tree = replace(tree, right=self._narrowed(tree))

    def view(self) -> View:
        """The lines of both sides, and of the rows that wait."""
        states, tree = self.states, self.tree
        rows = self.look_below()
        nodes = [self._node(column) for column in self.left]
        items = tuple(Named(f"l{n}", scalar(node), alias=True) for n, node in enumerate(nodes))
        states.of(Project(tree.left, items or (Named("l0", scalar(ONE), alias=True),), syntax=tree.syntax))
        keys, waiting = self._waiting()
        proposition = "E2" if self.relation is not None else "D4" if self._has_keys() else "D5"
        states.line(proposition, keys, waiting, "never")
        states.line(proposition, (), rows, "when it is taken back")
        if tree.kind is JoinKind.INNER:
            shown = schema(self.given, self.catalog)
            sides = ((self.given.left, waiting), (self.given.right, rows))
            of_sides = (JoinedSide.at_a_time(schema(one, self.catalog), shown, most) for one, most in sides)
            return View(waiting * rows, (), tuple(of_sides))
        return View(waiting if tree.kind is JoinKind.SEMI else None)

    def look_below(self) -> Quantity:
        """The lines of the view; how many rows it has."""
        rows = self.states.under(self.tree.right, None).rows
        if rows is None:
            raise NotRecheckedError("a join with a view whose rows have no number")
        self.join_with_stream()
        return rows

    def join_with_stream(self) -> None:
        """Read the inner join with the virtual stream."""
        self.split = derive(self._joint()).split
        if not self.split.branches:
            raise NotRecheckedError("a join that matches nothing")

    # --- rows that wait ---------------------------------------------------------------------------------------------

    def _waiting(self) -> tuple[tuple[ClaimedKey, ...], Quantity]:
        """The different left rows that can have a partner, clipped where nothing bounds them."""
        evidence, width = self.states.evidence, len(self.left)
        names = tuple(f"{column.alias}.{column.name}" for column in self.left)
        mine = self._with_outputs(range(width))
        if (whole := evidence.count_of(mine)) is not None:
            return keys_with_values(names, mine, whole.tables), whole.entries
        shown = {(column.alias, column.name) for column in self.shown}
        clipped = {
            place: size
            for place, column in enumerate(self.left)
            if (column.alias, column.name) not in shown and (size := self._clipped(place)) is not None
        }
        entries = Quantity.number(1)
        for size in clipped.values():
            entries = entries * Quantity.number(size)
        rest = [place for place in range(width) if place not in clipped]
        if rest:
            entries = entries * evidence.results([self._with_outputs(rest)]).entries
        return tuple(ClaimedKey(name, None) for name in names), entries

    def _with_outputs(self, places: Sequence[int]) -> Query:
        branches = (replace(one, outputs=tuple(one.outputs[n] for n in places)) for one in self.split.branches)
        return replace(self.split, branches=tuple(branches))

    def _clipped(self, place: int) -> int | None:
        """How many values of a column are told apart, if its own limits and the view's leave so many; else None."""
        given = schema(self.tree.left, self.catalog)
        for part in conjuncts(self.tree.condition):
            if all(any(c.called(one.name, one.table) for c in given) for one in columns_in([part])):
                return None  # what is asked of the left row alone in ON
        own, ends = list[Limits](), list[Limits]()
        for branch in self.split.branches:
            conditions, value = Conditions(branch), branch.outputs[place].value
            if not isinstance(value, Attribute) or not conditions.is_integer(value):
                return None
            own.append(_interval(conditions, value))
            found = list(self._compared(conditions, value))
            if not found or None in found:
                return None
            ends += [one for one in found if one is not None]
        mine, (low, high) = _around(own), _around(ends)
        if None not in mine:
            return None
        least = max((end for end in (mine[0], None if low is None else low - 1) if end is not None), default=None)
        most = min((end for end in (mine[1], None if high is None else high + 1) if end is not None), default=None)
        return None if least is None or most is None else max(0, most - least + 1)

    def _compared(self, conditions: Conditions, value: Attribute) -> list[Limits | None]:
        """Between which values those are that a left column is compared with in the view."""
        aliases = {source.alias for source in conditions.branch.sources if source.table == VIEW}
        domains = {column.name: column.domain for column in self._table().columns}
        found = list[Limits | None]()
        for atom in conditions.atoms:
            others = [one for one in atom.attributes if one != value]
            if value not in atom.attributes or not any(one.source in aliases for one in others):
                continue
            if not isinstance(atom, Comparison) or len(others) != 1 or isinstance(atom.offset, str):
                return [None]
            domain, more = domains.get(others[0].column), atom.offset if atom.left == value else -atom.offset
            ends = (None, None) if domain is None else (domain.low, domain.high)
            found.append(tuple(None if end is None else int(end) + int(more) for end in ends))  # type: ignore[arg-type]
        return found

    # --- the view as a stream ---------------------------------------------------------------------------------------

    def _joint(self) -> Query:
        aliases = {column.alias for column in self.right}
        if len(aliases) != 1 or not all(aliases):
            raise NotRecheckedError("a view whose columns have no alias")
        catalog = replace(self.catalog, tables=(*self.catalog.tables, self._table()))
        reader = replace(self.states.blocks, catalog=catalog)
        scan = Scan(VIEW, aliases.pop(), syntax=_place(self.tree.right))
        body = joined(self.tree.left, scan, self.tree.condition, self.catalog, self.tree.syntax)
        nodes = [self._node(column) for column in (*self.left, *self.right)]
        return reader.query(body, [Named(f"c{n}", scalar(node), alias=True) for n, node in enumerate(nodes)])

    def _table(self) -> DeclaredTable:
        domains = self._domains()
        columns = []
        for place, view in enumerate(self.right):
            if view.type is None:
                raise NotRecheckedError("a view with a column of no known type")
            columns.append(Column(view.name, view.type, domains.get(place)))
        time = clock(self.tree, self.catalog)
        assert time is not None, "a view that changes reads something that does"
        return DeclaredTable(VIEW, Kind.STREAM, (*columns, Column(TIME, time.type)), TIME)

    def _domains(self) -> dict[int, Domain]:  # type: ignore[type-arg]
        """What the view's conditions leave of keys and best values; COUNT is at least 0."""
        if self.relation is not None:
            return {n: column.domain for n, column in enumerate(self.relation.columns) if column.domain is not None}
        aggregate, items = aggregate_of(self.tree.right)
        found: dict[int, Domain] = {}  # type: ignore[type-arg]
        for place, item in enumerate(items if aggregate is not None else ()):
            assert aggregate is not None
            call = call_named(item, aggregate)
            if call is not None and call.function == "COUNT":
                found[place] = Domain(low=0)
                continue
            best = call is not None and call.function in ("MIN", "MAX") and call.filter is None
            keys = [parsed(key.value) for key in aggregate.keys]
            value = call.arguments[0] if call is not None and best else item.value if call is None else None
            if value is None or (call is None and parsed(value) not in keys):
                continue
            limits = self._limits(aggregate.input, parsed(value))
            if limits is not None and limits != (None, None):
                found[place] = Domain(*limits)
        return found

    def _limits(self, below: Tree, node: exp.Expr) -> Limits | None:
        """Between which integers the values of an expression over a block are; None where it is no integer column."""
        try:
            split = derive(self.states.blocks.query(below, [Named("c", scalar(node), alias=True)])).split
        except Finding:
            return None
        found = list[Limits]()
        for branch in split.branches:
            value, conditions = branch.outputs[0].value, Conditions(branch)
            if not isinstance(value, Attribute) or not conditions.is_integer(value):
                return None
            found.append(_interval(conditions, value))
        return _around(found) if found else None

    def _narrowed(self, tree: Join) -> Tree:
        """The view without groups that no left row can meet: a key has the values of what it must equal (D4)."""
        aggregate, items = aggregate_of(tree.right)
        if aggregate is None:
            return tree.right
        limits = [one for part in conjuncts(tree.condition) for one in self._key_limits(part, tree, items, aggregate)]
        if not limits:
            return tree.right
        given = aggregate.input
        known = [parsed(given.condition)] if isinstance(given, Filter) else []
        every = all_of([*known, *limits])
        assert every is not None
        below = given.input if isinstance(given, Filter) else given
        narrow = replace(aggregate, input=Filter(below, every, syntax=given.syntax or tree.syntax))
        return with_input(tree.right, aggregate, narrow)

    def _key_limits(self, part: exp.Expr, tree: Join, items: list[Named], aggregate: Aggregate) -> list[exp.Expr]:
        sides = (part.left, part.right) if isinstance(part, exp.EQ) else ()
        columns = [one for one in sides if isinstance(one, exp.Column)]
        if len(columns) != 2:
            return []
        found: list[exp.Expr] = []
        keys = [parsed(key.value) for key in aggregate.keys]
        for mine, other in (columns, columns[::-1]):
            place = next((n for n, c in enumerate(self.right) if c.called(other.name, other.table)), None)
            own = any(column.called(mine.name, mine.table) for column in self.left)
            if not own or place is None or place >= len(items):
                continue
            key = parsed(items[place].value)
            if key not in keys or not isinstance(key, exp.Column) or call_named(items[place], aggregate) is not None:
                continue
            if not self._is_integer(tree.left, mine):
                continue
            low, high = self._limits(tree.left, mine) or (None, None)
            found += [] if low is None else [exp.GTE(this=key.copy(), expression=_number(low))]
            found += [] if high is None else [exp.LTE(this=key.copy(), expression=_number(high))]
        return found

    def _is_integer(self, tree: Tree, node: exp.Column) -> bool:
        column = next((c for c in schema(tree, self.catalog) if c.called(node.name, node.table)), None)
        return column is not None and column.type is not None and column.type.family is Family.INTEGER

    def _has_keys(self) -> bool:
        aggregate, _ = aggregate_of(self.tree.right)
        return aggregate is None or bool(aggregate.keys)

    def _node(self, column: ViewColumn) -> exp.Column:
        return node_of(column, self.states.needed, self.shown, self.tree.condition)


def _interval(conditions: Conditions, value: Attribute) -> Limits:
    """The least and the greatest value of an integer attribute."""
    zero = conditions.zero(value)
    try:
        below, above = conditions.follows.bound(zero, value), conditions.follows.bound(value, zero)
    except ContradictionError:
        raise NotRecheckedError("a view that never has a row") from None
    return None if below is None else -int(below[0]), None if above is None else int(above[0])


def _around(several: Sequence[Limits]) -> Limits:
    """The least limits around some."""
    lows, highs = [one[0] for one in several], [one[1] for one in several]
    low = None if None in lows else min(one for one in lows if one is not None)
    high = None if None in highs else max(one for one in highs if one is not None)
    return low, high


def _number(value: int) -> exp.Expr:
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal


def _place(tree: Tree) -> exp.Expr | None:
    """Where a table of a tree is written."""
    if isinstance(tree, Scan):
        return tree.syntax
    return next((found for below in inputs(tree) if (found := _place(below)) is not None), None)
