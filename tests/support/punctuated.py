"""A stream of bids whose auctions end by punctuations, and a naive model of which of its rows count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

Row = dict[str, Any]
COLUMNS = {"auction": "bigint", "bidder": "bigint", "price": "bigint", "kind": "string", "ts": "bigint"}


def bids(max_open: int | None = 4, **more: Any) -> dict[str, Any]:
    """The catalog of a stream of bids; ``more`` is declared of it."""
    promise: dict[str, Any] = {"attributes": ["auction"], "column": "kind", "value": "closed"}
    promise |= {} if max_open is None else {"max_open": max_open}
    return {"streams": {"bid": {"timestamp": "ts", "columns": COLUMNS, "punctuations": [promise], **more}}}


def auctions(seed: int, most: int = 4, number: int = 60, late: bool = True) -> list[Row]:
    """Rows in order of time: at most so many auctions are open after any timestamp; some rows come too late.

    An auction may be NULL. One that is over never comes again, but for late rows soon after; some end without a row.
    """
    random, open_now, last, fresh = Random(seed), list[int | None](), list[int | None](), 0
    found: list[Row] = []
    names = [None if place == 7 else place for place in range(4 * number)]
    for now in range(0, 2 * number, 2):
        for _ in range(random.choice((0, 1, 1, 2, 3))):
            if len(open_now) < most and (not open_now or random.random() < 0.4):
                open_now.append(names[fresh])
                fresh += 1
            if late and last and random.random() < 0.15:
                found.append(bid(random, random.choice(last), now))
            found.append(bid(random, random.choice(open_now), now))
        if open_now and random.random() < 0.35:
            over = open_now.pop(random.randrange(len(open_now)))
            last = [*last, over][-2:]
            found.insert(len(found) - random.randrange(2) if found else 0, end(over, now))
        if random.random() < 0.1:  # that nobody has bid for
            found.append(end(names[fresh], now))
            last, fresh = [*last, names[fresh]][-2:], fresh + 1
    return sorted(found, key=lambda row: int(row["ts"]))


def bid(random: Random, auction: int | None, now: int) -> Row:
    """A row."""
    price = random.choice([None, *range(-2, 5)])
    return {"auction": auction, "bidder": random.choice([None, 0, 1, 2]), "price": price, "kind": "bid", "ts": now}


def end(auction: int | None, now: int) -> Row:
    """A punctuation."""
    return {"auction": auction, "bidder": None, "price": None, "kind": "closed", "ts": now}


def counted(rows: Sequence[Row], remembered: int | None = 4) -> tuple[list[Row], list[Row], dict[int, list[Any]]]:
    """The rows that count, those that come after their punctuation, and which auctions end at which timestamp.

    Only of the ``remembered`` auctions that have ended last it is known that they have; None: of none.
    """
    good, bad, ended = list[Row](), list[Row](), list[Any]()
    ends: dict[int, list[Any]] = {}
    for now in sorted({row["ts"] for row in rows}):
        mine = [row for row in rows if row["ts"] == now]
        for row in (row for row in mine if row["kind"] != "closed"):
            (bad if row["auction"] in ended else good).append(row)
        over = {row["auction"] for row in mine if row["kind"] == "closed"}
        ends[now] = sorted(over, key=lambda one: (one is not None, one or 0))
        ended += [one for one in ends[now] if one not in ended]
        ended = ended[-remembered:] if remembered else []
    return good, bad, ends


def plain(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """The values of rows, in an order."""
    return sorted((tuple(row.values()) for row in rows), key=repr)


# --- a key in two streams -------------------------------------------------------------------------------------------

OFFERS = {"id": "bigint", "seller": "bigint", "category": "bigint", "kind": "string", "ts": "bigint"}
OFFERED_BIDS = {"auction": "bigint", "bidder": "bigint", "price": "bigint", "ts": "bigint"}


def auction_house(max_open: int | None = 4, once: bool = True) -> dict[str, Any]:
    """The catalog of auctions and bids; a record of an auction ends it in both streams."""
    promise: dict[str, Any] = {"attributes": ["id"], "column": "kind", "value": "closed", "ends": {"bid": ["auction"]}}
    promise |= {} if max_open is None else {"max_open": max_open}
    promise |= {"once": ["auction"]} if once else {}
    offers = {"timestamp": "ts", "columns": OFFERS, "domain": {"category": [0, 2]}, "punctuations": [promise]}
    return {"streams": {"auction": offers, "bid": {"timestamp": "ts", "columns": OFFERED_BIDS}}}


def offers(seed: int, most: int = 4, number: int = 40, late: bool = True) -> dict[str, list[Row]]:
    """Rows of both streams: at most so many auctions are open after any timestamp; some rows are too late or too many.

    Auctions come before, between or after their bids, or not at all, and so do bids; an auction may be NULL.
    """
    random, open_now, last, fresh = Random(seed), list[int | None](), list[int | None](), 0
    found: dict[str, list[Row]] = {"auction": [], "bid": []}
    had = set[int | None]()
    for now in range(0, 2 * number, 2):
        for _ in range(random.choice((0, 1, 1, 2, 3))):
            if len(open_now) < most and (not open_now or random.random() < 0.4):
                open_now.append(None if fresh == 7 else fresh)
                fresh += 1
            key = random.choice(last) if late and last and random.random() < 0.1 else random.choice(open_now)
            if random.random() < 0.4 and (key not in had or (late and random.random() < 0.2)):
                had.add(key)
                found["auction"].append(offer(random, key, now))
            else:
                price = random.choice([None, *range(-2, 5)])
                row = {"auction": key, "bidder": random.choice([None, 0, 1, 2]), "price": price, "ts": now}
                found["bid"].append(row)
        if open_now and random.random() < 0.35:
            over = open_now.pop(random.randrange(len(open_now)))
            last = [*last, over][-2:]
            found["auction"].append({**offer(random, over, now), "kind": "closed"})
    return found


def offer(random: Random, auction: int | None, now: int) -> Row:
    """An auction."""
    seller, category = random.choice([None, 1000 + now]), random.choice([None, 0, 1, 2])
    return {"id": auction, "seller": seller, "category": category, "kind": "offer", "ts": now}


def counted_offers(
    rows: Mapping[str, Sequence[Row]], once: bool = True, remembered: int = 4
) -> tuple[dict[str, list[Row]], int, dict[int, list[Any]]]:
    """The rows of both streams that count, how many others there are, and which auctions end at which timestamp."""
    good: dict[str, list[Row]] = {"auction": [], "bid": []}
    ended, had, bad = list[Any](), set[Any](), 0
    ends: dict[int, list[Any]] = {}
    for now in sorted({row["ts"] for listed in rows.values() for row in listed}):
        mine = [row for row in rows["auction"] if row["ts"] == now]
        shown = [row for row in mine if row["kind"] != "closed"]
        for row in sorted(shown, key=lambda r: [(r[c] is not None, r[c]) for c in sorted(r)]):
            key = row["id"]
            if key in ended or (once and key in had):
                bad += 1
            else:
                good["auction"].append(row)
                had.add(key)
        for row in (row for row in rows["bid"] if row["ts"] == now):
            if row["auction"] in ended:
                bad += 1
            else:
                good["bid"].append(row)
        over = {row["id"] for row in mine if row["kind"] == "closed"}
        ends[now] = sorted(over, key=lambda one: (one is not None, one or 0))
        had -= over
        ended = [*ended, *(one for one in ends[now] if one not in ended)][-remembered:]
    return good, bad, ends
