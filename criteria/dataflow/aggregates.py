"""The rule of groups: one entry per group, and for some aggregates the values of each group.

COUNT, SUM and AVG are sums, which are pushed down: nothing has to remember their arguments (A1). MIN and MAX keep the
best value if rows are never retracted, or the values that may still be retracted (A3, D2). COUNT(DISTINCT) and
percentiles keep all values of a group (A4). A group is dropped when its time is over (A5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Bucket,
    BucketKind,
    Filter,
    Named,
    Project,
    Tree,
)
from streambound.analyzer.algebra.percentiles import NoPercentileError, Percentile, percentile_of
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.view_facts import NOW, TimePromise, ViewKind, promises
from streambound.analyzer.query import TimeValue
from streambound.criteria.dataflow.blocks import (
    Read,
    RuleContext,
    best_over_join,
    most_results,
    read_items,
    rows_apart,
    tables,
)
from streambound.criteria.dataflow.closing import closings
from streambound.criteria.dataflow.counting import different, least, unsettled, until_key_ends
from streambound.criteria.dataflow.demand import Demand, Factor, factors_of
from streambound.criteria.dataflow.state import (
    BlockSums,
    Entry,
    Operation,
    OperatorState,
    Reason,
    Retention,
    StateCount,
    Undecided,
    better,
)
from streambound.criteria.dataflow.sums import sums_of
from streambound.criteria.dataflow.syntax import scalar_of, scalar_of_column
from streambound.criteria.dataflow.view import OperatorView
from streambound.criteria.size import Number
from streambound.preprocess.pipeline import Derivation

LINEAR = ("COUNT", "SUM", "AVG", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
_ONE = StateCount(Number(1), Reason.ROWS, Retention.EVER)


@dataclass(frozen=True, slots=True)
class Valued:
    """An aggregate that is computed of values: of ``value``, for the rows that ``where`` lets pass.

    ``greatest``: only the greatest value (True) or the least one (False) matters. ``counted``: how often each is there.
    """

    call: AggregateCall
    value: exp.Expr
    where: exp.Expr | None
    greatest: bool | None = None
    counted: bool = False


def valued(call: AggregateCall) -> Valued | Undecided | None:
    """A call that is computed of values; None for a linear one."""
    where = None if call.filter is None else parsed(call.filter)
    try:
        percentile = percentile_of(call)
    except NoPercentileError as error:
        return Undecided(call, str(error))
    if percentile is not None:
        return _percentile(call, percentile, where)
    if call.function in ("MIN", "MAX") and len(call.arguments) == 1:
        return Valued(call, parsed(call.arguments[0]), where, call.function == "MAX")
    if call.function not in LINEAR or call.order:
        return Undecided(call, f"the aggregate {call.function}")
    if not call.distinct:
        return None
    if len(call.arguments) != 1:
        return Undecided(call, f"{call.function} of several distinct arguments")
    return Valued(call, parsed(call.arguments[0]), where)


def _percentile(call: AggregateCall, percentile: Percentile, where: exp.Expr | None) -> Valued:
    value, extreme = parsed(percentile.value), percentile.extreme
    greatest = None if extreme is None else extreme == "MAX"
    return Valued(call, value, where, greatest, extreme is None and not call.distinct)


def aggregate(tree: Aggregate, demand: Demand, context: RuleContext) -> Operation:
    """What groups remember, and their rows."""
    given = context.views.of(tree.input)
    if isinstance(tree.input, Bucket):  # rows move from one session to another, but are not retracted themselves
        given = replace(given, change=context.views.of(tree.input.input).change)
    width = len(tree.keys)
    calls = [call for place, call in enumerate(tree.calls, width) if place in demand.every]
    read = [valued(call) for call in calls]
    outside = [one for one in read if isinstance(one, Undecided)]
    if outside:
        return Operation(tree, demand=demand, undecided=tuple(outside))
    of_values = [one for one in read if isinstance(one, Valued)]
    linear = [call for call, one in zip(calls, read, strict=True) if one is None]
    body = _block_below(tree, context)
    keyed = _keyed(tree, tree.input, ())
    count = _ONE if not tree.keys else _count(tree, keyed, body, context)
    states = [_state(tree, "groups", "A1", range(width), Entry.SUMS, count, context)]
    states += [state for one in of_values for state in _values(tree, one, body, given, context)]
    if body is None:
        below = [_needed(tree, linear, of_values, given, context)]
        return Operation(tree, tuple(states), tuple(below), demand)
    sums = sums_of(linear, body, context)
    if isinstance(sums, Undecided):
        return Operation(tree, demand=demand, undecided=(sums,))
    below = [_block(tree, body, linear, sums, bool(of_values) and not linear, context)]
    below += [_block_of_values(tree, one, body, context) for one in of_values]
    return Operation(tree, tuple(states), tuple(below), demand, sums=sums)


def _state(
    tree: Aggregate,
    what: str,
    proposition: str,
    key: Sequence[int],
    entry: Entry,
    count: StateCount | None,
    context: RuleContext,
) -> OperatorState:
    words = (
        "" if count is not None else "there is an entry for each value of the key" if what == "groups" else "all values"
    )
    columns = context.views.of(tree).columns
    blame = None if count is not None else next((p for p in key if columns[p].values.size is None), None)
    return OperatorState(tree, what, proposition, tuple(key), entry, count, blame, words)


def _keyed(tree: Aggregate, below: Tree, more: Sequence[exp.Expr]) -> Project:
    """The groups' keys, with more columns, as a select list over rows."""
    items = [Named(f"_k{n}", key.value, alias=True) for n, key in enumerate(tree.keys)]
    items += [Named(f"_v{n}", scalar_of(one), alias=True) for n, one in enumerate(more)]
    return Project(below, tuple(items), syntax=tree.syntax)


