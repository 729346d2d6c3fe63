"""Groups: an entry a group (A1), the values of aggregates that are computed of values (A4, D6), the best ones (A3)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import KeptValues, NoAggregate, computed_of, values_of
from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Bucket, Named, Scalar
from streambound.analyzer.algebra.value_sets import Number
from streambound.analyzer.algebra.window_functions import never_falls
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Comparison, Kind, Op, Query, Source, TimeValue, conjunction
from streambound.preprocess.pipeline import derive
from streambound.preprocess.trees.polynomials import expanded
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation.claims import ClaimedOperation, ClaimedStateCount, NotCheckedError
from streambound.recheck.derivation.counts import CountedColumns, counted
from streambound.recheck.derivation.operations import ExpectedState, Needed, OperationChecker, require
from streambound.recheck.derivation.operators import in_buckets
from streambound.recheck.derivation.plan import PlanNode, filtered_by, is_session, keyed, origin, value_of
from streambound.recheck.derivation.rows import only_grows, says_all

_NEWEST = "(newest)"


def groups(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """One GROUP BY, over a block, of which sums are pushed below its joins, or over another view."""
    tree, below = node.tree, node.below
    assert isinstance(tree, Aggregate), "its rule"
    width, body = len(tree.keys), below.below if isinstance(below.tree, Bucket) else below
    calls = [(place, call) for place, call in enumerate(tree.calls) if place + width in claim.columns]
    valued = [(place, call) for place, call in calls if is_valued(call)]
    linear = [call for _, call in calls if not is_valued(call)]
    settled = only_grows(below.below if is_session(below.tree) else below)  # sessions' rows move, but do not go
    ends = {below.below.width, below.below.width + 1} if is_session(below.tree) else set()
    if ends and not (settled and ends <= {below.place_of(key.value) for key in tree.keys}):
        raise RejectedError("sessions of rows that go, or without their ends as keys")
    states = [_groups(operations, node, tree, claim)]
    for place, call in valued:
        if greatest(call) is None or not settled:
            states.append(_values(operations, node, tree, claim, place, len(states), "A4" if settled else "D6"))
    operations.states(claim, *states)
    if claim.rule != "sums":
        columns = below.read_by(*(key.value for key in tree.keys))
        for _, call in calls:
            columns |= below.read_by(*call.arguments, call.filter, *(computed_of(call) if is_valued(call) else ()))
        if not is_session(below.tree):
            return operations.inputs(claim, (below, Needed(columns)))
        if len(claim.inputs) != 1 or claim.inputs[0].rule != "operator" or claim.inputs[0].block is not None:
            raise RejectedError("sessions of no rows")
        require(Needed(columns), claim.inputs[0], below)
        return in_buckets(operations, below, claim.inputs[0])
    if not operations.is_block(body) or not all(_factors(call, body) for call in linear):
        raise RejectedError("sums of what are no products of a block's rows")
    if len(claim.inputs) != 1 + len(valued):
        raise RejectedError("groups, and values, are of a number of blocks")
    keys, once = _without_buckets(tree), (bool(valued) and not linear) or not tree.calls
    _tables(operations, body, body, keys, once, claim.inputs[0], "A1", any(map(_is_summed, linear)))
    for (_, call), one in zip(valued, claim.inputs[1:], strict=True):
        _block_of_values(operations, body, tree, call, one)
    return None


def is_valued(call: AggregateCall) -> bool:
    """Whether an aggregate is computed of values; raises NotCheckedError for one of which nothing is known."""
    found = values_of(call)
    if isinstance(found, NoAggregate):
        raise NotCheckedError(found.words or f"the aggregate {call.function}")
    return found is not None


def greatest(call: AggregateCall) -> bool | None:
    """Whether the greatest value alone matters, or the least one alone; None where others do."""
    found = values_of(call)
    return found.greatest if isinstance(found, KeptValues) else None


# --- states -----------------------------------------------------------------------------------------------------------


def _groups(operations: OperationChecker, node: PlanNode, tree: Aggregate, claim: ClaimedOperation) -> ExpectedState:
    rows, width = keyed(node, own=not is_session(node.below.tree)), len(tree.keys)
    keys = frozenset(range(rows.width - width, rows.width))
    if claim.count(0).rule == "passed":
        size = _passed(operations, node, tree, claim.count(0), counted(rows, keys, keys))
    else:
        size = operations.counted(claim, 0, counted(rows, keys, keys), _results(operations, node, rows, width))
    proposition = {"time": "A5", "key": "K1", "passed": "A6"}.get(claim.count(0).goes, "A1")
    return ExpectedState("groups", proposition, size)


def _values(
    operations: OperationChecker, node: PlanNode, tree: Aggregate, claim: ClaimedOperation, place: int, number: int,
    proposition: str,
) -> ExpectedState:  # fmt: skip
    """The values of an aggregate, by group; of the best ones those that are open."""
    below, width, call = node.below, len(tree.keys), tree.calls[place]
    rows = keyed(node, place, own=not is_session(below.tree))
    first = 0 if is_session(below.tree) else below.width
    columns = counted(rows, frozenset(range(first, rows.width)), frozenset(range(first, first + width)))
    count = claim.count(number)
    lasting = is_session(below.tree) and all(len(one.facts) != 3 for one in count.sources)
    if call.function == "ARRAY_AGG" and (lasting or count.goes != "time"):
        raise RejectedError("an array of all rows of a group that never ends")
    if count.rule == "passed":
        return ExpectedState("values", proposition, _passed(operations, node, tree, count, columns))
    if greatest(call) is not None and count.rule != "results" and operations.counts.is_of(count, below):
        read = below.read_by(*(key.value for key in tree.keys), *computed_of(call), call.filter)
        columns = counted(below, read, below.every)
    results = _results(operations, node, rows, rows.width - first)
    return ExpectedState("values", proposition, operations.counted(claim, number, columns, results))


def _passed(
    operations: OperationChecker, node: PlanNode, tree: Aggregate, count: ClaimedStateCount, columns: CountedColumns
) -> Quantity:
    """A6: a group for each value of the other keys, as one key is a running count that never falls as rows come."""
    number, below, keys = count.number, node.below, sorted(columns.by or ())
    if number is None or not 0 <= number < len(tree.keys) or count.each is None or not only_grows(below):
        raise RejectedError("groups that no other one passes")
    places, part = [below.place_of(key.value) for key in tree.keys], tree.keys[number].value.syntax
    while isinstance(part := part.unnest(), exp.IntDiv) and isinstance(part.expression.unnest(), exp.Literal):
        part = part.this  # x DIV n, of a literal, which has no sign, falls only where x does
    places[number] = below.place_of(part)
    while isinstance(below.tree, nodes.Filter | nodes.Alias | nodes.Project):
        found = [None if place is None else origin(below, place) for place in places]
        places, below = [None if one is None else one.column for one in found], below.below
    rising, window = places[number], below.below if isinstance(below.tree, nodes.Over) else None
    if not isinstance(below.tree, nodes.Over) or window is None or rising is None or rising < window.width:
        raise RejectedError("a key that is no function over a window")
    call, facts = below.tree.calls[rising - window.width], operations.counts.facts

    def least(column: exp.Expr) -> Number | None:
        place = window.place_of(column)
        known = [facts.values(one, window, place) for one in count.order[2:] if facts.column_of(one) == place]
        return known[0].ends[0] if known and place is not None else None

    within = [window.place_of(one) for one in call.partition]
    if not never_falls(call, least) or None in within or not {*within} <= {*places}:
        raise RejectedError("a key that may fall among rows that agree in the others")
    order = window.place_of(call.order[0].value)
    if order is None or len(count.order) < 2 or not only_grows(window):
        raise RejectedError("rows that come in no order")
    if not facts.time(count.order[0], window, order).is_now or facts.values(count.order[1], window, order).null:
        raise RejectedError("rows that come in another order")
    passed = frozenset((keys[number],))
    others = counted(columns.node, columns.wanted - passed, (columns.by or frozenset()) - passed)
    return operations.counts.agreed(count.size, operations.counts.most(count.each, others))


def _results(operations: OperationChecker, node: PlanNode, rows: PlanNode, last: int) -> list[Query] | None:
    """The block whose results groups, or their values, are."""
    if isinstance(node.below.tree, Bucket) or not operations.is_block(node.below) or not last:
        return None
    assert isinstance(rows.tree, nodes.Project), "keys are a select list"
    items = [one for one in rows.tree.items[-last:] if isinstance(one, Named)]
    return [operations.columns(node).items(rows.below.tree, items, True)]


# --- blocks -----------------------------------------------------------------------------------------------------------


def _is_summed(call: AggregateCall) -> bool:
    """Whether a linear aggregate is more than the number of rows."""
    counts = call.function == "COUNT" and call.filter is None
    return not (counts and all(isinstance(one.syntax, exp.Literal) for one in call.arguments))


def _factors(call: AggregateCall, body: PlanNode) -> bool:
    """Whether a linear aggregate is of sums of products, each factor of the rows of one source."""

    def read(node: exp.Expr) -> tuple[str, ...]:
        return tuple(says_all(body, body.read_by(node)))

    alone = [call.filter] if call.filter is not None else []
    alone += call.arguments if call.function == "COUNT" else []
    if any(len(read(one.syntax)) > 1 for one in alone):
        return False
    return all(expanded(one.syntax, read) is not None for one in call.arguments)


def _block_of_values(
    operations: OperationChecker, body: PlanNode, tree: Aggregate, call: AggregateCall, claim: ClaimedOperation
) -> None:
    """The tables of the block that gives the values of an aggregate, by group; of the best ones (A3)."""
    rows, best = body.of(filtered_by(body.tree, call, tree)), greatest(call)
    found = values_of(call)
    once = not isinstance(found, KeptValues) or not found.counted
    items = [*_without_buckets(tree), Named("_v", Scalar(value_of(call)), alias=True)]
    if best is None:
        return _tables(operations, body, rows, items, once, claim, "A4")
    query = operations.columns(body).items(rows.tree, items, once)
    values = (branch.outputs[-1].value for branch in query.branches)
    if any(isinstance(one, TimeValue) and one.minus is None for one in values):  # a computed one has the same values
        items[-1] = Named("_v", Scalar(_where_there_is(value_of(call))), alias=True)
        query = operations.columns(body).items(rows.tree, items, once)
    if claim.block is None or all(one.proposition != "A3" for one in claim.states):
        return _tables(operations, body, rows, items, once, claim, "A4")
    _plain(claim, rows)
    split = derive(query).split
    newest = replace(split, branches=tuple(_beside(one, best) for one in split.branches), distinct=True)
    return operations.tables(claim, newest, True, "A3", newest=_NEWEST)


def _where_there_is(value: exp.Expr) -> exp.Expr:
    there = exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=there, true=value.copy())])


def _tables(
    operations: OperationChecker, body: PlanNode, rows: PlanNode, items: Sequence[Named], distinct: bool,
    claim: ClaimedOperation, proposition: str, summed: bool = False,
) -> None:  # fmt: skip
    """The tables of a block of which some values are needed, and sums of products; or its rows, kept apart."""
    if claim.rule == "rows":
        return operations.check(body, Needed(frozenset()), claim)
    _plain(claim, rows)
    block = derive(operations.columns(body).items(rows.tree, items, distinct, summed=summed))
    return operations.tables(claim, block, distinct, proposition)


def _plain(claim: ClaimedOperation, rows: PlanNode) -> None:
    """Raises RejectedError where an operation is not the block that groups are of, of which they say what they need."""
    require(Needed(frozenset()), claim, rows)
    if claim.rule != "block" or claim.columns:
        raise RejectedError("a block with another rule, or other columns")


def _without_buckets(tree: Aggregate) -> list[Named]:
    """Keys as expressions over a block, with the time of a bucket for those that read it."""
    bucket = tree.input if isinstance(tree.input, Bucket) else None
    names = set[str]() if bucket is None else {name.lower() for name in bucket.columns}
    found: dict[str, exp.Expr] = {}
    for node in (key.value.syntax for key in tree.keys):
        reads = any(column.name.lower() in names for column in node.find_all(exp.Column))
        made = bucket.time.syntax if reads and bucket is not None else node
        found.setdefault(made.sql("spark"), made)
    return [Named(f"_k{n}", Scalar(node), alias=True) for n, node in enumerate(found.values())]


def _beside(branch: Branch, best: bool) -> Branch:
    """``MIN(e) <= z`` iff the block has a row with ``e <= Z.z`` for a virtual stream Z that is newer than all (A3)."""
    *keys, value = branch.outputs
    if not isinstance(value.value, Attribute) or not branch.streams:
        raise NotCheckedError("the best of what is no column of one stream")
    first = branch.streams[0]
    time = first.column(first.timestamp or "")
    columns = (Column(_NEWEST, branch.column(value.value).type), replace(time, domain=None))
    newest = Source(_NEWEST, _NEWEST, Kind.STREAM, columns, time.name, first.span)
    limit = Comparison(value.value, Op.GE if best else Op.LE, Attribute(_NEWEST, _NEWEST), 0, value.span)
    its_time = Attribute(_NEWEST, time.name)
    older = [Comparison(Attribute(one.alias, one.timestamp or ""), Op.LT, its_time, 0) for one in branch.streams]
    where = conjunction((branch.where, limit, *older))
    return replace(branch, sources=(*branch.sources, newest), where=where, outputs=tuple(keys))
