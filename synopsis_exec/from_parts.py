"""The engine's operators of a decided circuit, made from its parts: those below first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import BrokenInvariant
from streambound.analyzer.query import Attribute, Constant, OutputValue, Query, TimeValue
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
    UnionPart,
    ViewJoinPart,
)
from streambound.synopsis_exec.asked_relations import asked_relations
from streambound.synopsis_exec.best_values import best_branch
from streambound.synopsis_exec.branch_plan import BranchLowering, constant
from streambound.synopsis_exec.changing_relations import changes_input, changes_node
from streambound.synopsis_exec.plan import asked_input, planned, relation_input
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.recursion_steps import recursion_step
from streambound.synopsis_exec.sql_blocks import Types, sql_block, types_of
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.group import GroupArgument, SqlGroup
from streambound_runtime.engine.join import SqlAsOf, SqlJoin
from streambound_runtime.engine.linear import SqlBucket, SqlPick, SqlUnion
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.plan import ComputedRows, EngineOperator, NativeNode, RowsOfStream, states_of
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.engine.stream_sides import Meeting, WaitingSide
from streambound_runtime.engine.tables import BIGINT, EXACT, HUGEINT, engine_type, places
from streambound_runtime.operators import circuit_plan
from streambound_runtime.operators.plan import JoinStep, Subplan, SynopsisPlan, Term, Test


@dataclass
class Operators:
    """The operators of the part that is ``printed``, and of those below; ``final`` results are printed once.

    ``blocks`` are the plans of all select-project-join blocks, ``plans`` those of operators, by their names.
    """

    catalog: Catalog
    printed: Part
    final: bool

    def __post_init__(self) -> None:
        self.made: dict[str, EngineOperator] = {}
        self.parts: dict[str, Part] = {}
        self.blocks: list[Plan] = []
        self.plans: dict[str, Plan] = {}
        self.changing: list[Input] = []
        self.standing: list[Input] = []
        self.computed: list[Input] = []
        self.relations: set[str] = set()
        self.ending: set[str] = set()
        self.sums: dict[str, tuple[str, ...]] = {}
        self.finals = {*_as_they_are(self.printed)} if self.final else set[str]()
        self.add(self.printed)

    # --- what is read -------------------------------------------------------------------------------------------------

    def watched(self, item: Input) -> Input:
        """A stream with the columns of its punctuations and keys, where some operator drops what they end."""
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
                return self._block(part)
            case ChangesPart():
                self.changing.append(changes_input(part.table))
                return NativeNode(changes_node(part.name, part.table), _types(part.columns), True)
            case RelationPart():
                return self._relation(part)
            case GroupPart():
                return self._group(part)
            case OverPart():
                return self._over(part)
            case BucketPart():
                return self._bucket(part)
            case MapPart():
                below = self.add(part.input)
                return self._map(part.name, below, part.input.columns, part.columns, part.expressions, part.where)
            case SetPart():
                return self._set(part)
            case ViewJoinPart():
                return self._join(part)
            case PairPart():
                return self._stream_join(part)
            case FixpointPart():
                return self._fixpoint(part)
            case PeriodPart():
                inputs = tuple(map(self.add, part.blocks))
                node = circuit_plan.PeriodNode(part.name, inputs, part.query, _names(part.columns))
                return NativeNode(node, _types(part.columns), True)
            case UnionPart():
                inputs = tuple(map(self.add, part.inputs))
                timed = all(self.made[name].timed for name in inputs)
                return SqlUnion(part.name, inputs, _types(part.columns), timed)

    def _relation(self, part: RelationPart) -> NativeNode:
        names = _names(part.columns)
        self.relations.add(part.table.name)
        if part.table.query:
            self.computed.append(relation_input(part.table, names))
            asked = map(self.catalog.table, asked_relations(part.table.query))
            self.standing += [asked_input(table, (part.table.query,)) for table in asked if table is not None]
        else:
            self.standing.append(relation_input(part.table, names))
        return NativeNode(circuit_plan.RelationNode(part.name, part.table.name, names), _types(part.columns), True)

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _block(self, part: BlockPart | BestPart) -> EngineOperator:
        """A block; what is computed of several of its rows is computed of what it keeps for that."""
        plan, synopsis, types = self._planned(part)
        name = part.name if plan.kept is None else f"{part.name} rows"
        self.plans[name] = plan
        block: EngineOperator
        if synopsis.kernel == "sql":
            block = self._sql_block(name, plan, synopsis, types)
        elif is_scan(synopsis):
            block = self._scan(name, types_of(plan.inputs), synopsis.branches[0])
        else:
            block = NativeNode(circuit_plan.BlockNode(name, synopsis), types, True)
        if plan.kept is None:
            return block
        self.made[name] = block
        return self._map(part.name, name, plan.kept.columns, part.columns, plan.kept.expressions)

    def _planned(self, part: BlockPart | BestPart) -> tuple[Plan, SynopsisPlan, tuple[str, ...]]:
        """A block's plan, its synopsis, and the types of what that has."""
        best = isinstance(part, BestPart)
        repeats = best or part.query.distinct
        plan = planned(replace(part.query, name=part.name), part.split, part.bound, self.catalog, repeats=repeats)
        synopsis = synopsis_plan(plan, "driver")
        types = _types(part.columns if plan.kept is None else plan.kept.columns)
        if best:  # the set query without its virtual stream: what completes a match of all others is a result
            branches = tuple(map(best_branch, plan.branches, synopsis.branches))
            texts = tuple(place for place, column in enumerate(part.columns) if column.type.family is Family.STRING)
            names = _names(part.columns)
            synopsis = replace(
                synopsis, columns=names, branches=branches, texts=texts, kernel="sql", because="of extrema"
            )
            plan = replace(plan, inputs=tuple(one for one in plan.inputs if one.name != NEWEST))
        elif synopsis.sums:
            types += self.sums[part.name]
        self.blocks.append(plan)
        return plan, synopsis, types

    def _sql_block(
        self,
        name: str,
        plan: Plan,
        synopsis: SynopsisPlan,
        types: tuple[str, ...],
        members: Sequence[circuit_plan.KeyMember] = (),
        keys: str = "",
    ) -> SqlBlock:
        """A block, and the operators of its streams' rows."""
        rows, block = sql_block(name, synopsis, types, types_of((*plan.inputs, *plan.computed)), members, keys)
        self.made |= {one.name: one for one in rows}
        return block

    def _rows(self, name: str, stream: str, columns: tuple[str, ...], types: Types) -> RowsOfStream:
        """Make the operator of a stream's rows with these columns."""
        rows = RowsOfStream(name, stream, columns, tuple(engine_type(types[column]) for column in columns))
        self.made[name] = rows
        return rows

    def _scan(self, name: str, types: Mapping[str, Types], branch: Subplan) -> SqlPick:
        """Rows of a stream that are only tested, and the operator of all of them."""
        (scan,), (result,) = branch.scans, branch.transitions
        columns = tuple(dict.fromkeys(column for _, column in scan.columns))
        rows = self._rows(f"{name}: {scan.table}", scan.table, columns, types[scan.table])
        known = {variable: f"c{columns.index(column)}" for variable, column in scan.columns} | {"now": "t"}
        tests = _named((*scan.times, *scan.tests), known)
        picked = tuple(known[term.variable or ""] for term in result.values)
        kinds = dict(zip(places(len(columns)), rows.types, strict=True)) | {"t": BIGINT}
        return SqlPick(name, rows.name, picked, tuple(kinds[column] for column in picked), True, tests)

    # --- rows one by one ----------------------------------------------------------------------------------------------

    def _map(
        self,
        name: str,
        below: str,
        given: Sequence[Column],
        columns: Sequence[Column],
        expressions: tuple[str, ...],
        where: str = "",
    ) -> SqlPick | ComputedRows:
        """Rows that are computed of others, or have some of their columns."""
        where = "" if self._is_limited(below, given, where) else where
        node = circuit_plan.MapNode(name, below, _named_types(given), _named_types(columns), expressions, where)
        types, timed = _types(columns), self.made[below].timed
        if node.picks is not None:
            return SqlPick(name, below, tuple(f"c{place}" for place in node.picks), types, timed)
        return ComputedRows(node, types, timed)

    def _is_limited(self, name: str, given: Sequence[Column], where: str) -> bool:
        """Whether the condition is one of a rank that all rows below pass, as these are the first ones."""
        for place, shown in enumerate(given):
            below, column = self.made[name], f"c{place}"
            while isinstance(below, SqlPick) and column != "t":
                column, below = below.picked[int(column[1:])], self.made[below.input]
            if isinstance(below, SqlOver) and below.keeps_first and column == f"c{below.width + below.deciding}":
                most = below.asked.first or 0
                limits = {f"`{shown.name}` <= {most}", f"`{shown.name}` < {most + 1}"}
                return where in limits | ({f"`{shown.name}` = 1"} if most == 1 else set())
        return False

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
        names = _names(part.columns)
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

    def _ends(self, key: EndingKey | None) -> tuple[str, ...]:
        """The operator of the keys that end, where what is kept for them goes then."""
        if key is None:
            return ()
        self.ending.add(key.stream)
        return (keys_of(key.stream, key.attributes),)

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

    def _stream_join(self, part: PairPart) -> SqlStreamJoin:
        query = replace(part.joint.query, name=part.joint.name)
        plan = planned(query, part.joint.split, part.joint.bound, self.catalog, repeats=query.distinct)
        joint = synopsis_plan(plan, "driver").branches[0]
        assert len(joint.scans) == 2 and not joint.relations, "the sides are streams"
        assert not joint.families, "there are two sets of streams at most"
        lowering = BranchLowering(plan, plan.branches[0])
        left = self._waiting(f"{part.name} left", part.left, part.left_alone, lowering, joint)
        right = self._waiting(f"{part.name} right", part.right, part.right_alone, lowering, joint)
        assert left.table is None or not left.table.best, "what waits is a row, and not only a greatest or least value"
        self.blocks.append(plan)
        self.plans[part.name] = plan
        sides = {lowering.places[part.left]: "left", lowering.places[part.right]: "right"}
        tables = {number: sides[lowering.places[one.streams[0]]] for number, one in enumerate(plan.branches[0].tables)}
        meetings: dict[str, Meeting] = {}
        for transition in joint.transitions:
            if transition.target is not None:
                continue
            came = {sides[join.scan] for join in transition.joins if join.scan is not None}
            old = {tables[join.table] for join in transition.joins if join.table is not None}
            how = "together" if not old else f"{came.pop()}_later"
            assert how not in meetings, "one match of two rows has one newest timestamp"
            assert not any(join.now or join.new for join in transition.joins), "they are of several remembered streams"
            meetings[how] = Meeting(transition.joins, transition.values)
        return SqlStreamJoin(
            part.name,
            (left.rows, right.rows),
            part.kind,
            _types(part.columns),
            left,
            right,
            meetings.get("together"),
            meetings.get("left_later"),
            meetings.get("right_later"),
            part.name in self.finals,
        )

    def _waiting(self, rows: str, alias: str, alone: Query, lowering: BranchLowering, joint: Subplan) -> WaitingSide:
        """One side: all its rows, by a scan of its own, and its place in the join; and the operator of its rows."""
        mine = planned(alone, alone, bound_of(alone), self.catalog)
        self.blocks.append(mine)
        own = BranchLowering(mine, mine.branches[0])
        (source,) = mine.branches[0].sources
        every, scan = own.scan(source), joint.scans[lowering.places[alias]]
        arriving = own.arriving(source.alias).values
        padded = tuple(_padded(output.value, arriving) for output in mine.branches[0].outputs)
        columns = tuple(dict.fromkeys(column for _, column in (*every.columns, *scan.columns)))
        types = types_of((*mine.inputs, *lowering.query.inputs))[scan.table]
        self._rows(rows, scan.table, columns, types)
        branch = lowering.branch
        number = next((n for n, table in enumerate(branch.tables) if table.streams == (alias,)), None)
        if number is None:
            return WaitingSide(rows, columns, every, scan, padded)
        table = joint.tables[number]
        (into,) = (one for one in joint.transitions if one.target == number)
        assert into.joins == (JoinStep(scan=lowering.places[alias]),), "conditions on one stream are those of its scan"
        known = {variable: types[column] for variable, column in scan.columns}
        kinds = tuple(BIGINT if term.variable is None else engine_type(known[term.variable]) for term in into.values)
        values = lowering.remembered(branch.tables[number])
        remembered = tuple(_padded(output.value, values, alias) for output in branch.outputs)
        return WaitingSide(rows, columns, every, scan, padded, table, into.values, kinds, remembered=remembered)

    # --- keys that end, recursion -------------------------------------------------------------------------------------

    def _of_each_key(self, part: KeyedPart) -> EngineOperator:
        """An operator whose entries go with their key."""
        (keys,) = self._ends(part.key)
        if isinstance(part.part, BlockPart | BestPart):
            plan, synopsis, types = self._planned(part.part)
            members = tuple(circuit_plan.KeyMember(*stream) for stream in part.streams)
            return self._sql_block(part.name, plan, synopsis, types, members, keys)
        match found := self._operator(part.part):
            case SqlOver() | SqlRunning():
                return replace(found, ending=part.places[0], keys=keys)
            case SqlJoin():
                return replace(found, ending=part.places, inputs=(*found.inputs, keys))
            case SqlAsOf():
                return found
            case SqlStreamJoin():
                columns = dict(part.streams)
                left, right = self._with_key(found.left, columns), self._with_key(found.right, columns)
                return replace(found, left=left, right=right, inputs=(*found.inputs, keys))
        raise AssertionError("windows and joins are what there is for each key")

    def _with_key(self, side: WaitingSide, keys: Mapping[str, tuple[str, ...]]) -> WaitingSide:
        """A side of a join whose entries, if there are any, have their key, too."""
        if side.table is None:
            return side
        stream = side.scan.table
        columns = tuple(dict.fromkeys((*side.columns, *keys[stream])))
        declared, rows = self.catalog.table(stream), self.made[side.rows]
        assert declared is not None and isinstance(rows, RowsOfStream), "a side has the rows of a stream"
        kinds = {column.name: engine_type(column.type.name) for column in declared.columns}
        more = tuple(kinds[name] for name in keys[stream])
        kinds |= dict(zip(side.columns, rows.types, strict=True))
        self.made[rows.name] = replace(rows, columns=columns, types=tuple(kinds[name] for name in columns))
        return replace(side, columns=columns, key_columns=keys[stream], entry_types=(*side.entry_types, *more))

    def _fixpoint(self, part: FixpointPart) -> NativeNode:
        base, inputs = self.add(part.base), tuple(map(self.add, part.inputs))
        steps = tuple(recursion_step(step, part) for step in part.steps)
        given = tuple(_names(one.columns) for one in part.inputs)
        node = circuit_plan.FixpointNode(part.name, base, inputs, steps, _names(part.columns), given, part.retracts)
        return NativeNode(node, _types(part.columns), True)

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


