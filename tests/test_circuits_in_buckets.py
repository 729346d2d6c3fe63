"""Circuits whose states fall apart by a key: each bucket alone, together, prints what one circuit of all rows does."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from streambound.analyzer.errors import UsageError
from streambound.synopsis_exec.job_spec import job_spec
from streambound_runtime.operators.delta import Delta
from streambound_runtime.placement.executors import hashed
from streambound_runtime.spec import Placement
from support.circuits import Circuit, checked_circuit, circuit_plan, rows_of
from support.profiles import MORE

pytestmark = pytest.mark.xdist_group("corpus")  # its cases are checked once, in one process

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "circuits.jsonl").read_text().splitlines()
]
COLUMNS = {"k": "bigint", "v": "bigint", "ts": "bigint"}
STREAMS = {"streams": {name: {"timestamp": "ts", "columns": COLUMNS} for name in "ST"}}


FEW = 4
"""Buckets here: an engine is made for each."""
_ROW = [{"a": n % 5 if n % 7 else None, "b": n % 3, "v": n % 4, "ts": n // 3 * 1_000_000} for n in range(60)]
_DECLARED = {
    "timestamp": "ts",
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "timestamp"},
    "domain": {"a": [0, 4], "b": [0, 2]},
    "max_per_timestamp": 3,
}
WINDOWS = [
    {"name": sql, "sql": sql, "mode": mode, "catalog": {"streams": {"S": _DECLARED}}, "input": {"S": _ROW}}
    for mode in ("changes", "final")
    for sql in (
        "SELECT a, COUNT(*) AS n, SUM(v) AS s FROM S GROUP BY a, window(ts, '4 seconds')",
        "SELECT window.start, a, COUNT(*) AS n FROM S GROUP BY window(ts, '6 seconds', '2 seconds'), a",
        "SELECT a, AVG(v) AS m FROM S GROUP BY a, window(ts, '4 seconds') HAVING COUNT(*) > 1",
    )
] + [
    {"name": sql, "sql": sql, "mode": "changes", "catalog": {"streams": {"S": _DECLARED}}, "input": {"S": _ROW}}
    for sql in (
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC) AS r FROM S) WHERE r <= 2",
        "SELECT a, b, ts, LAG(v, 3) OVER (PARTITION BY b ORDER BY ts) AS w FROM S",
        "SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts) AS w, RANK() OVER (PARTITION BY b ORDER BY ts) AS r FROM S",
        "SELECT a, MAX(v) AS x, COUNT(DISTINCT v) AS d FROM S GROUP BY a, session_window(ts, '2 seconds')",
    )
]  # fmt: skip
"""Windows of time and of rows, over one stream with NULLs."""
_FREE = {**_DECLARED, "domain": {}}
CHAINS = [
    {
        "name": "rows apart",
        "sql": "SELECT S.a, u.ts, COUNT(*) AS n FROM S "
        "JOIN T ON S.a = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 2 SECONDS "
        "JOIN S u ON u.a = T.b AND u.ts BETWEEN T.ts AND T.ts + INTERVAL 3 SECONDS GROUP BY S.a, u.ts",
        "mode": "changes",
        "catalog": {"streams": {"S": _FREE, "T": _FREE}},
        "input": {"S": _ROW, "T": _ROW[3:50]},
    }
]
"""Streams whose rows are kept apart."""


def placement(sql: str, catalog: dict[str, Any], forced: str | None = None) -> Placement | None:
    """The placement of a bounded statement's job; None where it has none."""
    checked = checked_circuit(sql, catalog)
    if checked.circuit is None or str(checked.verdict) != "bounded" or checked.catalog is None:
        return None
    return job_spec(circuit_plan(checked), forced).placement


def of_bucket(circuit: Circuit, deltas: dict[str, Delta], placed: Placement, bucket: int) -> dict[str, Delta]:
    found = {}
    for stream, key in zip(circuit.job.streams, placed.key, strict=True):
        delta = deltas[stream.name]
        numbers = hashed(pa.array(delta.values(key))) % placed.buckets
        found[stream.name] = delta.take(numbers == bucket)
    return found


def printed(circuit: Circuit, cuts: list[list[int]], placed: Placement | None) -> tuple[Counter[Any], list[int]]:
    """What is printed, and the entries after each step, by one circuit, or by those of some buckets together."""
    operators = [circuit.operator() for _ in range(placed.buckets if placed else 1)]
    found: Counter[Any] = Counter()
    sizes = []
    for number, times in enumerate(cuts):
        until = cuts[number + 1][0] if number + 1 < len(cuts) else None
        deltas = circuit.delta(times)
        for bucket, operator in enumerate(operators):
            mine = of_bucket(circuit, deltas, placed, bucket) if placed else deltas
            for delta in (operator.step(mine), operator.step({}, until or times[-1] + 1, over=until is None)):
                for time, n, row in rows_of(delta):
                    found[time if circuit.circuit.timestamps else times[-1], row] += n
        sizes.append(sum(operator.entries() for operator in operators))
    return Counter({row: n for row, n in found.items() if n}), sizes


