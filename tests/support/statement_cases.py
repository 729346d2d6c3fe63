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
