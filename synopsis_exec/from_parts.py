"""The engine's operators of a circuit, made from the nodes of today's parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from streambound.analyzer.columns import Column
from streambound.criteria.operators.parts import GroupPart, PairPart, Part
from streambound.synopsis_exec.circuit_ir import (
    BucketNode,
    GroupNode,
    KeyedNode,
    Node,
    NodePlan,
    OverNode,
    PairNode,
    PairSide,
    SetNode,
    UnionNode,
    ViewJoinNode,
)
from streambound.synopsis_exec.shared_operators import shared
from streambound.synopsis_exec.sql_blocks import sql_block, types_of
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.group import GroupArgument, SqlGroup
from streambound_runtime.engine.join import SqlAsOf, SqlJoin
from streambound_runtime.engine.linear import SqlBucket, SqlPick, SqlUnion
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.plan import (
    CircuitPlan,
    ComputedRows,
    EndedKeyRows,
    EngineOperator,
    NativeNode,
    RowsOfStream,
    StateBound,
    states_of,
)
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.engine.stream_sides import Meeting, WaitingSide
from streambound_runtime.engine.tables import BIGINT, EXACT, HUGEINT, engine_type, places
from streambound_runtime.operators.circuit_plan import (
    BlockNode,
    ChangesNode,
    EndedKeysNode,
    FixpointNode,
    KeyMember,
    MapNode,
    PeriodNode,
    RelationNode,
)
from streambound_runtime.operators.plan import JoinStep, Subplan, SynopsisPlan, Term, Test
from streambound_runtime.spec import Relation, Stream

BATCH, TIMESTAMP = TICKS = ("batch", "timestamp")
"""What a circuit does at a time, and prints the changes of: what a micro-batch closes, or a timestamp."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What the nodes of a circuit do not say of themselves: the parts that they were made of, and their columns."""

    parts: Mapping[str, Part] = field(default_factory=dict)
    columns: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)


def on_engine(plan: NodePlan, facts: NodeFacts, tables: Sequence[Stream | Relation], tick: str = BATCH) -> CircuitPlan:
    """The engine's operators of a circuit's nodes over ``tables``; each timestamp is a tick if ``tick`` says so."""
    making = _Making(plan, facts, tables)
    for keys in plan.watched:
        making.add_keys(keys)
    for node in plan.nodes:
        making.made[node.name] = making.operator(node)
    operators = shared(tuple(making.made.values()))
    there = {operator.name for operator in operators}
    return CircuitPlan(
        plan.columns,
        operators,
        plan.bound,
        tick == TIMESTAMP,
        plan.final,
        plan.most,
        because=plan.because,
        retracts=plan.retracts,
        watched=plan.watched,
        timed=plan.timed,
        counted=plan.counted,
        kept=tuple(kept for kept in making.kept() if kept.operator in there),
    )


