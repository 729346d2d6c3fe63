"""Part of every job: values and quarantined rows as JSON, and files that are written completely or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

from streambound.synopsis_exec.job.source import JobError


def json_lines(rows: list[dict[str, Any]]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


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
