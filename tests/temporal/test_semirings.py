"""Snapshot semantics over other semirings as SEQ VT writes it, against K-relations by definition (Dignös et al.)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import streambound

END = 10
CATALOG = {
    "relations": {
        name: {"columns": dict.fromkeys(("x", "y", "k", "vb", "ve"), "bigint"), "period": ["vb", "ve"]} for name in "rs"
    }
}
Annotated = dict[tuple[int, ...], int]
SEMIRINGS: dict[str, tuple[Callable[[int, int], int], Callable[[int, int], int], str]] = {
    "boolean": (max, min, "SELECT DISTINCT x, y, 1 AS k FROM ({})"),
    "counting": (int.__add__, int.__mul__, "SELECT x, y, SUM(k) AS k FROM ({}) GROUP BY x, y"),
    "tropical": (min, int.__add__, "SELECT x, y, MIN(k) AS k FROM ({}) GROUP BY x, y"),
}
"""Plus and times, and a query whose rows have annotations k, summed up."""
TIMES = {"boolean": "1", "counting": "r.k * s.k", "tropical": "r.k + s.k"}


def at(rows: list[tuple[int, ...]], t: int, plus: Callable[[int, int], int]) -> Annotated:
    """The K-relation of the rows that are valid: annotations of equal rows are added."""
    found: Annotated = {}
    for *fact, k, begin, end in rows:
        if begin <= t < end:
            found[tuple(fact)] = plus(found[tuple(fact)], k) if tuple(fact) in found else k
    return found


@pytest.mark.parametrize("name", SEMIRINGS)
def test_a_projected_join_and_a_union(name: str, tmp_path: Path) -> None:
    rng, (plus, times, summed) = random.Random(name), SEMIRINGS[name]
    rows: dict[str, list[tuple[int, ...]]] = {"r": [], "s": []}
    for table, mine in rows.items():
        for _ in range(12):
            begin, k = rng.randrange(END - 1), 1 if name == "boolean" else rng.randint(1, 4)
            mine.append((rng.randrange(2), rng.randrange(3), k, begin, rng.randint(begin + 1, END)))
        columns = CATALOG["relations"][table]["columns"]
        lines = (json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in mine)
        (tmp_path / f"{table}.jsonl").write_text("".join(lines))
    joined = f"SELECT r.x, s.x AS y, {TIMES[name]} AS k FROM r JOIN s ON r.y = s.y UNION ALL SELECT x, y, k FROM s"
    sql = f"SEQ VT ({summed.format(joined)})"
    found: list[dict[str, Any]] = streambound.compile(sql, CATALOG).run(inputs=str(tmp_path)).rows()
    assert all(row["_mult"] == 1 for row in found)
    for t in range(END):
        left, right = (at(rows[table], t, plus) for table in "rs")
        expected = dict(right)
        for (x, y), k in left.items():
            for (z, w), m in right.items():
                if y == w:
                    own = times(k, m)
                    expected[x, z] = plus(expected[x, z], own) if (x, z) in expected else own
        assert {(row["x"], row["y"]): row["k"] for row in found if row["_begin"] <= t < row["_end"]} == expected
    starts = {(row["x"], row["y"], row["k"], row["_begin"]) for row in found}
    assert not any((row["x"], row["y"], row["k"], row["_end"]) in starts for row in found), "periods are maximal"
