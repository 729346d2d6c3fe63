"""The nodes of a circuit that a job runs: one for each decided operator, those below first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import BrokenInvariant
from streambound.analyzer.query import (
    Attribute,
    Constant,
    OutputValue,
    Query,
    TimeValue,
)
from streambound.analyzer.types import Family
from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.operators.extremes import NEWEST
from streambound.criteria.operators.parts import (
    AggregateColumn,
    BestPart,
    BlockPart,
    BucketPart,
    ChangesPart,
    Closing,
    EndingKey,
    FixpointPart,
    GroupPart,
    KeyedPart,
    MapPart,
    OverPart,
    PairPart,
    Part,
    PeriodPart,
    RelationPart,
    RowTests,
    SetPart,
    StepPart,
    UnionPart,
    ViewJoinPart,
)
from streambound.synopsis_exec import circuit_ir
from streambound.synopsis_exec.asked_relations import asked_relations
from streambound.synopsis_exec.best_values import best_branch
from streambound.synopsis_exec.branch_plan import BranchLowering, constant
from streambound.synopsis_exec.changing_relations import changes_input, changes_node
from streambound.synopsis_exec.plan import asked_input, planned
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.recursion_steps import step_term, step_test, step_variable
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from streambound_runtime.operators import circuit_plan
from streambound_runtime.operators.plan import Term, Test


@dataclass
class CircuitNodes:
    """The nodes of parts, those below first."""

    catalog: Catalog

    def __post_init__(self) -> None:
        self.found: list[circuit_ir.Node] = []
        self.columns: dict[str, tuple[Column, ...]] = {}
        self.parts: dict[str, Part] = {}
        self.blocks: list[Plan] = []
        self.plans: dict[str, Plan] = {}
        self.changing: list[Input] = []
        self.standing: list[Input] = []
        self.computed: list[Input] = []
        self.relations: set[str] = set()
        self.ending: set[str] = set()

    def watched(self, item: Input) -> Input:
        """A stream with the columns of its punctuations and keys, where some node drops what they end."""
        ends = item.name in self.ending
        names = {name for one in item.punctuations if ends for name in (one.column, *one.attributes)}
        names |= {name for key in item.ending if key.stream in self.ending for name in key.attributes}
        known = {column.name for column in item.columns}
        more = tuple(column for column in item.declared if column.name in names - known)
        return replace(item, columns=(*item.columns, *more), ends_keys=ends) if names else item

    def marking(self, read: Sequence[Input], clocks: Sequence[str]) -> list[Input]:
        """What is read for its punctuations only, or for the timestamps at which there are results."""
        names = sorted({*self.ending, *clocks} - {item.name for item in read})
        tables = (self.catalog.table(name) for name in names)
        return [
            asked_input(table, ()) if table.changes is None else changes_input(table)
            for table in tables
            if table is not None
        ]

    def check_names(self) -> None:
        """Raise BrokenInvariant for a node two of whose columns have one name: it would lose one of them."""
        for node, columns in self.columns.items():
            if len({column.name.lower() for column in columns}) < len(columns):
                raise BrokenInvariant(f"two columns of {node} have one name: {[column.name for column in columns]}")

    def ends(self, key: EndingKey | None) -> circuit_ir.KeyEnds | None:
        """When what is kept for a key goes."""
        if key is None:
            return None
        self.ending.add(key.stream)
        return circuit_ir.KeyEnds(keys_of(key.stream, key.attributes), key.places)

    def add(self, part: Part) -> str:
        """The name of a part's node, once it is there with all below."""
        if any(node.name == part.name for node in self.found):  # read in several places
            return part.name
        self.columns[part.name], self.parts[part.name] = part.columns, part
        match part:
            case KeyedPart():
                return self._keyed(part)
            case FixpointPart():
                node: circuit_ir.Node = self._fixpoint(part)
            case BestPart():
                node = self._best(part)
            case BlockPart():
                node = self._block(part)
            case ChangesPart():
                node = changes_node(part.name, part.table)
                self.changing.append(changes_input(part.table))
            case RelationPart():
                node = self._relation(part)
            case GroupPart():
                node = self._group(part)
            case OverPart():
                node = self._over(part)
            case BucketPart():
                names = tuple(column.name for column in part.columns)
                node = circuit_ir.BucketNode(
                    part.name, self.add(part.input), part.time, part.size, part.slide, part.offset, part.items, names
                )
            case MapPart():
                below = self.add(part.input)
                given, columns = _typed(part.input.columns), _typed(part.columns)
                node = circuit_plan.MapNode(part.name, below, given, columns, part.expressions, part.where)
            case SetPart():
                node = self._set(part)
            case ViewJoinPart():
                node = self._view_join(part)
            case PairPart():
                node = self._pair(part)
            case PeriodPart():
                names = tuple(column.name for column in part.columns)
                node = circuit_plan.PeriodNode(part.name, tuple(map(self.add, part.blocks)), part.query, names)
            case UnionPart():
                names = tuple(column.name for column in part.columns)
                node = circuit_ir.UnionNode(part.name, tuple(map(self.add, part.inputs)), names)
        self.found.append(node)
        return node.name

    def _keyed(self, part: KeyedPart) -> str:
        """The node of the part, with what it reads by keys."""
        self.add(part.part)
        inner = self.found.pop()
        assert isinstance(
            inner, circuit_plan.BlockNode | circuit_ir.PairNode | circuit_ir.OverNode | circuit_ir.ViewJoinNode
        )
        ends = self.ends(part.key)
        assert ends is not None, "a part has a key"
        members = tuple(circuit_plan.KeyMember(*stream) for stream in part.streams)
        self.found.append(circuit_ir.KeyedNode(part.name, inner, ends.keys, members, part.places))
        return part.name

    def _relation(self, part: RelationPart) -> circuit_plan.RelationNode:
        names = tuple(column.name for column in part.columns)
        self.relations.add(part.table.name)
        if part.table.query:
            self.computed.append(relation_input(part.table, names))
            asked = map(self.catalog.table, asked_relations(part.table.query))
            self.standing += [asked_input(table, (part.table.query,)) for table in asked if table is not None]
        else:
            self.standing.append(relation_input(part.table, names))
        return circuit_plan.RelationNode(part.name, part.table.name, names)

    def _over(self, part: OverPart) -> circuit_ir.OverNode:
        given = part.input.columns
        calls = (
            circuit_plan.OverValue(
                call.function, call.type.name, call.value, call.default, call.offset, call.frame,
                _places(None if call.value is None else given[call.value]),
            )
            for call in part.calls
        )  # fmt: skip
        return circuit_ir.OverNode(
            part.name,
            self.add(part.input),
            part.width,
            part.partition,
            part.order,
            tuple(calls),
            *part.keep,
            part.after,
            tuple(column.name for column in part.columns),
            _bucket(part.closing),
        )

    def _pair(self, part: PairPart) -> circuit_ir.PairNode:
        query = replace(part.joint.query, name=part.joint.name)
        plan = planned(query, part.joint.split, part.joint.bound, self.catalog, repeats=query.distinct)
        left = self._side(plan, part.left_alone, part.left)
        right = self._side(plan, part.right_alone, part.right)
        self.blocks.append(plan)
        self.plans[part.name] = plan
        names = tuple(column.name for column in part.columns)
        joint = synopsis_plan(plan, "driver").branches[0]
        return circuit_ir.PairNode(part.name, part.kind, names, joint, left, right, query.distinct)

    def _side(self, plan: Plan, alone: Query, alias: str) -> circuit_ir.PairSide:
        """One side: all its rows, by a scan of its own, and its place in the join."""
        lowering = BranchLowering(plan, plan.branches[0])
        mine = planned(alone, alone, bound_of(alone), self.catalog)
        self.blocks.append(mine)
        own = BranchLowering(mine, mine.branches[0])
        (source,) = mine.branches[0].sources
        scan = own.scan(source)
        arriving = own.arriving(source.alias).values
        padded = tuple(_padded(output.value, arriving) for output in mine.branches[0].outputs)
        table = next((t for t in plan.branches[0].tables if t.streams == (alias,)), None)
        if table is None:
            return circuit_ir.PairSide(lowering.places[alias], scan, padded)
        values = lowering.remembered(table)
        shown = tuple(_padded(output.value, values, alias) for output in plan.branches[0].outputs)
        number = plan.branches[0].tables.index(table)
        return circuit_ir.PairSide(lowering.places[alias], scan, padded, number, shown)

    def _fixpoint(self, part: FixpointPart) -> circuit_plan.FixpointNode:
        base, inputs = self.add(part.base), tuple(map(self.add, part.inputs))
        steps = tuple(_step(step, part) for step in part.steps)
        names = tuple(tuple(column.name for column in one.columns) for one in part.inputs)
        columns = tuple(column.name for column in part.columns)
        return circuit_plan.FixpointNode(part.name, base, inputs, steps, columns, names, part.retracts)

    def _set(self, part: SetPart) -> circuit_ir.SetNode:
        left = self.add(part.left)
        right = None if part.right is None else self.add(part.right)
        names = tuple(column.name for column in part.columns)
        opens = tuple(None if tests is None else _tests(tests) for tests in part.open)
        bucket, ends = _bucket(part.closing), self.ends(part.ends)
        return circuit_ir.SetNode(
            part.name, part.operation, left, right, names, part.all, part.grows, opens, bucket, ends
        )

    def _view_join(self, part: ViewJoinPart) -> circuit_ir.ViewJoinNode:
        return circuit_ir.ViewJoinNode(
            part.name,
            part.kind,
            self.add(part.left),
            self.add(part.right),
            tuple(f"l{n}" for n in range(len(part.left.columns))),
            tuple(f"r{n}" for n in range(len(part.right.columns))),
            _tests((part.tests,))[0],
            _tests(part.open),
            part.shown,
            tuple(column.name for column in part.columns),
            part.as_of,
            tuple(map(_bucket, part.closing)),
            tuple(circuit_plan.ColumnClip(clip.column, clip.low, clip.high) for clip in part.clips),
        )

    def _block(self, part: BlockPart) -> circuit_plan.BlockNode | circuit_plan.MapNode:
        """A block; what is computed of several of its rows is computed of what it keeps for that."""
        query = replace(part.query, name=part.name)
        plan = planned(query, part.split, part.bound, self.catalog, repeats=query.distinct)
        self.blocks.append(plan)
        block = circuit_plan.BlockNode(
            part.name if plan.kept is None else f"{part.name} rows", synopsis_plan(plan, "driver")
        )
        self.plans[block.name] = plan
        if plan.kept is None:
            return block
        self.found.append(block)
        given, columns = _typed(plan.kept.columns), _typed(part.columns)
        return circuit_plan.MapNode(part.name, block.name, given, columns, plan.kept.expressions, "")

    def _best(self, part: BestPart) -> circuit_plan.BlockNode:
        """The set query without its virtual stream: what completes a match of all others is a result."""
        plan = planned(replace(part.query, name=part.name), part.split, part.bound, self.catalog, repeats=True)
        synopsis_of = synopsis_plan(plan, "driver")
        branches = tuple(map(best_branch, plan.branches, synopsis_of.branches))
        names = tuple(column.name for column in part.columns)
        self.plans[part.name] = replace(plan, inputs=tuple(i for i in plan.inputs if i.name != NEWEST))
        self.blocks.append(self.plans[part.name])
        texts = tuple(place for place, column in enumerate(part.columns) if column.type.family is Family.STRING)
        synopsis = replace(
            synopsis_of, columns=names, branches=branches, texts=texts, kernel="sql", because="of extrema"
        )
        return circuit_plan.BlockNode(part.name, synopsis)

    def _group(self, part: GroupPart) -> circuit_ir.GroupNode:
        rows = self.add(part.rows)
        blocks = [self.add(argument) for argument in part.arguments]
        names = tuple(column.name for column in part.rows.columns)
        block = part.rows.input if isinstance(part.rows, BucketPart) else part.rows
        weighted = isinstance(block, BlockPart) and bool(block.query.sums)
        sums = block.query.sums if isinstance(block, BlockPart) and weighted else names[part.keys :]
        closing = part.closing
        return circuit_ir.GroupNode(
            part.name,
            rows,
            names[: part.keys],
            sums,
            weighted,
            tuple(map(_value, part.calls)),
            tuple(
                circuit_ir.GroupValues(block, best, _bucket(closes))
                for block, best, closes in zip_longest(blocks, part.best, part.closing_values)
            ),
            _bucket(closing),
            part.session,
            self.ends(part.ends),
        )


