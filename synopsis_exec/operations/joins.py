"""Joins as the engine has them: of two streams, of views, and of a relation as of a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.recent_rows import RecentRows, recent_rows
from streambound.analyzer.algebra.sources import version_of
from streambound.analyzer.algebra.syntax import column_of, conjuncts
from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.whole_numbers import added_number
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.types import DataType, Family
from streambound.criteria.block_part import BlockPart
from streambound.criteria.column_types import columns_of
from streambound.criteria.dataflow.blocks import read_items
from streambound.criteria.dataflow.joins import Sides, sides_of_pairs
from streambound.criteria.dataflow.state import Combinations, DecidedBlock, Operation, OperatorState, Undecided
from streambound.criteria.dataflow.view import OperatorView, place_of
from streambound.preprocess.pipeline import Derivation
from streambound.synopsis_exec.from_operations import JobOperators, NotMade, OperationRows, time_bucket
from streambound.synopsis_exec.made_operators import bound_of, engine_types
from streambound.synopsis_exec.operations.row_tests import tests_of_times, tests_of_values
from streambound_runtime.engine.join import Alternatives, RightBest, SqlAsOf, SqlJoin
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.engine.linear import SqlPick, SqlUnion
from streambound_runtime.engine.recent import SqlRecent
from streambound_runtime.operators.circuit_plan import ColumnClip, TimeBucket
from streambound_runtime.operators.plan import Test

_OPS = {
    exp.LT: "<", exp.LTE: "<=", exp.EQ: "==", exp.GTE: ">=", exp.GT: ">", exp.NEQ: "!=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
}  # fmt: skip
_FLIPPED = {nodes.JoinKind.RIGHT: nodes.JoinKind.LEFT, nodes.JoinKind.FULL: nodes.JoinKind.FULL}


def rows_of_join(operation: Operation, tree: nodes.Join, job: JobOperators) -> OperationRows:
    """The pairs, and the rows without partners, that a join has."""
    if (recent := recent_rows(tree, job.catalog)) is not None:
        return _recent(recent, operation, job)
    if operation.is_apart:
        return _of_rows_apart(operation, tree, job)
    if operation.rows is not None:
        return _of_streams(operation, tree, operation.rows, job)
    if tree.using:
        raise NotMade("USING")
    left, right = (is_static(side, job.catalog) for side in (tree.left, tree.right))
    if not operation.states:  # it is made again, of rows that are kept elsewhere
        return _OfViews(operation, tree, job).rows()
    if (right and tree.kind in _FLIPPED) or (left and tree.kind is nodes.JoinKind.RIGHT):
        return _turned(operation, tree, job)
    return _OfViews(operation, tree, job).rows()


def _recent(recent: RecentRows, operation: Operation, job: JobOperators) -> OperationRows:
    """Rows that are not much older than the newest one, or older by so much."""
    rows, newest = map(job.rows, operation.inputs)
    time, names = rows.places.index(recent.time), (rows.operator, newest.operator)
    made = SqlRecent(job.named("recent rows"), names, engine_types(rows.columns), time, recent.timestamps, recent.wait)
    return job.exactly(job.added(made, rows.places, rows.columns), sorted(operation.demand.columns))


# --- joins of two streams ---------------------------------------------------------------------------------------------


def _of_streams(operation: Operation, tree: nodes.Join, found: DecidedBlock, job: JobOperators) -> OperationRows:
    """A semi, anti or outer join of two streams by the inner join's tables."""
    places = tuple(sorted(operation.demand.columns))
    width = len(job.views.of(tree.left).schema)
    alone = [_alone(tree, side, first, places, job) for side, first in ((tree.left, 0), (tree.right, width))]
    if not found.read.split.branches:
        return _without_partners(tree, found.read, alone, places, job)
    query, sizes = found.read.query, found.sizes
    assert sizes is not None, "a join with tables"
    columns = _typed(columns_of(query), alone)
    part = BlockPart(job.named("block"), query, found.read.split, sizes, columns)
    sides = [one.split for one in alone]
    if any(len(side.branches) != 1 for side in sides):
        raise NotMade("a side of several cases")
    joined = job.stream_join(job.named(f"{tree.kind} join"), tree.kind.type, part, sides)
    if job.key is not None:
        sources = found.read.split.branches[0].streams
        keys = {one.table: one.one_key.attributes for one in sources if one.one_key is not None}
        first, second = job.with_key(joined.left, keys), job.with_key(joined.right, keys)
        joined = replace(joined, left=first, right=second, inputs=(*joined.inputs, *job.over(job.key)))
    made = job.added(joined, places, columns)
    return made if places else job.made_of(made, (), ())  # without the one that a block without columns has


