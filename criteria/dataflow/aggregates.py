"""The rule of groups: one entry per group, and for some aggregates the values of each group.

COUNT, SUM and AVG are sums, which are pushed down: nothing has to remember their arguments (A1). MIN and MAX keep the
best value if rows are never retracted, or the values that may still be retracted (A3, D2). COUNT(DISTINCT) and
percentiles keep all values of a group (A4). A group is dropped when its time is over (A5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, GroupKeeps, KeptValues, computed_of, values_of
from streambound.analyzer.algebra.syntax import scalar_of_column
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.query import Computed, TimeValue
from streambound.criteria.dataflow.blocks import (
    Read,
    RuleContext,
    best_over_join,
    has_sides,
    keeps_matches,
    most_results,
    read_items,
    rows_apart,
    tables,
    unread,
)
from streambound.criteria.dataflow.closing import closings
from streambound.criteria.dataflow.counting import different, least, until_key_ends
from streambound.criteria.dataflow.demand import Demand
from streambound.criteria.dataflow.key_places import ending_keys
from streambound.criteria.dataflow.state import (
    BlockSums,
    Entry,
    Operation,
    OperatorState,
    PassedGroups,
    Retention,
    StateCount,
    Undecided,
    better,
    smaller,
    without_rule,
)
from streambound.criteria.dataflow.sums import sums_of
from streambound.criteria.dataflow.view import VALUES_OF_SESSION, OperatorView, Places, place_of
from streambound.criteria.dataflow.views import ends_of_sessions, is_session, longest_sessions
from streambound.criteria.dataflow.windows import in_buckets
from streambound.criteria.size import Number
from streambound.preprocess.pipeline import Derivation

ENDS = ("start", "end", "last")
"""The ends of a bucket, in the order in which it has them as columns."""
_ENDLESS = "an array of all rows of a group that never ends grows for ever"
_WINDOW = "group by a window of time, too, as GROUP BY k, window(ts, '1 hour')"
_MIDNIGHT = "let sessions end at midnight: GROUP BY k, date(ts), session_window(ts, '10 minutes')"
_BY_HAND = (
    "number the sessions, and group by the numbers: LAG(ts) OVER (PARTITION BY k ORDER BY ts) AS before, then SUM(CASE "
    "WHEN ts - before > INTERVAL 10 MINUTES THEN 1 ELSE 0 END) OVER (PARTITION BY k ORDER BY ts) AS n … GROUP BY k, n"
)
_BOTH_ENDS = "add GROUP BY session_window(ts, '5 minutes'), and compute of its start and end above the groups"
_ONE = StateCount(Number(1), Retention.EVER)
_GROUPS_GO = {Retention.TIME: "A5", Retention.KEY: "K1", Retention.PASSED: "A6"}
"""The propositions by which groups are not kept for ever."""


class Valued(Struct, frozen=True):
    """An aggregate that is computed of ``kept`` values, for the rows that ``where`` lets pass."""

    call: nodes.AggregateCall
    kept: KeptValues
    value: exp.Expr
    where: exp.Expr | None

    @property
    def read(self) -> tuple[exp.Expr, ...]:
        """What it is computed of: the values, and what matters beside them."""
        return tuple(one.syntax for one in computed_of(self.call))

    @property
    def greatest(self) -> bool | None:
        """Whether only the greatest value matters (True), or the least one (False)."""
        return self.kept.greatest


def valued(call: nodes.AggregateCall) -> Valued | Undecided | None:
    """A call that is computed of values; None for a linear one."""
    match values_of(call):
        case KeptValues() as kept:
            where = None if call.filter is None else call.filter.syntax
            return Valued(call, kept, kept.value.syntax, where)
        case None:
            return None
        case other:
            return Undecided(call, other.words, other.help)


def aggregate(tree: nodes.Aggregate, demand: Demand, context: RuleContext) -> Operation:
    """The states of groups: as sums in one block, or over its rows, which sides of a union or ending keys may keep."""
    found, block = _groups(tree, demand, context), _block_below(tree, context)
    if block is None:
        return found
    by_sides = has_sides(block) and any(map(keeps_matches, found.inputs))
    by_keys = found.entries is None and any(ending_keys(block, context))
    return better(found, _groups(tree, demand, context, of_rows=True)) if by_sides or by_keys else found


def _groups(tree: nodes.Aggregate, demand: Demand, context: RuleContext, of_rows: bool = False) -> Operation:
    given = context.views.of(tree.input)
    if isinstance(tree.input, nodes.Bucket):  # rows move from one session to another, but are not retracted themselves
        given = replace(given, change=context.views.of(tree.input.input).change)
    width = len(tree.keys)
    calls = [call for place, call in enumerate(tree.calls, width) if place in demand.columns]
    read = [valued(call) for call in calls]
    outside = [one for one in read if isinstance(one, Undecided)]
    if outside:
        return Operation(tree, demand=demand, undecided=tuple(outside))
    of_values = [one for one in read if isinstance(one, Valued)]
    linear = [call for call, one in zip(calls, read, strict=True) if one is None]
    block = _block_below(tree, context)
    sums = None if block is None else sums_of(linear, block, context)
    if isinstance(sums, Undecided):
        return Operation(tree, demand=demand, undecided=(sums,))
    # Arguments that do not factor are of rows, as those over another view, and so are sums by what is computed of rows
    # of several streams, and keys without a bucket's ends.
    of_rows = of_rows or sums is None or not _keys_have_ends(tree) or _sums_by_pairs(tree, block, sums, context)
    of_rows = of_rows or any(one.kept.beside is not None for one in of_values)
    body = None if of_rows else block
    if is_session(tree.input) and given.change > ViewKind.APPEND_ONLY:
        return without_rule(tree, "sessions of rows that may be taken back", _BY_HAND)
    if is_session(tree.input) and not _keys_have_ends(tree):
        return without_rule(tree, "sessions without both of their ends as keys", _BOTH_ENDS)
    words = unread(given, *_expressions(tree, linear, of_values)) if body is None else None
    if words is not None:
        return without_rule(tree, words)
    keyed = keyed_rows(tree)
    count = _ONE if not tree.keys else _count(tree, keyed, block, context, demand.final)
    proposition = "A1" if count is None else _GROUPS_GO.get(count.retention, "A1")
    words, view = "there is an entry for each value of the key", context.views.of(tree)
    states = [OperatorState.of(tree, "groups", proposition, range(width), Entry.SUMS, count, view, words)]
    for one in of_values:
        is_array = AGGREGATES[one.call.function].kept is GroupKeeps.ELEMENTS
        kept = _values(tree, one, body, given, context, demand.final or is_array, is_array)
        if is_array and not all(map(_ends, kept)):
            help = _MIDNIGHT if is_session(tree.input) else _WINDOW
            return Operation(tree, demand=demand, undecided=(Undecided(one.call, _ENDLESS, help),))
        states += kept
    if body is None or sums is None:
        values = [one.count.closing for one in states if one.entry is Entry.OPEN_VALUES and one.count is not None]
        closing = frozenset(one.place for one in values if one is not None)
        below = [_needed(tree, linear, of_values, given, closing, context)]
        return Operation(tree, tuple(states), tuple(below), demand)
    below = [_block(tree, body, sums, bool(of_values) and not linear, context)]
    below += [_block_of_values(tree, one, body, context) for one in of_values]
    return Operation(tree, tuple(states), tuple(below), demand, sums=sums)


def _expressions(
    tree: nodes.Aggregate, linear: Sequence[nodes.AggregateCall], of_values: Sequence[Valued]
) -> Iterator[nodes.Scalar | exp.Expr | None]:
    """The expressions of keys and aggregates."""
    yield from (key.value for key in tree.keys)
    for call in linear:
        yield from (*call.arguments, call.filter)
    for one in of_values:
        yield from (*one.read, one.where)


def keyed_rows(tree: nodes.Aggregate) -> nodes.Project:
    """The keys of each row that groups are of."""
    return _keyed(tree, tree.input, ())


def _keyed(tree: nodes.Aggregate, below: nodes.Tree, more: Sequence[exp.Expr]) -> nodes.Project:
    """The groups' keys, with more columns, as a select list over rows."""
    items = [nodes.Named(f"_k{n}", key.value, alias=True) for n, key in enumerate(tree.keys)]
    items += [nodes.Named(f"_v{n}", nodes.Scalar(one), alias=True) for n, one in enumerate(more)]
    return nodes.Project(below, tuple(items), syntax=tree.syntax)


