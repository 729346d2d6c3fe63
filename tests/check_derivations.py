"""The derivations of bounded statements, public or random ones: how many are checked, and what falsified ones do.

    .venv/bin/python tests/check_derivations.py --falsify 40 --seeds 5

Falsified ones that are *accepted* are printed by what was changed: each is equivalent, as `test_derivation` says why.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support.derivations import Derived, Outcome, checked, derived, falsified, named
from support.statement_cases import Case, corpus, nexmark, random_cases

_DATA = Path(__file__).parent / "data"


def public() -> Iterator[Case]:
    """The public cases, and the queries of Nexmark."""
    yield from corpus(_DATA / "circuits.jsonl")
    yield from corpus(_DATA / "corpus.jsonl")
    yield from nexmark()


def _falsify(one: Derived, number: int, chosen: random.Random, seen: Counter[str], tally: Counter[str]) -> None:
    changes = list(falsified(one.document))
    for path, how, document in chosen.sample(changes, min(number, len(changes))):
        outcome, _ = checked(one, document)
        tally[f"falsified: {outcome.value}"] += 1
        if outcome is Outcome.ACCEPTED:
            seen[f"{named(path)} {how}"] += 1


def main() -> int:
    """Derive, check, falsify; print the tallies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--falsify", type=int, default=0, help="so many changes of each derivation that is accepted")
    parser.add_argument(
        "--seeds", type=int, default=0, help="so many catalogs of random statements, for the public ones"
    )
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    told = parser.parse_args()
    tally, why, seen, chosen = Counter[str](), Counter[str](), Counter[str](), random.Random(told.seed)
    for kind, name, sql, catalog in random_cases(told.seed, told.seeds) if told.seeds else public():
        for one in derived(sql, catalog):
            outcome, words = checked(one)
            tally[outcome.value] += 1
            if outcome is Outcome.ACCEPTED:
                _falsify(one, told.falsify, chosen, seen, tally)
            else:
                why[f"{outcome.value}: {words}"] += 1
                if outcome is Outcome.REJECTED:
                    print(f"{kind} {name}: {words}", flush=True)
    for counts in (tally, why, seen):
        for text, number in counts.most_common():
            print(f"{number:6} {text}")
    return 1 if tally[Outcome.REJECTED.value] else 0


if __name__ == "__main__":
    sys.exit(main())
