"""Checks operations: each by the rule that it says, which an operator has one of, what is needed, and those below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import JoinKind, Named, Scalar, Tree
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.block_columns import BlockColumns, with_conditions_above
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.query import Query
from streambound.preprocess.pipeline import Derivation, derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.certificates.validate import amount_faults
from streambound.recheck.derivation.blocks import Blocks
from streambound.recheck.derivation.claims import ClaimedOperation, ClaimedOperatorState, NotCheckedError
from streambound.recheck.derivation.counts import CountedColumns, Counts, counted
from streambound.recheck.derivation.plan import Places, PlanNode, pairs


class Needed(Struct, frozen=True):
    """At least this is needed of rows; of columns that are limited no greater values, or no further above others."""

    columns: Places
    limits: Mapping[tuple[int, int | None], int] = field(default_factory=dict)

    def of(self, places: Mapping[int, int], more: Places = frozenset()) -> Needed:
        """What is needed of rows that have these columns at other places; and more columns."""
        limits = {
            (places[one], other if other is None else places[other]): most
            for (one, other), most in self.limits.items()
            if one in places and (other is None or other in places)
        }
        return Needed(more.union(places[one] for one in self.columns if one in places), limits)


def needed_of(claim: ClaimedOperation) -> Needed:
    """The demand that a claimed operation states for its rows."""
    return Needed(frozenset(claim.columns), {(one.column, one.other): one.most for one in claim.limits})


def require(needed: Needed, claim: ClaimedOperation, node: PlanNode) -> None:
    """Raises RejectedError where an operation gives less than is needed, or is not that of a node."""
    given, at = needed_of(claim), node.tree.at
    if claim.operator != type(node.tree).__name__ or claim.at != (() if at is None else (at.line, at.column)):
        raise RejectedError(f"a {claim.operator}, where the statement has a {type(node.tree).__name__}")
    if not needed.columns <= given.columns <= node.every:
        raise RejectedError("columns that are needed are not said to be, or are none")
    if any(needed.limits.get(one, most + 1) > most for one, most in given.limits.items()):
        raise RejectedError("greater values are needed, or further apart")


class ExpectedState(Struct, frozen=True):
    """The state that a claim must state."""

    what: str
    proposition: str
    size: Quantity

    def check(self, claim: ClaimedOperatorState, symbols: dict[str, Quantity]) -> Quantity:
        """The size of a state; raises RejectedError where a claim says something else."""
        if (claim.what, claim.proposition) != (self.what, self.proposition):
            raise RejectedError(f"the state of {self.what} ({self.proposition}) is said to be another one")
        for fault in amount_faults(self.what, claim.size, self.size, symbols):
            raise RejectedError(fault)
        return self.size


OperatorRule = Callable[["OperationChecker", PlanNode, ClaimedOperation], None]
"""Checks the states of an operation, and what is needed of its inputs."""


class OperationChecker(Struct):
    """Checks the operations of a derivation by the ``rules`` of their operators.

    ``sizes`` are those of all states, ``relations`` those read already; of ``one_key`` each stream has one value.
    """

    rules: Mapping[type[Tree] | str, OperatorRule]
    blocks: BlockReader
    counts: Counts
    of_blocks: Blocks
    sizes: dict[int, Quantity] = field(default_factory=dict)
    """By the claim, which is known by its identity."""
    relations: set[str] = field(default_factory=set)
    one_key: bool = False

    def check(self, node: PlanNode, needed: Needed, claim: ClaimedOperation) -> None:
        """Check an operation and all below it; raises RejectedError, or NotCheckedError for what has no function."""
        require(needed, claim, node)
        if claim.rule == "block":
            return self._block(node, claim)
        if claim.block is not None or node.is_static is not (claim.rule == "static"):
            raise RejectedError("a rule for what does not change, or for a block")
        if claim.rule == "static":
            self.states(claim)
            return self.inputs(claim)
        kinds = {"sums": nodes.Aggregate, "joined rows": nodes.Join}
        if not isinstance(node.tree, kinds.get(claim.rule, nodes.Tree)):
            raise RejectedError("sums of what has no groups, or joined rows of what is no join")
        if claim.rule == "rows":
            return self._rows_apart(node, claim)
        rule = self.rules.get(type(node.tree) if claim.rule in ("operator", *kinds) else claim.rule)
        if rule is None:
            raise NotCheckedError(f"the operator {claim.operator} by the rule {claim.rule!r}")
        return rule(self, node, claim)

    def inputs(self, claim: ClaimedOperation, *below: tuple[PlanNode, Needed]) -> None:
        """Check the inputs of an operation."""
        if len(claim.inputs) != len(below):
            raise RejectedError(f"a {claim.operator} of {len(claim.inputs)} inputs, not {len(below)}")
        for (node, needed), one in zip(below, claim.inputs, strict=True):
            self.check(node, needed, one)

    def states(self, claim: ClaimedOperation, *expected: ExpectedState) -> None:
        """Check the states of an operation."""
        if len(claim.states) != len(expected):
            raise RejectedError(f"a {claim.operator} with {len(claim.states)} states, not {len(expected)}")
        for one, state in zip(claim.states, expected, strict=True):
            self.sizes[id(one)] = state.check(one, self.counts.symbols)

    def counted(
        self, claim: ClaimedOperation, place: int, rows: CountedColumns, results: Iterable[Query] | None = None,
        by_values: bool = False,
    ) -> Quantity:  # fmt: skip
        """The size of a state by its count; ``results`` are blocks that it may be of, ``by_values`` of theirs."""
        count = claim.count(place)
        if count.rule != "results":
            return self.counts.most(count, rows)
        if results is None:
            raise RejectedError("results of what is no block")
        return self.counts.agreed(count.size, self.of_blocks.results(map(derive, results), count, by_values))

    def columns(self, node: PlanNode) -> BlockColumns:
        """The reader of columns of blocks."""
        return BlockColumns(self.blocks, node.catalog, () if node.recursion is None else node.recursion.schema)

    # --- blocks ---------------------------------------------------------------------------------------------------

    def is_block(self, node: PlanNode) -> bool:
        """Whether a node is a select-project-join block that reads streams."""
        return not node.is_static and is_block(node.tree, node.catalog)

    def _block(self, node: PlanNode, claim: ClaimedOperation) -> None:
        """A block as a bag or a set, or an outer, semi or anti join of two streams as an inner one."""
        tree = node.tree
        if not self.is_block(node):
            return self._pair_of_streams(node, tree, claim)
        distinct = is_set(tree)
        derivation = derive(self.columns(node).block(tree, None if distinct else frozenset(claim.columns), distinct))
        more = [self._results(derivation, claim)] if distinct else []
        return self.tables(claim, derivation, distinct, "set" if distinct else "bag", more)

    def _results(self, derivation: Derivation, claim: ClaimedOperation) -> ExpectedState:
        """The results of a set, each remembered for ever."""
        count = claim.count(-1)
        if count.rule != "results":
            raise RejectedError("results that are counted as others")
        size = self.counts.agreed(count.size, self.of_blocks.results([derivation], count))
        return ExpectedState("results", "set", size)

    def tables(
        self,
        claim: ClaimedOperation,
        block: Derivation | Query,
        distinct: bool,
        proposition: str,
        more: Sequence[ExpectedState] = (),
        newest: str = "",
    ) -> None:
        """The tables of a block, in one of the forms of its query, and other states of it."""
        if claim.block is None or claim.inputs:
            raise RejectedError("a block without its tables, or with inputs")
        splits = [block] if isinstance(block, Query) else [block.split, block.together]
        sizes = self.of_blocks.tables(splits, claim.block, distinct, newest)
        self.states(claim, *(ExpectedState("table", proposition, size) for size in sizes), *more)

    def _rows_apart(self, node: PlanNode, claim: ClaimedOperation) -> None:
        """The rows of a block's streams, as long as they may be joined with others."""
        if not self.is_block(node) or claim.inputs:
            raise RejectedError("rows of what is no block")
        distinct, body = is_set(node.tree), node
        while isinstance(body.tree, nodes.Project | nodes.Alias | nodes.Distinct):
            body = body.below
        if claim.count(0).rule != "apart":
            raise RejectedError("rows that are not kept apart")
        rows = ExpectedState("rows", "Lemma 1", self.counts.most(claim.count(0), counted(body, frozenset())))
        query = self.columns(node).block(node.tree, None, True) if distinct else None
        self.states(claim, rows, *([] if query is None else [self._results(derive(query), claim)]))

    def _pair_of_streams(self, node: PlanNode, tree: Tree, claim: ClaimedOperation) -> None:
        """An outer, semi or anti join of two streams, by the tables of the inner one.

        B4: a row that cannot match is final at once. B3: a semi or anti join selects only left rows. B1: the
        existence of right rows is all that matters, so where these are never newer, the tables are those of a set.
        """
        fine = isinstance(tree, nodes.Join) and tree.kind not in (JoinKind.INNER, JoinKind.NOT_IN) and not tree.using
        if not isinstance(tree, nodes.Join) or not fine or not all(map(self.is_block, node.inputs.values())):
            raise RejectedError("no block, nor a join of two streams")
        columns, shown = self.columns(node), [column_of(node.schema[place]) for place in sorted({*claim.columns})]
        items = [Named(f"c{n}", Scalar(one), alias=True) for n, one in enumerate(shown)]
        query = columns.items(with_conditions_above(pairs(node).tree, columns), items)
        asks, derivation = tree.kind in nodes.ONE_SIDED, derive(query)
        split = derivation.split.branches
        if len(split) > 1 or any(len(one.sources) != 2 for one in split):
            raise RejectedError("a join of more than two streams")
        if claim.block is None or not claim.block.distinct:
            return self.tables(claim, derivation, False, "B3" if asks else "B4")
        if not asks or not split:
            raise RejectedError("how often rows are there matters")
        left, right = (source.alias for source in split[0].sources)
        if not Conditions(split[0]).forced(right, left):
            raise RejectedError("rows of the left side that wait")
        return self.tables(claim, derive(replace(query, distinct=True)), True, "B1")


def is_set(tree: Tree) -> bool:
    """Whether a tree gives each row once."""
    return isinstance(tree, nodes.Distinct) or (isinstance(tree, nodes.Union) and tree.distinct)
