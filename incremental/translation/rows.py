"""Scans, aliases, filters, projections, duplicate elimination and set operations."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.constants import VOID, Folded
from streambound.analyzer.expressions.expression import Call
from streambound.analyzer.expressions.kinds import common, plain
from streambound.analyzer.expressions.reading import cast_to
from streambound.incremental.operators import ConstantOp, Equality, PositiveOp, SourceOp
from streambound.incremental.row_expression import RowExpression
from streambound.incremental.translation.conditions import conjuncts
from streambound.incremental.translation.lists import listed
from streambound.incremental.translation.subqueries import filter_by
from streambound.incremental.translation.translator import Around, Translator
from streambound.incremental.translation.views import BoundView, NamedColumn, Untranslatable

LOG_TIME = "(time of change)"
"""The column with the time of each change, in the history of a relation; NULL for what was there before all."""


def scan(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """A stream or relation: a source; the relation of one row is a constant."""
    assert isinstance(tree, nodes.Scan)
    columns = _declared(to, tree)
    op = SourceOp(tree.table) if tree.table != nodes.ONE_ROW else ConstantOp(((),))
    return BoundView(to.add(op, (), columns, to.place(tree)), columns)


def history(to: Translator, tree: nodes.Tree, time: NamedColumn) -> BoundView:
    """All changes of a relation, with their times."""
    while isinstance(tree, nodes.Alias) and not tree.columns:
        tree = tree.input
    if not isinstance(tree, nodes.Scan):
        raise Untranslatable("AS OF is for a relation of the catalog", tree.syntax)
    columns = (time, *_declared(to, tree))
    return BoundView(to.add(SourceOp(tree.table, history=True), (), columns, to.place(tree)), columns)


def _declared(to: Translator, tree: nodes.Scan) -> tuple[NamedColumn, ...]:
    table = to.catalog.table(tree.table)
    if table is None:
        raise Untranslatable(f"{to.catalog.file} declares no {tree.table}", tree.syntax)
    return tuple(NamedColumn(tree.alias, column.name, plain(column.type)) for column in table.columns)


def as_of(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """``R FOR SYSTEM_TIME AS OF time`` that no join is around, so that its time is of no other row."""
    assert isinstance(tree, nodes.AsOf)
    raise Untranslatable("AS OF a time of no other stream", tree.syntax, tree.at)


def recur(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """The relation that a recursive query defines, inside of it."""
    assert isinstance(tree, nodes.Recur)
    found = around.recursive.get(tree.name.lower())
    if found is None:
        raise Untranslatable(f"{tree.name} is not defined here", tree.syntax)
    return replace(found, columns=tuple(replace(column, alias=tree.alias) for column in found.columns))


def alias(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """The columns belong to one alias, and may get other names."""
    assert isinstance(tree, nodes.Alias)
    view = to.view(tree.input, around)
    own = view.columns[view.prefix :]
    names = tree.columns or tuple(column.name for column in own)
    if len(names) != len(own):
        raise Untranslatable(f"{len(names)} names for {len(own)} columns", tree.syntax)
    renamed = (NamedColumn(tree.alias, name, column.kind) for name, column in zip(names, own, strict=True))
    return BoundView(view.node, (*view.columns[: view.prefix], *renamed), view.prefix)


def block(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """A select-project-join block is what is in it."""
    assert isinstance(tree, nodes.SpjBlock)
    return to.view(tree.input, around)


def filter_rows(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """WHERE: sigma, and semi and anti joins for its subqueries."""
    assert isinstance(tree, nodes.Filter)
    view = to.view(tree.input, around)
    return filter_by(to, view, conjuncts(to.scalar(tree.condition)), around, to.place(tree))


def project(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """SELECT: pi, without distinct."""
    assert isinstance(tree, nodes.Project)
    return listed(to, to.view(tree.input, around), tree.items, around, to.place(tree))


def distinct(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """DISTINCT."""
    assert isinstance(tree, nodes.Distinct)
    return to.distinct(to.view(tree.input, around), to.place(tree))


def union(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """``a + b``, and distinct of it."""
    assert isinstance(tree, nodes.Union)
    left, right = _sides(to, tree, around)
    both = to.plus(left, right, to.place(tree))
    return to.distinct(both, to.place(tree)) if tree.distinct else both


def difference(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """EXCEPT ALL: ``pos(a − b)``; EXCEPT: ``distinct(distinct(a) − distinct(b))``."""
    assert isinstance(tree, nodes.Except)
    left, right = _sides(to, tree, around)
    span = to.place(tree)
    if tree.distinct:
        return to.distinct(to.minus(to.distinct(left, span), to.distinct(right, span), span), span)
    return to.same(PositiveOp(), to.minus(left, right, span), span)


def intersection(to: Translator, tree: nodes.Tree, around: Around) -> BoundView:
    """INTERSECT ALL: ``a − pos(a − b)``; INTERSECT: ``distinct(a) ⋈ distinct(b)`` on all columns, NULL being NULL."""
    assert isinstance(tree, nodes.Intersect)
    left, right = _sides(to, tree, around)
    span = to.place(tree)
    if not tree.distinct:
        return to.minus(left, to.same(PositiveOp(), to.minus(left, right, span), span), span)
    keys = tuple(Equality(left.column(at), right.column(at), True) for at in range(len(left.columns)))
    return to.semi(to.distinct(left, span), right, keys, (), span)


def _sides(
    to: Translator, tree: nodes.Union | nodes.Except | nodes.Intersect, around: Around
) -> tuple[BoundView, BoundView]:
    """The views of both sides, with columns of the same types."""
    left, right = to.view(tree.left, around), to.view(tree.right, around)
    if left.prefix or right.prefix:
        left, right = to.prefixed(left, around), to.prefixed(right, around)
    if len(left.columns) != len(right.columns):
        raise Untranslatable(f"{len(left.columns)} columns and {len(right.columns)}", tree.syntax, tree.at)
    return same_types(to, left, right), same_types(to, right, left)


def same_types(to: Translator, view: BoundView, other: BoundView) -> BoundView:
    """A side's rows, with the types that both can have."""
    if all(mine.kind == their.kind for mine, their in zip(view.columns, other.columns, strict=True)):
        return view
    items = []
    for at, (mine, their) in enumerate(zip(view.columns, other.columns, strict=True)):
        kind = common((Folded(None, mine.kind), Folded(None, their.kind)))
        kind = mine.kind if kind == VOID else kind
        value = view.column(at)
        if kind != mine.kind:
            value = RowExpression(Call(cast_to(kind, safe=False), (value.value,), kind), value.text)
        items.append((replace(mine, kind=kind), value))
    return to.mapped(view, items, view.prefix)
