"""`probabilities = "bounds"`: results whose probability takes more than `lineage_nodes` have bounds of it."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import streambound
from streambound.temporal import Temporal
from support.worlds import chance, names_in, table

OWN = {"id": "string", "p": "double", "vb": "bigint", "ve": "bigint"}
CATALOG: dict[str, Any] = {
    "relations": {
        name: {
            "columns": {**dict.fromkeys(facts, "bigint"), **OWN},
            "period": ["vb", "ve"],
            "key": "id",
            "probability": "p",
        }
        for name, facts in {"r": ("x",), "s": ("x", "y"), "t": ("y",)}.items()
    }
}
HARD = "SEQ TP (SELECT 1 AS found FROM r JOIN s ON r.x = s.x JOIN t ON s.y = t.y)"
"""Nothing splits the lineages."""
CHANCES = {"r": "0.3", "s": "0.7", "t": "0.1"}


def rows_of(size: int) -> dict[str, list[tuple[Any, ...]]]:
    """Facts, keys, probabilities and periods; from 3 on one row of r is not there any more."""
    one = {
        n: [((i,), str(i), float(CHANCES[n]), 0, 3 if n == "r" and i == 0 else 9) for i in range(size)] for n in "rt"
    }
    both = [((i, j), f"{i}{j}", float(CHANCES["s"]), 0, 9) for i in range(size) for j in range(size)]
    return {**one, "s": both}


def written(folder: Path, size: int) -> str:
    for name, rows in rows_of(size).items():
        columns = CATALOG["relations"][name]["columns"]
        lines = (json.dumps(dict(zip(columns, (*fact, *own), strict=True))) for fact, *own in rows)
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return str(folder)


def exact(lineage: str) -> Fraction:
    names = sorted(names_in(lineage))
    return chance(table(lineage, names), names, {name: Fraction(CHANCES[name[0]]) for name in names})


def test_probabilities_are_between_bounds_that_are_equal_where_they_can_be_had(tmp_path: Path) -> None:
    folder = written(tmp_path, 3)
    (tmp_path / "r.jsonl").write_text("".join((tmp_path / "r.jsonl").read_text().splitlines(keepends=True)[:2]))
    told = streambound.compile(HARD, CATALOG).run(inputs=folder).rows()
    bounded = CATALOG | {"probabilities": "bounds"}
    assert [
        (row["_p_low"], row["_p_high"]) for row in streambound.compile(HARD, bounded).run(inputs=folder).rows()
    ] == [(row["_p"], row["_p"]) for row in told]
    rows = streambound.compile(HARD, bounded | {"lineage_nodes": 1}).run(inputs=folder).rows()
    assert [list(row.values())[:4] for row in rows] == [list(row.values())[:4] for row in told]
    known = [row for row in rows if row["_p_low"] == row["_p_high"]]
    assert all(math.isclose(row["_p_low"], exact(row["_lineage"]), rel_tol=1e-14) for row in known)
    wide = [(row["_p_low"], exact(row["_lineage"]), row["_p_high"]) for row in rows if row not in known]
    assert wide and all(Fraction(low) < p < Fraction(high) for low, p, high in wide)
    arriving = {"r": CATALOG["relations"]["r"] | {"timestamp": "vb", "max_valid": 9}}
    beside = {name: CATALOG["relations"][name] for name in "st"}
    mixed = {"streams": arriving, "relations": beside, "probabilities": "bounds", "lineage_nodes": 1}
    assert streambound.verify(HARD, mixed, inputs=folder, runs=1).proved


def test_bounds_on_spark(spark: Any) -> None:
    size, found = 5, Temporal(spark, lineage_nodes=5, probability_bounds=True)
    for name, rows in rows_of(size).items():
        columns = ", ".join(f"{column} {kind}" for column, kind in CATALOG["relations"][name]["columns"].items())
        df = spark.createDataFrame([(*fact, *own) for fact, *own in rows], columns)
        found.relation(name, df, period=("vb", "ve"), key="id", probability="p")
    rows = found.sql(HARD, lineage_dag=True).sort("_begin").collect()
    assert rows[0].asDict().keys() >= {"_begin", "_lineage", "_p_low", "_p_high", "_lineage_dag"}
    assert [(row._begin, row._end) for row in rows] == [(0, 3), (3, 9)]
    for row, there in zip(rows, (5, 4), strict=True):  # of so many rows of r, i, and j of t: none of i·j rows of s
        r, s, t = (Fraction(CHANCES[name]) for name in "rst")
        ways = ((i, j, math.comb(there, i) * math.comb(5, j)) for i in range(there + 1) for j in range(6))
        none = sum(
            n * r**i * (1 - r) ** (there - i) * t**j * (1 - t) ** (5 - j) * (1 - s) ** (i * j) for i, j, n in ways
        )
        assert Fraction(row._p_low) <= 1 - none <= Fraction(row._p_high) and row._p_low < row._p_high
    assert found.sql("SEQ TP (SELECT x FROM r)").where("_p_low = 0.3 AND _p_high = 0.3").count() == size
