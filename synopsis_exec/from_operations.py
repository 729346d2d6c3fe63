"""The engine's operators of a decided statement, made from its operations: those below first.

Rows of an operation are columns ``c0``, ``c1`` … of an engine's operator: those of the tree that are needed, by place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from msgspec import structs
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.substitution import values_of
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import BIGINT as BIGINT_TYPE
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.query import Attribute, Branch, Constant, Output, Query
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.block_part import BlockPart
from streambound.criteria.bound import least_bound
from streambound.criteria.column_types import columns_of
from streambound.criteria.dataflow.aggregates import ENDS
from streambound.criteria.dataflow.closing import ClosingTime, bucket_function, closings
from streambound.criteria.dataflow.each_key import with_one_key
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.key_places import key_places
from streambound.criteria.dataflow.state import DecidedBlock, EachKey, Operation, OperatorState, Undecided
from streambound.criteria.dataflow.view import BucketEnd, OperatorView, place_of
from streambound.preprocess.pipeline import derive
from streambound.synopsis_exec.made_operators import MadeOperators, engine_types
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.group import SqlGroup
from streambound_runtime.engine.join import SqlAsOf
from streambound_runtime.engine.linear import SqlBucket, SqlPick, SqlUnion
from streambound_runtime.engine.plan import ComputedRows, EngineOperator
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.engine.tables import BIGINT
from streambound_runtime.operators.circuit_plan import KeyMember, TimeBucket


class NotMade(Exception):
    """An operation that no operators are made of yet, in words."""


@dataclass(frozen=True, slots=True)
class OperationRows:
    """The rows of an operation: the ``operator`` whose columns are those of its tree at these places, in turn."""

    operator: str
    places: tuple[int, ...]
    columns: tuple[Column, ...]

    def name(self, place: int) -> str:
        """The engine's name for a column of the tree."""
        return f"c{self.places.index(place)}"

    def kind(self, place: int) -> Column:
        """A column of the tree."""
        return self.columns[self.places.index(place)]


