"""Families whose relations come with whichever is the first of several unrelated streams (theory §4, "Families")."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from streambound.criteria import bound as bound_module
from streambound.criteria import synopsis as synopsis_module
from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.family import shared_relations
from streambound.criteria.verdict import Decision
from streambound.recheck.certificates.validate import faults
from support.against_sql import printed_as_sql_says
from support.certificates import rejections
from support.choices import Choices
from support.product import decided
from support.profiles import MORE
from support.relation_queries import make_relation_statement
from support.streams import adversarial_rows, small_rows
from support.wide_families import certified_family, families_of, run_on_random_rows

DENSE = {"k": "bigint", "a": "double", "b": "double"}
STREAM = {"timestamp": "ts", "max_per_timestamp": 3, "columns": {**DENSE, "ts": "bigint"}}
CATALOG: dict[str, Any] = {
    "streams": dict.fromkeys("STUV", STREAM),
    "relations": {"R": {"rows": 4, "columns": DENSE}},
}
NEEDED = {
    "both limits on one": "SELECT DISTINCT S.k FROM S, T, R WHERE S.k BETWEEN 0 AND 2 AND T.k = S.k AND T.k = R.k "
    "AND S.b <= R.a AND S.a < R.a",
    "between a relation and a stream": "SELECT DISTINCT 1 AS one FROM S, T, U, R WHERE T.k = R.k AND U.k = T.k "
    "AND T.k BETWEEN 0 AND 2 AND S.a <= R.a AND T.b < S.a AND U.ts > T.ts",
    "limits on two": "SELECT DISTINCT 1 AS one FROM S, T, R WHERE S.k = R.k AND T.b < R.a AND S.b <= T.b "
    "AND S.a >= R.a",
    "a value until the window ends": "SELECT DISTINCT 1 AS one FROM S, T, U, R WHERE U.ts > S.ts AND U.ts <= S.ts + 6 "
    "AND U.b = S.b AND S.k BETWEEN 0 AND 2 AND T.k = R.k AND U.k = R.k AND S.b >= T.a AND S.b <= R.a",
    "limits linked by a row": "SELECT DISTINCT R.a FROM S, T, U, V, R WHERE U.ts > T.ts AND V.ts > U.ts "
    "AND S.a < R.b AND T.a <= R.b AND U.b <= T.a AND V.a <= S.a",
}
"""What has several best matches, or no bound, if the relation is joined when all streams are there."""


@pytest.fixture
def families(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family wherever there is a table at all."""
    monkeypatch.setattr(synopsis_module, "MOST_WHOLE", 0)
    monkeypatch.setattr(synopsis_module, "MOST_TABLES", 0)