def _places(argument: Column | None) -> int:
    """How many decimal places a column has."""
    return (argument.type.scale or 0) if argument is not None and argument.type.family is Family.DECIMAL else 0


def _value(call: AggregateColumn) -> circuit_plan.GroupValue:
    places = _places(call.argument)
    return circuit_plan.GroupValue(
        call.name, call.function.lower(), call.column.type.name, call.sums, call.squares, call.values, places,
        call.distinct, *((call.percentile.part, call.percentile.descending) if call.percentile is not None else ()),
    )  # fmt: skip


def _padded(value: OutputValue, values: Mapping[Attribute, Term], alias: str = "") -> Term | None:
    """A column of a row without a partner; None where it is the other side's."""
    if isinstance(value, Attribute):
        return values[value] if not alias or value.source == alias else None
    if isinstance(value, TimeValue):
        return replace(values[value.plus], offset=value.offset) if value.plus in values else None
    assert isinstance(value, Constant), "what is computed is computed above the join"
    return None if value.value is None else Term(None, constant(value.value))


def _bucket(closing: Closing | None) -> circuit_plan.TimeBucket | None:
    if closing is None:
        return None
    return circuit_plan.TimeBucket(closing.key, closing.size, closing.how, closing.delay)


def _tests(alternatives: RowTests) -> tuple[tuple[Test, ...], ...]:
    return tuple(
        tuple(Test(one.column, one.op, one.other, one.value, one.or_null) for one in tests) for tests in alternatives
    )


