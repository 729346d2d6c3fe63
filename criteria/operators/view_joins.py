"""Joins with views that change: propositions D4 (a view of at most m rows), D5 (a scalar subquery), Lemma 1.

D4: a view W of aggregates may change at any time, so that it is later than every stream S, and past results are
corrected: rows of S wait for good. E2: so may a relation that changes, and `S.a = R.k` bounds nothing then. Bounded iff
on the open part, where S can have a partner in W at all, what is shown of S is bounded, and its joins with W are
harmless. M = m + |keys of S|. D5: a scalar subquery is a view of one row without a key; where it is NULL the row waits,
so that only what a value of it allows is open. With a view whose rows close those of S are joined that do, too
(`closing_joins`).

Here W is a virtual stream, whose columns have the domains that its own conditions leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Filter,
    Join,
    JoinKind,
    Named,
    Project,
    Scalar,
    Scan,
    Tree,
)
from streambound.analyzer.algebra.schema import parsed, qualified, schema
from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.closure import Sort
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.findings import Finding
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.criteria.bag import bag_violations
from streambound.criteria.judged import State
from streambound.criteria.open_rows import alternatives
from streambound.criteria.operators.cast_sides import with_casts
from streambound.criteria.operators.clipped_rows import clipped
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.keyed_joins import judge_keyed_join
from streambound.criteria.operators.padded_joins import PADS_LEFT, judge_padded_join
from streambound.criteria.operators.pair_tests import names_of, pair_tests, place_of
from streambound.criteria.operators.parts import ClippedColumn, Part, ViewJoinPart
from streambound.criteria.operators.pushed_filters import conjuncts_of, turned
from streambound.criteria.operators.relations import clock_of, relation_of
from streambound.criteria.operators.states import JudgedPart, RowsOfSide
from streambound.criteria.operators.written_columns import called, named
from streambound.criteria.parts import RowTest
from streambound.criteria.recursive_blocks import CHANGE_TIME, as_stream
from streambound.criteria.size import Size, product
from streambound.criteria.violation import Violation, under
from streambound.preprocess.pipeline import derive
from streambound_runtime.promises import Domain

_VIEW = "(view)"
"""The virtual stream that a view is read as."""
_FOR_EVER = (
    "nothing limits from both sides when the rows of this subquery are, so that its rows, or those that it is a value "
    "of, must be remembered for ever"
)
_WINDOW = "limit their time in the subquery's WHERE, as T.ts BETWEEN S.ts - INTERVAL 1 HOUR AND S.ts"
KINDS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)


def judge_view_join(tree: Join, context: Context) -> JudgedPart:
    """A join of a block with a view of aggregates on its right; raises NoRule for another one."""
    of_view = is_block(tree.left, context.catalog) and not is_block(tree.right, context.catalog)
    if of_view and tree.kind in PADS_LEFT and not tree.using:
        return judge_padded_join(tree, context)
    if tree.kind not in KINDS or tree.using or not of_view:
        raise NoRule(f"a {tree.kind} join")
    return _ViewJoin(with_casts(tree, context), context).judged()


def judge_view_first(tree: Join, context: Context) -> JudgedPart:
    """An inner join of a view with a block on its right: the same the other way round, with the columns as written."""
    found = judge_view_join(turned(tree, context.catalog), context)
    part = found.part
    if not isinstance(part, ViewJoinPart):
        return found
    order = sorted(range(len(part.shown)), key=[name[0] == "l" for name in part.shown].__getitem__)
    shown, columns = tuple(part.shown[place] for place in order), tuple(part.columns[place] for place in order)
    sides = (
        replace(side, columns=frozenset(n for n, place in enumerate(order) if place in side.columns))
        for side in found.sides
    )
    return replace(found, part=replace(part, shown=shown, columns=columns), sides=tuple(sides))


class _ViewJoin:
    """One join, while it is judged."""

    def __init__(self, tree: Join, context: Context) -> None:
        self.tree, self.given, self.context = tree, tree, context
        self.shown = [c for c in schema(tree, context.catalog) if called(c, context.needed)]
        condition = [] if tree.condition is None else list(parsed(tree.condition).find_all(exp.Column))
        self.left = [
            column
            for column in schema(tree.left, context.catalog)
            if called(column, context.needed) or any(column.called(node.name, node.table) for node in condition)
        ]
        self.right = list(schema(tree.right, context.catalog))
        scan = relation_of(tree.right)
        self.relation = None if scan is None else context.catalog.table(scan.table)

    def judged(self) -> JudgedPart:
        context, tree = self.context, self.tree
        with context.reading(None):
            self.tree = tree = replace(tree, right=self._narrowed())
            view = context.judge(tree.right, context)
        if view.part is None:
            return self._violated(view.violations, view.suspects)
        if view.rows is None and view.closes:
            return judge_keyed_join(self.given, context)
        rows = context.size(lambda: view.rows, "a join with a view whose rows have no number")
        joint = self._joint(self._virtual(view.part))
        split = derive(joint).split
        mine = {s.alias for branch in joint.branches for s in branch.sources if s.table != self.virtual.name}
        proposition = "E2" if self.relation is not None else "D4" if _keyed(tree.right) else "D5"
        columns = self._project(tree.left, [self._node(column) for column in self.left])
        left = context.judge(columns, context)
        if left.part is None:
            return left
        sides = (left.part.columns[: len(self.left)], view.part.columns)
        tests = pair_tests(tree, (tuple(self.left), tuple(self.right)), sides, context)
        facts = [Facts.of(self._shown_only(branch)) for branch in split.branches]
        violations = [one for fact in facts for one in bag_violations(fact) if one.stream in mine]
        if context.refuses(violations):
            return self._violated(under(proposition, violations), self._suspects())
        size, clips, counted = self._size(split, tests)
        name = context.name(f"{tree.kind} join")
        opens = alternatives([replace(split, branches=tuple(map(self._left_only, split.branches)))], self._named("l"))
        names = names_of(*sides)
        given = [*sides[0], *sides[1]]
        of = dict(zip([(c.alias, c.name) for c in (*self.left, *self.right)], names, strict=True))
        typed = dict(zip(names, given, strict=True))
        shown = tuple(of[column.alias, column.name] for column in self.shown)
        own = tuple(replace(typed[one], name=one) for one in shown)
        part = ViewJoinPart(name, str(tree.kind), left.part, view.part, tests, opens, shown, own, clips=clips)
        span = context.positions.of(tree.syntax or exp.Null())
        keys = tuple(f"{column.alias}.{column.name}" for column in self.left)
        states = (
            State(f"{name} left", proposition, size, keys, "never", span, counted),
            State(f"{name} right", proposition, rows, (), "when it is taken back", span),
        )
        of_side = partial(RowsOfSide.at_a_time, shown=shown)
        numbered = (of_side("l", rows=size), of_side("r", rows=rows)) if tree.kind is JoinKind.INNER else ()
        every = (*left.states, *view.states, *states)
        return JudgedPart(part=part, states=every, rows=self._rows(size, rows), retracts=True, sides=numbered)

    def _violated(self, violations: Sequence[Violation], suspects: tuple[Query, ...]) -> JudgedPart:
        """Of a subquery that is a value of each row (`grouped_subqueries`) that its rows are not those of a window."""
        syntax = self.given.syntax
        if isinstance(syntax, exp.Subquery) and _keyed(self.given.right):
            place = self.context.positions.of(syntax)
            violations = [Violation("D4", "", None, _FOR_EVER, place, Code.UNBOUNDED_PROJECTION, _WINDOW)]
        return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=suspects)

    def _narrowed(self) -> Tree:
        """The view without groups that no left row can meet: a key has the values of what it must equal (D4)."""
        tree = self.tree
        aggregate, items = _view(tree.right)
        parts = [] if tree.condition is None else conjuncts_of(parsed(tree.condition))
        limits: list[exp.Expr] = []
        for part in parts:
            if not isinstance(part, exp.EQ):
                continue
            one, two = part.left, part.right
            if not isinstance(one, exp.Column) or not isinstance(two, exp.Column):
                continue
            for mine, theirs in ((one, two), (two, one)):
                place = next((n for n, c in enumerate(self.right) if c.called(theirs.name, theirs.table)), None)
                own = any(column.called(mine.name, mine.table) for column in self.left)
                if own and place is not None and place < len(items) and aggregate is not None:
                    limits += self._limits(mine, items[place], aggregate)
        if aggregate is None or not limits:
            return tree.right
        given = aggregate.input
        known = [parsed(given.condition)] if isinstance(given, Filter) else []
        below = given.input if isinstance(given, Filter) else given
        narrow = replace(aggregate, input=Filter(below, _all([*known, *limits]), syntax=given.syntax or tree.syntax))
        return _replaced(tree.right, aggregate, narrow)

    def _limits(self, mine: exp.Column, item: Named, aggregate: Aggregate) -> list[exp.Expr]:
        """The values of a left column as conditions of the key that an item of the view's select list is."""
        node = parsed(item.value)
        keys = [parsed(key.value) for key in aggregate.keys]
        if not isinstance(node, exp.Column) or node not in keys or _call(item, aggregate) is not None:
            return []
        try:
            query = self.context.blocks.query(self.tree.left, [Named("c", _scalar(mine), alias=True)])
            limits = [_interval(branch) for branch in derive(query).split.branches]
        except (Finding, NoRule):
            return []
        if len(limits) != 1:
            return []
        value = query.branches[0].outputs[0].value
        if not isinstance(value, Attribute) or query.branches[0].column(value).type.family is not Family.INTEGER:
            return []
        low, high = limits[0]
        found: list[exp.Expr] = []
        if low is not None:
            found.append(exp.GTE(this=node.copy(), expression=_number(low)))
        if high is not None:
            found.append(exp.LTE(this=node.copy(), expression=_number(high)))
        return found

    def _rows(self, size: Size, rows: Size) -> Size | None:
        """The most rows of the result: unknown where those that nothing can match are among them."""
        if self.tree.kind is JoinKind.INNER:
            return product([size, rows])
        return size if self.tree.kind is JoinKind.SEMI else None

    def _size(
        self, split: Query, tests: Sequence[RowTest]
    ) -> tuple[Size, tuple[ClippedColumn, ...], tuple[Query, ...]]:
        """How many different rows of the left side can wait, how far they are clipped, and what of them is counted."""
        if not split.branches:
            raise NoRule("a join that matches nothing")
        mine = replace(split, branches=tuple(map(self._left_only, split.branches)))
        shown = [f"l{n}" for n, one in enumerate(self.left) if (one.alias, one.name) in self._results()]
        size, clips = clipped(mine, tests, self._domains(), shown)
        gone = {clip.column for clip in clips}
        kept = [n for n in range(len(self.left)) if f"l{n}" not in gone]
        whole = tuple(replace(one, outputs=tuple(one.outputs[n] for n in kept)) for one in mine.branches)
        counted = (replace(mine, branches=whole),) if kept else ()
        return self.context.size(lambda: size, "rows that wait for a view, of which no number is known"), clips, counted

    def _results(self) -> set[tuple[str, str]]:
        return {(column.alias, column.name) for column in self.shown}

    def _left_only(self, branch: Branch) -> Branch:
        return replace(branch, outputs=branch.outputs[: len(self.left)])

    def _shown_only(self, branch: Branch) -> Branch:
        """Without the columns that only the condition reads."""
        shown = self._results()
        pairs = zip(self.left, branch.outputs, strict=False)
        return replace(branch, outputs=tuple(one for c, one in pairs if (c.alias, c.name) in shown))

    def _named(self, side: str) -> tuple[Column, ...]:
        given = self.left if side == "l" else self.right
        return tuple(Column(f"{side}{n}", column.type) for n, column in enumerate(given) if column.type is not None)

    def _virtual(self, part: Part) -> Alias | Scan:
        """The view as a stream of a catalog of its own, with the alias and names that its columns have."""
        aliases = {column.alias for column in self.right}
        if len(aliases) != 1 or not all(aliases):
            raise NoRule("a view whose columns have no alias")
        clock = clock_of(self.tree, self.context.catalog)
        domains = self._domains()
        pairs = enumerate(zip(self.right, part.columns, strict=True))
        columns = [Column(view.name, own.type, domains.get(n)) for n, (view, own) in pairs]
        table = DeclaredTable(_VIEW, Kind.STREAM, (*columns, Column(CHANGE_TIME, clock.type)), CHANGE_TIME)
        self.virtual = table
        return Scan(_VIEW, aliases.pop(), syntax=place_of(self.tree.right))

    def _joint(self, virtual: Tree) -> Query:
        """The inner join of the left side and the virtual stream: columns of the left one, then the view's."""
        catalog: Catalog = self.context.catalog
        reader = replace(self.context.blocks, catalog=replace(catalog, tables=(*catalog.tables, self.virtual)))
        return self._inner(virtual, reader, (*self.left, *self.right))

    def _inner(self, virtual: Tree, reader: BlockReader, columns: Sequence[ViewColumn]) -> Query:
        left, conditions = self.tree.left, list[exp.Expr]()
        if isinstance(left, Filter):
            conditions.append(qualified(left.condition, schema(left.input, self.context.catalog)))
            left = left.input
        body: Tree = Join(JoinKind.INNER, left, virtual, syntax=self.tree.syntax)
        conditions += [parsed(self.tree.condition)] if self.tree.condition is not None else []
        if conditions:
            body = Filter(body, _all(conditions), syntax=self.tree.syntax)
        items = [self._node(column) for column in columns]
        return reader.query(body, [Named(f"c{n}", _scalar(node), alias=True) for n, node in enumerate(items)])

    def _domains(self) -> dict[int, Domain[Value]]:
        """What is known of the view's columns: keys have the values that its conditions leave, COUNT is at least 0."""
        found: dict[int, Domain[Value]] = {}
        if self.relation is not None:
            return {n: column.domain for n, column in enumerate(self.relation.columns) if column.domain is not None}
        aggregate, items = _view(self.tree.right)
        if aggregate is None:
            return found
        for place, item in enumerate(items):
            call = _call(item, aggregate)
            if call is not None and call.function == "COUNT":
                found[place] = Domain(low=0)
                continue
            extreme = call is not None and call.function in ("MIN", "MAX") and call.filter is None
            value = call.arguments[0] if call is not None and extreme else item.value if call is None else None
            keys = [parsed(key.value) for key in aggregate.keys]
            if value is None or (call is None and parsed(value) not in keys):
                continue
            try:
                query = self.context.blocks.query(aggregate.input, [Named("c", value, alias=True)])
                limits = [_interval(branch) for branch in derive(query).split.branches]
            except (Finding, NoRule):
                continue
            lows, highs = [one[0] for one in limits], [one[1] for one in limits]
            low = min(one for one in lows if one is not None) if lows and None not in lows else None
            high = max(one for one in highs if one is not None) if highs and None not in highs else None
            if low is not None or high is not None:
                found[place] = Domain(low, high)
        return found

    def _beside_stream(self, relation: DeclaredTable) -> Query:
        """The inner join with the relation as a stream of its own name, whose rows a witness may insert."""
        stream = as_stream(relation)
        tables = tuple(stream if one.name == relation.name else one for one in self.context.catalog.tables)
        reader = replace(self.context.blocks, catalog=replace(self.context.catalog, tables=tables))
        scan = Scan(relation.name, self.right[0].alias, syntax=place_of(self.tree.right))
        return derive(self._inner(scan, reader, self.left)).split

    def _suspects(self) -> tuple[Query, ...]:
        """The join with the rows that the view is made of: rows of both tell prefixes apart."""
        if self.relation is not None:
            return (self._beside_stream(self.relation),)
        aggregate, items = _view(self.tree.right)
        if aggregate is None:
            return ()
        given = []
        for column, item in zip(self.right, items, strict=True):
            call = _call(item, aggregate)
            value = item.value if call is None else call.arguments[0] if call.arguments else _scalar(_ONE)
            given.append(Named(column.name, value, alias=True))
        below = Alias(Project(aggregate.input, tuple(given)), self.right[0].alias, syntax=self.tree.right.syntax)
        found = []
        for condition in (self.tree.condition, None):
            join: Tree = Join(JoinKind.INNER, self.tree.left, below, condition, syntax=self.tree.syntax)
            if isinstance(self.tree.left, Filter):
                join = Join(JoinKind.INNER, self.tree.left.input, below, condition, syntax=self.tree.syntax)
                join = Filter(join, self.tree.left.condition, syntax=self.tree.syntax)
            items_ = [Named(f"c{n}", _scalar(self._node(c)), alias=True) for n, c in enumerate(self.left)]
            try:
                found.append(derive(self.context.blocks.query(join, items_)).split)
            except Finding:
                continue
        return tuple(found)

    def _project(self, below: Tree, nodes: list[exp.Column]) -> Tree:
        items = tuple(Named(f"l{n}", _scalar(node), alias=True) for n, node in enumerate(nodes))
        return Project(below, items or (Named("l0", _scalar(_ONE), alias=True),), syntax=self.tree.syntax)

    def _node(self, column: ViewColumn) -> exp.Column:
        """A column as it is written in the statement, where it is."""
        nodes = list((self.context.needed or {}).items())
        written = next((node for name, node in nodes if column.called(*name)), None)
        if written is not None or self.tree.condition is None:
            return named(column, written, self.shown)
        every = parsed(self.tree.condition).find_all(exp.Column)
        written = next((node for node in every if column.called(node.name, node.table)), None)
        return named(column, written, (*self.left, *self.right))


