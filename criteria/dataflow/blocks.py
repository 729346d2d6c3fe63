"""The rule of a maximal select-project-join block: its criterion (docs/theory-bags.md, -sets.md) and its tables.

A block is bounded if (i) the columns that it has to keep of each stream are bounded, and (ii) its joins with streams
that come later are harmless. Sets have a criterion of their own. Outer, semi and anti joins of two streams are decided
as the inner join is (B1, B3, B4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.row_expressions import row_expression
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.block_columns import BlockColumns, with_conditions_above
from streambound.analyzer.block_queries import BlockReader, Monomial
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.findings import Finding
from streambound.analyzer.query import Attribute, Branch, Comparison, Kind, Op, Query, Source, conjunction
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.bag import bag_violations
from streambound.criteria.bound import bound, least_bound, results_size
from streambound.criteria.dataflow.counting import apart
from streambound.criteria.dataflow.demand import Demand, everything
from streambound.criteria.dataflow.state import (
    BlockResults,
    Combinations,
    DecidedBlock,
    Entry,
    Operation,
    OperatorState,
    Retention,
    StateCount,
    Undecided,
    better,
    without_rule,
)
from streambound.criteria.dataflow.view import OperatorView
from streambound.criteria.dataflow.views import Views
from streambound.criteria.rows_apart import KeptRows, bound_apart
from streambound.criteria.set import set_violations
from streambound.criteria.size import Size, fewer
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import Derivation, derive

NEWEST = "(newest)"
"""The virtual stream that is newer than all others, and its column (A3)."""


class RuleContext(Struct, frozen=True):
    """The readers and options by which rules read a statement."""

    catalog: Catalog
    blocks: BlockReader
    views: Views
    rule: Callable[[nodes.Tree, Demand, RuleContext], Operation]
    """The rule of any operator."""
    one_key: StreamKey | None = None
    """The key of which all streams have one value (K3)."""

    def below(self, tree: nodes.Tree, demand: Demand) -> Operation:
        """An input, with what is needed of it; one of relations that do not change remembers nothing."""
        if not is_static(tree, self.catalog):
            return self.rule(tree, demand, self)
        found = self.relation(tree, tuple(sorted(demand.columns)) or (0,))
        return Operation(tree, demand=demand, undecided=(found,) if isinstance(found, Undecided) else ())

    def relation(self, tree: nodes.Tree, places: Sequence[int]) -> DeclaredTable | Undecided:
        """A relation that does not change, or what is computed of some: the declared one, or one of these columns."""
        given, scan = self.views.schema(tree), tree
        while isinstance(scan, nodes.Alias | nodes.Project):
            scan = scan.input
        columns = [given[place].column for place in places]
        declared = self.catalog.table(scan.table) if isinstance(scan, nodes.Scan) else None
        if declared is not None and None not in columns and len({*columns}) == len(columns):
            return declared
        syntax = tree.syntax or exp.Null()
        named = [Scalar(column_of(given[place])) for place in places]
        items = tuple(nodes.Named(f"c{n}", value, alias=True) for n, value in enumerate(named))
        try:
            return self.blocks.relation(
                nodes.Alias(nodes.Project(tree, items, syntax=syntax), "relation", syntax=syntax)
            )
        except Finding as finding:
            return Undecided(tree, finding.diagnostic.message, finding=finding.diagnostic)

    @property
    def columns(self) -> BlockColumns:
        """The reader of columns of blocks."""
        return BlockColumns(self.blocks, self.catalog, self.views.recursive)

    def is_block(self, tree: nodes.Tree) -> bool:
        """Whether a tree is a block that reads streams."""
        return not is_static(tree, self.catalog) and is_block(tree, self.catalog)


def unread(given: OperatorView, *expressions: nodes.Scalar | exp.Expr | None) -> str | None:
    """Why no job computes some expressions of an operator's rows one by one, in words; None where one does.

    Only select-project-join blocks ask relations that do not change.
    """
    for node in (one.syntax if isinstance(one, nodes.Scalar) else one for one in expressions if one is not None):
        if node.find(exp.Query) is not None:
            return "a subquery over relations inside an expression over rows that no select-project-join block has"
        if row_expression(node, given.schema) is None:
            return f"the expression {node.sql('spark')}"
    return None


Read = Derivation | Undecided
"""A block's query, or why it has none."""


