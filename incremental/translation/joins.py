"""Joins: inner, outer, semi and anti; and with a relation as of the stream's time."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import ONE_SIDED, Alias, AsOf, Join, JoinKind, Tree
from streambound.analyzer.spans import Span
from streambound.incremental.operators import Equality
from streambound.incremental.row_expression import RowExpression, constant
from streambound.incremental.translation.conditions import all_of, conjuncts, split
from streambound.incremental.translation.rows import LOG_TIME, history
from streambound.incremental.translation.subqueries import not_in
from streambound.incremental.translation.translator import Around, Translator
from streambound.incremental.translation.views import BoundView, NamedColumn, Untranslatable, bind


def join(to: Translator, tree: Tree, around: Around) -> BoundView:
    """Pairs of rows, and NULLs for a side that has no partner: join and padded anti joins."""
    assert isinstance(tree, Join)
    span = to.place(tree)
    conditions = [] if tree.condition is None else conjuncts(to.scalar(tree.condition))
    left = to.view(tree.left, around)
    right, time = _right(to, tree.right, left, around)
    hidden = 0 if time is None else 1
    if time is not None:
        conditions = [*conditions, *_before(time)]
    if around.outer is not None:
        try:
            bound_conditions(to, left, right, conditions, tree, 0)
        except Untranslatable:
            left = to.reaching(left, around, conditions)
            if not left.prefix:
                left = to.prefixed(left, around)
    shared: tuple[Equality, ...] = ()
    if left.prefix and right.prefix:
        shared = tuple(Equality(left.column(at), right.column(at), True) for at in range(left.prefix))
    elif right.prefix:
        left = to.prefixed(left, around)
        shared = tuple(Equality(left.column(at), right.column(at), True) for at in range(left.prefix))
    bound = bound_conditions(to, left, right, conditions, tree, right.prefix)
    keys, rest = split(bound, len(left.columns))
    keys = (*shared, *keys)
    if tree.kind is JoinKind.NOT_IN and tree.member is not None:
        return _not_in(to, tree, left, right, keys, rest, span)
    result = _kinds(to, tree.kind, left, right, keys, rest, span)
    if tree.kind in ONE_SIDED:
        return result
    return _shown(to, result, left, right, tree, right.prefix + hidden, span)


def bound_conditions(
    to: Translator, left: BoundView, right: BoundView, conditions: Sequence[exp.Expr], tree: Join, skipped: int
) -> list[RowExpression]:
    """The conditions of a join over pairs of rows, those of USING among them."""
    own = tuple(NamedColumn("", "", column.kind, True) for column in right.columns[:skipped])
    both = BoundView(-1, (*left.columns, *own, *right.columns[skipped:]))
    found = [bind(condition, both) for condition in conditions]
    for name in tree.using:
        mine, other = left.find(name, ""), right.find(name, "")
        if mine is None or other is None:
            raise Untranslatable(f"one side has no column {name}", tree.syntax)
        pair = exp.EQ(this=exp.column(str(mine)), expression=exp.column(str(len(left.columns) + other)))
        numbered = tuple(NamedColumn("", str(at), column.kind) for at, column in enumerate(both.columns))
        found.append(replace(bind(pair, replace(both, columns=numbered)), text=f"{name} = {name}"))
    return found


def _right(to: Translator, tree: Tree, left: BoundView, around: Around) -> tuple[BoundView, exp.Expr | None]:
    """The right side, and of a relation as of a time that time: its rows are then all of its changes."""
    alias, inner = (tree.alias, tree.input) if isinstance(tree, Alias) and not tree.columns else ("", tree)
    if not isinstance(inner, AsOf):
        return to.view(tree, around), None
    time = to.scalar(inner.time)
    view = history(to, inner.input, NamedColumn("", LOG_TIME, bind(time, left).kind))
    named = tuple(replace(column, alias=alias) if alias else column for column in view.columns[1:])
    return replace(view, columns=(view.columns[0], *named)), time


def _before(time: exp.Expr) -> list[exp.Expr]:
    """A change is there at a time if it is not after it."""
    log = exp.column(LOG_TIME, quoted=True)
    return [exp.Or(this=exp.Is(this=log, expression=exp.Null()), expression=exp.LTE(this=log.copy(), expression=time))]


def _kinds(
    to: Translator, kind: JoinKind, left: BoundView, right: BoundView, keys: Sequence[Equality],
    rest: Sequence[RowExpression], span: Span | None,
) -> BoundView:  # fmt: skip
    if kind is JoinKind.SEMI:
        return to.semi(left, right, keys, rest, span)
    if kind is JoinKind.ANTI:
        return to.minus(left, to.semi(left, right, keys, rest, span), span)
    result = to.joined(left, right, keys, all_of(rest), span)
    if kind in (JoinKind.LEFT, JoinKind.FULL):
        alone = to.minus(left, to.semi(left, right, keys, rest, span), span)
        padded = [*alone.all_columns(), *(constant(None, column.kind, "NULL") for column in right.columns)]
        result = to.plus(result, to.mapped(alone, [*zip(result.columns, padded, strict=True)], left.prefix, span), span)
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        if left.prefix:
            raise Untranslatable(f"{kind.upper()} JOIN in a subquery that names columns around it has no circuit")
        turned, conditions = _turned(left, right, keys, rest)
        alone = to.minus(right, to.semi(right, left, turned, conditions, span), span)
        padded = [*(constant(None, column.kind, "NULL") for column in left.columns), *alone.all_columns()]
        result = to.plus(result, to.mapped(alone, [*zip(result.columns, padded, strict=True)], 0, span), span)
    return result


def _not_in(
    to: Translator, tree: Join, left: BoundView, right: BoundView, keys: Sequence[Equality],
    rest: Sequence[RowExpression], span: Span | None,
) -> BoundView:  # fmt: skip
    """The left rows without a partner for which the equality of NOT IN is true or NULL."""
    assert tree.member is not None
    both = BoundView(-1, (*left.columns, *right.columns))
    pairs = []
    for one in conjuncts(to.scalar(tree.member)):
        if not isinstance(one, exp.EQ):
            raise Untranslatable("NOT IN compares by =", one)
        pairs.append((bind(one.this, both), bind(one.expression, both)))
    for conditions in not_in(tuple(pairs)):
        more, others = split(conditions, len(left.columns))
        found = to.semi(left, right, (*keys, *more), (*rest, *others), span)
        left = to.minus(left, found, span)
    return left


def _turned(
    left: BoundView, right: BoundView, keys: Sequence[Equality], rest: Sequence[RowExpression]
) -> tuple[list[Equality], list[RowExpression]]:
    """Keys and conditions with the sides exchanged."""
    width, other = len(left.columns), len(right.columns)
    to = {at: left.column(at).shifted(other).value for at in range(width)}
    to |= {width + at: right.column(at).value for at in range(other)}
    return [Equality(key.right, key.left, key.null_safe) for key in keys], [one.moved(to) for one in rest]


def _shown(
    to: Translator, view: BoundView, left: BoundView, right: BoundView, tree: Join, hidden: int, span: Span | None
) -> BoundView:
    """The columns of both sides, those of USING first and once, without the ``hidden`` ones before the right side's."""
    width = len(left.columns)
    chosen: list[tuple[NamedColumn, RowExpression]] = []
    merged = {name.lower() for name in tree.using}
    for name in tree.using:
        mine, other = left.find(name, ""), right.find(name, "")
        assert mine is not None and other is not None
        value = view.column(mine)
        if tree.kind is JoinKind.RIGHT:
            value = view.column(width + other)
        if tree.kind is JoinKind.FULL:
            numbered = tuple(NamedColumn("", str(at), column.kind) for at, column in enumerate(view.columns))
            both = [exp.column(str(mine)), exp.column(str(width + other))]
            value = bind(exp.Anonymous(this="coalesce", expressions=both), replace(view, columns=numbered, prefix=0))
        chosen.append((NamedColumn("", left.columns[mine].name, value.kind), value))
    prefix = [(view.columns[at], view.column(at)) for at in range(left.prefix)]
    rest = [at for at in range(len(view.columns)) if left.prefix <= at < width or at >= width + hidden]
    others = [
        (replace(view.columns[at], hidden=view.columns[at].hidden or view.columns[at].name.lower() in merged),
         view.column(at))
        for at in rest
    ]  # fmt: skip
    if not hidden and not merged:
        return view
    return to.mapped(view, [*prefix, *chosen, *others], left.prefix, span)