class _Making:
    """Makes operators in order of the nodes: each knows those below."""

    def __init__(self, plan: NodePlan, facts: NodeFacts, tables: Sequence[Stream | Relation]) -> None:
        self.plan, self.facts = plan, facts
        self.tables = {table.name: table for table in tables}
        self.made: dict[str, EngineOperator] = {}
        self.printed = _printed(plan)

    def kept(self) -> Iterator[StateBound]:
        """What the operators' states keep at most."""
        for name, at_most, words in self.plan.kept:
            if (found := self._state(name)) is not None:
                yield StateBound(*found, at_most, words)

    def _state(self, name: str) -> tuple[str, str] | None:
        """The operator and its state that the criterion calls so; None for one that is no table."""
        for part in self.facts.parts.values():
            if isinstance(part, PairPart) and name.startswith(f"{part.joint.name} "):
                join = self.made[part.name]
                assert isinstance(join, SqlStreamJoin), "a join of two streams"
                sides = (("left", join.left.table), ("right", join.right.table))
                found = [side for side, table in sides if table is not None and name.endswith(f" {table.name}")]
                return (part.name, found[0]) if len(found) == 1 else None
        mine = [one for one in self.made.values() if name == one.name or name.startswith(f"{one.name} ")]
        if not mine:
            return None
        operator = max(mine, key=lambda one: len(one.name))
        rest, states = name.removeprefix(operator.name).strip(), [state.name for state in states_of(operator)]
        if isinstance(operator, SqlGroup) and rest.startswith("values"):
            return operator.name, states[int(rest.removeprefix("values") or 1)]
        if rest in states:
            return operator.name, rest
        return (operator.name, states[0]) if states and not rest else None

    def add_keys(self, node: EndedKeysNode) -> None:
        """The keys that a stream's punctuations end."""
        types = types_of(self.tables[node.stream])
        self.made[node.name] = EndedKeyRows(node.name, tuple(engine_type(types[name]) for name in node.attributes))

    def operator(self, node: Node) -> EngineOperator:
        """The operator of a node, once those below are made."""
        match node:
            case BlockNode(synopsis=SynopsisPlan(kernel="sql")):
                return self._sql_block(node.name, node)
            case BlockNode() if is_scan(node.synopsis):
                return self._scan(node.name, node.synopsis.branches[0])
            case BlockNode() | ChangesNode() | RelationNode() | FixpointNode() | PeriodNode():
                return NativeNode(node, self._types(node), True)
            case MapNode():
                types = tuple(engine_type(kind) for _, kind in node.columns)
                timed = self.made[node.input].timed
                if self._is_limited(node):
                    node = replace(node, where="")
                if node.picks is not None:
                    return SqlPick(node.name, node.input, tuple(f"c{place}" for place in node.picks), types, timed)
                return ComputedRows(node, types, timed)
            case UnionNode():
                timed = all(self.made[name].timed for name in node.inputs)
                return SqlUnion(node.name, node.inputs, self._declared(node.name), timed)
            case BucketNode():
                return self._bucket(node)
            case KeyedNode():
                return self._of_each_key(node)
            case SetNode():
                ends = () if node.ends is None else (node.ends.keys,)
                inputs = (node.left, *([node.right] if node.right else []), *ends)
                operation = node.operation if node.right else "distinct"
                types = self.made[node.left].types
                opens = tuple(_by_place(tests, node.columns) for tests in node.open)
                return SqlCounts(
                    node.name, inputs, operation, types, node.all, node.grows, opens, node.bucket, _ending(node)
                )
            case GroupNode():
                return self._group(node)
            case ViewJoinNode():
                return self._join(node)
            case OverNode():
                return self._over(node)
            case PairNode():
                return self._stream_join(node)

    def _stream_join(self, node: PairNode) -> SqlStreamJoin:
        joint = node.joint
        assert len(joint.scans) == 2 and not joint.relations, "the sides are streams"
        assert not joint.families, "there are two sets of streams at most"
        assert not (node.left.table is not None and any(table.best for table in joint.tables)), (
            "what waits is a row, and not only a greatest or least value"
        )
        scans = {node.left.scan: "left", node.right.scan: "right"}
        tables = {side.table: name for name, side in (("left", node.left), ("right", node.right))}
        meetings: dict[str, Meeting] = {}
        for transition in joint.transitions:
            if transition.target is not None:
                continue
            came = {scans[join.scan] for join in transition.joins if join.scan is not None}
            old = {tables[join.table] for join in transition.joins if join.table is not None}
            how = "together" if not old else f"{came.pop()}_later"
            assert how not in meetings, "one match of two rows has one newest timestamp"
            assert not any(join.now or join.new for join in transition.joins), "they are of several remembered streams"
            meetings[how] = Meeting(transition.joins, transition.values)
        left, right = self._waiting(node, "left", node.left), self._waiting(node, "right", node.right)
        final = self.plan.final and node.name in self.printed
        return SqlStreamJoin(
            node.name,
            (f"{node.name} left", f"{node.name} right"),
            node.kind,
            self._declared(node.name),
            left,
            right,
            meetings.get("together"),
            meetings.get("left_later"),
            meetings.get("right_later"),
            final,
        )

    def _waiting(self, node: PairNode, name: str, side: PairSide) -> WaitingSide:
        """A side of a join, and the operator of its stream's rows."""
        scan = node.joint.scans[side.scan]
        columns = tuple(dict.fromkeys(column for _, column in (*side.alone.columns, *scan.columns)))
        declared = types_of(self.tables[scan.table])
        rows = self._rows(f"{node.name} {name}", scan.table, columns).name
        if side.table is None:
            return WaitingSide(rows, columns, side.alone, scan, side.padded)
        (into,) = (one for one in node.joint.transitions if one.target == side.table)
        assert into.joins == (JoinStep(scan=side.scan),), "conditions on one stream are those of its scan"
        known = {variable: declared[column] for variable, column in scan.columns}
        entry = into.values
        kinds = tuple(BIGINT if term.variable is None else engine_type(known[term.variable]) for term in entry)
        table = node.joint.tables[side.table]
        return WaitingSide(
            rows, columns, side.alone, scan, side.padded, table, entry, kinds, remembered=side.remembered
        )

    def _declared(self, name: str) -> tuple[str, ...]:
        return tuple(engine_type(column.type.name) for column in self.facts.columns[name])

    def _types(self, node: BlockNode | ChangesNode | RelationNode | FixpointNode | PeriodNode) -> tuple[str, ...]:
        if not isinstance(node, BlockNode):
            return self._declared(node.name)
        part = self.facts.parts.get(node.name)
        declared = self._kept(node) if part is None else self._declared(node.name)
        return declared + (self._sums(self._above(node)) if node.synopsis.sums else ())

    def _kept(self, node: BlockNode) -> tuple[str, ...]:
        """The types of what a block keeps for the results that are computed of it."""
        above = next(one for one in self.plan.nodes if isinstance(one, MapNode) and one.input == node.name)
        return tuple(engine_type(kind) for _, kind in above.given)

    def _sql_block(self, name: str, node: BlockNode, members: Sequence[KeyMember] = (), keys: str = "") -> SqlBlock:
        """A block, and the operators of its streams' rows."""
        rows, block = sql_block(name, node.synopsis, self._types(node), self.tables, members, keys)
        self.made |= {one.name: one for one in rows}
        return block

    def _rows(self, name: str, stream: str, columns: tuple[str, ...]) -> RowsOfStream:
        """Make the operator of a stream's rows with these columns."""
        types = types_of(self.tables[stream])
        rows = RowsOfStream(name, stream, columns, tuple(engine_type(types[column]) for column in columns))
        self.made[name] = rows
        return rows

    def _scan(self, name: str, branch: Subplan) -> SqlPick:
        """Rows of a stream that are only tested, and the operator of all of them."""
        (scan,), (result,) = branch.scans, branch.transitions
        columns = tuple(dict.fromkeys(column for _, column in scan.columns))
        rows = self._rows(f"{name}: {scan.table}", scan.table, columns)
        known = {variable: f"c{columns.index(column)}" for variable, column in scan.columns} | {"now": "t"}
        tests = _named((*scan.times, *scan.tests), known)
        picked = tuple(known[term.variable or ""] for term in result.values)
        kinds = dict(zip(places(len(columns)), rows.types, strict=True)) | {"t": BIGINT}
        return SqlPick(name, rows.name, picked, tuple(kinds[column] for column in picked), True, tests)

    def _is_limited(self, node: MapNode) -> bool:
        """Whether the condition is one of a rank that all rows below pass, as these are the first ones."""
        for place, (name, _) in enumerate(node.given):
            below, column = self.made[node.input], f"c{place}"
            while isinstance(below, SqlPick) and column != "t":
                column, below = below.picked[int(column[1:])], self.made[below.input]
            if isinstance(below, SqlOver) and below.keep == "first" and column == f"c{below.width + below.deciding}":
                limits = {f"`{name}` <= {below.most}", f"`{name}` < {below.most + 1}"}
                return node.where in limits | ({f"`{name}` = 1"} if below.most == 1 else set())
        return False

    def _bucket(self, node: BucketNode) -> SqlBucket:
        below = self.made[node.input]
        used = {node.time, *(item for item in node.items if isinstance(item, int))}
        items = (*node.items, *(place for place in range(len(below.types)) if place not in used))
        types = tuple(BIGINT if isinstance(item, str) else below.types[item] for item in items)
        return SqlBucket(
            node.name, node.input, node.time, node.size, node.slide, node.offset, items, types, below.timed
        )

    def _join(self, node: ViewJoinNode) -> SqlJoin | SqlAsOf:
        left, right = self.made[node.left], self.made[node.right]
        types = dict(zip(node.left_columns, left.types, strict=False))
        types |= dict(zip(node.right_columns, right.types, strict=False))
        shown = tuple(types[name] for name in node.shown)
        given = (node.name, (node.left, node.right), node.kind, left.types, right.types, node.tests)
        if not node.as_of:
            buckets, grows = (node.buckets[0], node.buckets[1]), (left.timed, right.timed)
            return SqlJoin(*given, node.open, node.shown, shown, buckets, node.clips, grows=grows)
        standing = isinstance(right, NativeNode) and isinstance(right.node, RelationNode)
        assert right.timed and (left.timed or standing), "versions of a relation are as of a stream's rows"
        return SqlAsOf(*given, node.shown, shown, left.timed, node.buckets[1])

    def _of_each_key(self, node: KeyedNode) -> EngineOperator:
        """An operator whose entries go with their key."""
        inner = node.node
        if isinstance(inner, BlockNode):
            return self._sql_block(node.name, inner, node.streams, node.keys)
        found = self.operator(inner)
        match found:
            case SqlOver() | SqlRunning():
                return replace(found, name=node.name, ending=node.places[0], keys=node.keys)
            case SqlJoin():
                return replace(found, name=node.name, ending=node.places, inputs=(*found.inputs, node.keys))
            case SqlAsOf():
                return replace(found, name=node.name)
            case SqlStreamJoin():
                keys = {one.stream: one.attributes for one in node.streams}
                left, right = self._with_key(found.left, keys), self._with_key(found.right, keys)
                return replace(found, name=node.name, left=left, right=right, inputs=(*found.inputs, node.keys))
        raise AssertionError("windows and joins are what there is for each key")

    def _with_key(self, side: WaitingSide, keys: Mapping[str, tuple[str, ...]]) -> WaitingSide:
        """A side of a join whose entries, if there are any, have their key, too."""
        if side.table is None:
            return side
        stream = side.scan.table
        columns = tuple(dict.fromkeys((*side.columns, *keys[stream])))
        types = types_of(self.tables[stream])
        self._rows(side.rows, stream, columns)
        more = tuple(engine_type(types[name]) for name in keys[stream])
        return replace(side, columns=columns, key_columns=keys[stream], entry_types=(*side.entry_types, *more))

    def _above(self, block: BlockNode) -> GroupNode:
        """The groups whose sums a block has."""
        nodes = self.plan.nodes
        below = {block.name, *(one.name for one in nodes if isinstance(one, KeyedNode) and one.node is block)}
        below |= {one.name for one in nodes if isinstance(one, BucketNode) and one.input in below}
        return next(one for one in self.plan.nodes if isinstance(one, GroupNode) and one.rows in below)

    def _over(self, node: OverNode) -> SqlOver | SqlRunning:
        below = self.made[node.input]
        types = tuple(engine_type(call.type) for call in node.calls)
        windows = (node.name, node.input, below.types, node.width, node.partition, node.order, node.calls, types)
        if node.keep in ("running", "running open"):
            return SqlRunning(*windows, node.keep == "running open", node.bucket)
        return SqlOver(*windows, node.keep, node.most, node.bucket)

    def _group(self, node: GroupNode) -> SqlGroup:
        rows, width = self.made[node.rows], len(node.keys)
        arguments = []
        for argument in node.arguments:
            types = self.made[argument.block].types
            kind = types[width + 1] if argument.bucket is not None else ""
            arguments.append(GroupArgument(types[width], argument.greatest, argument.bucket, kind))
        return SqlGroup(
            node.name,
            (node.rows, *(argument.block for argument in node.arguments), *([node.ends.keys] if node.ends else [])),
            rows.types[:width],
            self._sums(node),
            node.weighted,
            node.values,
            tuple(engine_type(value.type) for value in node.values),
            tuple(arguments),
            node.bucket,
            node.session,
            self.plan.final and node.name in self.printed,
            _ending(node),
        )

    def _sums(self, node: GroupNode) -> tuple[str, ...]:
        """The types of what is added up: of doubles it is exact."""
        part = self.facts.parts[node.name]
        assert isinstance(part, GroupPart), "what groups are made of"
        kinds = dict.fromkeys(range(len(node.sums)), HUGEINT)
        for call in part.calls:
            if call.argument is not None and sql_type(call.argument.type.name).family == "float":
                kinds |= dict.fromkeys((*call.sums[1:], *call.squares), EXACT)
        return tuple(kinds.values())


