"""Certificates of circuits: those of the corpus hold or are not known, and a wrong one is refused wherever it is."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import pytest

from streambound.analyzer.lower import Lowered, lower
from streambound.criteria.check import Checked
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.formula import evaluate
from streambound.recheck.certificates.validate import Proof
from streambound.recheck.circuits import validate
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.validate import circuit_proved
from support.circuits import certificate_of, checked_circuit, checked_once
from support.json_mutations import Change, changes
from support.lifted import CASES
from support.profiles import MORE
from support.punctuated import auction_house

KNOWN = 149
"""Cases of the corpus whose states are worked out anew."""
AT_MOST, OTHERS = 40, 5
"""Changes of a certificate that are tried, and statements that it is held against."""
S = {
    "timestamp": "ts",
    "max_per_timestamp": 3,
    "columns": {"a": "tinyint", "b": "bigint", "v": "bigint", "ts": "bigint"},
}
OPENED = [{"attributes": ["b"], "column": "kind", "value": "closed", "max_open": 7}]
CATALOG = {
    "streams": {
        "S": S,
        "T": S,
        "P": {**S, "columns": {**S["columns"], "kind": "string"}, "punctuations": OPENED},
        "E": {**S, "columns": {"a": "tinyint", "b": "tinyint", "ts": "timestamp"}},
        **auction_house()["streams"],
    },
    "relations": {
        "R": {
            "columns": {"k": "bigint", "y": "bigint"},
            "rows": 5,
            "changes": {"timestamp": "ts", "op": "op", "insert": "i", "delete": "d"},
        },
        "V": {"columns": {"k": "bigint", "y": "bigint"}, "rows": 4},
    },
}
_WINDOWS = "SELECT ts DIV 60 AS w, b, COUNT(*) AS n FROM {} GROUP BY ts DIV 60, b"
OF_EACH_KIND = {
    "groups": "SELECT a, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a",
    "groups of a join": "SELECT S.a, COUNT(*) AS n FROM S, T WHERE S.a = T.a GROUP BY S.a",
    "groups of windows": "SELECT ts DIV 60 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 60, b",
    "different arguments": "SELECT a, COUNT(DISTINCT v % 3) AS n FROM S WHERE v BETWEEN 0 AND 9 GROUP BY a",
    "groups of groups": "SELECT n, COUNT(*) AS m FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g GROUP BY n",
    "an outer join": "SELECT S.a, T.a AS x FROM S LEFT JOIN T ON S.a = T.a AND T.b = 1",
    "an outer join with alternatives": "SELECT S.a, T.a AS x FROM S FULL JOIN T ON S.a = T.a AND T.b IN (1, 2)",
    "an anti join": "SELECT S.a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts > S.ts)",
    "extrema": "SELECT S.b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.b < S.b AND T.ts <= S.ts)",
    "rows of both sides": "SELECT a FROM S EXCEPT ALL SELECT a FROM T",
    "rows of one side": "SELECT a FROM S EXCEPT SELECT a FROM T",
    "rows of buckets": "SELECT b, ts DIV 60 AS w FROM S EXCEPT ALL SELECT b, ts DIV 60 FROM T",
    "two different arguments": "SELECT COUNT(DISTINCT a) AS n, COUNT(DISTINCT a % 3) AS m FROM S WHERE a < 9",
    "the best of a join": "SELECT MIN(T.b) AS m FROM S, T WHERE T.b < S.b AND T.ts < S.ts",
    "sums of sums": "SELECT SUM(n) AS m FROM (SELECT v, COUNT(*) AS n FROM S GROUP BY v) AS g",
    "a view": (
        "SELECT S.a, w.n FROM S JOIN (SELECT b, COUNT(*) AS n FROM T WHERE b IN (2, 4) GROUP BY b) AS w ON S.a = w.b"
    ),
    "a threshold": "SELECT S.a FROM S WHERE S.v <= 3 AND S.v > (SELECT COUNT(*) AS n FROM T)",
    "a threshold of another type": "SELECT S.a FROM S WHERE S.a > (SELECT AVG(T.v) AS m FROM T)",
    "the newest row before each": (
        "SELECT S.b, (SELECT MAX(T.ts) FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 9 AND S.ts) AS m FROM S"
    ),
    "values of a join with a relation": (
        "SELECT (SELECT MIN(p.v) FROM T AS p WHERE p.a = S.a AND p.ts BETWEEN S.ts - 9 AND S.ts) AS m, V.y, "
        "(SELECT COUNT(*) FROM T AS q WHERE q.a = S.a AND q.ts = S.ts) AS n FROM S JOIN V ON V.k = S.a"
    ),
    "sums of a join with a view": (
        "SELECT SUM(S.v * w.n) AS m FROM S JOIN (SELECT a, COUNT(*) AS n FROM T GROUP BY a) AS w ON S.a = w.a"
    ),
    "NOT IN": "SELECT S.b FROM S WHERE S.a NOT IN (SELECT T.a FROM T WHERE S.ts <= T.ts + 2 AND T.ts <= S.ts + 1)",
    "a relation that changes": "SELECT S.a, R.y FROM S JOIN R ON S.a = R.k",
    "the best beside a relation that changes": "SELECT MIN(S.v) AS m FROM S JOIN R ON S.a = R.k",
    "groups of a relation that changes": "SELECT y, COUNT(*) AS n, MIN(k) AS m FROM R GROUP BY y",
    "a relation as of a time": "SELECT S.v, R.y FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts AS R ON S.v = R.k",
    "relations as of a time": (
        "SELECT S.v, R.y, T.a FROM S JOIN T ON S.a = T.a AND T.ts <= S.ts JOIN R FOR SYSTEM_TIME AS OF S.ts AS R "
        "ON S.v = R.k LEFT JOIN R FOR SYSTEM_TIME AS OF S.ts AS Q ON Q.k = R.y"
    ),
    "groups beside a relation": (
        "SELECT g.a, V.y FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g LEFT JOIN V ON g.n = V.k"
    ),
    "rows of a relation": "SELECT V.k, S.v FROM V LEFT JOIN S ON S.v = V.k AND S.v > V.y",
    "rows of a relation beside groups": (
        "SELECT V.y, g.n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g FULL JOIN V ON g.n = V.k"
    ),
    "groups of a relation's rows": (
        "SELECT V.k, COUNT(S.v) AS n, MAX(V.y) AS m FROM S FULL JOIN V ON S.v = V.k GROUP BY V.k"
    ),
    "rows of a relation that nothing equals": (
        "SELECT SUM(V.y) AS n FROM V WHERE V.k NOT IN (SELECT S.v FROM S WHERE S.b > V.y)"
    ),
    "a recursion": (
        "WITH RECURSIVE r(x, y) AS (SELECT a, b FROM E UNION SELECT r.x, E.b FROM r JOIN E ON r.y = E.a) "
        "SELECT x, y FROM r"
    ),
    "a recursion over relations": (
        "WITH RECURSIVE w(x, y) AS (SELECT S.a, R.y FROM S JOIN R ON S.a = R.k UNION "
        "SELECT R.k, S.a FROM w JOIN R ON w.y = R.y JOIN S ON S.a = w.y JOIN V ON V.k = S.a) SELECT x, y FROM w"
    ),
    "running totals and numbers": (
        "SELECT v, SUM(v) OVER (PARTITION BY a ORDER BY ts) AS s, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts) AS r, "
        "MAX(v) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING) AS m FROM S"
    ),
    "the row before": "SELECT v, LAG(v, 2) OVER (PARTITION BY a ORDER BY ts) AS l FROM S",
    "rows after": (
        "SELECT v, LEAD(v, 1, 0) OVER (PARTITION BY a ORDER BY ts, b) AS l, "
        "SUM(v) OVER (PARTITION BY a ORDER BY ts, b ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS m FROM S"
    ),
    "rows of a time": (
        "SELECT v, SUM(v) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN 9 PRECEDING AND CURRENT ROW) AS l FROM S"
    ),
    "rows before": (
        "SELECT v, SUM(v) OVER (PARTITION BY a ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS l FROM S"
    ),
    "the first rows": (
        "SELECT b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY v DESC) AS r FROM S) AS t WHERE r <= 3"
    ),
    "the first groups": (
        "SELECT w, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY w ORDER BY n DESC) AS r "
        f"FROM ({_WINDOWS.format('S')}) AS g) AS t WHERE r <= 3"
    ),
    "truths of rows of one side": (
        "SELECT BOOL_OR(c > 2) AS m FROM (SELECT a AS c FROM S EXCEPT ALL SELECT a FROM T) AS d"
    ),
    "truths of rows that have a partner": (
        "SELECT S.a, BOOL_OR(S.v > 5) AS m FROM S WHERE EXISTS "
        "(SELECT 1 FROM T WHERE T.b = S.b AND T.ts BETWEEN S.ts - 5 AND S.ts) GROUP BY S.a"
    ),
    "groups of rows with their windows": (
        "SELECT w, a, COUNT(*) AS n FROM (SELECT window(ts, '10 seconds') AS w, * FROM E WHERE b > 2) AS e "
        "GROUP BY w, a HAVING COUNT(*) > 2"
    ),
    "groups of rows beside others": (
        "SELECT a, SUM(l) AS n, COUNT(DISTINCT a % 3) AS m "
        "FROM (SELECT *, LAG(v) OVER (PARTITION BY a ORDER BY ts) AS l FROM S) AS x GROUP BY a"
    ),
    "sessions": (
        "SELECT a, session_window(ts, INTERVAL 5 SECONDS) AS w, COUNT(*) AS n FROM E "
        "GROUP BY a, session_window(ts, INTERVAL 5 SECONDS)"
    ),
    "days": "SELECT b, to_date(ts) AS d, COUNT(DISTINCT a) AS n FROM E GROUP BY b, to_date(ts)",
    "overlapping windows": (
        "SELECT window(ts, '10 seconds', '5 seconds') AS w, COUNT(*) AS n FROM E "
        "GROUP BY window(ts, '10 seconds', '5 seconds')"
    ),
    "the best of windows that are not shown": (
        "SELECT MAX(n) AS m, MIN(n) AS l FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY ts DIV 9, b) AS x"
    ),
    "windows joined": (
        f"SELECT x.b, y.n FROM ({_WINDOWS.format('S')}) AS x "
        f"JOIN ({_WINDOWS.format('T')}) AS y ON x.w = y.w AND x.b = y.b"
    ),
    "groups of keys that end": "SELECT b, COUNT(*) AS n, COUNT(DISTINCT a) AS m FROM P GROUP BY b",
    "rows before those of keys that end": (
        "SELECT b, LAG(v, 2) OVER (PARTITION BY a, b ORDER BY ts) AS l, SUM(v) OVER (PARTITION BY b ORDER BY ts "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS m FROM P"
    ),
    "the first rows of keys that end": (
        "SELECT b, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM P) AS t WHERE r <= 3"
    ),
    "rows of keys that end": "SELECT DISTINCT b, a FROM P",
    "keys that one record ends in both streams": (
        "SELECT a.id, a.category, b.price FROM auction AS a JOIN bid AS b ON b.auction = a.id "
        "WHERE b.price BETWEEN 0 AND 2"
    ),
    "groups of keys that one record ends": (
        "SELECT a.id, MAX(b.price) AS best, COUNT(*) AS n FROM auction AS a JOIN bid AS b ON b.auction = a.id "
        "AND a.ts <= b.ts GROUP BY a.id"
    ),
    "the row before in keys that end": (
        "SELECT auction, price - LAG(price) OVER (PARTITION BY auction ORDER BY ts) AS d FROM bid"
    ),
    "rows of both sides of keys that end": "SELECT id, category FROM auction INTERSECT SELECT auction, bidder FROM bid",
    "views of keys that end": (
        "SELECT q.auction, q.n, p.least FROM (SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction) AS q "
        "JOIN (SELECT id, MIN(category) AS least FROM auction GROUP BY id) AS p ON p.id = q.auction"
    ),
    "results that are tested late": "SELECT S.b, S.a + T.a AS x FROM S, T WHERE S.ts > T.ts AND S.v * T.a > 3",
    "groups of results that are tested late": (
        "SELECT S.a, COUNT(*) AS n, MAX(T.a) AS m FROM S JOIN T ON S.ts > T.ts AND S.v * T.a > 3 GROUP BY S.a"
    ),
    "different results that are tested late": "SELECT DISTINCT T.a FROM S, T WHERE S.ts > T.ts AND S.v * T.a > 3",
    "a test of different values": "SELECT T.a, COUNT(*) AS n FROM S, T WHERE S.ts > T.ts AND S.v <> T.a GROUP BY T.a",
    "times in windows": (
        "SELECT S.ts DIV 9 AS w, S.ts - T.ts AS d, S.a, COUNT(*) AS n FROM S JOIN T "
        "ON S.ts > T.ts AND S.ts < T.ts + 9 GROUP BY S.ts DIV 9, S.ts - T.ts, S.a"
    ),
    "different groups": "SELECT DISTINCT n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g",
}


def certified(sql: str, catalog: Any) -> tuple[Checked, Any]:
    """A bounded statement, with its certificate as a reader of the report gets it."""
    checked = checked_once(sql, catalog)
    assert checked.verdict == "bounded"
    return checked, certificate_of(checked)


def proof(checked: Checked, document: Any) -> Proof:
    assert checked.catalog is not None
    return circuit_proved(checked.statement, checked.catalog, document)


@pytest.mark.xdist_group("corpus")
def test_certificates_of_the_corpus_hold_or_are_not_known() -> None:
    found: Counter[str] = Counter()
    for case in CASES:
        checked = checked_once(case["sql"], case["catalog"])
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
    if change.path == ("counts",) and change.what == "without an entry":
        return True  # the rows themselves are as few
    evidence = change.path[:1] in (("blocks",), ("counts",)) and "tables" in change.path
    if change.key in ("formula", "size", "values"):
        try:
            return evaluate(_value(old, change), {}) == evaluate(_value(new, change), {})
        except RejectedError:
            return False
    return evidence and bool({"count", "stored", "ages", "bytes", "relations"} & {*change.path})


def _some(document: Any, kind: str) -> Iterator[tuple[Change, Any]]:
    """Changes of a certificate, at random: of each sort at members of each name one, since some have hundreds.

    What is left out of one statement's certificate is tried in those of others, which have members of the same names.
    """
    every, seen = list(changes(document)), Counter[tuple[str, str]]()
    Random(kind).shuffle(every)
    for change, changed in every:
        if seen[change.what, change.place] < MORE and seen.total() < AT_MOST * MORE:
            seen[change.what, change.place] += 1
            yield change, changed


@pytest.mark.parametrize("kind", OF_EACH_KIND)
def test_every_change_is_refused_or_proves_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checked, document = certified(OF_EACH_KIND[kind], CATALOG)
    assert checked.catalog is not None
    lowered = [lower(checked.statement, checked.catalog, one) for one in (False, True)]
    monkeypatch.setattr(validate, "lower", lambda _, __, joining: lowered[joining])  # of each certificate the same
    before = proof(checked, document)
    assert before.faults == ()
    assert before.entries is not None
    refused = accepted = 0
    for change, changed in _some(document, kind):
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


def test_a_certificate_is_not_that_of_another_query(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {kind: certified(sql, CATALOG) for kind, sql in OF_EACH_KIND.items()}
    statements = {id(checked.statement): checked for checked, _ in found.values()}

    @cache
    def lowered(statement: int, joining: bool) -> Lowered:
        checked = statements[statement]
        assert checked.catalog is not None
        return lower(checked.statement, checked.catalog, joining)

    monkeypatch.setattr(validate, "lower", lambda statement, _, joining: lowered(id(statement), joining))
    for kind, (_, document) in found.items():
        others = [other for name, (other, _) in found.items() if name != kind]
        others = Random(kind).sample(others, min(OTHERS * MORE, len(others)))
        assert not any(_is_accepted(other, document) for other in others), kind


def _is_accepted(checked: Checked, document: dict[str, Any]) -> bool:
    """Whether a certificate is; one without the states of keys that end leaves statements that need these unread."""
    try:
        return not proof(checked, document).faults
    except NotRecheckedError:
        return False


def test_groups_without_a_number_are_never_accepted() -> None:
    """The certificate of ``GROUP BY a``, for a column that nothing bounds."""
    _, document = certified("SELECT a, COUNT(*) AS n FROM S GROUP BY a", CATALOG)
    wide = {"streams": {"S": {**S, "columns": {**S["columns"], "a": "bigint"}}}}
    other = checked_circuit("SELECT a, COUNT(*) AS n FROM S GROUP BY a", wide)
    assert other.verdict == "unbounded"
    assert proof(other, document).faults


@pytest.mark.parametrize(
    "shown", ["a, MIN(b) AS m", "MIN(b) AS m, SUM(v) AS n", "COUNT(DISTINCT a) AS m", "a, COUNT(*) AS n"]
)
def test_groups_of_what_never_has_a_row(shown: str) -> None:
    group = " GROUP BY a" if shown.startswith("a") else ""
    checked, document = certified(f"SELECT {shown} FROM S WHERE ts IS NULL AND a > 1{group}", CATALOG)
    assert proof(checked, document).faults == ()
