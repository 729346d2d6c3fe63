"""Joins: which proposition each is about, and those with a relation as of a time (E3), or that never changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import decided_on_arrival, is_block
from streambound.analyzer.algebra.nodes import AsOf, Filter, Join, JoinKind, Named, Project, Scan, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.query import TimeValue
from streambound.analyzer.relation_queries import is_static
from streambound.preprocess.pipeline import derive
from streambound.preprocess.split_join import SplitJoin, split_join
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.buckets import lag
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.kept_relations import keeps_relation, kept_relation, without_member
from streambound.recheck.circuits.keyed_joins import keyed_join, side
from streambound.recheck.circuits.rows import static_rows
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.stream_joins import not_in, stream_join
from streambound.recheck.circuits.trees import (
    ONE,
    all_of,
    called,
    columns_in,
    conjuncts,
    names_in,
    plain_aliases,
    scalar,
    turned,
    under_filter,
)
from streambound.recheck.circuits.view import ClosesBy, JoinedSide, View
from streambound.recheck.circuits.view_joins import view_join

_ASKING = (JoinKind.SEMI, JoinKind.ANTI)
_KEEPING = (JoinKind.LEFT, *_ASKING, JoinKind.NOT_IN)


def join(tree: Tree, states: States) -> View:
    """The states of a join, by what its sides are."""
    assert isinstance(tree, Join)
    if (outside := _with_relation_outside(tree, states)) is not None:
        return outside
    if (forms := split_join(tree, states.blocks)) is not None:
        return _of_cases(forms, states)
    if tree.kind is JoinKind.NOT_IN:
        of_relation = is_static(tree.left, states.catalog)
        return states.of(without_member(tree)) if of_relation else not_in(tree, states)
    if isinstance(version := plain_aliases(tree.right), AsOf):
        return _as_of(tree, version, states)
    if not tree.using and (sides := _asking_relation(tree, states)) is not None:
        return relation_join(tree, *sides, states)
    if keeps_relation(tree, states):
        return kept_relation(tree, states)
    left_is_block, right_is_block = (is_block(one, states.catalog) for one in (tree.left, tree.right))
    if left_is_block and not right_is_block:
        return view_join(tree, states)
    if right_is_block and not left_is_block and tree.kind is JoinKind.INNER and not tree.using:
        with states.tried():
            numbered = states.of(tree.left).rows is not None
        if numbered:
            mine, theirs = (len(schema(one, states.catalog)) for one in (tree.left, tree.right))
            return view_join(turned(tree, states.catalog), states).turned(mine, theirs)
    return _of_blocks(tree, states) if left_is_block else keyed_join(tree, states)


def _of_blocks(tree: Join, states: States) -> View:
    """A join of two streams, or, where the certificate says so, of blocks as views whose rows close."""
    rule: Callable[[Join, States], View] = stream_join
    for other in (stream_join, keyed_join):
        with suppress(RejectedError, NotRecheckedError), states.tried():
            other(tree, states)
            rule = other
            break
    return rule(tree, states)


def _of_cases(forms: SplitJoin, states: States) -> View:
    """A join whose kept side has several cases: in the form that the certificate has the states of."""
    try:
        with states.tried():
            states.of(forms.tested_above)
    except (RejectedError, NotRecheckedError):
        return states.of(forms.union)
    return states.of(forms.tested_above)


def _as_of(tree: Join, version: AsOf, states: States) -> View:
    """E3: rows of a stream are joined when they come, and never again: only the relation is remembered."""
    relation = version.input
    changes = isinstance(relation, Scan) and relation.changes
    if tree.kind not in (JoinKind.INNER, JoinKind.LEFT, *_ASKING) or tree.using or not changes:
        raise NotRecheckedError("a version of what is no relation that changes")
    given, time = schema(tree.left, states.catalog), parsed(version.time)
    its_time = isinstance(time, exp.Column) and any(c.time and c.called(time.name, time.table) for c in given)
    if not its_time or not _come_at(tree.left, version, states):
        raise NotRecheckedError("a version as of another time than that at which the rows beside it come")
    with states.tried():  # the stream comes first, but what is wrong of the relation is told
        states.of(relation)
    names = None
    if states.needed is not None:
        names = {**states.needed, **names_in([tree.condition])}
    read = [c for c in given if called(c, names)]
    nodes = [exp.column(c.name, table=c.alias or None, quoted=True) for c in read]
    items = tuple(Named(f"l{n}", scalar(node), alias=True) for n, node in enumerate(nodes))
    left = states.of(Project(tree.left, items or (Named("l0", scalar(ONE), alias=True),), syntax=tree.syntax))
    rows = states.of(relation).rows
    if rows is None:
        raise NotRecheckedError("relations that change without a number of rows")
    states.line("E3", (), rows, "when it is taken back")
    shown = schema(tree, states.catalog)
    places = [[n for n, c in enumerate(shown) if (c.alias, c.name) == (one.alias, one.name)] for one in read]
    return _beside(tree.kind, left, places, rows)


def _come_at(tree: Tree, version: AsOf, states: States) -> bool:
    """Whether rows come at the time of a version: their stream's, or that of the stream that has their last row."""
    while not is_block(tree, states.catalog):
        below, _ = under_filter(tree)
        if isinstance(below, Join) and isinstance(plain_aliases(below.right), AsOf) and not below.using:
            below = below.left
        if below is tree:
            return False
        tree = below
    split = derive(states.blocks.query(tree, [Named("time", version.time, alias=True)])).split
    for branch in split.branches:
        conditions, value = Conditions(branch), branch.outputs[0].value
        if not isinstance(value, TimeValue) or value.minus is not None or value.offset != 0:
            return False
        for stream in conditions.streams:
            found = 0 if stream == value.plus.source else lag(conditions, stream, value.plus.source)
            if found is None or found > 0:
                return False
    return bool(split.branches)


