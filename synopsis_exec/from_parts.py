"""The engine's operators of a circuit, made from the nodes of today's parts: all of them, or none.

A plan runs on the engine when each of its nodes can; one that does not, has a node below for which `_operator` has no
case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256

from streambound.analyzer.columns import Column
from streambound.analyzer.errors import UsageError
from streambound.criteria.operators.parts import GroupPart, Part
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.group import GroupArgument, SqlGroup
from streambound_runtime.engine.join import SqlAsOf, SqlJoin
from streambound_runtime.engine.linear import SqlBucket, SqlPick, SqlUnion
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.plan import (
    ComputedRows,
    EndedKeyRows,
    EngineOperator,
    EnginePlan,
    NativeNode,
    RowsOfStream,
)
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.stream_join import Meeting, SqlStreamJoin, WaitingSide
from streambound_runtime.engine.tables import BIGINT, DOUBLE, HUGEINT, VARCHAR
from streambound_runtime.operators.circuit_plan import (
    BlockNode,
    BucketNode,
    ChangesNode,
    CircuitPlan,
    EndedKeysNode,
    FixpointNode,
    GroupNode,
    KeyedNode,
    MapNode,
    Node,
    OverNode,
    PairNode,
    PairSide,
    RelationNode,
    SetNode,
    UnionNode,
    ViewJoinNode,
)
from streambound_runtime.operators.plan import Test, Transition
from streambound_runtime.spec import JobSpec, Stream
from streambound_runtime.text import printed

BATCH, TIMESTAMP = TICKS = ("batch", "timestamp")
"""What a circuit does at a time, and prints the changes of: what a micro-batch closes, or a timestamp."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What the nodes of a circuit do not say of themselves: the parts that they were made of, and their columns."""

    parts: Mapping[str, Part] = field(default_factory=dict)
    columns: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)


def on_engine(job: JobSpec, facts: NodeFacts) -> JobSpec:
    """The job with the engine's operators in the place of its plan's nodes.

    Raises UsageError where the engine has no operator of a node.
    """
    plan = job.plan
    assert isinstance(plan, CircuitPlan), "a circuit's job has a circuit"
    making = _Making(plan, facts, job.streams)
    for keys in plan.watched:
        making.add_keys(keys)
    without = next(
        (f"a contract of {stream.name} on rows with periods" for stream in job.streams if stream.period), None
    )
    without = without or next((node.name for node in plan.nodes if not making.add(node)), None)
    if without is not None:
        what = f"{job.name} cannot run in ticks of a batch: {without} has no such operator yet"
        raise UsageError(what, remedy="leave --tick out")
    given = {one.name: getattr(plan, one.name) for one in fields(CircuitPlan)}
    operators = tuple(making.made.values())
    made = given | {"nodes": (), "kernel": "engine", "operators": operators, "by_timestamp": making.by_timestamp}
    tables = sha256(printed(operators).encode()).hexdigest()
    return replace(job, plan=EnginePlan(**made), saved=replace(job.saved, tables=tables))


def engine_type(name: str) -> str:
    """The engine's type of encoded values of a Spark SQL type."""
    kind = sql_type(name)
    if kind.large:
        return HUGEINT
    return {"float": DOUBLE, "string": VARCHAR, "nested": VARCHAR}.get(kind.family, BIGINT)


