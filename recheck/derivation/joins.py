"""Joins over views: of each side the rows that may still meet one of the other side; versions of relations (E3)."""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import JoinKind, Tree
from streambound.analyzer.algebra.recent_rows import asks_for_newest
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.buckets import THE_TIME
from streambound.recheck.derivation.claims import ClaimedOperation, NotCheckedError
from streambound.recheck.derivation.counts import CountedColumns, FactsAbout, counted, known_at
from streambound.recheck.derivation.operations import ExpectedState, Needed, OperationChecker, require
from streambound.recheck.derivation.operators import all_rows
from streambound.recheck.derivation.plan import Places, PlanNode, listed, pairs, with_conditions, with_partners
from streambound.recheck.derivation.rows import only_grows, sources, version_of
from streambound.recheck.derivation.whole import WholeRows


def join(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """Of each side the rows that may still meet one of the other side, if both sides change."""
    tree, left, right = node.tree, node.input("left"), node.input("right")
    assert isinstance(tree, nodes.Join), "its rule"
    if tree.using:
        raise NotCheckedError("a join with USING")
    mine, theirs = _sides(node, tree, claim)
    if asks_for_newest(tree):  # G1
        if not operations.counts.is_of(claim.count(0), node):
            raise RejectedError("a count of the rows of another node")
        size = operations.counts.agreed(
            claim.count(0).size, WholeRows(operations.counts.symbols).of_recent(node, kept=True)
        )
        operations.states(claim, ExpectedState("rows", "G1", size))
        return operations.inputs(claim, (left, Needed(mine)), (right, Needed(right.every)))
    if claim.rule == "joined rows":
        return _rows_apart(operations, node, claim)
    version = version_of(right)
    if version is not None:
        return _as_of(operations, node, tree, version, (mine, theirs), claim)
    states = list[ExpectedState]()
    for what, side, needed in (("left", left, mine), ("right", right, theirs)):
        found = _side(operations, node, tree, what, side, needed, claim, len(states))
        states += [] if found is None else [found]
    operations.states(claim, *states)
    return operations.inputs(claim, (left, Needed(mine)), (right, Needed(theirs)))


def _sides(node: PlanNode, tree: nodes.Join, claim: ClaimedOperation) -> tuple[Places, Places]:
    """The demand of a join on its sides: the values that its condition reads, and the demand on its rows."""
    columns, width = frozenset(claim.columns), node.input("left").width
    read = pairs(node).read_by(tree.condition, tree.member)
    asked = read | (frozenset() if tree.kind in nodes.ONE_SIDED else columns)
    mine = frozenset(place for place in columns | asked if place < width)
    return mine, frozenset(place - width for place in asked if place >= width)


def _side(
    operations: OperationChecker, node: PlanNode, tree: nodes.Join, what: str, side: PlanNode, needed: Places,
    claim: ClaimedOperation, place: int,
) -> ExpectedState | None:  # fmt: skip
    """The expected state of one side; None if it needs none, as where the other side never changes."""
    other, first = (node.input("right"), 0) if what == "left" else (node.input("left"), node.input("left").width)
    if _is_recursive(side.tree):
        return None  # the recursion remembers its relation
    if side.is_static:
        return ExpectedState(what, "E1", all_rows(operations, claim.count(place), side))
    if other.is_static:
        return None
    claim.count(place)
    best = claim.states[place].best
    left_out = frozenset[int]() if best is None else _best(node, tree, what, best)
    asked = tree.member is not None or (tree.kind in nodes.ONE_SIDED and what == "right")
    compared = frozenset[int]() if asked else needed - {one - first for one in claim.columns}
    at = FactsAbout(pairs(node), {place: place + first for place in range(side.width)}, f"{what}.")
    rows = CountedColumns(side, needed - left_out, None, at, since=known_at(side), compared=compared)
    results = [operations.columns(side).block(side.tree, needed, True)] if operations.is_block(side) else None
    size = operations.counted(claim, place, rows, results)
    return ExpectedState(what, "E2" if isinstance(other.tree, nodes.Scan) and other.tree.changes else "D4", size)


def _best(node: PlanNode, tree: nodes.Join, what: str, column: int) -> Places:
    """B1: the column of which the best value is enough by the others, of rows whose existence alone is asked.

    Nothing takes these rows back, and the other side is compared with the column in one direction.
    """
    left, right, both = node.input("left"), node.input("right"), pairs(node)
    if what != "right" or tree.kind not in (JoinKind.SEMI, JoinKind.ANTI) or not only_grows(right):
        raise RejectedError("the best of what is more than asked for existence, or is taken back")
    place = column + left.width
    parts = [one for one in both.conditions if place in both.read_by(one)]
    if not 0 <= column < right.width or tree.member is not None:
        raise RejectedError("the best of what is no column")
    if {_wants_greatest(one, both, place, left.width) for one in parts} not in ({True}, {False}):
        raise RejectedError("the best of a column that is not compared, in one direction")
    return frozenset((column,))


def _wants_greatest(part: exp.Expr, both: PlanNode, place: int, width: int) -> bool | None:
    """Whether a comparison with the left side is true of all greater values, or of all lesser ones, else None."""
    if not isinstance(part, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    for own, other, is_left in ((part.left, part.right, True), (part.right, part.left, False)):
        own = own.unnest()
        while isinstance(own, exp.Add | exp.Sub) and not both.read_by(own.expression):
            own = own.this.unnest()  # the greater it is, the greater is the sum
        if both.place_of(own) == place and all(one < width for one in both.read_by(other)):
            return isinstance(part, exp.GT | exp.GTE) is is_left
    return None


def _rows_apart(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """The rows of the streams that joins are of, as long as a result that they are part of may change.

    Of the joins between nothing is kept: they are made again of these rows, and so is which rows have partners.
    """
    if claim.count(0).rule != "apart":
        raise RejectedError("rows that are not kept apart")
    size = operations.counts.most(claim.count(0), counted(with_partners(node), frozenset()))
    states = [ExpectedState("rows", "Lemma 1", size)]
    for place, relation in enumerate(_made_again(operations, node, claim, root=True), start=1):
        states.append(ExpectedState("relation", "E1", all_rows(operations, claim.count(place), relation)))
    operations.states(claim, *states)


def _made_again(
    operations: OperationChecker, node: PlanNode, claim: ClaimedOperation, root: bool = False
) -> list[PlanNode]:
    """Rows of joins without a state of their own, down to those of streams and the relations, which are returned."""
    if claim.block is not None or (claim.states and not root):
        raise RejectedError("states of rows that are made again")
    match node.tree:
        case nodes.Join(kind=kind, using=(), member=None) as tree if root or kind not in nodes.ONE_SIDED:
            below = list(zip(node.inputs.values(), _sides(node, tree, claim), strict=True))
        case nodes.Alias():
            below = [(node.below, frozenset(claim.columns))]
        case nodes.Project():
            places = frozenset(node.below.place_of(listed(node)[place]) for place in claim.columns)
            if None in places:
                raise RejectedError("rows that are made again are not computed with")
            below = [(node.below, frozenset(place for place in places if place is not None))]
        case _:
            raise RejectedError("rows that are not of streams")
    if len(claim.inputs) != len(below):
        raise RejectedError(f"a {claim.operator} of {len(claim.inputs)} inputs, not {len(below)}")
    relations = list[PlanNode]()
    for (given, needed), one in zip(below, claim.inputs, strict=True):
        if given.is_static:
            operations.check(given, Needed(needed), one)
            relations.append(given)
        elif one.rule != "block":
            given = with_conditions(given)
            require(Needed(needed), one, given)
            relations += _made_again(operations, given, one)
        else:
            operations.check(given, Needed(needed), one)
            if one.states or [source.is_stream for source in sources(given).values()] != [True]:
                raise RejectedError("rows that are not those of one stream")
    return relations


def _as_of(
    operations: OperationChecker, node: PlanNode, tree: nodes.Join, version: PlanNode, needed: tuple[Places, Places],
    claim: ClaimedOperation,
) -> None:  # fmt: skip
    """E3: a relation's rows at the frontier, where the time asked for is that at which the row beside it comes.

    Rows that are taken back before it, or at it, change with the relation until it has passed.
    """
    assert isinstance(version.tree, nodes.AsOf), "it is a version"
    left, relation = node.input("left"), version.below
    grows = only_grows(left)
    count = claim.count(0 if grows else 1)
    kinds = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
    if tree.kind not in kinds or not isinstance(relation.tree, nodes.Scan) or not relation.tree.changes:
        raise RejectedError("a version of what is no relation")
    place = left.place_of(version.tree.time)
    place = -1 if place is None else place
    time = operations.counts.facts.time(next(iter(count.closing), None), left, place)
    last = time.function == THE_TIME or time.function.name.endswith((".last", ".end"))
    ahead = not time.source and time.low is not None and time.low >= 0 and last and not operations.one_key
    if not (time.is_now if grows else ahead) or time.low is None or len(count.closing) != 1:
        raise RejectedError("a version as of another time than that at which rows come")
    mine, states = needed[0], [ExpectedState("right", "E3", all_rows(operations, count, relation))]
    if not grows:
        mine |= {place}
        rows = replace(counted(left, mine, frozenset((place,))), later=time.low + bool(time.function.name))
        states.insert(0, ExpectedState("left", "E3", operations.counted(claim, 0, rows)))
    operations.states(claim, *states)
    operations.inputs(claim, (left, Needed(mine)), (relation, Needed(needed[1])))


def _is_recursive(tree: Tree) -> bool:
    """Whether rows are made of those of a recursion, in its step, which reads these and their partners."""
    while isinstance(tree, nodes.Alias | nodes.Filter | nodes.Project):
        tree = tree.input
    if isinstance(tree, nodes.Join) and tree.kind is JoinKind.INNER:
        return _is_recursive(tree.left) or _is_recursive(tree.right)
    return isinstance(tree, nodes.Recur)
