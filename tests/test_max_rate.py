"""`max_rate` in a bound: hand-counted, never exceeded, certified, and the results stay those of SQL."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.contract import fits_contract
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness import build
from streambound.recheck.certificates.report import proof_of
from streambound.recheck.certificates.validate import faults
from support.choices import Choices
from support.kernel import formula_value, run_kernel
from support.oracle import Oracle
from support.product import decided
from support.profiles import MORE
from support.queries import Features, make_statement
from support.streams import Rows, adversarial_rows, small_rows

SECOND = 1_000_000
HOUR = "S.ts >= T.ts AND S.ts <= T.ts + INTERVAL 1 HOUR"
DELAY = "S.ts >= T.ts + INTERVAL 1 HOUR"


def declared(clock: str = "timestamp", **rate: Any) -> dict[str, Any]:
    columns = {"a": "bigint", "b": "bigint", "ts": clock}
    return {"streams": {n: {"timestamp": "ts", "columns": columns, "domain": {"b": [0, 9]}, **rate} for n in "ST"}}


FAST = {"rows": 1000, "per": "1 second"}
CASES: dict[str, tuple[str, dict[str, Any], int, str]] = {
    "an hour's window is 3,600 seconds": (f"T.a = S.a AND {HOUR}", declared(max_rate=FAST), 3_600_000, "3600*rate_T"),
    "a part of an interval counts whole": (
        f"T.a = S.a AND {HOUR.replace('1 HOUR', '1 SECOND')} AND S.ts < T.ts + INTERVAL 1 SECOND",
        declared(max_rate={"rows": 7, "per": "0.6 seconds"}), 14, "2*rate_T"),
    "whole numbers": (
        "T.a = S.a AND S.ts >= T.ts AND S.ts <= T.ts + 10", declared("bigint", max_rate={"rows": 3, "per": 4}), 9,
        "3*rate_T"),
    "the smaller of two contracts: the rate": (
        f"T.a = S.a AND {HOUR}", declared(max_rate=FAST, max_per_timestamp=2), 3_600_000, "3600*rate_T"),
    "the smaller of two contracts: rows of a timestamp": (
        "T.a = S.a AND S.ts > T.ts AND S.ts <= T.ts + 3",
        declared("bigint", max_rate={"rows": 100, "per": 9}, max_per_timestamp=2), 6, "3*c_T"),
    "fewer values than rows": ("S.ts > T.ts AND T.b = S.b", declared(max_rate=FAST), 10, "10"),
    "those that are old enough are one": (
        f"T.b = S.b AND {DELAY}", declared(max_rate={"rows": 7, "per": "1 minute"}), 430, "60*rate_T + 10"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_hand_counted(name: str) -> None:
    where, catalog, most, formula = CASES[name]
    decision = decided(f"SELECT 1 AS one FROM S, T WHERE {where}", catalog)
    assert decision.bound is not None
    assert (decision.bound.entries.value, decision.bound.entries.text) == (most, formula)
    assert not _faults(decision)


def _faults(decision: Any) -> tuple[str, ...]:
    document = json.loads(json.dumps(to_json(certificate(decision.bound, decision.query.distinct))))
    return proof_of(decision.derivation, document).faults


def test_a_certificate_that_says_less_is_refused() -> None:
    where, catalog, _, _ = CASES["those that are old enough are one"]
    decision = decided(f"SELECT 1 AS one FROM S, T WHERE {where}", catalog)
    assert decision.bound is not None
    text = json.dumps(to_json(certificate(decision.bound, False)))
    wrong = (("60*rate_T", "59*rate_T"), ("rate_T", "c_T"), ('"saturates": 3600000000', '"saturates": 3000000001'))
    for was, said in (*wrong, ('"timestamps": 3599999999', '"timestamps": 3599999998')):
        assert was in text
        assert faults(decision.derivation.split, json.loads(text.replace(was, said)))
    slow = {
        "streams": {n: {**body, "max_rate": {"rows": 7, "per": "2 minutes"}} for n, body in catalog["streams"].items()}
    }
    other = decided(f"SELECT 1 AS one FROM S, T WHERE {where}", slow)
    assert faults(other.derivation.split, json.loads(text))


@pytest.mark.parametrize("rate", [{"rows": 1, "per": 50}, {"rows": 2, "per": 7}])
def test_a_witness_keeps_the_contract(rate: dict[str, int]) -> None:
    decision = decided("SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.a = T.a", declared("bigint", max_rate=rate))
    assert decision.verdict is Verdict.UNBOUNDED and decision.witness is not None
    for size in (2, 5):
        witness = build(decision.witness.plan, size)
        assert witness is not None
        for probe in range(size):
            rows = [*witness.prefix(range(size)), *witness.probes[probe]]
            assert fits_contract(decision.witness.plan.branch, rows)
            for table in "ST":
                times = sorted(row.values["ts"] for row in rows if row.table == table)
                ends = zip(times, times[rate["rows"] :], strict=False)
                assert all(last - first >= rate["per"] for first, last in ends)


def _rated(choices: Choices, catalog: dict[str, Any]) -> dict[str, Any]:
    """A catalog with rates for most streams."""
    streams = {}
    for name, body in catalog["streams"].items():
        per = choices.integer(1, 5)
        unit = per if body["columns"]["ts"] == "bigint" else f"{per} seconds"
        rate = {"max_rate": {"rows": choices.integer(1, 4), "per": unit}} if choices.chance(80) else {}
        streams[name] = {**body, **rate}
    return {**catalog, "streams": streams}


def _slowed(catalog: dict[str, Any], rows: Rows) -> Rows:
    """The rows that fit the rates: the first ones, in order of time."""
    found = dict(rows)
    for table in catalog_from_mapping(catalog).tables:
        if table.max_rate is None:
            continue
        unit = SECOND if catalog["streams"][table.name]["columns"]["ts"] == "timestamp" else 1
        kept: list[dict[str, Any]] = []
        times: list[int] = []
        for row in sorted(rows[table.name], key=lambda row: row["ts"]):
            now = _seconds(row["ts"]) * unit
            if sum(now - table.max_rate.per < time for time in times) < table.max_rate.rows:
                kept.append(row)
                times.append(now)
        found[table.name] = kept
    return found


def _seconds(moment: Any) -> int:
    return (
        moment
        if isinstance(moment, int)
        else int((datetime.fromisoformat(moment) - datetime(2024, 1, 1)).total_seconds())
    )


def test_random_queries_stay_within_their_bounds() -> None:
    """Certified, and after each timestamp as DuckDB says, with no more entries than rows that the rates allow."""
    seen: Counter[str] = Counter()
    features = Features(windows=75, timestamps=25)
    for seed in range(110 * MORE):
        choices = Choices.seeded(seed)
        statement = make_statement(choices, features)
        catalog = _rated(choices, statement.catalog)
        decision = decided(statement.sql, catalog)
        if decision.verdict is not Verdict.BOUNDED or decision.bound is None:
            continue
        assert not _faults(decision), statement.sql
        seen["certified"] += 1
        if "rate_" not in decision.bound.entries.text:
            continue
        seen["by rate"] += 1
        rows = _slowed(catalog, (adversarial_rows if choices.chance(50) else small_rows)(choices, catalog))
        try:
            run = run_kernel(decision, catalog, rows)
        except NotExecutableError:
            continue
        assert run.printed == Oracle(catalog, rows).prefix_expected(statement.sql)
        limit = formula_value(decision, catalog, rows)
        assert limit is None or run.peak <= limit
        seen["measured"] += limit is not None
        seen["filled"] += limit is not None and run.peak >= limit / 2 > 1
        seen["printed"] += any(run.printed.values())
    assert seen["by rate"] > 10 and seen["measured"] > 5 and seen["filled"] > 2 and seen["printed"] > 2, seen
