"""Nexmark's bounded queries beside Flink SQL and DuckDB in batch: `python benchmarks/nexmark.py DIR`.

Each system reads the same files of JSON in DIR, which are written first. A time is that of a run less that of one over
the first hundred events, so that starting counts nowhere, but for DuckDB's, which is one query in batch. What comes out
of the first 50,000 events is compared by the number of rows and the sum of their checksums, in runs that do not count.
`--flink PYTHON` is the Python of an environment with apache-flink; `--spark` runs our jobs on Spark, too; `--write`
puts the table in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NEXMARK = ROOT / "examples" / "nexmark"
START, END = "<!-- nexmark -->", "<!-- end of nexmark -->"
WARM, COMPARED = 100, 50_000
COLUMNS = {
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, {time}, extra STRING",
    "auction": "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, {time}, "
    "expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING",
    "person": "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, {time}, "
    "extra STRING",
}
TEN = "INTERVAL '10' SECOND"
TUMBLE = "TUMBLE(TABLE {0}, DESCRIPTOR(`dateTime`), INTERVAL '10' {1})"
HOPS = "HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND)"
BUCKET = "time_bucket(INTERVAL '10 {1}', {0}, TIMESTAMP '2020-01-01')"
DAY_VALUES = (
    "COUNT(*), COUNT(*) FILTER (WHERE price < 10000), COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000), "
    "COUNT(*) FILTER (WHERE price >= 1000000)"
)
DISTINCT = ", ".join(
    f"COUNT(DISTINCT {column}){limit}"
    for column in ("bidder", "auction")
    for limit in (
        "",
        " FILTER (WHERE price < 10000)",
        " FILTER (WHERE price >= 10000 AND price < 1000000)",
        " FILTER (WHERE price >= 1000000)",
    )
)
FLINK_DAY, DUCKDB_DAY = "DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')", "strftime(dateTime, '%Y-%m-%d')"


@dataclass(frozen=True)
class Peer:
    """A query as Flink and DuckDB have it."""

    flink: str
    duckdb: str


def _hot(windows: str, ends: str) -> str:
    """Query 5 over rows of windows."""
    counts = f"SELECT auction, COUNT(*) AS num, {ends} FROM {windows} GROUP BY auction, {ends}"
    first, last = ends.split(", ")
    best = f"SELECT MAX(num) AS most, {ends} FROM ({counts}) GROUP BY {ends}"
    return (
        f"SELECT a.auction, a.num FROM ({counts}) a JOIN ({best}) b "
        f"ON a.{first} = b.{first} AND a.{last} = b.{last} AND a.num >= b.most"
    )


def _interval(ends: str) -> str:
    return (
        "SELECT a.id, a.seller, b.bidder, b.price FROM auction a, bid b WHERE a.id = b.auction "
        f"AND b.{ends} BETWEEN a.{ends} AND a.{ends} + INTERVAL '1' HOUR"
    )


DUCKDB_HOPS = (
    "(SELECT *, s AS window_start, s + INTERVAL 10 SECOND AS window_end FROM (SELECT *, "
    "unnest(range(0, 10, 2)).to_seconds() AS ago, time_bucket(INTERVAL '2 seconds', dateTime, TIMESTAMP '2020-01-01') "
    "- ago AS s FROM bid))"
)
QUERIES = {
    "q5": Peer(_hot(f"TABLE({HOPS})", "window_start, window_end"), _hot(DUCKDB_HOPS, "window_start, window_end")),
    "q7": Peer(
        "SELECT b.auction, b.price, b.bidder, CAST(b.`dateTime` AS TIMESTAMP(3)), b.extra FROM bid b JOIN (SELECT "
        f"MAX(price) AS most, window_end FROM TABLE({TUMBLE.format('bid', 'SECOND')}) "
        "GROUP BY window_start, window_end) m "
        f"ON b.price = m.most AND b.`dateTime` BETWEEN m.window_end - {TEN} AND m.window_end",
        f"SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra FROM bid b JOIN (SELECT MAX(price) AS most, "
        f"{BUCKET.format('dateTime', 'seconds')} + {TEN} AS e FROM bid GROUP BY e) m "
        f"ON b.price = m.most AND b.dateTime BETWEEN e - {TEN} AND e",
    ),
    "q8": Peer(
        f"SELECT p.id, p.name, p.window_start FROM (SELECT id, name, window_start, window_end FROM TABLE("
        f"{TUMBLE.format('person', 'SECOND')}) GROUP BY id, name, window_start, window_end) p JOIN (SELECT seller, "
        f"window_start, window_end FROM TABLE({TUMBLE.format('auction', 'SECOND')}) GROUP BY seller, window_start, "
        "window_end) a ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end",
        f"SELECT DISTINCT p.id, p.name, {BUCKET.format('p.dateTime', 'seconds')} FROM person p JOIN auction a "
        f"ON p.id = a.seller AND {BUCKET.format('p.dateTime', 'seconds')} = {BUCKET.format('a.dateTime', 'seconds')}",
    ),
    "q15": Peer(
        f"SELECT {FLINK_DAY}, {DAY_VALUES}, {DISTINCT} FROM bid GROUP BY {FLINK_DAY}",
        f"SELECT {DUCKDB_DAY}, {DAY_VALUES}, {DISTINCT} FROM bid GROUP BY 1",
    ),
    "q17": Peer(
        f"SELECT auction, {FLINK_DAY}, {DAY_VALUES}, MIN(price), MAX(price), SUM(price) FROM bid "
        f"GROUP BY auction, {FLINK_DAY}",
        f"SELECT auction, {DUCKDB_DAY}, {DAY_VALUES}, MIN(price), MAX(price), SUM(price) FROM bid GROUP BY 1, 2",
    ),
    "flink_interval_join": Peer(_interval("`dateTime`"), _interval("dateTime")),
    "flink_window_aggregation": Peer(
        f"SELECT window_start, window_end, SUM(price) FROM TABLE({TUMBLE.format('bid', 'MINUTES')}) "
        "GROUP BY window_start, window_end",
        f"SELECT {BUCKET.format('dateTime', 'minutes')} AS s, s + INTERVAL 10 MINUTE, SUM(price) FROM bid GROUP BY s",
    ),
    "flink_window_top_n": Peer(
        "SELECT window_start, window_end, auction, total, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
        "window_start, window_end ORDER BY total DESC) AS n FROM (SELECT window_start, window_end, auction, "
        f"SUM(price) AS total FROM TABLE({TUMBLE.format('bid', 'MINUTES')}) GROUP BY window_start, window_end, "
        "auction)) WHERE n <= 3",
        f"SELECT s, s + INTERVAL 10 MINUTE, auction, total, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s "
        f"ORDER BY total DESC) AS n FROM (SELECT {BUCKET.format('dateTime', 'minutes')} AS s, auction, SUM(price) AS "
        "total FROM bid GROUP BY s, auction)) WHERE n <= 3",
    ),
}
OURS_WITHOUT = {"q17": "avg_price"}
"""A column of our results that peers round otherwise, and do not have here."""


@dataclass(frozen=True)
class Found:
    """Seconds of a run, and how many rows came out, with the sum of their checksums."""

    seconds: float
    rows: int = -1
    checksum: int = -1


def checksum(rows: Iterable[tuple[list[Any], int]]) -> tuple[int, int]:
    """The number of rows, each with how often it is there, and the sum of their checksums."""
    count = total = 0
    for row, times in rows:
        count, total = count + times, total + times * zlib.crc32("|".join(map(_text, row)).encode())
    return count, total


def _text(value: Any) -> str:
    """A value as all systems have it: times to the second, as far as they show it."""
    text = str(value)
    moment = len(text) > 18 and text[10] in "T " and text[4] == text[7] == "-"
    return text.replace("T", " ").rstrip("Z")[:19] if moment else text


# --- systems ----------------------------------------------------------------------------------------------------------


def data(folder: Path, events: int) -> Path:
    """The folder with the streams of this number of events, a thousand a second; it is made if it is missing."""
    found = folder / str(events)
    if not found.exists():
        command = [sys.executable, str(NEXMARK / "generate.py"), "--events", str(events), "--rate", "1000"]
        subprocess.run([*command, "--out", str(found)], check=True, stdout=subprocess.DEVNULL)
    return found


def ours(name: str, folder: Path, engine: str) -> Found:
    """A query's job over the files, with its results; less starting."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as output:
        command = [sys.executable, __file__, str(folder.parent), "--child", name, "--events", folder.name]
        seconds = float(_said([*command, "--engine", engine, "--output", output.name]))
        lines = map(json.loads, Path(output.name).read_text(encoding="utf-8").splitlines())
        without = {"_ts", "_mult", OURS_WITHOUT.get(name)}
        rows = (([v for key, v in line.items() if key not in without], line.get("_mult", 1)) for line in lines)
        return Found(seconds, *checksum(rows))


