"""Joins of views that are both kept: those of so many rows (E1), and those whose rows close close together (A5).

Let l and r be the last timestamps of the buckets of a left and a right row, after which they change for W_l and W_r at
most, and let the condition leave ``low <= l - r <= high``. What a left row is joined with changes until
``max(l + W_l, r + W_r)``, and ``r <= l - low``: it waits ``max(W_l, W_r - low)`` after l, and a right row
``max(W_r, W_l + high)`` after r.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product as pairs_of

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.clock import clock
from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Project, Scan, Tree, inputs
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.query import And, Attribute, Comparison, Formula, Op
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.types import Family
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.changes import TIME
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import ONE, Names, called, columns_in, scalar
from streambound.recheck.circuits.view import ClosesBy, ClosingColumn, JoinedSide, View

_KINDS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
_ASKING = (JoinKind.SEMI, JoinKind.ANTI)
_TURNED = {Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE, Op.EQ: Op.EQ}


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """A side of a join: the columns of its rows, and these."""

    columns: tuple[ViewColumn, ...]
    view: View


def side(tree: Tree, join: Join, states: States) -> JoinedRows:
    """A side of a join, whose columns are those that the condition reads and the results show."""
    needed: Names | None = states.needed
    if needed is not None and join.condition is not None:
        needed = {**needed, **{(c.name, c.table): c for c in columns_in([parsed(join.condition)])}}
    given = schema(tree, states.catalog)
    if is_block(tree, states.catalog) and not is_static(tree, states.catalog):
        given = tuple(one for one in given if called(one, needed))
        nodes = [exp.column(one.name, table=one.alias or None, quoted=True) for one in given]
        items = tuple(Named(f"c{n}", scalar(node), alias=True) for n, node in enumerate(nodes))
        tree = Project(tree, items or (Named("c0", scalar(ONE), alias=True),), syntax=join.syntax)
    return JoinedRows(given, states.under(tree, needed))


def keyed_join(tree: Join, states: States) -> View:
    """The lines of a join whose sides are both remembered."""
    if tree.kind in (JoinKind.RIGHT, JoinKind.FULL) and not tree.using:
        return _with_padded_left(tree, states)
    if tree.kind not in _KINDS or tree.using:
        raise NotRecheckedError(f"{tree.kind} joins of views that change")
    left, right = side(tree.left, tree, states), side(tree.right, tree, states)
    mine, theirs = left.view.rows, right.view.rows
    if mine is not None and theirs is not None:
        for rows in (mine, theirs):
            states.line("E1", (), rows, "when it is taken back")
        shown, numbers = schema(tree, states.catalog), {JoinKind.INNER: (mine, theirs), JoinKind.LEFT: (mine,)}
        sides = zip((left, right), numbers.get(tree.kind, ()), strict=False)
        numbered = (JoinedSide.at_a_time(one.columns, shown, rows) for one, rows in sides)
        return View(_pairs(tree.kind, mine, theirs), (), tuple(numbered))
    near = _near(tree, left, right, states)
    if near is None:
        raise NotRecheckedError("joins of views without a number of rows")
    for rows in (near.left.open(near.waits[0]), near.right.open(near.waits[1])):
        states.line("A5", (), rows, "when its bucket has closed")
    return View(closing=tuple(near.results(tree, left, right, states)))


def _with_padded_left(tree: Join, states: States) -> View:
    """A RIGHT JOIN is the LEFT one of the other side; a FULL one has beside a LEFT one who is alone on the right."""
    turned = replace(tree, kind=JoinKind.LEFT, left=tree.right, right=tree.left)
    if tree.kind is JoinKind.RIGHT:
        mine, theirs = (len(schema(one, states.catalog)) for one in (tree.left, tree.right))
        return states.of(turned).turned(mine, theirs)
    kept, alone = states.of(replace(tree, kind=JoinKind.LEFT)), states.of(replace(turned, kind=JoinKind.ANTI))
    return View(None if kept.rows is None or alone.rows is None else kept.rows + alone.rows)


def _pairs(kind: JoinKind, mine: Quantity, theirs: Quantity) -> Quantity:
    if kind in _ASKING:
        return mine
    return mine + mine * theirs if kind is JoinKind.LEFT else mine * theirs


@dataclass(frozen=True, slots=True)
class _Near:
    """Closing columns of both sides whose buckets' last timestamps differ by ``low`` to ``high``."""

    left: ClosesBy
    right: ClosesBy
    low: int
    high: int
    inner: bool

    @property
    def waits(self) -> tuple[int, int]:
        """How much longer than they change rows of both sides wait."""
        mine, theirs = self.left.columns[0].delay, self.right.columns[0].delay
        waits = max(0, theirs - self.low - mine)
        asked = mine if self.inner else mine + waits  # a left row's partners are counted until it goes
        return waits, max(0, asked + self.high - theirs)

    def results(self, tree: Join, left: JoinedRows, right: JoinedRows, states: States) -> Iterator[ClosesBy]:
        """The closing columns of the results."""
        shown = schema(tree, states.catalog)
        own = {n: shown.index(one) for n, one in enumerate(left.columns) if one in shown}
        moved = [
            replace(c, place=own[c.place], delay=c.delay + self.waits[0]) for c in self.left.columns if c.place in own
        ]
        if moved:
            sides = _sides(self.left, own, self.waits[0])
            yield ClosesBy(tuple(moved), lambda more: self._left_open(tree.kind, more), None, sides)
        if tree.kind is JoinKind.INNER:
            first = len(schema(tree.left, states.catalog))
            places = {(one.alias, one.name): n for n, one in enumerate(shown) if n >= first}
            theirs = [
                replace(c, place=places[one.alias, one.name], delay=c.delay + self.waits[1])
                for c in self.right.columns
                if ((one := right.columns[c.place]).alias, one.name) in places
            ]
            if theirs:
                columns = ((n, (one.alias, one.name)) for n, one in enumerate(right.columns))
                shown_at = {n: places[name] for n, name in columns if name in places}
                yield ClosesBy(tuple(theirs), self._right_open, None, _sides(self.right, shown_at, self.waits[1]))

    def _left_open(self, kind: JoinKind, more: int) -> Quantity:
        """The results whose left row was open so much earlier: its partners are at most ``high`` behind it."""
        mine, theirs = self._delays
        rows = self.left.open(self.waits[0] + more)
        if kind in _ASKING:
            return rows
        partners = self.right.open(max(0, mine + self.high + more - theirs + self.waits[1]))
        return _pairs(kind, rows, partners)

    def _right_open(self, more: int) -> Quantity:
        mine, theirs = self._delays
        partners = self.left.open(max(0, theirs - self.low + more - mine + self.waits[0]))
        return partners * self.right.open(self.waits[1] + more)

    @property
    def _delays(self) -> tuple[int, int]:
        """How long after their buckets rows of both sides wait."""
        waits = self.waits
        return self.left.columns[0].delay + waits[0], self.right.columns[0].delay + waits[1]


