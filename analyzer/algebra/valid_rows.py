"""``R FOR SYSTEM_TIME AS OF time`` of a relation with periods: its rows for which begin <= time < end."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.catalog import Catalog


def valid_rows(entry: exp.Expr, catalog: Catalog) -> tuple[exp.Expr, exp.Expr | None]:
    """An entry of FROM without its version, and the condition that says the same; None where it has no such version.

    A relation that changes is another one at each version; one without periods is the same at all times.
    """
    version = entry.args.get("version") if isinstance(entry, exp.Table) else None
    table = catalog.table(entry.name) if version is not None else None
    if version is None or table is None or table.period is None or table.changes is not None:
        return entry, None
    plain, time = entry.copy(), version.expression
    plain.set("version", None)
    ends = (table.period.begin, table.period.end)
    begin, end = (exp.column(name, table=entry.alias_or_name, quoted=True) for name in ends)
    return plain, exp.and_(exp.LTE(this=begin, expression=time.copy()), exp.LT(this=time.copy(), expression=end))
