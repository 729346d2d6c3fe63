"""Semi, anti and outer joins of two streams: propositions B1, B2, B3 (semi, anti) and B4 (outer).

B4: an outer join is bounded iff the inner one with the same select list is, under the closure of ON: a row that cannot
match is final at once, and one that can must be kept for the inner join's sake. B3: of a semi or anti join only the
preserved side's attributes are shown, and it waits where the other side may come later. B1: the other side is asked for
existence only, so that where the preserved side never waits, its tables are a set's. Where a side is a join itself,
only what waits within a window is known (W2): its rows and those of the other side are views that close (A5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Scalar, Tree
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.flatten import written
from streambound.analyzer.operators_outside import NOT_EXISTS
from streambound.analyzer.query import Query, TimeValue
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.bag import bag_violations
from streambound.criteria.count import TimestampCount, tuples
from streambound.criteria.judged import State
from streambound.criteria.open_rows import alternatives
from streambound.criteria.operators.as_of import judge_as_of, version_of
from streambound.criteria.operators.buckets import closing_bucket
from streambound.criteria.operators.closing_rows import block_columns
from streambound.criteria.operators.join_sides import inner_join
from streambound.criteria.operators.judge import UNLIMITED, Context, NoRule, groups
from streambound.criteria.operators.kept_relations import judge_kept_relation, keeps_relation
from streambound.criteria.operators.keyed_joins import judge_keyed_join
from streambound.criteria.operators.parts import Closing, MapPart, Part, SetPart, UnionPart
from streambound.criteria.operators.states import ClosingRows, JudgedPart, RowsOfSide
from streambound.criteria.operators.static_rows import judge_relation_join, judge_with_relation_outside, relation_beside
from streambound.criteria.operators.view_joins import judge_view_first, judge_view_join
from streambound.criteria.operators.written_columns import called, named, names_in
from streambound.criteria.parts import PairPart
from streambound.criteria.set import set_violations
from streambound.criteria.size import Number, Size, total
from streambound.criteria.violation import Violation, under
from streambound.preprocess.pipeline import derive
from streambound.preprocess.split_join import SplitJoin, split_join

_ASKING = (JoinKind.SEMI, JoinKind.ANTI)
_WAITING = "NOT IN of what may be NULL, whose rows wait"
_UNTIL, _EQUAL = "when no partner comes any more", "when both sides have it equally often"
_KINDS = (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL, *_ASKING)


def judge_pair(tree: Tree, context: Context) -> JudgedPart:
    """An outer, semi or anti join of two views of one stream each."""
    assert isinstance(tree, Join)
    if (outside := judge_with_relation_outside(tree, context)) is not None:
        return outside
    if (forms := split_join(tree, context.blocks)) is not None:
        return _of_cases(forms, context)
    if tree.kind is JoinKind.NOT_IN:
        return _not_in(tree, context)
    if version_of(tree.right) is not None:
        return judge_as_of(tree, context)
    if relation_beside(tree, context):
        return judge_relation_join(tree, context)
    if keeps_relation(tree, context.catalog):
        return judge_kept_relation(tree, context)
    if is_block(tree.left, context.catalog) and not is_block(tree.right, context.catalog):
        return judge_view_join(tree, context)
    if not is_block(tree.left, context.catalog):
        try:
            return judge_keyed_join(tree, context)
        except NoRule:
            if tree.kind is not JoinKind.INNER or tree.using or not is_block(tree.right, context.catalog):
                raise
            return judge_view_first(tree, context)
    if tree.kind not in _KINDS or tree.using:
        raise NoRule(f"a {tree.kind} join")
    try:
        return _Pair(tree, context).judged()
    except NoRule:
        with suppress(NoRule):
            if (judged := judge_keyed_join(tree, context)).part is not None:
                return judged
        raise


def _of_cases(forms: SplitJoin, context: Context) -> JudgedPart:
    """A join whose kept side has several cases: their condition is tested above it, or else each case is joined."""
    with suppress(NoRule):
        if (judged := context.judge(forms.tested_above, context)).part is not None:
            return judged
    return context.judge(forms.union, context)


class _Pair:
    """One join, while it is judged."""

    def __init__(self, tree: Join, context: Context) -> None:
        self.tree, self.context = tree, context
        self.asks = tree.kind in _ASKING
        shown = schema(tree, context.catalog)
        wanted = context.needed
        self.columns = [c for c in shown if called(c, wanted)]

    def judged(self) -> JudgedPart:
        """The verdict of the join, and its plan."""
        context, tree = self.context, self.tree
        joint = self.joint()
        split = derive(joint).split
        left, right = self._alone(tree.left), self._alone(tree.right)
        if not split.branches:
            return self._without_partners(left, right)
        if len(split.branches) != 1 or len(split.branches[0].sources) != 2:
            raise NoRule("a condition of several cases, or sides that are joins")
        branch = split.branches[0]
        facts = Facts.of(branch)
        first, second = (source.alias for source in branch.sources)
        violations, distinct = self._violations(facts, first, second)
        if context.refuses(violations):
            return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=(split,))
        query = Query(joint.name, joint.file, distinct, joint.branches, joint.span)
        part, states = context.block(query, "B1" if distinct else "B3" if self.asks else "B4")
        name = context.name(f"{tree.kind} join")
        pair = PairPart(name, str(tree.kind), part, first, second, left, right, part.columns)
        return JudgedPart(part=pair, states=states, retracts=_retracts(pair, facts), closes=self._closes(split, facts))

    def _closes(self, split: Query, facts: Facts) -> tuple[ClosingRows, ...]:
        """The times of a side that has a row for each of its own: until no partner comes any more, it may change."""
        left, right = (source.alias for source in facts.branch.sources)
        whole = {JoinKind.RIGHT: right, JoinKind.FULL: None}.get(self.tree.kind, left)
        found = []
        for one in block_columns(split):
            (column,) = one.columns
            value = facts.branch.outputs[column.key].value
            if isinstance(value, TimeValue) and value.plus.source == whole:
                alone = partial(self._alone_open, facts, whole, column.delay)
                rows = partial(self._open, one, alone)
                found.append(replace(one, open=rows, sides=(RowsOfSide(self._of_whole(), alone),)))
        return tuple(found)

    def _of_whole(self) -> frozenset[int]:
        """The columns of the side that has a row for each of its own."""
        side = self.tree.right if self.tree.kind is JoinKind.RIGHT else self.tree.left
        mine = {(one.name, one.alias) for one in schema(side, self.context.catalog)}
        return frozenset(n for n, column in enumerate(self.columns) if (column.name, column.alias) in mine)

    def _alone_open(self, facts: Facts, whole: str, delay: int, more: int) -> Size:
        """The rows of this side that could change so much earlier, as they may have had partners."""
        return tuples(facts, whole, TimestampCount(delay + more), ()).size if delay + more else Number(0)

    def _open(self, pairs: ClosingRows, alone: Callable[[int], Size], more: int) -> Size:
        """The results that could change so much earlier: those rows, and the pairs that are shown."""
        return alone(more) if self.asks else total([alone(more), pairs.open(more)])

    def joint(self) -> Query:
        """The inner join."""
        return self._query(inner_join(self.tree, self.context.catalog), len(self.columns))

    def _without_partners(self, left: Query, right: Query) -> JudgedPart:
        """No row ever has a partner: each is printed at once, and of a semi join there is none."""
        kept = {JoinKind.RIGHT: [right], JoinKind.FULL: [left, right], JoinKind.SEMI: []}.get(self.tree.kind, [left])
        blocks = [query for query in kept if query.branches] or [self.joint()]
        parts = tuple(self.context.block(query, "B4")[0] for query in blocks)
        given = zip(parts[0].columns, self.columns, strict=True)  # a side's columns are NULL, of no type, in the other
        columns = tuple(column if view.type is None else replace(column, type=view.type) for column, view in given)
        return JudgedPart(part=UnionPart(self.context.name("union"), parts, columns))

    def _query(self, body: Tree, width: int) -> Query:
        items = [
            Named(f"c{n}", _scalar(self._node(column)), alias=True) for n, column in enumerate(self.columns[:width])
        ]
        return self.context.blocks.query(body, items)

    def _node(self, column: ViewColumn) -> exp.Column:
        """A column of the result, as it is written above the join where it is."""
        written = (node for name, node in (self.context.needed or {}).items() if column.called(*name))
        found = next(written, None)
        return named(column, found, self.columns)

    def _alone(self, side: Tree) -> Query:
        """The rows of one side, with its columns of the result; NULL for those of the other one."""
        mine = schema(side, self.context.catalog)
        items = []
        for n, column in enumerate(self.columns):
            own = any(column.name == one.name and column.alias == one.alias for one in mine)
            node = self._node(column) if own else exp.Null()
            items.append(Named(f"c{n}", _scalar(node), alias=True))
        query = self.context.blocks.query(side, items)
        split = derive(query).split
        if any(len(one.sources) != 1 for one in query.branches):
            raise NoRule(f"a {self.tree.kind} join beside a join, unless windows say until when rows wait for partners")
        if len(split.branches) > 1:
            raise NoRule("a side that is no stream with one condition")
        return split

    def _violations(self, facts: Facts, left: str, right: str) -> tuple[list[Violation], bool]:
        """What violates the propositions, and whether the tables are a set's."""
        if self.context.unbounded:
            return [], False
        bag = list(bag_violations(facts))
        if not self.asks:
            return under("B4", bag), False
        waits = _later(facts, right, left)
        mine = [one for one in bag if one.stream == left]
        theirs = [one for one in bag if one.stream == right]
        if not theirs:
            return under("B3", mine), False
        asked = [one for one in set_violations(facts) if one.stream == right and one.condition != "(1)"]
        if mine or asked:
            return under("B3", mine) + under("B1", asked), True
        if waits:
            raise NoRule("a side that waits beside one of which extrema are kept")
        return [], True


