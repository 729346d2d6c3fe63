"""The search for a witness of a statement that nothing bounds, from the states that have no size (Lemma 0).

Of such a state the operator and a column are known. Elements have fresh values in that column, and probes make their
entries visible: the rows that do it are those of `visible_rows`, and the plans of elements and probes those of a
select-project-join query (`criteria.witness_search`). A plan counts when the whole statement, executed, tells all
subsets apart, at every size (`criteria.witnesses`). Schemes that are drawn at random are the last resort.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.syntax import conjunction
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.findings import Finding
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Query
from streambound.analyzer.statement import Statement
from streambound.analyzer.work import STATEMENT, share
from streambound.criteria.dataflow.blocks import violations
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.state import Operation, OperatorState
from streambound.criteria.dataflow.view import Places
from streambound.criteria.dataflow.visible_rows import Visibility, VisibleRows, with_streams
from streambound.criteria.witness import Witness
from streambound.criteria.witness_search import find_witness
from streambound.criteria.witnesses.executed import Executed
from streambound.criteria.witnesses.witness import CircuitWitness, candidates, find_scheme, first_that_holds
from streambound.preprocess.pipeline import derive

SEARCH = 3 * STATEMENT / 8
"""Steps of work of a search."""
SIMPLEST, SCHEMES = SEARCH / 4, 5 * SEARCH / 8
"""Steps of the simplest plans of all queries, and then of schemes; other plans have what is left."""
ROUNDS = (8, 24, 64, 256)
"""Ways to build witnesses of a query that are tried before more of another one."""
_MOST_WAYS = 4
_SETS = (nodes.Aggregate, nodes.Over, nodes.Distinct, nodes.Fixpoint, nodes.Except, nodes.Intersect)


class UnboundedProof(Struct, frozen=True):
    """A proof that a statement is unbounded: witnesses of its only block, or of the executed statement.

    ``ran_out``: nothing was found, and the search ended before all was tried.
    """

    block: Witness | None = None
    statement: CircuitWitness | None = None
    ran_out: bool = False

    @property
    def found(self) -> bool:
        """Whether there is a proof."""
        return self.block is not None or self.statement is not None


def prove(statement: Statement, catalog: Catalog, judgement: Judgement, longer: int = 1) -> UnboundedProof:
    """Search for a witness of a statement with states without a size, or operators without a rule.

    The search takes ``longer`` times as many steps as a check's.
    """
    lowered = lower(statement, catalog)
    failing = list(states_without_size(judgement.operation))
    if lowered.tree is None:
        return UnboundedProof()
    with share(SEARCH * longer) as search:
        block = _of_joins(lowered.query, longer) if lowered.query is not None else None
        if block is not None:
            return UnboundedProof(block=block)
        executed = Executed(lowered.tree, catalog, lowered.queries)
        suspects = list[Query]()
        simplest = simplest_plans(executed, Suspects(judgement).of(failing), suspects)
        found = first_that_holds(executed, simplest, SIMPLEST * longer)
        with share(SCHEMES * longer):
            found = found or find_scheme(executed, longer)
        found = found or first_that_holds(executed, _other_plans(executed, suspects), SEARCH * longer)
        if found is not None:
            return UnboundedProof(statement=found)
    return UnboundedProof(ran_out=search.ran_out)


def simplest_plans(statement: Executed, suspects: Iterable[Query], found: list[Query]) -> Iterator[CircuitWitness]:
    """The simplest way to build witnesses of each query, then some more; the queries are ``found`` meanwhile."""
    for query in suspects:
        if query not in found:
            found.append(query)
            yield from islice(candidates(statement, [query]), 1)
    for query in found:
        yield from islice(candidates(statement, [query]), 1, ROUNDS[0])


def _other_plans(statement: Executed, suspects: Sequence[Query]) -> Iterator[CircuitWitness]:
    """All others, some of each query before more of any one."""
    rest = [islice(candidates(statement, [query]), ROUNDS[0], None) for query in suspects]
    for number in ROUNDS[1:]:
        for several in rest:
            yield from islice(several, number)


class UnboundedState(Struct, frozen=True):
    """A state without a size, the operation that has it, and the one that reads its rows."""

    state: OperatorState
    operation: Operation
    above: Operation | None

    @property
    def operator(self) -> nodes.Tree:
        """The operator whose rows say what is remembered: for the block below groups it is these."""
        groups = self.above.tree if self.above is not None else None
        is_below = self.operation.rows is not None and not self.operation.demand.columns
        if isinstance(groups, nodes.Aggregate) and is_below:
            return groups
        return self.state.operator


def states_without_size(operation: Operation, above: Operation | None = None) -> Iterator[UnboundedState]:
    """The states that nothing bounds, with their operations: those nearest to the tables first."""
    for one in operation.inputs:
        yield from states_without_size(one, operation)
    yield from (UnboundedState(state, operation, above) for state in operation.states if state.count is None)


def _of_joins(query: Query, longer: int) -> Witness | None:
    """A witness of one select-project-join block, which holds at every size (docs/theory-witnesses.md)."""
    try:
        split = derive(query).split
    except TooManyBranchesError:
        return None
    violated = (one for one in split.branches if violations(replace(split, branches=(one,)), split.distinct))
    return find_witness(split, tuple(violated), longer).witness


def suspects(judgement: Judgement) -> Iterator[Query]:
    """The select-project-join queries whose plans may build witnesses of a statement, split."""
    return Suspects(judgement).of(list(states_without_size(judgement.operation)))


class Suspects(Struct, frozen=True):
    """The select-project-join queries whose plans may build witnesses of a statement: of its states without a size."""

    judgement: Judgement

    def of(self, failing: Sequence[UnboundedState]) -> Iterator[Query]:
        """The queries, split: first of the column to blame alone, then of all columns that are remembered."""
        for one in failing:
            if one.operation.rows is not None:
                split = one.operation.rows.read.split
                yield from (replace(split, distinct=distinct) for distinct in (False, True))
            place = self._blamed(one.state)
            alone = [] if place is None else [frozenset((place,))]
            for places in (*alone, _remembered(one)):
                for found in self._visible(one):
                    yield from self._queries(found, one.operator, places)

    def _blamed(self, state: OperatorState) -> int | None:
        """The place of the column to blame among those that are kept of an operator's rows."""
        if state.blame is None or not isinstance(state.operator, nodes.Join) or state.what != "right":
            return state.blame
        return state.blame + len(schema(state.operator.left, self.judgement.context.catalog))

    def _visible(self, one: UnboundedState) -> Iterator[VisibleRows]:
        context = self.judgement.context
        for operator in (one.operator, one.operation.tree):
            ways = Visibility(context.catalog, operator, context.blocks.queries).of(self.judgement.operation.tree)
            found = list(islice((way for way in ways if way.kept is not None), _MOST_WAYS))
            if found:
                yield from found
                return

    def _queries(self, found: VisibleRows, operator: nodes.Tree, places: Places | None) -> Iterator[Query]:
        kept = enumerate(found.kept or ())
        values = [one for place, one in kept if one is not None and (places is None or place in places)]
        items = list({one.sql("spark"): one for one in values}.values())
        query = self._query(found, items)
        if query is not None:
            orders = (True, False) if isinstance(operator, _SETS) else (False, True)
            yield from (replace(query, distinct=distinct) for distinct in orders)

    def _query(self, found: VisibleRows, items: Sequence[exp.Expr]) -> Query | None:
        """A query of rows that are visible, without what no query says."""
        context = self.judgement.context
        reader = replace(context.blocks, catalog=with_streams(context.catalog), queries={}, computed={})
        body: nodes.Tree = found.scans[0]
        for scan in found.scans[1:]:
            body = nodes.Join(nodes.JoinKind.INNER, body, scan, syntax=scan.syntax)
        conditions = [one for one in found.conditions if _read(reader, body, [one], []) is not None]
        named = [one for one in items if _read(reader, body, [], [one]) is not None]
        query = _read(reader, body, conditions, named)
        try:
            return None if query is None else derive(query).split
        except TooManyBranchesError:
            return None


def _read(
    reader: BlockReader, body: nodes.Tree, conditions: Sequence[exp.Expr], items: Sequence[exp.Expr]
) -> Query | None:
    where = conjunction(conditions)
    below = body if where is None else nodes.Filter(body, where, syntax=body.syntax)
    one = exp.Literal.number(1)
    named = [nodes.Named(f"c{n}", Scalar(item), alias=True) for n, item in enumerate(items or [one])]
    try:
        return reader.query(below, named)
    except Finding:
        return None


def _remembered(one: UnboundedState) -> Places | None:
    """The places of the columns that are remembered, among those that are kept of an operator's rows; None for all."""
    if one.operator is one.operation.tree and not isinstance(one.operator, _SETS):
        return one.operation.demand.columns
    return None
