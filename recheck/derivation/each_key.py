"""What is remembered for each key that ends (K3), the keys by which entries go (K0), and those that come once (K4).

If all that an operator compares, joins or groups has the key among what must be equal, rows of different keys never
meet: the result is the sum of those for one key each, and what is remembered for a key goes when it ends.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.algebra.nodes import JoinKind
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.query import Attribute, Branch
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions, ContradictionError
from streambound.recheck.certificates.quantity import Quantity, product
from streambound.recheck.derivation.claims import ClaimedOperation, NotCheckedError
from streambound.recheck.derivation.counts import Counts
from streambound.recheck.derivation.log import checked_facts
from streambound.recheck.derivation.operations import ExpectedState, OperationChecker, is_set, needed_of
from streambound.recheck.derivation.plan import Places, PlanNode, PlanNodes, is_session, origin, pairs
from streambound.recheck.derivation.rows import only_grows, version_of
from streambound.recheck.derivation.whole import stream_rows

KeyPlaces = tuple[Places, ...]
"""For each attribute of the key, the columns that hold it in every row."""
_OF_RELATIONS = ("E1", "E3")
"""The propositions of states that are rows of relations: these have no key, and are remembered once."""


def of_each_key(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """An operation of one key, for each that is open."""
    if claim.each is None or claim.inputs or operations.one_key:
        raise RejectedError("keys of what is not of one key each")
    key = next((one for table in _tables(node) for one in table.ending if one.name == claim.each.key), None)
    if key is None or key.max_open is None:
        raise RejectedError("a key that does not end")
    one = with_one_key(node, key)
    facts = checked_facts(PlanNodes(one, claim.each.nodes), claim.each.facts)
    blocks, counts = replace(operations.blocks, catalog=one.catalog), Counts(facts, operations.counts.symbols)
    inner = replace(operations, blocks=blocks, counts=counts, one_key=True, sizes={}, relations=set())
    key_places(inner, one, len(key.attributes))
    inner.check(one, needed_of(claim), claim.each.operation)
    facts.require_used()
    if inner.relations & operations.relations:
        raise NotCheckedError("a relation that is read beside keys that end, and for each")
    operations.relations |= inner.relations
    expected = list[ExpectedState]()
    for state in claim.each.operation.every_state:
        if (size := inner.sizes.get(id(state))) is None:
            continue
        if state.proposition in _OF_RELATIONS:
            expected.append(ExpectedState(state.what, state.proposition, size))
        elif state.count is not None and state.count.goes == "time":
            raise RejectedError("entries that go by time beside keys that end")
        else:
            expected.append(ExpectedState(state.what, "K3", Quantity.number(key.max_open) * size))
    operations.states(claim, *expected)


def _tables(node: PlanNode) -> list[DeclaredTable]:
    return [table for scan in scans(node.tree) if (table := node.catalog.table(scan.table)) is not None]


def with_one_key(node: PlanNode, key: StreamKey) -> PlanNode:
    """A node where the streams that have a key have one value of it."""

    def one(table: DeclaredTable) -> DeclaredTable:
        mine = next((other for other in table.ending if other.name == key.name), None)
        return replace(table, one_key=mine, ending=(), punctuations=())

    return replace(node, catalog=replace(node.catalog, tables=tuple(map(one, node.catalog.tables))))


def goes_by_keys(claim: ClaimedOperation) -> bool:
    """Whether entries of an operation, or below it, go with keys that end."""
    own = claim.each is not None or any(one.count is not None and one.count.goes == "key" for one in claim.states)
    return own or any(map(goes_by_keys, claim.inputs))


def open_keys(node: PlanNode) -> list[ExpectedState]:
    """K0: the keys of punctuations that are open, and as many that have ended last."""
    brought = [node.catalog.table(name) for name in dict.fromkeys(k.stream for t in _tables(node) for k in t.ending)]
    return [
        ExpectedState(what, "K0", Quantity.number(one.max_open))
        for stream in brought if stream is not None
        for one in stream.punctuations if one.max_open is not None
        for what in (f"open keys of {stream.name}", *(f"ended keys of {n}" for n in (stream.name, *dict(one.together))))
    ]  # fmt: skip


def unique_keys(node: PlanNode, symbols: dict[str, Quantity]) -> list[list[ExpectedState]]:
    """K4: of each key that comes once the rows that come while one is remembered, or all values: either is enough."""
    found = list[list[ExpectedState]]()
    for stream in {table.name: table for table in _tables(node)}.values():
        for key in stream.unique if stream.timestamp is not None else ():
            sizes = [] if key.within is None else stream_rows(symbols, stream, key.within)
            numbers = [column.number for column in stream.columns if column.name in key.columns]
            known = [Quantity.number(number) for number in numbers if number is not None]
            sizes += [product(known)] if len(known) == len(numbers) else []
            found.append([ExpectedState(f"unique {', '.join(key.columns)}", "K4", size) for size in sizes])
    return found


# --- where the key is -------------------------------------------------------------------------------------------------


def key_places(operations: OperationChecker, node: PlanNode, width: int) -> KeyPlaces:
    """The columns that hold the key; raises RejectedError where rows of different keys meet."""
    if operations.is_block(node):
        return _of_block(operations, node, width)
    match node.tree:
        case nodes.Join():
            return _of_join(operations, node, node.tree, width)
        case nodes.Union(distinct=distinct):
            both = _common([key_places(operations, side, width) for side in node.inputs.values()])
            return _known(both) if distinct else both
        case nodes.Except() | nodes.Intersect():
            return _known(_common([key_places(operations, side, width) for side in node.inputs.values()]))
        case (
            nodes.Filter() | nodes.Alias() | nodes.SpjBlock() | nodes.Bucket() | nodes.Project() | nodes.Distinct()
            | nodes.Aggregate() | nodes.Over()
        ) if not is_session(node.tree):  # fmt: skip
            below = key_places(operations, node.below, width)
            found = _above(node, {"input": below})
            partitions = node.tree.calls if isinstance(node.tree, nodes.Over) else ()
            if not all(one & {*map(node.below.place_of, call.partition)} for call in partitions for one in below):
                raise RejectedError("partitions of rows of different keys")
            return _known(found) if isinstance(node.tree, nodes.Distinct | nodes.Aggregate) else found
    raise RejectedError(f"a {type(node.tree).__name__} of rows of different keys")


def _above(node: PlanNode, below: dict[str, KeyPlaces]) -> KeyPlaces:
    """The columns of a node that are those of an input which hold the key, and are always there."""
    shown = {place: found for place in range(node.width) if (found := origin(node, place)) and not found.missing}
    width = min(map(len, below.values()))
    held = [{(name, place) for name, places in below.items() for place in places[n]} for n in range(width)]
    return tuple(frozenset(p for p, of in shown.items() if (of.name, of.column) in one) for one in held)


def _known(found: KeyPlaces) -> KeyPlaces:
    """The same where each attribute is held by a column, which what is compared then has."""
    if not all(found):
        raise RejectedError("rows of different keys that are compared")
    return found


def _common(several: Iterable[KeyPlaces]) -> KeyPlaces:
    return tuple(frozenset.intersection(*ones) for ones in zip(*several, strict=True))


def _of_join(operations: OperationChecker, node: PlanNode, tree: nodes.Join, width: int) -> KeyPlaces:
    """A join of rows of one key: its condition makes those of both sides equal, or a side has no key."""
    left, right = node.input("left"), node.input("right")
    if tree.using or tree.kind is JoinKind.NOT_IN:
        raise RejectedError("rows of different keys in NOT IN, or in columns that USING joins")
    without = {"left": left.is_static, "right": right.is_static or (version_of(right) is not None and only_grows(left))}
    sides = {name: key_places(operations, node.input(name), width) for name, no in without.items() if not no}
    of_left, of_right = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI), (JoinKind.INNER, JoinKind.RIGHT)
    if len(sides) < 2 and not (sides and tree.kind in (of_left if "left" in sides else of_right)):
        raise RejectedError("rows of a relation, beside those of each key")
    if len(sides) == 2:
        both = pairs(node)
        equal = [{both.place_of(p.left), both.place_of(p.right)} for p in both.conditions if isinstance(p, exp.EQ)]
        theirs = [{place + left.width for place in one} for one in sides["right"]]
        held = list(zip(sides["left"], theirs, strict=True))
        if not all(any(two & one and two & other for two in equal) for one, other in held):
            raise RejectedError("a join of rows of different keys")
    return _above(node, sides)


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