def test_buckets_print_what_one_circuit_does() -> None:
    """Of every third case of the corpus, and of windows."""
    took_part: Counter[str] = Counter()
    for case in (*CASES[:: 1 if MORE > 1 else 3], *WINDOWS, *CHAINS):
        try:
            placed = placement(case["sql"], case["catalog"], "buckets")
        except UsageError:
            continue
        if placed is None:
            continue
        placed = replace(placed, buckets=FEW)
        circuit, random = Circuit(case, "batch"), Random(case["name"])
        if not circuit.times:
            continue
        places = sorted({0, *random.sample(range(len(circuit.times)), min(3, len(circuit.times))), len(circuit.times)})
        cuts = [circuit.times[a:b] for a, b in pairwise(places)]
        one, many = printed(circuit, cuts, None), printed(circuit, cuts, placed)
        assert many[0] == one[0], case["name"]
        assert all(some <= all_of_them for some, all_of_them in zip(many[1], one[1], strict=True)), case["name"]
        if one[0]:
            took_part.update({type(one).__name__ for one in circuit.circuit.operators})
    assert took_part["SqlGroup"] >= 5, took_part
    assert min(took_part[name] for name in ("SqlBucket", "SqlStreamJoin", "SqlCounts", "SqlOver")) >= 2, took_part
    assert took_part["SqlBlock"] >= len(CHAINS)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT COUNT(*) AS n FROM S", "have no columns"),
        (
            "SELECT S.v, COUNT(*) AS n FROM S JOIN T ON S.k = T.k AND T.ts = S.ts GROUP BY S.v",
            "groups of .* do not agree",
        ),
        ("SELECT S.v FROM S LEFT JOIN T ON S.v < T.v AND T.ts = S.ts", "no equality spans all streams"),
        (
            "SELECT x, COUNT(y) AS m FROM (SELECT S.k AS x, T.v AS y FROM S LEFT JOIN T ON S.k = T.k AND T.ts = S.ts) "
            "GROUP BY x",
            "the driver computes the rows of .*, which others need",
        ),
    ],
)
def test_why_a_circuit_is_not_divided(sql: str, why: str) -> None:
    declared = {"timestamp": "ts", "columns": COLUMNS, "domain": {"k": [0, 9], "v": [0, 9]}, "max_per_timestamp": 9}
    with pytest.raises(UsageError, match=f"cannot be placed in buckets: .*{why}"):
        placement(sql, {"streams": dict.fromkeys("ST", declared)}, "buckets")


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("SELECT ts DIV 10 AS w, k, COUNT(*) AS n FROM S GROUP BY ts DIV 10, k", ("k",)),
        ("SELECT ts DIV 10 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 10", None),
        ("SELECT S.k, T.v FROM S LEFT JOIN T ON S.k = T.k AND T.ts BETWEEN S.ts AND S.ts + 5", ("k", "k")),
        ("SELECT S.k, T.v FROM S LEFT JOIN T ON S.k < T.k AND T.ts BETWEEN S.ts AND S.ts + 5", None),
        ("SELECT S.k FROM S FULL JOIN T ON S.k = T.v AND T.ts BETWEEN S.ts - 5 AND S.ts + 5", ("k", "v")),
        ("SELECT S.k FROM S LEFT ANTI JOIN T ON S.v = T.k AND T.ts BETWEEN S.ts AND S.ts + 5", ("v", "k")),
        (
            "SELECT w, SUM(n) AS m FROM (SELECT ts DIV 10 AS w, k, COUNT(*) AS n FROM S GROUP BY ts DIV 10, k) g "
            "GROUP BY w",
            None,
        ),
    ],
)  # fmt: skip
def test_where_a_circuit_is_placed(sql: str, key: tuple[str, ...] | None) -> None:
    """M has the rates of the streams in it, so that it is no number; what cannot be divided is on the driver."""
    placed = placement(sql, STREAMS)
    assert placed is not None
    assert (placed.where, placed.key or None) == ("driver" if key is None else "buckets", key)
    with_domain = {"streams": {n: {**s, "domain": {"k": [0, 9], "v": [0, 9]}, "max_per_timestamp": 9}
                               for n, s in STREAMS["streams"].items()}}  # fmt: skip
    small = placement(sql, with_domain)
    assert small is not None
    assert small.where == "driver"
    assert placement(sql, with_domain, "driver") is not None
    if key is None:
        with pytest.raises(UsageError, match="cannot be placed in buckets"):
            placement(sql, with_domain, "buckets")
    with pytest.raises(UsageError, match="cannot be placed in stateless"):
        placement(sql, with_domain, "stateless")
