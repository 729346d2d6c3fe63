"""Derivations of each kind: every rewrite, count and window; what is falsified in one is not accepted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from streambound.analyzer.catalog import Catalog, catalog_from_mapping
from streambound.api import catalog_of
from streambound.recheck.derivation.rewrites import REWRITES
from support.cases import read_queries
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
MADE = read_queries("derivation_kinds.sql")
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
    "distinct keys": f"SELECT a.category, COUNT(DISTINCT a.id) AS n, COUNT(*) AS m FROM {JOINED} GROUP BY a.category",
    "greatest counts": "SELECT MAX(n) AS m FROM (SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction) AS q",
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