def _sides(rows: ClosesBy, shown: Mapping[int, int], waits: int) -> tuple[JoinedSide, ...]:
    """The sides of rows that are a join's, then these rows: their columns that it has, and how long they are open."""
    sides = (*rows.sides, JoinedSide(frozenset(shown), rows.open))
    return tuple(
        replace(one, places=frozenset(shown[place] for place in one.places if place in shown)).before(waits)
        for one in sides
    )


def _near(tree: Join, left: JoinedRows, right: JoinedRows, states: States) -> _Near | None:
    atoms = list(_comparisons(tree, left, right, states))
    for mine, theirs in pairs_of(left.view.closing, right.view.closing):
        lows, highs = list[int](), list[int]()
        for one, two in pairs_of(mine.columns, theirs.columns):
            for op, more in (atom[2:] for atom in atoms if atom[:2] == (one.place, two.place)):
                low, high = _limits(op, more, one, two)
                lows += [] if low is None else [low]
                highs += [] if high is None else [high]
        if lows and highs:
            return _Near(mine, theirs, max(lows), min(highs), tree.kind is JoinKind.INNER)
    return None


def _limits(op: Op, more: int | None, left: ClosingColumn, right: ClosingColumn) -> tuple[int | None, int | None]:
    """What ``left op right + more`` says of the last timestamps of the buckets, left less right; None of texts."""
    if (left.how, left.size) == (right.how, right.size) and op is Op.EQ and not more:
        return 0, 0
    if more is None:
        return None, None
    if (left.how, right.how, left.size) == ("div", "div", right.size):  # what is compared are numbers of buckets
        low, high = _between(op, more)
        return None if low is None else low * left.size, None if high is None else high * left.size
    if _last(left) is None or _last(right) is None:
        return None, None
    return _between(op, more + (_last(left) or 0) - (_last(right) or 0))


