"""now() in a batch statement: the newest row's time, of all streams that it reads."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from streambound.analyzer.algebra.recent_rows import is_now
from streambound.analyzer.catalog import Catalog, Kind

_TIME = "newest"


def with_newest(tree: exp.Expr, catalog: Catalog) -> exp.Expr:
    """The statement with a subquery for each now(); equal to ``tree`` where it has none."""
    named = [catalog.table(table.name) for table in tree.find_all(exp.Table)]
    streams = {one.name: one.timestamp for one in named if one is not None and one.kind is Kind.STREAM}
    times: list[exp.Query] = [
        exp.select(exp.column(time, quoted=True).as_(_TIME)).from_(exp.to_identifier(name, quoted=True))
        for name, time in streams.items()
        if time is not None
    ]
    if not times or not any(map(is_now, tree.walk())):
        return tree
    every = reduce(lambda left, right: left.union(right, distinct=False), times)
    newest = exp.select(exp.Max(this=exp.column(_TIME))).from_(every.subquery("times")).subquery()
    return tree.transform(lambda node: newest.copy() if is_now(node) else node)