def block(tree: nodes.Tree, demand: Demand, context: RuleContext) -> Operation:
    """The states of a block: its tables and, for a set, its results."""
    distinct = isinstance(tree, nodes.Distinct) or (isinstance(tree, nodes.Union) and tree.distinct)
    read = read_block(tree, None if distinct else demand.columns, context, distinct)
    if isinstance(read, Undecided):
        return Operation(tree, demand=demand, undecided=(read,))
    found = tables(read, distinct, tree, "set" if distinct else "bag")
    found = better(found, rows_apart(tree, read, context) or found)
    found = replace(found, demand=everything(context.views.of(tree)) if distinct else demand)
    return replace(found, states=(*found.states, results(read, tree))) if distinct else found


def has_sides(tree: nodes.Tree) -> bool:
    """Whether rows are those of a union, one by one."""
    while isinstance(tree, nodes.Project | nodes.Alias | nodes.Filter):
        tree = tree.input
    return isinstance(tree, nodes.Union)


def keeps_matches(found: Operation) -> bool:
    """Whether a table of a block holds matches of several streams."""
    tables = found.rows.sizes.tables if found.rows is not None and found.rows.sizes is not None else ()
    return any(len(one.layout.streams) > 1 for one in tables)


def rows_apart(tree: nodes.Tree, read: Derivation, context: RuleContext) -> Operation | None:
    """The rows of a block's streams, as long as they may be joined with others; None where that is for ever."""
    body = tree
    while isinstance(body, nodes.Project | nodes.Alias | nodes.Distinct):
        body = body.input
    view = context.views.of(body)
    count = apart(view)
    if count is None or count.closing is None or not isinstance(count.why, Combinations):
        return None
    kept = {one.source: KeptRows(count.closing.timestamps(view, one.source), one.size) for one in count.why.sources}
    streams = [source for branch in read.split.branches[:1] for source in branch.streams]
    tables = [one.table for name in kept if (one := view.sources[name]).table is not None]
    if [table.name for table in tables] != [source.table for source in streams]:
        return None  # its query has other sources
    called = dict(zip((source.alias for source in streams), kept.values(), strict=True))
    rows = DecidedBlock(read, bound_apart(read.split, called, count.size))
    return Operation(tree, (OperatorState(body, "rows", "Lemma 1", (), Entry.SOURCES, count),), rows=rows)


def read_block(tree: nodes.Tree, places: Iterable[int] | None, context: RuleContext, distinct: bool = False) -> Read:
    """The query of a block with some of its columns, by position; all of them for None."""
    return query_of(lambda: context.columns.block(tree, places, distinct), tree)


def read_items(
    body: nodes.Tree,
    items: Sequence[nodes.Named],
    context: RuleContext,
    distinct: bool = False,
    sums: Sequence[Monomial] = (),
) -> Read:
    """A select list over a block as a query, with sums over the block's rows."""
    return query_of(lambda: context.columns.items(body, items, distinct, sums), body)


def query_of(made: Callable[[], Query], tree: nodes.Tree) -> Read:
    """A query, split; or the words for why there is none."""
    try:
        return derive(made())
    except Finding as finding:
        return Undecided(tree, finding.diagnostic.message, finding=finding.diagnostic)
    except TooManyBranchesError as error:
        return Undecided(tree, str(error))


def tables(
    read: Derivation, distinct: bool, tree: nodes.Tree, proposition: str, counted: bool = False, stamped: bool = False
) -> Operation:
    """The tables of a block that satisfies its criterion; a state without a number where it violates it.

    ``counted``: how many results there are is asked elsewhere; ``stamped``: a time says when they are forgotten.
    """
    found = violations(read.split, distinct, stamped)
    asked = [one for one in found if not (counted and one.condition == "(1)")]
    return _least_tables(read, tree, proposition, asked or found, not asked)