class JobOperators(MadeOperators):
    """The operators of a statement as they are made of its operations; ``final`` results are printed once.

    ``grows``: nothing bounds what they keep.
    The ``makers`` are those of operators that keep something, by the trees of these.
    """

    def __init__(
        self, judgement: Judgement, makers: Mapping[type[nodes.Tree], Maker], final: bool = False, grows: bool = False
    ) -> None:
        super().__init__(judgement.context.catalog)
        self.makers, self.grows = makers, grows
        self.context, self.views = judgement.context, judgement.context.views
        self.numbers = count(1)
        self.key: StreamKey | None = None
        operation = judgement.operation
        view = self.views.of(operation.tree)
        self.result = self.exactly(self.rows(operation), range(len(view.schema)))
        if final:
            self._finish(self.result.operator)

    def named(self, what: str) -> str:
        """A name for an operator, as ``groups 2``."""
        return f"{what} {next(self.numbers)}"

    def added(self, operator: EngineOperator, places: Iterable[int], columns: Iterable[Column]) -> OperationRows:
        """An operator's rows, once it is there."""
        self.made[operator.name] = operator
        return OperationRows(operator.name, tuple(places), _called(columns))

    def rows(self, operation: Operation) -> OperationRows:
        """The rows of an operation, once all operators below are there."""
        known, found = {*self.made}, self._rows(operation)
        if self.key is None:  # what is done for each key is of that operation
            for name in [one for one in self.made if one not in known]:
                self.made_of_operation.setdefault(name, operation)
        return found

    def _rows(self, operation: Operation) -> OperationRows:
        tree = operation.tree
        if operation.each_key is not None:
            return self._of_each_key(operation.each_key)
        if is_static(tree, self.catalog):
            return self._static(operation)
        if operation.rows is not None and not isinstance(tree, nodes.Join | nodes.Distinct) and not _is_set(tree):
            return self.block_rows(operation, tuple(sorted(operation.demand.columns)))
        match tree:
            case nodes.Join() if operation.rows is not None and self.context.is_block(tree):
                return self.block_rows(operation, tuple(sorted(operation.demand.columns)))
            case nodes.Scan():
                return self._changing(tree)
            case nodes.Filter():
                return self._filter(operation, tree)
            case nodes.Project():
                return self._project(operation, tree)
            case nodes.Alias() | nodes.SpjBlock():
                return self.rows(operation.inputs[0])
            case nodes.Union() if not tree.distinct:
                return self._union(operation, tree)
            case nodes.Bucket():
                return self._bucket(operation, tree)
        if (maker := self.makers.get(type(tree))) is None:
            raise NotMade(f"{type(tree).__name__}")
        return maker(operation, tree, self)

    # --- keys that end ------------------------------------------------------------------------------------------------

    def _of_each_key(self, each: EachKey) -> OperationRows:
        """The rows of an operation that is done for each value of a key, whose entries go with it."""
        before = self.context, self.views
        self.context, self.key = with_one_key(self.context, each.key), each.key
        self.views = self.context.views
        found = self.rows(each.operation)
        (self.context, self.views), self.key = before, None
        return found

    def places_of_key(self, tree: nodes.Tree, rows: OperationRows) -> tuple[int, ...]:
        """The places of the engine's columns that hold the key, where there is one operator for each value of it."""
        if self.key is None:
            return ()
        held = key_places(tree, self.context, len(self.key.attributes))
        found = [next((n for n, place in enumerate(rows.places) if place in one), None) for one in held or ()]
        known = tuple(place for place in found if place is not None)
        if held is None or len(known) < len(held):
            raise NotMade("entries that do not have their key")
        return known

    def over(self, key: StreamKey | None) -> tuple[str, ...]:
        """The operator of the values of a key that are over."""
        return () if key is None else self.ended(key.stream, key.marked)

    # --- blocks and relations -----------------------------------------------------------------------------------------

    def block_rows(self, operation: Operation, places: tuple[int, ...]) -> OperationRows:
        """The rows of a block, whose query has the columns at these places."""
        found = operation.rows
        if found is None or found.sizes is None:
            raise NotMade("a block without tables")
        part = self._part(found)
        made = self.added(self._block(part, found), places, part.columns)
        return made if places else self.made_of(made, (), ())  # without the one that a block without columns has

    def _part(self, found: DecidedBlock) -> BlockPart:
        query, sizes = _numbered(found.read.query), found.sizes
        assert sizes is not None, "a block with tables"
        name, columns = self.named("block"), columns_of(query)
        return BlockPart(name, query, _numbered(found.best or found.read.split), sizes, columns)

    def block_of(self, found: DecidedBlock, sums: tuple[str, ...] = ()) -> tuple[str, tuple[Column, ...]]:
        """A block's operator, with its columns; ``sums`` are the types of what it adds up.

        One of a single stream remembers nothing, and adds nothing up: its rows have the factors after its columns.
        """
        if sums and is_of_rows(found):
            found = _by_rows(found)
        part = self._part(found)
        if sums:
            self.sums[part.name] = sums
        operator = self._block(part, found)
        self.made[operator.name] = operator
        return operator.name, part.columns

    def _block(self, part: BlockPart, found: DecidedBlock) -> EngineOperator:
        """A block, whose entries go with their key where there is one for each value of it."""
        if self.key is None or found.sizes is None or not found.keeps:
            return self.block(part, found.best is not None)
        plan, synopsis = self.planned(part, found.best is not None)
        sources = {source.table: source for branch in found.read.split.branches for source in branch.streams}
        members = tuple(
            KeyMember(table, source.one_key.attributes)
            for table, source in sources.items()
            if source.one_key is not None
        )
        (keys,) = self.over(self.key)
        return self.sql_block(plan, synopsis, members, keys)

    def _static(self, operation: Operation) -> OperationRows:
        """The rows of a relation that does not change, or of what is computed of some."""
        tree, places = operation.tree, tuple(sorted(operation.demand.columns)) or (0,)
        table = self.context.relation(tree, places)
        assert not isinstance(table, Undecided), "what is decided has its relations"
        columns = table.columns
        if self.catalog.table(table.name) is not None:
            schema = self.views.schema(tree)
            columns = tuple(column for place in places if (column := schema[place].column) is not None)
        return self.added(self.relation(self.named(f"relation {table.name}"), table, columns), places, columns)

    def _changing(self, tree: nodes.Scan) -> OperationRows:
        """The rows of a relation that changes, which is read once."""
        table = self.catalog.table(tree.table)
        assert table is not None, "a scan of a relation"
        return self.rows_of_changes(table)

    def rows_of_changes(self, table: DeclaredTable) -> OperationRows:
        """The rows of a relation that changes, with all its columns."""
        name = f"relation {table.name}"
        if name not in self.made:
            self.made[name] = self.changing_relation(name, table, table.columns)
        return OperationRows(name, tuple(range(len(table.columns))), _called(table.columns))

    # --- rows one by one ----------------------------------------------------------------------------------------------

    def text(self, node: nodes.Scalar | exp.Expr, view: OperatorView, rows: OperationRows) -> str:
        """An expression over an operation's rows as one over the engine's columns."""

        def meant(one: exp.Expr) -> exp.Expr:
            if isinstance(one, exp.Query):
                raise NotMade("a subquery above operators")
            if not isinstance(one, exp.Column):
                return one
            place = place_of(one, view)
            if place is None or place not in rows.places:
                raise NotMade(f"{one.sql('spark')} is no column here")
            return exp.column(rows.name(place), quoted=True)

        syntax = node.syntax if isinstance(node, nodes.Scalar) else node
        return syntax.copy().transform(meant).sql("spark")

    def type_of(self, text: str, rows: OperationRows) -> Column:
        """An expression over the engine's columns, as a column."""
        try:
            return Column("", read(parsed(text), {c.name: c.type for c in rows.columns}).kind)
        except Refused as refused:
            raise NotMade(str(refused)) from refused

    def made_of(
        self, rows: OperationRows, texts: Sequence[str], places: Iterable[int], where: str = ""
    ) -> OperationRows:
        """Rows that are computed of others: a column for each expression, of those for which a condition is true."""
        same = [f"`c{n}`" for n in range(len(rows.columns))]
        if not where and list(texts) == same:
            return replace(rows, places=tuple(places))
        columns = _called(self.type_of(text, rows) for text in texts)
        operator = self.mapped(self.named("map"), rows.operator, rows.columns, columns, tuple(texts), where)
        return self.added(operator, places, columns)

    def exactly(self, rows: OperationRows, places: Iterable[int]) -> OperationRows:
        """Rows with the columns of a tree at some places, in turn."""
        wanted = tuple(places)
        return rows if rows.places == wanted else self.made_of(rows, [f"`{rows.name(p)}`" for p in wanted], wanted)

    def _filter(self, operation: Operation, tree: nodes.Filter) -> OperationRows:
        below, view = self.rows(operation.inputs[0]), self.views.of(tree.input)
        places = sorted(operation.demand.columns)
        where = self.text(tree.condition, view, below)
        return self.made_of(below, [f"`{below.name(place)}`" for place in places], places, where)

    def _project(self, operation: Operation, tree: nodes.Project) -> OperationRows:
        below, view = self.rows(operation.inputs[0]), self.views.of(tree.input)
        items, places = values_of(tree.items, view.schema), sorted(operation.demand.columns)
        return self.made_of(below, [self.text(items[place], view, below) for place in places], places)

    def _union(self, operation: Operation, tree: nodes.Union) -> OperationRows:
        places = sorted(operation.demand.columns)
        sides = [self.exactly(self.rows(one), places) for one in operation.inputs]
        columns = tuple(
            next((one for one in several if one.type.name != "void"), several[0])
            for several in zip(*(side.columns for side in sides), strict=True)
        )
        names = tuple(side.operator for side in sides)
        timed = all(self.made[name].timed for name in names)
        return self.added(SqlUnion(self.named("union"), names, engine_types(columns), timed), places, columns)

    def _bucket(self, operation: Operation, tree: nodes.Bucket) -> OperationRows:
        """Rows with the ends of their buckets."""
        below, view = self.rows(operation.inputs[0]), self.views.of(tree.input)
        time, width = place_of(tree.time.syntax, view), len(view.schema)
        if time is None:
            same = [f"`{column.name}`" for column in below.columns]
            time = -1  # which no column of the tree has
            below = self.made_of(below, [*same, self.text(tree.time, view, below)], (*below.places, time))
        places = sorted(operation.demand.columns)
        items = tuple(below.places.index(p) if p < width else ENDS[p - width] for p in places)
        columns = [below.kind(p if p < width else time) for p in places]
        return self.spread(tree, below, below.places.index(time), items, columns, places)

    def spread(
        self,
        tree: nodes.Bucket,
        below: OperationRows,
        time: int,
        items: Sequence[int | str],
        columns: Sequence[Column],
        places: Iterable[int],
    ) -> OperationRows:
        """Rows once for every bucket that they are in: of columns of theirs, and its ends."""
        operator, every = self.made[below.operator], tuple(items)
        types = tuple(BIGINT if isinstance(item, str) else operator.types[item] for item in every)
        slide = 0 if tree.kind is nodes.BucketKind.SESSION else tree.slide or tree.size
        made = SqlBucket(
            self.named("buckets"), operator.name, time, tree.size, slide, tree.offset, every, types, operator.timed
        )
        return self.added(made, places, columns)

    # --- when rows go -------------------------------------------------------------------------------------------------

    def closing_of(self, view: OperatorView, state: OperatorState | None, keys: Iterable[int]) -> ClosingTime | None:
        """The time by which entries with these columns go: that of their number, or any other one."""
        known = frozenset(keys)
        if state is not None and state.count is not None and state.count.closing is not None:
            return state.count.closing if state.count.closing.place in known else None
        return next((one for one in closings(view) if one.place in known), None)

    # --- final results ------------------------------------------------------------------------------------------------

    def _finish(self, name: str) -> None:
        """Let results be printed when they no longer change, and not their changes."""
        match operator := self.made[name]:
            case SqlGroup() | SqlStreamJoin():
                self.made[name] = replace(operator, final=True)
            case SqlPick(input=below) | SqlBucket(input=below):
                self._finish(below)
                self.made[name] = replace(operator, timed=self.made[below].timed)
            case ComputedRows(node=node):
                self._finish(node.input)
                self.made[name] = replace(operator, timed=self.made[node.input].timed)
            case SqlAsOf(inputs=(left, _)):
                self._finish(left)
                self.made[name] = replace(operator, timed=self.made[left].timed)
            case SqlUnion(inputs=several):
                for below in several:
                    self._finish(below)
                self.made[name] = replace(operator, timed=all(self.made[below].timed for below in several))
            case SqlCounts():
                pass


