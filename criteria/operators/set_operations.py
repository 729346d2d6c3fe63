"""Set operations: propositions C1 (EXCEPT ALL, INTERSECT), C2 (EXCEPT), C3 (UNION), and Lemma 1 over keyed views.

C1: only rows that both sides can have wait. For every set Z of columns that are nullable on both sides put Z := NULL,
identify the other columns, and take the joint closure of both sides: it is unsatisfiable, or bounds every column
outside Z. M is the sum over Z of the products of these columns' values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.nodes import (
    Alias,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Named,
    Scalar,
    Tree,
    Union,
)
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import VOID
from streambound.analyzer.flatten import written
from streambound.analyzer.query import Query
from streambound.criteria.bound import results_count, timed_results_layout
from streambound.criteria.count import by_values
from streambound.criteria.judged import State
from streambound.criteria.open_rows import alternatives
from streambound.criteria.operators.blocks import judge_once
from streambound.criteria.operators.closing_rows import united
from streambound.criteria.operators.join_sides import rows_of
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.parts import SetPart, UnionPart
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.parts import RowTests
from streambound.criteria.size import Number, Size, total
from streambound.criteria.synopsis import Synopsis
from streambound.criteria.violation import Violation
from streambound.criteria.wording import bound_help
from streambound.preprocess.pipeline import derive

MOST_COLUMNS = 6
"""Columns of a set operation of which every set of NULLs is looked at."""
_ENDS = "rows wait for those of a side that ends, and nothing limits their values"


def judge_set_operation(tree: Tree, context: Context) -> JudgedPart:
    """EXCEPT and INTERSECT of two views."""
    assert isinstance(tree, Except | Intersect)
    with context.reading(None):  # rows are compared with all their columns
        left, right = context.judge(tree.left, context), context.judge(tree.right, context)
    if left.part is None or right.part is None:
        return JudgedPart(violations=(*left.violations, *right.violations), suspects=(*left.suspects, *right.suspects))
    _check_types(tree, left.part.columns, right.part.columns, context)
    name = context.name("except" if isinstance(tree, Except) else "intersect")
    states = (*left.states, *right.states)
    operation = "except" if isinstance(tree, Except) else "intersect"
    columns = left.part.columns
    span = tree.at or context.positions.of(tree.syntax or exp.Null())
    keys = tuple(column.name for column in schema(tree.left, context.catalog))
    grows = not left.retracts and not right.retracts and tree.distinct is not False
    if left.rows is not None and right.rows is not None:
        most = total([left.rows, right.rows])
        state = State(name, "Lemma 1", most, keys, "when both sides have it no more", span)
        part = SetPart(name, operation, left.part, right.part, columns, not tree.distinct)
        return JudgedPart(part=part, states=(*states, state), rows=left.rows, retracts=True)
    if closed := united(left.closes, right.closes):
        closing, most = closed[0].columns[0], closed[0].open(0)
        part = SetPart(name, operation, left.part, right.part, columns, not tree.distinct, grows, closing=closing)
        state = State(name, "A5", most, keys, "when its bucket has closed", span)
        return JudgedPart(part=part, states=(*states, state), retracts=True, closes=closed)
    if not all(
        is_block(side, context.catalog) for side in ([tree.left] if _keeps_left(tree) else [tree.left, tree.right])
    ):
        most = context.size(lambda: None, "a set operation of views whose rows have no number, and no bucket closes")
        state = State(name, "Lemma 1", most, keys, "when both sides have it no more", span)
        part = SetPart(name, operation, left.part, right.part, columns, not tree.distinct)
        return JudgedPart(part=part, states=(*states, state), retracts=True)
    joint = _joint(tree, context) if not _keeps_left(tree) else [context.blocks.view(tree.left)]
    violations = [one for query in joint for one in _unbounded(query, "C2" if _keeps_left(tree) else "C1")]
    if context.refuses(violations):
        found = [derive(query).split for query in joint]
        if _keeps_left(tree):
            found = [replace(query, distinct=True) for query in found]
        return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=tuple(found))
    splits = [derive(query).split for query in joint]
    sizes = [context.size(partial(_by_values, split), _ENDS) for split in splits if split.branches]
    most = total([Number(0), *sizes])
    proposition = "C2" if _keeps_left(tree) else "C1"
    freed = "never" if tree.distinct else "when both sides have it equally often"
    tests = alternatives(splits, columns)
    opens: tuple[RowTests | None, ...] = (None, tests) if _keeps_left(tree) else (tests, tests)
    part = SetPart(name, operation, left.part, right.part, columns, not tree.distinct, grows, opens)
    retracts = isinstance(tree, Except) or left.retracts or right.retracts
    return JudgedPart(
        part=part, states=(*states, State(name, proposition, most, keys, freed, span, tuple(splits))), retracts=retracts
    )


def _by_values(split: Query) -> Size | None:
    """How many rows both sides can have at all; None where that is as many as a stream brings that ends.

    Rows of one side wait for those that the other may still bring, which its own rows do not count.
    """
    found = []
    for branch in split.branches:
        facts = Facts.of(branch)
        counted = results_count(facts, timed_results_layout(Synopsis(facts)))
        every = None if counted is None else by_values(counted, branch)
        if every is None:
            return None
        found.append(every.size)
    return total(found)


def judge_union(tree: Tree, context: Context) -> JudgedPart:
    """UNION ALL of views, whose states add up; UNION is that without duplicates (C3)."""
    assert isinstance(tree, Union)
    left, right = _sides(tree, context)
    if left.part is None or right.part is None:
        return JudgedPart(violations=(*left.violations, *right.violations), suspects=(*left.suspects, *right.suspects))
    if len(left.part.columns) != len(right.part.columns):
        raise NoRule("a union of rows of which not the same columns are known")
    _check_types(tree, left.part.columns, right.part.columns, context)
    rows = None if left.rows is None or right.rows is None else total([left.rows, right.rows])
    part = UnionPart(context.name("union"), (left.part, right.part), left.part.columns)
    retracts, closes = left.retracts or right.retracts, united(left.closes, right.closes)
    both = JudgedPart(part=part, states=(*left.states, *right.states), rows=rows, retracts=retracts, closes=closes)
    return _distinct(both, tree, context) if tree.distinct else both


def _check_types(
    tree: Union | Except | Intersect, above: Sequence[Column], below: Sequence[Column], context: Context
) -> None:
    """Raise a Finding for columns of two types, whose values are not written alike."""
    for first, second in zip(above, below, strict=True):
        kinds = first.type, second.type
        if VOID not in kinds and not kinds[0].comparable(kinds[1]) and kinds[0] != kinds[1]:
            message = f"column {first.name!r} is {kinds[0].name} above and {kinds[1].name} here"
            raise context.positions.finding(Code.UNION_MISMATCH, message, written(tree).expression)


def _sides(tree: Union, context: Context) -> tuple[JudgedPart, JudgedPart]:
    """Both sides, with all their columns where they are not called the same."""
    named = [[(view.alias, view.name) for view in schema(side, context.catalog)] for side in (tree.left, tree.right)]
    alike = named[0] == named[1] and not tree.distinct
    with context.reading(context.needed if alike else None):
        return _rows(tree.left, tree, context), _rows(tree.right, tree, context)


def _rows(side: Tree, tree: Union, context: Context) -> JudgedPart:
    """A side of a union: a query, or rows with all their columns, where it is of the alternatives of a condition."""
    return context.judge(side, context) if not isinstance(side, Filter) else rows_of(side, tree, context)[1]


def judge_distinct(tree: Tree, context: Context) -> JudgedPart:
    """The distinct rows of a view of so many rows (Lemma 1)."""
    assert isinstance(tree, Distinct)
    with context.reading(None):
        judged = context.judge(tree.input, context)
    if judged.part is None:
        return judged
    try:
        return _distinct(judged, tree, context)
    except NoRule:
        if (grouped := judge_once(tree, context)) is None:
            raise
        return grouped


def _different(tree: Tree, context: Context) -> Size | None:
    """How many different rows a view can have, by what is known of their columns."""
    known = facts(tree, context.catalog).different
    return None if known is None else Number(known)


def _distinct(judged: JudgedPart, tree: Tree, context: Context) -> JudgedPart:
    assert judged.part is not None
    what = "duplicate elimination above operators whose rows have no number"
    most = judged.rows or _different(tree, context)
    name = context.name("distinct")
    columns = judged.part.columns
    keys = tuple(column.name for column in schema(tree, context.catalog))
    span = tree.at or context.positions.of(tree.syntax or exp.Null())
    if most is None and judged.closes:
        state = State(name, "A5", judged.closes[0].open(0), keys, "when its bucket has closed", span)
        part = SetPart(name, "distinct", judged.part, None, columns, closing=judged.closes[0].columns[0])
    else:
        most = context.size(lambda: most, what)
        state = State(name, "Lemma 1", most, keys, "when no such row is left", span)
        part = SetPart(name, "distinct", judged.part, None, columns)
    return replace(judged, part=part, states=(*judged.states, state))


def _keeps_left(tree: Except | Intersect) -> bool:
    """Whether all rows of the left side are remembered: EXCEPT prints each once."""
    return isinstance(tree, Except) and tree.distinct


def _joint(tree: Except | Intersect, context: Context) -> list[Query]:
    """The rows that both sides have, once for every set of columns that are NULL on both sides."""
    left, right = schema(tree.left, context.catalog), schema(tree.right, context.catalog)
    if len(left) > MOST_COLUMNS:
        raise NoRule("a set operation of many columns")
    sides = (
        Alias(tree.left, "_l", tuple(f"c{n}" for n in range(len(left)))),
        Alias(tree.right, "_r", tuple(f"c{n}" for n in range(len(right)))),
    )
    return [_where(sides, len(left), nulls, context, tree) for nulls in _subsets(len(left))]


def _subsets(size: int) -> Iterator[frozenset[int]]:
    for number in range(size + 1):
        yield from map(frozenset, combinations(range(size), number))


def _where(
    sides: tuple[Alias, Alias], size: int, nulls: frozenset[int], context: Context, tree: Except | Intersect
) -> Query:
    parts: list[exp.Expr] = []
    for place in range(size):
        mine, theirs = (exp.column(f"c{place}", table=alias) for alias in ("_l", "_r"))
        if place in nulls:
            parts += [exp.Is(this=mine, expression=exp.Null()), exp.Is(this=theirs, expression=exp.Null())]
        else:
            parts.append(exp.EQ(this=mine, expression=theirs))
    condition = exp.and_(*parts)
    syntax = tree.syntax or exp.Null()
    body = Filter(
        Join(JoinKind.INNER, replace(sides[0], syntax=syntax), replace(sides[1], syntax=syntax), syntax=syntax),
        Scalar(condition.sql("spark"), condition),
        syntax=syntax,
    )
    kept = [exp.column(f"c{place}", table="_l") for place in range(size)]
    items = tuple(
        Named(f"c{place}", Scalar(column.sql("spark"), column), alias=True) for place, column in enumerate(kept)
    )
    return context.blocks.query(body, items)


def _unbounded(query: Query, proposition: str) -> Iterator[Violation]:
    """The columns of rows that must be remembered, which are not bounded."""
    for branch in derive(query).split.branches:
        facts = Facts.of(branch)
        for output in branch.outputs:
            for attribute in output.attributes:
                if attribute.source in facts.infinite and not facts.bounded(attribute):
                    message = (
                        f"{attribute} is unbounded, and rows of both sides are compared by it: "
                        "every value must be remembered"
                    )
                    help = bound_help(facts, attribute)
                    yield Violation(
                        proposition,
                        attribute.source,
                        attribute.column,
                        message,
                        output.span,
                        Code.UNBOUNDED_PROJECTION,
                        help,
                    )