# --- over a block -----------------------------------------------------------------------------------------------------


def _block_below(tree: nodes.Aggregate, context: RuleContext) -> nodes.Tree | None:
    """The block that groups are of, below their buckets of time; None where they are of another view."""
    body = tree.input.input if isinstance(tree.input, nodes.Bucket) else tree.input
    return body if context.is_block(body) else None


def _block(tree: nodes.Aggregate, body: nodes.Tree, sums: BlockSums, once: bool, context: RuleContext) -> Operation:
    """The tables of a block with the groups' keys, and sums of its rows."""
    once = once or not tree.calls
    read = read_items(body, block_keys(tree)[0], context, once, sums.products)
    if isinstance(read, Undecided):
        return Operation(body, undecided=(read,))
    found = tables(read, once, body, "A1", counted=True, stamped=_closes(tree, context))
    return better(found, rows_apart(body, read, context) or found)


def _sums_by_pairs(tree: nodes.Aggregate, block: nodes.Tree | None, sums: BlockSums, context: RuleContext) -> bool:
    """Whether there are sums by a key that is computed of rows of several streams: a block has no columns for these."""
    keys = block_keys(tree)[0]
    if block is None or not sums.products or all(isinstance(key.value.syntax, exp.Column) for key in keys):
        return False
    read = read_items(block, keys, context)
    outputs = [] if isinstance(read, Undecided) else [one for branch in read.split.branches for one in branch.outputs]
    return any(isinstance(one.value, Computed) for one in outputs)


