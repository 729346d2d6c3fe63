"""The engine's operators of a job while they are made: those of select-project-join blocks, and of rows one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Constant, OutputValue, Query, TimeValue
from streambound.criteria.block_part import BlockPart
from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.dataflow.blocks import NEWEST
from streambound.criteria.dataflow.state import Operation
from streambound.synopsis_exec.asked_relations import asked_relations
from streambound.synopsis_exec.best_values import best_branch
from streambound.synopsis_exec.branch_plan import BranchLowering, constant
from streambound.synopsis_exec.declared_table import changes_input, changes_node
from streambound.synopsis_exec.plan import asked_input, planned, relation_input
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.sql_blocks import Types, sql_block, types_of
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.block_tables import RowsOfStream
from streambound_runtime.engine.linear import SqlPick
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.plan import ComputedRows, EngineOperator, NativeNode
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.engine.stream_sides import Meeting, WaitingSide
from streambound_runtime.engine.tables import BIGINT, engine_type, places
from streambound_runtime.operators import circuit_plan
from streambound_runtime.operators.plan import JoinStep, JoinType, Subplan, SynopsisPlan, Term, Test


@dataclass
class MadeOperators:
    """Operators by their names, those below first.

    ``blocks`` are the plans of all select-project-join blocks, ``plans`` those of operators, by their names; ``sums``
    the types of a block's sums; ``made_of_operation`` the operations that operators were made of.
    """

    catalog: Catalog
    made: dict[str, EngineOperator] = field(default_factory=dict, init=False)
    blocks: list[Plan] = field(default_factory=list, init=False)
    plans: dict[str, Plan] = field(default_factory=dict, init=False)
    changing: list[Input] = field(default_factory=list, init=False)
    standing: list[Input] = field(default_factory=list, init=False)
    computed: list[Input] = field(default_factory=list, init=False)
    relations: set[str] = field(default_factory=set, init=False)
    ending: set[str] = field(default_factory=set, init=False)
    sums: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False)
    made_of_operation: dict[str, Operation] = field(default_factory=dict, init=False)

    def watched(self, item: Input) -> Input:
        """A stream with the columns of its punctuations and keys, where some operator drops what they end."""
        ends = item.name in self.ending
        names = {name for one in item.punctuations if ends for name in (one.column, *one.needs)}
        names |= {name for key in item.ending if key.stream in self.ending for name in key.attributes}
        known = {column.name for column in item.columns}
        more = tuple(column for column in item.declared if column.name in names - known)
        return replace(item, columns=(*item.columns, *more), ends_keys=ends) if names else item

    def marking(self, read: Sequence[Input], clocks: Sequence[str]) -> list[Input]:
        """The inputs that are read only for their punctuations, or for the timestamps of results."""
        names = sorted({*self.ending, *clocks} - {item.name for item in read})
        tables = (self.catalog.table(name) for name in names)
        return [
            asked_input(structs.replace(table, unique=()), ()) if table.changes is None else changes_input(table)
            for table in tables
            if table is not None
        ]

    def block(self, part: BlockPart, best: bool = False) -> EngineOperator:
        """A block, or the ``best`` values of its keys.

        What is computed of several of its rows is computed of what it keeps for that.
        """
        plan, synopsis = self.planned(part, best)
        name = synopsis.name
        self.plans[name] = plan
        block: EngineOperator
        if is_scan(synopsis):
            block = self.scan(name, types_of(plan.inputs), synopsis.branches[0])
        else:
            block = self.sql_block(plan, synopsis)
        if plan.kept is None:
            return block
        self.made[name] = block
        return self.mapped(part.name, name, plan.kept.columns, part.columns, plan.kept.expressions)

    def planned(self, part: BlockPart, best: bool = False) -> tuple[Plan, SynopsisPlan]:
        """A block's plan, and its synopsis."""
        plan = planned(structs.replace(part.query, name=part.name), part.split, part.bound, self.catalog)
        name = part.name if plan.kept is None else f"{part.name} rows"
        types = engine_types(part.columns if plan.kept is None else plan.kept.columns)
        synopsis = replace(synopsis_plan(plan), name=name, types=types)
        if best:  # the set query without its virtual stream: what completes a match of all others is a result
            branches = tuple(map(best_branch, plan.branches, synopsis.branches))
            synopsis = replace(synopsis, columns=names_of(part.columns), branches=branches)
            plan = replace(plan, inputs=tuple(one for one in plan.inputs if one.name != NEWEST))
        elif synopsis.sums:
            synopsis = replace(synopsis, types=types + self.sums[part.name])
        self.blocks.append(plan)
        return plan, synopsis

    def sql_block(
        self,
        plan: Plan,
        synopsis: SynopsisPlan,
        members: Sequence[circuit_plan.KeyMember] = (),
        keys: str = "",
    ) -> SqlBlock:
        """A block."""
        return sql_block(synopsis, types_of((*plan.inputs, *plan.computed)), members, keys)

    def rows_of_stream(self, name: str, stream: str, columns: tuple[str, ...], types: Types) -> RowsOfStream:
        """Make the operator of a stream's rows with these columns."""
        rows = RowsOfStream(name, stream, columns, tuple(engine_type(types[column]) for column in columns))
        self.made[name] = rows
        return rows

    def scan(self, name: str, types: Mapping[str, Types], branch: Subplan) -> SqlPick:
        """Rows of a stream that are only tested, and the operator of all of them."""
        (scan,), (result,) = branch.scans, branch.transitions
        columns = tuple(dict.fromkeys(column for _, column in scan.columns))
        rows = self.rows_of_stream(f"{name}: {scan.table}", scan.table, columns, types[scan.table])
        known = {variable: f"c{columns.index(column)}" for variable, column in scan.columns} | {"now": "t"}
        tests = renamed((*scan.times, *scan.tests), known)
        picked = tuple(known[term.variable or ""] for term in result.values)
        kinds = dict(zip(places(len(columns)), rows.types, strict=True)) | {"t": BIGINT}
        return SqlPick(name, rows.name, picked, tuple(kinds[column] for column in picked), True, tests)

    def mapped(
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
        node = circuit_plan.MapNode(name, below, named_types(given), named_types(columns), expressions, where)
        types, timed = engine_types(columns), self.made[below].timed
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

    def ended(self, stream: str, attributes: Sequence[str]) -> tuple[str]:
        """The operator of the keys that a stream's punctuations end, where what is kept for them goes then."""
        table = self.catalog.table(stream)
        assert table is not None, "the catalog says what ends"
        others = (name for one in table.punctuations for name, _ in one.together)
        self.ending |= {stream, *others}
        return (keys_of(stream, attributes),)

    def relation(self, name: str, table: DeclaredTable, columns: Sequence[Column]) -> NativeNode:
        """The rows of a relation that does not change, or of what is computed of some."""
        names = names_of(columns)
        self.relations.add(table.name)
        if table.query:
            self.computed.append(relation_input(table, names))
            asked = map(self.catalog.table, asked_relations(table.query))
            self.standing += [asked_input(one, (table.query,)) for one in asked if one is not None]
        else:
            self.standing.append(relation_input(table, names))
        return NativeNode(circuit_plan.RelationNode(name, table.name, names), engine_types(columns), True)

    def changing_relation(self, name: str, table: DeclaredTable, columns: Sequence[Column]) -> NativeNode:
        """The rows of a relation that changes, with all its columns."""
        self.changing.append(changes_input(table))
        return NativeNode(changes_node(name, table), engine_types(columns), True)

    def stream_join(self, name: str, kind: JoinType, part: BlockPart, alone: Sequence[Query]) -> SqlStreamJoin:
        """A semi, anti or outer join of two streams: their rows, which wait for each other by the inner join's tables.

        The ``part`` is the inner join, and ``alone`` is each side by its own conditions; columns are the part's.
        """
        query = structs.replace(part.query, name=part.name)
        plan = planned(query, part.split, part.bound, self.catalog)
        joint = synopsis_plan(plan).branches[0]
        assert len(joint.scans) == 2 and not joint.relations, "the sides are streams"
        lowering = BranchLowering(plan, plan.branches[0])
        first, second = (source.alias for source in part.split.branches[0].sources)
        left = self._waiting(f"{name} left", first, alone[0], lowering, joint)
        right = self._waiting(f"{name} right", second, alone[1], lowering, joint)
        assert left.table is None or not left.table.best, "what waits is a row, and not only a greatest or least value"
        self.blocks.append(plan)
        self.plans[name] = plan
        sides = {lowering.places[first]: "left", lowering.places[second]: "right"}
        tables = {number: sides[lowering.places[one.streams[0]]] for number, one in enumerate(plan.branches[0].tables)}
        meetings: dict[str, Meeting] = {}
        for transition in joint.transitions:
            if transition.target is not None:
                continue
            came = {sides[join.scan] for join in transition.joins if join.scan is not None}
            old = {tables[join.table] for join in transition.joins if join.table is not None}
            how = "together" if not old else f"{came.pop()}_later"
            assert how not in meetings, "one match of two rows has one newest timestamp"
            assert not any(join.now for join in transition.joins), "they are of several remembered streams"
            meetings[how] = Meeting(transition.joins, transition.values)
        return SqlStreamJoin(
            name,
            (left.rows, right.rows),
            kind,
            engine_types(part.columns),
            left,
            right,
            meetings.get("together"),
            meetings.get("left_later"),
            meetings.get("right_later"),
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
        self.rows_of_stream(rows, scan.table, columns, types)
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

    def with_key(self, side: WaitingSide, keys: Mapping[str, tuple[str, ...]]) -> WaitingSide:
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


def is_scan(synopsis: SynopsisPlan) -> bool:
    """Whether a block's results are columns of one stream's rows, which are only tested, without any arithmetic.

    Of a set nobody asks how often its results come.
    """
    if synopsis.sums or len(synopsis.branches) != 1:
        return False
    (branch,) = synopsis.branches
    if len(branch.scans) != 1 or branch.relations or branch.tables or len(branch.transitions) != 1:
        return False
    (scan,), (result,) = branch.scans, branch.transitions
    tested = all(test.right is None or not test.offset for test in (*scan.times, *scan.tests))
    plain = all(term == Term(term.variable) and term.variable is not None for term in result.values)
    return tested and plain and result.joins == (JoinStep(scan=0),)


def names_of(columns: Iterable[Column]) -> tuple[str, ...]:
    """The names of columns."""
    return tuple(column.name for column in columns)


def engine_types(columns: Iterable[Column]) -> tuple[str, ...]:
    """The types that columns have in the engine."""
    return tuple(engine_type(column.type.name) for column in columns)


def named_types(columns: Iterable[Column]) -> circuit_plan.NamedTypes:
    """Columns with their types in Spark SQL; an array of a group's rows is only passed on, as the text that it is."""
    return tuple((one.name, one.type.name if one.type.element is None else "string") for one in columns)


def _padded(value: OutputValue, values: Mapping[Attribute, Term], alias: str = "") -> Term | None:
    """A column of a row without a partner; None where it is the other side's."""
    if isinstance(value, Attribute):
        return values[value] if not alias or value.source == alias else None
    if isinstance(value, TimeValue):
        return replace(values[value.plus], offset=value.offset) if value.plus in values else None
    assert isinstance(value, Constant), "what is computed is computed above the join"
    return None if value.value is None else Term(None, constant(value.value))


def renamed(tests: Iterable[Test], known: Mapping[str, str]) -> tuple[Test, ...]:
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
