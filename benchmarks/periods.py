"""Snapshot queries over the shape of the Employee data set: ours, the paper's own SQL, the same without time, DuckDB.

    python benchmarks/periods.py DIR [--scale 0.1] [--runs 3] [--only agg-1]

DIR gets three tables, made of hashes of keys, if they are not there; the same scale gives the same bytes. Every result
is written to a `noop` sink (DuckDB: counted), in one session of two threads and a heap of 2 GiB; medians of the runs.
The shape is that of Dignös et al., section 10.3; their SQL is that of their figures 8 and 12, its slips repaired.
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

EMPLOYEES = 300_024


def generate(folder: Path, scale: float) -> None:
    """Write salaries, dept_emp and dept_manager as Parquet: 80 % of the employees are current, to 9999-01-01."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    con = duckdb.connect()
    con.execute("SET threads = 2")
    con.execute("CREATE MACRO u(k, salt) AS ((hash(k, salt) >> 11)::DOUBLE / 9007199254740992.0)")
    con.execute(f"""CREATE TABLE emp AS SELECT i AS emp_no, day AS from_date, CASE
        WHEN u(i, 'stay') < .8 THEN DATE '9999-01-01'
        ELSE day + greatest(30, CAST((DATE '2002-08-01' - day) * u(i, 'leave') AS INTEGER)) END AS to_date
        FROM (SELECT i, DATE '1985-01-01' + CAST(5300 * u(i, 'hire') AS INTEGER) AS day
              FROM range({int(EMPLOYEES * scale)}) r(i))""")
    con.execute("""CREATE TABLE salaries AS SELECT emp_no, CAST(38623 + 34000 * u(emp_no, 'base') + k * 1200
        + 900 * u(emp_no * 32 + k, 'var') AS BIGINT) AS salary, from_date + CAST(365 * k AS INTEGER) AS from_date,
        CASE WHEN k = last THEN to_date ELSE from_date + CAST(365 * (k + 1) AS INTEGER) END AS to_date
        FROM (SELECT *, unnest(range(0, last + 1)) AS k FROM (SELECT *,
              greatest(0, (least(to_date, DATE '2002-08-01') - from_date - 1) // 365) AS last FROM emp))""")
    con.execute("""CREATE TABLE dept_emp AS SELECT emp_no, 'd00' || (1 + CAST(floor(9 * u(emp_no, 'd')) AS INTEGER)) AS
        dept_no, from_date, to_date FROM emp""")
    con.execute("""CREATE TABLE dept_manager AS SELECT emp_no, dept_no, from_date, to_date FROM dept_emp
        WHERE to_date = DATE '9999-01-01' AND u(emp_no, 'boss') < 0.0001""")
    for table in ("salaries", "dept_emp", "dept_manager"):
        con.execute(f"COPY (SELECT * FROM {table} ORDER BY ALL) TO '{folder / table}.parquet' (FORMAT parquet)")


_JOINED = "dept_emp d JOIN salaries s ON d.emp_no = s.emp_no"
_DIFFERENCE = "SELECT emp_no FROM dept_emp EXCEPT ALL SELECT emp_no FROM dept_manager"
OURS = {
    "C-S max": "SELECT emp_no, salary FROM salaries WHERE salary > 40000",
    "join-1": f"SELECT d.emp_no, d.dept_no, s.salary FROM {_JOINED}",
    "agg-1": f"SELECT d.dept_no, AVG(s.salary) AS m FROM {_JOINED} GROUP BY d.dept_no",
    "agg-all": "SELECT COUNT(*) AS n, SUM(salary) AS s FROM salaries",
    "max-1": f"SELECT d.dept_no, MAX(s.salary) AS m FROM {_JOINED} GROUP BY d.dept_no",
    "diff-1": _DIFFERENCE,
    "diff-2": f"SELECT a.emp_no, s.salary FROM ({_DIFFERENCE}) a JOIN salaries s ON a.emp_no = s.emp_no",
}
"""Queries by the names of the paper."""
WITHOUT_TIME = OURS | {"C-S max": "SELECT DISTINCT emp_no, salary, b, e FROM salaries WHERE salary > 40000"}


def _pairs() -> str:
    return """SELECT d.emp_no, dept_no, salary, greatest(d.b, s.b) AS b, least(d.e, s.e) AS e FROM dept_emp d
        JOIN salaries s ON d.emp_no = s.emp_no AND d.b < s.e AND s.b < d.e"""


def _paper_coalesce(query: str, columns: str) -> str:
    """Figure 8 of the paper, which gives a row for each duplicate."""
    return f"""WITH q AS ({query}), cp AS (SELECT {columns}, sum(s) AS s, sum(f) AS f, t FROM (
        SELECT {columns}, count(*) AS s, 0 AS f, b AS t FROM q GROUP BY b, {columns}
        UNION ALL SELECT {columns}, 0, count(*), e FROM q GROUP BY e, {columns}) GROUP BY t, {columns}),
        ni AS (SELECT DISTINCT {columns}, sum(s) OVER w - sum(f) OVER w AS o, t FROM cp
               WINDOW w AS (PARTITION BY {columns} ORDER BY t RANGE UNBOUNDED PRECEDING)),
        dp AS (SELECT {columns}, o, coalesce(o - lag(o, 1) OVER v, -1) AS dif, t FROM ni
               WINDOW v AS (PARTITION BY {columns} ORDER BY t)),
        pp AS (SELECT {columns}, o, t AS b, lead(t) OVER v AS e FROM dp WHERE dif <> 0
               WINDOW v AS (PARTITION BY {columns} ORDER BY t)),
        mx AS (SELECT explode(sequence(1, (SELECT max(o) FROM pp))) AS n)
        SELECT {columns}, b, e FROM pp, mx WHERE e IS NOT NULL AND o >= n"""