def _said(command: list[str]) -> str:
    """The last line that a command prints."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return done.stdout.splitlines()[-1]


def child(name: str, folder: Path, events: int, engine: str, output: Path) -> float:
    """Seconds of a job over the files, less those over few events."""
    import streambound
    from streambound.synopsis_exec.runner import run_query

    job = streambound.compile((NEXMARK / f"{name}.sql").read_text(encoding="utf-8"), NEXMARK / "streams.toml").compiled
    seconds = []
    for number in (WARM, WARM, events):  # the first one imports what the others have
        begun = time.perf_counter()
        run_query(job, data(folder, number), output, engine=engine)
        seconds.append(time.perf_counter() - begun)
    return seconds[2] - seconds[1]


def duckdb(name: str, folder: Path) -> Found:
    """DuckDB's one query over the same files, in two threads."""
    import duckdb as engine

    database = engine.connect(config={"threads": 2})
    for table, columns in COLUMNS.items():
        kinds = columns.format(time="dateTime TIMESTAMP").replace("STRING", "VARCHAR").replace("(3)", "")
        listed = ", ".join(f"{one.split()[0]}: '{one.split()[1]}'" for one in kinds.split(", "))
        database.execute(
            f"CREATE VIEW {table} AS FROM read_json('{folder / table}.jsonl', format = 'newline_delimited', "
            f"columns = {{{listed}}})"
        )
    begun = time.perf_counter()
    rows = database.execute(QUERIES[name].duckdb).fetchall()
    seconds = time.perf_counter() - begun
    return Found(seconds, *checksum(([*row], 1) for row in rows))