def _between(op: Op, value: int) -> tuple[int | None, int | None]:
    low = value + 1 if op is Op.GT else value if op in (Op.GE, Op.EQ) else None
    high = value - 1 if op is Op.LT else value if op in (Op.LE, Op.EQ) else None
    return low, high


def _last(column: ClosingColumn) -> int | None:
    """What is added to the value to have the last timestamp of its bucket; None where that is no sum."""
    known = {"end": -1, "last": 0, "session": 0}
    return column.size - 1 if column.how in ("start", *_FIXED) else known.get(column.how)


_FIXED = ("second", "minute", "hour", "day", "week")
"""Units of the calendar whose periods are all as long; a value is when one begins."""


_Atom = tuple[int, int, Op, int | None]
"""A left column and a right one, by place, how they are compared, and what is added to the right one; None to texts."""


def _comparisons(tree: Join, left: JoinedRows, right: JoinedRows, states: States) -> Iterator[_Atom]:
    """What the condition compares."""
    if tree.condition is None:
        return
    given, tables, scans = clock(tree, states.catalog), list[DeclaredTable](), list[Tree]()
    assert given is not None, "a view that changes reads something that does"
    renamed = list[tuple[ViewColumn, exp.Column]]()
    for alias, one in (("_l", left), ("_r", right)):
        typed = [(column, column.type) for column in one.columns]
        columns = [Column(f"c{n}", kind) for n, (_, kind) in enumerate(typed) if kind is not None]
        if len(columns) < len(typed):
            raise NotRecheckedError("a view with a column of no known type")
        tables.append(DeclaredTable(f"(side {alias})", Kind.STREAM, (*columns, Column(TIME, given.type)), TIME))
        scans.append(Scan(tables[-1].name, alias, syntax=_place(tree)))
        renamed += [(c, exp.column(f"c{n}", table=alias, quoted=True)) for n, c in enumerate(one.columns)]

    def meant(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        found = [to for column, to in renamed if column.called(node.name, node.table)]
        if len(found) != 1:
            raise NotRecheckedError(f"{node.sql('spark')} between two views")
        return found[0].copy()

    condition = parsed(tree.condition).copy().transform(meant)
    both = Join(JoinKind.INNER, scans[0], scans[1], syntax=tree.syntax)
    body = Filter(both, scalar(condition), syntax=tree.syntax)
    catalog = replace(states.catalog, tables=(*states.catalog.tables, *tables))
    items = [Named("one", scalar(ONE), alias=True)]
    query = replace(states.blocks, catalog=catalog).query(body, items)
    if len(query.branches) != 1:
        raise NotRecheckedError("a condition of several cases between views")
    (branch,) = query.branches
    names = {source.alias: source.table for source in branch.sources}
    for atom in _all_true(branch.where):
        if isinstance(atom, Comparison) and atom.right is not None and atom.op in _TURNED:
            mine, theirs = _placed(atom.left, names), _placed(atom.right, names)
            if mine is None or theirs is None or mine[0] == theirs[0]:
                continue
            texts = branch.column(atom.left).type.family is Family.STRING
            if not texts and (isinstance(atom.offset, str) or int(atom.offset) != atom.offset):
                continue
            more = None if texts else int(atom.offset)
            if mine[0] == tables[0].name:
                yield mine[1], theirs[1], atom.op, more
            else:
                yield theirs[1], mine[1], _TURNED[atom.op], None if more is None else -more


def _all_true(formula: Formula) -> Iterator[Formula]:
    """The parts of a condition that must all be true; alternatives are one."""
    if isinstance(formula, And):
        for part in formula.parts:
            yield from _all_true(part)
    else:
        yield formula


def _placed(attribute: Attribute, names: dict[str, str]) -> tuple[str, int] | None:
    column = attribute.column
    return (names[attribute.source], int(column[1:])) if column[:1] == "c" and column[1:].isdigit() else None


def _place(tree: Tree) -> exp.Expr | None:
    if isinstance(tree, Scan):
        return tree.syntax
    return next((found for below in inputs(tree) if (found := _place(below)) is not None), None)
