"""Results as lines of JSON: columns give the same bytes as one value after the other, for every type."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest
from synopsis_exec.test_kernel import kernel_of

from support.profiles import MORE

DAY = 86_400 * 10**6
FIRST, LAST = (
    int((datetime(*day, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days) for day in ((1, 1, 1), (9999, 12, 31))
)
KINDS = ("integer", "boolean", "date", "timestamp", "timestamp_ntz", "decimal:2", "float", "string")
TEXTS = ("", "plain", 'quo"te', "back\\slash", "tab\t", "line\n", "\x00\x1f\x7f", "é", "\u2028", "😀", "null")


def _value(random: Random, kind: str) -> Any:
    if kind == "boolean":
        return random.randint(0, 1)
    if kind == "date":
        return random.choice((FIRST, -1, 0, LAST, random.randint(FIRST, LAST)))
    if kind.startswith("timestamp"):
        moment = random.choice((FIRST * DAY, -1, 0, LAST * DAY + DAY - 1, random.randint(FIRST * DAY, LAST * DAY)))
        return moment // 10**6 * 10**6 if random.random() < 0.4 else moment
    if kind == "float":
        return random.choice((0.0, -0.0, 1e16, 1e-7, float("inf"), -float("inf"), float("nan"), random.uniform(-9, 9)))
    if kind == "string":
        return random.choice(TEXTS)
    return random.choice((0, -5, 2**63 - 1, -(2**63), random.randint(-1000, 1000)))


def _column(job: Any, values: list[Any], kind: str, by_row: bool) -> tuple[Any, Any]:
    """As the kernel of columns gives it, or as the one of rows."""
    null = np.array([value is None for value in values], dtype=bool)
    if by_row:
        return np.array(values, dtype=object), null
    found, null = job.column_of(values, kind == "string")
    return found, null


def _cell(value: Any, kind: str) -> str:
    """A value as JSON, without the code of the job where that is not json itself."""
    if value is None:
        return "null"
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "date" or kind.startswith("timestamp"):
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value * (DAY if kind == "date" else 1))
        text = moment.replace(tzinfo=None).isoformat()
        return f'"{text[:10]}"' if kind == "date" else f'"{text}{"Z" if kind == "timestamp" else ""}"'
    if kind == "decimal:2":
        return f"{'-' if value < 0 else ''}{abs(value) // 100}.{abs(value) % 100:02}"
    if kind == "float" and value in (float("inf"), -float("inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return json.dumps(value, ensure_ascii=False)


def _lines(kinds: dict[str, str], rows: list[list[Any]], times: list[int], time: str, counts: list[int]) -> list[str]:
    """What the results look like, one after the other."""
    found = []
    for now, count, row in zip(times, counts, rows, strict=True):
        cells = [*zip(kinds, row, kinds.values(), strict=True), ("_ts", now, time), ("_mult", count, "integer")]
        texts = (f"{json.dumps(name, ensure_ascii=False)}:{_cell(value, kind)}" for name, value, kind in cells)
        found.append("{" + ",".join(texts) + "}\n")
    return found


@pytest.mark.parametrize("multiplicity", ["count", "rows"])
@pytest.mark.parametrize("by_row", [False, True])
def test_columns_give_the_bytes_of_single_values(
    monkeypatch: pytest.MonkeyPatch, by_row: bool, multiplicity: str
) -> None:
    job = kernel_of("SELECT S.a FROM S")
    nulls = 0
    for seed in range(30 * MORE):
        random = Random(seed)
        size = random.choice((0, 1, 7, 40))
        kinds = {f'c{place} "é': random.choice(KINDS) for place in range(random.randint(1, 4))}
        time = random.choice(("integer", "timestamp", "timestamp_ntz"))
        changed = {"COLUMNS": tuple(kinds), "TYPES": kinds, "TIME_TYPE": time}
        changed |= {"PIECE": random.choice((1, 3, 1 << 16)), "COPIES": random.choice((2, 1000))}
        for name, value in changed.items():
            monkeypatch.setattr(job, name, value)
        missing = random.choice((0, 0.3, 1))
        rows = [[None if random.random() < missing else _value(random, k) for k in kinds.values()] for _ in range(size)]
        times = sorted(abs(_value(random, "timestamp")) for _ in range(size))
        most = 5 if multiplicity == "rows" else random.choice((1, 2**63 - 1, 10**30))
        counts = [random.randint(1, most) for _ in range(size)]
        columns = [_column(job, [row[p] for row in rows], kind, by_row) for p, kind in enumerate(kinds.values())]
        n = np.array(counts, dtype=object) if by_row else job.integers(counts)
        found = job.Results(np.array(times, dtype=np.int64), n, [c for c, _ in columns], [null for _, null in columns])
        file = io.StringIO()
        written = job.write_results(file, found, multiplicity)
        if multiplicity == "count":
            expected = _lines(kinds, rows, times, time, counts)
        else:
            once = _lines(kinds, rows, times, time, [1] * size)
            expected = [line for line, count in zip(once, counts, strict=True) for _ in range(count)]
        assert file.getvalue() == "".join(expected)
        assert written == len(expected)
        nulls += "null" in file.getvalue()
    assert nulls > 5
