"""One function a rule of an operator: which states there are, what they hold, and what is needed of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    Alias,
    AsOf,
    Bucket,
    BucketKind,
    Distinct,
    Except,
    Filter,
    Fixpoint,
    Intersect,
    Join,
    JoinKind,
    Named,
    Project,
    Recur,
    Scan,
    SpjBlock,
    Tree,
    Union,
)
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.syntax import column_of, scalar_of
from streambound.analyzer.block_columns import BlockColumns, with_conditions_above
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.query import Query
from streambound.analyzer.symbols import symbol
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.aggregates import groups
from streambound.recheck.derivation.blocks import Blocks
from streambound.recheck.derivation.claims import ClaimedCount, ClaimedOperation, NotCheckedError, count_of
from streambound.recheck.derivation.counts import CountedRows, Counts
from streambound.recheck.derivation.demand import Needed, everything, factors_of, needed_of, require, require_place
from streambound.recheck.derivation.sets import set_operation
from streambound.recheck.derivation.states import (
    BLOCK,
    EVER,
    NUMBER,
    PRESENT,
    ROW,
    ROWS,
    SUMS,
    State,
    check_state,
    reason_of,
    retention_of,
)
from streambound.recheck.derivation.trees import Node, Places, listed, only_grows, pairs, sources


@dataclass
class Operators:
    """Checks the operations of a derivation; ``sizes`` are those of all states, ``relations`` those read already."""

    blocks: BlockReader
    counts: Counts
    of_blocks: Blocks
    sizes: list[Quantity] = field(default_factory=list)
    relations: set[str] = field(default_factory=set)

    def check(self, node: Node, needed: Needed, claim: ClaimedOperation) -> None:
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
            case "operator":
                if node.is_static or claim.block is not None:
                    raise RejectedError("a rule for what does not change, or for a block")
                self._operator(node, claim)
            case _:
                raise NotCheckedError(f"the rule {claim.rule!r}")

    def inputs(self, claim: ClaimedOperation, *below: tuple[Node, Needed]) -> None:
        """Check the inputs of an operation."""
        if len(claim.inputs) != len(below):
            raise RejectedError(f"a {claim.operator} of {len(claim.inputs)} inputs, not {len(below)}")
        for (node, needed), one in zip(below, claim.inputs, strict=True):
            self.check(node, needed, one)

    def states(self, claim: ClaimedOperation, *expected: State) -> None:
        """Check the states of an operation."""
        if len(claim.states) != len(expected):
            raise RejectedError(f"a {claim.operator} with {len(claim.states)} states, not {len(expected)}")
        for one, state in zip(claim.states, expected, strict=True):
            self.sizes.append(check_state(one, state, self.counts.symbols))

    def counted(
        self,
        claim: ClaimedOperation,
        place: int,
        rows: CountedRows,
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

    def columns(self, node: Node) -> BlockColumns:
        """What reads some columns of blocks."""
        return BlockColumns(self.blocks, node.catalog, () if node.recursion is None else node.recursion.schema)

    def is_at(self, count: ClaimedCount, node: Node) -> bool:
        """Whether a count is of the rows of a node."""
        return count.node is not None and self.counts.facts.nodes.at(count.node).same(node)

    # --- blocks ---------------------------------------------------------------------------------------------------

    def is_block(self, node: Node) -> bool:
        """Whether a node is a select-project-join block that reads streams."""
        return not node.is_static and is_block(node.tree, node.catalog)

    def _block(self, node: Node, claim: ClaimedOperation) -> None:
        """A block as a bag or a set, or an outer, semi or anti join of two streams as an inner one."""
        tree = node.tree
        if isinstance(tree, Join) and not self.is_block(node):
            return self._pair_of_streams(node, tree, claim)
        if not self.is_block(node):
            raise RejectedError("a block where there is none")
        distinct = is_set(tree)
        places = None if distinct else claim.every
        derivation = derive(self.columns(node).block(tree, places, distinct))
        more = []
        if distinct:
            count = count_of(claim, -1)
            if count.rule != "results":
                raise RejectedError("results that are counted as others")
            size = self.of_blocks.results([derivation], count)
            self.counts.agreed(count.size, size)
            more = [State("results", "set", (), ROW, size, BLOCK, EVER)]
        splits = [derivation.split, derivation.together]
        return self.tables(claim, splits, distinct, "set" if distinct else "bag", more)

    def tables(
        self,
        claim: ClaimedOperation,
        splits: Sequence[Query],
        distinct: bool,
        proposition: str,
        more: Sequence[State] = (),
        newest: str = "",
    ) -> None:
        """The tables of a block, in one of the forms of its query, and other states of it."""
        if claim.block is None or claim.inputs:
            raise RejectedError("a block without its tables, or with inputs")
        sizes = self.of_blocks.tables(splits, claim.block, distinct, newest)
        self.states(claim, *(State("table", proposition, (), NUMBER, size, BLOCK) for size in sizes), *more)

    def _rows_apart(self, node: Node, claim: ClaimedOperation) -> None:
        """The rows of a block's streams, as long as they may be joined with others."""
        if not self.is_block(node) or is_set(node.tree) or claim.inputs or claim.block:
            raise RejectedError("rows of what is no block")
        body = node
        while isinstance(body.tree, Project | Alias):
            body = body.input("input")
        count = count_of(claim, 0)
        if count.rule != "apart":
            raise RejectedError("rows that are not kept apart")
        size = self.counts.most(count, CountedRows(body, frozenset(), None))
        self.states(claim, State("rows", "Lemma 1", (), ROW, size, reason_of(count), retention_of(count)))

    def _pair_of_streams(self, node: Node, tree: Join, claim: ClaimedOperation) -> None:
        """An outer, semi or anti join of two streams, by the tables of the inner one.

        B4: a row that cannot match is final at once. B3: of a semi or anti join the left side alone is shown. B1: the
        right side is asked for existence, so that, where it is never newer than the left one, its tables are a set's.
        """
        sides = node.input("left"), node.input("right")
        if tree.using or tree.kind in (JoinKind.INNER, JoinKind.NOT_IN) or not all(map(self.is_block, sides)):
            raise RejectedError("no join of two streams")
        columns = self.columns(node)
        shown = [column_of(node.schema[place]) for place in sorted(claim.every)]
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

    # --- operators ------------------------------------------------------------------------------------------------

    def _operator(self, node: Node, claim: ClaimedOperation) -> None:
        needed, tree = needed_of(claim), node.tree
        match tree:
            case Scan():
                self._relation(node, tree, claim)
            case Filter(condition=condition):
                below = node.input("input")
                limited = Needed(needed.columns, needed.factors, {**needed.most, **_limits(node, needed)})
                self._linear(claim, (below, limited.reading(below.read_by(condition))))
            case Project():
                self._linear(claim, (node.input("input"), _of_items(node, needed)))
            case Alias() | SpjBlock():
                self._linear(claim, (node.input("input"), needed))
            case Union(distinct=False):
                self._linear(claim, (node.input("left"), needed), (node.input("right"), needed))
            case Bucket():
                self._bucket(node, tree, claim)
            case Distinct() | Union():
                self._distinct(node, claim)
            case Except() | Intersect():
                set_operation(self, node, tree, claim)
            case Join():
                self._join(node, tree, claim)
            case Aggregate():
                groups(self, node, tree, claim)
            case Fixpoint():
                self._fixpoint(node, tree, claim)
            case Recur():
                self._linear(claim)
            case _:
                raise NotCheckedError(f"the operator {claim.operator}")

    def _linear(self, claim: ClaimedOperation, *below: tuple[Node, Needed]) -> None:
        """An operator that remembers nothing."""
        self.states(claim)
        self.inputs(claim, *below)

    def _bucket(self, node: Node, tree: Bucket, claim: ClaimedOperation) -> None:
        """Buckets need the time of a row, and remember nothing; sessions are kept by the groups that are of them."""
        if tree.kind is BucketKind.SESSION:
            raise NotCheckedError("sessions")
        needed, below = needed_of(claim), node.input("input")
        factors = needed.factors
        if any(not one <= below.every for one in factors):
            needed, factors = Needed(needed.every), frozenset()
        own = Needed(needed.columns & below.every, factors, needed.most)
        self._linear(claim, (below, own.reading(below.read_by(tree.time, *tree.keys))))

    def _relation(self, node: Node, tree: Scan, claim: ClaimedOperation) -> None:
        """E1: the rows of a relation that changes, once for all that read it."""
        table = node.catalog.table(tree.table)
        if table is None or table.changes is None or claim.inputs:
            raise RejectedError("a scan of what does not change")
        key = tuple(range(node.width))
        count = count_of(claim, 0)
        size = self._all_rows(count, node)
        seen, before = table.name in self.relations, len(self.sizes)
        self.states(claim, State("relation", "E1", key, ROW, size, reason_of(count), PRESENT))
        if seen:
            del self.sizes[before:]
        self.relations.add(table.name)

    def _all_rows(self, count: ClaimedCount, node: Node) -> Quantity:
        """The rows of a relation: as many as it is declared to have, or as its key has values."""
        below, names = node, ""
        while isinstance(below.tree, Filter | Alias | Project | SpjBlock):
            below = below.input("input")
        table = below.catalog.table(below.tree.table) if isinstance(below.tree, Scan) else None
        if table is None or sources(below)[below.tree.alias].is_stream:  # type: ignore[union-attr]
            raise NotCheckedError("rows of what is computed of relations")
        if count.rule != "rows":
            if table.changes is None or not table.changes.key or below is not node:
                raise NotCheckedError("rows of relations by a key")
            keys = {one.lower() for one in table.changes.key}
            places = frozenset(p for p, c in enumerate(node.schema) if c.name.lower() in keys)
            return self.counts.most(count, CountedRows(node, places, None))
        if table.is_fixed:
            names = symbol("rows", table.name)
            self.counts.symbols.setdefault(names, Quantity.symbol(names, table.rows))
            size = self.counts.symbols[names]
        elif table.rows is not None:
            size = Quantity.number(table.rows)
        else:
            raise RejectedError("a relation without a number of rows")
        self.counts.agreed(count.size, size)
        return size

    def _distinct(self, node: Node, claim: ClaimedOperation) -> None:
        """The different rows of a view."""
        size, reason, retention = self.counted(claim, 0, CountedRows(node, node.every, node.every))
        state = State("distinct", "Lemma 1", tuple(range(node.width)), ROW, size, reason, retention)
        self.states(claim, state)
        names = ("left", "right") if isinstance(node.tree, Union) else ("input",)
        self.inputs(claim, *((below, everything(below)) for below in map(node.input, names)))

    def _fixpoint(self, node: Node, tree: Fixpoint, claim: ClaimedOperation) -> None:
        """F2: the rows of the least fixpoint, of which each column has few values; F3: the base's, if some go."""
        if not tree.distinct:
            raise RejectedError("a recursion that need not end")
        base, step = node.input("base"), node.input("step")
        size, reason, retention = self.counted(claim, 0, CountedRows(node, node.every, node.every))
        states = [State("recursion", "F2", tuple(range(node.width)), ROW, size, reason, retention)]
        if not (only_grows(base) and only_grows(step)) and not base.is_static:
            size, reason, retention = self.counted(claim, 1, CountedRows(base, base.every, base.every))
            states.append(State("base", "F3", tuple(range(base.width)), ROW, size, reason, retention))
        self.states(claim, *states)
        self.inputs(claim, (base, everything(base)), (step, everything(step)))

    # --- joins ----------------------------------------------------------------------------------------------------

    def _join(self, node: Node, tree: Join, claim: ClaimedOperation) -> None:
        """Of each side the rows that may still meet one of the other side, if both sides change."""
        if tree.using:
            raise NotCheckedError("a join with USING")
        left, right = node.input("left"), node.input("right")
        version = _version(right)
        mine, theirs = _sides(node, tree, claim, left)
        if version is not None:
            return self._as_of(node, tree, version, (mine, theirs), claim)
        given = [needed_of(one) for one in claim.inputs] if len(claim.inputs) == 2 else [mine, theirs]
        states = list[State]()
        for what, side, other, needed, first in (
            ("left", left, right, given[0], 0),
            ("right", right, left, given[1], left.width),
        ):
            found = self._side(node, what, side, other, needed, first, claim, len(states))
            states += [] if found is None else [found]
        self.states(claim, *states)
        return self.inputs(claim, (left, mine), (right, theirs))

    def _side(
        self,
        node: Node,
        what: str,
        side: Node,
        other: Node,
        needed: Needed,
        first: int,
        claim: ClaimedOperation,
        place: int,
    ) -> State | None:
        """What is remembered of one side; a side that does not change decides rows of the other when they come."""
        if _is_recursive(side.tree):
            return None  # the recursion remembers its relation
        entry = SUMS if needed.factors else NUMBER
        if side.is_static:
            count = count_of(claim, place)
            if count.rule != "rows":
                raise RejectedError("rows of a relation that are counted as others")
            return State(what, "E1", tuple(sorted(needed.every)), entry, self._all_rows(count, side), ROWS, EVER)
        if other.is_static:
            return None
        rows = CountedRows(side, needed.columns, None, pairs(node), first)

        def results() -> list[Query]:
            if not self.is_block(side):
                raise RejectedError("results of what is no block")
            return [self.columns(side).block(side.tree, needed.columns, True)]

        size, reason, retention = self.counted(claim, place, rows, results)
        proposition = "E2" if isinstance(other.tree, Scan) and other.tree.changes else "D4"
        return State(what, proposition, tuple(sorted(needed.columns)), entry, size, reason, retention)

    def _as_of(
        self, node: Node, tree: Join, version: Node, needed: tuple[Needed, Needed], claim: ClaimedOperation
    ) -> None:
        """E3: a relation's rows at the frontier, where the time asked for is that at which the row beside it comes."""
        assert isinstance(version.tree, AsOf), "it is a version"
        left, relation = node.input("left"), version.input("input")
        kinds = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
        if tree.kind not in kinds or not isinstance(relation.tree, Scan):
            raise RejectedError("a version of what is no relation")
        count = count_of(claim, 0)
        place = left.place_of(parsed(version.tree.time))
        if not relation.tree.changes or place is None or not only_grows(left) or len(count.closing) != 1:
            raise RejectedError("a version as of another time than that at which rows come")
        time = self.counts.facts.time(count.closing[0], left, place)
        if (time.source, time.low, time.high, time.function.name) != ("", 0, 0, ""):
            raise RejectedError("a version as of another time than that at which rows come")
        size = self._all_rows(count, relation)
        given = needed_of(claim.inputs[1]) if len(claim.inputs) == 2 else needed[1]
        self.states(claim, State("right", "E3", tuple(sorted(given.every)), ROW, size, ROWS))
        self.inputs(claim, (left, needed[0]), (relation, needed[1]))


