"""Joins with a relation as it was at a stream's own time: proposition E3, ``(I(R)) ↑⋈ s`` (Budiu et al., §7.6).

The rows of a stream are joined when they come, with the relation's rows of their time, changes at that time included;
no later change corrects them. So of the stream nothing is remembered, whatever its values are, and M is R's rows.
So it is of [NOT] EXISTS and IN: the rows have a partner of their time, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Alias, AsOf, Join, JoinKind, Named, Project, Scalar, Scan, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.findings import Finding
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.mapped import filtered
from streambound.criteria.operators.pair_tests import Columns, as_shown, names_of, pair_tests
from streambound.criteria.operators.pushed_filters import all_of, conjuncts_of
from streambound.criteria.operators.states import Judged, State, ViewJoinPart
from streambound.criteria.operators.static_rows import closes_beside
from streambound.criteria.operators.written_columns import called, names_in

KINDS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)


def version_of(tree: Tree) -> AsOf | None:
    """The relation as of a time that a side of a join is; None for another side."""
    while isinstance(tree, Alias) and not tree.columns:
        tree = tree.input
    return tree if isinstance(tree, AsOf) else None


def judge_as_of(tree: Join, context: Context) -> Judged:
    """``S JOIN R FOR SYSTEM_TIME AS OF S.ts ON …``, of one stream; raises NoRule for another time."""
    version = version_of(tree.right)
    assert version is not None, "a join with a relation as of a time"
    changing = isinstance(version.input, Scan) and version.input.changes
    if tree.kind not in KINDS or tree.using or not changing:
        raise NoRule("a version of what is no relation that changes")
    if not is_block(tree.left, context.catalog):
        raise NoRule("FOR SYSTEM_TIME AS OF beside what is computed of several rows, or is joined as of a time itself")
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
    found = Judged(part, (*left.states, *relation.states, state), closes=closes_beside(tree.kind, left, shown, rows))
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
    """Raise NoRule where the time is not that of the one stream on the left, whose rows come at it."""
    node = parsed(version.time)
    times = [c for c in given if c.time]
    mine = isinstance(node, exp.Column) and any(c.called(node.name, node.table) for c in times)
    items = [Named("c0", Scalar("1", exp.Literal.number(1)), alias=True)]
    query = context.blocks.query(tree.left, items)
    if not mine or any(len(branch.streams) != 1 for branch in query.branches):
        raise NoRule("a version as of another time than that of the one stream beside it")


def _project(tree: Join, columns: tuple[ViewColumn, ...]) -> Tree:
    nodes = [exp.column(c.name, table=c.alias or None, quoted=True) for c in columns]
    items = tuple(Named(f"l{n}", Scalar(node.sql("spark"), node), alias=True) for n, node in enumerate(nodes))
    none = (Named("l0", Scalar("1", exp.Literal.number(1)), alias=True),)
    return Project(tree.left, items or none, syntax=tree.syntax)
