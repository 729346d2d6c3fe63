"""Certificates of circuits: those of the corpus hold or are not known, and a wrong one is refused wherever it is."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest

from streambound.criteria.certificate import to_json
from streambound.criteria.check import Checked
from streambound.criteria.operators.certificate import circuit_certificate
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.formula import evaluate
from streambound.recheck.certificates.validate import Proof
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.validate import circuit_proved
from support.circuits import checked_circuit
from support.json_mutations import Change, changes
from support.lifted import CASES

KNOWN = 95
"""Cases of the corpus whose states are worked out anew."""
S = {
    "timestamp": "ts",
    "max_per_timestamp": 3,
    "columns": {"a": "tinyint", "b": "bigint", "v": "bigint", "ts": "bigint"},
}
CATALOG = {"streams": {"S": S, "T": S}}
OF_EACH_KIND = {
    "groups": "SELECT a, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a",
    "groups of a join": "SELECT S.a, COUNT(*) AS n FROM S, T WHERE S.a = T.a GROUP BY S.a",
    "groups of windows": "SELECT ts DIV 60 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 60, b",
    "different arguments": "SELECT a, COUNT(DISTINCT v % 3) AS n FROM S WHERE v BETWEEN 0 AND 9 GROUP BY a",
    "groups of groups": "SELECT n, COUNT(*) AS m FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g GROUP BY n",
    "an outer join": "SELECT S.a, T.a AS x FROM S LEFT JOIN T ON S.a = T.a AND T.b = 1",
    "an anti join": "SELECT S.a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts > S.ts)",
    "extrema": "SELECT S.b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.b < S.b AND T.ts <= S.ts)",
    "rows of both sides": "SELECT a FROM S EXCEPT ALL SELECT a FROM T",
    "rows of one side": "SELECT a FROM S EXCEPT SELECT a FROM T",
}


def certified(sql: str, catalog: Any) -> tuple[Checked, Any]:
    """A bounded statement, with its certificate as a reader of the report gets it."""
    checked = checked_circuit(sql, catalog)
    assert checked.circuit is not None
    assert checked.verdict == "bounded"
    return checked, to_json(circuit_certificate(checked.circuit))


def proof(checked: Checked, document: Any) -> Proof:
    assert checked.catalog is not None
    return circuit_proved(checked.statement, checked.catalog, document)


def test_certificates_of_the_corpus_hold_or_are_not_known() -> None:
    found: Counter[str] = Counter()
    for case in CASES:
        checked = checked_circuit(case["sql"], case["catalog"])
        if checked.verdict != "bounded" or checked.circuit is None:
            continue
        checked, document = certified(case["sql"], case["catalog"])
        try:
            assert proof(checked, document).faults == (), case["sql"]
            found["holds"] += 1
        except NotRecheckedError:
            found["not known"] += 1
    assert found["holds"] >= KNOWN, found


def _value(document: Any, change: Change) -> Any:
    for key in change.path:
        document = document[key]
    return document


def _is_true(change: Change, old: Any, new: Any) -> bool:
    """Whether a change of a certificate makes it say nothing that is false; its M is compared beside."""
    if change.what == "in another order" or change.key in ("name", "block", "state"):
        return True
    evidence = change.path[:1] in (("blocks",), ("counts",)) and "tables" in change.path
    if change.key in ("formula", "size", "values"):
        try:
            return evaluate(_value(old, change), {}) == evaluate(_value(new, change), {})
        except RejectedError:
            return False
    return evidence and bool({"count", "stored", "ages", "bytes"} & {*change.path})


@pytest.mark.parametrize("kind", OF_EACH_KIND)
def test_every_change_is_refused_or_proves_the_same(kind: str) -> None:
    checked, document = certified(OF_EACH_KIND[kind], CATALOG)
    before = proof(checked, document)
    assert before.faults == ()
    assert before.entries is not None
    refused = accepted = 0
    for change, changed in changes(document):
        after = proof(checked, changed)
        if after.faults:
            refused += 1
            continue
        accepted += 1
        assert after.entries is not None
        assert after.entries.same(before.entries), change
        assert _is_true(change, document, changed), (change, _value(document, change), _value(changed, change))
    assert refused > 3 * accepted
    assert refused > 20


@pytest.mark.parametrize("member", ["blocks", "counts", "states"])
def test_what_is_left_out_is_missed(member: str) -> None:
    sql = "SELECT S.a, COUNT(*) AS n FROM S, T WHERE S.a = T.a AND T.a < 9 GROUP BY S.a"
    checked, document = certified(sql, CATALOG)
    assert document[member]
    for place in range(len(document[member])):
        less = copy.deepcopy(document)
        del less[member][place]
        assert proof(checked, less).faults


def test_a_certificate_is_not_that_of_another_query() -> None:
    for kind, sql in OF_EACH_KIND.items():
        _, document = certified(sql, CATALOG)
        others = [certified(other, CATALOG)[0] for name, other in OF_EACH_KIND.items() if name != kind]
        assert all(proof(other, document).faults for other in others), kind


def test_groups_without_a_number_are_never_accepted() -> None:
    """The certificate of ``GROUP BY a``, for a column that nothing bounds."""
    _, document = certified("SELECT a, COUNT(*) AS n FROM S GROUP BY a", CATALOG)
    wide = {"streams": {"S": {**S, "columns": {**S["columns"], "a": "bigint"}}}}
    other = checked_circuit("SELECT a, COUNT(*) AS n FROM S GROUP BY a", wide)
    assert other.verdict == "unbounded"
    assert proof(other, document).faults
