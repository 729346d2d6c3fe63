"""The plan of a decided circuit: the engine's operators are made from its parts, those below first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import BrokenInvariant
from streambound.analyzer.statement import Statement
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import Family
from streambound.criteria.judged import CircuitBound, State
from streambound.criteria.operators.parts import (
    AggregateColumn,
    BucketPart,
    ChangesPart,
    Closing,
    EndingKey,
    FixpointPart,
    GroupPart,
    KeyedPart,
    MapPart,
    OverPart,
    Part,
    RelationPart,
    SetPart,
    UnionPart,
    ViewJoinPart,
)
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.parts import BestPart, BlockPart, PairPart, RowTests
from streambound.synopsis_exec.circuit_plan import PlannedCircuit, known_sizes, plan_of
from streambound.synopsis_exec.made_operators import (
    MadeOperators,
    engine_types,
    names_of,
    renamed,
)
from streambound.synopsis_exec.recursion_steps import recursion_step
from streambound.synopsis_exec.result_columns import ADDED
from streambound.synopsis_exec.synopsis_plan import as_formula
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.group import GroupArgument, SqlGroup
from streambound_runtime.engine.join import SqlAsOf, SqlJoin
from streambound_runtime.engine.linear import SqlBucket, SqlUnion
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.plan import EngineOperator, NativeNode, StateBound, states_of
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.engine.tables import BIGINT, EXACT, HUGEINT, engine_type
from streambound_runtime.operators import circuit_plan, formula
from streambound_runtime.operators.plan import Test


def make_circuit_plan(
    judged: JudgedPart, statement: Statement, catalog: Catalog, final: bool = False, grows: bool = False
) -> PlannedCircuit:
    """The plan of a circuit, of which ``grows`` says that it has no M; raises NotExecutableError."""
    assert judged.part is not None, "what was refused has no plan"
    made = Operators(catalog, judged.part, final)
    bound, retracts = CircuitBound(judged.states, grows), judged.retracts and not final
    plan = plan_of(made, judged.part.columns, bound, statement, judged.clocks, ADDED, retracts, final)
    made.check_names()
    known = known_sizes(plan.blocks) | {symbol("rows", name): formula.RowCount(name) for name in made.relations}
    kept = () if grows else tuple(_kept(judged.states, made, {one.name for one in plan.circuit.operators}, known))
    return replace(plan, circuit=replace(plan.circuit, kept=kept), empty=bool(judged.empty))


def _kept(
    states: Iterable[State], made: Operators, operators: Collection[str], known: dict[str, formula.Formula]
) -> Iterator[StateBound]:
    """What the operators' states keep at most, as far as they are tables."""
    for state in states:
        found = made.state(state.name)
        if found is not None and found[0] in operators:
            yield StateBound(
                *found, as_formula(state.size, known), f"at most {state.size.text}, by {state.proposition}"
            )


