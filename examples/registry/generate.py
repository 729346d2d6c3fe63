"""Write the generated part of this example: streams.toml with 60 streams, and 800 queries in generated/.

    python examples/registry/generate.py

The same files come out on every machine. The queries follow what such a registry holds: correlations within a window,
look-ups of a known set of keys, counters per declared value, unions, and a few that grew too far and stand in the
baseline until somebody repairs them.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SEED = 20261
QUERIES = 800

COUNTRIES = ["AT", "BE", "CH", "DE", "DK", "ES", "FR", "IT", "NL", "PL"]
DEVICES = ["app", "desktop", "mobile"]
METHODS = ["card", "giro", "paypal", "sepa"]
SITES = ["aachen", "bremen", "celle", "dresden", "essen"]


@dataclass(frozen=True)
class Domain:
    """A team's streams: their names, their key and the relation of known keys, an enumeration, a measure."""

    team: str
    streams: tuple[str, ...]
    key: str
    known: str
    enumeration: str
    values: list[str]
    measure: str
    most: int
    more: dict[str, str]
    ranges: dict[str, list[int]]


DOMAINS = (
    Domain(
        "payments",
        ("authorizations", "captures", "refunds", "chargebacks", "payouts", "disputes", "card_blocks", "card_reissues",
         "fraud_scores", "wallet_topups", "wallet_debits", "fee_charges", "settlements", "mandates", "reversals"),
        "merchant_id", "vip_merchants", "method", METHODS, "amount_cents", 5_000_000,
        {"customer_id": "bigint", "currency_number": "int"}, {"currency_number": [1, 40]},
    ),
    Domain(
        "orders",
        ("orders_placed", "orders_cancelled", "shipments", "deliveries", "returns", "stock_moves", "price_changes",
         "promotions", "carts_abandoned", "invoices", "dunning_letters", "pick_starts", "pick_ends", "replacements",
         "backorders"),
        "order_id", "watched_orders", "country", COUNTRIES, "items", 500,
        {"customer_id": "bigint", "warehouse": "int"}, {"warehouse": [1, 20]},
    ),
    Domain(
        "clicks",
        ("page_views", "ad_impressions", "ad_clicks", "searches", "sign_ups", "logins", "logouts", "video_starts",
         "video_stops", "cart_adds", "cart_removes", "newsletter_opens", "consent_changes", "app_installs",
         "app_crashes"),
        "visitor_id", "test_visitors", "device", DEVICES, "score", 1_000,
        {"session_id": "bigint", "campaign": "int"}, {"campaign": [1, 200]},
    ),
    Domain(
        "sensors",
        ("temperatures", "pressures", "vibrations", "humidities", "flow_rates", "door_opens", "door_closes",
         "power_draws", "alarms", "acknowledgements", "calibrations", "maintenances", "firmware_updates", "heartbeats",
         "battery_levels"),
        "device_id", "critical_devices", "site", SITES, "reading", 4_000,
        {"operator_id": "bigint", "line": "int"}, {"line": [1, 12]},
    ),
)  # fmt: skip


def catalog() -> Iterator[str]:
    """The catalog's lines."""
    yield "# Written by generate.py. Sixty streams of four teams; ts is the event time in seconds since 1970."
    yield ""
    yield 'queries = ["payments/*.sql", "orders/*.sql", "clicks/*.sql", "sensors/*.sql", "generated/*/*.sql"]'
    for domain in DOMAINS:
        yield f"\n# --- {domain.team} {'-' * (110 - len(domain.team))}"
        for number, stream in enumerate(domain.streams):
            yield f"\n[streams.{stream}]"
            yield 'timestamp = "ts"'
            columns = {
                "ts": "bigint", domain.key: "bigint", domain.enumeration: "string", domain.measure: "bigint",
                "priority": "int", **domain.more, "note": "string",
            }  # fmt: skip
            yield "columns = { " + ", ".join(f'{name} = "{kind}"' for name, kind in columns.items()) + " }"
            yield f"domain.{domain.enumeration} = {_listed(domain.values)}"
            yield f"domain.{domain.measure} = [0, {domain.most}]"
            yield "domain.priority = [1, 5]"
            yield from (f"domain.{column} = {limits}" for column, limits in domain.ranges.items())
            if number % 3 == 0:
                yield f"max_per_timestamp = {20 * (number % 4 + 1)}"
        yield f"\n[relations.{domain.known}]"
        yield f'columns = {{ {domain.key} = "bigint", tier = "int" }}'
        yield "rows = 1000"