class _Making:
    """Makes operators in order of the nodes: each knows those below."""

    def __init__(self, plan: CircuitPlan, facts: NodeFacts, streams: Sequence[Stream]) -> None:
        self.plan, self.facts = plan, facts
        self.streams = {stream.name: stream for stream in streams}
        self.made: dict[str, EngineOperator] = {}
        self.grows: set[str] = set()
        """The nodes that only ever add rows."""
        self.printed = _printed(plan)
        self.by_timestamp = False

    def add_keys(self, node: EndedKeysNode) -> None:
        """The keys that a stream's punctuations end."""
        types = self._of_stream(node.stream)
        self.made[node.name] = EndedKeyRows(node.name, tuple(engine_type(types[name]) for name in node.attributes))

    def _of_stream(self, name: str) -> dict[str, str]:
        """The types of a stream's columns."""
        stream = self.streams[name]
        declared = {column.name: column.type for column in stream.columns}
        return declared | {column.name: column.type for column in stream.derived}

    def add(self, node: Node) -> bool:
        """Make the operator of a node, if the engine has one, and had those below."""
        below = _inputs(node)
        found = None if below is None or any(name not in self.made for name in below) else self._operator(node)
        if found is None:
            return False
        self.made[node.name] = found
        if self._only_adds(node):
            self.grows.add(node.name)
        return True

    def _only_adds(self, node: Node) -> bool:
        match node:
            case BlockNode() | RelationNode():
                return True
            case MapNode() | BucketNode() | UnionNode():
                return self.grows.issuperset(_inputs(node) or ())
        return False

    def _operator(self, node: Node) -> EngineOperator | None:
        match node:
            case BlockNode() | ChangesNode() | RelationNode() | FixpointNode():
                return NativeNode(node, self._types(node), True)
            case MapNode():
                types = tuple(engine_type(kind) for _, kind in node.columns)
                timed = self.made[node.input].timed
                if node.picks is not None:
                    return SqlPick(node.name, node.input, node.picks, types, timed)
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
        return None

    def _stream_join(self, node: PairNode) -> SqlStreamJoin | None:
        joint = node.joint
        if joint.relations or joint.families or any(table.best for table in joint.tables):
            return None
        scans = {node.left.scan: "left", node.right.scan: "right"}
        tables = {side.table: name for name, side in (("left", node.left), ("right", node.right))}
        meetings: dict[str, Meeting] = {}
        for transition in joint.transitions:
            if transition.target is not None:
                continue
            came = {scans[join.scan] for join in transition.joins if join.scan is not None}
            old = {tables[join.table] for join in transition.joins if join.table is not None}
            how = "together" if not old else f"{came.pop()}_later"
            if how in meetings or any(join.now or join.new for join in transition.joins):
                return None
            meetings[how] = Meeting(transition.joins, transition.values)
        left, right = self._waiting(node, "left", node.left), self._waiting(node, "right", node.right)
        if left is None or right is None:
            return None
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

    def _waiting(self, node: PairNode, name: str, side: PairSide) -> WaitingSide | None:
        """A side of a join, and the operator of its stream's rows."""
        scan = node.joint.scans[side.scan]
        columns = tuple(dict.fromkeys(column for _, column in (*side.alone.columns, *scan.columns)))
        declared = self._of_stream(scan.table)
        types = tuple(engine_type(declared[column]) for column in columns)
        rows = f"{node.name} {name}"
        self.made[rows] = RowsOfStream(rows, scan.table, columns, types)
        if side.table is None:
            return WaitingSide(rows, columns, side.alone, scan, side.padded)
        into = [one for one in node.joint.transitions if one.target == side.table]
        if len(into) != 1 or [join.scan for join in into[0].joins] != [side.scan] or _conditions(into[0]):
            return None
        known = {variable: declared[column] for variable, column in scan.columns}
        entry = into[0].values
        if any(term.variable is not None and term.variable not in known for term in entry):
            return None
        kinds = tuple(BIGINT if term.variable is None else engine_type(known[term.variable]) for term in entry)
        table = node.joint.tables[side.table]
        return WaitingSide(
            rows, columns, side.alone, scan, side.padded, table, entry, kinds, remembered=side.remembered
        )

    def _declared(self, name: str) -> tuple[str, ...]:
        return tuple(engine_type(column.type.name) for column in self.facts.columns[name])

    def _types(self, node: BlockNode | ChangesNode | RelationNode | FixpointNode) -> tuple[str, ...]:
        if not isinstance(node, BlockNode):
            return self._declared(node.name)
        part = self.facts.parts.get(node.name)
        declared = self._kept(node) if part is None else self._declared(node.name)
        sums = node.synopsis.sums
        return declared + tuple(HUGEINT for _ in sums)

    def _kept(self, node: BlockNode) -> tuple[str, ...]:
        """The types of what a block keeps for the results that are computed of it."""
        above = next(one for one in self.plan.nodes if isinstance(one, MapNode) and one.input == node.name)
        return tuple(engine_type(kind) for _, kind in above.given)

    def _bucket(self, node: BucketNode) -> SqlBucket:
        below = self.made[node.input]
        used = {node.time, *(item for item in node.items if isinstance(item, int))}
        items = (*node.items, *(place for place in range(len(below.types)) if place not in used))
        types = tuple(BIGINT if isinstance(item, str) else below.types[item] for item in items)
        return SqlBucket(
            node.name, node.input, node.time, node.size, node.slide, node.offset, items, types, below.timed
        )

    def _join(self, node: ViewJoinNode) -> SqlJoin | SqlAsOf | None:
        left, right = self.made[node.left], self.made[node.right]
        types = dict(zip(node.left_columns, left.types, strict=False))
        types |= dict(zip(node.right_columns, right.types, strict=False))
        shown = tuple(types[name] for name in node.shown)
        given = (node.name, (node.left, node.right), node.kind, left.types, right.types, node.tests)
        if not node.as_of:
            return SqlJoin(*given, node.open, node.shown, shown, (node.buckets[0], node.buckets[1]), node.clips)
        if not (left.timed and right.timed):
            self.by_timestamp = True  # what a view was at a time is known after each
        if not left.timed:
            return None
        return SqlAsOf(*given, node.shown, shown, node.buckets[1], right.timed)

    def _of_each_key(self, node: KeyedNode) -> EngineOperator | None:
        """An operator whose entries go with their key."""
        inner = node.node
        if isinstance(inner, BlockNode):
            return NativeNode(node, self._types(inner), True)
        found = self._operator(inner)
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
        return None

    def _with_key(self, side: WaitingSide, keys: Mapping[str, tuple[str, ...]]) -> WaitingSide:
        """A side of a join whose entries have their key, too."""
        stream = side.scan.table
        columns = tuple(dict.fromkeys((*side.columns, *keys[stream])))
        types = self._of_stream(stream)
        rows = self.made[side.rows]
        assert isinstance(rows, RowsOfStream), "a side reads a stream"
        self.made[rows.name] = replace(rows, columns=columns, types=tuple(engine_type(types[name]) for name in columns))
        more = tuple(engine_type(types[name]) for name in keys[stream])
        return replace(side, columns=columns, key_columns=keys[stream], entry_types=(*side.entry_types, *more))

    def _over(self, node: OverNode) -> SqlOver | SqlRunning | None:
        below = self.made[node.input]
        types = tuple(engine_type(call.type) for call in node.calls)
        doubles = [call for call in node.calls if call.value is not None and below.types[call.value] == DOUBLE]
        if any(call.function in ("sum", "avg") for call in doubles) and node.input not in self.grows:
            return None
        windows = (node.name, node.input, below.types, node.width, node.partition, node.order, node.calls, types)
        if node.keep in ("running", "running open"):
            return SqlRunning(*windows, node.keep == "running open", node.bucket)
        return SqlOver(*windows, node.keep, node.most, node.bucket)

    def _group(self, node: GroupNode) -> SqlGroup | None:
        part = self.facts.parts.get(node.name)
        if not isinstance(part, GroupPart):
            return None
        rows, width = self.made[node.rows], len(node.keys)
        sums = self._sums(part, node)
        if sums is None:
            return None
        arguments = []
        for argument in node.arguments:
            types = self.made[argument.block].types
            kind = types[width + 1] if argument.bucket is not None else ""
            arguments.append(GroupArgument(types[width], argument.greatest, argument.bucket, kind))
        return SqlGroup(
            node.name,
            (node.rows, *(argument.block for argument in node.arguments), *([node.ends.keys] if node.ends else [])),
            rows.types[:width],
            sums,
            node.weighted,
            node.values,
            tuple(engine_type(value.type) for value in node.values),
            tuple(arguments),
            node.bucket,
            node.session,
            self.plan.final and node.name in self.printed,
            _ending(node),
        )

    def _sums(self, part: GroupPart, node: GroupNode) -> tuple[str, ...] | None:
        """The types of what is added up; None where the engine's numbers would not do.

        Sums of doubles are compensated, and not exact, so that nothing may be taken back of them.
        """
        kinds = dict.fromkeys(range(len(node.sums)), HUGEINT)
        for call, value in zip(part.calls, node.values, strict=True):
            if call.argument is None or sql_type(call.argument.type.name).family != "float":
                continue
            if value.squares or (value.values is None and node.rows not in self.grows):
                return None
            if value.values is None and value.function != "count":
                kinds |= dict.fromkeys(value.sums[1:], DOUBLE)
        return tuple(kinds.values())


