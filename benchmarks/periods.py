"""Snapshot queries over the shape of the Employee data set: ours, the paper's own SQL, the same without time, DuckDB.

    python benchmarks/periods.py DIR [--scale 0.1] [--runs 3] [--cores 2] [--only agg-1] [--without paper] [--embedded]

DIR gets the tables of `periods_by_hand`, if they are not there. Every result is written to a `noop` sink (DuckDB:
counted), in one session and a heap of 2 GiB; medians of the runs. The numbers of rows are those of DuckDB, or it ends.
The shape is that of Dignös et al., section 10.3.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, process_time
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
@click.option("--embedded", is_flag=True, help="Without Spark: processor time of whole runs, and of DuckDB by hand.")
def main(
    folder: Path, scale: float, runs: int, cores: int, only: tuple[str, ...], without: tuple[str, ...], embedded: bool
) -> None:
    """Measure and print a table of seconds."""
    import duckdb

    folder = folder / f"scale-{scale:g}"
    if not all((folder / f"{table}.parquet").exists() for table in TABLES):
        generate(folder, scale)
    if embedded:
        in_process(folder, only or tuple(DUCKDB))
        return
    from pyspark.sql import SparkSession

    from streambound.temporal import Temporal

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


def in_process(folder: Path, names: Sequence[str]) -> None:
    """Print the processor time of runs from Parquet to a file, and of DuckDB by hand, which counts its rows."""
    import duckdb

    from streambound.analyzer.catalog import catalog_from_mapping
    from streambound.analyzer.spans import SourceText
    from streambound.criteria.check import check_source
    from streambound.jobs import compiled_of
    from streambound.synopsis_exec.runner import run_embedded

    con, kinds = duckdb.connect(config={"threads": 1}), {"BIGINT": "bigint", "VARCHAR": "string", "DATE": "date"}
    relations: dict[str, Any] = {}
    for table in TABLES:
        file = str(folder / f"{table}.parquet")
        days = "from_date - DATE '1970-01-01' AS b, to_date - DATE '1970-01-01' AS e"
        con.execute(f"CREATE TABLE {table} AS SELECT *, {days} FROM '{file}'")
        columns = {name: kinds[kind] for name, kind, *_ in con.execute(f"DESCRIBE FROM '{file}'").fetchall()}
        source = {"format": "parquet", "path": file}
        relations[table] = {"period": ["from_date", "to_date"], "columns": columns, "source": source}
    catalog = catalog_from_mapping({"time": {"domain": ["1985-01-01", "9999-01-01"]}, "relations": relations})
    click.echo("Seconds of processor time, one thread.\n\n| query | a run, from Parquet to JSON | DuckDB |")
    click.echo("| --- | --- | --- |")
    with TemporaryDirectory() as out:
        for name in names:
            (checked,) = check_source(SourceText("q.sql", f"SEQ VT ({QUERIES[name]})"), catalog)
            job = compiled_of(catalog, checked).in_process
            mine = _processor(partial(run_embedded, job, {"output": f"{out}/out.jsonl"}))
            hand = _processor(partial(con.sql(rows_of_duckdb(DUCKDB[name])).fetchall))
            click.echo(f"| {name} | {mine:.2f} | {_beside(hand, mine)} |")


def _processor(run: Callable[[], Any]) -> float:
    start = process_time()
    run()
    return process_time() - start


def _beside(theirs: float, ours: float) -> str:
    return f"{theirs:.2f} ({theirs / ours:.2f})"


def _of_spark(query: Callable[[str], Any], sql: str, runs: int) -> float:
    """Of reading the statement, planning it and writing its rows."""
    return seconds(lambda: query(sql).write.format("noop").mode("overwrite").save(), runs)


if __name__ == "__main__":
    main()
