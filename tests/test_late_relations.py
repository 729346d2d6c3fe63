"""Relations that are joined when the partner comes, where that takes fewer entries (docs/theory-bags.md).

Random queries that join them late wherever they can are in `runtime/test_synopsis.py`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from streambound.criteria.bound import QueryBound
from streambound.criteria.certificate import certificate, to_json
from streambound.recheck.certificates.validate import faults
from support.against_sql import printed_as_sql_says
from support.certificates import rejections
from support.kernel import run_kernel
from support.product import decided

DEVICES = {"columns": {"device": "bigint", "site": "bigint", "model": "string"}, "rows": 20_000}


def plant(**maint: Any) -> dict[str, Any]:
    """Readings of devices, and a table that says at which site each device is, which is what maintenance is of."""
    readings = {"timestamp": "ts", "columns": {"device": "bigint", "value": "bigint", "ts": "bigint"}}
    mine = {"timestamp": "ts", "columns": {"site": "bigint", "kind": "bigint", "ts": "bigint"}, **maint}
    return {"streams": {"readings": readings, "maint": mine}, "relations": {"devices": DEVICES}}


SQL = (
    "SELECT r.device, r.value, d.model FROM readings AS r JOIN devices AS d ON r.device = d.device "
    "JOIN maint AS m ON m.site = d.site AND r.ts >= m.ts AND r.ts <= m.ts + 7200"
)
RATED = plant(max_per_timestamp=1)
EVER = SQL.replace(" AND r.ts >= m.ts AND r.ts <= m.ts + 7200", " AND r.ts > m.ts").replace("r.device, ", "")
SITES = plant(domain={"site": [1, 20]})
CASES: dict[str, tuple[str, dict[str, Any], int | None, bool]] = {
    "the rows of the window, not those of each of their devices": (SQL, RATED, 7200, True),
    "without a rate, of sites that are known": (SQL, SITES, 20 * 7200, True),
    "without a rate or sites, what the relation has": (SQL, plant(), 7200 * 20_000, False),
    "for ever, of sites that are known": (EVER, SITES, 20, True),
    "for ever, of any sites": (EVER, plant(), 20_000, False),
    "fewer rows of the relation than sites": (
        EVER, {**SITES, "relations": {"devices": {**DEVICES, "rows": 5}}}, 5, False),
    "a relation of one stream alone": (
        "SELECT d.model FROM readings AS r JOIN maint AS m ON r.ts > m.ts JOIN devices AS d ON m.site = d.site",
        SITES, 20, True),
    "where nothing is selected of it, either": (
        "SELECT 1 AS one FROM readings AS r JOIN maint AS m ON r.ts > m.ts JOIN devices AS d ON m.site = d.site",
        SITES, 1, False),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_hand_counted(name: str) -> None:
    sql, catalog, most, late = CASES[name]
    decision = decided(sql, catalog)
    assert decision.bound is not None
    assert decision.bound.entries.value == most
    assert _late(decision.bound) == late
    assert not rejections(decision, decision.bound)


def _late(found: QueryBound) -> bool:
    return any(branch.synopsis.late for branch in found.branches)


def test_a_site_of_many_devices_is_one_entry() -> None:
    """As many entries as rows of maintenance, and the results are SQL's."""
    devices = [{"device": n, "site": n % 20, "model": f"m{n % 7}"} for n in range(400)]
    maint = [{"site": n, "kind": 0, "ts": n} for n in range(20)]
    readings = [{"device": 37 * n % 400, "value": n, "ts": 20 + n} for n in range(40)]
    rows = {"devices": devices, "maint": maint, "readings": readings}
    decision = decided(SQL, RATED)
    assert run_kernel(decision, RATED, rows).peak == 20
    printed = printed_as_sql_says(SQL, decision, RATED, rows)
    assert printed is not None and printed.results == 40


def test_a_key_that_lacks_what_the_relation_is_joined_by_is_refused() -> None:
    decision = decided(EVER, SITES)
    assert decision.bound is not None
    document = json.loads(json.dumps(to_json(certificate(decision.bound, False))))
    (table,) = document["branches"][0]["tables"]
    assert not faults(decision.derivation.split, document)
    joined = json.loads(json.dumps(document))
    joined["branches"][0]["tables"][0]["relations"] = ["d"]
    assert faults(decision.derivation.split, joined), "with the relation its rows would have to be kept"
    table["stored"].clear()
    assert any("does not store what decides" in fault for fault in faults(decision.derivation.split, document))
