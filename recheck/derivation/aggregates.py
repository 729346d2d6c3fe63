"""Groups: an entry a group (A1), the values of aggregates that are computed of values (A4, D6), the best ones (A3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import KeptValues, NoAggregate, values_of
from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Bucket, Filter, Named, Project
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.syntax import scalar_of
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Comparison, Kind, Op, Query, Source, TimeValue, conjunction
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation.claims import ClaimedOperation, NotCheckedError, count_of
from streambound.recheck.derivation.counts import CountedColumns
from streambound.recheck.derivation.demand import Needed, require_place
from streambound.recheck.derivation.operations import OperationChecker
from streambound.recheck.derivation.states import EVER, KEY, OPEN_VALUES, ROWS, SUMS, TIME, VALUES, ExpectedState
from streambound.recheck.derivation.trees import PlanNode, keyed, only_grows, says, session_of, value_of

_NEWEST = "(newest)"
_GROUPS_GO = {TIME: "A5", KEY: "K1"}
"""The propositions by which groups are not kept for ever."""


def groups(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """One GROUP BY, over a block, of which sums are pushed below its joins, or over another view."""
    tree = node.tree
    assert isinstance(tree, Aggregate), "its rule"
    width, below = len(tree.keys), node.input("input")
    calls = [(place, call) for place, call in enumerate(tree.calls) if place + width in claim.columns]
    valued = [(place, call) for place, call in calls if is_valued(call)]
    linear = [call for _, call in calls if not is_valued(call)]
    body = _block_below(operations, node)
    states = [_groups(operations, node, tree, claim, body)]
    for place, call in valued:
        if greatest(call) is None or not only_grows(_rows_below(node)):
            states.append(_values(operations, node, tree, claim, body, place, len(states)))
    operations.states(claim, *states)
    if claim.rule != "sums":
        return operations.inputs(claim, (below, _needed(tree, [call for _, call in calls], below)))
    if body is None or not all(_factors(call, body) for call in linear):
        raise RejectedError("sums of what are no products of a block's rows")
    if len(claim.inputs) != 1 + len(valued):
        raise RejectedError("groups of a block, and values, are of so many blocks")
    _sums(operations, body, tree, linear, bool(valued) and not linear, claim.inputs[0])
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


def _is_counted(call: AggregateCall) -> bool:
    """Whether it matters how often a value is there."""
    found = values_of(call)
    return isinstance(found, KeptValues) and found.counted


def _rows_below(node: PlanNode) -> PlanNode:
    """The rows of groups: those of sessions move from one to another, but are not taken back themselves."""
    below = node.input("input")
    return below.input("input") if session_of(below) is not None else below


def _block_below(operations: OperationChecker, node: PlanNode) -> PlanNode | None:
    """The block that groups are of, below their buckets of time; None where they are of another view."""
    below = node.input("input")
    body = below.input("input") if isinstance(below.tree, Bucket) else below
    return body if operations.is_block(body) else None


# --- states -----------------------------------------------------------------------------------------------------------


def _groups(
    operations: OperationChecker, node: PlanNode, tree: Aggregate, claim: ClaimedOperation, body: PlanNode | None
) -> ExpectedState:
    width = len(tree.keys)
    if not width:
        count = count_of(claim, 0)
        if count.rule != "one":
            raise RejectedError("one group that is counted as others")
        operations.counts.agreed(count.size, Quantity.number(1))
        return ExpectedState("groups", "A1", (), SUMS, Quantity.number(1), ROWS, EVER)
    rows = keyed(node, own=session_of(node.input("input")) is None)
    first = rows.width - width
    keys = frozenset(range(first, first + width))

    def results() -> list[Query]:
        if body is None or isinstance(tree.input, Bucket):
            raise RejectedError("results of what is no block")
        items = [Named(f"_k{n}", key.value, alias=True) for n, key in enumerate(tree.keys)]
        return [operations.columns(node).items(tree.input, items, True)]

    size, reason, retention = operations.counted(claim, 0, CountedColumns(rows, keys, keys), results)
    proposition = _GROUPS_GO.get(retention, "A1")
    return ExpectedState("groups", proposition, tuple(range(width)), SUMS, size, reason, retention)


def _values(
    operations: OperationChecker,
    node: PlanNode,
    tree: Aggregate,
    claim: ClaimedOperation,
    body: PlanNode | None,
    place: int,
    number: int,
) -> ExpectedState:
    """The values of an aggregate, by group."""
    width, call = len(tree.keys), tree.calls[place]
    session, below = session_of(node.input("input")) is not None, node.input("input")
    rows, first = keyed(node, place, own=not session), 0 if session else below.width
    keys, every = range(first, first + width), range(first, rows.width)

    def results() -> list[Query]:
        if body is None or isinstance(tree.input, Bucket):
            raise RejectedError("results of what is no block")
        assert isinstance(rows.tree, Project), "keys are a select list"
        items = [one for one in rows.tree.items[first:] if isinstance(one, Named)]
        return [operations.columns(node).items(rows.input("input").tree, items, True)]

    counted, entry = CountedColumns(rows, frozenset(every), frozenset(keys)), VALUES
    if greatest(call) is not None and operations.is_at(count_of(claim, number), below):
        read = below.read_by(*(key.value for key in tree.keys), value_of(call), call.filter)
        counted, entry = CountedColumns(below, read, below.every), OPEN_VALUES
    size, reason, retention = operations.counted(claim, number, counted, results)
    proposition = "A4" if only_grows(_rows_below(node)) else "D6"
    return ExpectedState("values", proposition, (*range(width), width + place), entry, size, reason, retention)


# --- blocks -----------------------------------------------------------------------------------------------------------


def _sums(
    operations: OperationChecker,
    body: PlanNode,
    tree: Aggregate,
    linear: Sequence[AggregateCall],
    once: bool,
    claim: ClaimedOperation,
) -> None:
    """The tables of a block of which the keys are needed, and sums of products."""
    once = once or not tree.calls
    nodes, summed = [parsed(key.value) for key in tree.keys], any(map(_is_summed, linear))
    _tables(operations, body, body, _without_buckets(tree, nodes), once, claim, "A1", summed)


def _is_summed(call: AggregateCall) -> bool:
    """Whether a linear aggregate is more than the number of rows."""
    counts = call.function == "COUNT" and call.filter is None
    return not (counts and all(isinstance(parsed(one), exp.Literal) for one in call.arguments))


def _factors(call: AggregateCall, body: PlanNode) -> bool:
    """Whether a linear aggregate is of sums of products, each factor of the rows of one source."""
    alone = [call.filter] if call.filter is not None else []
    alone += call.arguments if call.function == "COUNT" else []
    if any(len(_sources_read(parsed(one), body)) > 1 for one in alone):
        return False
    return all(_is_of_products(parsed(one), body) for one in call.arguments)


def _is_of_products(expression: exp.Expr, body: PlanNode) -> bool:
    """Whether an expression is a sum of products, each factor of the rows of one source."""
    if len(_sources_read(expression, body)) < 2:
        return True
    match expression:
        case exp.Paren() | exp.Neg():
            return _is_of_products(expression.this, body)
        case exp.Add() | exp.Sub() | exp.Mul():
            return _is_of_products(expression.left, body) and _is_of_products(expression.right, body)
    return False


def _sources_read(expression: exp.Expr, body: PlanNode) -> frozenset[str]:
    return frozenset[str]().union(*(says(body, place) for place in body.read_by(expression)))


def _block_of_values(
    operations: OperationChecker, body: PlanNode, tree: Aggregate, call: AggregateCall, claim: ClaimedOperation
) -> None:
    """The tables of the block that gives the values of an aggregate, by group; of the best ones (A3)."""
    rows = body
    if call.filter is not None:
        where = scalar_of(parsed(call.filter))
        rows = body.of(Filter(body.tree, where, syntax=body.tree.syntax or tree.syntax))
    keys, best = _without_buckets(tree, [parsed(key.value) for key in tree.keys]), greatest(call)
    items = [*keys, Named("_v", scalar_of(value_of(call)), alias=True)]
    if best is not None and _is_time(operations.columns(body).items(rows.tree, items, not _is_counted(call))):
        items = [*keys, Named("_v", scalar_of(_where_there_is(value_of(call))), alias=True)]
    if best is not None and claim.block is not None and any(one.proposition == "A3" for one in claim.states):
        query = operations.columns(body).items(rows.tree, items, not _is_counted(call))
        _plain(claim, rows)
        split = derive(query).split
        newest = replace(split, branches=tuple(_beside(one, best) for one in split.branches), distinct=True)
        return operations.tables(claim, [newest], True, "A3", newest=_NEWEST)
    return _tables(operations, body, rows, items, not _is_counted(call), claim, "A4")


def _is_time(query: Query) -> bool:
    """Whether the last column is a time, of which all values would be kept: a computed one has the same values."""
    values = (branch.outputs[-1].value for branch in query.branches)
    return any(isinstance(one, TimeValue) and one.minus is None for one in values)


def _where_there_is(value: exp.Expr) -> exp.Expr:
    there = exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=there, true=value.copy())])


def _tables(
    operations: OperationChecker,
    body: PlanNode,
    rows: PlanNode,
    items: Sequence[Named],
    distinct: bool,
    claim: ClaimedOperation,
    proposition: str,
    summed: bool = False,
) -> None:
    if claim.rule == "rows":
        return operations.check(body, Needed(frozenset()), claim)
    _plain(claim, rows)
    derivation = derive(operations.columns(body).items(rows.tree, items, distinct, summed=summed))
    return operations.tables(claim, [derivation.split, derivation.together], distinct, proposition)


def _plain(claim: ClaimedOperation, rows: PlanNode) -> None:
    """Raises RejectedError where an operation is not the block that groups are of, of which they say what they need."""
    if claim.rule != "block" or claim.columns or claim.most:
        raise RejectedError("a block with another rule, or other columns")
    require_place(claim, rows)


def _without_buckets(tree: Aggregate, nodes: Sequence[exp.Expr]) -> list[Named]:
    """Expressions over a block, with the time of a bucket for those that read it."""
    bucket = tree.input if isinstance(tree.input, Bucket) else None
    names = set[str]() if bucket is None else {name.lower() for name in bucket.columns}
    found: list[exp.Expr] = []
    for node in nodes:
        reads = any(column.name.lower() in names for column in node.find_all(exp.Column))
        found.append(parsed(bucket.time) if reads and bucket is not None else node)
    distinct = {node.sql("spark"): node for node in found}.values()
    return [Named(f"_k{n}", scalar_of(node), alias=True) for n, node in enumerate(distinct)]


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


# --- demand -----------------------------------------------------------------------------------------------------------


def _needed(tree: Aggregate, calls: Sequence[AggregateCall], below: PlanNode) -> Needed:
    """What is below: the columns of keys and of aggregates are needed."""
    columns = below.read_by(*(key.value for key in tree.keys))
    for call in calls:
        columns |= below.read_by(*call.arguments, call.filter)
        columns |= below.read_by(value_of(call)) if is_valued(call) else frozenset()
    return Needed(columns)