def _typed(columns: Sequence[Column]) -> circuit_plan.NamedTypes:
    return tuple((column.name, column.type.name) for column in columns)


def bound_of(query: Query) -> QueryBound:
    """The tables of a block of one stream: none."""
    found = bound(query)
    assert found is not None, "one stream has no tables"
    return found


def _step(step: StepPart, part: FixpointPart) -> circuit_plan.RecursionStep:
    """A case of a recursion's step, with names for all values that it reads."""
    widths = [len(part.columns)] * step.recursive + [len(part.inputs[place].columns) for place in step.inputs]
    variables = tuple(tuple(step_variable(n, at) for at in range(width)) for n, width in enumerate(widths))
    tests = tuple(step_test(condition, values) for condition, values in step.tests)
    return circuit_plan.RecursionStep(variables, step.inputs, tests, tuple(map(step_term, step.outputs)))


def relation_input(table: DeclaredTable, needed: tuple[str, ...]) -> Input:
    """A static relation of which some columns are read."""
    columns = tuple(column for name in needed if (column := table.column(name)) is not None)
    return Input(
        table.name, table.kind, table.columns, columns, None, None, table.source, table.rows, table.on_violation,
        query=table.query,
    )  # fmt: skip


def keys_of(stream: str, attributes: Sequence[str]) -> str:
    """The name of the keys that a stream's punctuations by these attributes end."""
    return f"keys of {stream} by {', '.join(attributes)}"
