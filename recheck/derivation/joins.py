"""Joins over views: of each side the rows that may still meet one of the other side; versions of relations (E3)."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Alias,
    AsOf,
    Filter,
    Join,
    JoinKind,
    Project,
    Recur,
    Scan,
    Tree,
)
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.query import Query
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedBest, ClaimedOperation, NotCheckedError, count_of
from streambound.recheck.derivation.counts import CountedColumns
from streambound.recheck.derivation.demand import Needed, needed_of, require, require_place
from streambound.recheck.derivation.operations import OperationChecker
from streambound.recheck.derivation.relations import all_rows
from streambound.recheck.derivation.states import (
    EVER,
    NUMBER,
    ROW,
    ROWS,
    SOURCES,
    ExpectedState,
    reason_of,
    retention_of,
)
from streambound.recheck.derivation.trees import (
    Places,
    PlanNode,
    listed,
    only_grows,
    pairs,
    sources,
    with_conditions,
    with_partners,
)


def join(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """Of each side the rows that may still meet one of the other side, if both sides change."""
    tree = node.tree
    assert isinstance(tree, Join), "its rule"
    if tree.using:
        raise NotCheckedError("a join with USING")
    left, right = node.input("left"), node.input("right")
    version = version_of(right)
    mine, theirs = _sides(node, tree, claim, left)
    if claim.rule == "joined rows":
        return _rows_apart(operations, node, claim)
    if version is not None:
        return _as_of(operations, node, tree, version, (mine, theirs), claim)
    states = list[ExpectedState]()
    for what, side, other, needed, first in (
        ("left", left, right, mine, 0),
        ("right", right, left, theirs, left.width),
    ):
        found = _side(operations, node, what, side, other, needed, first, claim, len(states))
        states += [] if found is None else [found]
    operations.states(claim, *states)
    return operations.inputs(claim, (left, mine), (right, theirs))


def _side(
    operations: OperationChecker,
    node: PlanNode,
    what: str,
    side: PlanNode,
    other: PlanNode,
    needed: Needed,
    first: int,
    claim: ClaimedOperation,
    place: int,
) -> ExpectedState | None:
    """What is remembered of one side; a side that does not change decides rows of the other when they come."""
    if _is_recursive(side.tree):
        return None  # the recursion remembers its relation
    if side.is_static:
        count = count_of(claim, place)
        if count.rule != "rows":
            raise RejectedError("rows of a relation that are counted as others")
        return ExpectedState(
            what, "E1", tuple(sorted(needed.columns)), NUMBER, all_rows(operations, count, side), ROWS, EVER
        )
    if other.is_static:
        return None
    count_of(claim, place)
    best = claim.states[place].best
    left_out = frozenset[int]() if best is None else _best(node, what, best)
    tree = node.tree
    shown = frozenset(place - first for place in needed_of(claim).columns)
    asked = isinstance(tree, Join) and (tree.member is not None or (tree.kind in ONE_SIDED and what == "right"))
    read_only = frozenset() if asked else needed.columns - shown
    rows = CountedColumns(side, needed.columns - left_out, None, pairs(node), first, read_only=read_only)

    def results() -> list[Query]:
        if not operations.is_block(side):
            raise RejectedError("results of what is no block")
        return [operations.columns(side).block(side.tree, needed.columns, True)]

    size, reason, retention = operations.counted(claim, place, rows, results)
    proposition = "E2" if isinstance(other.tree, Scan) and other.tree.changes else "D4"
    return ExpectedState(what, proposition, tuple(sorted(needed.columns)), NUMBER, size, reason, retention)


def _best(node: PlanNode, what: str, best: ClaimedBest) -> Places:
    """B1: the column of which the best value is enough by the others, of rows whose existence alone is asked.

    Nothing takes these rows back, and the other side is compared with the column in one direction.
    """
    tree, left, right = node.tree, node.input("left"), node.input("right")
    assert isinstance(tree, Join), "its rule"
    if what != "right" or tree.kind not in (JoinKind.SEMI, JoinKind.ANTI) or not only_grows(right):
        raise RejectedError("the best of what is more than asked for existence, or is taken back")
    both, place = pairs(node), best.column + left.width
    parts = [one for one in both.conditions if place in both.read_by(one)]
    if not 0 <= best.column < right.width or not parts or tree.member is not None:
        raise RejectedError("the best of a column that nothing is compared with")
    if any(_wants_greatest(one, both, place, left.width) is not best.greatest for one in parts):
        raise RejectedError("the best of a column that is not compared in one direction")
    return frozenset((best.column,))


def _wants_greatest(part: exp.Expr, both: PlanNode, place: int, width: int) -> bool | None:
    """Whether a comparison with the left side is true of all greater values, or of all lesser ones, else None."""
    if not isinstance(part, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    for own, other, is_left in ((part.left, part.right, True), (part.right, part.left, False)):
        if _moved(own, both) == place and all(one < width for one in both.read_by(other)):
            return isinstance(part, exp.GT | exp.GTE) is is_left
    return None


def _moved(node: exp.Expr, both: PlanNode) -> int | None:
    """The column that something is added to, which reads none: the greater it is, the greater is the sum."""
    node = node.unnest()
    while isinstance(node, exp.Add | exp.Sub) and not both.read_by(node.expression):
        node = node.this.unnest()
    return both.place_of(node)


def _rows_apart(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The rows of the streams that joins are of, as long as a result that they are part of may change.

    Of the joins between nothing is kept: they are made again of these rows, and so is which rows have partners.
    """
    count = count_of(claim, 0)
    if count.rule != "apart":
        raise RejectedError("rows that are not kept apart")
    size = operations.counts.most(count, CountedColumns(with_partners(node), frozenset(), None))
    states = [ExpectedState("rows", "Lemma 1", (), SOURCES, size, reason_of(count), retention_of(count))]
    for place, relation in enumerate(_made_again(operations, node, claim, root=True), start=1):
        rows = all_rows(operations, count_of(claim, place), relation)
        states.append(ExpectedState("relation", "E1", (), NUMBER, rows, ROWS, EVER))
    operations.states(claim, *states)