def _least_tables(
    read: Derivation, tree: nodes.Tree, proposition: str, found: Sequence[Violation] = (), satisfied: bool = True
) -> Operation:
    """The tables of a block whose criterion is satisfied; else, or where these have no number, what violates it."""
    sizes = least_bound(read, repeats=True) if satisfied else None
    if sizes is not None:
        states = tuple(_table(table.size, tree, proposition) for table in sizes.tables)
        return Operation(tree, states, rows=DecidedBlock(read, sizes))
    if found:
        return Operation(tree, (unbounded(found, tree, proposition),), rows=DecidedBlock(read, None))
    return without_rule(tree, "more tables than a synopsis has")


def _table(size: Size, tree: nodes.Tree, proposition: str) -> OperatorState:
    return OperatorState(tree, "table", proposition, (), Entry.NUMBER, StateCount(size))


def violations(split: Query, distinct: bool, stamped: bool = False) -> list[Violation]:
    """The violations of the bag or the set criterion."""
    facts = [Facts.of(branch) for branch in split.branches]
    return [one for each in facts for one in (set_violations(each, stamped) if distinct else bag_violations(each))]


def unbounded(found: Sequence[Violation], tree: nodes.Tree, proposition: str) -> OperatorState:
    """A state that nothing bounds, by what is violated."""
    name, words = f"{proposition} {found[0].condition}", found[0].message
    return OperatorState(tree, "table", name, (), Entry.NUMBER, None, None, words, violations=tuple(found))


def results(read: Derivation, tree: nodes.Tree) -> OperatorState:
    """The results of a set, each remembered for ever."""
    count = most_results(read, Retention.EVER)
    endless = [one for one in violations(read.split, True) if one.condition == "(1)"] if count is None else []
    if endless:
        return replace(unbounded(endless, tree, "set"), what="results", entry=Entry.ROW)
    return OperatorState(tree, "results", "set", (), Entry.ROW, count)


def most_results(read: Read, retention: Retention = Retention.PRESENT, by_values: bool = False) -> StateCount | None:
    """How many different results a block has, of the form with fewer of them; None without limit.

    ``by_values``: how many there can be at all, whichever rows come: not as many as the rows of a stream that ends.
    """
    if isinstance(read, Undecided):
        return None
    query, split, together = read.split, results_size(read.split, by_values), results_size(read.together, by_values)
    if (
        len(read.together.branches) < len(read.split.branches)
        and together is not None
        and (split is None or fewer(together, split))
    ):
        query, split = read.together, together
    return None if split is None else StateCount(split, retention, why=BlockResults((query,), by_values))


# --- joins of two streams ---------------------------------------------------------------------------------------------


def pair_of_streams(tree: nodes.Join, demand: Demand, context: RuleContext) -> Operation | None:
    """An outer, semi or anti join of two streams by the inner join's criterion; None for any other join.

    B4: a row that cannot match is final at once. B3: a semi or anti join selects only left rows, and these wait.
    B1: only the existence of right rows matters, so where left rows never wait, the tables are those of a set.
    """
    if tree.using or tree.kind in (nodes.JoinKind.INNER, nodes.JoinKind.NOT_IN):
        return None
    if not context.is_block(tree.left) or not context.is_block(tree.right):
        return None
    asks = tree.kind in (nodes.JoinKind.SEMI, nodes.JoinKind.ANTI)
    given = context.views.of(tree)
    items = [
        nodes.Named(f"c{n}", Scalar(column_of(given.schema[place])), alias=True)
        for n, place in enumerate(sorted(demand.columns))
    ]
    read = read_items(inner_join(tree, context), items, context)
    if isinstance(read, Undecided):
        return Operation(tree, demand=demand, undecided=(read,))
    alone = [read_block(side, None, context) for side in (tree.left, tree.right)]
    known = [one.split.branches for one in alone if not isinstance(one, Undecided)]
    if len(known) < len(alone) or any(len(branch.sources) != 1 for branches in known for branch in branches):
        return None
    if not read.split.branches:
        return Operation(tree, demand=demand, rows=DecidedBlock(read, None))  # no row ever has a partner
    if any(len(branches) != 1 for branches in (read.split.branches, *known)):
        return None
    if len(read.split.branches[0].sources) != 2:
        return None
    facts = Facts.of(read.split.branches[0])
    left, right = (source.alias for source in read.split.branches[0].sources)
    bag = bag_violations(facts)
    if not bag or not asks:
        return replace(tables(read, False, tree, "B3" if asks else "B4"), demand=demand)
    mine = [one for one in bag if one.stream == left]
    if mine:
        return Operation(tree, (unbounded(mine, tree, "B3"),), demand=demand, rows=DecidedBlock(read, None))
    asked = [one for one in set_violations(facts) if one.stream == right and one.condition != "(1)"]
    if asked:
        return Operation(tree, (unbounded(asked, tree, "B1"),), demand=demand, rows=DecidedBlock(read, None))
    lag = facts.lag(right, left)
    if lag is None or lag > 0:
        return without_rule(tree, "an EXISTS whose rows wait, and those that it asks for, too")
    return replace(_least_tables(derive(replace(read.query, distinct=True)), tree, "B1"), demand=demand)


