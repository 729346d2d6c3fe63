"""Results as lines of JSON: columns give the same bytes as one value after the other, for every type."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest

from streambound_runtime import results
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import column_of
from streambound_runtime.operators.exact import integers
from streambound_runtime.spec import TableColumn
from support.jobs import job_of
from support.profiles import MORE

DAY = 86_400 * 10**6
FIRST, LAST = (
    int((datetime(*day, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days) for day in ((1, 1, 1), (9999, 12, 31))
)
KINDS = (
    "bigint", "int", "boolean", "date", "timestamp", "timestamp_ntz", "decimal(9,2)", "decimal(38,2)", "double",
    "float", "string", "varchar(9)",
)  # fmt: skip
TEXTS = ("", "plain", 'quo"te', "back\\slash", "tab\t", "line\n", "\x00\x1f\x7f", "é", "\u2028", "😀", "null")


def _value(random: Random, kind: str) -> Any:
    if kind == "boolean":
        return random.randint(0, 1)
    if kind == "date":
        return random.choice((FIRST, -1, 0, LAST, random.randint(FIRST, LAST)))
    if kind.startswith("timestamp"):
        moment = random.choice((FIRST * DAY, -1, 0, LAST * DAY + DAY - 1, random.randint(FIRST * DAY, LAST * DAY)))
        return moment // 10**6 * 10**6 if random.random() < 0.4 else moment
    if kind in ("float", "double"):
        return random.choice((0.0, -0.0, 1e16, 1e-7, float("inf"), -float("inf"), float("nan"), random.uniform(-9, 9)))
    if kind in ("string", "varchar(9)"):
        return random.choice(TEXTS)
    if kind == "decimal(38,2)":
        return random.choice((0, -5, 1 - 10**38, 10**38 - 1, random.randint(-1000, 1000)))
    return random.choice((0, -5, 2**63 - 1, -(2**63), random.randint(-1000, 1000)))


def _column(values: list[Any], kind: str, by_row: bool) -> tuple[Any, Any]:
    """As the kernel of columns gives it, or as the one of rows."""
    if by_row:
        return np.array([*values, None], dtype=object)[:-1], np.array([value is None for value in values], dtype=bool)
    if kind in ("string", "varchar(9)"):
        null = np.array([value is None for value in values], dtype=bool)
        found = np.array(["" if value is None else value for value in values], dtype=object)
        return found, null if null.any() else None
    return column_of(values)


def _cell(value: Any, kind: str) -> str:
    """A value as JSON, without the code of the runtime where that is not json itself."""
    if value is None:
        return "null"
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "date" or kind.startswith("timestamp"):
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value * (DAY if kind == "date" else 1))
        text = moment.replace(tzinfo=None).isoformat()
        return f'"{text[:10]}"' if kind == "date" else f'"{text}{"Z" if kind == "timestamp" else ""}"'
    if kind.startswith("decimal"):
        return f"{'-' if value < 0 else ''}{abs(value) // 100}.{abs(value) % 100:02}"
    if kind in ("float", "double") and value in (float("inf"), -float("inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return json.dumps(value, ensure_ascii=False)


def _lines(kinds: dict[str, str], rows: list[list[Any]], times: list[int], time: str, counts: list[int]) -> list[str]:
    """What the results look like, one after the other."""
    found = []
    for now, count, row in zip(times, counts, rows, strict=True):
        cells = [*zip(kinds, row, kinds.values(), strict=True), ("_ts", now, time), ("_mult", count, "bigint")]
        texts = (f"{json.dumps(name, ensure_ascii=False)}:{_cell(value, kind)}" for name, value, kind in cells)
        found.append("{" + ",".join(texts) + "}\n")
    return found


@pytest.mark.parametrize("multiplicity", ["count", "rows"])
@pytest.mark.parametrize("by_row", [False, True])
def test_columns_give_the_bytes_of_single_values(
    monkeypatch: pytest.MonkeyPatch, by_row: bool, multiplicity: str
) -> None:
    streams = {"S": {"timestamp": "ts", "columns": {"a": "int", "ts": "int"}}}
    job = job_of("SELECT S.a FROM S", {"streams": streams, "counters": "decimal"})
    with_nulls = 0
    for seed in range(15 * MORE):
        random = Random(seed)
        size = random.choice((0, 1, 7, 40))
        kinds = {f'c{place} "é': random.choice(KINDS) for place in range(random.randint(1, 4))}
        time = random.choice(("bigint", "timestamp", "timestamp_ntz"))
        mine = replace(job, columns=tuple(TableColumn(*told) for told in kinds.items()), time_type=time)
        monkeypatch.setattr(results, "_AT_ONCE", random.choice((1, 3, 1 << 16)))
        monkeypatch.setattr(results, "_COPIES", random.choice((2, 1000)))
        missing = random.choice((0, 0.3, 1))
        rows = [[None if random.random() < missing else _value(random, k) for k in kinds.values()] for _ in range(size)]
        times = sorted(abs(_value(random, "timestamp")) for _ in range(size))
        most = 5 if multiplicity == "rows" else random.choice((1, 2**63 - 1, 10**30))
        counts = [random.randint(1, most) for _ in range(size)]
        columns, nulls = dict[str, Any](), dict[str, Any]()
        for place, (name, kind) in enumerate(kinds.items()):
            columns[name], null = _column([row[place] for row in rows], kind, by_row)
            nulls |= {} if null is None else {name: null}
        n = np.array(counts, dtype=object) if by_row else integers(counts)
        if random.random() < 0.2:
            counts, n = [1] * size, None
        file = io.StringIO()
        written = results.write_results(
            file, mine, Delta(np.array(times, dtype=np.int64), n, columns, nulls), multiplicity
        )
        if multiplicity == "count":
            expected = _lines(kinds, rows, times, time, counts)
        else:
            once = _lines(kinds, rows, times, time, [1] * size)
            expected = [line for line, count in zip(once, counts, strict=True) for _ in range(count)]
        assert file.getvalue() == "".join(expected)
        assert written == len(expected)
        with_nulls += "null" in file.getvalue()
    assert with_nulls > 2


def test_single_values() -> None:
    """As messages show them, too."""
    told = {
        ("boolean", 1): "true", ("date", -1): '"1969-12-31"', ("timestamp", 1): '"1970-01-01T00:00:00.000001Z"',
        ("timestamp_ntz", -(10**6)): '"1969-12-31T23:59:59"', ("decimal(4,2)", -5): "-0.05", ("decimal", 7): "7",
        ("decimal(38,38)", 10**38 - 1): f"0.{'9' * 38}", ("double", 1e16): "1e+16", ("double", -0.0): "-0.0",
        ("float", float("-inf")): '"-Infinity"', ("string", 'a"\u2028'): '"a\\"\u2028"', ("void", None): "null",
    }  # fmt: skip
    assert [results.json_value(value, sql_type(kind)) for kind, value in told] == list(told.values())