# --- relations that do not change ------------------------------------------------------------------------------------


def _asking_relation(tree: Join, states: States) -> tuple[Tree, Tree] | None:
    """The side whose rows are kept, and the one that never changes, of a join that is decided when a row comes."""
    found = decided_on_arrival(tree, states.catalog)
    if found is None and tree.kind is JoinKind.INNER:
        found = decided_on_arrival(replace(tree, left=tree.right, right=tree.left), states.catalog)
    return found


def relation_join(tree: Join, kept: Tree, asked: Tree, states: States) -> View:
    """``Δ(V ⋈ R) = ΔV ⋈ R``: only the rows of R are there, and stay."""
    kind = JoinKind.LEFT if tree.kind is JoinKind.RIGHT else tree.kind
    mine = side(kept, tree, states)
    before = states.needed
    if before is not None:
        states.needed = {**before, **names_in([tree.condition])}
    relation = static_rows(asked, states)
    states.needed = before
    rows = relation.view.rows
    assert rows is not None, "a relation has a number of rows"
    states.line("E1", relation.columns, rows, "never: the relation does not change")
    most = None if mine.view.rows is None else _pairs(kind, mine.view.rows, rows)
    shown = schema(tree, states.catalog)
    places = [[n for n, c in enumerate(shown) if (c.alias, c.name) == (one.alias, one.name)] for one in mine.columns]
    return _beside(kind, View(most, mine.view.closing), places, rows)


def _beside(kind: JoinKind, view: View, places: Sequence[Sequence[int]], rows: Quantity) -> View:
    """Rows that are joined with so many of a relation when they come, and change no more than they do alone.

    Their columns are at these ``places`` of the join's.
    """
    own = frozenset(n for n, places_ in enumerate(places) if places_)

    def beside(one: ClosesBy) -> ClosesBy:
        sides = (*one.sides, JoinedSide(own, one.open))
        return replace(one, open=lambda more: _pairs(kind, one.open(more), rows), sides=sides)

    return View(view.rows, tuple(map(beside, view.closing))).at(lambda place: places[place])


def _pairs(kind: JoinKind, mine: Quantity, rows: Quantity) -> Quantity:
    if kind in _ASKING:
        return mine
    return mine + mine * rows if kind is JoinKind.LEFT else mine * rows


def _with_relation_outside(tree: Join, states: States) -> View | None:
    """``(S ⋈ R) ⟕ T`` as ``(S ⟕ T) ⋈ R``, where its condition does not speak of R; None for another join."""
    conditions, left = list[exp.Expr](), tree.left
    while isinstance(left, Filter):
        left, condition = under_filter(left)
        conditions += conjuncts(condition)
    inner = isinstance(left, Join) and not left.using and not tree.using and states.needed is not None
    if not isinstance(left, Join) or not inner or tree.kind not in _KEEPING or states.needed is None:
        return None
    asking = _asking_relation(left, states)
    if asking is None or decided_on_arrival(tree, states.catalog) or any(one.find(exp.Query) for one in conditions):
        return None
    kept, asked = asking
    others = schema(asked, states.catalog)

    def of_relation(node: exp.Expr) -> bool:
        return any(one.called(column.name, column.table) for column in columns_in([node]) for one in others)

    if any(one is not None and of_relation(parsed(one)) for one in (tree.condition, tree.member)):
        return None
    own, rest = [c for c in conditions if not of_relation(c)], [c for c in conditions if of_relation(c)]
    every = all_of(own)
    below = replace(tree, left=kept if every is None else Filter(kept, every, syntax=kept.syntax))
    kind = JoinKind.LEFT if left.kind is JoinKind.RIGHT else left.kind
    above = replace(left, kind=kind, left=below, right=asked)
    before = states.needed
    states.needed = {**{(c.name, c.table): c for c in columns_in(rest)}, **before}
    try:
        view = relation_join(above, below, asked, states)
    finally:
        states.needed = before
    names = [(one.alias, one.name) for one in schema(above, states.catalog)]
    shown = [(one.alias, one.name) for one in schema(tree, states.catalog)]
    view = view.at(lambda place: [n for n, one in enumerate(shown) if one == names[place]])
    return View(view.rows, view.closing)
