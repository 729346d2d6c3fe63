"""Joins with a relation as it was at a stream's own time: proposition E3, ``(I(R)) ↑⋈ s`` (Budiu et al., §7.6).

The rows of a stream are joined when they come, with the relation's rows of their time, changes at that time included;
no later change corrects them. So of the stream nothing is remembered, whatever its values are, and M is R's rows.
So it is of [NOT] EXISTS and IN: the rows have a partner of their time, or none. So it is, too, of the results of a join
as of the time of the stream that has their last row, and of what such a join gives: they come at that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Alias, AsOf, Filter, Join, JoinKind, Named, Project, Scalar, Scan, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.findings import Finding
from streambound.analyzer.query import Branch, TimeValue
from streambound.criteria.judged import State
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.mapped import filtered
from streambound.criteria.operators.pair_tests import Columns, as_shown, names_of, pair_tests
from streambound.criteria.operators.parts import ViewJoinPart
from streambound.criteria.operators.pushed_filters import all_of, conjuncts_of
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.operators.static_rows import closes_beside
from streambound.criteria.operators.written_columns import called, names_in
from streambound.preprocess.pipeline import derive

KINDS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)


def version_of(tree: Tree) -> AsOf | None:
    """The relation as of a time that a side of a join is; None for another side."""
    while isinstance(tree, Alias) and not tree.columns:
        tree = tree.input
    return tree if isinstance(tree, AsOf) else None


def judge_as_of(tree: Join, context: Context) -> JudgedPart:
    """``S JOIN R FOR SYSTEM_TIME AS OF S.ts ON …``; raises NoRule for another time than that at which rows come."""
    version = version_of(tree.right)
    assert version is not None, "a join with a relation as of a time"
    changing = isinstance(version.input, Scan) and version.input.changes
    if tree.kind not in KINDS or tree.using or not changing:
        raise NoRule("a version of what is no relation that changes")
    given = schema(tree.left, context.catalog)
    _check_time(tree, version, given, context)
    relation = context.judge(version.input, context)
    if relation.part is None:
        return relation
    rows = context.size(lambda: relation.rows, "a relation whose rows have no number")
    parts = [] if tree.condition is None else conjuncts_of(parsed(tree.condition))
    named = None if context.needed is None else {**context.needed, **names_in(parts)}
    read = tuple(c for c in given if called(c, named))
    left = context.judge(_project(tree, read), context)
    if left.part is None:
        return left
    right = schema(tree.right, context.catalog)
    columns = (left.part.columns[: len(read)], relation.part.columns)
    late = [one for one in parts if not _is_test(one, tree, (read, right), columns, context)]
    rest = [one for one in parts if one not in late]
    tests = pair_tests(replace(tree, condition=all_of(rest) if rest else None), (read, right), columns, context)
    with context.reading(named if late else context.needed):
        shown, own = as_shown(tree, (read, right), columns, context)
    name, span = context.name("join as of"), context.positions.of(version.syntax or tree.syntax or exp.Null())
    names = names_of(*columns)
    part = ViewJoinPart(name, str(tree.kind), left.part, relation.part, tests, ((),), tuple(shown), own, as_of=True)
    assert set(shown) <= set(names), "columns of the sides"
    state = State(f"{name} right", "E3", rows, (), "when it is taken back", span)
    found = JudgedPart(
        part=part, states=(*left.states, *relation.states, state), closes=closes_beside(tree.kind, left, shown, rows)
    )
    if not late:
        return found
    views = tuple(view for view in schema(tree, context.catalog) if called(view, named))
    kept = [n for n, view in enumerate(views) if called(view, context.needed)]
    return filtered(found, views, all_of(late), context, kept)


def _is_test(part: exp.Expr, tree: Join, sides: Sequence[Schema], columns: Sequence[Columns], context: Context) -> bool:
    """Whether a condition can be tested of a pair; Spark computes others, of an inner join's results."""
    if tree.kind is not JoinKind.INNER:
        return True
    try:
        pair_tests(replace(tree, condition=all_of([part])), sides, columns, context)
    except (NoRule, Finding):
        return False
    return True


def _check_time(tree: Join, version: AsOf, given: Schema, context: Context) -> None:
    """Raise NoRule where the rows on the left do not come at the time: that of a stream whose row is their last one.

    What is joined as of a time comes at it, too.
    """
    block, node = tree.left, parsed(version.time)
    while isinstance(block, Filter) or (isinstance(block, Join) and block.kind in KINDS and version_of(block.right)):
        block = block.input if isinstance(block, Filter) else block.left
    if not is_block(block, context.catalog):
        raise NoRule("FOR SYSTEM_TIME AS OF beside what is computed of several rows")
    mine = isinstance(node, exp.Column) and any(c.called(node.name, node.table) for c in given if c.time)
    branches = (
        derive(context.blocks.query(block, [Named("c0", version.time, alias=True)])).split.branches if mine else ()
    )
    if not branches or not all(map(_comes_at, branches)):
        raise NoRule("a version as of another time than that at which the rows beside it come")


def _comes_at(branch: Branch) -> bool:
    """Whether a result comes at the time that it shows: no other stream's row comes later."""
    facts, shown = Facts.of(branch), branch.outputs[0].value
    if not isinstance(shown, TimeValue) or shown.minus is not None or shown.offset:
        return False
    lags = [facts.lag(s.alias, shown.plus.source) for s in branch.streams if s.alias != shown.plus.source]
    return all(lag is not None and lag <= 0 for lag in lags)


def _project(tree: Join, columns: tuple[ViewColumn, ...]) -> Tree:
    nodes = [exp.column(c.name, table=c.alias or None, quoted=True) for c in columns]
    items = tuple(Named(f"l{n}", Scalar(node.sql("spark"), node), alias=True) for n, node in enumerate(nodes))
    none = (Named("l0", Scalar("1", exp.Literal.number(1)), alias=True),)
    return Project(tree.left, items or none, syntax=tree.syntax)
