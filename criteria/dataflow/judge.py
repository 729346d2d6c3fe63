"""What a statement must remember: demand goes down its tree, facts come up, and each operator has one rule (Lemma 1).

The rules see an operator, what is needed of its rows, and what is known of its inputs' rows; never a neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.clock import clocks, scans
from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.algebra.substitution import values_of
from streambound.analyzer.algebra.view_facts import ROW_BESIDE
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.lower import Lowered, lower, with_relations_joined
from streambound.analyzer.operators_outside import refused
from streambound.analyzer.statement import Statement
from streambound.analyzer.work import spend
from streambound.criteria.dataflow.aggregates import aggregate
from streambound.criteria.dataflow.blocks import RuleContext, block, has_sides, keeps_matches, unread
from streambound.criteria.dataflow.counting import different, least, rows_of
from streambound.criteria.dataflow.demand import Demand, everything, of_items
from streambound.criteria.dataflow.each_key import for_each_key
from streambound.criteria.dataflow.joins import join
from streambound.criteria.dataflow.recursion import fixpoint
from streambound.criteria.dataflow.rewrites import normal_forms
from streambound.criteria.dataflow.sets import distinct, set_operation, union
from streambound.criteria.dataflow.state import (
    Entry,
    Operation,
    OperatorState,
    Retention,
    StateCount,
    Undecided,
    better,
    without_rule,
)
from streambound.criteria.dataflow.view import OperatorView, Places
from streambound.criteria.dataflow.views import statement_views
from streambound.criteria.dataflow.windows import bucket, over
from streambound.criteria.size import Number, Size, product, total
from streambound.preprocess.trees.late_conditions import late_conditions
from streambound.preprocess.trees.late_values import values_in_blocks

_STEPS = 50


class Judgement(Struct, frozen=True):
    """The states of a statement: it is bounded if every operator has a rule and each state a size."""

    operation: Operation
    context: RuleContext
    """What the rules read the statement with."""
    clocks: tuple[str, ...]
    """The tables whose timestamps are those of the results, also where no row of theirs matters."""
    keys: tuple[OperatorState, ...] = ()
    """The keys of punctuations by which entries go, and those that come once."""
    joining: bool = False
    """What is asked of relations is joined with them."""

    @property
    def states(self) -> tuple[OperatorState, ...]:
        """The states."""
        return (*self.operation.remembered, *self.keys)

    @property
    def outside(self) -> tuple[Undecided, ...]:
        """The operators without a rule."""
        return self.operation.outside

    @property
    def entries(self) -> Size | None:
        """M: the most entries between two timestamps; None where there is no bound, or no rule."""
        found = self.operation.entries
        sizes = [key.size for key in self.keys if key.size is not None]
        return None if found is None else total([found, *sizes])


def judge(statement: Statement, catalog: Catalog) -> Judgement | None:
    """The states of a statement; None if it has no meaning in the algebra.

    Conditions on relations that do not change are decided on arrival, or joins with them: the better of the two.
    """
    lowered = lower(statement, catalog)
    found = judge_lowered(statement, lowered, catalog)
    if found is None or found.entries is not None:
        return found
    joined = with_relations_joined(statement, catalog, lowered)
    other = None if joined is None else judge_lowered(statement, joined, catalog, joining=True)
    return found if other is None or better(found.operation, other.operation) is found.operation else other


def judge_lowered(statement: Statement, lowered: Lowered, catalog: Catalog, joining: bool = False) -> Judgement | None:
    """The states of a lowered statement; with ``joining``, relations in conditions are joined."""
    if lowered.tree is None or lowered.positions is None:
        return None
    blocks = BlockReader(lowered.positions, catalog, statement.name, statement.span, lowered.queries)
    context = RuleContext(catalog, blocks, statement_views(catalog), decided)
    operation: Operation | None = None
    named = with_names_apart(lowered.tree, catalog, lowered.positions)
    late = named  # of what is a query, all conditions are read
    if lowered.query is None:
        late = values_in_blocks(late_conditions(named, blocks, catalog), blocks, catalog)
    asked = statement.other_mode
    final = asked is not None and asked.mode is EmitMode.FINAL
    for tree in normal_forms(late, catalog):
        found = context.below(tree, replace(everything(context.views.of(tree)), final=final))
        operation = found if operation is None else better(operation, found)
        if operation.entries is not None:
            break
    if operation is None:
        return None
    keys = (*_open_keys(operation, catalog), *_unique_keys(operation, catalog))
    return Judgement(operation, context, clocks(lowered.tree, catalog), keys, joining)


def _open_keys(operation: Operation, catalog: Catalog) -> Iterator[OperatorState]:
    """The keys of punctuations by which entries go (K0): those that are open, and as many that have ended last."""
    tree, counts = operation.tree, [state.count for state in operation.remembered]
    if not any(count is not None and count.retention is Retention.KEY for count in counts):
        return
    tables = [table for scan in scans(tree) if (table := catalog.table(scan.table)) is not None]
    for stream in dict.fromkeys(key.stream for table in tables for key in table.ending):
        brings = catalog.table(stream)
        for one in brings.punctuations if brings is not None else ():
            if one.max_open is not None:
                count = StateCount(Number(one.max_open), Retention.KEY)
                ended = replace(count, retention=Retention.LAST_ENDED)
                yield OperatorState(tree, f"open keys of {stream}", "K0", (), Entry.ROW, count)
                for name in (stream, *(name for name, _ in one.together)):
                    yield OperatorState(tree, f"ended keys of {name}", "K0", (), Entry.ROW, ended)


def _unique_keys(operation: Operation, catalog: Catalog) -> Iterator[OperatorState]:
    """The keys that come once (K4): those of as many rows as come while one is remembered, or all that there can be."""
    for scan in {scan.table: scan for scan in scans(operation.tree)}.values():
        stream = catalog.table(scan.table)
        if stream is None or stream.timestamp is None:  # a relation is read at once, with all of its keys
            continue
        for key in stream.unique:
            places = tuple(place for place, column in enumerate(stream.columns) if column.name in key.columns)
            numbers = [number for place in places if (number := stream.columns[place].number) is not None]
            counts = []
            if len(numbers) == len(places):
                counts.append(StateCount(product(map(Number, numbers)), Retention.EVER))
            if key.within is not None:
                counts.append(StateCount(rows_of(stream, key.within), Retention.TIME))
            yield OperatorState(scan, f"unique {', '.join(key.columns)}", "K4", places, Entry.ROW, least(counts))


def decided(tree: nodes.Tree, demand: Demand, context: RuleContext) -> Operation:
    """An operator and all below it, with their states under a demand on its rows.

    An operator without a bound for all keys together may have one for each key that ends (K3).
    """
    found = _of_all_keys(tree, demand, context)
    return found if found.entries is not None else for_each_key(tree, demand, context) or found


def _of_all_keys(tree: nodes.Tree, demand: Demand, context: RuleContext) -> Operation:
    spend(_STEPS)
    if (
        context.is_block(tree)
        and not isinstance(tree, nodes.Distinct)
        and not (isinstance(tree, nodes.Union) and tree.distinct)
    ):
        found = block(tree, demand, context)
        # Sides of a union may keep the rows of their streams, as a block of them all does not.
        other = _of_operator(tree, demand, context) if has_sides(tree) and keeps_matches(found) else None
        return found if other is None else better(found, other)
    return _of_operator(tree, demand, context)


def _of_operator(tree: nodes.Tree, demand: Demand, context: RuleContext) -> Operation:
    """The states of one operator and of all below it."""
    if (words := _unread(tree, demand, context)) is not None:
        return without_rule(tree, words)
    match tree:
        case nodes.Scan():
            return _without_row(tree, context) or Operation(tree, (_relation(tree, context),), demand=demand)
        case nodes.Filter(input, condition):
            given, left = context.views.of(input), context.views.of(tree)
            read = given.read_by(condition)
            limited = replace(
                demand,
                most=_lower(demand.most, _greatest(given, left)),
                apart=_lower(demand.apart, _farthest_apart(given, left, read)),
            )
            below = context.below(input, limited.reading(read))
            return Operation(tree, inputs=(below,), demand=demand)
        case nodes.Project(input):
            below = context.below(input, of_items(tree, context.views.of(input), demand))
            return Operation(tree, inputs=(below,), demand=demand)
        case nodes.Alias(input) | nodes.SpjBlock(input):
            return Operation(tree, inputs=(context.below(input, demand),), demand=demand)
        case nodes.Distinct():
            return distinct(tree, demand, context)
        case nodes.Union():
            return union(tree, demand, context)
        case nodes.Except() | nodes.Intersect():
            return set_operation(tree, demand, context)
        case nodes.Join():
            return join(tree, demand, context)
        case nodes.Aggregate():
            return aggregate(tree, demand, context)
        case nodes.Over():
            return over(tree, demand, context)
        case nodes.Bucket():
            return bucket(tree, demand, context)
        case nodes.Fixpoint():
            return fixpoint(tree, demand, context)
        case nodes.Recur():
            return Operation(tree, demand=demand)
        case nodes.Apply():
            return without_rule(tree, "a subquery over streams inside an expression")
        case nodes.AsOf() | nodes.OrderBy() | nodes.FirstRows():
            finding = refused(tree, context.blocks.positions, False).diagnostic
            return Operation(tree, undecided=(Undecided(tree, finding.message, finding=finding),))


def _unread(tree: nodes.Tree, demand: Demand, context: RuleContext) -> str | None:
    """Why no job computes what an operator reads of its input's rows; None where one does."""
    match tree:
        case nodes.Filter(input, condition):
            return unread(context.views.of(input), condition)
        case nodes.Project(input):
            given = context.views.of(input)
            items = values_of(tree.items, given.schema)
            return unread(given, *(items[place] for place in sorted(demand.columns)))
        case nodes.Over(input, calls):
            read = [one for call in calls for one in (*call.partition, *(key.value for key in call.order))]
            values = [one for call in calls for one in (*call.arguments[0:1], *call.arguments[2:], call.filter)]
            return unread(context.views.of(input), *read, *values)
        case nodes.Bucket(input, time=time):
            return unread(context.views.of(input), time)
    return None


