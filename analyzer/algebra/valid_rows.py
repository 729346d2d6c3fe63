"""``R FOR SYSTEM_TIME AS OF time`` of a relation with periods: its good rows for which begin <= time < end."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.values import decode


def valid_rows(entry: exp.Expr, catalog: Catalog) -> tuple[exp.Expr, exp.Expr | None]:
    """An entry of FROM without its version, and the condition that says the same; None where it has no such version.

    A relation that changes is another one at each version; one without periods is the same at all times. A row whose
    period leaves `[time] domain` is not valid.
    """
    version, table = entry.args.get("version"), _with_periods(entry, catalog)
    if version is None or table is None or table.period is None:
        return entry, None
    plain, time = entry.copy(), version.expression
    plain.set("version", None)
    ends = (table.period.begin, table.period.end)
    begin, end = (exp.column(name, table=entry.alias_or_name, quoted=True) for name in ends)
    valid = exp.and_(exp.LTE(this=begin, expression=time.copy()), exp.LT(this=time.copy(), expression=end))
    low, high = (
        None if limit is None else parsed(decode(limit, table.period.kind))
        for limit in catalog.domain_of(table.period.kind)
    )
    if low is not None:
        valid = exp.and_(valid, exp.LTE(this=low, expression=begin.copy()))
    if high is not None:
        valid = exp.and_(valid, exp.LTE(this=end.copy(), expression=high))
    return plain, valid


def read_as_of(tree: exp.Expr, catalog: Catalog) -> tuple[str, ...]:
    """The relations with periods that a statement reads as of a time, and in no other way: their rows have to be valid.

    Elsewhere the ends of a period are columns like others.
    """
    named = [
        (one, table.name) for one in tree.find_all(exp.Table) if (table := _with_periods(one, catalog)) is not None
    ]
    otherwise = {name for one, name in named if not one.args.get("version")}
    return tuple(dict.fromkeys(name for _, name in named if name not in otherwise))


def _with_periods(entry: exp.Expr, catalog: Catalog) -> DeclaredTable | None:
    """The relation with periods that never changes which an entry of FROM names."""
    table = catalog.table(entry.name) if isinstance(entry, exp.Table) else None
    return table if table is not None and table.period is not None and table.is_fixed else None