Maker = Callable[[Operation, Any, JobOperators], OperationRows]
"""Makes the operators of an operation, of a tree of its kind."""


def is_of_rows(found: DecidedBlock) -> bool:
    """Whether each row of a block is one of a stream."""
    return all(len(branch.sources) == 1 for branch in found.read.query.branches)


def _by_rows(found: DecidedBlock) -> DecidedBlock:
    """A block of single streams' rows with the factors of its sums as columns."""
    query, branches = found.read.query, list[Branch]()
    for branch in query.branches:
        (source,) = branch.sources
        more = tuple(
            Output(name, Attribute(source.alias, *factor) if factor else Constant(1, BIGINT_TYPE), branch.span)
            for name, factor in zip(query.sums, source.factors, strict=True)
        )
        sources = (structs.replace(source, factors=()),)
        branches.append(structs.replace(branch, sources=sources, outputs=(*branch.outputs, *more)))
    read = derive(structs.replace(query, branches=tuple(branches), sums=()))
    return DecidedBlock(read, least_bound(read, repeats=True))


def time_bucket(closing: ClosingTime, place: int, end: BucketEnd | None = None) -> TimeBucket:
    """The bucket of time of a column at a place of an entry, which may be the ``end`` of a bucket in SQL."""
    if end is not None and end.bucket.kind is not nodes.BucketKind.SESSION and not closing.function:
        after = {"start": end.bucket.size - 1, "end": -1, "last": 0}[end.which]
        return TimeBucket(place, end.bucket.size, end.which, closing.wait - after)
    found = bucket_function(closing.function, closing.width)
    assert found is not None, "rows close by functions that jobs know"
    return TimeBucket(place, *found, closing.wait)


def _called(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Columns by the names that the engine has for them."""
    return tuple(Column(f"c{n}", column.type) for n, column in enumerate(columns))


def _numbered(query: Query) -> Query:
    """A query whose columns have names of their own, as two columns of a block may have the same one."""
    return structs.replace(query, branches=tuple(_with_numbers(branch) for branch in query.branches))


def _with_numbers(branch: Branch) -> Branch:
    return structs.replace(
        branch, outputs=tuple(structs.replace(one, name=f"c{n}") for n, one in enumerate(branch.outputs))
    )


def _is_set(tree: nodes.Tree) -> bool:
    return isinstance(tree, nodes.Union) and tree.distinct