_Limited = TypeVar("_Limited", int, tuple[int, int])


def _lower(known: Mapping[_Limited, int], more: Mapping[_Limited, int]) -> dict[_Limited, int]:
    """The lower of two limits of each column, or pair of columns."""
    found = dict(known)
    for one, most in more.items():
        found[one] = min(most, found.get(one, most))
    return found


def _greatest(given: OperatorView, left: OperatorView) -> dict[int, int]:
    """The greatest values that a condition leaves of columns that had none."""
    found = dict[int, int]()
    for place, (before, after) in enumerate(zip(given.columns, left.columns, strict=True)):
        high = after.values.ends[1]
        if before.values.ends[1] is None and isinstance(high, int):
            found[place] = high
    return found


def _farthest_apart(given: OperatorView, left: OperatorView, read: Places) -> dict[tuple[int, int], int]:
    """By how much at most times are later than those of rows beside theirs, or earlier, where a condition is true.

    Both are columns that it reads. What is known of its input's rows is limited below it.
    """
    found = dict[tuple[int, int], int]()
    for beside in read:
        names = [one.source for one in given.columns[beside].times if ROW_BESIDE in one.source]
        for place in read - {beside}:
            for time in left.columns[place].times:
                known = given.columns[place].time(time.source)
                if time.source not in names or time.function:
                    continue
                if time.high is not None and (known is None or known.high != time.high):
                    found[place, beside] = time.high
                if time.low is not None and (known is None or known.low != time.low):
                    found[beside, place] = -time.low
    return found