def _retracts(pair: PairPart, facts: Facts) -> bool:
    """Whether a row printed without a partner is taken back."""
    return any(_later(facts, partner, row) for row, partner in pair.waiting)


def _later(facts: Facts, partner: str, row: str) -> bool:
    """Whether a partner may come at a later timestamp than a row."""
    return (lag := facts.lag(partner, row)) is None or lag > 0


def _not_in(tree: Join, context: Context) -> JudgedPart:
    """``x NOT IN (SELECT y …)``: the anti join with ``y = x OR y IS NULL OR x IS NULL`` (B5), case by case.

    Where y is never NULL, a row is in one case only: by ``y = x``, or, where x is NULL, by whether there is any y.
    """
    member = written(tree.member)
    if not isinstance(member, exp.EQ):
        raise NoRule("NOT IN of several columns", NOT_EXISTS)
    x, y = member.this, member.expression
    anti = replace(tree, kind=JoinKind.ANTI, member=None)
    if is_static(tree.left, context.catalog):  # whose rows are kept as they are
        partner = exp.or_(member.copy(), _is_null(x), _is_null(y))
        return context.judge(replace(anti, condition=_both(tree, partner)), context)
    if is_static(tree.right, context.catalog):  # whose rows are there before any of the left side
        left = replace(anti, condition=_both(tree, member))
        left = replace(anti, left=left, right=_where(tree.right, y, True))
        return context.judge(replace(anti, left=left, condition=_both(tree, _is_null(x))), context)
    if not is_block(tree.left, context.catalog):
        raise NoRule("NOT IN of rows that another subquery or join of streams leaves", NOT_EXISTS)
    equal = replace(anti, condition=_both(tree, member), left=_where(tree.left, x, False))
    unknown = replace(anti, left=_where(tree.left, x, True))
    null = replace(anti, right=_where(tree.right, y, True))
    cases = [one for one in (equal, unknown) if _has_rows(one.left, context)] or [equal]
    found = [judge_pair(one, context) for one in cases]
    third = _Pair(null, context)
    if nullable := equal in cases and bool(derive(third.joint()).split.branches):
        found.append(third.judged())
    violations = [replace(v, condition=f"B5: {v.condition}") for one in found for v in one.violations]
    if violations:
        suspects = tuple(query for one in found for query in one.suspects)
        return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=suspects)
    shown = None
    if nullable:
        before = context.needed
        with context.reading(_deciding(equal, context)):
            excepted = _but_for_nulls(equal, replace(null, kind=JoinKind.SEMI), context)
            found = [excepted, *(judge_pair(one, context) for one in cases if one is unknown)]
            if before is not None:
                shown = [called(column, before) for column in _Pair(equal, context).columns]
    parts = tuple(one.part for one in found if one.part is not None)
    states = tuple(state for one in found for state in one.states)
    union: Part = parts[0] if len(parts) == 1 else UnionPart(context.name("union"), parts, parts[0].columns)
    if shown is not None and not all(shown):
        columns = tuple(column for column, wanted in zip(union.columns, shown, strict=True) if wanted)
        texts = tuple(exp.column(column.name, quoted=True).sql("spark") for column in columns)
        union = MapPart(context.name("map"), union, columns, texts)
    return JudgedPart(part=union, states=states, retracts=any(one.retracts for one in found))


