"""The rules of `criteria.dataflow` beside the judge that decides: tallies of verdicts and of M, and what differs.

    .venv/bin/python tests/compare_judges.py --cases --nexmark --seeds 20

*Wrong* is what must not be: bounded by the new judge, and unbounded by a witness that the old one executed.
Exit status 1: something is wrong, or failed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import Catalog, catalog_from_mapping, load_catalog
from support.choices import Choices
from support.judges import Comparison, Outcome, compared
from support.operator_queries import in_words_of, operator_query, random_catalog

_DATA = Path(__file__).parent / "data"
_NEXMARK = Path(__file__).parents[1] / "examples" / "nexmark"
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
    catalog = load_catalog(_NEXMARK / "streams.toml")
    for file in sorted(_NEXMARK.glob("*.sql")):
        yield "nexmark", file.stem, file.read_text(), catalog


def random(first: int, seeds: int) -> Iterator[Case]:
    """Random statements of every operator."""
    for seed in range(first, first + seeds):
        choices = Choices.seeded(seed)
        catalog = catalog_from_mapping(random_catalog(choices))
        for number in range(EACH):
            text, _ = operator_query(choices)
            yield "random", f"{seed}.{number}", in_words_of(text, duckdb=False), catalog


def cases(told: argparse.Namespace) -> Iterator[Case]:
    """The statements that are asked for."""
    for file in told.file or ():
        yield from corpus(file)
    if told.cases:
        yield from corpus(_DATA / "circuits.jsonl")
        yield from corpus(_DATA / "corpus.jsonl")
    if told.nexmark:
        yield from nexmark()
    if told.seeds:
        yield from random(told.seed, told.seeds)


def arguments(about: str) -> argparse.ArgumentParser:
    """The arguments that say which statements are compared."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, action="append", help="cases in a file, one JSON object a line")
    parser.add_argument("--cases", action="store_true", help="the public cases")
    parser.add_argument("--nexmark", action="store_true", help="the queries of Nexmark")
    parser.add_argument("--seeds", type=int, default=0, help="so many catalogs of random statements")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for how long at most")
    return parser


def _shown(found: Comparison, kind: str, name: str, sql: str) -> str:
    return f"{found.outcome.value:9} {kind} {name}  old {found.old} new {found.new}\n    {' '.join(sql.split())}"


def main() -> int:
    """Compare; print what differs and the tallies."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--show", default="wrong,failed,lost,larger", help="the outcomes that are printed")
    told = parser.parse_args()
    tally, kinds, began = Counter[str](), dict[str, Counter[str]](), time.monotonic()
    for kind, name, sql, catalog in cases(told):
        for found in compared(sql, catalog):
            tally[found.outcome.value] += 1
            kinds.setdefault(kind, Counter())[found.outcome.value] += 1
            if found.outcome.value in told.show.split(","):
                print(_shown(found, kind, name, sql), flush=True)
        if time.monotonic() - began > told.seconds:
            break
    for kind, counts in sorted(kinds.items()):
        print(f"{kind:15} {dict(counts.most_common())}")
    print(f"{'all':15} {dict(tally.most_common())}  {time.monotonic() - began:.0f} s")
    return 1 if tally[Outcome.WRONG.value] or tally[Outcome.FAILED.value] else 0


if __name__ == "__main__":
    sys.exit(main())