_ONE = exp.Literal.number(1)


def _number(value: int) -> exp.Expr:
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal


def _replaced(tree: Tree, old: Tree, new: Tree) -> Tree:
    """A tree with another one in the place of one of its operators."""
    if tree is old:
        return new
    assert isinstance(tree, Alias | Project | Filter), "a view is a SELECT over its aggregates"
    return replace(tree, input=_replaced(tree.input, old, new))


def _keyed(view: Tree) -> bool:
    aggregate, _ = _view(view)
    return aggregate is None or bool(aggregate.keys)


def _view(tree: Tree) -> tuple[Aggregate | None, list[Named]]:
    """The aggregate of a view and the items of its select list; none where it is no such view."""
    while isinstance(tree, Alias):
        tree = tree.input
    if not isinstance(tree, Project):
        return None, []
    below = tree.input.input if isinstance(tree.input, Filter) else tree.input
    items = [item for item in tree.items if isinstance(item, Named)]
    if not isinstance(below, Aggregate) or len(items) < len(tree.items):
        return None, []
    return below, items


def _call(item: Named, aggregate: Aggregate) -> AggregateCall | None:
    """The aggregate that an item of the select list is."""
    node = parsed(item.value)
    if not isinstance(node, exp.Column) or node.table:
        return None
    return next((call for call in aggregate.calls if call.name.lower() == node.name.lower()), None)


def _interval(branch: Branch) -> tuple[int | None, int | None]:
    """The least and the greatest value of the one column of a branch; raises NoRule where it has none."""
    value, facts = branch.outputs[0].value, Facts.of(branch)
    if not isinstance(value, Attribute) or facts.closure.sort(value) is not Sort.DISCRETE:
        raise NoRule("a column without an order")
    low, high = facts.closure.interval(value) if value in facts.closure.nodes else branch.column(value).ends
    return (None if low is None else int(low), None if high is None else int(high))


def _all(conditions: list[exp.Expr]) -> Scalar:
    return _scalar(exp.and_(*(condition.copy() for condition in conditions)))


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)