# --- over a block -----------------------------------------------------------------------------------------------------


def _block_below(tree: Aggregate, context: RuleContext) -> Tree | None:
    """The block that groups are of, below their buckets of time; None where they are of another view."""
    body = tree.input.input if isinstance(tree.input, Bucket) else tree.input
    return body if context.is_block(body) else None


def _block(
    tree: Aggregate,
    body: Tree,
    linear: Sequence[AggregateCall],
    sums: BlockSums | None,
    once: bool,
    context: RuleContext,
) -> Operation:
    """The tables of a block of which only the keys are needed; with sums, or what linear aggregates are computed of."""
    once = once or not tree.calls
    items = [*(parsed(key.value) for key in tree.keys), *(_joined(linear) if sums is None else ())]
    read = read_items(body, _without_buckets(tree, items), context, once, () if sums is None else sums.products)
    if isinstance(read, Undecided):
        return Operation(body, undecided=(read,))
    found = tables(read, once, body, "A1", counted=True, stamped=_closes(tree, context))
    return better(found, rows_apart(body, context) or found)


def _closes(tree: Aggregate, context: RuleContext) -> bool:
    """Whether a time says when groups go."""
    return any(True for _ in closings(context.views.of(_keyed(tree, tree.input, ()))))


def _without_buckets(tree: Aggregate, nodes: Sequence[exp.Expr]) -> list[Named]:
    """Expressions over a block, with the time of a bucket for those that read it."""
    bucket = tree.input if isinstance(tree.input, Bucket) else None
    names = set[str]() if bucket is None else {name.lower() for name in bucket.columns}
    found: list[exp.Expr] = []
    for node in nodes:
        reads = any(column.name.lower() in names for column in node.find_all(exp.Column))
        found.append(parsed(bucket.time) if reads and bucket is not None else node)
    distinct = list({node.sql("spark"): node for node in found}.values())
    return [Named(f"_k{n}", scalar_of(node), alias=True) for n, node in enumerate(distinct)]


def _joined(linear: Sequence[AggregateCall]) -> list[exp.Expr]:
    """The columns of arguments of which some do not factor: they are joined (A2)."""
    read = [parsed(one) for call in linear for one in (*call.arguments, *([call.filter] if call.filter else []))]
    found = {column.sql("spark"): column for node in read for column in node.find_all(exp.Column)}
    return list(found.values())


# --- counts -----------------------------------------------------------------------------------------------------------


def _count(tree: Aggregate, keyed: Project, body: Tree | None, context: RuleContext) -> StateCount | None:
    """How many groups there are, or values of more columns in them: they go when the key's time is over."""
    bucket = tree.input if isinstance(tree.input, Bucket) else None
    if bucket is not None and bucket.kind is BucketKind.SESSION:
        view = _sessions(tree, bucket, context.views.of(keyed), context)
        return different(view, view.every, range(len(tree.keys)))
    given = context.views.of(keyed.input)
    own = [Named(f"c{n}", scalar_of_column(one), alias=True) for n, one in enumerate(given.schema)]
    whole = context.views.of(replace(keyed, items=(*own, *keyed.items)))
    counts = [until_key_ends(whole, range(len(own), len(whole.schema)), range(len(own), len(own) + len(tree.keys)))]
    if body is not None and bucket is None:
        read = read_items(keyed.input, [item for item in keyed.items if isinstance(item, Named)], context, True)
        size = None if isinstance(read, Undecided) else most_results(read)
        counts.insert(0, None if size is None else StateCount(size, Reason.BLOCK))
    return least(count for count in counts if count is not None)