def _keys_have_ends(tree: nodes.Aggregate) -> bool:
    """Whether groups of buckets have ends of these as keys, both of a session, and nothing that is computed of ends."""
    if not isinstance(tree.input, nodes.Bucket):
        return True
    _, keys = block_keys(tree)
    ends = {key for key in keys if isinstance(key, str)}
    return None not in keys and (ENDS[0] in ends and ENDS[1] in ends if is_session(tree.input) else bool(ends))


def _closes(tree: nodes.Aggregate, context: RuleContext) -> bool:
    """Whether a time says when groups go."""
    return any(True for _ in closings(context.views.of(keyed_rows(tree))))


def block_keys(tree: nodes.Aggregate) -> tuple[list[nodes.Named], list[int | str | None]]:
    """The columns of a block that keys are made of, and what each key is: one of these, or an end of its bucket.

    A key that is computed of the ends of a bucket is None: its column of the block is the time.
    """
    bucket = tree.input if isinstance(tree.input, nodes.Bucket) else None
    ends = {} if bucket is None else dict(zip(map(str.lower, bucket.columns), ENDS, strict=False))
    found: dict[str, exp.Expr] = {}
    keys = list[int | str | None]()
    for node in (key.value.syntax.unnest() for key in tree.keys):
        read = [ends[column.name.lower()] for column in node.find_all(exp.Column) if column.name.lower() in ends]
        value = bucket.time.syntax if bucket is not None and read else node
        found.setdefault(value.sql("spark"), value)
        place: int | str = [*found].index(value.sql("spark"))
        keys.append(place if not read else read[0] if isinstance(node, exp.Column) else None)
    return [nodes.Named(f"_k{n}", nodes.Scalar(node), alias=True) for n, node in enumerate(found.values())], keys


# --- counts -----------------------------------------------------------------------------------------------------------


