"""Derivations of each kind: every rewrite, count and window; what is falsified in one is not accepted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from streambound.analyzer.catalog import Catalog, catalog_from_mapping
from streambound.api import catalog_of
from streambound.recheck.derivation.rewrites import REWRITES
from support.derivations import Derived, Outcome, checked, derived, falsified, named
from support.punctuated import auction_house

STREAM: dict[str, Any] = {
    "timestamp": "ts",
    "max_per_timestamp": 2,
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "domain": {"b": [0, 2]},
}
PAIR = {"k": "bigint", "y": "bigint"}
CATALOG = catalog_from_mapping(
    {
        "streams": {"S": STREAM, "T": STREAM},
        "relations": {
            "R": {"columns": PAIR, "changes": {"timestamp": "ts", "op": "op"}, "rows": 6},
            "V": {"columns": PAIR, "rows": 4},
        },
    }
)
GROUPS = "(SELECT b, COUNT(*) AS n FROM T GROUP BY b)"
BUCKETS = "(SELECT ts DIV 5 AS w, COUNT(*) AS n FROM {} GROUP BY ts DIV 5)"
MADE = {
    "the best time of a block": "SELECT MIN(ts) AS c FROM S WHERE v <= a",
    "different rows of one group": "SELECT DISTINCT n FROM (SELECT b, MAX(v) AS m, COUNT(*) AS n FROM S GROUP BY b) q",
    "different rows of rows that are each once": "SELECT DISTINCT n FROM (SELECT DISTINCT n, b FROM "
    "(SELECT b, COUNT(*) AS n FROM S GROUP BY b) q) p",
    "rows of groups without a partner": f"SELECT MIN(q.n) AS m FROM {GROUPS} q LEFT ANTI JOIN {GROUPS} p ON q.n < p.n",
    "the first rows": "SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC) AS n FROM S) q "
    "WHERE n <= 3",
    "ranks by time": "SELECT a FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY ts DESC) AS n FROM S) WHERE n < 3",
    "ranks of few columns": "SELECT b FROM (SELECT b, DENSE_RANK() OVER (ORDER BY v) AS n FROM S) q WHERE n <= 3",
    "the last rows": "SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS s "
    "FROM S",
    "a running sum": "SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts) AS s FROM S",
    "a range": "SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS s FROM S",
    "a row before that is near": "SELECT a FROM (SELECT a, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS l FROM S) "
    "WHERE l >= ts - 5",
    "a running sum of groups": f"SELECT w, SUM(n) OVER (ORDER BY w) AS s FROM {BUCKETS.format('S')} q",
    "all rows": "SELECT y, SUM(y) OVER (ORDER BY k DESC) AS s FROM R",
    "partitions that close": "SELECT w, RANK() OVER (PARTITION BY w ORDER BY n DESC) AS r FROM "
    "(SELECT ts DIV 10 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 10, b) q",
    "compared values": "SELECT S.b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.b > S.v)",
    "disjoint selections": "SELECT b, COUNT(*) AS n FROM (SELECT a, b FROM S WHERE b > 1 UNION ALL "
    "SELECT a, b FROM S WHERE b <= 1) q GROUP BY b",
    "rows without a partner": f"SELECT S.b FROM S LEFT JOIN {GROUPS} q ON q.b = S.b WHERE q.n IS NULL",
    "streams together": f"SELECT q.n FROM {GROUPS} q JOIN S ON q.b = S.b JOIN T ON T.a = S.a AND T.ts = S.ts",
    "hidden keys": "SELECT MAX(n) AS m FROM (SELECT COUNT(*) AS n FROM S GROUP BY ts DIV 10) q",
    "arguments of a subquery": "SELECT SUM(q.x) AS s FROM (SELECT S.v + T.v AS x FROM S JOIN T ON S.b = T.b) q",
    "cases": "SELECT b, COUNT(*) AS n FROM S WHERE CASE WHEN b > 1 THEN 'x' WHEN v IS NULL THEN 'y' END IS NOT NULL "
    "GROUP BY b",
    "late conditions": "SELECT S.b, COUNT(*) AS n FROM S JOIN T ON S.b = T.b WHERE S.b * T.b > 1 GROUP BY S.b",
    "late values": "SELECT S.b, T.v % 3 AS m FROM S JOIN T ON S.b = T.b WHERE S.b * (T.v % 3) > 1",
    "NOT IN": "SELECT a FROM S WHERE b NOT IN (SELECT b FROM T WHERE T.ts BETWEEN S.ts - 3 AND S.ts)",
    "a subquery of one row": "SELECT b, COUNT(*) AS n FROM S WHERE b > (SELECT AVG(y) FROM R) GROUP BY b",
    "groups of groups": "SELECT SUM(n) AS s FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) q",
    "sums below a join": "SELECT SUM(S.v * R.y - S.v) AS s, MIN(S.v) AS m, AVG(R.y) AS t FROM S JOIN R ON S.b = R.k",
    "sessions": "SELECT b, COUNT(*) AS n, session_window.end AS e FROM S WHERE b IS NOT NULL "
    "GROUP BY b, session_window(ts, '10 microseconds')",
    "parts": "SELECT w, COUNT(DISTINCT n) AS m FROM (SELECT ts DIV 10 AS w, b AS n FROM S UNION ALL "
    "SELECT ts DIV 10 AS w, COUNT(*) AS n FROM T GROUP BY ts DIV 10) q GROUP BY w",
    "rows beside others": "SELECT S.a, T.v, U.v AS u FROM S "
    "LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 5 "
    "LEFT JOIN T AS U ON U.a = S.b AND U.ts BETWEEN S.ts AND S.ts + 7",
    "a contradiction": "SELECT a FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.v < S.v AND T.v > S.v + 2)",
    "a recursion": "WITH RECURSIVE w(x, y) AS (SELECT k AS x, y FROM R UNION "
    "SELECT w.x, R.y FROM w JOIN R ON w.y = R.k) SELECT x, y FROM w",
    "finer buckets": "SELECT COUNT(DISTINCT w) AS n, w DIV 2 AS u FROM (SELECT ts DIV 5 AS w FROM S) GROUP BY w DIV 2",
    "neighbours": f"SELECT q.w, r.n FROM {BUCKETS.format('S')} q JOIN {BUCKETS.format('T')} r ON q.w = r.w + 1",
    "rows of a relation": "SELECT a, k FROM S JOIN (SELECT DISTINCT k FROM V) r ON r.k = S.b WHERE a IN (1, 2)",
    "groups beside a relation": f"SELECT q.n, V.y FROM {GROUPS} q JOIN V ON V.k = q.b",
    "the newest time": "SELECT S.ts, COUNT(*) AS n FROM S JOIN T ON S.a = T.a AND S.ts BETWEEN T.ts AND T.ts + 3 "
    "GROUP BY S.ts",
}
JOINED = "auction AS a JOIN bid AS b ON b.auction = a.id"
KEYED = {
    "open keys": "SELECT auction AS k, COUNT(*) AS n FROM bid GROUP BY auction",
    "rows of a block": f"SELECT a.category, b.price FROM {JOINED} WHERE b.price BETWEEN 0 AND 2",
    "groups": f"SELECT a.id, a.category, MAX(b.price) AS best FROM {JOINED} AND a.ts <= b.ts GROUP BY 1, 2",
    "groups of groups": "SELECT k, n, COUNT(*) AS m FROM (SELECT auction AS k, COUNT(*) AS n FROM bid GROUP BY 1) "
    "GROUP BY k, n",
    "an outer join": "SELECT q.id, SUM(q.price) AS total FROM (SELECT a.id, b.price FROM auction AS a "
    "LEFT JOIN bid AS b ON b.auction = a.id AND b.ts >= a.ts) AS q GROUP BY q.id",
    "distinct rows": f"SELECT DISTINCT a.id, b.bidder FROM {JOINED} WHERE b.bidder BETWEEN 0 AND 2",
    "a running total": "SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY ts) AS total FROM bid",
    "an anti join": "SELECT a.id FROM auction AS a WHERE NOT EXISTS (SELECT 1 FROM bid AS b WHERE b.auction = a.id)",
    "except": "SELECT id, category FROM auction EXCEPT SELECT auction, price FROM bid",
    "intersect": "SELECT id, category FROM auction INTERSECT SELECT auction, bidder FROM bid",
}
TRUE_TOO = (
    ("facts.", "a fact that says less, or is by more than it needs: true, and enough for what is counted"),
    ("rewrites", "a condition that is moved out of a join whose pairs are counted: they are the same pairs"),
    ("nodes.made", "another name of the same node"),
    ("nodes.call", "an aggregate of the same value"),
    ("limits", "a value above which others do not matter, where no state is smaller for that"),
    ("states.count.equal", "a column that a key among the counted ones says as well"),
)
"""Changes after which a derivation is one still, and why: what it proves is the same M."""


@cache
def statement(name: str) -> Derived:
    """A statement's derivation."""
    sql, catalog = (MADE[name], CATALOG) if name in MADE else (KEYED[name], _keyed())
    (one,) = derived(sql, catalog)
    return one


