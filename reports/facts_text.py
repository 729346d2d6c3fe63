"""What is known of an operator's rows, in one line: the comments of `explain --emit tree`."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.algebra.facts import NOW, ColumnFacts, TimePromise, ViewFacts
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.types import DataType
from streambound.analyzer.values import decode

_MOST_LISTED = 6
"""Values of a column that are told one by one."""


def facts_text(found: ViewFacts, columns: Schema) -> str:
    """How rows change, their keys, how many there are, what is kept; then what is known of the columns.

    Of a column its domain, and its distance from ``now``, the time at which a row is added or taken back.
    """
    keys = [f"key ({', '.join(sorted(key)) or 'none: one row'})" for key in found.keys]
    rows = [] if found.rows is None else [f"at most {found.rows:,} rows"]
    state = [f"remembers at most {found.state:,} rows"] if found.state else []
    known = [text for column, facts in zip(columns, found.columns, strict=False) for text in _of_column(column, facts)]
    return "; ".join((str(found.change), *keys, *rows, *state, *known))


def _of_column(column: ViewColumn, facts: ColumnFacts) -> Iterator[str]:
    name = f"{column.alias}.{column.name}".strip(".")
    domain = _values(facts, column.type) if column.type is not None else ""
    if domain:
        yield f"{name} {domain}"
    now = next((time for time in facts.times if time.source == NOW), None)
    if now is not None:
        yield f"{name} {_time(now)}"


def _values(facts: ColumnFacts, kind: DataType) -> str:
    values, null = facts.values, " or NULL" * facts.values.null
    if values.listed is not None and len(values.listed) <= _MOST_LISTED:
        texts = [decode(value, kind) for value in sorted(values.listed, key=lambda v: (str(type(v)), v))]
        return f"in ({', '.join(texts)}){null}" if texts else "is NULL" * values.null
    low, high = (None if end is None else decode(end, kind) for end in values.ends)
    if low is not None and high is not None:
        return f"in {low} .. {high}{null}"
    return f">= {low}{null}" if low is not None else f"<= {high}{null}" if high is not None else ""


def _time(now: TimePromise) -> str:
    """``= now``, ``in now - 3 .. now``, ``<= now``; of a bucket that of some time: ``_t DIV 10 of a _t <= now``."""
    low, high = (None if end is None else "now" + (f" {'+-'[end < 0]} {abs(end):,}" * (end != 0))
                 for end in (now.low, now.high))  # fmt: skip
    if low is not None and high is not None:
        near = f"= {low}" if low == high else f"in {low} .. {high}"
    else:
        near = f"<= {high}" if low is None else f">= {low}"
    return f"= {now.function} of a _t {near}" if now.function else near
