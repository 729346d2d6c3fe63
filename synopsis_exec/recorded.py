"""Recorded rows, read without Spark: `NAME.jsonl` or `NAME/*.jsonl` as encoded rows, for `explain`.

A row is good or quarantined as in a run, for the same reason; the tests compare the two.
"""

from __future__ import annotations

import codecs
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from streambound.analyzer.errors import InputError, RuntimeLimitError, UsageError
from streambound.analyzer.query import Atom
from streambound.synopsis_exec.declared_table import declared_table
from streambound.synopsis_exec.plan_ir import Input
from streambound.synopsis_exec.useful import is_useful
from streambound_runtime.decoding.reasons import detail

Row = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """The good rows of a stream or relation, in file order, and how many others there are for each reason."""

    rows: list[Row]
    quarantined: Counter[str]


def recorded_rows(item: Input, folder: Path, options: Sequence[tuple[Atom, ...]] = ((),)) -> Recorded:
    """The rows of a stream or relation; ``options`` say which rows are useful (`synopsis_exec.useful`).

    Raises InputError for a file that is missing or cannot be read, and RuntimeLimitError for more rows than the catalog
    declares of a relation.
    """
    lines = [line for file in input_files(item.name, folder) for line in lines_of(file)]
    found = list(zip(lines, read_rows(item, lines), strict=True))
    rows = [(line, row) for line, row in found if isinstance(row, dict)]
    if item.rows is not None and len(rows) > item.rows:
        what = f"relation {item.name} has {len(rows)} rows, more than the catalog's rows = {item.rows}"
        raise RuntimeLimitError(what)
    excess = _excess(item, rows, options)
    quarantined = Counter(row.partition(": ")[2] for _, row in found if isinstance(row, str))
    quarantined.update(excess.values())
    return Recorded([row for number, (_, row) in enumerate(rows) if number not in excess], quarantined)


def _excess(item: Input, rows: Sequence[tuple[bytes, Row]], options: Sequence[tuple[Atom, ...]]) -> dict[int, str]:
    """Why useful rows are too many, by their places: of a timestamp, or of the time before it, the least texts stay."""
    most, rate, time = item.max_per_timestamp, item.max_rate, item.timestamp or ""
    if most is None and rate is None:
        return {}
    counted, recent, excess = Counter[Any](), deque[int](), dict[int, str]()
    for number in sorted(range(len(rows)), key=lambda number: (rows[number][1][time], rows[number][0])):
        if not is_useful(rows[number][1], options):
            continue
        now = rows[number][1][time]
        while rate is not None and recent and recent[0] <= now - rate.per:
            recent.popleft()
        if most is not None and counted[now] >= most:
            excess[number] = detail("max-per-timestamp", most=most)
        elif rate is not None and len(recent) >= rate.rows:
            excess[number] = detail("max-rate", most=rate.rows, per=rate.written)
        else:
            counted[now] += 1
            recent.append(now)
    return excess


def input_files(name: str, folder: Path) -> list[Path]:
    """`NAME.jsonl`, or the `.jsonl` files in the directory `NAME`; raises InputError when there are none."""
    single, several = folder / f"{name}.jsonl", folder / name
    files = [single] if single.is_file() else sorted(several.glob("*.jsonl"))
    if not files:
        found = ", ".join(sorted(entry.name for entry in folder.iterdir())[:8]) if folder.is_dir() else ""
        message = f"there is no input for {name}: neither {single.name} nor a directory {name} with .jsonl files"
        raise InputError(message, file=str(folder), remedy=f"the directory holds {found or 'nothing'}")
    return files


def lines_of(file: Path) -> Iterator[bytes]:
    """The lines that are not blank, without a byte order mark."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", file=str(file)) from error
    return (line for line in content.removeprefix(codecs.BOM_UTF8).splitlines() if line.strip(b" "))


def read_rows(item: Input, lines: Sequence[bytes]) -> list[Row | str | None]:
    """Lines as rows of the declared columns that are needed, encoded; or the reasons why a run quarantines them.

    What expressions say only Spark knows. None for a punctuation, which needs fewer columns than a row. Raises
    UsageError where pyarrow is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UsageError(
            "reading recorded rows needs pyarrow, which is not installed", remedy="pip install 'streambound[spark]'"
        ) from error
    from streambound_runtime.decoding.decoder import Decoder
    from streambound_runtime.decoding.raw import own

    item = replace(item, columns=tuple(column for column in item.columns if not column.expression))
    table = declared_table(item)
    found = Decoder(table, lines=True).decode(pa.table({own(table, "value"): pa.array(lines, pa.binary())}))
    told: list[Row | str | None] = [None] * len(lines)
    for place, row in zip(found.rejected_at.tolist(), found.rejected.to_pylist(), strict=True):
        told[place] = f"{row['reason']}: {row['detail']}"
    names = [item.timestamp, *(column.name for column in item.columns if column.name != item.timestamp)]
    given = found.good.columns[1:] if item.timestamp is not None else [None, *found.good.columns]
    values = {name: _values(column) for name, column in zip(names, given, strict=True) if name is not None}
    for number, place in enumerate(found.good_at.tolist()):
        told[place] = {column.name: values[column.name][number] for column in item.columns}
    return told


def _values(column: Any) -> list[Any]:
    """Encoded values as Python has them: integers beyond 64 bits are Arrow's decimals."""
    return [int(value) if isinstance(value, Decimal) else value for value in column.to_pylist()]