def _listed(values: list[str]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"


def query(number: int, domain: Domain, chance: random.Random) -> str:
    """One query of a team, of one of the shapes that registries are full of."""
    first, second, third = chance.sample(domain.streams, 3)
    key, kind, measure = domain.key, domain.enumeration, domain.measure
    value, other = chance.sample(domain.values, 2)
    least = chance.randrange(domain.most // 10, domain.most // 2)
    seconds = 60 * chance.choice((1, 5, 10, 15, 30))
    shapes = (
        # correlation within a window
        f"SELECT a.{key}, a.{measure}, b.{measure} AS {second}_{measure}\n"
        f"FROM {first} AS a\n"
        f"JOIN {second} AS b ON a.{key} = b.{key}\n"
        f"WHERE b.ts BETWEEN a.ts AND a.ts + {seconds}\n"
        f"  AND a.{kind} = '{value}' AND a.{measure} > {least}",
        # keys that a table lists
        f"SELECT DISTINCT k.{key}, b.priority\n"
        f"FROM {first} AS a\n"
        f"JOIN {second} AS b ON a.{key} = b.{key}\n"
        f"JOIN {domain.known} AS k ON k.{key} = a.{key}\n"
        f"WHERE a.ts > b.ts AND b.{measure} >= {least}",
        # counters per declared value
        f"SELECT a.{key}, b.{kind}\n"
        f"FROM {first} AS a, {second} AS b\n"
        f"WHERE a.ts > b.ts AND a.{kind} = b.{kind} AND b.priority <= {chance.randrange(1, 4)}",
        # a filter
        f"SELECT {key}, {measure}, note\nFROM {first}\n"
        f"WHERE {measure} >= {least} AND {kind} IN ('{value}', '{other}')",
        # an order of three events, by priority
        f"SELECT a.{key}, b.priority AS before, c.priority AS first\n"
        f"FROM {first} AS a, {second} AS b, {third} AS c\n"
        f"WHERE a.ts > b.ts AND b.ts > c.ts AND a.{kind} = b.{kind} AND b.priority > c.priority",
        # a union of two sources
        f"SELECT {key}, {kind}\nFROM {first}\nWHERE {kind} <> '{value}'\nUNION ALL\n"
        f"SELECT {key}, {kind}\nFROM {second}\nWHERE {measure} BETWEEN {least} AND {2 * least}",
        # three streams within one window
        f"SELECT a.{key}, b.{kind}, c.{measure}\n"
        f"FROM {first} AS a\n"
        f"JOIN {second} AS b ON b.{key} = a.{key} AND b.ts BETWEEN a.ts - {seconds} AND a.ts\n"
        f"JOIN {third} AS c ON c.{key} = a.{key} AND c.ts BETWEEN a.ts - {seconds} AND a.ts",
        # a threshold that another stream sets
        f"SELECT DISTINCT b.{kind}, b.priority\n"
        f"FROM {first} AS a\n"
        f"JOIN {second} AS b ON a.{kind} = b.{kind} AND a.priority > b.priority\n"
        f"WHERE a.ts > b.ts",
    )  # fmt: skip
    unbounded = f"SELECT a.{key}, b.note\nFROM {first} AS a\nJOIN {second} AS b ON a.{key} = b.{key}\nWHERE a.ts > b.ts"
    text = unbounded if number % 50 == 49 else shapes[number % len(shapes)]
    return f"-- {domain.team}: {first}, number {number}\n{text};\n"


def main() -> None:
    """Write the catalog and the queries."""
    chance = random.Random(SEED)
    (HERE / "streams.toml").write_text("\n".join(catalog()) + "\n", encoding="utf-8")
    shutil.rmtree(HERE / "generated", ignore_errors=True)
    for number in range(QUERIES):
        domain = DOMAINS[number % len(DOMAINS)]
        directory = HERE / "generated" / domain.team
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{domain.team}_{number:03d}.sql").write_text(query(number // 4, domain, chance), encoding="utf-8")


if __name__ == "__main__":
    main()
