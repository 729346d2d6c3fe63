"""What is remembered for each key that ends (K3), and the keys by which entries go (K0).

If all that an operator compares, joins or groups has the key among what must be equal, rows of different keys never
meet: the result is the sum of those for one key each, and what is remembered for a key goes when it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    Bucket,
    BucketKind,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Over,
    Project,
    SpjBlock,
    Union,
)
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.query import Attribute, Branch
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.distances import ContradictionError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation.claims import ClaimedOperation, ClaimedOperatorState, NotCheckedError
from streambound.recheck.derivation.counts import Counts
from streambound.recheck.derivation.demand import needed_of
from streambound.recheck.derivation.facts import checked_facts
from streambound.recheck.derivation.joins import version_of
from streambound.recheck.derivation.operations import OperationChecker, is_set
from streambound.recheck.derivation.states import KEY, LAST_ENDED, OPEN_KEYS, ROW, TIME, ExpectedState
from streambound.recheck.derivation.trees import Places, PlanNode, PlanNodes, origin, pairs

KeyPlaces = tuple[Places, ...]
"""For each attribute of the key, the columns that hold it in every row."""
_OF_RELATIONS = ("E1", "E3")
"""The propositions of states that are rows of relations: these have no key, and are remembered once."""


def of_each_key(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """An operation of one key, for each that is open."""
    if (
        claim.each is None
        or claim.each.rule != "one key"
        or claim.inputs
        or claim.block is not None
        or operations.one_key
    ):
        raise RejectedError("keys of what is not of one key each")
    tables = [table for scan in scans(node.tree) if (table := node.catalog.table(scan.table)) is not None]
    key = next((one for table in tables for one in table.ending if one.name == claim.each.key), None)
    if key is None or key.max_open is None:
        raise RejectedError("a key that does not end")
    one = with_one_key(node, key)
    counts = operations.counts
    facts = checked_facts(PlanNodes(one, claim.each.nodes), claim.each.facts)
    blocks = replace(operations.blocks, catalog=one.catalog)
    inner = replace(operations, blocks=blocks, counts=Counts(facts, counts.symbols), one_key=True)
    inner.sizes, inner.relations = {}, set()
    key_places(inner, one, len(key.attributes))
    inner.check(one, needed_of(claim), claim.each.operation)
    facts.require_used()
    if inner.relations & operations.relations:
        raise NotCheckedError("a relation that is read beside keys that end, and for each")
    operations.relations |= inner.relations
    states = [state for state in states_of(claim.each.operation) if id(state) in inner.sizes]
    if any(state.retention == TIME for state in states):
        raise RejectedError("entries that go by time beside keys that end")
    most = Quantity.number(key.max_open)
    operations.states(claim, *(_for_all(state, inner.sizes[id(state)], most) for state in states))


def _for_all(state: ClaimedOperatorState, size: Quantity, most: Quantity) -> ExpectedState:
    own = ExpectedState(state.what, state.proposition, state.key, state.entry, size, state.reason, state.retention)
    if state.proposition in _OF_RELATIONS:
        return own
    return replace(own, proposition="K3", size=most * size, reason=OPEN_KEYS, retention=KEY)


def states_of(claim: ClaimedOperation) -> Iterator[ClaimedOperatorState]:
    """The states of the operations below, then those of one."""
    for below in claim.inputs:
        yield from states_of(below)
    yield from claim.states


def with_one_key(node: PlanNode, key: StreamKey) -> PlanNode:
    """A node where the streams that have a key have one value of it."""

    def one(table: DeclaredTable) -> DeclaredTable:
        mine = next((other for other in table.ending if other.name == key.name), None)
        return replace(table, one_key=mine, ending=(), punctuations=())

    return replace(node, catalog=replace(node.catalog, tables=tuple(map(one, node.catalog.tables))))


def open_keys(node: PlanNode) -> list[ExpectedState]:
    """K0: the keys of punctuations that are open, and as many that have ended last."""
    found = list[ExpectedState]()
    tables = [table for scan in scans(node.tree) if (table := node.catalog.table(scan.table)) is not None]
    for stream in dict.fromkeys(key.stream for table in tables for key in table.ending):
        brings = node.catalog.table(stream)
        for one in brings.punctuations if brings is not None else ():
            for what, goes in (("open", KEY), ("ended", LAST_ENDED)) if one.max_open is not None else ():
                size = Quantity.number(one.max_open or 0)
                found.append(ExpectedState(f"{what} keys of {stream}", "K0", (), ROW, size, OPEN_KEYS, goes))
    return found


# --- where the key is -------------------------------------------------------------------------------------------------


def key_places(operations: OperationChecker, node: PlanNode, width: int) -> KeyPlaces:
    """The columns that hold the key; raises RejectedError where rows of different keys meet."""
    if operations.is_block(node):
        return _of_block(operations, node, width)

    def below(name: str) -> KeyPlaces:
        return key_places(operations, node.input(name), width)

    match node.tree:
        case Filter() | Alias() | SpjBlock():
            return below("input")
        case Bucket(kind=kind) if kind is not BucketKind.SESSION:
            return below("input")
        case Project():
            return _moved(below("input"), _origins(node, range(node.width)))
        case Distinct():
            return _known(below("input"))
        case Union(distinct=distinct):
            both = _common([below("left"), below("right")])
            return _known(both) if distinct else both
        case Except() | Intersect():
            return _known(_common([below("left"), below("right")]))
        case Aggregate(keys=keys):
            return _known(_moved(below("input"), _origins(node, range(len(keys)))))
        case Over(calls=calls):
            found, given = below("input"), node.input("input")
            partitions = [{given.place_of(parsed(one)) for one in call.partition} for call in calls]
            if not all(one & places for places in partitions for one in found):
                raise RejectedError("partitions of rows of different keys")
            return found
        case Join():
            return _of_join(operations, node, node.tree, width)
    raise RejectedError(f"a {type(node.tree).__name__} of rows of different keys")


def _known(found: KeyPlaces) -> KeyPlaces:
    """The same where each attribute is held by a column, which what is compared then has."""
    if not all(found):
        raise RejectedError("rows of different keys that are compared")
    return found


def _common(several: Iterable[KeyPlaces]) -> KeyPlaces:
    return tuple(frozenset.intersection(*ones) for ones in zip(*several, strict=True))


def _origins(node: PlanNode, places: Iterable[int]) -> dict[int, int | None]:
    found = {place: origin(node, place) for place in places}
    return {place: None if one is None else one.column for place, one in found.items()}


def _moved(found: KeyPlaces, shown: Mapping[int, int | None]) -> KeyPlaces:
    """The columns that hold the key, where columns are those of an input's at these places."""
    return tuple(frozenset(place for place, of in shown.items() if of in one) for one in found)


