"""``R FOR SYSTEM_TIME AS OF S.ts`` as batch SQL: a join with all versions of R's rows, each with the time it holds.

Spark parses no version as of a column. A version's time is ``[from, to)``, as numbers; ``to`` is NULL where it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.periods import PeriodRows
from streambound.analyzer.types import Family
from streambound.recheck.oracle.relation_states import Row

FROM, TO = "_streambound_from", "_streambound_to"
_VIEW = "_streambound_versions_{}"


def view_of_versions(table: str) -> str:
    """The name of the view of a relation's versions."""
    return _VIEW.format(table)


def has_versions(tree: exp.Expr) -> bool:
    """Whether a statement reads a relation as of a time."""
    return any(table.args.get("version") for table in tree.find_all(exp.Table))


def unversioned(tree: exp.Expr, catalog: Catalog) -> exp.Expr:
    """The statement without versions of relations that do not change: their rows, where these have periods those valid.

    ``S JOIN R FOR SYSTEM_TIME AS OF S.ts ON c`` is ``S JOIN R ON c AND S.ts >= R.begin AND NOT S.ts >= R.end``.
    """
    tree = tree.copy()
    for table in [one for one in tree.find_all(exp.Table) if one.args.get("version")]:
        declared = catalog.table(table.name)
        if declared is None or not declared.is_fixed:
            continue
        time, join = table.args["version"].expression, table.parent
        table.set("version", None)
        if declared.period is None:
            continue
        ends = (declared.period.begin, declared.period.end)
        begun, ended = (
            exp.GTE(this=time.copy(), expression=exp.column(name, table=table.alias_or_name, quoted=True))
            for name in ends
        )
        holds = exp.and_(begun, exp.not_(ended), *_inside(declared.period, table.alias_or_name, catalog))
        if isinstance(join, exp.From):
            assert isinstance(join.parent, exp.Select), "FROM is of a SELECT"
            join.parent.where(holds, copy=False)
            continue
        assert isinstance(join, exp.Join), "a version stands in FROM, or is joined"
        join.set("on", exp.and_(join.args.get("on"), holds))
        join.set("kind", None if join.kind == "CROSS" else join.args.get("kind"))
    return tree


def _inside(period: PeriodRows, alias: str, catalog: Catalog) -> Iterator[exp.Expr]:
    """That a period does not leave the domain of time, whose ends are numbers here."""
    limits = zip((period.begin, period.end), catalog.domain_of(period.kind), (exp.LT, exp.GT), strict=True)
    for name, limit, outside in limits:
        if limit is not None:
            column = exp.column(name, table=alias, quoted=True)
            number = {
                Family.TIMESTAMP: exp.Anonymous(this="unix_micros", expressions=[exp.cast(column, "timestamp")]),
                Family.DATE: exp.Anonymous(this="unix_date", expressions=[column]),
            }.get(period.kind.family, column)
            yield exp.not_(outside(this=number, expression=exp.Literal.number(limit)))


def over_versions(tree: exp.Expr, catalog: Catalog) -> str:
    """The statement in Spark SQL, over the views of versions."""
    tree = tree.copy()
    for table in [one for one in tree.find_all(exp.Table) if one.args.get("version")]:
        time, declared = table.args["version"].expression, catalog.table(table.name)
        table.set("version", None)
        if declared is None or declared.changes is None:
            continue
        alias, join = table.alias_or_name, table.parent
        assert isinstance(join, exp.Join), "a version is joined with the stream whose time it is of"
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        table.set("this", exp.to_identifier(view_of_versions(declared.name), quoted=True))
        if declared.changes.timestamp.type.family is Family.TIMESTAMP:
            time = exp.Anonymous(this="unix_micros", expressions=[exp.cast(time.copy(), "timestamp")])
        start, end = (exp.column(name, table=alias, quoted=True) for name in (FROM, TO))
        holds = exp.and_(
            exp.LTE(this=start, expression=time.copy()),
            exp.or_(exp.Is(this=end, expression=exp.Null()), exp.LT(this=time.copy(), expression=end.copy())),
        )
        known = join.args.get("on")
        join.set("on", holds if known is None else exp.and_(known, holds))
    return tree.sql("spark")


def versions(states: Sequence[tuple[int, list[Row]]]) -> Iterator[Row]:
    """The rows that are there from each time on, with these times and those of the next change.

    >>> list(versions([(1, [(7,)]), (3, [])]))
    [(7, 1, 3)]
    """
    ends = [*(time for time, _ in states[1:]), None]
    for (time, rows), end in zip(states, ends, strict=True):
        yield from ((*row, time, end) for row in rows)