def inner_join(tree: nodes.Join, context: RuleContext) -> nodes.Tree:
    """The inner join of both sides, with their conditions above it."""
    return with_conditions_above(replace(tree, kind=nodes.JoinKind.INNER), context.columns)


# --- the best value over a join ---------------------------------------------------------------------------------------


def best_over_join(read: Derivation, greatest: bool, tree: nodes.Tree) -> Operation | None:
    """MIN and MAX of a block's last column by its other ones, over a join of append-only inputs (A3); else None.

    ``MIN(e) <= z`` iff ``SELECT DISTINCT g FROM body, Z WHERE Z.ts > all AND e <= Z.z`` has a row, for a *newest
    stream* Z, a virtual one: the set criterion decides that query, and its tables hold the best value by key.
    """
    if all(len(branch.streams) < 2 for branch in read.split.branches) or not all(map(_has_best, read.split.branches)):
        return None
    branches = tuple(_with_newest(branch, greatest) for branch in read.split.branches)
    split = replace(read.split, branches=branches, distinct=True)
    found = [one for one in violations(split, True) if one.stream != NEWEST]
    if found:
        return Operation(tree, (unbounded(found, tree, "A3"),), rows=DecidedBlock(read, None, split))
    sizes = bound(split, repeats=True)
    if sizes is None:
        return without_rule(tree, "extrema without a number")
    states = list[OperatorState]()
    for part in sizes.branches:
        every = {source.alias for source in part.branch.streams} - {NEWEST}
        states += [_table(one.size, tree, "A3") for one in part.tables if set(one.layout.streams) != every]
    return Operation(tree, tuple(states), rows=DecidedBlock(read, sizes, split))


def _has_best(branch: Branch) -> bool:
    """Whether tables can hold the best of the last column by the others: columns that no condition fixes."""
    closure = Facts.of(branch).closure
    for output in branch.outputs:
        if not isinstance(output.value, Attribute):
            return False
        low, high = closure.interval(output.value)
        if low is not None and low == high:
            return False
    return True


def _with_newest(branch: Branch, greatest: bool) -> Branch:
    *keys, value = branch.outputs
    first = branch.streams[0]
    assert first.time is not None and isinstance(value.value, Attribute), "streams have times"
    time = first.column(first.time.column)
    columns = (Column(NEWEST, branch.column(value.value).type), replace(time, domain=None))
    source = Source(NEWEST, NEWEST, Kind.STREAM, columns, time.name, first.span)
    limit = Comparison(value.value, Op.GE if greatest else Op.LE, Attribute(NEWEST, NEWEST), 0, value.span)
    its_time = Attribute(NEWEST, time.name)
    older = [Comparison(Attribute(s.alias, s.timestamp or ""), Op.LT, its_time, 0) for s in branch.streams]
    where = conjunction((branch.where, limit, *older))
    return replace(branch, sources=(*branch.sources, source), where=where, outputs=tuple(keys))
