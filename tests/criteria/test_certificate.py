"""Certificates: tiers, what they say of a table, and bytes measured on the state that an operator saves."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.criteria.bound import bound
from streambound.criteria.certificate import certificate
from streambound.criteria.vocabulary import Tier
from streambound.recheck.certificates.validate import faults
from support.catalogs import PLAIN, Catalog, streams, with_domain, with_relation
from support.certificates import plain
from support.choices import Choices
from support.encoding import encode_rows
from support.kernel import actual_sizes, formula_value, plan_of, run_kernel, synopsis_of
from support.product import decided
from support.profiles import MORE
from support.queries import Features, make_statement
from support.streams import adversarial_rows

OLDER = "FROM S, T WHERE S.ts > T.ts"
RATED: Catalog = {"streams": {n: {**body, "max_per_timestamp": 2} for n, body in PLAIN["streams"].items()}}

TIERS: dict[str, tuple[str, Catalog, Tier]] = {
    "a range": (f"SELECT T.a {OLDER} AND T.a BETWEEN 1 AND 4", PLAIN, Tier.CONSTANT),
    "nothing": ("SELECT S.a FROM S", PLAIN, Tier.CONSTANT),
    "a declared range": (f"SELECT T.a {OLDER}", with_domain(PLAIN, "T", "a", [0, 9]), Tier.CONSTANT),
    "rows of a relation": ("SELECT T.a FROM S, T, R WHERE S.ts > T.ts AND T.a = R.a", with_relation(PLAIN),
                           Tier.CONSTANT),
    "a window": (f"SELECT T.a, S.a AS sa {OLDER} AND S.ts <= T.ts + 3", PLAIN, Tier.RATE_WINDOW),
    "a window whose rate is declared": (f"SELECT T.a, S.a AS sa {OLDER} AND S.ts <= T.ts + 3", RATED, Tier.RATE_WINDOW),
    "a window over few values": (f"SELECT T.a {OLDER} AND S.ts <= T.ts + 3 AND T.a IN (1, 2)", PLAIN, Tier.CONSTANT),
    "a finite stream": (f"SELECT T.a, S.a AS sa {OLDER} AND T.ts < 6", PLAIN, Tier.RATE_WINDOW),
}  # fmt: skip


@pytest.mark.parametrize("name", TIERS)
def test_tier(name: str) -> None:
    sql, catalog, tier = TIERS[name]
    found = bound(decided(sql, catalog).derivation.split)
    assert found is not None
    assert found.tier is tier


def test_what_a_certificate_says() -> None:
    decision = decided(
        f"SELECT T.b {OLDER} AND S.ts <= T.ts + 3 AND T.a < S.a AND T.a < 9 AND S.a > 1 AND T.b IS NULL", RATED
    )
    found = bound(decision.derivation.split)
    assert found is not None
    document = plain(found, distinct=False)
    (table,) = document["branches"][0]["tables"]
    assert (table["streams"], table["relations"], table["deadline"]) == (["T"], [], None)
    assert table["ages"] == [{"stream": "T", "expires": 3, "saturates": None}]
    assert [s["attribute"] for s in table["stored"]] == [
        {"source": "T", "column": "a"}, {"source": "T", "column": "b"}]  # fmt: skip
    assert table["stored"][0]["low"] == [{"constant": 1, "relations": []}]
    assert table["entries"] == document["entries"] == {"formula": "min(24, 3*c_T)", "value": 6}
    assert table["bytes"]["value"] == 6 * table["bytes_per_entry"]


# --- bounds that were too small -----------------------------------------------------------------------------------


def test_a_finite_stream_bounds_what_equals_it_only_once_it_is_there() -> None:
    """Until F's only tuple comes, any of T's values may be the one that it equals."""
    catalog = streams("S T F")
    decision = decided("SELECT T.a FROM S, T, F WHERE S.ts > T.ts AND T.a = F.a AND F.ts <= 5", catalog)
    rows = {"T": [{"a": n, "b": 0, "ts": n // 9} for n in range(45)], "F": [{"a": 44, "b": 0, "ts": 5}], "S": []}
    run, limit = run_kernel(decision, catalog, rows, together=1), formula_value(decision, catalog, rows)
    assert run.peak >= 45
    assert limit is not None
    assert run.peak <= limit


def test_a_clipped_attribute_has_a_value_even_where_its_range_is_empty() -> None:
    catalog = with_relation(PLAIN)
    sql = "SELECT 1 AS one FROM S, T, R WHERE S.ts > T.ts AND T.a <= R.a AND T.a >= 0 AND T.a <= S.a AND S.a >= 5"
    decision = decided(sql, catalog)
    rows = {"R": [{"a": 3, "b": 0}], "T": [{"a": 2, "b": 0, "ts": 1}], "S": []}
    assert run_kernel(decision, catalog, rows).peak == 1
    assert formula_value(decision, catalog, rows) == 1


def test_null_is_one_more_value_beside_a_declared_one() -> None:
    catalog = with_domain(PLAIN, "T", "a", [5, 5])
    decision = decided(f"SELECT T.a {OLDER}", catalog)
    rows = {"T": [{"a": 5, "b": 0, "ts": 1}, {"a": None, "b": 0, "ts": 1}], "S": []}
    assert run_kernel(decision, catalog, rows).peak == formula_value(decision, catalog, rows) == 2


# --- bytes ----------------------------------------------------------------------------------------------------------

EXTREMES: dict[str, list[Any]] = {
    "tinyint": [-128, 127],
    "smallint": [-(2**15), 2**15 - 1],
    "int": [-(2**31), 2**31 - 1],
    "bigint": [-(2**63), 2**63 - 1],
    "boolean": [True, False],
    "date": ["0001-01-01", "9999-12-31"],
    "timestamp": ["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"],
    "decimal(9,2)": ["-9999999.99", "9999999.99"],
    "decimal(38,2)": [f"-{'9' * 36}.99", f"{'9' * 36}.99"],
    "double": [-1.7976931348623157e308, 2.2250738585072014e-308],
}


def _state_bytes(decision: Any, catalog: Catalog, rows: Any) -> int:
    """The most bytes that the tables of a run take, as the job reports them."""
    encoded = encode_rows(catalog, rows)
    relations = {name: encoded.get(name, []) for name in catalog.get("relations", {})}
    synopsis = synopsis_of(plan_of(decision, catalog), relations)
    times = {name: body["timestamp"] for name, body in catalog["streams"].items()}
    most = 0
    for now in sorted({row[time] for name, time in times.items() for row in encoded.get(name, [])}):
        batch = {n: [row for row in encoded.get(n, []) if row[time] == now] for n, time in times.items()}
        synopsis.close(now, batch)
        most = max(most, sum(table.nbytes for table in synopsis.dump().values()))
    return most


def _byte_limit(decision: Any, catalog: Catalog, rows: Any) -> int | None:
    found = bound(decision.derivation.split)
    assert found is not None
    limit = certificate(found, decision.query.distinct)["bytes"]
    scope: dict[str, Any] = {"__builtins__": {}, "min": min, "max": max}
    return None if limit is None else int(eval(limit["formula"], scope, actual_sizes(catalog, rows)))


@pytest.mark.parametrize("kind", EXTREMES)
def test_bytes_of_the_longest_values(kind: str) -> None:
    catalog = streams("S T", a=kind, b="string")
    decision = decided(f"SELECT T.a, S.a AS sa {OLDER} AND S.ts <= T.ts + 3", catalog)
    last = 2**62
    rows = {"T": [{"a": v, "b": "", "ts": last + n} for n in range(3) for v in EXTREMES[kind]], "S": []}
    most, limit = _state_bytes(decision, catalog, rows), _byte_limit(decision, catalog, rows)
    assert limit is not None
    # Exact but for what says which of two values are NULL, a byte for each, not a bit, and 16 of one beyond 64 bits.
    assert limit == most + (6 - 1) * 2 + 6 * 16 * (kind == "decimal(38,2)")


def test_bytes_of_the_longest_texts() -> None:
    """Each character takes up to four bytes; where a text begins is counted as eight."""
    catalog = streams("S T", a="varchar(3)", b="string")
    decision = decided(f"SELECT T.a, S.a AS sa {OLDER} AND S.ts <= T.ts + 3", catalog)
    rows = {"T": [{"a": text * 3, "b": "", "ts": n} for n in range(3) for text in ("😀", "\U0010ffff")], "S": []}
    most, limit = _state_bytes(decision, catalog, rows), _byte_limit(decision, catalog, rows)
    assert limit is not None and most <= limit <= most + 6 * (2 + 4)
    other = decided(f"SELECT upper(T.a) AS a, S.a AS sa {OLDER} AND S.ts <= T.ts + 3", catalog)
    assert _byte_limit(other, catalog, rows) is None


@pytest.mark.parametrize("kind", EXTREMES)
def test_an_entry_narrower_than_its_values_is_rejected(kind: str) -> None:
    decision = decided(f"SELECT T.a, S.a AS sa {OLDER} AND S.ts <= T.ts + 3", streams("S T", a=kind, b="string"))
    found = bound(decision.derivation.split)
    assert found is not None
    document = plain(found, distinct=False)
    document["branches"][0]["tables"][0]["bytes_per_entry"] -= 1
    assert any("bytes, not" in fault for fault in faults(decision.derivation.split, document))


def test_strings_have_no_bound_unless_they_are_listed() -> None:
    catalog = streams("S T", s="string")
    windowed = decided(f"SELECT T.s {OLDER} AND S.ts <= T.ts + 3", catalog)
    assert _byte_limit(windowed, catalog, {}) is None
    listed = with_domain(catalog, "T", "s", ["a", "ä", '"', "long text"])
    decision = decided(f"SELECT T.s {OLDER}", listed)
    rows = {"T": [{"s": s, "a": 0, "b": 0, "ts": 1} for s in ("a", "ä", '"', "long text", None)], "S": []}
    limit = _byte_limit(decision, listed, rows)
    assert limit is not None
    assert _state_bytes(decision, listed, rows) <= limit


@pytest.mark.slow
def test_no_random_run_takes_more_bytes_than_its_certificate_says() -> None:
    compared = 0
    for seed in range(9 * MORE):
        choices = Choices.seeded(seed)
        statement = make_statement(choices, Features(windows=30, finite=15, unions=5))
        decision = decided(statement.sql, statement.catalog)
        if decision.verdict != "bounded" or bound(decision.derivation.split) is None:
            continue
        rows = adversarial_rows(choices, statement.catalog)
        if formula_value(decision, statement.catalog, rows) is None:
            continue
        limit = _byte_limit(decision, statement.catalog, rows)
        if limit is not None:
            assert _state_bytes(decision, statement.catalog, rows) <= limit, statement.sql
            compared += limit > 0
    assert compared > 5