def _made_again(
    operations: OperationChecker, node: PlanNode, claim: ClaimedOperation, root: bool = False
) -> list[PlanNode]:
    """Rows of joins without a state of their own, down to those of streams and the relations, which are returned."""
    node = with_conditions(node)
    require_place(claim, node)
    if claim.block is not None or (claim.states and not root):
        raise RejectedError("states of rows that are made again")
    match node.tree:
        case Join(kind=kind, using=(), member=None) as tree if root or kind not in ONE_SIDED:
            left, right = node.input("left"), node.input("right")
            below = list(zip((left, right), _sides(node, tree, claim, left), strict=True))
        case Alias():
            below = [(node.input("input"), needed_of(claim))]
        case Project():
            given, items = node.input("input"), listed(node)
            places = [given.place_of(items[place]) for place in needed_of(claim).columns]
            if None in places:
                raise RejectedError("rows that are made again are not computed with")
            below = [(given, Needed(frozenset(place for place in places if place is not None)))]
        case _:
            raise RejectedError("rows that are not of streams")
    if len(claim.inputs) != len(below):
        raise RejectedError(f"a {claim.operator} of {len(claim.inputs)} inputs, not {len(below)}")
    relations = list[PlanNode]()
    for (given, needed), one in zip(below, claim.inputs, strict=True):
        if given.is_static:
            operations.check(given, needed, one)
            relations.append(given)
        elif one.rule != "block":
            require(needed, one, given)
            relations += _made_again(operations, given, one)
        else:
            operations.check(given, needed, one)
            if one.states or [source.is_stream for source in sources(given).values()] != [True]:
                raise RejectedError("rows that are not those of one stream")
    return relations


def _as_of(
    operations: OperationChecker,
    node: PlanNode,
    tree: Join,
    version: PlanNode,
    needed: tuple[Needed, Needed],
    claim: ClaimedOperation,
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
    time = operations.counts.facts.time(count.closing[0], left, place)
    if (time.source, time.low, time.high, time.function.name) != ("", 0, 0, ""):
        raise RejectedError("a version as of another time than that at which rows come")
    size = all_rows(operations, count, relation)
    operations.states(claim, ExpectedState("right", "E3", tuple(sorted(needed[1].columns)), ROW, size, ROWS))
    operations.inputs(claim, (left, needed[0]), (relation, needed[1]))


def _is_recursive(tree: Tree) -> bool:
    """Whether rows are made of those of a recursion, in its step, which reads these and their partners."""
    while isinstance(tree, Alias | Filter | Project):
        tree = tree.input
    if isinstance(tree, Join) and tree.kind is JoinKind.INNER:
        return _is_recursive(tree.left) or _is_recursive(tree.right)
    return isinstance(tree, Recur)


def version_of(node: PlanNode) -> PlanNode | None:
    """The relation as of a time that a side of a join is, with conditions above it."""
    while isinstance(node.tree, Filter) or (isinstance(node.tree, Alias) and not node.tree.columns):
        node = node.input("input")
    return node if isinstance(node.tree, AsOf) else None


def _sides(node: PlanNode, tree: Join, claim: ClaimedOperation, left: PlanNode) -> tuple[Needed, Needed]:
    """What a join needs of its sides: the values that its condition reads, and what is needed of its rows."""
    columns, both, width = needed_of(claim).columns, pairs(node), left.width
    read = both.read_by(tree.condition, tree.member)
    shown = frozenset() if tree.kind in ONE_SIDED else columns
    mine = frozenset(place for place in columns | read if place < width)
    return Needed(mine), Needed(frozenset(place - width for place in shown | read if place >= width))
