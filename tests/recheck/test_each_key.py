"""Certificates of states that are kept for each key that is open (K3): those that hold, and queries of several keys."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.lower import lower
from streambound.recheck.certificates.reading_claims import read_as
from streambound.recheck.circuits.claims import ClaimedCircuit, NotRecheckedError
from streambound.recheck.circuits.each_key import of_each_key
from streambound.recheck.circuits.evidence import Evidence
from streambound.recheck.circuits.rules import RULES
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.view import NOTHING_KNOWN
from support.circuits import certificate_of, checked_circuit, proof_of
from support.punctuated import auction_house

BLOCK = "auction AS a JOIN bid AS b ON b.auction = a.id"
VIEWS = (
    "(SELECT auction AS k, COUNT(*) AS n FROM bid GROUP BY auction) AS q "
    "{} JOIN (SELECT id AS k, MIN(category) AS c FROM auction GROUP BY id) AS p ON q.k = p.k{}"
)
HOLD = {
    "tables": f"SELECT a.category, b.price FROM {BLOCK} WHERE b.price BETWEEN 0 AND 2",
    "one row": f"SELECT a.id, a.seller, b.price FROM {BLOCK} AND a.ts <= b.ts",
    "groups": f"SELECT a.id, a.category, MAX(b.price) AS best FROM {BLOCK} AND a.ts <= b.ts GROUP BY 1, 2",
    "groups of groups": "SELECT k, n, COUNT(*) AS m FROM (SELECT auction AS k, COUNT(*) AS n FROM bid GROUP BY 1) "
    "GROUP BY k, n",
    "groups of a block's groups": "SELECT q.category, COUNT(*) AS n FROM (SELECT a.id, a.category, COUNT(*) AS m "
    f"FROM {BLOCK} AND a.ts <= b.ts GROUP BY 1, 2) AS q GROUP BY q.category",
    "the best of groups": "SELECT k, MAX(n) AS most FROM (SELECT auction AS k, bidder, COUNT(*) AS n FROM bid "
    "WHERE bidder IN (1, 2) GROUP BY 1, 2) GROUP BY k",
    "groups of an outer join": "SELECT q.id, SUM(q.price) AS total FROM (SELECT a.id, b.price FROM "
    f"{BLOCK.replace('JOIN', 'LEFT JOIN')} AND b.ts >= a.ts) AS q GROUP BY q.id",
    "distinct rows": f"SELECT DISTINCT a.id, b.bidder FROM {BLOCK} WHERE b.bidder BETWEEN 0 AND 2",
    "the best": "SELECT id, seller, price FROM (SELECT a.id, a.seller, b.price, ROW_NUMBER() OVER (PARTITION BY a.id "
    f"ORDER BY b.price DESC, b.ts) AS place FROM {BLOCK} AND b.ts >= a.ts) WHERE place <= 1",
    "a running total": "SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY ts) AS total FROM bid",
    "the row before": "SELECT auction, price - LAG(price) OVER (PARTITION BY auction ORDER BY ts) AS more FROM bid",
    "rows before": "SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY ts ROWS BETWEEN 3 PRECEDING AND "
    "1 PRECEDING) AS s FROM bid",
    "anti join": "SELECT a.id FROM auction AS a WHERE NOT EXISTS (SELECT 1 FROM bid AS b WHERE b.auction = a.id)",
    "outer join": f"SELECT a.id, b.price FROM {BLOCK.replace('JOIN', 'FULL JOIN')} AND b.price IN (1, 2)",
    "except": "SELECT id, category FROM auction EXCEPT SELECT auction, price FROM bid",
    "intersect": "SELECT id, category FROM auction INTERSECT SELECT auction, bidder FROM bid",
    "views": f"SELECT q.k, q.n, p.c FROM {VIEWS.format('', '')}",
    "using": "SELECT a.id, b.price FROM (SELECT id, seller FROM auction) AS a "
    "JOIN (SELECT auction AS id, price FROM bid WHERE price BETWEEN 0 AND 2) AS b USING (id)",
}
SEVERAL = {
    "no keys": f"SELECT COUNT(*) AS n FROM {BLOCK}",
    "groups by another column": f"SELECT a.category, COUNT(*) AS n FROM {BLOCK} GROUP BY a.category",
    "another equality": "SELECT a.id FROM auction AS a JOIN bid AS b ON b.bidder = a.id",
    "no equality": "SELECT a.id FROM auction AS a JOIN bid AS b ON b.auction <= a.id",
    "a key and one more": "SELECT a.id FROM auction AS a JOIN bid AS b ON b.auction = a.id + 1",
    "distinct rows without it": "SELECT DISTINCT price FROM bid",
    "rows of other columns": "SELECT id, seller FROM auction EXCEPT SELECT bidder, price FROM bid",
    "partitions by another column": "SELECT auction, SUM(price) OVER (PARTITION BY bidder ORDER BY ts) AS s FROM bid",
    "one of two partitions": "SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY ts) AS s, "
    "SUM(price) OVER (PARTITION BY bidder ORDER BY ts) AS t FROM bid",
    "an anti join by another column": "SELECT a.id FROM auction AS a WHERE NOT EXISTS "
    "(SELECT 1 FROM bid AS b WHERE b.bidder = a.id)",
    "views by other columns": f"SELECT q.k, p.c FROM {VIEWS.format('', '').replace('q.k = p.k', 'q.n = p.k')}",
    "groups by what an outer join pads": f"SELECT p.k, COUNT(*) AS n FROM {VIEWS.format('LEFT', ' GROUP BY p.k')}",
    "a sum of groups": f"SELECT MAX(n) AS m FROM (SELECT a.id, COUNT(*) AS n FROM {BLOCK} GROUP BY a.id)",
}


def _each_key(sql: str) -> None:
    """Whether a query is one for each key, whatever is kept for it; raises NotRecheckedError for others."""
    checked = checked_circuit(sql, auction_house())
    assert checked.catalog is not None
    statement, lowered = checked.statement, lower(checked.statement, checked.catalog)
    assert lowered.tree is not None
    assert lowered.positions is not None
    blocks = BlockReader(lowered.positions, checked.catalog, "", statement.span, lowered.queries)
    nothing: dict[str, Any] = {"version": 1, "states": [], "blocks": [], "counts": []}
    evidence = Evidence(read_as(ClaimedCircuit, {**nothing, "entries": {"formula": "0", "value": 0}}))
    of_each_key(lowered.tree, lambda *_: NOTHING_KNOWN, States(RULES, checked.catalog, blocks, evidence))


@pytest.mark.parametrize("name", HOLD)
def test_certificates_hold(name: str) -> None:
    checked = checked_circuit(HOLD[name], auction_house())
    document = certificate_of(checked)
    assert {state["proposition"] for state in document["states"]} & {"K1", "K3"}
    proof = proof_of(checked, document)
    assert proof.faults == ()
    assert checked.circuit_bound is not None
    assert proof.entries is not None
    assert proof.entries.most == checked.circuit_bound.entries.value


@pytest.mark.parametrize("name", SEVERAL)
def test_queries_of_several_keys_are_not_known(name: str) -> None:
    with pytest.raises(NotRecheckedError):
        _each_key(SEVERAL[name])


@pytest.mark.parametrize("name", [name for name in HOLD if name not in ("groups of a block's groups", "using")])
def test_others_are_of_each_key(name: str) -> None:
    _each_key(HOLD[name])


def test_rows_of_an_auction_are_one_only_where_that_is_promised() -> None:
    document = certificate_of(checked_circuit(HOLD["one row"], auction_house()))
    checked = checked_circuit(HOLD["one row"], auction_house(once=False))
    assert "there is more than one value of what is counted as one" in proof_of(checked, document).faults[0]


@pytest.mark.parametrize("place", [0, 1])
def test_columns_of_several_rows_are_not_one(place: int) -> None:
    """``one`` is said of the key, or of a stream that has one row of it, and of no other column."""
    checked = checked_circuit(HOLD["tables"], auction_house(once=False))
    document = certificate_of(checked)
    changed = copy.deepcopy(document)
    table = changed["blocks"][0]["branches"][0]["tables"][place]
    source = table["streams"][0]
    table["count"] = {"rule": "one", "size": "1", "attributes": [s["attribute"] for s in table["stored"]]}
    assert proof_of(checked, changed).faults
    table["count"]["source"] = source
    assert proof_of(checked, changed).faults
    assert proof_of(checked, document).faults == ()