def _deciding(equal: Join, context: Context) -> Mapping[tuple[str, str], exp.Column] | None:
    """The columns that say which partners a row has, with those that are shown; None for all where times say it, too.

    The time of a row is not bounded, so that rows of the same time only can be told apart while they wait.
    """
    if context.needed is None:
        return None
    found = {**context.needed, **names_in([written(equal.condition)])}
    with context.reading(found):
        timed = any(branch.time_values for branch in _Pair(equal, context).joint().branches)
    return None if timed else found


def _but_for_nulls(equal: Join, null: Join, context: Context) -> JudgedPart:
    """The rows without a partner that is equal, but for those that have one that is NULL: EXCEPT ALL of whole rows.

    Rows that are equal in the columns that decide have the same partners, so that both sides have them equally often or
    one not at all. Rows that no partner that is NULL can meet pass. Raises NoRule where rows wait that are not counted.
    """
    left, right = _Pair(equal, context), _Pair(null, context)
    sides = [one.judged() for one in (left, right)]
    parts = [one.part for one in sides]
    if parts[0] is None or parts[1] is None:
        raise NoRule(_WAITING, NOT_EXISTS)
    name, span = context.name("except"), context.positions.of(written(equal))
    columns = parts[0].columns
    part = SetPart(name, "except", parts[0], parts[1], columns, all=True)
    state = State(name, "B5", UNLIMITED, tuple(column.name for column in columns), _UNTIL, span)
    if not context.unbounded:
        part, state = _sized(part, state, derive(left.joint()).split, derive(right.joint()).split)
    return JudgedPart(part=part, states=(*sides[0].states, *sides[1].states, state), retracts=True)


