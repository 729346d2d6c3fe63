"""SEQ VT over semirings, against K-relations by their definition at every point of time (Dignös et al., Section 4)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import streambound

END = 10
CATALOG: dict[str, Any] = {
    "relations": {
        "r": {"columns": dict.fromkeys(("x", "y", "k", "vb", "ve"), "bigint"), "period": ["vb", "ve"]},
        "s": {"columns": dict.fromkeys(("x", "y", "vb", "ve"), "bigint"), "period": ["vb", "ve"]},
    }
}
Annotated = dict[tuple[int, int], int]
Sum = Callable[[int, int], int]
Query = tuple[str, Callable[[Annotated, Annotated], Annotated]]
"""SQL with columns x and y, and the K-relation that it is of those of r and s."""


class Semiring:
    """Plus and times, what a row of r without and with a cost is annotated with, and the difference if there is one."""

    def __init__(self, plus: Sum, times: Sum, one: int, minus: Sum | None) -> None:
        self.plus, self.times, self.one, self.minus = plus, times, one, minus

    def query(self, rng: random.Random, depth: int) -> Query:
        shape = rng.randrange(6) if depth else 0
        if shape == 0:
            name = rng.choice("rs")
            return f"SELECT x, y FROM {name}", (lambda r, s: r) if name == "r" else (lambda r, s: s)
        sql, left = self.query(rng, depth - 1)
        if shape == 1:
            return f"SELECT q.x, q.y FROM ({sql}) AS q WHERE q.x < q.y", (
                lambda r, s: {row: k for row, k in left(r, s).items() if row[0] < row[1]}
            )
        if shape == 2:
            return f"SELECT y AS x, 1 AS y FROM ({sql}) AS q", (
                lambda r, s: self.added(((y, 1), k) for (_, y), k in left(r, s).items())
            )
        other, right = self.query(rng, depth - 1)
        if shape == 3:
            return f"({sql}) UNION ALL ({other})", (
                lambda r, s: self.added([*left(r, s).items(), *right(r, s).items()])
            )
        if shape == 4 and (minus := self.minus) is not None:

            def less(r: Annotated, s: Annotated) -> Annotated:
                gone = right(r, s)
                found = {row: minus(k, gone.get(row, 0)) for row, k in left(r, s).items()}
                return {row: k for row, k in found.items() if k}

            return f"({sql}) EXCEPT ALL ({other})", less
        return f"SELECT a.x, b.y FROM ({sql}) AS a JOIN ({other}) AS b ON a.y = b.x", (
            lambda r, s: self.added(
                ((x, w), self.times(k, m))
                for (x, y), k in left(r, s).items() for (z, w), m in right(r, s).items() if y == z
            )
        )  # fmt: skip

    def added(self, rows: Any) -> Annotated:
        """Annotations of equal rows are added."""
        found: Annotated = {}
        for row, k in rows:
            found[row] = self.plus(found[row], k) if row in found else k
        return found


SEMIRINGS = {
    "boolean": Semiring(max, min, 1, lambda a, b: int(a and not b)),
    "counting": Semiring(int.__add__, int.__mul__, 1, lambda a, b: max(0, a - b)),
    "tropical OF k": Semiring(min, int.__add__, 0, None),
}


@pytest.mark.parametrize("name", SEMIRINGS)
def test_every_snapshot_is_the_query_over_the_semiring(name: str, tmp_path: Path) -> None:
    rng, semiring, costs, results = random.Random(name), SEMIRINGS[name], "OF" in name, 0
    rows = {table: [_row(rng, table == "r") for _ in range(8)] for table in "rs"}
    for table, mine in rows.items():
        lines = (json.dumps(dict(zip(CATALOG["relations"][table]["columns"], row, strict=True))) for row in mine)
        (tmp_path / f"{table}.jsonl").write_text("\n".join(lines))

    def at(table: str, t: int) -> Annotated:
        valid = [row for row in rows[table] if row[-2] <= t < row[-1] and (not costs or None not in row)]
        return semiring.added(((row[0], row[1]), row[2] if costs and table == "r" else semiring.one) for row in valid)

    for _ in range(5):
        sql, meaning = semiring.query(rng, 3)
        if costs and "FROM r" not in sql:
            continue  # nothing has costs
        found = streambound.compile(f"SEQ VT SEMIRING {name} ({sql})", CATALOG).run(inputs=str(tmp_path)).rows()
        results += len(found)
        annotation = "k" if costs else "_mult"
        for t in range(END):
            printed = [row for row in found if row["_begin"] <= t < row["_end"]]
            assert all(row["_mult"] == 1 for row in printed) or name == "counting"
            assert sorted((row["x"], row["y"], row[annotation]) for row in printed) == sorted(
                (*row, k) for row, k in meaning(at("r", t), at("s", t)).items()
            ), (sql, t)
    assert results > 10


def _row(rng: random.Random, cost: bool) -> tuple[int | None, ...]:
    begin = rng.randrange(END - 1)
    costs = [rng.choice([None, 1, 2, 3, 4])] if cost else []
    return rng.randrange(2), rng.randrange(3), *costs, begin, rng.randint(begin + 1, END)