def flink(name: str, folder: Path, python: str) -> Found:
    """Flink SQL over the same files: a run into nothing, less one over few events; with results where there are few."""
    if int(folder.name) <= COMPARED:
        return Found(**_flink(name, folder, python, "collect"))
    seconds = [_flink(name, one, python, "blackhole")["seconds"] for one in (data(folder.parent, WARM), folder)]
    return Found(seconds[1] - seconds[0])


def _flink(name: str, folder: Path, python: str, sink: str) -> dict[str, Any]:
    command = [python, __file__, str(folder.parent), "--flink-child", name, "--events", folder.name, "--output", sink]
    found: dict[str, Any] = json.loads(_said(command))
    return found


def flink_child(name: str, folder: Path, sink: str) -> dict[str, Any]:
    """What Flink does: two slots, rows of a batch together; runs in Flink's environment, without ours."""
    from pyflink.common import Configuration  # type: ignore[import-not-found]
    from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

    settings = Configuration()
    for key, value in {
        "parallelism.default": "2",
        "taskmanager.numberOfTaskSlots": "4",
        "state.backend.type": "hashmap",
        "table.local-time-zone": "UTC",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "1 s",
        "table.exec.mini-batch.size": "100000",
    }.items():
        settings.set_string(key, value)
    mode = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(settings).build()
    tables = TableEnvironment.create(mode)
    for table, columns in COLUMNS.items():
        time_column = "`dateTime` TIMESTAMP_LTZ(3)"
        kinds = columns.format(time=time_column).replace("expires TIMESTAMP(3)", "expires TIMESTAMP_LTZ(3)")
        tables.execute_sql(
            f"CREATE TABLE {table} ({kinds}, WATERMARK FOR `dateTime` AS `dateTime`) WITH ('connector' = 'filesystem', "
            f"'path' = '{(folder / table).as_uri()}.jsonl', 'format' = 'json', "
            "'json.timestamp-format.standard' = 'ISO-8601')"
        )
    query, begun = QUERIES[name].flink, time.perf_counter()
    if sink == "blackhole":
        tables.execute_sql(f"CREATE TABLE sink_ WITH ('connector' = 'blackhole') AS {query}").wait()
        return {"seconds": time.perf_counter() - begun}
    with tables.execute_sql(query).collect() as found:
        rows = (([*row], 1 if row.get_row_kind().value in (0, 2) else -1) for row in found)
        count, total = checksum(rows)
    return {"seconds": time.perf_counter() - begun, "rows": count, "checksum": total}


# --- the table --------------------------------------------------------------------------------------------------------


def compared(name: str, folder: Path, given: argparse.Namespace) -> list[tuple[str, str]]:
    """The systems' medians, each with its ratio, and whether what came out is the same."""
    runs: dict[str, Callable[[Path], Found]] = {"embedded": lambda files: ours(name, files, "embedded")}
    if given.spark:
        runs["on Spark"] = lambda files: ours(name, files, "spark")
    runs["DuckDB in batch"] = lambda files: duckdb(name, files)
    if given.flink:
        runs["Flink"] = lambda files: flink(name, files, given.flink)
    results = {system: run(data(given.folder, COMPARED).resolve()) for system, run in runs.items()}
    seconds = {
        system: statistics.median(run(folder).seconds for _ in range(given.runs)) for system, run in runs.items()
    }
    first, rows = results["embedded"], []
    for system, one in results.items():
        words = f"{seconds[system]:.2f} s"
        words += f", {seconds[system] / seconds['embedded']:.2f} of embedded" if system != "embedded" else ""
        same = (one.rows, one.checksum) == (first.rows, first.checksum)
        rows.append((f"{name}, {system}", words if same else f"{words}; OTHER RESULTS"))
        print(*rows[-1], sep=": ", flush=True)
    return rows


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the streams are, or are written")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=[*QUERIES], action="append")
    parser.add_argument("--flink", metavar="PYTHON")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--write", action="store_true", help="put the table in benchmarks/README.md")
    for hidden in ("--child", "--flink-child", "--engine", "--output"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flink_child:
        print(json.dumps(flink_child(given.flink_child, (given.folder / str(given.events)).resolve(), given.output)))
        return
    if given.child:
        print(child(given.child, given.folder, given.events, given.engine, Path(given.output)))
        return
    from streambound.benchmarks.measuring import show, write_table

    folder = data(given.folder, given.events).resolve()
    data(given.folder, WARM)
    rows = [row for name in given.only or QUERIES for row in compared(name, folder, given)]
    show(rows)
    if given.write:
        write_table(rows, START, END, f"{given.events:,} events, medians of {given.runs}.", "")


if __name__ == "__main__":
    main()