def _sessions(tree: Aggregate, bucket: Bucket, view: OperatorView, context: RuleContext) -> OperatorView:
    """Sessions, each made of its last row, which has its keys: it ends ``size`` after that."""
    given = context.views.of(bucket.input)
    time = given.read_by(bucket.time)
    own = [one for place in time for one in given.columns[place].times if one.source != NOW and not one.function]
    end = tuple(TimePromise(one.source, one.low, None if one.high is None else one.high + bucket.size) for one in own)
    columns = tuple(
        replace(one, times=promises((*one.times, *end)))
        if any(t.source == NOW and t.low is not None for t in one.times)
        else one
        for one in view.columns
    )
    origins = [
        frozenset(("values of a session",)) if place >= len(tree.keys) else one
        for place, one in enumerate(view.origins)
    ]
    return replace(view.narrowed(columns), origins=tuple(origins))


def _values(
    tree: Aggregate, one: Valued, body: Tree | None, given: OperatorView, context: RuleContext
) -> tuple[OperatorState, ...]:
    """The values of an aggregate, by group."""
    below: Tree = tree.input if one.where is None else _filtered(tree, one.where)
    is_key = any(scalar_of(one.value).text == key.value.text for key in tree.keys)
    keyed = _keyed(tree, below, [] if is_key else [one.value])
    width = len(tree.keys)
    if one.greatest is not None and given.change <= ViewKind.APPEND_ONLY:
        return ()  # the best one is in the group's entry
    counted = None if one.where is not None and isinstance(tree.input, Bucket) else body
    counts = [_count(tree, keyed, counted, context)]
    if one.greatest is not None:
        rows = unsettled(given, given.read_by(*(key.value for key in tree.keys), one.value, one.where))
        counts.append(rows)
    count = least(each for each in counts if each is not None)
    places = (*range(width), *(p for p, call in enumerate(tree.calls, width) if call is one.call))
    proposition = "D6" if given.change > ViewKind.APPEND_ONLY else "A4"
    return (_state(tree, "values", proposition, places, Entry.VALUES, count, context),)


def _filtered(tree: Aggregate, where: exp.Expr) -> Tree:
    return Filter(tree.input, scalar_of(where), syntax=tree.input.syntax or tree.syntax)


def _block_of_values(tree: Aggregate, one: Valued, body: Tree, context: RuleContext) -> Operation:
    """The tables of the block that gives the values of an aggregate, by group."""
    below = body if one.where is None else Filter(body, scalar_of(one.where), syntax=body.syntax or tree.syntax)
    stamped = _closes(tree, context)
    read = _read_values(tree, one.value, below, not one.counted, context)
    if isinstance(read, Derivation) and one.greatest is not None and _is_time(read):
        there = exp.Not(this=exp.Is(this=exp.paren(one.value.copy()), expression=exp.Null()))
        value = exp.Case(ifs=[exp.If(this=there, true=one.value.copy())])
        read = _read_values(tree, value, below, not one.counted, context)
    if isinstance(read, Undecided):
        return Operation(below, undecided=(read,))
    if one.greatest is not None and not stamped:
        best = best_over_join(read, one.greatest, below)
        if best is not None:
            return best
    return tables(read, not one.counted, below, "A4", counted=True, stamped=stamped)


def _read_values(tree: Aggregate, value: exp.Expr, below: Tree, distinct: bool, context: RuleContext) -> Read:
    items = _without_buckets(tree, [parsed(key.value) for key in tree.keys])
    return read_items(below, [*items, Named("_v", scalar_of(value), alias=True)], context, distinct)


def _is_time(read: Derivation) -> bool:
    """Whether the last column is a time, of which the best is a value as others are: it is made a computed column."""
    return any(
        isinstance(value := branch.outputs[-1].value, TimeValue) and value.minus is None
        for branch in read.split.branches
    )


# --- demand -----------------------------------------------------------------------------------------------------------


def _needed(
    tree: Aggregate,
    linear: Sequence[AggregateCall],
    of_values: Sequence[Valued],
    given: OperatorView,
    context: RuleContext,
) -> Operation:
    """What is below: keys and values are needed, of linear aggregates sums of products."""
    columns = given.read_by(*(key.value for key in tree.keys))
    columns = columns.union(*(given.read_by(one.value, one.where) for one in of_values))
    factors = set[Factor]()
    for call in linear:
        for node in [parsed(argument) for argument in call.arguments]:
            known = factors_of(node, given)
            columns |= given.read_by(node) if known is None else frozenset()
            factors |= known or set()
        if call.filter is not None:
            columns |= given.read_by(call.filter)
    return context.below(tree.input, Demand(columns, frozenset(factors)))