def _alone(tree: nodes.Join, side: nodes.Tree, first: int, places: Sequence[int], job: JobOperators) -> Derivation:
    """The rows of one side, with its columns of the result; NULL for those of the other one."""
    schema = job.views.of(side).schema
    items = []
    for n, place in enumerate(places):
        own = 0 <= place - first < len(schema)
        node = column_of(schema[place - first]) if own else exp.Null()
        items.append(nodes.Named(f"c{n}", Scalar(node), alias=True))
    read = read_items(side, items, job.context)
    if isinstance(read, Undecided) or any(len(branch.sources) != 1 for branch in read.split.branches):
        raise NotMade("a side that is no stream")
    return read


def _typed(columns: tuple[Column, ...], alone: Sequence[Derivation]) -> tuple[Column, ...]:
    """Columns of no type have that of a side."""
    several = [columns, *(columns_of(one.query) for one in alone)]
    return tuple(next((one for one in same if one.type.name != "void"), same[0]) for same in zip(*several, strict=True))


def _without_partners(
    tree: nodes.Join, joint: Derivation, alone: Sequence[Derivation], places: tuple[int, ...], job: JobOperators
) -> OperationRows:
    """No row ever has a partner: each is printed at once, and of a semi join there is none."""
    kept = {nodes.JoinKind.RIGHT: [alone[1]], nodes.JoinKind.FULL: [*alone], nodes.JoinKind.SEMI: []}
    blocks = [one for one in kept.get(tree.kind, [alone[0]]) if one.split.branches] or [joint]
    columns = _typed(columns_of(alone[0].query), alone)
    names = []
    for one in blocks:
        part = BlockPart(job.named("block"), one.query, one.split, bound_of(one.split), columns)
        operator = job.block(part)
        names.append(job.added(operator, places, columns).operator)
    return job.added(SqlUnion(job.named("union"), tuple(names), engine_types(columns), True), places, columns)


# --- joins of views ---------------------------------------------------------------------------------------------------


def _turned(operation: Operation, tree: nodes.Join, job: JobOperators) -> OperationRows:
    """A join that keeps the right side's rows as one of its sides the other way round."""
    left, right = (len(job.views.of(side).schema) for side in (tree.left, tree.right))
    moved = {place: place + right for place in range(left)} | {left + place: place for place in range(right)}
    turned = structs.replace(tree, kind=_FLIPPED[tree.kind], left=tree.right, right=tree.left)
    states = tuple(
        structs.replace(state, operator=turned, what={"left": "right", "right": "left"}.get(state.what, state.what))
        for state in operation.states
    )
    found = structs.replace(
        operation, tree=turned, states=states, inputs=operation.inputs[::-1], demand=operation.demand.at(moved)
    )
    rows = _OfViews(found, turned, job).rows()
    back = {place: old for old, place in moved.items()}
    return replace(rows, places=tuple(back[place] for place in rows.places))


# --- joins of joins of streams ----------------------------------------------------------------------------------------


