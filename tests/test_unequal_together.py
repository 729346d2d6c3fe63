"""`a <> b` as a test where partners meet: one table instead of one for each half (docs/theory-bounds.md).

Random queries that are not split wherever they can are in `runtime/test_synopsis.py`.
"""

from __future__ import annotations

import json

import pytest

from streambound.criteria.bound import bound
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.report import proof_of
from support.against_sql import printed_as_sql_says
from support.catalogs import PLAIN, Catalog, streams, with_domain
from support.certificates import rejections
from support.choices import Choices
from support.product import decided
from support.profiles import MORE
from support.streams import adversarial_rows, small_rows

TENS = with_domain(PLAIN, "T", "a", [0, 9])
RATED: Catalog = {
    "streams": {n: {**body, "max_per_timestamp": 2} for n, body in streams(s="string")["streams"].items()}
}
WINDOW = "S.ts >= T.ts AND S.ts <= T.ts + 10"
CASES: dict[str, tuple[str, Catalog, int, int]] = {
    "one side is bounded, and the other one never waits": (
        "SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.a <> T.a", TENS, 10, 20),
    "in a window nothing need be bounded": (f"SELECT S.b FROM S, T WHERE {WINDOW} AND S.a <> T.a", RATED, 20, 40),
    "texts": (f"SELECT S.b FROM S, T WHERE {WINDOW} AND S.a = T.a AND S.s <> T.s", RATED, 20, 40),
    "two of them are not four tables": (
        f"SELECT S.b FROM S, T WHERE {WINDOW} AND S.a <> T.a AND S.s <> T.s", RATED, 20, 80),
    "of a set, too": (
        "SELECT DISTINCT T.a FROM S, T WHERE S.ts > T.ts AND S.b <> T.b AND T.b BETWEEN 0 AND 2",
        with_domain(PLAIN, "T", "a", [0, 9]), 44, 88),
    "values on both sides": (
        "SELECT T.a FROM S, T WHERE S.a <> T.a AND S.a BETWEEN 0 AND 3", TENS, 14, 14),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_hand_counted(name: str) -> None:
    sql, catalog, most, apart = CASES[name]
    decision = decided(sql, catalog)
    split = bound(decision.derivation.split)
    assert decision.bound is not None and split is not None
    assert (decision.bound.entries.value, split.entries.value) == (most, apart)
    assert not rejections(decision, decision.bound)
    printed = 0
    for seed in range(6 * MORE):
        choices = Choices.seeded(seed)
        rows = (adversarial_rows if seed % 2 else small_rows)(choices, catalog)
        ran = printed_as_sql_says(sql, decision, catalog, rows)
        printed += 0 if ran is None else ran.results
        if printed and seed >= MORE:
            return
    raise AssertionError("nothing is printed")


def test_values_that_wait_for_ever_are_split_as_before() -> None:
    """Of an extremum of a set nothing but that is kept; a bag has no bound either way."""
    sql = "SELECT {} 1 AS one FROM S, T WHERE S.ts > T.ts AND S.a <> T.a"
    kept = decided(sql.format("DISTINCT"), PLAIN)
    assert kept.verdict is Verdict.BOUNDED
    assert kept.derivation.together == kept.derivation.split
    assert decided(sql.format(""), PLAIN).verdict is Verdict.UNBOUNDED


def test_a_certificate_of_the_query_that_is_not_split_says_no_less_than_it_must() -> None:
    sql, catalog, _, _ = CASES["one side is bounded, and the other one never waits"]
    decision = decided(sql, catalog)
    assert decision.bound is not None
    text = json.dumps(to_json(certificate(decision.bound, False)))
    assert not proof_of(decision.derivation, json.loads(text)).faults
    for was, said in (('"10"', '"9"'), ("<>", "<"), ('"branch": 0', '"branch": 1')):
        assert was in text
        assert proof_of(decision.derivation, json.loads(text.replace(was, said))).faults
    document = json.loads(text)
    document["branches"][0]["tables"][0]["stored"].clear()
    assert proof_of(decision.derivation, document).faults
