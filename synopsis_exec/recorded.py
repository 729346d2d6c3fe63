"""Recorded rows, read without Spark: `NAME.jsonl` or `NAME/*.jsonl` as encoded rows, for `explain`.

A row is good or quarantined as in a run, for the same reason; the tests compare the two.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from analyzer.catalog import Column
from analyzer.errors import InputError, RuntimeLimitError
from analyzer.query import Atom
from analyzer.types import Family
from synopsis_exec import reasons
from synopsis_exec.arrival_text import mark_columns
from synopsis_exec.json_values import encode, parse_object
from synopsis_exec.plan_ir import Input
from synopsis_exec.useful import is_useful

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
    found = [(line, read_row(item, line)) for line in lines]
    rows = [(line, row) for line, row in found if isinstance(row, dict)]
    if item.rows is not None and len(rows) > item.rows:
        raise RuntimeLimitError(reasons.too_many_rows(item.name, len(rows), item.rows))
    excess = _excess(item, rows, options)
    quarantined = Counter(row for _, row in found if isinstance(row, str))
    if excess and item.max_per_timestamp is not None:
        quarantined[reasons.too_many_at_once(item.max_per_timestamp)] = len(excess)
    return Recorded([row for number, (_, row) in enumerate(rows) if number not in excess], quarantined)


def _excess(item: Input, rows: Sequence[tuple[bytes, Row]], options: Sequence[tuple[Atom, ...]]) -> set[int]:
    """The places of the useful rows that are too many for their timestamp: all but those with the least texts."""
    if item.max_per_timestamp is None:
        return set()
    seen: Counter[Any] = Counter()
    excess = set()
    for number in sorted(range(len(rows)), key=lambda number: rows[number][0]):
        row = rows[number][1]
        if is_useful(row, options):
            seen[row[item.timestamp or ""]] += 1
            if seen[row[item.timestamp or ""]] > item.max_per_timestamp:
                excess.add(number)
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


def read_row(item: Input, line: bytes) -> Row | str | None:
    """A line as a row of the columns that are needed, encoded; or the reason why a run quarantines it.

    None for a punctuation, which needs fewer columns than a row.
    """
    try:
        found = parse_object(line.decode("utf-8"))
    except UnicodeDecodeError:
        return reasons.NOT_UTF8
    if found is None:
        return reasons.NOT_JSON
    row: Row = {}
    is_mark = _is_mark(item, found)
    columns = [column for column in item.declared if not is_mark or column.name in mark_columns(item)]
    for column in columns:
        if column.name not in found:
            return reasons.missing(column)
        try:
            row[column.name] = encode(found[column.name], column.type)
        except ValueError:
            return reasons.not_of_type(column)
    told_by = item.arrival.mark.column if is_mark and item.arrival.mark else None
    checked = [column for column in columns if column.name != told_by]
    broken = next((reason for column in checked for reason in _broken(item, column, row[column.name])), None)
    if broken is None and is_mark:
        return None
    return broken or {column.name: row[column.name] for column in item.columns}


def _is_mark(item: Input, found: dict[str, Any]) -> bool:
    """Whether an object is a punctuation."""
    mark = item.arrival.mark
    if mark is None:
        return False
    kind = next(column.type for column in item.declared if column.name == mark.column)
    try:
        value = encode(found.get(mark.column), kind)
    except ValueError:
        return False
    return like(value, mark.like) if mark.like is not None else value is not None and value == mark.value


def like(value: str | None, pattern: str) -> bool:
    """LIKE of Spark SQL: `%` is any text, `_` any character, and a backslash takes the next character as it is."""
    parts = re.findall(r"\\(.)|(.)", pattern, re.S)
    texts = (re.escape(plain) if plain else {"%": ".*", "_": "."}.get(sign, re.escape(sign)) for plain, sign in parts)
    return value is not None and re.fullmatch("".join(texts), value, re.S) is not None


def _broken(item: Input, column: Column, value: Any) -> Iterator[str]:
    """Why a value breaks its column's contract."""
    family = column.type.family
    if value is None:
        if column.name == item.timestamp:
            yield reasons.without_time(column)
        if _of_no_partition(item, column, value):
            yield reasons.no_partition(column)
        return
    if column.name == item.timestamp and family is Family.INTEGER and value < 0:
        yield reasons.too_early(column)
    if column.type.name in reasons.TINY and not -128 <= value <= 127:
        yield reasons.out_of_range(column)
    if family is Family.DATE and not reasons.FIRST_DAY <= value <= reasons.LAST_DAY:
        yield reasons.outside_years(column)
    if family is Family.TIMESTAMP and not reasons.FIRST_MOMENT <= value <= reasons.LAST_MOMENT:
        yield reasons.outside_years(column)
    if family is Family.FLOAT and isnan(value):
        yield reasons.not_a_number(column)
    if _outside(column, value):
        yield reasons.outside_domain(column)
    if _of_no_partition(item, column, value):
        yield reasons.no_partition(column)


def _of_no_partition(item: Input, column: Column, value: Any) -> bool:
    partitions = item.arrival.partitions
    return partitions is not None and partitions.column == column.name and value not in partitions.values


def _outside(column: Column, value: Any) -> bool:
    domain = column.domain
    if domain is None:
        return False
    if domain.values:
        return value not in domain.values
    return (domain.low is not None and value < domain.low) or (domain.high is not None and value > domain.high)
