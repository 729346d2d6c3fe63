"""The witness of a SEQ VT statement over streams (P5): rows that end at one of two times, and what is printed."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.types import parse_type
from streambound.analyzer.values import to_json
from streambound.criteria.periods.endless import PeriodWitness

MOST_CHOICES = 3
"""Rows of which it is shown what is printed where one ends later."""


def period_witness_lines(
    name: str, witness: PeriodWitness, size: int, doing: Callable[[str], None] = lambda what: None
) -> Iterator[str]:
    """The claim of a witness with ``size`` rows, its rows, and the output for each choice of their ends.

    ``doing`` is told what takes its time. Raises NotExecutableError where there is none of that size.
    """
    stream = witness.family.stream
    yield f"{name}: unbounded"
    claim = (
        f"{size} rows of {stream} begin, each of which ends at one of two times. What is printed when they end differs "
        f"for all 2^{size} choices, so that memory must tell these apart when the last row has begun. That is so for "
        f"any number of rows (P5)."
    )
    yield from textwrap.wrap(claim, 100)
    tables = _tables(witness)
    rows = period_rows(witness, [False] * size)
    later = period_rows(witness, [True] * size)
    for table in tables.values():
        yield ""
        yield f"{table.name}:"
        for number, (one, other) in enumerate(zip(rows[table.name], later[table.name], strict=True), start=1):
            ends = f"; or its end is {_shown(table, other)[table.period.end]}" if one != other and table.period else ""
            yield f"  row {number}: {json.dumps(_shown(table, one), ensure_ascii=False)}{ends}"
        if not rows[table.name]:
            yield "  no row"
    yield ""
    for one in (None, *range(min(size, MOST_CHOICES))):
        which = "none" if one is None else f"row {one + 1}"
        doing(f"executing {size:,} rows of which {which} ends later")
        yield f"printed where {which} ends later:"
        found = witness.printed([place == one for place in range(size)])
        for row in sorted(found, key=lambda row: (row[2], row[1], repr(row))):
            yield f"  {json.dumps(_result(row, witness), ensure_ascii=False)}"


def write_period_witness(witness: PeriodWitness, size: int, later: Collection[int], directory: Path) -> None:
    """A ``NAME.jsonl`` for each stream, where the rows of these numbers, from 0, end later."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = period_rows(witness, [place in later for place in range(size)])
    for table in _tables(witness).values():
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in shown_rows(table, rows[table.name])]
        (directory / f"{table.name}.jsonl").write_text("".join(lines), encoding="utf-8")


def period_rows(witness: PeriodWitness, later: Sequence[bool]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each stream, encoded; those marked ``later`` end later. NotExecutableError where there are none."""
    found = witness.rows(later)
    if found is None:
        what = f"there is no witness of size {len(later)}: the catalog's contracts do not allow it"
        raise NotExecutableError(what, remedy="ask for a smaller one")
    return found


def _tables(witness: PeriodWitness) -> dict[str, DeclaredTable]:
    return {leaf.table.name: leaf.table for leaf in witness.leaves}


def shown_rows(table: DeclaredTable, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as recorded streams hold them."""
    return [_shown(table, row) for row in rows]


def _shown(table: DeclaredTable, row: dict[str, Any]) -> dict[str, Any]:
    return {column.name: to_json(row[column.name], column.type) for column in table.columns}


def _result(row: tuple[Any, ...], witness: PeriodWitness) -> dict[str, Any]:
    """A result row; without the types of its values, which a witness has as they are compared."""
    values, begin, end, count = row
    period = witness.leaves[0].table.period
    kind = period.kind if period is not None else parse_type("bigint")
    assert kind is not None, "a period has a type"
    times = {} if witness.query.as_of else {"_begin": to_json(begin, kind), "_end": to_json(end, kind)}
    return {"values": list(values), **times, "_mult": count}
