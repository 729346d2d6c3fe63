"""Statements to judge: the public cases, Nexmark's queries, and random ones of every operator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import Catalog, catalog_from_mapping, load_catalog
from support.choices import Choices
from support.operator_queries import in_words_of, operator_query, random_catalog

NEXMARK = Path(__file__).parents[2] / "examples" / "nexmark"
EACH = 20
"""Random statements of a catalog."""

Case = tuple[str, str, str, Catalog]
"""Kind, name, SQL, catalog."""


def corpus(file: Path) -> Iterator[Case]:
    """The public cases of a file."""
    for line in file.read_text().splitlines():
        case: dict[str, Any] = json.loads(line)
        kind = case.get("kind", "spj")
        yield kind, case["name"], case["sql"], catalog_from_mapping(case["catalog"], "streams.toml")


def nexmark() -> Iterator[Case]:
    """The queries of Nexmark, with its catalog."""
    catalog = load_catalog(NEXMARK / "streams.toml")
    for file in sorted(NEXMARK.glob("*.sql")):
        yield "nexmark", file.stem, file.read_text(), catalog


def random_cases(first: int, seeds: int) -> Iterator[Case]:
    """Random statements of every operator."""
    for seed in range(first, first + seeds):
        choices = Choices.seeded(seed)
        catalog = catalog_from_mapping(random_catalog(choices))
        for number in range(EACH):
            text, _ = operator_query(choices)
            yield "random", f"{seed}.{number}", in_words_of(text, duckdb=False), catalog
        moments = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "timestamp"}, "max_per_timestamp": 2}
        for number in range(EACH // 4):
            times = catalog_from_mapping({"streams": {"S": moments, "T": moments}})
            yield "buckets", f"{seed}.{number}", buckets_of_moments(choices), times


_BUCKETS = (
    ("unix_timestamp({}) DIV 60", "({}) DIV 60"),
    ("unix_timestamp({}) DIV 900", "({}) DIV 4"),
    ("unix_timestamp({})", "({}) DIV 10"),
    ("date_trunc('HOUR', {})", "date_trunc('DAY', {})"),
    ("date_trunc('MINUTE', {})", "date_trunc('QUARTER', {})"),
    ("to_date({})", "date_trunc('MONTH', {})"),
)
"""Functions of time, each with one that its periods lie within."""


def buckets_of_moments(choices: Choices) -> str:
    """A join of two streams, or groups of them, by buckets of their timestamps, which the condition may compute."""
    fine, coarse = choices.pick(_BUCKETS)
    longer, items, sources, keys = choices.chance(50), list[str](), list[str](), list[str]()
    for table in "ST":
        own, form = choices.chance(50) and longer, choices.pick(("rows", "groups", "groups"))
        bucket = coarse.format(fine.format("ts")) if own else fine.format("ts")
        rows = f"SELECT {bucket} AS w, COUNT(*) AS n FROM {table} GROUP BY {bucket}"
        of_rows = bucket.replace("ts)", f"{table}.ts)", 1)
        sources.append(f"({rows}) AS {table}" if form == "groups" else table)
        key = f"{table}.w" if form == "groups" else of_rows
        keys.append(coarse.format(key) if longer and not own else key)
        items.append(f"{table}.n" if form == "groups" else f"{table}.a")
    join, sign = choices.pick(("JOIN", "JOIN", "LEFT JOIN", "FULL JOIN", "LEFT SEMI JOIN")), choices.pick("===<>")
    shown = items[:1] if "SEMI" in join else [f"{item} AS c{n}" for n, item in enumerate(items)]
    return f"SELECT {', '.join(shown)} FROM {sources[0]} {join} {sources[1]} ON {keys[0]} {sign} {keys[1]}"