def _of_rows_apart(operation: Operation, tree: nodes.Join, job: JobOperators) -> OperationRows:
    """Joins whose streams' rows are kept, as one operator."""
    rows = _OfViews(operation, tree, job).rows()
    streams, parts = list[str](), dict[str, SqlJoin | SqlPick]()

    def read(name: str) -> str:
        """The name of an operator in the tree, after its inputs have been added."""
        operator = job.made[name]
        below = operator
        while isinstance(below, SqlPick):
            below = job.made[below.input]
        if not isinstance(below, SqlJoin):
            streams.append(name)
            return str(len(streams) - 1)
        given = tuple(map(read, operator.inputs))
        if isinstance(operator, SqlJoin):
            parts[name] = replace(operator, inputs=given)
        elif isinstance(operator, SqlPick):
            parts[name] = replace(operator, input=given[0])
        del job.made[name]
        return name

    read(rows.operator)
    count = operation.states[0].count
    assert count is not None and count.closing is not None, "rows are kept for a time"
    assert isinstance(count.why, Combinations), "it counts the rows of each stream"
    times = (count.closing.timestamps(count.why.view, one.source) for one in count.why.sources)
    kept = tuple(None if is_static(one.tree, job.catalog) else next(times) for one in operation.leaves())
    columns = tuple(job.made[name].types for name in streams)
    made = SqlJoinTree(job.named("joins"), tuple(streams), columns, kept, tuple(parts.values()))
    return job.added(made, rows.places, rows.columns)


@dataclass(frozen=True)
class _Side:
    """A side of a join as it is read, and what is said of it in the pairs."""

    rows: OperationRows
    view: OperatorView
    first: int
    letter: str

    def name(self, place: int) -> str:
        """The name in tests of a column of the pairs."""
        return f"{self.letter}{self.rows.places.index(place - self.first)}"


