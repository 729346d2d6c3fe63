"""The rule of a join of any kind over views: of each side the rows that may still meet one of the other side.

They are judged under what is known of pairs (Lemma 2): of rows that cannot have a partner nothing is kept, and rows go
when no pair of theirs can change any more. A relation that does not change is read, and decides rows when they come.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.recent_rows import asks_for_newest, recent_rows
from streambound.analyzer.algebra.sources import version_of
from streambound.analyzer.algebra.substitution import values_of
from streambound.analyzer.algebra.syntax import conjunction, conjuncts
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise, ViewKind, promises
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.blocks import (
    RuleContext,
    most_results,
    pair_of_streams,
    read_block,
    unread,
)
from streambound.criteria.dataflow.clipping import Clips, clipped, extremal, untested, with_clips
from streambound.criteria.dataflow.counting import apart, different, least, rows_of
from streambound.criteria.dataflow.demand import Demand, everything, of_items
from streambound.criteria.dataflow.key_places import key_places
from streambound.criteria.dataflow.state import (
    BestValue,
    Entry,
    Operation,
    OperatorState,
    Retention,
    StateCount,
    WholeView,
    better,
    without_rule,
)
from streambound.criteria.dataflow.view import OperatorView, Places, place_of
from streambound.criteria.dataflow.views import equalities

_NOW = (
    "compare the column that is the stream's timestamp, WHERE ts > now() - INTERVAL 1 HOUR; for rows after which "
    "nothing came for an hour, NOT EXISTS (SELECT 1 FROM T WHERE T.k = S.k AND T.ts BETWEEN S.ts AND S.ts + "
    "INTERVAL 1 HOUR)"
)
_MOST_COMPARED = 12
"""Streams in joins of joins whose rows may also be kept joined, which takes long to judge of many."""


def join(tree: nodes.Join, demand: Demand, context: RuleContext) -> Operation:
    """The states of a join, by the exact criterion of two streams, or by its sides' rows."""
    if asks_for_newest(tree):
        return _recent(tree, demand, context)
    if (version := version_of(tree.right)) is not None:
        return _as_of(tree, version, demand, context)
    if tree.using:
        return without_rule(tree, "a join with USING")
    rows = _rows_apart(tree, demand, context)
    if rows is not None and rows.entries is not None and sum(1 for _ in rows.leaves()) > _MOST_COMPARED:
        return rows
    words = _untested(tree, context)
    general = _of_views(tree, demand, context) if words is None else without_rule(tree, words)
    general = better(general, rows or general)
    exact = pair_of_streams(tree, demand, context)
    return general if exact is None else better(exact, general)


def _recent(tree: nodes.Join, demand: Demand, context: RuleContext) -> Operation:
    """Rows of a stream that are not much older than the newest one, or older by so much: it comes, and they go (G1)."""
    recent = recent_rows(tree, context.catalog)
    if recent is None:
        return without_rule(tree, "now() beside what is no time of a stream's rows", _NOW)
    mine = demand.reading((recent.time,))
    inputs = context.below(tree.left, mine), context.below(tree.right, everything(context.views.of(tree.right)))
    count = StateCount(rows_of(recent.stream, recent.kept))
    state = OperatorState(tree, "rows", "G1", tuple(sorted(mine.columns)), Entry.ROW, count)
    return Operation(tree, (state,), inputs, demand)


def _untested(tree: nodes.Join, context: RuleContext) -> str | None:
    """Why no job tests a join's condition, in words; None where one does."""
    left, pair = context.views.of(tree.left), context.views.pairs(tree)
    if tree.member is not None:
        return "a NOT IN of what is not compared by columns"
    if tree.kind is nodes.JoinKind.INNER:
        return unread(pair, tree.condition)
    part = untested(tree.condition, pair, len(left.schema))
    return None if part is None else unread(pair, part) or f"partners by {part.sql('spark')}, which compares no columns"


class Sides(Struct, frozen=True):
    """Both sides of a join, by the facts of pairs, with the clips of values that only conditions read.

    ``clips`` are the least and the greatest distinguished value of columns, by their positions in a side.
    """

    left: OperatorView
    right: OperatorView
    clips: tuple[Clips, Clips]


