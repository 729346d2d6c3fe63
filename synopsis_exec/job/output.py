"""Part of every job: results and quarantined rows as JSON lines, written completely or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

from synopsis_exec.job.batch import Results
from synopsis_exec.job.given import COLUMNS, TIME_TYPE, TYPES
from synopsis_exec.job.source import JobError

COPIES = 1000
"""Duplicates of a result that are written at a time."""


def json_lines(rows: list[dict[str, Any]]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


def result_rows(results: Results) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Results as rows: the timestamp, the select list, the multiplicity."""
    columns = []
    for values, null in zip(results.columns, results.nulls, strict=True):
        found = values.tolist()
        columns.append(found if null is None else [None if gone else v for v, gone in zip(found, null, strict=True)])
    for now, n, *row in zip(results.time.tolist(), results.n.tolist(), *columns, strict=True):
        yield now, dict(zip(COLUMNS, row, strict=True)), n


def write_result(file: TextIO, row: dict[str, Any], now: int, n: int, multiplicity: str) -> int:
    """Write a result: one line with its multiplicity, or as many lines as there are duplicates. Returns how many."""
    if multiplicity == "count":
        file.write(output_line(row, now, n))
        return 1
    line = output_line(row, now, 1)
    for written in range(0, n, COPIES):
        file.write(line * min(COPIES, n - written))
    return n


def output_line(row: dict[str, Any], now: int, n: int) -> str:
    """A result as a line of JSON: the select list, `_ts` and `_mult`."""
    cells = [(name, json_value(value, TYPES[name])) for name, value in row.items()]
    cells += [("_ts", json_value(now, TIME_TYPE)), ("_mult", str(n))]
    return "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{text}" for name, text in cells) + "}\n"


def json_value(value: Any, kind: str) -> str:
    """An encoded value as JSON: dates, timestamps, decimals and booleans as people write them."""
    if value is None:
        return "null"
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "date":
        return f'"{date(1970, 1, 1) + timedelta(days=value)}"'
    if kind in ("timestamp", "timestamp_ntz"):
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
        return '"' + moment.replace(tzinfo=None).isoformat() + ("" if kind == "timestamp_ntz" else "Z") + '"'
    if kind.startswith("decimal:"):
        sign, digits = int(value < 0), tuple(map(int, str(abs(value))))
        return format(Decimal((sign, digits, -int(kind.removeprefix("decimal:")))), "f")
    if kind == "float" and value in (float("inf"), float("-inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def written_atomically(path: Path) -> Iterator[TextIO]:
    """A file to write that is there completely or not at all, also after a power cut; raises JobError."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise JobError("output", f"cannot write {path}: {error.strerror or error}", 3) from error