@dataclass
class Operators(MadeOperators):
    """The operators of the part that is ``printed``, and of those below; ``final`` results are printed once."""

    printed: Part
    final: bool

    def __post_init__(self) -> None:
        self.parts: dict[str, Part] = {}
        self.finals = {*_as_they_are(self.printed)} if self.final else set[str]()
        self.add(self.printed)

    # --- operators ----------------------------------------------------------------------------------------------------

    def add(self, part: Part) -> str:
        """The name of a part's operator, once it is there with all below."""
        if part.name not in self.parts:  # it may be read in several places
            self.parts[part.name] = part
            self.made[part.name] = self._operator(part)
        return part.name

    def _operator(self, part: Part) -> EngineOperator:
        match part:
            case KeyedPart():
                return self._of_each_key(part)
            case BlockPart() | BestPart():
                return self.block(part)
            case ChangesPart():
                return self.changing_relation(part.name, part.table, part.columns)
            case RelationPart():
                return self.relation(part.name, part.table, part.columns)
            case GroupPart():
                return self._group(part)
            case OverPart():
                return self._over(part)
            case BucketPart():
                return self._bucket(part)
            case MapPart():
                below = self.add(part.input)
                return self.mapped(part.name, below, part.input.columns, part.columns, part.expressions, part.where)
            case SetPart():
                return self._set(part)
            case ViewJoinPart():
                return self._join(part)
            case PairPart():
                return self.stream_join(part)
            case FixpointPart():
                return self._fixpoint(part)
            case UnionPart():
                inputs = tuple(map(self.add, part.inputs))
                timed = all(self.made[name].timed for name in inputs)
                return SqlUnion(part.name, inputs, engine_types(part.columns), timed)

    def _bucket(self, part: BucketPart) -> SqlBucket:
        below = self.made[self.add(part.input)]
        used = {part.time, *(item for item in part.items if isinstance(item, int))}
        items = (*part.items, *(place for place in range(len(below.types)) if place not in used))
        types = tuple(BIGINT if isinstance(item, str) else below.types[item] for item in items)
        return SqlBucket(
            part.name, below.name, part.time, part.size, part.slide, part.offset, items, types, below.timed
        )

    # --- groups, sets and windows -------------------------------------------------------------------------------------

    def _group(self, part: GroupPart) -> SqlGroup:
        block = part.rows.input if isinstance(part.rows, BucketPart) else part.rows
        weighted = isinstance(block, BlockPart) and bool(block.query.sums)
        number = (
            len(block.query.sums) if isinstance(block, BlockPart) and weighted else len(part.rows.columns) - part.keys
        )
        sums = _sums(part.calls, number)
        self.sums[block.name] = sums
        rows, arguments = self.made[self.add(part.rows)], [self.made[self.add(one)] for one in part.arguments]
        closing = zip_longest(arguments, part.best, map(_bucket, part.closing_values))
        return SqlGroup(
            part.name,
            (rows.name, *(one.name for one in arguments), *self._ends(part.ends)),
            rows.types[: part.keys],
            sums,
            bool(weighted),
            tuple(map(_value, part.calls)),
            tuple(engine_type(call.column.type.name) for call in part.calls),
            tuple(
                GroupArgument(one.types[part.keys], best, bucket, "" if bucket is None else one.types[part.keys + 1])
                for one, best, bucket in closing
            ),
            _bucket(part.closing),
            part.session,
            part.name in self.finals,
            () if part.ends is None else part.ends.places,
        )

    def _set(self, part: SetPart) -> SqlCounts:
        inputs = (self.add(part.left), *(() if part.right is None else (self.add(part.right),)))
        names = names_of(part.columns)
        return SqlCounts(
            part.name,
            (*inputs, *self._ends(part.ends)),
            part.operation if part.right is not None else "distinct",
            self.made[inputs[0]].types,
            part.all,
            part.grows,
            tuple(_by_place(tests, names) for tests in part.open),
            _bucket(part.closing),
            () if part.ends is None else part.ends.places,
        )

    def _over(self, part: OverPart) -> SqlOver | SqlRunning:
        given = part.input.columns
        calls = tuple(
            circuit_plan.OverValue(
                call.function, call.type.name, call.value, call.default, call.offset, call.frame,
                _places(None if call.value is None else given[call.value]),
            )
            for call in part.calls
        )  # fmt: skip
        below, types = self.made[self.add(part.input)], tuple(engine_type(call.type) for call in calls)
        windows = (part.name, below.name, below.types, part.width, part.partition, part.order, calls, types)
        if part.asked is None:
            return SqlRunning(*windows, _bucket(part.closing))
        return SqlOver(*windows, part.asked, _bucket(part.closing))

    # --- joins --------------------------------------------------------------------------------------------------------

    def _join(self, part: ViewJoinPart) -> SqlJoin | SqlAsOf:
        left, right = self.made[self.add(part.left)], self.made[self.add(part.right)]
        types = {f"l{n}": kind for n, kind in enumerate(left.types)} | {f"r{n}": k for n, k in enumerate(right.types)}
        shown = tuple(types[name] for name in part.shown)
        (tests,) = _tests((part.tests,))
        given = (part.name, (left.name, right.name), part.kind, left.types, right.types, tests)
        first, second = map(_bucket, part.closing)
        if part.as_of:
            standing = isinstance(right, NativeNode) and isinstance(right.node, circuit_plan.RelationNode)
            assert right.timed and (left.timed or standing), "versions of a relation are as of a stream's rows"
            return SqlAsOf(*given, part.shown, shown, left.timed, second)
        clips = tuple(circuit_plan.ColumnClip(clip.column, clip.low, clip.high) for clip in part.clips)
        grows = left.timed, right.timed
        return SqlJoin(*given, _tests(part.open), part.shown, shown, (first, second), clips, grows=grows)

    # --- keys that end, recursion -------------------------------------------------------------------------------------

    def _of_each_key(self, part: KeyedPart) -> EngineOperator:
        """An operator whose entries go with their key."""
        (keys,) = self._ends(part.key)
        if isinstance(part.part, BlockPart | BestPart):
            plan, synopsis, types = self.planned(part.part)
            members = tuple(circuit_plan.KeyMember(*stream) for stream in part.streams)
            return self.sql_block(part.name, plan, synopsis, types, members, keys)
        match found := self._operator(part.part):
            case SqlOver() | SqlRunning():
                return replace(found, ending=part.places[0], keys=keys)
            case SqlJoin():
                return replace(found, ending=part.places, inputs=(*found.inputs, keys))
            case SqlAsOf():
                return found
            case SqlStreamJoin():
                columns = dict(part.streams)
                left, right = self.with_key(found.left, columns), self.with_key(found.right, columns)
                return replace(found, left=left, right=right, inputs=(*found.inputs, keys))
        raise AssertionError("windows and joins are what there is for each key")

    def _fixpoint(self, part: FixpointPart) -> NativeNode:
        base, inputs = self.add(part.base), tuple(map(self.add, part.inputs))
        widths = [len(one.columns) for one in part.inputs]
        steps = tuple(recursion_step(step, len(part.columns), widths) for step in part.steps)
        given = tuple(names_of(one.columns) for one in part.inputs)
        node = circuit_plan.FixpointNode(part.name, base, inputs, steps, names_of(part.columns), given, part.retracts)
        return NativeNode(node, engine_types(part.columns), True)

    def _ends(self, key: EndingKey | None) -> tuple[str, ...]:
        return () if key is None else self.ended(key.stream, key.attributes)

    # --- names --------------------------------------------------------------------------------------------------------

    def check_names(self) -> None:
        """Raise BrokenInvariant for a part two of whose columns have one name: it would lose one of them."""
        for name, part in self.parts.items():
            if len({column.name.lower() for column in part.columns}) < len(part.columns):
                raise BrokenInvariant(f"two columns of {name} have one name: {[one.name for one in part.columns]}")

    def state(self, name: str) -> tuple[str, str] | None:
        """The operator and its state that the criterion calls so; None for one that is no table."""
        for part in self.parts.values():
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