def _ending(node: GroupNode | SetNode) -> tuple[int, ...]:
    """The places of the key that a node's entries go with."""
    return () if node.ends is None else node.ends.places


def _conditions(transition: Transition) -> bool:
    """Whether a row becomes an entry under conditions."""
    return any(join.equal or join.tests or join.ages for join in transition.joins)


def _inputs(node: Node) -> tuple[str, ...] | None:
    """The nodes that a node reads; None for one that the engine has no operator of."""
    match node:
        case KeyedNode(node=inner, keys=keys):
            below = _inputs(inner)
            return None if below is None else (*below, keys)
        case BlockNode() | ChangesNode() | RelationNode() | PairNode():
            return ()
        case FixpointNode():
            return (node.base, *node.inputs)
        case MapNode() | BucketNode():
            return (node.input,)
        case UnionNode():
            return node.inputs
        case ViewJoinNode():
            return (node.left, node.right)
        case OverNode():
            return (node.input,)
        case SetNode():
            return (node.left, *([node.right] if node.right else []))
        case GroupNode():
            return (node.rows, *(argument.block for argument in node.arguments))
    return None


def _by_place(
    alternatives: tuple[tuple[Test, ...], ...] | None, columns: Sequence[str]
) -> tuple[tuple[Test, ...], ...] | None:
    """Tests of columns by their places, as the engine calls them."""
    if alternatives is None:
        return None
    known = {name: f"c{place}" for place, name in enumerate(columns)}
    return tuple(
        tuple(replace(test, left=known[test.left], right=test.right and known[test.right]) for test in tests)
        for tests in alternatives
    )


def _printed(plan: CircuitPlan) -> set[str]:
    """The nodes whose results are printed, or what is computed of them."""
    nodes, found = {node.name: node for node in plan.nodes}, [plan.nodes[-1].name]
    for name in found:
        node = nodes[name]
        if isinstance(node, MapNode | BucketNode):
            found.append(node.input)
        elif isinstance(node, UnionNode):
            found += node.inputs
    return set(found)
