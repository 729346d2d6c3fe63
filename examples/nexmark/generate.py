"""Write the streams of Nexmark as JSON lines, and the relations that the queries join them with.

    python examples/nexmark/generate.py --events 100000 --out data

Of 50 events, one is a person who registers, three are auctions and 46 are bids. Times rise by a fixed step, and each
file is in their order. The same numbers and seed give the same files on every machine; more events only add lines.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

Event = tuple[str, dict[str, Any]]

START = datetime(2026, 1, 1, tzinfo=UTC)
PERSONS, AUCTIONS, BIDS = 1, 3, 46
EPOCH = PERSONS + AUCTIONS + BIDS
FIRST = 1_000
"""The least number of a person and of an auction."""
OPEN_AUCTIONS, ACTIVE_PEOPLE = 100, 1_000
"""The newest auctions and persons, which events are about."""
HOT_AUCTION, HOT_SELLER, HOT_BIDDER = 2, 4, 4
"""One event in so many is about any of the newest ones, the others about one that is in favour."""
FAVOUR = 100
"""So many auctions or persons have one in favour."""
CATEGORIES = {10: "art", 11: "books", 12: "cars", 13: "dolls", 14: "engines"}
STATES = {
    "AZ": ("Phoenix",), "CA": ("Los Angeles", "San Francisco"), "ID": ("Boise",), "OR": ("Portland", "Bend"),
    "WA": ("Redmond", "Seattle"), "WY": ("Cheyenne",),
}  # fmt: skip
FIRST_NAMES = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
LAST_NAMES = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
OTHER_CHANNELS = 10_000
SIDE_INPUT = 10_000


def events(number: int, seed: int, step: timedelta) -> Iterator[Event]:
    """So many events: the stream's name and the row, in order of time."""
    for i in range(number):
        chance = random.Random(f"{seed} {i}")  # of its own, so that an event does not depend on those before it
        epoch, place = divmod(i, EPOCH)
        persons = epoch * PERSONS + min(place + 1, PERSONS)
        auctions = epoch * AUCTIONS + min(max(place + 1 - PERSONS, 0), AUCTIONS)
        time = START + i * step
        if place < PERSONS:
            yield "person", person(FIRST + persons - 1, time, chance)
        elif place < PERSONS + AUCTIONS:
            yield "auction", auction(FIRST + auctions - 1, persons, time, step, chance)
        else:
            yield "bid", bid(auctions, persons, time, chance)


def person(number: int, time: datetime, chance: random.Random) -> dict[str, Any]:
    """A person who registers."""
    state = chance.choice(tuple(STATES))
    first, last = chance.choice(FIRST_NAMES), chance.choice(LAST_NAMES)
    return {
        "id": number,
        "name": f"{first} {last}",
        "emailAddress": f"{first}.{last}{number}@example.com".lower(),
        "creditCard": " ".join(f"{chance.randrange(10_000):04}" for _ in range(4)),
        "city": chance.choice(STATES[state]),
        "state": state,
        "dateTime": written(time),
        "extra": text(chance, 20),
    }


def auction(number: int, persons: int, time: datetime, step: timedelta, chance: random.Random) -> dict[str, Any]:
    """An auction that begins; it lasts until some hundred auctions later."""
    initial = price(chance)
    lasts = step * EPOCH * chance.randint(1, 2 * OPEN_AUCTIONS // AUCTIONS)
    return {
        "id": number,
        "itemName": text(chance, 10),
        "description": text(chance, 30),
        "initialBid": initial,
        "reserve": initial + price(chance),
        "dateTime": written(time),
        "expires": written(time + lasts),
        "seller": one_of(persons, ACTIVE_PEOPLE, HOT_SELLER, chance),
        "category": chance.choice(tuple(CATEGORIES)),
        "extra": text(chance, 20),
    }


def bid(auctions: int, persons: int, time: datetime, chance: random.Random) -> dict[str, Any]:
    """A bid; half of them come through one of four channels, and the others say theirs in the address."""
    number = chance.randrange(OTHER_CHANNELS)
    channel = chance.choice(CHANNELS) if chance.random() < 0.5 else f"channel-{number}"
    folders = "/".join(text(chance, 4).strip() for _ in range(3))
    told = f"&channel_id={number}" if channel not in CHANNELS and chance.random() < 0.9 else ""
    return {
        "auction": one_of(auctions, OPEN_AUCTIONS, HOT_AUCTION, chance),
        "bidder": one_of(persons, ACTIVE_PEOPLE, HOT_BIDDER, chance),
        "price": price(chance),
        "channel": channel,
        "url": f"https://www.nexmark.com/{folders}/item.htm?query=1{told}",
        "dateTime": written(time),
        "extra": text(chance, 20),
    }


def one_of(known: int, newest: int, favour: int, chance: random.Random) -> int:
    """The number of one of the newest of those that are known: mostly of the one in favour."""
    last = FIRST + known - 1
    if chance.randrange(favour):
        return max(FIRST, last // FAVOUR * FAVOUR)
    return chance.randint(max(FIRST, last - newest), last)


def price(chance: random.Random) -> int:
    """A price in cents: from one to a million dollars, as many in each power of ten."""
    return round(10 ** (chance.random() * 6) * 100)


def text(chance: random.Random, length: int) -> str:
    """Some letters."""
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=length))


def written(time: datetime) -> str:
    """A time as JSON has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def write(folder: Path, number: int, seed: int, step: timedelta) -> dict[str, int]:
    """Write a file for each stream and relation; how many rows each has."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("bid", "auction", "person", "side_input", "category")
    rows = dict.fromkeys(names, 0)
    files = {name: (folder / f"{name}.jsonl").open("w", encoding="utf-8", newline="\n") for name in names}
    static = [("side_input", {"key": key, "value": f"side {key}"}) for key in range(SIDE_INPUT)]
    static += [("category", {"id": key, "name": name}) for key, name in CATEGORIES.items()]
    try:
        for name, row in chain(static, events(number, seed, step)):
            files[name].write(json.dumps(row) + "\n")
            rows[name] += 1
    finally:
        for file in files.values():
            file.close()
    return rows


def main() -> None:
    """Read the arguments and write."""
    parser = argparse.ArgumentParser(description="Write the streams of Nexmark as JSON lines.")
    parser.add_argument("--events", type=int, default=50_000, help="persons, auctions and bids together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=10_000, help="events per second of their time")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data")
    given = parser.parse_args()
    rows = write(given.out, given.events, given.seed, timedelta(seconds=1) / given.rate)
    print(f"wrote {', '.join(f'{number} {name}' for name, number in rows.items())} to {given.out}")


if __name__ == "__main__":
    main()
