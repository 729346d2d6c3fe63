"""Random queries of every operator against DuckDB and the reference evaluator on prefixes of their rows: differences.

    .venv/bin/python tests/random_queries.py --seed 0 --seconds 60

What runs is the job's own circuit, in this process. A query is counted when its job has printed something; `bounded`
ones also keep at most M entries. Exit status 1: there was a difference, or something failed.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.choices import Choices
from support.circuits import checked_circuit
from support.grown import SAMPLED, SIZE, grown
from support.operator_queries import in_words_of, operator_query
from support.operator_runs import World, outcome, plain

EACH = 20
"""Queries over the same catalog and rows."""
OFTEN = 10
"""After so many seeds the counts are written."""
_COUNTED = ("bounded", "retired", "retracted", "final", "evaluated")


@dataclass
class Tally:
    """What has become of the queries so far: how many, those counted by operator, and why others have no job."""

    counts: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    grown: set[str] = field(default_factory=set)
    """Seeds of which a query's witness was executed at a larger size."""
    wrong: list[str] = field(default_factory=list)
    """Differences and failures, each with its seed and query."""
    tick: str = "timestamp"
    """What a job does at a time (`streambound.compile`)."""
    spark: Any = None
    """A session that is asked, too, for the results over all rows."""

    def seed(self, seed: int) -> None:
        """Try the queries of a seed: one catalog with its rows."""
        choices = Choices.seeded(seed)
        with World(choices) as world:
            if self.spark is not None:
                world.on_spark(self.spark)
            for number in range(EACH):
                text, used = operator_query(choices)
                self._query(world, text, used, f"{seed}.{number}")

    def _query(self, world: World, text: str, used: Counter[str], name: str) -> None:
        self.counts["tried"] += 1
        try:
            found = outcome(world, text, self.tick)
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            self.wrong.append(f"{name} fails: {error!r} at {at.filename}:{at.lineno}\n  {text}")
            return
        if found.refused:
            self.refused[found.refused] += 1
            return
        if found.different:
            self.wrong.append(f"{name} differs {found.different}\n  {text}")
        self.counts["ran"] += 1
        if not found.bounded and self.tick == "timestamp":
            self._grow(world, text, name)
        if self.spark is not None and found.results:
            self._ask_spark(text, name, found.last)
        if found.results:
            self.counts["counted"] += 1
            self.counts.update(what for what in _COUNTED if getattr(found, what))
            self.operators.update(operator for operator, times in used.items() if times > 0)

    def _grow(self, world: World, text: str, name: str) -> None:
        """Execute the witness of an unbounded query with more elements: one of a seed, as the search may take long."""
        if name.partition(".")[0] in self.grown:
            return
        self.grown.add(name.partition(".")[0])
        checked = checked_circuit(in_words_of(text, duckdb=False), world.catalog)
        if str(checked.verdict) == "unbounded":
            sizes = (SIZE, SAMPLED) if len(self.grown) % OFTEN == 1 else (SIZE,)
            self.counts["grown"] += 1
            self.wrong += [
                f"{name} has no witness of size {size}\n  {text}" for size in sizes if not grown(checked, size)
            ]

    def _ask_spark(self, text: str, name: str, last: Counter[tuple[Any, ...]]) -> None:
        """Compare with Spark, in the words for DuckDB, which say what ties are broken by."""
        from pyspark.errors import PySparkException

        try:
            wanted = Counter(map(plain, self.spark.sql(in_words_of(text, duckdb=True)).collect()))
        except PySparkException as error:  # Spark has no windows of numbers
            self.refused[f"Spark: {error.getCondition()}"] += 1
            return
        self.counts["on Spark"] += 1
        if wanted != last:
            self.wrong.append(f"{name} differs: Spark {dict(wanted)}, the job {dict(last)}\n  {text}")

    @property
    def told(self) -> str:
        """As JSON."""
        wrong, refused = len(self.wrong), dict(self.refused.most_common())
        found = {**self.counts, "wrong": wrong, "operators": dict(self.operators.most_common()), "refused": refused}
        return json.dumps(found, indent=1)


def _session() -> Any:
    """A Spark session that computes a few rows at a time."""
    from streambound_runtime.session import session

    spark = session("random queries")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    return spark


def main() -> int:
    """Try seeds for so long, or until it is ended; print the counts."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="the first seed: of a catalog, its rows, and some queries")
    parser.add_argument("--seeds", type=int, default=1_000_000, help="how many")
    parser.add_argument("--seconds", type=float, default=60, help="for how long at most")
    parser.add_argument("--report", type=Path, help="a file that the counts are written to, now and then")
    parser.add_argument("--tick", choices=("timestamp", "batch"), default="timestamp", help="what a job does at a time")
    parser.add_argument("--spark", action="store_true", help="ask Spark, too, for the results over all rows")
    told = parser.parse_args()
    tally = Tally(tick=told.tick, spark=_session() if told.spark else None)
    began = time.monotonic()
    try:
        for number in range(told.seeds):
            known = len(tally.wrong)
            tally.seed(told.seed + number)
            for one in tally.wrong[known:]:
                print(one, flush=True)
            over = time.monotonic() - began > told.seconds
            if told.report and (over or number % OFTEN == OFTEN - 1):
                told.report.write_text(tally.told)
            if over:
                break
    except KeyboardInterrupt:
        print("Ended early.")
    print(tally.told)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
