"""Recorded rows, read without Spark: `NAME.jsonl` or `NAME/*.jsonl` as encoded rows, for `explain`."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from analyzer.catalog import Column
from analyzer.errors import InputError
from analyzer.types import Family
from analyzer.values import parse_date, parse_timestamp
from synopsis_exec.plan_ir import Input

Row = dict[str, Any]


def recorded_rows(item: Input, folder: Path) -> list[Row]:
    """The rows of a stream or relation, in file order; raises InputError at the first bad line."""
    return [row for file in input_files(item.name, folder) for row in _rows(item, file)]


def input_files(name: str, folder: Path) -> list[Path]:
    """`NAME.jsonl`, or the `.jsonl` files in the directory `NAME`; raises InputError when there are none."""
    single, several = folder / f"{name}.jsonl", folder / name
    files = [single] if single.is_file() else sorted(several.glob("*.jsonl"))
    if not files:
        found = ", ".join(sorted(entry.name for entry in folder.iterdir())[:8]) if folder.is_dir() else ""
        message = f"there is no input for {name}: neither {single.name} nor a directory {name} with .jsonl files"
        raise InputError(message, file=str(folder), remedy=f"the directory holds {found or 'nothing'}")
    return files


def _rows(item: Input, file: Path) -> list[Row]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", file=str(file)) from error
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8 text", file=str(file)) from error
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                rows.append(_encoded(item, json.loads(line, parse_float=Decimal)))
            except (ValueError, TypeError, KeyError, InvalidOperation) as error:
                what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
                message = f"not a row of {item.name}: {what}"
                remedy = "`run` would quarantine it; correct or remove it"
                raise InputError(message, file=str(file), line=number, remedy=remedy) from error
    return rows


def _encoded(item: Input, row: object) -> Row:
    if not isinstance(row, dict):
        raise ValueError("it is not a JSON object")
    encoded = {column.name: encode(row[column.name], column) for column in item.columns}
    if item.timestamp is not None and encoded[item.timestamp] is None:
        raise ValueError(f"{item.timestamp}, the timestamp, is NULL")
    return encoded


def encode(value: Any, column: Column) -> Any:
    """A JSON value as the kernel takes it; raises ValueError when it does not have the column's type."""
    family = column.type.family
    if value is None:
        return None
    match family, value:
        case Family.OTHER, _:
            return 1
        case Family.BOOLEAN, bool():
            return int(value)
        case _, bool():
            pass
        case Family.STRING, str():
            return value
        case Family.INTEGER, int():
            return value
        case Family.FLOAT, int() | Decimal():
            return float(value)
        case Family.DATE, str():
            return parse_date(value)
        case Family.TIMESTAMP, str():
            return parse_timestamp(value)
        case Family.DECIMAL, int() | Decimal() | str():
            return round(Decimal(value).scaleb(column.type.scale or 0))
    raise ValueError(f"{column.name} is not of the type {column.type.name}")
