"""Select lists: stars, computed columns, columns over windows, and subqueries that have one value."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Item, Named, Star
from streambound.analyzer.spans import Span
from streambound.incremental.row_expression import RowExpression
from streambound.incremental.translation.subqueries import with_subqueries
from streambound.incremental.translation.translator import Around, Translator
from streambound.incremental.translation.views import BoundView, NamedColumn, Untranslatable, bind


def listed(
    to: Translator, view: BoundView, items: Sequence[Item], around: Around, span: Span | None = None,
    hidden: Sequence[exp.Expr] = (),
) -> BoundView:  # fmt: skip
    """The columns of a select list, after the columns of the query around; ``hidden`` are further ones at the end."""
    syntaxes = [to.scalar(item.value) for item in items if isinstance(item, Named)]
    view = to.reaching(view, around, [*syntaxes, *hidden])
    view, replaced = with_subqueries(to, view, [*syntaxes, *hidden], around, span)
    chosen = [(view.columns[at], view.column(at)) for at in range(view.prefix)]
    for item in items:
        chosen += _starred(view, item) if isinstance(item, Star) else [_named(to, view, item, replaced)]
    chosen += [(NamedColumn("", "", (value := bind(node, view, replaced)).kind, True), value) for node in hidden]
    return to.mapped(view, chosen, view.prefix, span)


def _named(to: Translator, view: BoundView, item: Named, replaced: dict[int, int]) -> tuple[NamedColumn, RowExpression]:
    value = bind(to.scalar(item.value), view, replaced)
    return NamedColumn("", item.name, value.kind), value


def _starred(view: BoundView, star: Star) -> list[tuple[NamedColumn, RowExpression]]:
    """The columns that a ``*`` stands for."""
    found = [
        at
        for at in range(view.prefix, len(view.columns))
        if (view.columns[at].alias.lower() == star.alias.lower() if star.alias else not view.columns[at].hidden)
        and not any(view.columns[at].name.lower() == name.lower() for name in star.without)
    ]
    if not found:
        raise Untranslatable(f"{star.alias or '*'} has no columns", star.syntax)
    return [(NamedColumn("", view.columns[at].name, view.columns[at].kind), view.column(at)) for at in found]