def sides_of_pairs(tree: nodes.Join, demand: Demand, context: RuleContext) -> Sides:
    """The facts of those rows of both sides that may have partners."""
    left, right = context.views.of(tree.left), context.views.right_of_pairs(tree)
    pair = context.views.pairs(tree)
    mine, theirs = sides_of(tree, demand, left, pair)
    width, conditions = len(left.schema), [*conjuncts(tree.condition), *conjuncts(tree.member)]
    shown = [frozenset(place - first for place in demand.columns) for first in (0, width)]
    ours, others = _waiting(left, pair.columns[:width]), _waiting(right, pair.columns[width:])
    clips = clipped(ours, 0, pair, conditions, mine.columns - shown[0])
    if tree.kind in nodes.ONE_SIDED:
        return Sides(ours, others, (clips, {}))
    return Sides(ours, others, (clips, clipped(others, width, pair, conditions, theirs.columns - shown[1])))


def _waiting(side: OperatorView, pairs: Sequence[ColumnFacts]) -> OperatorView:
    """The rows of a side that may have partners, which are there from when they come until no pair changes."""

    def since_it_came(one: TimePromise, own: ColumnFacts) -> TimePromise:
        came = own.time(NOW, one.function)
        return replace(one, high=None if came is None else came.high) if one.source == NOW else one

    columns = [
        replace(column, times=promises(since_it_came(one, own) for one in column.times))
        for column, own in zip(pairs, side.columns, strict=True)
    ]
    return side.narrowed(columns)


def _of_views(tree: nodes.Join, demand: Demand, context: RuleContext) -> Operation:
    left, right = context.views.of(tree.left), context.views.of(tree.right)
    pair = context.views.pairs(tree)
    width = len(left.schema)
    mine, theirs = sides_of(tree, demand, left, pair)
    mine, theirs = _with_key(tree.left, mine, context), _with_key(tree.right, theirs, context)
    sides = sides_of_pairs(tree, demand, context)
    apiece = [_one_of_each(tree, one.columns, first, pair) for one, first in ((mine, 0), (theirs, width))]
    ours, others = with_clips(sides.left, sides.clips[0]), with_clips(sides.right, sides.clips[1])
    ways: list[tuple[Places, BestValue | None]] = [(apiece[1], None)]
    ways += [(apiece[1] - {one.place}, one) for one in _best(tree, right, width, pair, apiece[1])]
    states = [
        _side(tree, "left", tree.left, tree.right, mine, ours, [(apiece[0], None)], context),
        _side(tree, "right", tree.right, tree.left, theirs, others, ways, context),
    ]
    below = tuple(
        context.below(side, one if state is None else one.reading(_closing(state)))
        for side, one, state in zip((tree.left, tree.right), (mine, theirs), states, strict=True)
    )
    return Operation(tree, tuple(state for state in states if state is not None), below, demand)


def _with_key(side: nodes.Tree, demand: Demand, context: RuleContext) -> Demand:
    """The demand of a side, with the key by which its rows expire (K3)."""
    if context.one_key is None or is_static(side, context.catalog):
        return demand
    held = key_places(side, context, len(context.one_key.attributes))
    return demand if held is None else demand.reading(min(places) for places in held if places)


def _closing(state: OperatorState) -> Places:
    """The column whose time says when entries go: they have it."""
    closing = None if state.count is None else state.count.closing
    return frozenset() if closing is None else frozenset((closing.place,))


def _best(tree: nodes.Join, right: OperatorView, width: int, pair: OperatorView, places: Places) -> list[BestValue]:
    """The columns of which the best value is enough, where only the existence of append-only rows matters.

    One at a time: of two columns each value of one may be best with some value of the other.
    """
    asks = tree.kind in (nodes.JoinKind.SEMI, nodes.JoinKind.ANTI) and right.change is ViewKind.APPEND_ONLY
    return list(extremal(width, pair, conjuncts(tree.condition), places)) if asks else []


def _side(
    tree: nodes.Join,
    what: str,
    side: nodes.Tree,
    other: nodes.Tree,
    needed: Demand,
    view: OperatorView,
    ways: Sequence[tuple[Places, BestValue | None]],
    context: RuleContext,
) -> OperatorState | None:
    """The state of one side: the rows that differ in some columns, counted in one of several ways."""
    if _is_recursive(side):
        return None  # the recursion remembers its relation
    if is_static(side, context.catalog):
        rows = context.views.of(side).rows
        count = None if rows is None else StateCount(rows, Retention.EVER)
        return OperatorState(tree, what, "E1", tuple(sorted(needed.columns)), Entry.NUMBER, count)
    if is_static(other, context.catalog):
        return None  # its rows are decided when they come
    found = [(different(view, columns), best) for columns, best in ways]
    if context.is_block(side):
        read = read_block(side, needed.columns, context, True)
        found.append((most_results(read), None))
    count = least(one for one, _ in found if one is not None)
    best = next((best for one, best in found if one is count), None)
    proposition = "E2" if isinstance(other, nodes.Scan) and other.changes else "D4"
    words = f"rows of the {what} side wait for partners"
    return OperatorState.of(tree, what, proposition, needed.columns, Entry.NUMBER, count, view, words, best=best)