def _keyed() -> Catalog:
    found: Catalog = catalog_of(auction_house())
    return found


@pytest.mark.parametrize("name", [*MADE, *KEYED])
def test_derivations_of_each_kind_are_accepted(name: str) -> None:
    assert checked(statement(name)) == (Outcome.ACCEPTED, "")


def test_each_rewrite_and_each_window_is_of_some_statement() -> None:
    found = {name: set(_members(statement(name).document)) for name in [*MADE, *KEYED]}
    every = set[tuple[str, str]]().union(*found.values())
    assert {value for member, value in every if member == "rule"} >= REWRITES
    assert {value for member, value in every if member == "keeps"} == {"all", "first", "last", "running", "within"}
    assert {value for member, value in every if member == "rule"} >= {
        "combinations", "closed", "path", "finer", "clipped", "set", "recent", "window", "sessions", "keys", "parts",
        "whole", "results", "each key", "static", "block", "sums", "operator",
    }  # fmt: skip


def _members(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield from ((name, one) for name, one in value.items() if isinstance(one, str))
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _members(one)


def test_what_is_falsified_is_not_accepted() -> None:
    """Of each kind of member one is dropped, and changed, in the first statement that has it."""
    kinds = set[tuple[str, str]]()
    for name in [*MADE, *KEYED]:
        one = statement(name)
        for path, how, document in falsified(one.document):
            kind = named(path), how
            if kind in kinds or any(kind[0].startswith(start) for start, _ in TRUE_TOO):
                continue
            kinds.add(kind)
            outcome, _ = checked(one, document)
            assert outcome is not Outcome.ACCEPTED, f"{name}: {path} {how}"
    assert len(kinds) > 150


@pytest.mark.parametrize("name", [*MADE, *KEYED])
def test_no_false_fact_is_accepted(name: str) -> None:
    """Each number of a fact's claim, changed to one that says more."""
    one = statement(name)
    for number, fact in enumerate(one.document["facts"][:12]):
        claims = [("time", "high", -1), ("time", "low", 1), ("values", "high", -1), ("values", "low", 1)]
        for member, end, more in claims:
            if end in fact.get(member, {}):
                document = _with_end(one.document, number, member, end, more)
                assert checked(one, document)[0] is not Outcome.ACCEPTED, (number, fact, end)


def _with_end(document: Any, number: int, member: str, end: str, more: int) -> Any:
    facts = list(document["facts"])
    claim = facts[number][member]
    facts[number] = facts[number] | {member: claim | {end: claim[end] + more}}
    return document | {"facts": facts}