def _paper_average() -> str:
    """Figure 12 without its pre-aggregation's slips: sums by increase and decrease."""
    return f"""SELECT dept_no, sum(s) OVER w / sum(c) OVER w AS m, t AS b, lead(t) OVER w AS e, sum(c) OVER w AS open
        FROM (SELECT dept_no, t, sum(c) AS c, sum(s) AS s FROM (
            SELECT dept_no, b AS t, 1 AS c, salary AS s FROM ({_pairs()})
            UNION ALL SELECT dept_no, e, -1, -salary FROM ({_pairs()})) GROUP BY dept_no, t)
        WINDOW w AS (PARTITION BY dept_no ORDER BY t)"""


PAPER = {
    "C-S max": _paper_coalesce("SELECT emp_no, salary, b, e FROM salaries WHERE salary > 40000", "emp_no, salary"),
    "join-1": _paper_coalesce(_pairs(), "emp_no, dept_no, salary"),
    "agg-1": _paper_coalesce(f"SELECT dept_no, m, b, e FROM ({_paper_average()}) WHERE open > 0", "dept_no, m"),
}


def _duckdb_coalesce(query: str, columns: str) -> str:
    return f"""WITH q AS ({query}), d AS (SELECT {columns}, t, sum(x) AS x FROM (SELECT {columns}, b AS t, 1 AS x FROM q
        UNION ALL SELECT {columns}, e, -1 FROM q) GROUP BY {columns}, t HAVING sum(x) <> 0),
        o AS (SELECT {columns}, t AS b, sum(x) OVER w AS m, lead(t) OVER w AS e FROM d
              WINDOW w AS (PARTITION BY {columns} ORDER BY t)) SELECT count(*) FROM o WHERE m > 0"""


def _duckdb_average() -> str:
    return f"""SELECT dept_no, sum(s) OVER w / sum(c) OVER w AS mean, t AS b, lead(t) OVER w AS e, sum(c) OVER w AS open
        FROM (SELECT dept_no, t, sum(c) AS c, sum(s) AS s FROM (
            SELECT dept_no, b AS t, 1 AS c, salary AS s FROM ({_pairs()})
            UNION ALL SELECT dept_no, e, -1, -salary FROM ({_pairs()})) GROUP BY dept_no, t)
        WINDOW w AS (PARTITION BY dept_no ORDER BY t)"""


DUCKDB = {
    "C-S max": _duckdb_coalesce("SELECT emp_no, salary, b, e FROM salaries WHERE salary > 40000", "emp_no, salary"),
    "join-1": _duckdb_coalesce(_pairs(), "emp_no, dept_no, salary"),
    "agg-1": _duckdb_coalesce(f"SELECT dept_no, mean, b, e FROM ({_duckdb_average()}) WHERE open > 0", "dept_no, mean"),
}


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
@click.option("--only", multiple=True, help="Queries, by name; all by default.")
def main(folder: Path, scale: float, runs: int, only: tuple[str, ...]) -> None:
    """Measure and print a table of seconds."""
    import duckdb
    from pyspark.sql import SparkSession

    from streambound.temporal import Temporal

    if not (folder / "dept_manager.parquet").exists():
        generate(folder, scale)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.shuffle.partitions", 8).config("spark.ui.enabled", False)
    spark = builder.config("spark.ui.showConsoleProgress", False).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    con = duckdb.connect()
    con.execute("SET threads = 2")
    t = Temporal(spark, domain=("1985-01-01", "9999-01-01"))
    for table in ("salaries", "dept_emp", "dept_manager"):
        rows = spark.read.parquet(str(folder / f"{table}.parquet"))
        t.relation(table, rows, period=("from_date", "to_date"))
        rows.selectExpr("*", "unix_date(from_date) AS b", "unix_date(to_date) AS e").createOrReplaceTempView(table)
        days = "from_date - DATE '1970-01-01' AS b, to_date - DATE '1970-01-01' AS e"
        con.execute(f"CREATE TABLE {table} AS SELECT *, {days} FROM '{folder / table}.parquet'")
    click.echo(f"{'query':10} {'ours':>8} {'paper':>8} {'no time':>8} {'DuckDB':>8}   seconds, medians of {runs}")
    for name, sql in OURS.items():
        if only and name not in only:
            continue
        cells = [_of_spark(t.sql, f"SEQ VT ({sql})", runs)]
        cells.append(_of_spark(spark.sql, PAPER[name], runs) if name in PAPER else None)
        cells.append(_of_spark(spark.sql, WITHOUT_TIME[name], runs))
        cells.append(_of_duckdb(con, DUCKDB[name], runs) if name in DUCKDB else None)
        click.echo(f"{name:10} " + " ".join("       –" if cell is None else f"{cell:8.2f}" for cell in cells))
        sys.stdout.flush()
    spark.stop()


def _of_spark(query: Callable[[str], Any], sql: str, runs: int) -> float:
    """Of reading the statement, planning it and writing its rows."""
    return seconds(lambda: query(sql).write.format("noop").mode("overwrite").save(), runs)


def _of_duckdb(con: Any, sql: str, runs: int) -> float:
    return seconds(lambda: con.execute(sql).fetchall(), runs)


if __name__ == "__main__":
    main()