def _as_they_are(part: Part) -> Iterator[str]:
    """A part whose results are printed, and those of whose results these are computed row by row."""
    yield part.name
    match part:
        case MapPart(input=below) | BucketPart(input=below) | ViewJoinPart(as_of=True, left=below):
            yield from _as_they_are(below)
        case UnionPart(inputs=several):
            for below in several:
                yield from _as_they_are(below)


def _names(columns: Iterable[Column]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _types(columns: Iterable[Column]) -> tuple[str, ...]:
    return tuple(engine_type(column.type.name) for column in columns)


def _named_types(columns: Iterable[Column]) -> circuit_plan.NamedTypes:
    return tuple((column.name, column.type.name) for column in columns)


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


def _by_place(alternatives: RowTests | None, columns: Sequence[str]) -> tuple[tuple[Test, ...], ...] | None:
    """Tests of columns by their places, as the engine calls them; None where there are none."""
    known = {name: f"c{place}" for place, name in enumerate(columns)}
    return None if alternatives is None else tuple(_named(tests, known) for tests in _tests(alternatives))


def _named(tests: Iterable[Test], known: Mapping[str, str]) -> tuple[Test, ...]:
    """Tests that call columns by other names."""
    return tuple(replace(test, left=known[test.left], right=test.right and known[test.right]) for test in tests)


def bound_of(query: Query) -> QueryBound:
    """The tables of a block of one stream: none."""
    found = bound(query)
    assert found is not None, "one stream has no tables"
    return found


def keys_of(stream: str, attributes: Sequence[str]) -> str:
    """The name of the keys that a stream's punctuations by these attributes end."""
    return f"keys of {stream} by {', '.join(attributes)}"
