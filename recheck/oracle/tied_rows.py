"""Rows that the order of a window leaves equal, in the order that they have here: of their columns, NULL first.

Spark's own order of them is that in which it happened to read them, so that `ROW_NUMBER`, `LAG`, `LEAD`, `FIRST_VALUE`
and frames of `ROWS` have no one value without it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.algebra.calls import function_name
from streambound.analyzer.algebra.window_functions import Looks, function_called
from streambound.analyzer.catalog import Catalog

_Given = list[tuple[str, str]]
"""Columns, each with the alias of what it is of."""


def with_ties(tree: exp.Expr, catalog: Catalog) -> exp.Expr:
    """The statement with an order of equal rows in its windows; equal to ``tree`` where it has no such window.

    A window over what is not known to have certain columns stays as it is, and so does `LAST_VALUE` up to a row's last
    equal one, which no order of all rows says.
    """
    tree = tree.copy()
    for select in list(tree.find_all(exp.Select)):
        given = _columns(select, catalog)
        named = {window.name.lower(): window for window in select.args.get("windows") or ()}
        for window in [one for one in select.find_all(exp.Window) if one.find_ancestor(exp.Select) is select]:
            if window.alias and window.alias.lower() in named:
                for part in ("partition_by", "order", "spec"):
                    window.set(part, _copied(named[window.alias.lower()].args.get(part)))
                window.set("alias", None)
            if given is not None and isinstance(window.this, exp.Func):
                _order(window, given)
        if named:
            select.set("windows", None)
    return tree


def _copied(part: exp.Expr | list[exp.Expr] | None) -> exp.Expr | list[exp.Expr] | None:
    return [one.copy() for one in part] if isinstance(part, list) else part and part.copy()


def _order(window: exp.Window, given: _Given) -> None:
    """Put the columns of the rows behind what a window is ordered by."""
    spec, order = window.args.get("spec"), window.args.get("order")
    by_rows = spec is not None and spec.args.get("kind") == "ROWS"
    function = function_called(function_name(window.this))
    ordered = (function.looks is not Looks.FRAME and not function.ties) or isinstance(window.this, exp.FirstValue)
    if order is None or not (by_rows or ordered):
        return
    if isinstance(window.this, exp.FirstValue) and not by_rows:
        if spec is not None and spec.args.get("start") != "UNBOUNDED":
            return
        frame = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}
        window.set("spec", exp.WindowSpec(kind="ROWS", **frame))
    ties = (exp.Ordered(this=exp.column(name, table=alias, quoted=True), nulls_first=True) for alias, name in given)
    order.set("expressions", [*order.expressions, *ties])


def _columns(select: exp.Select, catalog: Catalog) -> _Given | None:
    """The columns of the rows that FROM gives, in order; None where they are not known."""
    source, found = select.args.get("from_"), list[tuple[str, str]]()
    joins: Sequence[exp.Join] = select.args.get("joins") or ()
    if source is None or any(join.args.get("using") or join.args.get("method") for join in joins):
        return None
    for one in (source.this, *(join.this for join in joins if join.args.get("kind") not in ("SEMI", "ANTI"))):
        names = _names(one, catalog)
        if names is None:
            return None
        found += ((one.alias_or_name, name) for name in names)
    return found


def _names(source: exp.Expr, catalog: Catalog) -> list[str] | None:
    """The names of the columns of a table or subquery; None where they are not known."""
    if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Select):
        return _listed(source.this, catalog)
    if not isinstance(source, exp.Table) or source.args.get("joins") or _is_shadowed(source):
        return None
    table = catalog.table(source.name)
    return None if table is None else [column.name for column in table.columns]


def _is_shadowed(table: exp.Table) -> bool:
    """Whether WITH gives a name another meaning."""
    return any(cte.alias.lower() == table.name.lower() for cte in table.root().find_all(exp.CTE))


def _listed(select: exp.Select, catalog: Catalog) -> list[str] | None:
    found: list[str] = []
    for item in select.expressions:
        if not item.is_star:
            found.append(item.alias_or_name)
            continue
        given, of = _columns(select, catalog), item.text("table")
        if given is None:
            return None
        found += (name for alias, name in given if not of or alias == of)
    return found