def _without_row(tree: nodes.Scan, context: RuleContext) -> Operation | None:
    """A relation whose deletes have no inserted row: without a key no column may say when and how it changes."""
    table = context.catalog.table(tree.table)
    if table is None or table.changes is None or table.changes.key:
        return None
    changes = table.changes
    named = [one.name for one in (changes.timestamp, changes.op) if table.column(one.name)]
    if not named:
        return None
    help = f'give {table.name} a key: changes = {{ …, key = ["…"] }}'
    if named[0] != changes.timestamp.name or any(one.kind is Kind.STREAM for one in context.catalog.tables):
        help += f"; or leave {named[0]} out of its columns"
    words = f"{table.name}.{named[0]} is of a change, so that no delete has the row that was inserted"
    return without_rule(tree, words, help)


def _relation(tree: nodes.Scan, context: RuleContext) -> OperatorState:
    """The rows of a relation that changes (E1), or as many as its key has values."""
    view = context.views.of(tree)
    declared = context.catalog.table(tree.table)
    count = None
    if view.rows is not None and declared is not None and declared.rows is not None:
        count = StateCount(view.rows)
    elif view.keys:
        count = different(view, view.keys[0])
    words = "" if count is not None else f"{tree.table} changes, and nothing says how many rows it has"
    return OperatorState(tree, "relation", "E1", tuple(sorted(view.every)), Entry.ROW, count, None, words)
