"""Groups as the engine has them: of a block that adds up, or of another view's rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, GroupKeeps, aggregate_type
from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType, Family
from streambound.criteria.column_types import columns_of
from streambound.criteria.dataflow.aggregates import Valued, block_keys, keyed_rows, valued
from streambound.criteria.dataflow.closing import closings
from streambound.criteria.dataflow.counting import held_keys
from streambound.criteria.dataflow.state import Entry, Operation, OperatorState, PassedGroups, SummedCall
from streambound.synopsis_exec.from_operations import JobOperators, NotMade, OperationRows, is_of_rows, time_bucket
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.group import GroupArgument, SqlGroup
from streambound_runtime.engine.linear import SqlPick
from streambound_runtime.engine.tables import EXACT, HUGEINT, engine_type
from streambound_runtime.operators.circuit_plan import GroupValue, TimeBucket


def rows_of_groups(operation: Operation, tree: nodes.Aggregate, job: JobOperators) -> OperationRows:
    """The groups: their keys, then the aggregates that are needed."""
    return (_OfBlock if operation.sums is not None else _OfView)(operation, tree, job).rows()


class _GroupRows(ABC):
    """Groups while their operator is made."""

    def __init__(self, operation: Operation, tree: nodes.Aggregate, job: JobOperators) -> None:
        self.operation, self.tree, self.job = operation, tree, job
        self.width = len(tree.keys)
        places = [p for p in range(self.width, self.width + len(tree.calls)) if p in operation.demand.columns]
        self.places, self.calls = places, [tree.calls[place - self.width] for place in places]
        read = [(call, valued(call)) for call in self.calls]
        self.valued = [one for _, one in read if isinstance(one, Valued)]
        self.linear = [call for call, one in read if one is None]
        self.given = job.views.of(tree.input)

    def rows(self) -> OperationRows:
        """The operator of the groups."""
        summed, kinds = self._linear()
        sums = self._types(summed, kinds)
        rows, keys, weighted = self._rows(summed, sums)
        arguments = [self._argument(one, number) for number, one in enumerate(self.valued)]
        values, types_of_values = list[GroupValue](), list[DataType]()
        for place, call in zip(self.places, self.calls, strict=True):
            value, kind = self._value(f"_a{place}", call, summed, kinds, arguments)
            values.append(value)
            types_of_values.append(kind)
        bucket, session = self._closing()
        ending, over = self._ending()
        types = tuple(engine_type(value.type) for value in values)
        operator = SqlGroup(
            self.job.named("groups"),
            (rows, *(name for name, _, _ in arguments), *over),
            self.job.made[rows].types[: self.width],
            sums,
            weighted,
            tuple(values),
            types,
            tuple(argument for _, argument, _ in arguments),
            bucket,
            session,
            ending=ending,
            rising=self._rising(),
        )
        columns = (*keys, *(Column("", kind) for kind in types_of_values))
        return self.job.added(operator, (*range(self.width), *self.places), columns)

    # --- what differs -------------------------------------------------------------------------------------------------

    @abstractmethod
    def _linear(self) -> tuple[list[SummedCall], dict[int, Column]]:
        """Linear aggregates with their sums, and, by the call, their arguments' types."""

    @abstractmethod
    def _rows(self, summed: Sequence[SummedCall], sums: tuple[str, ...]) -> tuple[str, tuple[Column, ...], bool]:
        """The operator of the rows, the keys, and whether it adds up."""

    @abstractmethod
    def _argument(self, one: Valued, number: int) -> tuple[str, GroupArgument, Column]:
        """An argument's operator, and its column."""

    # --- what is the same ---------------------------------------------------------------------------------------------

    def _types(self, summed: Sequence[SummedCall], kinds: dict[int, Column]) -> tuple[str, ...]:
        """The types of sums: of doubles they are exact."""
        number = max((place for call in summed for place in (*call.sums, *call.squares)), default=-1) + 1
        found = dict.fromkeys(range(number), HUGEINT)
        for call in summed:
            argument = kinds.get(id(call.call))
            if argument is not None and sql_type(argument.type.name).family == "float":
                found |= dict.fromkeys((*call.sums[1:], *call.squares), EXACT)
        return tuple(found.values())

    def _value(
        self,
        name: str,
        call: nodes.AggregateCall,
        summed: Sequence[SummedCall],
        kinds: dict[int, Column],
        arguments: Sequence[tuple[str, GroupArgument, Column]],
    ) -> tuple[GroupValue, DataType]:
        number = next((n for n, one in enumerate(self.valued) if one.call is call), None)
        if number is not None:
            one, argument = self.valued[number], arguments[number][2]
            function = call.function if one.greatest is None else "MAX" if one.greatest else "MIN"
            kind = _type_of(function, argument.type)
            value = GroupValue(
                name,
                function.lower(),
                kind.name,
                values=number,
                places=_scale(argument.type),
                distinct=call.distinct and one.greatest is None,
                part=one.kept.part or 0,
                descending=one.kept.descending,
            )
            return value, kind
        sums = next(one for one in summed if one.call is call)
        of = kinds.get(id(call))
        kind = _type_of(call.function, None if of is None else of.type)
        places = 0 if of is None else _scale(of.type)
        return GroupValue(name, call.function.lower(), kind.name, sums.sums, sums.squares, places=places), kind

    def _closing(self) -> tuple[TimeBucket | None, tuple[int, int] | None]:
        """The bucket of time that a key is, by which groups go; the places of a session's ends among the keys."""
        session = self._session()
        state = next((one for one in self.operation.states if one.what == "groups"), None)
        rows = keyed_rows(self.tree)
        keyed = self.job.views.of(rows)
        if session is not None:
            bucket = self.tree.input
            assert isinstance(bucket, nodes.Bucket), "sessions are buckets"
            found = next((one for one in closings(keyed) if one.place == session[1]), None)
            return None if found is None else TimeBucket(session[1], bucket.size, "session", found.wait), session
        closing = self.job.closing_of(keyed, state, range(self.width))
        if closing is None:
            return None, None
        return time_bucket(closing, closing.place, self.job.views.bucket_end(rows, closing.place)), None

    def _rising(self) -> int | None:
        """The key of which the greatest value stays."""
        counts = (one.count for one in self.operation.states if one.what == "groups")
        return next((one.why.key for one in counts if one is not None and isinstance(one.why, PassedGroups)), None)

    def _ending(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """The places of a key by which groups go, and the operator of those that are over."""
        keys = OperationRows("", tuple(range(self.width)), ())
        if self.job.key is not None:
            return self.job.places_of_key(self.tree, keys), self.job.over(self.job.key)
        if self._closing()[0] is not None:
            return (), ()
        keyed = self.job.views.of(keyed_rows(self.tree))
        held = next(held_keys(keyed, frozenset(range(self.width))), None)
        return ((), ()) if held is None else (held.places, self.job.over(held.key))

    def _session(self) -> tuple[int, int] | None:
        bucket = self.tree.input
        if not isinstance(bucket, nodes.Bucket) or bucket.kind is not nodes.BucketKind.SESSION:
            return None
        _, keys = block_keys(self.tree)
        return keys.index("start"), keys.index("end")


class _OfBlock(_GroupRows):
    """Groups of a select-project-join block, whose synopsis adds up."""

    def _linear(self) -> tuple[list[SummedCall], dict[int, Column]]:
        sums = self.operation.sums
        assert sums is not None, "a block with sums"
        kinds = {
            id(one.call): self._column(one.call.arguments[0].syntax)
            for one in sums.calls
            if one.call.arguments and one.call.function != "COUNT"
        }
        return [*sums.calls], kinds

    def _column(self, node: exp.Expr) -> Column:
        body = self.tree.input.input if isinstance(self.tree.input, nodes.Bucket) else self.tree.input
        item = nodes.Named("_v", Scalar(node), alias=True)
        return columns_of(self.job.context.columns.items(body, (item,)))[0]

    def _rows(self, summed: Sequence[SummedCall], sums: tuple[str, ...]) -> tuple[str, tuple[Column, ...], bool]:
        block = self.operation.inputs[0]
        assert self.operation.sums is not None, "a block with sums"
        if block.rows is None or block.rows.sizes is None:
            raise NotMade("groups of a block without tables")
        products = len(self.operation.sums.products)
        given, columns = self.job.block_of(block.rows, sums if products else ())
        name, keys = self._spread(given, columns, 0)
        return name, keys, bool(products) and not is_of_rows(block.rows)

    def _argument(self, one: Valued, number: int) -> tuple[str, GroupArgument, Column]:
        block = self.operation.inputs[1 + number]
        if block.rows is None or block.rows.sizes is None:
            raise NotMade("values of a block without tables")
        given, columns = self.job.block_of(block.rows)
        name, _ = self._spread(given, columns, 1)
        operator = self.job.made[name]
        return name, GroupArgument(operator.types[self.width], one.greatest), columns[-1]

    def _spread(self, name: str, columns: Sequence[Column], more: int) -> tuple[str, tuple[Column, ...]]:
        """The keys of a block's rows, once for each of their buckets; ``more`` values and all sums follow."""
        items, keys = block_keys(self.tree)
        bucket = self.tree.input if isinstance(self.tree.input, nodes.Bucket) else None
        assert None not in keys, "of what is computed of ends, groups are of rows"
        time = None if bucket is None else next(n for n, one in enumerate(items) if one.value.text == self._time())
        found = tuple(columns[time or 0] if isinstance(key, str) else columns[key or 0] for key in keys)
        if bucket is not None and time is not None:
            rows = OperationRows(name, (), tuple(columns[: len(items)]))
            shown = [*(key for key in keys if key is not None), *range(len(items), len(items) + more)]
            sums = [place for place in range(len(self.job.made[name].types)) if place not in {time, *shown}]
            return self.job.spread(bucket, rows, time, [*shown, *sums], (), ()).operator, found
        plain, below = [key for key in keys if isinstance(key, int)], self.job.made[name]
        if plain == list(range(len(items))):
            return name, found
        every = [*plain, *range(len(items), len(below.types))]  # a key that is there twice is one column of the block
        picked, types = tuple(f"c{place}" for place in every), tuple(below.types[place] for place in every)
        pick = SqlPick(self.job.named("pick"), name, picked, types, below.timed)
        return self.job.added(pick, (), ()).operator, found

    def _time(self) -> str:
        bucket = self.tree.input
        assert isinstance(bucket, nodes.Bucket), "keys of buckets"
        return Scalar(bucket.time.syntax).text


class _OfView(_GroupRows):
    """Groups of another operation's rows."""

    def __init__(self, operation: Operation, tree: nodes.Aggregate, job: JobOperators) -> None:
        super().__init__(operation, tree, job)
        self.below = job.rows(operation.inputs[0])
        self.texts = [self._text(key.value.syntax) for key in tree.keys]
        self.factors: list[str] = []

    def _text(self, node: exp.Expr) -> str:
        return self.job.text(node, self.given, self.below)

    def _linear(self) -> tuple[list[SummedCall], dict[int, Column]]:
        found, kinds = list[SummedCall](), dict[int, Column]()
        for call in self.linear:
            nodes_of = [one.syntax for one in call.arguments]
            if call.function != "COUNT":
                kinds[id(call)] = self.job.type_of(self._text(nodes_of[0]), self.below)
            there = [_is_there(one) for one in nodes_of if type_of(one, self.given.schema)[1]]
            there += [] if call.filter is None else [call.filter.syntax]
            factors = _factors(call.function, nodes_of, exp.and_(*there) if there else None)
            sums = [-1 if one is None else self._factor(one) for one in factors]
            found.append(SummedCall(call, tuple(sums[:2]), tuple(sums[2:])))
        return found, kinds

    def _factor(self, node: exp.Expr) -> int:
        """The place of what is added up, where equal ones are one."""
        text = self._text(node)
        if text not in self.factors:
            self.factors.append(text)
        return self.factors.index(text)

    def _rows(self, summed: Sequence[SummedCall], sums: tuple[str, ...]) -> tuple[str, tuple[Column, ...], bool]:
        made = self.job.made_of(self.below, [*self.texts, *self.factors], ())
        return made.operator, made.columns[: self.width], False

    def _argument(self, one: Valued, number: int) -> tuple[str, GroupArgument, Column]:
        value = one.value
        if one.kept.part is not None and one.greatest is not None:
            value = exp.cast(value.copy(), "double")
        if one.where is not None:
            value = exp.Case(ifs=[exp.If(this=one.where.copy(), true=value.copy())])
        beside = [] if one.kept.beside is None else [self._text(one.kept.beside.syntax)]
        texts = [*self.texts, self._text(value), *beside]
        state, closing = self._state_of(one), None
        if state is not None and state.entry is Entry.OPEN_VALUES:
            closing = None if state.count is None else state.count.closing
            if closing is None or closing.place not in self.below.places:
                raise NotMade("values of rows that nothing shown says when they close")
            texts.append(f"`{self.below.name(closing.place)}`")
        made = self.job.made_of(self.below, texts, ())
        types = self.job.made[made.operator].types
        more = self.width + 1 + len(beside)
        bucket = None if closing is None else time_bucket(closing, more)
        kept = one.greatest if state is None or bucket is not None else None
        other = types[self.width + 1] if beside else ""
        argument = GroupArgument(types[self.width], kept, bucket, "" if bucket is None else types[more], other)
        return made.operator, argument, made.columns[self.width + len(beside) * (one.greatest is not None)]

    def _state_of(self, one: Valued) -> OperatorState | None:
        """The state of an argument's values; None where the best one is in the group's entry."""
        place = next(p for p, call in zip(self.places, self.calls, strict=True) if call is one.call)
        return next((s for s in self.operation.states if s.what == "values" and s.key[-1] == place), None)


def _is_there(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null()))


def _factors(function: str, arguments: Sequence[exp.Expr], where: exp.Expr | None) -> Iterator[exp.Expr | None]:
    """The summands of a row: to the number of values, to their sum, and to the sum of their squares.

    None stands for the constant 1.
    """
    values: list[exp.Expr | None] = [None if where is None else exp.Literal.number(1)]
    if function != "COUNT":
        values.append(exp.Paren(this=arguments[0].copy()))
    if AGGREGATES[function].kept is GroupKeeps.SQUARES:
        values.append(exp.Mul(this=exp.Paren(this=arguments[0].copy()), expression=exp.Paren(this=arguments[0].copy())))
    for one in values:
        if where is None or one is None:
            yield one
        else:
            yield exp.Case(ifs=[exp.If(this=where.copy(), true=one)], default=exp.Literal.number(0))


def _type_of(function: str, argument: DataType | None) -> DataType:
    found = aggregate_type(function, argument)
    assert found is not None, "aggregates have types"
    return found


def _scale(kind: DataType) -> int:
    """How many decimal places a type has."""
    return (kind.scale or 0) if kind.family is Family.DECIMAL else 0