def _count(
    tree: nodes.Aggregate,
    keyed: nodes.Project,
    body: nodes.Tree | None,
    context: RuleContext,
    final: bool = False,
    ending: bool = False,
) -> StateCount | None:
    """How many groups there are, or values of more columns in them: they go when the key's time is over.

    ``final``: rather groups that go than fewer ones; ``ending``: sessions that do not last for ever.
    """
    bucket = tree.input if isinstance(tree.input, nodes.Bucket) else None
    if is_session(tree.input):
        sessions = _sessions(tree, tree.input, context.views.of(keyed), context, ending)
        rows = (different(view, view.every, range(len(tree.keys))) for view in sessions)
        return least(one for one in rows if one is not None)
    given = context.views.of(keyed.input)
    own = [nodes.Named(f"c{n}", scalar_of_column(one), alias=True) for n, one in enumerate(given.schema)]
    whole = context.views.of(replace(keyed, items=(*own, *keyed.items)))
    keys = range(len(own), len(own) + len(tree.keys))
    found = until_key_ends(whole, range(len(own), len(whole.schema)), keys, final)
    if final and found is not None and found.retention is not Retention.PRESENT:
        return _at_keys(found, len(own))
    counts = [None if found is None else _at_keys(found, len(own)), _passed(tree, whole, given, len(own))]
    if body is not None and bucket is None:
        read = read_items(keyed.input, [item for item in keyed.items if isinstance(item, nodes.Named)], context, True)
        counts.insert(0, most_results(read))
    return least(count for count in counts if count is not None)


def _passed(tree: nodes.Aggregate, keyed: OperatorView, given: OperatorView, first: int) -> StateCount | None:
    """A group, or its values, for each value of the other keys, as one key never falls: its lesser values are over."""
    if given.change > ViewKind.APPEND_ONLY:
        return None
    places = [place_of(key.value.syntax, given) for key in tree.keys]
    divided = [place_of(_divided(key.value.syntax), given) for key in tree.keys]
    for rising in given.rising:
        key = next((n for n, place in enumerate(divided) if place == rising.place), None)
        if key is None or not rising.within <= {*places}:
            continue
        keys = frozenset(range(first, first + len(tree.keys))) - {first + key}
        others = different(keyed, keys | frozenset(range(first + len(tree.keys), len(keyed.schema))), keys)
        if others is not None and others.closing is None:
            return StateCount(others.size, Retention.PASSED, why=PassedGroups(others, key, rising))
    return None


def _divided(node: exp.Expr) -> exp.Expr:
    """What ``x DIV 1000`` divides, or the expression itself: neither falls where the other does not."""
    while isinstance(node := node.unnest(), exp.IntDiv) and isinstance(node.expression.unnest(), exp.Literal):
        node = node.this
    return node


def _at_keys(count: StateCount, first: int) -> StateCount:
    """A count whose closing column is a key, or that has an ending one, by the keys' places, from the ``first`` on."""
    if count.closing is not None:
        count = replace(count, closing=replace(count.closing, place=count.closing.place - first))
    if count.held is not None:
        count = replace(count, held=replace(count.held, places=tuple(place - first for place in count.held.places)))
    return count


def _sessions(
    tree: nodes.Aggregate, bucket: nodes.Bucket, view: OperatorView, context: RuleContext, ending: bool
) -> Iterator[OperatorView]:
    """Sessions, each made of its last row, which has its keys; of more columns a session has several values.

    Also the rows of sessions that a key ends, each with these values; ``ending``: these alone.
    """
    width, rows = len(tree.keys), context.views.of(bucket.input)
    if not ending:
        yield _last_rows(view, bucket, rows, width)
    lengths = longest_sessions(view.columns[:width])
    if lengths and len(view.columns) > width:
        yield view.narrowed(ends_of_sessions(view.columns, bucket, rows, lengths))


def _last_rows(view: OperatorView, bucket: nodes.Bucket, rows: OperatorView, width: int) -> OperatorView:
    """Sessions by their last rows, each of which is of one part of a union."""
    no_row = frozenset((VALUES_OF_SESSION,))
    origins = (*view.origins[:width], *(no_row for _ in view.origins[width:]))
    several = zip(view.parts, rows.parts, strict=True)
    parts = tuple(_last_rows(part, bucket, own, width) for part, own in several)
    return replace(view.narrowed(ends_of_sessions(view.columns, bucket, rows)), origins=origins, parts=parts)