class _OfViews:
    """A join of views, while its operator is made."""

    def __init__(self, operation: Operation, tree: nodes.Join, job: JobOperators) -> None:
        self.operation, self.tree, self.job = operation, tree, job
        self.pair = job.views.of(structs.replace(tree, kind=nodes.JoinKind.INNER, member=None))
        self.version = version_of(tree.right)
        mine, theirs = operation.inputs
        left = _needed(mine, job)
        right = _needed(theirs, job) if self.version is None else _above_version(tree.right, job.rows(theirs), job)
        width = len(job.views.of(tree.left).schema)
        self.known: Sides | None = None if self.version else sides_of_pairs(tree, operation.demand, job.context)
        self.again = operation.is_apart or not operation.states
        if self.again and self.known is not None:  # of the streams' rows all columns are kept as they are
            self.known = structs.replace(self.known, clips=({}, {}))
        views = (job.views.of(tree.left), job.views.of(tree.right))
        if self.known is not None:
            views = (self.known.left, self.known.right)
        self.sides = (_Side(left, views[0], 0, "l"), _Side(right, views[1], width, "r"))
        self.more: tuple[list[str], list[str]] = ([], [])

    def rows(self) -> OperationRows:
        """The pairs that pass the condition, and rows without partners."""
        tests, either, late = list[Test](), list[Alternatives](), list[exp.Expr]()
        for node in conjuncts(self.tree.condition):
            try:
                self._add(node, tests, either)
            except NotMade:
                if self.tree.kind is not nodes.JoinKind.INNER:
                    raise
                late.append(node)
        if self.tree.member is not None:
            raise NotMade("NOT IN")
        one_sided = self.tree.kind in nodes.ONE_SIDED
        wanted = self.operation.demand.columns | self.pair.read_by(*late)
        places = [p for p in sorted(wanted) if not one_sided or p < self.sides[1].first]
        names = [self._side(place).name(place) for place in places]
        left, right = (self._with_more(side, more) for side, more in zip(self.sides, self.more, strict=True))
        types = {f"l{n}": kind for n, kind in enumerate(self.job.made[left].types)}
        types |= {f"r{n}": kind for n, kind in enumerate(self.job.made[right].types)}
        shown = tuple(types[name] for name in names)
        columns = [self._side(place).rows.kind(place - self._side(place).first) for place in places]
        kinds = (self.job.made[left].types, self.job.made[right].types)
        name = self.job.named(f"{self.tree.kind} join")
        timed = [self.job.made[one].timed for one in (left, right)]
        operator: SqlJoin | SqlAsOf
        static = is_static(self.tree.right, self.job.catalog) and not self.again
        if static or (self.version is not None and self._until is None):
            kind = self.tree.kind.type
            operator = SqlAsOf(
                name, (left, right), kind, *kinds, tuple(tests), tuple(names), shown, timed[0], either=tuple(either)
            )
        else:
            opens, clips, buckets = self._kept(tests)
            over = self.job.over(self.job.key)
            ending = tuple(
                self._ending(side, tree)
                for side, tree in zip(self.sides, (self.tree.left, self.tree.right), strict=True)
            )
            operator = SqlJoin(
                name, (left, right, *over), self.tree.kind.type, *kinds, tuple(tests), opens[0], tuple(names), shown,
                buckets, clips, (ending[0], ending[1]), grows=(timed[0], timed[1]), open_right=opens[1],
                standing=is_static(self.tree.left, self.job.catalog) and not self.again, either=tuple(either),
                best=self._best(), until=self._until,
            )  # fmt: skip
        found = self.job.added(operator, places, columns)
        if not late:
            return found
        where = " AND ".join(f"({self.job.text(node, self.pair, found)})" for node in late)
        shown_places = sorted(self.operation.demand.columns)
        return self.job.made_of(found, [f"`{found.name(place)}`" for place in shown_places], shown_places, where)

    @property
    def _until(self) -> int | None:
        """The place of the time until which left rows change with a relation that is as of it."""
        if self.version is None or len(self.operation.states) == 1:
            return None
        place = place_of(self.version.time.syntax, self.job.views.of(self.tree.left))
        assert place is not None, "rows have the time that they are kept until"
        return self.sides[0].rows.places.index(place)

    def _best(self) -> RightBest | None:
        """The column of the right side of which the best value is enough."""
        best = next((state.best for state in self.operation.states if state.best is not None), None)
        if best is None:
            return None
        rows = self.sides[1].rows
        computed = [n for n, text in enumerate(self.more[1], len(rows.columns)) if rows.name(best.place) in _read(text)]
        return RightBest((rows.places.index(best.place), *computed), best.greatest)

    def _ending(self, side: _Side, tree: nodes.Tree) -> tuple[int, ...]:
        """The places of the key by which rows of a side go."""
        return () if is_static(tree, self.job.catalog) else self.job.places_of_key(tree, side.rows)

    def _side(self, place: int) -> _Side:
        return self.sides[place >= self.sides[1].first]

    def _with_more(self, side: _Side, more: Sequence[str]) -> str:
        """A side's rows, with what the condition compares computed."""
        if not more:
            return side.rows.operator
        same = [f"`{column.name}`" for column in side.rows.columns]
        clips = self.known.clips[side.letter == "r"] if self.known is not None else {}
        known = {side.rows.name(place): ends for place, ends in clips.items() if place in side.rows.places}
        return self.job.made_of(side.rows, [*same, *(_between(text, known) for text in more)], ()).operator

    def _kept(
        self, tests: Sequence[Test]
    ) -> tuple[tuple[Alternatives, Alternatives], tuple[ColumnClip, ...], tuple[TimeBucket | None, TimeBucket | None]]:
        """The rows of both sides that may have partners, their clips, and when rows of both sides expire."""
        known, (left, right) = self.known, self.sides
        if known is None:  # as of a time
            count, until = self.operation.states[0].count, self._until
            closing = None if count is None else count.closing
            assert until is not None, "rows are kept until it"
            return (((),), ((),)), (), (None if closing is None else time_bucket(closing, until), None)
        opens = self._open(left, tests), self._open(right, tests)
        clips = tuple(
            ColumnClip(f"{side.letter}{side.rows.places.index(place)}", *ends)
            for side, several in ((left, known.clips[0]), (right, known.clips[1]))
            for place, ends in several.items()
            if place in side.rows.places
        )
        if self.again:
            return opens, (), (None, None)
        states = {state.what: state for state in self.operation.states}
        return opens, clips, (self._bucket(left, states.get("left")), self._bucket(right, states.get("right")))

    def _open(self, side: _Side, tests: Sequence[Test]) -> Alternatives:
        """What rows of a side pass that may have partners: by values, conditions of the side alone, distant times."""
        own, columns, places = (
            self._own(int(side.letter == "r")).columns,
            _called(side.rows, side.letter),
            side.rows.places,
        )
        more = [one for one in tests if one.right is None and one.left[0] == side.letter]
        more += tests_of_times(side.view, own, columns, places)
        return tuple((*part, *more) for part in tests_of_values(side.view, columns, places))

    def _bucket(self, side: _Side, state: OperatorState | None) -> TimeBucket | None:
        closing = self.job.closing_of(side.view, state, side.rows.places)
        return None if closing is None else time_bucket(closing, side.rows.places.index(closing.place))

    # --- conditions ---------------------------------------------------------------------------------------------------

    def _add(self, node: exp.Expr, tests: list[Test], either: list[Alternatives]) -> None:
        """A condition of the pairs, with its tests, or the alternatives that it has."""
        node = node.unnest()
        if isinstance(node, exp.And):
            for part in node.flatten():
                self._add(part, tests, either)
            return
        if not isinstance(node, exp.Or) or self._side_of(node) is not None:
            tests += self._tests(node)
            return
        parts = [conjuncts(part.unnest()) for part in node.flatten()]
        either.append(tuple(tuple(test for one in part for test in self._tests(one)) for part in parts))

    def _tests(self, node: exp.Expr) -> list[Test]:
        """A condition of the pairs as tests of their columns; of what is computed as of columns more."""
        node = node.unnest()
        if isinstance(node, exp.Boolean):
            return [] if node.this else [Test(self._computed(exp.Literal.number(1), 0), "==", None, 0)]
        if isinstance(node, exp.Between):
            low, high = node.args["low"], node.args["high"]
            both = (exp.GTE(this=node.this, expression=low), exp.LTE(this=node.this, expression=high))
            return [test for one in both for test in self._tests(one)]
        if type(node) in _OPS and (test := self._comparison(node)) is not None:
            return [test]
        return [self._condition(node)]

    def _comparison(self, node: exp.Expr) -> Test | None:
        op = _OPS[type(node)]  # type: ignore[index]
        mine, theirs = self._side_of(node.this), self._side_of(node.expression)
        if mine is None or theirs is None or mine == theirs:
            return None
        sides = (mine, theirs)
        (left, offset), (right, more) = (
            self._term(one, side) for one, side in zip((node.this, node.expression), sides, strict=True)
        )
        kinds = [self._type(name) for name in (left, right)]
        if kinds[0].family is not kinds[1].family or kinds[0].scale != kinds[1].scale:
            wider = _common(*kinds)
            left, right = (
                self._computed(exp.cast(one.copy(), wider.name), side)
                for one, side in zip((node.this, node.expression), sides, strict=True)
            )
            offset = more = 0
        if kinds[0].family is Family.STRING:
            return Test(left, op, right)
        return Test(left, op, right, more - offset)

    def _term(self, node: exp.Expr, side: int) -> tuple[str, int]:
        """A column, and what is added to it; of what else is computed a column more."""
        node = node.unnest()
        if isinstance(node, exp.Add | exp.Sub) and isinstance(node.this.unnest(), exp.Column):
            number = added_number(node.expression, self._type(self._column(node.this)))
            if number is not None:
                return self._column(node.this), number if isinstance(node, exp.Add) else -number
        if isinstance(node, exp.Column):
            return self._column(node), 0
        return self._computed(node, side), 0

    def _column(self, node: exp.Expr) -> str:
        (place,) = self.pair.read_by(node)
        return self._side(place).name(place)

    def _type(self, name: str) -> DataType:
        side, place = self.sides[name[0] == "r"], int(name[1:])
        if place < len(side.rows.columns):
            return side.rows.columns[place].type
        more = self.more[name[0] == "r"][place - len(side.rows.columns)]
        return self.job.type_of(more, side.rows).type

    def _side_of(self, node: exp.Expr) -> int | None:
        """The side whose columns an expression reads; None for both, or none."""
        sides = {int(place >= self.sides[1].first) for place in self.pair.read_by(node)}
        return sides.pop() if len(sides) == 1 else None

    def _computed(self, node: exp.Expr, side: int) -> str:
        """A computed expression over a side's columns, as one more column."""
        one = self.sides[side]
        text = self.job.text(node, self._own(side), one.rows)
        more = self.more[side]
        if text not in more:
            more.append(text)
        return f"{one.letter}{len(one.rows.columns) + more.index(text)}"

    def _own(self, side: int) -> OperatorView:
        return self.job.views.of((self.tree.left, self.tree.right)[side])

    def _condition(self, node: exp.Expr) -> Test:
        """A condition of one side's columns, as whether it is true."""
        side = self._side_of(node)
        if side is None:
            raise NotMade(f"a condition on rows of both sides that is no comparison: {node.sql('spark')}")
        true = exp.Case(
            ifs=[exp.If(this=exp.paren(node.copy()), true=exp.Literal.number(1))], default=exp.Literal.number(0)
        )
        return Test(self._computed(true, side), "==", None, 1)


