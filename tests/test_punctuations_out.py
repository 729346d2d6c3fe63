"""Punctuations that a job writes beside its results: they are kept, wherever a run is cut, and a next job uses them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from test_ended_ranges import TWO, UNION, two_streams

from streambound.analyzer.errors import NotExecutableError
from streambound.jobs import compile
from streambound_runtime.driver import Driver
from streambound_runtime.reading.batch import Arrived
from streambound_runtime.spec import JobSpec
from support.command_line import call
from support.fed import Batch, Fed, Lines
from support.profiles import MORE
from support.punctuated import auction_house, auctions, bids, offers

Row = dict[str, Any]
FINAL = "-- streambound: emit final\n"
JOINED = "auction a JOIN bid b ON b.auction = a.id"
NEAR = "auction a LEFT JOIN bid b ON b.auction = a.id AND b.ts BETWEEN a.ts AND a.ts + 6"
HOUSE = auction_house()
CASES = [
    ("SELECT id, category FROM auction WHERE category > 0", HOUSE, ["id"]),
    (f"SELECT b.price, a.id FROM {JOINED} AND b.ts BETWEEN a.ts AND a.ts + 9", HOUSE, ["id"]),
    ("SELECT id AS k, 'a' AS at FROM auction UNION ALL SELECT auction, 'b' FROM bid", HOUSE, ["k"]),
    (f"{FINAL}SELECT a.id, COUNT(*) AS n, MAX(b.price) AS best FROM {JOINED} GROUP BY a.id", HOUSE, ["id"]),
    (f"{FINAL}SELECT id, COUNT(*) AS n FROM auction GROUP BY id, ts DIV 40", HOUSE, None),
    (f"{FINAL}SELECT ts DIV 10 AS w, COUNT(*) AS n FROM bid GROUP BY ts DIV 10", HOUSE, []),
    (f"{FINAL}SELECT a.id, b.price FROM {NEAR}", HOUSE, []),
    (f"{FINAL}SELECT w, COUNT(p) AS n FROM (SELECT a.ts DIV 10 AS w, b.price AS p FROM {NEAR}) GROUP BY w", HOUSE, []),
    ("SELECT category, COUNT(*) AS n FROM auction GROUP BY category", HOUSE, []),
    (UNION, TWO, ["k"]),
    ("SELECT auction, kind FROM hall", TWO, ["auction"]),  # online ends it, too, but is not read
    ("SELECT auction AS k FROM hall UNION ALL SELECT item FROM online", TWO, []),
]


def job_of(sql: str, catalog: Row) -> JobSpec:
    found = compile(sql, {**catalog, "sinks": {"<sql>": {"punctuations": True}}}).compiled.job
    assert isinstance(found, JobSpec)
    return found


class Here(Fed):
    """A job without Spark."""

    def start(self) -> None:
        self.driver = Driver(None, self.job, self.settings, self.reports.append)

    def feed(self, lines: Lines, batch: int) -> None:
        self.driver.fold(cast(Arrived, Batch(self.job, lines)), batch)


def batches_of(rows: dict[str, list[Row]], seed: int) -> Iterator[dict[str, list[str]]]:
    """Rows cut at some timestamps, most of which are then closed."""
    random, start = Random(seed), 0
    while start <= 80:
        end = start + random.choice((1, 9, 30) if start else (30,))
        cut = {name: [json.dumps(row) for row in of if start <= row["ts"] < end] for name, of in rows.items()}
        yield cut
        start = end


def printed(fed: Fed) -> list[list[Row]]:
    return [[json.loads(line) for line in part.read_text().splitlines()] for part in fed.parts()]


def covers(told: Row, row: Row, column: str) -> bool:
    """Whether a punctuation speaks of a result."""
    low, high, value = told.get(f"_from_{column}"), told[column], row[column]
    if f"_from_{column}" not in told:
        return bool(value == high)
    if low is None and high is None:
        return True
    return value is not None and (low is None or low <= value) and (high is None or value <= high)


@pytest.mark.parametrize(("sql", "catalog", "keys"), CASES)
def test_no_result_breaks_a_promise(sql: str, catalog: Row, keys: list[str] | None, tmp_path: Path) -> None:
    job, told = job_of(sql, catalog), Counter[str]()
    for seed in range(MORE):
        checked = all(one.max_open is not None for one in job.plan.watched)  # else late rows are passed on, too
        rows = two_streams(seed) if catalog is TWO else offers(seed, late=checked)
        (folder := tmp_path / str(seed)).mkdir()
        fed = Here(job, folder)
        for batch, lines in enumerate(batches_of(rows, seed)):
            fed.feed(lines, batch)
            if batch == 1 + seed % 4:  # a new process, and the batch once more
                fed.start()
                fed.feed(lines, batch)
        fed.driver.finish()
        found = printed(fed)
        results = [[row for row in part if row["_over"] is None] for part in found]
        for number, part in enumerate(found):
            for one in (row for row in part if row["_over"] is not None):
                told[one["_over"]] += 1
                later = [row for after in results[number + 1 :] for row in after]
                if one["_over"] == "_ts":
                    assert all(row["_ts"] > one["_ts"] for row in later)
                    continue
                after = [row for some in results for row in some if row["_ts"] > one["_ts"]]
                assert not [row for row in (*later, *after) if covers(one, row, one["_over"])]
        assert sum(map(len, results)) > 3
    assert told.pop("_ts") > 5
    assert keys is None or sorted(told) == keys, "the keys that results hold are told"


def test_the_next_job_is_as_batch_sql(tmp_path: Path) -> None:
    """A job reads the results batch by batch; its keys end by the punctuations, and none waits for a later result."""
    first = job_of("SELECT auction, price FROM bid WHERE price > 1", bids())
    results = {
        "timestamp": "_ts",
        "columns": {"auction": "bigint", "price": "bigint", "_over": "string", "_ts": "bigint"},
        "punctuation": {"column": "_over", "value": "_ts"},
        "punctuations": [{"attributes": ["auction"], "column": "_over", "value": "auction", "max_open": 9}],
    }
    sql = "SELECT auction, COUNT(*) AS n, MAX(price) AS best FROM r GROUP BY auction"
    second = job_of(FINAL + sql, {"streams": {"r": results}})
    rows = auctions(3, number=35, late=False)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    one, two = Here(first, tmp_path / "first"), Here(second, tmp_path / "second")
    for batch, lines in enumerate(batches_of({"bid": rows}, 3)):
        one.feed(lines, batch)
        given = {"r": one.parts()[batch].read_text().splitlines()}
        two.feed(given, batch)
        if batch == 2:  # a new process, and the batch once more
            two.start()
            two.feed(given, batch)
    assert two.reports[-1]["pending"] == 0, "the first job has told how far it is"
    one.driver.finish()
    two.driver.finish()
    found = [row for part in printed(two) for row in part if row["_over"] is None]
    ended = {row["auction"] for row in rows if row["kind"] == "closed"}
    good = [row for row in rows if row["kind"] == "bid" and (row["price"] or 0) > 1 and row["auction"] in ended]
    prices = {row["auction"]: [one["price"] for one in good if one["auction"] == row["auction"]] for row in good}
    expected = Counter((auction, len(some), max(some)) for auction, some in prices.items())
    assert Counter((row["auction"], row["n"], row["best"]) for row in found) == expected
    assert expected.total() > 5


def test_what_has_no_punctuations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "-- streambound: emit upsert\nSELECT category, COUNT(*) AS n FROM auction GROUP BY category"
    with pytest.raises(NotExecutableError, match="punctuations, which upserts and rows with periods have none of"):
        job_of(sql, HOUSE)
    with pytest.raises(NotExecutableError, match="_over is a column that the job adds itself"):
        job_of("SELECT id AS _over FROM auction", HOUSE)
    monkeypatch.chdir(tmp_path)
    Path("q.sql").write_text("SELECT id FROM auction")
    Path("streams.toml").write_text(
        '[streams.auction]\ntimestamp = "ts"\ncolumns = { id = "bigint", ts = "bigint" }\n'
        "[sinks.q]\npunctuations = true\n"
    )
    said = call("compile", "q.sql", "-o", "job", "--placement", "stateless")
    assert said.exit_code == 2 and "punctuations come after the rows they are about" in said.output
