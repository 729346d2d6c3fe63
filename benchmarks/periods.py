"""Snapshot queries over the shape of the Employee data set: ours, the paper's own SQL, the same without time, DuckDB.

    python benchmarks/periods.py DIR [--scale 0.1] [--runs 3] [--cores 2] [--only agg-1] [--without paper]

DIR gets the tables of `periods_by_hand`, if they are not there. Every result is written to a `noop` sink (DuckDB:
counted), in one session and a heap of 2 GiB; medians of the runs. The numbers of rows are those of DuckDB, or it ends.
The shape is that of Dignös et al., section 10.3.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import click
from periods_by_hand import DUCKDB, PAPER, QUERIES, TABLES, WITHOUT_TIME, generate, rows_of_duckdb


def seconds(run: Callable[[], Any], runs: int) -> float:
    """The median time of some runs, after one that is not counted."""
    run()
    times = []
    for _ in range(runs):
        start = monotonic()
        run()
        times.append(monotonic() - start)
    return median(times)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--scale", default=0.1, show_default=True, help="1: 300,024 employees, about 3 million salaries.")
@click.option("--runs", default=3, show_default=True)
@click.option("--cores", default=2, show_default=True)
@click.option("--only", multiple=True, help="Queries, by name; all by default.")
@click.option("--without", multiple=True, help="What is left out: paper, plain, duckdb.")
def main(folder: Path, scale: float, runs: int, cores: int, only: tuple[str, ...], without: tuple[str, ...]) -> None:
    """Measure and print a table of seconds."""
    import duckdb
    from pyspark.sql import SparkSession

    from streambound.temporal import Temporal

    folder = folder / f"scale-{scale:g}"
    if not all((folder / f"{table}.parquet").exists() for table in TABLES):
        generate(folder, scale)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.shuffle.partitions", 8).config("spark.ui.enabled", False)
    spark = builder.config("spark.ui.showConsoleProgress", False).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    con = duckdb.connect(config={"threads": cores})
    t = Temporal(spark, domain=("1985-01-01", "9999-01-01"))
    for table in TABLES:
        rows = spark.read.parquet(str(folder / f"{table}.parquet"))
        t.relation(table, rows, period=("from_date", "to_date"))
        rows.selectExpr("*", "unix_date(from_date) AS b", "unix_date(to_date) AS e").createOrReplaceTempView(table)
        days = "from_date - DATE '1970-01-01' AS b, to_date - DATE '1970-01-01' AS e"
        con.execute(f"CREATE TABLE {table} AS SELECT *, {days} FROM '{folder / table}.parquet'")
    click.echo(f"Seconds, medians of {runs}; scale {scale:g}, {cores} cores; in brackets how often as long as ours.\n")
    click.echo(
        "| query | rows | ours | the paper's SQL | without time | DuckDB |\n| --- | --- | --- | --- | --- | --- |"
    )
    for name, sql in QUERIES.items():
        if only and name not in only:
            continue
        ours, paper, block = t.sql, PAPER.get(name), f"SEQ VT ({sql})"
        found = ours(block).selectExpr("count(*)", "sum(_mult)").head()
        mine = _of_spark(ours, block, runs)
        cells = [f"{found[0] if found else 0:,}", f"{mine:.2f}"]
        cells.append(_beside(_of_spark(spark.sql, paper, runs), mine) if paper and "paper" not in without else "")
        plain = None if "plain" in without else _of_spark(spark.sql, WITHOUT_TIME[name], runs)
        cells.append(_beside(plain, mine) if plain is not None else "")
        cells.append("")
        if name in DUCKDB and "duckdb" not in without:
            counted = rows_of_duckdb(DUCKDB[name])
            cells[-1] = _beside(seconds(lambda sql=counted: con.execute(sql).fetchall(), runs), mine)  # type: ignore[misc]
            if con.execute(counted).fetchone() != found:
                raise SystemExit(f"{name}: {found} rows, and their sum of multiplicities; of DuckDB others")
        click.echo(f"| {name} | " + " | ".join(cells) + " |")
        sys.stdout.flush()
    spark.stop()


def _beside(theirs: float, ours: float) -> str:
    return f"{theirs:.2f} ({theirs / ours:.2f})"


def _of_spark(query: Callable[[str], Any], sql: str, runs: int) -> float:
    """Of reading the statement, planning it and writing its rows."""
    return seconds(lambda: query(sql).write.format("noop").mode("overwrite").save(), runs)


if __name__ == "__main__":
    main()
