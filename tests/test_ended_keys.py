"""Punctuations of keys: what they bound, and that a job drops what they end and prints what batch SQL does."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.simulate import replay
from streambound_runtime.errors import JobError
from support.circuits import (
    SEEDS,
    Circuit,
    by_tick,
    checked_circuit,
    proved,
    restarts_and_other_ticks_change_nothing,
    run_circuit,
)
from support.prefix_sql import PrefixSql, six_digits
from support.profiles import MORE
from support.punctuated import auctions, bids, counted, end

COUNTS = "SELECT auction, COUNT(*) AS n, SUM(price) AS total FROM bid GROUP BY auction"
BY_BIDDER = (
    "SELECT bidder, auction, COUNT(*) AS n, MIN(price) AS least FROM bid WHERE bidder BETWEEN 0 AND 2 GROUP BY 1, 2"
)
BEST = "SELECT auction, MAX(price) AS best FROM bid WHERE price > 0 GROUP BY auction"
DISTINCT_BIDDERS = (
    "SELECT auction, COUNT(DISTINCT bidder) AS n, AVG(price) AS mean FROM bid "
    "WHERE bidder IN (0, 1, 2) GROUP BY auction"
)
HAVING = "SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction HAVING COUNT(*) > 1"
EITHER = "SELECT auction, COUNT(*) AS n FROM bid WHERE bidder = 1 OR price > 2 GROUP BY auction"
DISTINCT = "SELECT DISTINCT auction, bidder FROM bid WHERE bidder BETWEEN 0 AND 2"
ONE_COLUMN = "SELECT DISTINCT auction FROM bid WHERE price > 0 OR bidder = 1"
SETS = [DISTINCT, ONE_COLUMN]
TWICE = f"{BEST} UNION ALL SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction"
GROUPED = [COUNTS, BY_BIDDER, BEST, DISTINCT_BIDDERS, HAVING, EITHER]


@pytest.mark.parametrize(
    ("sql", "most", "verdict", "entries"),
    [
        (COUNTS, 500, "bounded", 1500),
        (BY_BIDDER, 500, "bounded", 1000 + 1500),
        (BEST, 500, "bounded", 1500),
        (DISTINCT_BIDDERS, 500, "bounded", 1000 + 500 + 1500),
        (HAVING, 7, "bounded", 21),
        (TWICE, 500, "bounded", 2000),
        (DISTINCT, 500, "bounded", 1000 + 1500),
        (ONE_COLUMN, 500, "bounded", 1500),
        ("SELECT DISTINCT auction, price FROM bid", 500, "unbounded", None),
        ("SELECT auction, bidder, price FROM bid WHERE price > 0", 500, "bounded", 0),
        (COUNTS, None, "unbounded", None),
        (BEST, None, "unbounded", None),
        ("SELECT bidder, COUNT(*) AS n FROM bid GROUP BY bidder", 500, "unbounded", None),
        ("SELECT auction, bidder, COUNT(*) AS n FROM bid GROUP BY auction, bidder", 500, "unbounded", None),
        ("SELECT auction, COUNT(DISTINCT bidder) AS n FROM bid GROUP BY auction", 500, "unbounded", None),
        ("SELECT auction % 2 AS half, COUNT(*) AS n FROM bid GROUP BY auction % 2", 500, "bounded", 4),
        ("SELECT auction + 1 AS next, COUNT(*) AS n FROM bid GROUP BY auction + 1", 500, "unknown", None),
    ],
)
def test_verdicts(sql: str, most: int | None, verdict: str, entries: int | None) -> None:
    checked = checked_circuit(sql, bids(most))
    assert str(checked.verdict) == verdict
    bound = checked.circuit_bound or checked.bound
    assert (bound is None) == (entries is None)
    if checked.bound is not None:
        assert (checked.bound.entries.number, entries) == (0, 0)
    if checked.circuit_bound is not None:
        assert checked.circuit_bound.entries.number == entries
        assert entries is not None
        deciding = {state.proposition for state in checked.circuit_bound.states}
        assert bool({"K1", "K2"} & deciding) == (entries > 4)


def test_a_domain_may_be_smaller_than_the_number_of_open_keys() -> None:
    """Then changes need no punctuations, so that neither open nor ended keys are remembered."""
    few = bids(500, domain={"auction": [1, 9]})
    assert proved(COUNTS, few)[1] == 10, "nine values, and NULL"
    final, most = proved(f"-- streambound: emit final\n{COUNTS}", few)
    assert final.circuit is not None and most == 1010
    assert [s.size.number for s in final.circuit.states if s.proposition == "K1"] == [10]


def test_the_way_out_is_to_say_how_many_are_open() -> None:
    checked = checked_circuit(COUNTS, bids(None))
    assert checked.diagnostics[0].help.startswith("add max_open to [[streams.bid.punctuations]]")


def test_witnesses_keep_the_promise() -> None:
    """A witness has one auction, for no number of elements may have more than max_open; what needs more has none."""
    both = "SELECT auction + bidder AS x, COUNT(*) AS n FROM bid WHERE bidder = 1 GROUP BY auction + bidder"
    assert str(checked_circuit(both, bids(None)).verdict) == "unbounded"
    assert str(checked_circuit(both, bids(500)).verdict) == "unknown"
    assert str(checked_circuit(both.replace("bidder = 1", "auction = 1"), bids(500)).verdict) == "unbounded"


@pytest.mark.parametrize("sql", [*GROUPED, *SETS, TWICE])
def test_changes_are_those_of_batch_sql(sql: str) -> None:
    catalog, some = bids(), 0
    checked = checked_circuit(sql, catalog)
    assert checked.circuit_bound is not None
    for seed in range(SEEDS * MORE):
        rows = auctions(seed, number=20)
        found = run_circuit(checked, {"bid": rows})
        good, bad, _ = counted(rows)
        some += len(bad)
        assert by_tick(six_digits(found.printed), found.ends) == by_tick(
            PrefixSql(catalog).changes(sql, {"bid": good}), found.ends
        )
        assert found.peak <= (checked.circuit_bound.entries.number or 0)
        if some and seed + 1 >= MORE:
            break
    assert some > 0, "rows that come too late take part"


@pytest.mark.parametrize("sql", GROUPED)
def test_final_results_are_printed_when_their_key_is_over(sql: str) -> None:
    catalog, some = bids(), 0
    checked = checked_circuit(f"-- streambound: emit final\n{sql}", catalog)
    for seed in range(2 * MORE):
        rows = auctions(seed, number=20)
        found = run_circuit(checked, {"bid": rows}, final=True)
        good, _, ends = counted(rows)
        whole = PrefixSql(catalog).results(sql, {"bid": good})
        columns = [
            name.strip().split()[-1] for name in sql.split("SELECT ")[1].split(" FROM", maxsplit=1)[0].split(",")
        ]
        place = columns.index("auction")
        expected = Counter[tuple[Any, ...]]()
        for now, over in ends.items():
            upto = whole[max([time for time in whole if time <= now], default=min(whole))]
            for row, n in upto.items():
                if row[place] in over:
                    expected[*row, now] += n
        assert by_tick(six_digits(found.printed), found.ends) == by_tick(expected, found.ends)
        some += expected.total()
    assert some > 1


def test_only_open_keys_are_kept_however_long_it_goes_on() -> None:
    checked = checked_circuit(COUNTS, bids())
    short = run_circuit(checked, {"bid": auctions(3, number=20)}, ticks=4)
    long = run_circuit(checked, {"bid": auctions(3, number=400)}, ticks=80)
    assert len(long.printed) > 10 * len(short.printed)
    assert long.peak <= 12


def test_a_promise_without_a_number_still_drops_and_prints() -> None:
    catalog = bids(None, domain={"auction": [0, 300]})
    rows = auctions(5, late=False)
    checked, most = proved(f"-- streambound: emit final\n{COUNTS}", catalog)
    assert most == 302
    found = run_circuit(checked, {"bid": rows}, final=True)
    assert sum(found.printed.values()) > 5
    assert found.peak <= 5


def test_more_open_keys_than_promised_stop_the_run() -> None:
    rows = auctions(1, most=5, late=False)
    with pytest.raises(JobError, match=r"values of auction are open in bid, more than the catalog's max_open = 4"):
        run_circuit(checked_circuit(COUNTS, bids()), {"bid": rows})


@pytest.mark.parametrize(("sql", "mode"), [(BY_BIDDER, "changes"), (DISTINCT, "changes"), (DISTINCT_BIDDERS, "final")])
def test_restarts_and_other_steps_change_nothing(sql: str, mode: str) -> None:
    text = f"-- streambound: emit final\n{sql}" if mode == "final" else sql
    case = {"sql": text, "catalog": bids(), "mode": mode, "input": {"bid": auctions(11)}}
    restarts_and_other_ticks_change_nothing(Circuit(case, "batch"))


def test_after_many_ends_a_key_may_come_again() -> None:
    """Only the last ones are remembered: what the documentation says of keys that come again."""
    rows = [*({**end(k, k), "kind": "bid", "price": 1} for k in range(6)), *(end(k, k) for k in range(6))]
    again = [{**end(5, 9), "kind": "bid", "price": 1}, {**end(0, 9), "kind": "bid", "price": 1}]
    found = run_circuit(checked_circuit(COUNTS, bids()), {"bid": [*rows, *again]}, ticks=None)
    assert found.printed[0, 1, 1, 9] == 1, "the key 0 is a new one"
    assert not any(row[0] == 5 and row[-1] == 9 for row in found.printed), "that 5 is over is still known"


def test_a_query_that_does_not_use_punctuations_leaves_them_out() -> None:
    sql, rows = "SELECT auction, price FROM bid WHERE auction > 2", auctions(2, late=False)
    checked = checked_circuit(sql, bids())
    assert checked.decision is not None and checked.catalog is not None and str(checked.verdict) == "bounded"
    found = Counter[tuple[Any, ...]]()
    for closed in replay(job_spec(make_plan(checked.decision, checked.catalog)), {}, {"bid": rows}):
        for row, n in closed.results:
            found[*row.values(), closed.timestamp] += n
    good = [row for row in rows if row["kind"] == "bid" and (row["auction"] or 0) > 2]
    assert found == Counter((row["auction"], row["price"], row["ts"]) for row in good)
    assert len(found) > 10


def test_punctuations_of_both_sides_do_not_bound_a_join() -> None:
    """docs/theory-keys.md, "Keys that end": the witness there sends punctuations, which the search for one does not."""
    catalog = bids(1)
    catalog["streams"]["ask"] = catalog["streams"]["bid"]
    joined = "SELECT b.price FROM bid b JOIN ask a ON a.auction = b.auction WHERE b.price BETWEEN 0 AND 3"
    assert str(checked_circuit(joined, catalog).verdict) == "unknown"