def _one_of_each(tree: nodes.Join, places: Places, first: int, pair: OperatorView) -> Places:
    """Columns of a side, which begins at ``first`` in the pairs, but of those that the condition makes equal one."""
    same: dict[int, int] = {}
    for one in equalities(tree.condition):
        left, right = place_of(one.left, pair), place_of(one.right, pair)
        if left is not None and right is not None and pair.schema[left].type == pair.schema[right].type:
            old, new = same.get(left, left), same.get(right, right)
            same = {**{left: left, right: right}, **same}
            same = {place: new if of == old else of for place, of in same.items()}
    found: dict[int, int] = {}
    for place in sorted(places):
        found.setdefault(same.get(place + first, place + first), place)
    return frozenset(found.values())


def sides_of(tree: nodes.Join, demand: Demand, left: OperatorView, pair: OperatorView) -> tuple[Demand, Demand]:
    """The demand of a join on its sides: the values that its condition reads, and the demand on its rows."""
    width = len(left.schema)
    read = pair.read_by(tree.condition, tree.member)
    ours = {place: place for place in range(width)}
    others = {} if tree.kind in nodes.ONE_SIDED else {place: place - width for place in range(width, len(pair.schema))}
    mine, theirs = (replace(demand.at(places), most={}, apart={}) for places in (ours, others))
    theirs = replace(theirs, once=tree.kind in nodes.ONE_SIDED or theirs.once)
    return mine.reading(read & ours.keys()), theirs.reading(place - width for place in read if place >= width)


# --- joins of joins of streams ----------------------------------------------------------------------------------------


def _rows_apart(tree: nodes.Join, demand: Demand, context: RuleContext) -> Operation | None:
    """Joins of joins of streams by the rows of these, of which those between are made again; None for other ones.

    A stream's row is kept as long as a result that it is part of may change.
    """
    if context.one_key is not None or context.is_block(tree):
        return None
    count = apart(context.views.of(with_partners(tree)))
    found = None if count is None else _made_again(tree, demand, context, root=True)
    if found is None or not any(one.inputs for one in found.inputs):
        return None
    states = [OperatorState(tree, "rows", "Lemma 1", (), Entry.SOURCES, count)]
    for relation in (one.tree for one in found.leaves() if is_static(one.tree, context.catalog)):
        view = context.views.of(relation)
        why = WholeView(view)
        size = None if view.rows is None else StateCount(view.rows, Retention.EVER, why=why)
        states.append(OperatorState(tree, "relation", "E1", (), Entry.NUMBER, size))
    return replace(found, states=tuple(states))


def with_partners(tree: nodes.Join) -> nodes.Join:
    """A semi or anti join as a left join, which has its partners' columns; any other join unchanged."""
    return replace(tree, kind=nodes.JoinKind.LEFT) if tree.kind in (nodes.JoinKind.SEMI, nodes.JoinKind.ANTI) else tree


def with_conditions(tree: nodes.Tree) -> nodes.Tree:
    """An inner join with the condition that stands above it; another tree as it is."""
    if (
        not isinstance(tree, nodes.Filter)
        or not isinstance(tree.input, nodes.Join)
        or tree.input.kind is not nodes.JoinKind.INNER
    ):
        return tree
    return replace(tree.input, condition=conjunction([*conjuncts(tree.input.condition), *conjuncts(tree.condition)]))


def _made_again(tree: nodes.Tree, demand: Demand, context: RuleContext, root: bool = False) -> Operation | None:
    """Rows of streams and of relations that do not change, joined, without a state of their own; None for others."""
    if is_static(tree, context.catalog):
        return None if (found := context.below(tree, demand)).undecided else found
    if context.is_block(tree) and (stream := _of_stream(context.below(tree, demand))) is not None:
        return stream
    match with_conditions(tree):
        case nodes.Join(kind=kind, using=(), member=None) as tree if root or kind not in nodes.ONE_SIDED:
            left, pair = context.views.of(tree.left), context.views.pairs(tree)
            demands = sides_of(tree, demand, left, pair)
            below = [_made_again(*one, context) for one in zip((tree.left, tree.right), demands, strict=True)]
            joined = frozenset(n for n, one in enumerate(below) if one is not None and one.inputs)
            if untested(tree.condition, pair, len(left.schema), joined) is not None:
                return None
        case nodes.Alias(input):
            below = [_made_again(input, demand, context)]
        case nodes.Project(input) as tree:
            given = context.views.of(input)
            items = values_of(tree.items, given.schema)
            if any(place_of(items[place], given) is None for place in demand.columns):
                return None
            below = [_made_again(input, of_items(tree, given, demand), context)]
        case _:
            return None
    known = tuple(one for one in below if one is not None)
    return Operation(tree, inputs=known, demand=demand) if len(known) == len(below) else None