def is_set(tree: Tree) -> bool:
    """Whether a tree gives each row once."""
    return isinstance(tree, Distinct) or (isinstance(tree, Union) and tree.distinct)


def _is_recursive(tree: Tree) -> bool:
    while isinstance(tree, Alias | Filter | Project):
        tree = tree.input
    return isinstance(tree, Recur)


def _version(node: Node) -> Node | None:
    """The relation as of a time that a side of a join is, with conditions above it."""
    while isinstance(node.tree, Filter) or (isinstance(node.tree, Alias) and not node.tree.columns):
        node = node.input("input")
    return node if isinstance(node.tree, AsOf) else None


def _sides(node: Node, tree: Join, claim: ClaimedOperation, left: Node) -> tuple[Needed, Needed]:
    """What a join needs of its sides: the values that its condition reads, and what is needed of its rows."""
    needed, both, width = needed_of(claim), pairs(node), left.width
    read = both.read_by(tree.condition, tree.member)
    mine, others = frozenset(range(width)), frozenset(range(width, both.width))
    shown = frozenset() if tree.kind in ONE_SIDED else others
    mixed = [one for one in needed.factors if not one <= mine and not one <= shown]
    columns = needed.columns.union(*mixed)
    factors = [one for one in needed.factors if one not in mixed]

    def of_side(side: Places, first: int, given: Places) -> Needed:
        own = frozenset(place - first for place in (columns & given) | (read & side))
        return Needed(own, frozenset(frozenset(p - first for p in one) for one in factors if one <= given))

    return of_side(mine, 0, mine), of_side(others, width, shown)


def _limits(node: Node, needed: Needed) -> dict[int, int]:
    """The greatest values that a condition leaves of columns, where no smaller ones are asked for above."""
    found: dict[int, int] = {}
    for place in range(node.width):
        ends = [atoms.values(one, node.row, place).ends[1] for one in node.conditions]
        whole = [one for one in (*ends, needed.most.get(place)) if isinstance(one, int)]
        if whole:
            found[place] = min(whole)
    return found


def _of_items(node: Node, needed: Needed) -> Needed:
    """What a select list needs of its input."""
    below, items = node.input("input"), listed(node)
    columns = frozenset[int]().union(*(below.read_by(items[place]) for place in needed.columns))
    factors = set[Places]()
    for factor in needed.factors:
        products = factors_of(items[next(iter(factor))], below) if len(factor) == 1 else None
        if products is None:
            products = frozenset((frozenset[int]().union(*(below.read_by(items[place]) for place in factor)),))
        factors |= products
    most = {place: n for one, n in needed.most.items() if (place := below.place_of(items[one])) is not None}
    return Needed(columns, frozenset(factors) - {frozenset()}, most)
