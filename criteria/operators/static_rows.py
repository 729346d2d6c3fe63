"""Relations that do not change, as views of other operators: all their rows come at the first timestamp.

Their rows are a Z-set that is added once, `δ₀(R)` (Budiu et al., *DBSP*, §5.1), so that nothing is remembered of them
here; what a query computes of such relations alone is one more (`analyzer.computed_relations`).

A join with one needs its rows only: ``Δ(V ⋈ R) = ΔV ⋈ R`` where R does not change, and so it is of outer, semi and anti
joins that keep the rows of V. Nothing is remembered of V, whatever its values are, also where it takes rows back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra.blocks import decided_on_arrival
from streambound.analyzer.algebra.nodes import Alias, Filter, Join, JoinKind, Named, Project, Scalar, Scan, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.symbols import symbol
from streambound.criteria.judged import State
from streambound.criteria.operators.closing_joins import joined
from streambound.criteria.operators.join_sides import side_of
from streambound.criteria.operators.judge import Context
from streambound.criteria.operators.mapped import filtered
from streambound.criteria.operators.pair_tests import as_shown, pair_tests
from streambound.criteria.operators.parts import RelationPart, ViewJoinPart
from streambound.criteria.operators.pushed_filters import conjuncts_of
from streambound.criteria.operators.states import ClosingRows, JudgedPart
from streambound.criteria.operators.written_columns import called, names_in
from streambound.criteria.size import Size, Symbol, product, total

_KEEPING = (JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.NOT_IN)
"""Joins that keep rows of their left side, or all of them."""
_KINDS = {JoinKind.RIGHT: JoinKind.LEFT}
"""Joins with the relation on the left, as those with it on the right."""


def judge_static(tree: Tree, context: Context) -> JudgedPart:
    """The rows of a relation that does not change, or of what is computed of some."""
    given, needed = schema(tree, context.catalog), context.needed
    read = tuple(view for view in given if called(view, needed))
    given = read or given[:1]
    scan = tree
    while isinstance(scan, Alias) and not scan.columns:
        scan = scan.input
    declared = context.catalog.table(scan.table) if isinstance(scan, Scan) else None
    if declared is not None:
        columns = tuple(found for one in given if (found := declared.column(one.name)) is not None)
        table = declared
    else:
        named = [exp.column(one.name, table=one.alias or None, quoted=True) for one in given]
        items = tuple(Named(f"c{n}", Scalar(node.sql("spark"), node), alias=True) for n, node in enumerate(named))
        syntax = tree.syntax or exp.Null()
        table = context.blocks.relation(Alias(Project(tree, items, syntax=syntax), "relation", syntax=syntax))
        columns = table.columns
    part = RelationPart(context.name(f"relation {table.name}"), table, columns)
    return JudgedPart(part=part, rows=_rows(part))


def relation_beside(tree: Join, context: Context) -> bool:
    """Whether one side of a join is such a relation, and the other one keeps its rows."""
    return not tree.using and (decided_on_arrival(tree, context.catalog) or _flipped(tree, context)) is not None


def judge_relation_join(tree: Join, context: Context, as_in: Join | None = None) -> JudgedPart:
    """A view joined with a relation that does not change; raises NoRule for a condition that is no conjunction.

    The results' columns are in the order of another tree's, if there is one.
    """
    kept, asked = decided_on_arrival(tree, context.catalog) or _flipped(tree, context) or (tree.left, tree.right)
    kind = _KINDS.get(tree.kind, tree.kind)
    (given, view), (others, relation) = (side_of(side, tree, context) for side in (kept, asked))
    if view.part is None or relation.part is None:
        return view
    sides, columns = (given, others), (view.part.columns[: len(given)], relation.part.columns[: len(others)])
    joined = replace(tree, kind=kind, left=kept, right=asked)
    tests = pair_tests(joined, sides, columns, context)
    shown, own = as_shown(as_in or tree, sides, columns, context)
    assert isinstance(relation.part, RelationPart), "the rows of a relation"
    name, rows = context.name(f"{kind} join"), _rows(relation.part)
    part = ViewJoinPart(name, str(kind), view.part, relation.part, tests, ((),), tuple(shown), own, as_of=True)
    span = context.positions.of(tree.syntax or exp.Null())
    keys = tuple(column.name for column in relation.part.columns)
    state = State(f"{name} right", "E1", rows, keys, "never: the relation does not change", span)
    pairs = None if view.rows is None else _pairs(kind, view.rows, rows)
    closes = closes_beside(kind, view, shown, rows)
    return JudgedPart(part=part, states=(*view.states, state), rows=pairs, retracts=view.retracts, closes=closes)


def judge_with_relation_outside(tree: Join, context: Context) -> JudgedPart | None:
    """``(S ⋈ R) ⟕ T`` as ``(S ⟕ T) ⋈ R``, where its condition does not speak of R; None for another join.

    So it is of semi and anti joins. What a WHERE says of S alone stays with S.
    """
    found = _relation_outside(tree, context)
    if found is None or context.needed is None:
        return None
    join, rest = found
    needed = context.needed
    read = {**names_in(rest), **needed}
    given = tuple(view for view in schema(tree, context.catalog) if called(view, read))
    with context.reading(read):
        judged = judge_relation_join(join, context, tree)
    if judged.part is None or not rest:
        return judged
    every = exp.and_(*rest)
    shown = [n for n, view in enumerate(given) if called(view, needed)]
    return filtered(judged, given, Scalar(every.sql("spark"), every), context, shown)


def _relation_outside(tree: Join, context: Context) -> tuple[Join, list[exp.Expr]] | None:
    """The join with a relation that is outside, and the conditions that are above it."""
    conditions, left = list[exp.Expr](), tree.left
    while isinstance(left, Filter):
        conditions += conjuncts_of(parsed(left.condition))
        left = left.input
    inner = isinstance(left, Join) and not left.using and not tree.using and context.needed is not None
    if not isinstance(left, Join) or not inner or tree.kind not in _KEEPING or is_static(tree.right, context.catalog):
        return None
    asking = decided_on_arrival(left, context.catalog) or _flipped(left, context)
    if asking is None or any(condition.find(exp.Query) for condition in conditions):
        return None
    kept, asked = asking
    others = schema(asked, context.catalog)

    def of_relation(node: exp.Expr) -> bool:
        return any(one.called(column.name, column.table) for column in node.find_all(exp.Column) for one in others)

    if any(one is not None and of_relation(parsed(one)) for one in (tree.condition, tree.member)):
        return None
    mine = [one for one in conditions if not of_relation(one)]
    rest = [one for one in conditions if of_relation(one)]
    below = replace(tree, left=_filtered(kept, mine))
    above = replace(left, kind=_KINDS.get(left.kind, left.kind), left=below, right=asked)
    return above, rest


def _filtered(tree: Tree, conditions: list[exp.Expr]) -> Tree:
    if not conditions:
        return tree
    every = exp.and_(*conditions)
    return Filter(tree, Scalar(every.sql("spark"), every), syntax=tree.syntax)


def _flipped(tree: Join, context: Context) -> tuple[Tree, Tree] | None:
    """The sides of an inner join whose left one is the relation, the other one first."""
    if tree.kind is not JoinKind.INNER:
        return None
    return decided_on_arrival(replace(tree, left=tree.right, right=tree.left), context.catalog)


def _rows(part: RelationPart) -> Size:
    return Symbol(symbol("rows", part.table.name), part.table.rows)


def _pairs(kind: JoinKind, mine: Size, relation: Size) -> Size:
    """The most rows of a join of so many rows with a relation."""
    if kind in (JoinKind.SEMI, JoinKind.ANTI):
        return mine
    pairs = product([mine, relation])
    return total([mine, pairs]) if kind is JoinKind.LEFT else pairs


def closes_beside(kind: JoinKind, view: JudgedPart, shown: Sequence[str], relation: Size) -> tuple[ClosingRows, ...]:
    """The closing columns of the joined rows: those of the view that are shown."""

    def open(rows: ClosingRows, more: int) -> Size:
        return _pairs(kind, rows.open(more), relation)

    found = ((rows, joined(rows, "l", shown, partial(open, rows))) for rows in view.closes)
    return tuple(replace(one, buckets=rows.buckets) for rows, several in found for one in several)