@pytest.fixture
def early(families: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that joins relations early, whether or not it must."""
    monkeypatch.setattr(bound_module, "in_few_ways", lambda synopsis: [replace(synopsis, in_one=True, early=True)])


def _shared(found: QueryBound) -> set[str]:
    return {relation for _, table, _ in families_of(found) for relation in shared_relations(table.members)}


@pytest.mark.usefixtures("families")
@pytest.mark.parametrize("name", NEEDED)
def test_where_a_relation_that_is_joined_last_will_not_do(name: str) -> None:
    decision = decided(NEEDED[name], CATALOG)
    found = bound(decision.derivation.split)
    assert found is not None and not rejections(decision, found)
    assert _shared(found) == {"R"}
    results = 0
    for seed in range(24):
        choices = Choices.seeded(seed)
        rows = (adversarial_rows if seed % 3 == 0 else small_rows)(choices, CATALOG)
        ran = printed_as_sql_says(NEEDED[name], decision, CATALOG, rows)
        results += 0 if ran is None else ran.results
        if results > 2:
            break
    assert results > 2


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("distinct", [False, True])
def test_random_queries_print_what_sql_says_within_their_bound(distinct: bool) -> None:
    """Certified, and after each timestamp as DuckDB says."""
    seen: Counter[str] = Counter()
    for seed in range(80 * MORE):
        choices = Choices.seeded(seed)
        statement = make_relation_statement(choices, distinct)
        certified = certified_family(statement)
        if certified is None or not (shared := _shared(certified[1])):
            continue
        decision, found = certified
        ran = run_on_random_rows(statement, decision, choices)
        seen["ran"] += ran is not None
        seen["results"] += 0 if ran is None else ran.results
        seen["two relations"] += len(shared) > 1
        seen["extrema"] += any(table.extrema for _, table, _ in families_of(found))
    assert seen["ran"] > 7 and seen["two relations"] > 1 and seen["extrema"] >= 10 * distinct, seen
    assert seen["results"] > 2, seen


def test_a_wide_query_has_a_bound_and_a_certificate() -> None:
    """Two unrelated streams joined with a relation, eleven newer than one: the example of docs/theory-families.md."""
    newer = [f"Z{number}" for number in range(1, 12)]
    columns = {"A": "bigint", "B": "bigint", "C": "bigint", "V": "double", "ts": "bigint"}
    stream = {"timestamp": "ts", "columns": columns}
    catalog = {
        "streams": dict.fromkeys(("X", "Y", *newer), stream),
        "relations": {"R": {"columns": {"K": "bigint", "V": "double"}}},
    }
    atoms = ["X.A = R.K AND X.V >= R.V AND Y.V < R.V AND X.C <= Y.B", *(f"{name}.ts > Y.ts" for name in newer)]
    decision = decided(f"SELECT DISTINCT R.K FROM X, Y, R, {', '.join(newer)} WHERE {' AND '.join(atoms)}", catalog)
    found = bound(decision.derivation.split)
    assert found is not None and not rejections(decision, found)
    assert {table.table: table.size.text for table in found.tables} == {
        f"subsets of {{X, Y, {', '.join(newer)}}}": "4096*rows_R",
        "results": "rows_R",
    }


# --- certificates ----------------------------------------------------------------------------------------------------


def _with_one_bringing(family: dict[str, Any]) -> None:
    """A stream that is joined with the relation is said to come without it."""
    next(m for m in reversed(family["members"]) if m["relations"])["relations"].clear()


def _without_rows(family: dict[str, Any]) -> None:
    """As if all entries held the same row."""
    family["count"] = family["count"]["of"][-1]
    family["entries"]["formula"] = family["count"]["size"]


def _without_a_value(family: dict[str, Any]) -> None:
    """What the row was is forgotten."""
    family["stored"] = [stored for stored in family["stored"] if stored["attribute"]["source"] != "R"]


def _with_a_value_of_one(family: dict[str, Any]) -> None:
    """A value of the row is held with an equal one of a stream that need not be there."""
    kept = next(stored for stored in family["stored"] if stored["attribute"] == {"source": "R", "column": "k"})
    kept["attribute"] = {"source": "S", "column": "k"}


def _with_the_relation_twice(family: dict[str, Any]) -> None:
    next(m for m in family["members"] if m["relations"])["relations"].append("R")


def _with_no_row_given(family: dict[str, Any]) -> None:
    """One match is said to be best, whichever the row is."""
    family["count"]["of"][-1]["of"][-1].pop("fixed")


def _certified(name: str) -> tuple[Decision, dict[str, Any]]:
    decision = decided(NEEDED[name], CATALOG)
    found = bound(decision.derivation.split)
    assert found is not None and _shared(found) == {"R"}
    return decision, to_json(certificate(found, decision.query.distinct))


MUTATIONS = (
    _with_one_bringing,
    _without_rows,
    _without_a_value,
    _with_a_value_of_one,
    _with_the_relation_twice,
    _with_no_row_given,
)


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__.strip("_"))
def test_a_mutated_certificate_is_refused(mutate: Callable[[dict[str, Any]], None]) -> None:
    decision, document = _certified("limits linked by a row" if mutate is _with_no_row_given else "limits on two")
    assert not faults(decision.derivation.split, document)
    changed = copy.deepcopy(document)
    mutate(changed["branches"][0]["tables"][0])
    assert faults(decision.derivation.split, changed)
