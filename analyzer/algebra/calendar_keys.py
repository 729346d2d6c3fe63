"""Groups by parts of a date that are together a bucket of time, which is one more key, and says when they close.

GROUP BY year(ts), month(ts)  ->  GROUP BY year(ts), month(ts), date_trunc('MONTH', ts)

The groups are the same, as the key says no more than the others do.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import Schema

_DAYS = ("day", "dayofmonth")


def with_calendar_keys(keys: Sequence[exp.Expr], columns: Schema) -> list[exp.Expr]:
    """The keys, and after them the year, month or day of a stream's time that some of them name together."""
    parts = {found for key in keys if (found := _part(key)) is not None}
    times = {_text(one): one for key in keys for one in key.find_all(exp.Column)}
    made = list[exp.Expr]()
    for name, time in sorted(times.items(), key=lambda item: item[0]):
        units = {unit for unit, of in parts if of == name}
        is_time = any(one.time and one.called(time.name, time.table) for one in columns)
        if not is_time or "year" not in units:
            continue
        unit = "YEAR" if "month" not in units else "DAY" if units & {*_DAYS} else "MONTH"
        made.append(exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(unit), time.copy()]))
    return [*keys, *made]


def _part(key: exp.Expr) -> tuple[str, str] | None:
    """The unit and the column of a key such as ``year(ts)`` or ``EXTRACT(YEAR FROM ts)``; None for any other key."""
    match key:
        case exp.Extract(this=exp.Var() as unit, expression=exp.Column() as column):
            return unit.name.lower(), _text(column)
        case exp.Anonymous(expressions=[exp.Column() as column]):
            return key.name.lower(), _text(column)
    return None


def _text(column: exp.Column) -> str:
    return column.sql("spark").lower()