def _of_join(operations: OperationChecker, node: PlanNode, tree: Join, width: int) -> KeyPlaces:
    """A join of rows of one key: its condition makes those of both sides equal, or a side has no key."""
    left, right = node.input("left"), node.input("right")
    if tree.using or tree.kind is JoinKind.NOT_IN:
        raise RejectedError("rows of different keys in NOT IN, or in columns that USING joins")
    if right.is_static or version_of(right) is not None:
        if tree.kind in (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI):
            return key_places(operations, left, width)
        raise RejectedError("rows of a relation, beside those of each key")
    theirs = tuple(frozenset(place + left.width for place in one) for one in key_places(operations, right, width))
    if left.is_static:
        if tree.kind in (JoinKind.INNER, JoinKind.RIGHT):
            return theirs
        raise RejectedError("rows of a relation, beside those of each key")
    mine, both = key_places(operations, left, width), pairs(node)
    equal = [
        {both.place_of(part.left), both.place_of(part.right)} for part in both.conditions if isinstance(part, exp.EQ)
    ]
    if not all(any(two & one and two & other for two in equal) for one, other in zip(mine, theirs, strict=True)):
        raise RejectedError("a join of rows of different keys")
    match tree.kind:
        case JoinKind.INNER:
            return tuple(one | other for one, other in zip(mine, theirs, strict=True))
        case JoinKind.RIGHT:
            return theirs
        case JoinKind.FULL:
            return tuple(frozenset[int]() for _ in mine)
    return mine


def _of_block(operations: OperationChecker, node: PlanNode, width: int) -> KeyPlaces:
    distinct = is_set(node.tree)
    branches = derive(operations.columns(node).block(node.tree, None, distinct)).split.branches
    known = [one for branch in branches if (one := _of_branch(branch, node.width, width)) is not None]
    found = _common([tuple(node.every for _ in range(width)), *known])
    return _known(found) if distinct else found


def _of_branch(branch: Branch, columns: int, width: int) -> KeyPlaces | None:
    """The columns that hold the key in a branch; None where nothing satisfies it."""
    conditions, found = Conditions(branch), list[Places]()
    values = [output.value for output in branch.outputs[:columns]]
    keys = {source.alias: source.one_key for source in branch.sources if source.alias in conditions.streams}
    for number in range(width):
        mine = [Attribute(alias, key.attributes[number]) for alias, key in keys.items() if key is not None]
        try:
            alike = all(conditions.equal(mine[0], other) == 0 for other in mine[1:])
        except ContradictionError:
            return None
        if len(mine) < len(keys) or not mine or not alike:
            raise RejectedError("a block of rows of different keys")
        found.append(frozenset(place for place, value in enumerate(values) if value in mine))
    return tuple(found)