def _called(rows: OperationRows, letter: str) -> list[Column]:
    return [structs.replace(column, name=f"{letter}{n}") for n, column in enumerate(rows.columns)]


def _read(text: str) -> set[str]:
    """The columns that an expression reads."""
    return {column.name for column in parsed(text).find_all(exp.Column)}


def _between(text: str, clips: Mapping[str, tuple[int | None, int | None]]) -> str:
    """An expression of columns of which values beyond some ends fare alike: of all these by the nearest end."""

    def clipped(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.name not in clips:
            return node
        (low, high), value = clips[node.name], node.sql("spark")
        low_or = value if low is None else f"greatest({value}, {low})"
        nearest = low_or if high is None else f"least({low_or}, {high})"
        return parsed(f"CASE WHEN {value} IS NOT NULL THEN {nearest} END")

    return parsed(text).copy().transform(clipped).sql("spark") if _read(text) & {*clips} else text


def _common(one: DataType, other: DataType) -> DataType:
    """The type in which numbers of two types are compared."""
    for mine, theirs in ((one, other), (other, one)):
        if mine.family is Family.FLOAT and theirs.family in (Family.INTEGER, Family.DECIMAL, Family.FLOAT):
            return mine
    raise NotMade(f"a comparison of {one.name} with {other.name}")


def _needed(operation: Operation, job: JobOperators) -> OperationRows:
    """The rows of a side with the columns that are needed: those that differ in others only are kept as one."""
    rows = job.rows(operation)
    return job.exactly(rows, [place for place in rows.places if place in operation.demand.columns])


def _above_version(tree: nodes.Tree, rows: OperationRows, job: JobOperators) -> OperationRows:
    """The relation's rows that pass the conditions above its version."""
    conditions = []
    while isinstance(tree, nodes.Filter | nodes.Alias):
        if isinstance(tree, nodes.Filter):
            conditions.append((tree.condition, job.views.of(tree.input)))
        tree = tree.input
    for condition, view in conditions:
        where = job.text(condition, view, rows)
        rows = job.made_of(rows, [f"`{column.name}`" for column in rows.columns], rows.places, where)
    return rows
