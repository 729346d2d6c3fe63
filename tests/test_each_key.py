"""Keys in several streams that one record ends (K3): verdicts, M, and jobs that print what batch SQL does."""

from __future__ import annotations

from typing import Any

import pytest

from streambound_runtime.errors import JobError
from support.circuits import (
    Circuit,
    by_tick,
    checked_circuit,
    is_bounded,
    restarts_and_other_ticks_change_nothing,
    run_circuit,
)
from support.prefix_sql import PrefixSql, six_digits
from support.profiles import MORE
from support.punctuated import auction_house, counted_offers, offers

Rows = dict[str, list[dict[str, Any]]]

BLOCK = "auction AS a JOIN bid AS b ON b.auction = a.id"
BIDS = f"SELECT a.id, a.seller, b.price FROM {BLOCK} AND a.ts <= b.ts"
OF_BOTH = f"SELECT a.category, b.price FROM {BLOCK} WHERE b.price BETWEEN 0 AND 2"
HIGHEST = f"SELECT a.id, a.category, MAX(b.price) AS best, COUNT(*) AS n FROM {BLOCK} AND a.ts <= b.ts GROUP BY 1, 2"
AVERAGE = f"SELECT q.category, AVG(q.best) AS mean, COUNT(*) AS n FROM ({HIGHEST}) AS q GROUP BY q.category"
VIEWS = (
    "WITH offered AS (SELECT id AS k, seller FROM auction WHERE category > 0), "
    "placed AS (SELECT auction AS k, price AS p FROM bid WHERE price > 0 AND auction > 2) "
    "SELECT o.k AS auction, p.p FROM offered AS o JOIN placed AS p ON o.k = p.k WHERE p.p < 3"
)
WINNER = (
    "SELECT id, seller, bidder, price FROM (SELECT a.id, a.seller, b.bidder, b.price, ROW_NUMBER() OVER "
    f"(PARTITION BY a.id ORDER BY b.price DESC, b.bidder, b.ts) AS place FROM {BLOCK} AND b.ts >= a.ts) "
    "WHERE place <= 1"
)
SEMI = "SELECT a.id, a.seller FROM auction AS a WHERE EXISTS (SELECT 1 FROM bid AS b WHERE b.auction = a.id)"
ANTI = SEMI.replace("EXISTS", "NOT EXISTS")
LEFT = "SELECT a.id, a.seller, b.price FROM auction AS a LEFT JOIN bid AS b ON b.auction = a.id AND b.ts >= a.ts"
FULL = "SELECT a.id, b.auction, b.price FROM auction AS a FULL JOIN bid AS b ON b.auction = a.id AND b.price IN (1, 2)"
RIGHT = "SELECT a.category, b.auction FROM auction AS a RIGHT JOIN bid AS b ON b.auction = a.id AND b.price > 1"
EXCEPT = "SELECT id FROM auction EXCEPT SELECT auction FROM bid"
INTERSECT = "SELECT id, category FROM auction INTERSECT SELECT auction, bidder FROM bid"
UNION = "SELECT id FROM auction UNION SELECT auction FROM bid WHERE price > 1"
DISTINCT = f"SELECT DISTINCT a.id, b.bidder FROM {BLOCK} WHERE b.bidder BETWEEN 0 AND 2"
GROUPED_VIEW = f"SELECT q.id, SUM(q.price) AS total FROM ({LEFT}) AS q GROUP BY q.id"
OF_VIEWS = (
    "SELECT q.auction, q.n, p.least FROM (SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction) AS q "
    "JOIN (SELECT id, MIN(category) AS least FROM auction GROUP BY id) AS p ON p.id = q.auction"
)
HAVING = f"SELECT a.id, COUNT(*) AS n FROM {BLOCK} GROUP BY a.id HAVING COUNT(*) > 1"
RUNNING = "SELECT auction, bidder, SUM(price) OVER (PARTITION BY auction ORDER BY ts) AS total FROM bid"
ONE_STREAM = "SELECT auction, COUNT(*) AS n, MAX(price) AS best FROM bid GROUP BY auction"
DISTINCT_KEYS = "SELECT category, COUNT(DISTINCT id) AS n, COUNT(*) AS offers FROM auction GROUP BY category"
KEYS_OF_BOTH = f"SELECT COUNT(DISTINCT a.id) AS n, AVG(DISTINCT a.id) AS mean FROM {BLOCK}"
MOST = "SELECT MAX(q.n) AS most FROM (SELECT auction, COUNT(*) AS n FROM bid WHERE price > 0 GROUP BY auction) AS q"

QUERIES = {
    "bids": (BIDS, 3),
    "of both": (OF_BOTH, 6),
    "highest": (HIGHEST, 5),
    "average": (AVERAGE, None),
    "views": (VIEWS, None),
    "winner": (WINNER, 4),
    "semi": (SEMI, 4),
    "anti": (ANTI, 4),
    "left": (LEFT, 3),
    "full": (FULL, None),
    "right": (RIGHT, None),
    "except": (EXCEPT, 3),
    "intersect": (INTERSECT, None),
    "union": (UNION, None),
    "distinct": (DISTINCT, None),
    "grouped view": (GROUPED_VIEW, None),
    "of views": (OF_VIEWS, None),
    "having": (HAVING, None),
    "one stream": (ONE_STREAM, 3),
    "running": (RUNNING, 3),
    "distinct keys": (DISTINCT_KEYS, None),
    "keys of both": (KEYS_OF_BOTH, None),
    "most": (MOST, None),
}
"""With the entries for each key that is open, where that is plain: two are to know it."""