def is_scan(synopsis: SynopsisPlan) -> bool:
    """Whether a block's results are columns of one stream's rows, which are only tested, without any arithmetic.

    Of a set whose results may come again nobody asks how often they do.
    """
    if (synopsis.distinct and not synopsis.repeats) or synopsis.sums or len(synopsis.branches) != 1:
        return False
    (branch,) = synopsis.branches
    if len(branch.scans) != 1 or branch.relations or branch.tables or len(branch.transitions) != 1:
        return False
    (scan,), (result,) = branch.scans, branch.transitions
    tested = all(test.right is None or not test.offset for test in (*scan.times, *scan.tests))
    plain = all(term == Term(term.variable) and term.variable is not None for term in result.values)
    return tested and plain and result.joins == (JoinStep(scan=0),)


def _ending(node: GroupNode | SetNode) -> tuple[int, ...]:
    """The places of the key that a node's entries go with."""
    return () if node.ends is None else node.ends.places


def _by_place(
    alternatives: tuple[tuple[Test, ...], ...] | None, columns: Sequence[str]
) -> tuple[tuple[Test, ...], ...] | None:
    """Tests of columns by their places, as the engine calls them."""
    if alternatives is None:
        return None
    known = {name: f"c{place}" for place, name in enumerate(columns)}
    return tuple(_named(tests, known) for tests in alternatives)


def _named(tests: Iterable[Test], known: Mapping[str, str]) -> tuple[Test, ...]:
    """Tests that call columns by other names."""
    return tuple(replace(test, left=known[test.left], right=test.right and known[test.right]) for test in tests)


def _printed(plan: NodePlan) -> set[str]:
    """The nodes whose results are printed, or what is computed of them."""
    nodes, found = {node.name: node for node in plan.nodes}, [plan.nodes[-1].name]
    for name in found:
        match nodes[name]:
            case MapNode(input=below) | BucketNode(input=below) | ViewJoinNode(as_of=True, left=below):
                found.append(below)
            case UnionNode(inputs=several):
                found += several
    return set(found)