def _of_stream(found: Operation) -> Operation | None:
    """A block of one stream's rows, of which it remembers nothing."""
    rows = found.rows
    alone = rows is not None and all(len(branch.sources) == 1 for branch in rows.read.query.branches)
    return found if alone and not found.states and not found.undecided else None


def _is_recursive(tree: nodes.Tree) -> bool:
    """Whether rows are made of those of a recursion, in its step, which reads these and their partners."""
    while isinstance(tree, nodes.Alias | nodes.Filter | nodes.Project):
        tree = tree.input
    if isinstance(tree, nodes.Join) and tree.kind is nodes.JoinKind.INNER:
        return _is_recursive(tree.left) or _is_recursive(tree.right)
    return isinstance(tree, nodes.Recur)


# --- relations as of a time -------------------------------------------------------------------------------------------

_KINDS_AS_OF = (nodes.JoinKind.INNER, nodes.JoinKind.LEFT, nodes.JoinKind.SEMI, nodes.JoinKind.ANTI)


def _as_of(tree: nodes.Join, version: nodes.AsOf, demand: Demand, context: RuleContext) -> Operation:
    """``S JOIN R FOR SYSTEM_TIME AS OF S.ts``: R's rows at the frontier, and nothing of S (E3).

    Whether a row has a partner is decided when it comes, too. Groups of a window as of its end are kept until then:
    until it has passed they change with the relation.
    """
    if tree.kind not in _KINDS_AS_OF or tree.using:
        return without_rule(tree, f"a {tree.kind} join with a version of a relation")
    if (words := _untested(tree, context)) is not None:
        return without_rule(tree, words)
    if not isinstance(version.input, nodes.Scan) or not version.input.changes:
        return without_rule(version, "a version of what is no relation that changes")
    left = context.views.of(tree.left)
    place = place_of(version.time.syntax, left)
    grows = left.change <= ViewKind.APPEND_ONLY
    end = None if place is None or grows else ahead(left.columns[place])
    if place is None or (grows and not left.columns[place].newest) or (not grows and (end is None or context.one_key)):
        words = "a version as of another time than that at which the rows beside it come, or the end of their window"
        help = "below a GROUP BY take each row's, AS OF S.ts; or leave AS OF out, and results change with the relation"
        return without_rule(version, words, help)
    mine, theirs = sides_of(tree, demand, left, context.views.pairs(tree))
    rows = context.views.of(version.input).rows
    count = None if rows is None else StateCount(rows)
    states = [OperatorState(tree, "right", "E3", tuple(sorted(theirs.columns)), Entry.ROW, count)]
    if end is not None:
        mine = mine.reading((place,))
        open = different(_until(end, left, place), mine.columns, (place,))
        words = "rows of the left side change with the relation until their time"
        states.insert(0, OperatorState.of(tree, "left", "E3", mine.columns, Entry.NUMBER, open, left, words))
    below = context.below(tree.left, mine), context.below(version.input, theirs)
    return Operation(tree, tuple(states), below, demand)


def ahead(column: ColumnFacts) -> TimePromise | None:
    """The promise that a row does not change after the time that a column has, which may be a window's end."""
    found = (one for one in column.times if one.source == NOW and one.low is not None and one.low >= 0)
    ends = [one for one in found if not one.function or one.function.endswith((".last", ".end"))]
    return None if column.values.null else max(ends, key=lambda one: one.function, default=None)


def _until(end: TimePromise, view: OperatorView, place: int) -> OperatorView:
    """Rows that may change until the time that a column has."""
    column = view.columns[place]
    others = (one for one in column.times if one.source != NOW)
    column = replace(column, times=promises((*others, replace(end, low=-1 if end.function else 0))))
    return view.narrowed((*view.columns[:place], column, *view.columns[place + 1 :]))