@pytest.mark.parametrize("name", QUERIES)
def test_what_is_kept_for_each_open_key(name: str) -> None:
    sql, each = QUERIES[name]
    few, many = (checked_circuit(sql, auction_house(most)) for most in (4, 500))
    assert (str(few.verdict), str(many.verdict)) == ("bounded", "bounded")
    assert few.circuit_bound is not None and many.circuit_bound is not None
    keyed = [state for state in many.circuit_bound.states if state.proposition != "K0"]
    assert "when its key ends" in {state.freed for state in keyed}
    sizes = [found.circuit_bound.entries.number for found in (few, many) if found.circuit_bound is not None]
    if each is not None:
        assert sizes == [4 * each, 500 * each]
    assert not is_bounded(sql, auction_house(None, once=False))


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        (f"SELECT b.price FROM {BLOCK}", "unbounded"),  # the auction may come after its bids, whose prices are any
        (f"SELECT a.category, MAX(b.price) AS best FROM {BLOCK} AND a.ts <= b.ts GROUP BY a.category", "bounded"),
        (f"SELECT COUNT(*) AS n FROM {BLOCK} AND a.ts <= b.ts", "bounded"),
        ("SELECT b.bidder FROM auction AS a JOIN bid AS b ON b.bidder = a.id", "unknown"),
        ("SELECT a.id FROM auction AS a JOIN bid AS b ON b.auction <= a.id AND a.ts <= b.ts", "unknown"),
        ("SELECT DISTINCT b.price FROM bid AS b", "unbounded"),
        # one auction may have bids of any price, of which each may be the seller of an auction to come
        ("SELECT id, seller FROM auction EXCEPT SELECT bidder, price FROM bid", "unbounded"),
        ("SELECT id, seller FROM auction EXCEPT SELECT auction, price FROM bid", "unbounded"),
        ("SELECT auction, price FROM bid EXCEPT SELECT id, seller FROM auction", "unbounded"),
        (f"SELECT MAX(q.best) AS best FROM ({HIGHEST}) AS q", "bounded"),
    ],
)
def test_other_queries(sql: str, verdict: str) -> None:
    assert str(checked_circuit(sql, auction_house()).verdict) == verdict


def test_without_one_row_of_an_auction_its_columns_need_bounds() -> None:
    assert str(checked_circuit(BIDS, auction_house(once=False)).verdict) == "unbounded"
    category = BIDS.replace("a.seller", "a.category")
    checked = checked_circuit(category, auction_house(once=False))
    assert checked.circuit_bound is not None
    assert checked.circuit_bound.entries.number == 4 * (2 + 4), "three categories, and NULL"


@pytest.mark.parametrize("name", QUERIES)
def test_changes_are_those_of_batch_sql(name: str) -> None:
    sql, some, shown = QUERIES[name][0], 0, 0
    checked = checked_circuit(sql, auction_house())
    assert checked.circuit_bound is not None
    for seed in range(3 * MORE):
        rows = offers(seed)
        found = run_circuit(checked, rows)
        good, bad, _ = counted_offers(rows, once="auction" in read_by(sql))
        expected = PrefixSql(auction_house()).changes(sql, good)
        assert by_tick(six_digits(found.printed), found.ends) == by_tick(expected, found.ends)
        assert found.peak <= (checked.circuit_bound.entries.number or 0)
        some, shown = some + bad, shown + len(expected)
        if some > MORE and shown > 4 * MORE:
            break
    assert some > MORE, "rows that come too late or too often take part"
    assert shown > 4 * MORE


def read_by(sql: str) -> list[str]:
    """The streams of a query."""
    return [name for name in ("auction", "bid") if f"FROM {name}" in sql or f"JOIN {name}" in sql]


@pytest.mark.parametrize("name", ["of views"])
def test_restarts_and_other_steps_change_nothing(name: str) -> None:
    case = {"sql": QUERIES[name][0], "catalog": auction_house(), "mode": "changes", "input": offers(11, number=80)}
    restarts_and_other_ticks_change_nothing(Circuit(case, "batch"))


def test_only_open_keys_are_kept_however_long_it_goes_on() -> None:
    checked = checked_circuit(HIGHEST, auction_house())
    short, long = (run_circuit(checked, offers(3, number=number)) for number in (20, 300))
    assert len(long.printed) > 10 * len(short.printed)
    assert long.peak <= 20


def test_more_open_keys_than_promised_stop_the_run() -> None:
    """Keys of both streams count, each once."""
    rows: Rows = {"auction": [], "bid": [{"auction": k, "bidder": 0, "price": 1, "ts": k} for k in range(4)]}
    rows["auction"] = [{"id": k, "seller": 1, "category": 1, "kind": "offer", "ts": 5} for k in (0, 1)]
    assert run_circuit(checked_circuit(BIDS, auction_house()), rows, ticks=None).peak == 6
    rows["auction"].append({**rows["auction"][0], "id": 9})
    what = r"at timestamp 5 5 values of id are open in auction and bid, more than the catalog's max_open = 4"
    with pytest.raises(JobError, match=what):
        run_circuit(checked_circuit(BIDS, auction_house()), rows)