def _sized(part: SetPart, state: State, equal: Query, null: Query) -> tuple[SetPart, State]:
    """With how many rows wait: those of the timestamps at which partners may come, or those that differ."""
    if not any(branch.time_values for branch in null.branches):
        size, tests = groups(null), alternatives([null], part.columns)
        if size is None:
            raise NoRule(_WAITING, NOT_EXISTS)
        return replace(part, open=(tests, tests)), replace(state, size=size, freed=_EQUAL, counted=(null,))
    closing, size = _decided(equal, null)
    return replace(part, closing=closing), replace(state, size=size)


def _decided(*joints: Query) -> tuple[Closing, Size]:
    """When it is known of a row of the left side which partners it has, and how many rows wait for that."""
    branches = [branch for joint in joints for branch in joint.branches]
    facts = [Facts.of(branch) for branch in branches]
    for place, output in enumerate(branches[0].outputs):
        if not isinstance(output.value, TimeValue):
            continue
        found = [closing_bucket(one, one.branch.outputs[place]) for one in facts]
        buckets = [bucket for bucket in found if bucket is not None]
        if len(buckets) < len(found):
            break
        delay = max(bucket.delay for bucket in buckets)
        rows = tuples(facts[0], buckets[0].stream, TimestampCount(delay), ()).size if delay else Number(0)
        return Closing(place, 1, "last", delay), rows
    raise NoRule(_WAITING, NOT_EXISTS)


def _both(tree: Join, member: exp.Expr) -> Scalar:
    return _scalar(member if tree.condition is None else exp.and_(written(tree.condition).copy(), member.copy()))


def _where(side: Tree, column: exp.Expr, null: bool) -> Tree:
    """The rows of a side in which a column is NULL, or is not."""
    test = _is_null(column) if null else exp.Not(this=_is_null(column))
    if isinstance(side, Filter):
        test = exp.and_(written(side.condition).copy(), test)
        side = side.input
    return Filter(side, _scalar(test), syntax=side.syntax)


def _has_rows(side: Tree, context: Context) -> bool:
    """Whether a side has rows at all: its condition does not contradict itself."""
    one = Named("c0", _scalar(exp.Literal.number(1)), alias=True)
    return bool(derive(context.blocks.query(side, [one])).split.branches)


def _is_null(column: exp.Expr) -> exp.Expr:
    return exp.Is(this=column.copy(), expression=exp.Null())


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)
