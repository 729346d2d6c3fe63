"""Checks operations: each by the rule that it says, which an operator has one of, and those below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    Alias,
    Distinct,
    Join,
    JoinKind,
    Named,
    Project,
    Tree,
    Union,
)
from streambound.analyzer.algebra.syntax import column_of, scalar_of
from streambound.analyzer.block_columns import BlockColumns, with_conditions_above
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.query import Query
from streambound.preprocess.pipeline import Derivation, derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation.blocks import Blocks
from streambound.recheck.derivation.claims import ClaimedOperation, ClaimedStateCount, NotCheckedError, count_of
from streambound.recheck.derivation.counts import CountedColumns, Counts
from streambound.recheck.derivation.demand import Needed, require, require_place
from streambound.recheck.derivation.states import (
    BLOCK,
    EVER,
    NUMBER,
    ROW,
    SOURCES,
    ExpectedState,
    check_state,
    reason_of,
    retention_of,
)
from streambound.recheck.derivation.trees import PlanNode, pairs

OperatorRule = Callable[["OperationChecker", PlanNode, ClaimedOperation], None]
"""Checks the states of an operation, and what is needed of its inputs."""


@dataclass
class OperationChecker:
    """Checks the operations of a derivation by the ``rules`` of their operators.

    ``sizes`` are those of all states, ``relations`` those read already; of ``one_key`` each stream has one value.
    """

    rules: Mapping[type[Tree], OperatorRule]
    each_key: OperatorRule
    blocks: BlockReader
    counts: Counts
    of_blocks: Blocks
    sizes: dict[int, Quantity] = field(default_factory=dict)
    """By the claim, which is known by its identity."""
    relations: set[str] = field(default_factory=set)
    one_key: bool = False

    def check(self, node: PlanNode, needed: Needed, claim: ClaimedOperation) -> None:
        """Check an operation and all below it; raises RejectedError, or NotCheckedError for what has no function."""
        require_place(claim, node)
        require(needed, claim, node)
        match claim.rule:
            case "static":
                if not node.is_static or claim.states or claim.inputs or claim.block:
                    raise RejectedError("states of what does not change")
            case "block":
                self._block(node, claim)
            case "rows":
                self._rows_apart(node, claim)
            case "each key":
                self.each_key(self, node, claim)
            case "operator" | "sums" | "joined rows":
                if node.is_static or claim.block is not None:
                    raise RejectedError("a rule for what does not change, or for a block")
                if claim.rule == "sums" and not isinstance(node.tree, Aggregate):
                    raise RejectedError("sums of what has no groups")
                if claim.rule == "joined rows" and not isinstance(node.tree, Join):
                    raise RejectedError("joined rows of what is no join")
                rule = self.rules.get(type(node.tree))
                if rule is None:
                    raise NotCheckedError(f"the operator {claim.operator}")
                rule(self, node, claim)
            case _:
                raise NotCheckedError(f"the rule {claim.rule!r}")

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
            self.sizes[id(one)] = check_state(one, state, self.counts.symbols)

    def counted(
        self,
        claim: ClaimedOperation,
        place: int,
        rows: CountedColumns,
        results: Callable[[], Iterable[Query]] | None = None,
    ) -> tuple[Quantity, str, str]:
        """The size of a state, the reason and the retention, by its count; ``results`` are blocks that it may be of."""
        count = count_of(claim, place)
        if count.rule == "results":
            if results is None:
                raise RejectedError("results of what is no block")
            found = self.of_blocks.results([derive(one) for one in results()], count)
            self.counts.agreed(count.size, found)
        else:
            found = self.counts.most(count, rows)
        return found, reason_of(count), retention_of(count)

    def columns(self, node: PlanNode) -> BlockColumns:
        """What reads some columns of blocks."""
        return BlockColumns(self.blocks, node.catalog, () if node.recursion is None else node.recursion.schema)

    def is_at(self, count: ClaimedStateCount, node: PlanNode) -> bool:
        """Whether a count is of the rows of a node."""
        return count.node is not None and self.counts.facts.nodes.at(count.node).same(node)

    # --- blocks ---------------------------------------------------------------------------------------------------

    def is_block(self, node: PlanNode) -> bool:
        """Whether a node is a select-project-join block that reads streams."""
        return not node.is_static and is_block(node.tree, node.catalog)

    def _block(self, node: PlanNode, claim: ClaimedOperation) -> None:
        """A block as a bag or a set, or an outer, semi or anti join of two streams as an inner one."""
        tree = node.tree
        if isinstance(tree, Join) and not self.is_block(node):
            return self._pair_of_streams(node, tree, claim)
        if not self.is_block(node):
            raise RejectedError("a block where there is none")
        distinct = is_set(tree)
        places = None if distinct else frozenset(claim.columns)
        derivation = derive(self.columns(node).block(tree, places, distinct))
        more = self._results(derivation, claim) if distinct else []
        splits = [derivation.split, derivation.together]
        return self.tables(claim, splits, distinct, "set" if distinct else "bag", more)

    def _results(self, derivation: Derivation, claim: ClaimedOperation) -> list[ExpectedState]:
        """The results of a set, each remembered for ever."""
        count = count_of(claim, -1)
        if count.rule != "results":
            raise RejectedError("results that are counted as others")
        size = self.of_blocks.results([derivation], count)
        self.counts.agreed(count.size, size)
        return [ExpectedState("results", "set", (), ROW, size, BLOCK, EVER)]

    def tables(
        self,
        claim: ClaimedOperation,
        splits: Sequence[Query],
        distinct: bool,
        proposition: str,
        more: Sequence[ExpectedState] = (),
        newest: str = "",
    ) -> None:
        """The tables of a block, in one of the forms of its query, and other states of it."""
        if claim.block is None or claim.inputs:
            raise RejectedError("a block without its tables, or with inputs")
        sizes = self.of_blocks.tables(splits, claim.block, distinct, newest)
        self.states(claim, *(ExpectedState("table", proposition, (), NUMBER, size, BLOCK) for size in sizes), *more)

    def _rows_apart(self, node: PlanNode, claim: ClaimedOperation) -> None:
        """The rows of a block's streams, as long as they may be joined with others."""
        if not self.is_block(node) or claim.inputs or claim.block:
            raise RejectedError("rows of what is no block")
        distinct, body = is_set(node.tree), node
        while isinstance(body.tree, Project | Alias | Distinct):
            body = body.input("input")
        count = count_of(claim, 0)
        if count.rule != "apart":
            raise RejectedError("rows that are not kept apart")
        size = self.counts.most(count, CountedColumns(body, frozenset(), None))
        rows = ExpectedState("rows", "Lemma 1", (), SOURCES, size, reason_of(count), retention_of(count))
        query = self.columns(node).block(node.tree, None, True) if distinct else None
        self.states(claim, rows, *(self._results(derive(query), claim) if query is not None else []))

    def _pair_of_streams(self, node: PlanNode, tree: Join, claim: ClaimedOperation) -> None:
        """An outer, semi or anti join of two streams, by the tables of the inner one.

        B4: a row that cannot match is final at once. B3: of a semi or anti join the left side alone is shown. B1: the
        right side is asked for existence, so that, where it is never newer than the left one, its tables are a set's.
        """
        sides = node.input("left"), node.input("right")
        if tree.using or tree.kind in (JoinKind.INNER, JoinKind.NOT_IN) or not all(map(self.is_block, sides)):
            raise RejectedError("no join of two streams")
        columns = self.columns(node)
        shown = [column_of(node.schema[place]) for place in sorted(frozenset(claim.columns))]
        items = [Named(f"c{n}", scalar_of(one), alias=True) for n, one in enumerate(shown)]
        body = with_conditions_above(pairs(node).tree, columns)
        query = columns.items(body, items)
        asks = tree.kind in ONE_SIDED
        if claim.block is None:
            raise RejectedError("a join of two streams without its tables")
        derivation = derive(query)
        if len(derivation.split.branches) > 1 or any(len(one.sources) != 2 for one in derivation.split.branches):
            raise RejectedError("a join of more than two streams")
        if not claim.block.distinct:
            return self.tables(claim, [derivation.split, derivation.together], False, "B3" if asks else "B4")
        split = derivation.split.branches
        if not asks or not split:
            raise RejectedError("how often rows are there matters")
        left, right = (source.alias for source in split[0].sources)
        if not Conditions(split[0]).forced(right, left):
            raise RejectedError("rows of the left side that wait")
        derivation = derive(replace(query, distinct=True))
        return self.tables(claim, [derivation.split, derivation.together], True, "B1")


def is_set(tree: Tree) -> bool:
    """Whether a tree gives each row once."""
    return isinstance(tree, Distinct) or (isinstance(tree, Union) and tree.distinct)