def _values(
    tree: nodes.Aggregate,
    one: Valued,
    body: nodes.Tree | None,
    given: OperatorView,
    context: RuleContext,
    final: bool,
    ending: bool,
) -> tuple[OperatorState, ...]:
    """The values of an aggregate, by group."""
    below: nodes.Tree = tree.input if one.where is None else _filtered(tree, one.where)
    known = {key.value.text for key in tree.keys}
    keyed = _keyed(tree, below, [value for value in one.read if nodes.Scalar(value).text not in known])
    width = len(tree.keys)
    if one.greatest is not None and given.change <= ViewKind.APPEND_ONLY:
        return ()  # the best one is in the group's entry
    counted = None if one.where is not None and isinstance(tree.input, nodes.Bucket) else body
    count = _count(tree, keyed, counted, context, final, ending)
    entry = Entry.VALUES
    if one.greatest is not None:
        read = given.read_by(*(key.value for key in tree.keys), *one.read, one.where)
        rows = different(given, read, given.every)
        if rows is not None and (count is None or smaller(rows.size, count.size)):
            count, entry = rows, Entry.VALUES if rows.closing is None else Entry.OPEN_VALUES
    places = (*range(width), *(p for p, call in enumerate(tree.calls, width) if call is one.call))
    proposition = "D6" if given.change > ViewKind.APPEND_ONLY else "A4"
    return (OperatorState.of(tree, "values", proposition, places, entry, count, context.views.of(tree), "all values"),)


def _ends(values: OperatorState) -> bool:
    """Whether every group with these values ends with time; one of a key that may end is not known to."""
    return values.count is not None and values.count.retention is Retention.TIME


def _filtered(tree: nodes.Aggregate, where: exp.Expr) -> nodes.Tree:
    return nodes.Filter(tree.input, nodes.Scalar(where), syntax=tree.input.syntax or tree.syntax)


def _block_of_values(tree: nodes.Aggregate, one: Valued, body: nodes.Tree, context: RuleContext) -> Operation:
    """The tables of the block that gives the values of an aggregate, by group."""
    below = (
        body if one.where is None else nodes.Filter(body, nodes.Scalar(one.where), syntax=body.syntax or tree.syntax)
    )
    stamped = _closes(tree, context)
    read = _read_values(tree, one.value, below, not one.kept.counted, context)
    if isinstance(read, Derivation) and one.greatest is not None and _is_time(read):
        there = exp.Not(this=exp.Is(this=exp.paren(one.value.copy()), expression=exp.Null()))
        value = exp.Case(ifs=[exp.If(this=there, true=one.value.copy())])
        read = _read_values(tree, value, below, not one.kept.counted, context)
    if isinstance(read, Undecided):
        return Operation(below, undecided=(read,))
    if one.greatest is not None and not stamped:
        best = best_over_join(read, one.greatest, below)
        if best is not None:
            return best
    found = tables(read, not one.kept.counted, below, "A4", counted=True, stamped=stamped)
    return better(found, rows_apart(below, read, context) or found)


def _read_values(
    tree: nodes.Aggregate, value: exp.Expr, below: nodes.Tree, distinct: bool, context: RuleContext
) -> Read:
    items, _ = block_keys(tree)
    return read_items(below, [*items, nodes.Named("_v", nodes.Scalar(value), alias=True)], context, distinct)


def _is_time(read: Derivation) -> bool:
    """Whether the last column is a time. Its best value is kept as that of a computed column is."""
    return any(
        isinstance(value := branch.outputs[-1].value, TimeValue) and value.minus is None
        for branch in read.split.branches
    )


# --- demand -----------------------------------------------------------------------------------------------------------


def _needed(
    tree: nodes.Aggregate,
    linear: Sequence[nodes.AggregateCall],
    of_values: Sequence[Valued],
    given: OperatorView,
    closing: Places,
    context: RuleContext,
) -> Operation:
    """The operator below, under a demand for the columns of keys and of aggregates."""
    columns = given.read_by(*(key.value for key in tree.keys))
    columns = columns.union(*(given.read_by(*one.read, one.where) for one in of_values))
    columns = columns.union(*(given.read_by(*call.arguments, call.filter) for call in linear))
    needed = Demand(columns | closing)
    return in_buckets(tree.input, needed, context) if is_session(tree.input) else context.below(tree.input, needed)