def _as_they_are(part: Part) -> Iterator[str]:
    """A part whose results are printed, and those of whose results these are computed row by row."""
    yield part.name
    match part:
        case MapPart(input=below) | BucketPart(input=below) | ViewJoinPart(as_of=True, left=below):
            yield from _as_they_are(below)
        case UnionPart(inputs=several):
            for below in several:
                yield from _as_they_are(below)


def _sums(calls: Iterable[AggregateColumn], number: int) -> tuple[str, ...]:
    """The types of so many things that are added up: of doubles it is exact."""
    kinds = dict.fromkeys(range(number), HUGEINT)
    for call in calls:
        if call.argument is not None and sql_type(call.argument.type.name).family == "float":
            kinds |= dict.fromkeys((*call.sums[1:], *call.squares), EXACT)
    return tuple(kinds.values())


def _places(argument: Column | None) -> int:
    """How many decimal places a column has."""
    return (argument.type.scale or 0) if argument is not None and argument.type.family is Family.DECIMAL else 0


def _value(call: AggregateColumn) -> circuit_plan.GroupValue:
    places = _places(call.argument)
    return circuit_plan.GroupValue(
        call.name, call.function.lower(), call.column.type.name, call.sums, call.squares, call.values, places,
        call.distinct, *((call.percentile.part, call.percentile.descending) if call.percentile is not None else ()),
    )  # fmt: skip


def _bucket(closing: Closing | None) -> circuit_plan.TimeBucket | None:
    if closing is None:
        return None
    return circuit_plan.TimeBucket(closing.key, closing.size, closing.how, closing.delay)


def _tests(alternatives: RowTests) -> tuple[tuple[Test, ...], ...]:
    return tuple(
        tuple(Test(one.column, one.op, one.other, one.value, one.or_null) for one in tests) for tests in alternatives
    )


def _by_place(alternatives: RowTests | None, columns: Sequence[str]) -> tuple[tuple[Test, ...], ...] | None:
    """Tests of columns by their places, as the engine calls them; None where there are none."""
    known = {name: f"c{place}" for place, name in enumerate(columns)}
    return None if alternatives is None else tuple(renamed(tests, known) for tests in _tests(alternatives))
