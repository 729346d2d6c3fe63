"""Patched queries on the real Spark, over random streams: they give every row that the query as it was written has.

    .venv/bin/python tests/patched_streams.py --seed 0 --queries 100 --streams 10

A run has one query and some streams whose keys are apart, so that they meet only in the watermark. Rows come in
disorder, within the watermark's delay. What is right, DuckDB says of the query as it was written. Exit status 1: a row
was lost.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from criteria.test_engine_patches import GROUPED, Database, patches, statement

from support.choices import Choices
from support.spark_state import measure

SCHEMA = "k bigint, v bigint, ts timestamp, until timestamp"
START = datetime(2026, 1, 1, 10)
DELAY, SPAN, ROWS, FILES = 600, 7200, 12, 4
"""Seconds of the watermark's delay and of the rows' times; rows of a stream; files that they come in."""
LAST = 1_000_000
"""The value of rows that come long after all others, so that what waits for the watermark comes."""
Row = tuple[int, int, datetime, datetime]


@dataclass(frozen=True)
class Streams:
    """The files of both inputs."""

    s: list[list[Row]]
    t: list[list[Row]]

    @classmethod
    def drawn(cls, choices: Choices, number: int) -> Streams:
        """So many pairs of streams, each with two keys of its own; rows of a pair are often near each other."""
        came: tuple[list[tuple[int, Row]], ...] = ([], [])
        for pair in range(number):
            moments = [choices.integer(0, SPAN) for _ in range(ROWS)]
            for side, rows in enumerate(came):
                for moment in moments:
                    ts = START + timedelta(
                        seconds=moment + side * choices.integer(-100, 100), microseconds=choices.pick((0, 1, 999_999))
                    )
                    until = ts + timedelta(seconds=choices.integer(0, 100))
                    row = (2 * pair + choices.integer(1, 2), choices.integer(2, 9), ts, until)
                    arrival = int((ts - START).total_seconds()) + choices.integer(0, DELAY - 2)
                    rows.append((arrival, row))
        return cls(*([*_files(rows), *_last(side)] for side, rows in enumerate(came)))

    def write(self, folder: Path) -> None:
        """The files as JSON, the first the oldest."""
        for name, files in (("s", self.s), ("t", self.t)):
            (folder / name).mkdir(parents=True)
            for number, rows in enumerate(files):
                file = folder / name / f"{number:04}.json"
                lines = (
                    json.dumps({"k": k, "v": v, "ts": f"{ts.isoformat()}Z", "until": f"{until.isoformat()}Z"})
                    for k, v, ts, until in rows
                )
                file.write_text("\n".join(lines) + "\n", encoding="utf-8")
                os.utime(file, (1_700_000_000 + number * 10,) * 2)

    def database(self) -> Database:
        """The rows as DuckDB has them."""
        return Database({"s": chain.from_iterable(self.s), "t": chain.from_iterable(self.t)})


def _files(rows: list[tuple[int, Row]]) -> list[list[Row]]:
    each = (SPAN + DELAY) // FILES + 1
    return [[row for at, row in rows if min(max(at, 0) // each, FILES - 1) == number] for number in range(FILES)]


def _last(side: int) -> list[list[Row]]:
    moments = [START + timedelta(days=days) for days in (3, 6)]
    return [[(-1 - side, LAST, moment, moment)] for moment in moments]


@dataclass
class Tally:
    """What has become of the queries so far; ``lost`` says which lost a row, or have one too many."""

    counts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    def run(self, spark: Any, seed: int, streams: int, folder: Path) -> None:
        """Draw a query that has a patch, and run it as it was written, and with each patch."""
        choices = Choices.seeded(seed)
        sql, patched = next(_patched(choices))
        drawn = Streams.drawn(choices, streams)
        drawn.write(folder)
        for name in ("s", "t"):
            rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / name))
            rows.withWatermark("ts", "10 minutes").createOrReplaceTempView(name)
        right = _without_last(drawn.database().rows(sql))
        self.counts["queries"] += 1
        self.counts["streams"] += streams
        self.counts["rows"] += right.total()
        before = measure(spark, sql, "append", folder / "as written")
        self.counts[f"as written: {before.kept}"] += 1
        found = _without_last(before.results)
        if before.rows and found - right:
            self.lost.append(f"{seed}: as written, {(found - right).total()} rows too many\n  {sql}")
        self.counts["dropped as written"] += bool(before.rows) and bool(right - found)
        for number, text in enumerate(patched):
            after = measure(spark, text, "append", folder / f"patched {number}")
            self.counts[f"patched: {after.kept}"] += 1
            found = _without_last(after.results)
            if found != right:
                less, more = (right - found).total(), (found - right).total()
                self.lost.append(f"{seed}: {after.kept}, {less} rows lost, {more} too many\n  {sql}\n  {text}")


def _patched(choices: Choices) -> Iterator[tuple[str, list[str]]]:
    while True:
        sql = statement(choices) if choices.integer(0, 9) else choices.pick(GROUPED)[0]
        if found := patches(sql, "spark"):
            yield sql, found


def _without_last(rows: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Results of the rows that come last are left out, as are those of the groups of their days."""
    last = {moment.date() for files in _last(0) for _, _, moment, _ in files}
    days = [{one.date() if isinstance(one, datetime) else one for one in row} for row in rows]
    pairs = zip(rows.items(), days, strict=True)
    return Counter({row: number for (row, number), on in pairs if LAST not in row and not last & on})


def main() -> int:
    """Run the queries, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--streams", type=int, default=10, help="pairs of streams that a query reads")
    given = parser.parse_args()
    from streambound_runtime.session import session

    spark, tally = session("patched streams"), Tally()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.seed, given.seed + given.queries):
            tally.run(spark, seed, given.streams, Path(folder) / str(seed))
    spark.stop()
    print(f"seeds {given.seed} to {given.seed + given.queries - 1}:", dict(sorted(tally.counts.items())))
    print("\n".join(tally.lost) or "no row was lost")
    return int(bool(tally.lost))


if __name__ == "__main__":
    sys.exit(main())
