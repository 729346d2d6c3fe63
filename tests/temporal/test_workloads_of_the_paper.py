"""The queries that the paper on snapshot semantics measures, over random rows: each point of time is a batch query.

Dignös et al., section 10 and appendix B: Employee, Tourism, and of TPC-BiH the nine queries of TPC-H without ORDER BY.
The batch queries are DuckDB's, over the rows that are valid; it knows nothing of periods.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from streambound import jobs
from streambound.synopsis_exec.runner import run_query
from support.profiles import MORE

LOW, HIGH = 0, 16
NATIONS, DAYS = (
    ["FRANCE", "GERMANY", "BRAZIL"],
    [f"{year}-0{month}-11" for year in (1994, 1995, 1996) for month in (3, 9)],
)
Drawn = dict[str, Any]
TABLES: dict[str, tuple[int, Drawn]] = {
    "employees": (6, {"emp_no": range(4), "first_name": ["Ann", "Bo"], "last_name": ["X", "Y"]}),
    "salaries": (14, {"emp_no": range(4), "salary": [60_000, 70_001, 70_002, 80_000]}),
    "titles": (6, {"emp_no": range(4), "title": ["Engineer", "Staff"]}),
    "dept_emp": (10, {"emp_no": range(4), "dept_no": ["d1", "d2"]}),
    "dept_manager": (4, {"emp_no": range(4), "dept_no": ["d1", "d2"]}),
    "tourismdata": (
        16, {"destination": ["Bozen", "Meran", "Brixen"], "adults": [1, 2, 3], "children": [0, 1, None],
             "countrycode": ["I", "A", "D"]},
    ),
    "country": (5, {"countrycode": ["I", "A", "D"], "continent": ["Europe", "Alps"]}),
    "region": (4, {"r_regionkey": range(2), "r_name": ["AMERICA", "ASIA"]}),
    "nation": (6, {"n_nationkey": range(2), "n_name": NATIONS, "n_regionkey": range(2)}),
    "supplier": (6, {"s_suppkey": range(3), "s_nationkey": range(2)}),
    "customer": (6, {"c_custkey": range(3), "c_nationkey": range(2)}),
    "part": (
        6, {"p_partkey": range(3), "p_name": ["green tin", "red steel"], "p_type": ["PROMO TIN", "ECONOMY STEEL"],
            "p_brand": ["Brand#12", "Brand#23"], "p_container": ["SM BOX", "MED BAG"], "p_size": [3, 7]},
    ),
    "partsupp": (6, {"ps_partkey": range(3), "ps_suppkey": range(3), "ps_supplycost": [2.5, 4.25]}),
    "orders": (
        8, {"o_orderkey": range(4), "o_custkey": range(3), "o_orderdate": DAYS,
            "o_orderpriority": ["1-URGENT", "5-LOW"]},
    ),
    "lineitem": (
        30, {"l_orderkey": range(4), "l_partkey": range(3), "l_suppkey": range(3), "l_quantity": [3, 9, 17, 30],
             "l_extendedprice": [100.5, 250.25, 90.0], "l_discount": [0.05, 0.06, 0.1], "l_tax": [0.02, 0.08],
             "l_returnflag": ["A", "R"], "l_linestatus": ["O", "F"], "l_shipdate": DAYS, "l_commitdate": DAYS,
             "l_receiptdate": DAYS, "l_shipmode": ["MAIL", "SHIP", "AIR"]},
    ),
}  # fmt: skip
"""How many rows each table has, and what its columns are drawn from."""
_VOLUME = "l_extendedprice * (1 - l_discount)"
_PAID = "dept_emp a JOIN salaries b ON (a.emp_no = b.emp_no)"
_UNMANAGED = "SELECT emp_no FROM dept_emp EXCEPT ALL SELECT emp_no FROM dept_manager"
QUERIES = {
    "join-1": f"SELECT a.emp_no, dept_no, salary FROM {_PAID}",
    "join-2": f"SELECT title, salary, dept_no FROM {_PAID} JOIN titles c ON (a.emp_no = c.emp_no)",
    "join-3": """SELECT a.emp_no, dept_no FROM dept_manager a JOIN salaries b ON (a.emp_no = b.emp_no)
        WHERE salary > 70000""",
    "join-4": """SELECT a.emp_no, a.dept_no, b.salary, first_name, last_name
        FROM dept_manager a, salaries b, employees e WHERE a.emp_no = b.emp_no and a.emp_no = e.emp_no""",
    "agg-1": f"SELECT dept_no, avg(salary) AS avg_salary FROM {_PAID} GROUP BY dept_no",
    "agg-2": "SELECT avg(salary) AS avg_salary FROM dept_manager a JOIN salaries b ON (a.emp_no = b.emp_no)",
    "agg-3": """SELECT count(1) AS n FROM (SELECT count(*) AS c, dept_no FROM dept_emp WHERE emp_no < 3
        GROUP BY dept_no HAVING count(*) > 1) s""",
    "agg-join": f"""SELECT d.emp_no, e.first_name, e.last_name, maxS.max_salary, d.dept_no
        FROM (SELECT max(salary) AS max_salary, dept_no FROM {_PAID} GROUP BY dept_no) maxS,
        salaries s, dept_emp d, employees e
        WHERE e.emp_no = s.emp_no AND s.salary = maxS.max_salary AND d.dept_no = maxS.dept_no
        AND d.emp_no = e.emp_no""",
    "diff-1": _UNMANAGED,
    "diff-2": f"SELECT a.emp_no, salary FROM ({_UNMANAGED}) a JOIN salaries b ON (a.emp_no = b.emp_no)",
    "C-S": "SELECT a.emp_no, salary FROM employees a JOIN salaries b ON (a.emp_no = b.emp_no) WHERE salary > 65000",
    "tou-join-agg": """WITH numPerDest AS (SELECT sum(adults + children) AS numT, destination AS dest FROM tourismdata
        GROUP BY destination) SELECT n.numT, n.dest, avg(o.numT) AS otherAvg FROM numPerDest n, numPerDest o
        WHERE n.dest <> o.dest GROUP BY n.numT, n.dest""",
    "tou-agg-1": """SELECT destination, count(*) AS numEnquiry, sum(adults + children) AS numTourists FROM tourismdata
        GROUP BY destination HAVING count(*) > 1""",
    "tou-agg-2": "SELECT destination, max(adults + children) AS maxTourists FROM tourismdata GROUP BY destination",
    "tou-agg-3": """SELECT max(cnt) AS maxInq FROM (SELECT count(*) AS cnt FROM tourismdata
        GROUP BY destination) AS q""",
    "tou-agg-join": """SELECT continent, count(*) AS numEnquiries FROM tourismdata t, country c
        WHERE t.countrycode = c.countrycode GROUP BY continent""",
    "Q1": f"""SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price,
        sum({_VOLUME}) AS sum_disc_price, sum({_VOLUME} * (1 + l_tax)) AS sum_charge, avg(l_quantity) AS avg_qty,
        avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order FROM lineitem
        WHERE l_shipdate <= DATE '1996-05-01' GROUP BY l_returnflag, l_linestatus""",
    "Q5": f"""SELECT n_name, sum({_VOLUME}) AS revenue FROM customer, orders, lineitem, supplier, nation, region
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey
        AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA'
        AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1996-01-01' GROUP BY n_name""",
    "Q6": """SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE '1994-01-01'
        AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.045 AND 0.075 AND l_quantity < 24""",
    "Q7": f"""SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue FROM (SELECT n1.n_name AS supp_nation,
        n2.n_name AS cust_nation, year(l_shipdate) AS l_year, {_VOLUME} AS volume
        FROM supplier, lineitem, orders, customer, nation n1, nation n2
        WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
        AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
        AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'))
        AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS shipping
        GROUP BY supp_nation, cust_nation, l_year""",
    "Q8": f"""SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS mkt_share
        FROM (SELECT year(o_orderdate) AS o_year, {_VOLUME} AS volume, n2.n_name AS nation
        FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
        WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey
        AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA'
        AND s_nationkey = n2.n_nationkey AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
        AND p_type = 'ECONOMY STEEL') AS all_nations GROUP BY o_year""",
    "Q9": f"""SELECT nation, o_year, sum(amount) AS sum_profit FROM (SELECT n_name AS nation,
        year(o_orderdate) AS o_year, {_VOLUME} - ps_supplycost * l_quantity AS amount
        FROM part, supplier, lineitem, partsupp, orders, nation
        WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey
        AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') AS profit
        GROUP BY nation, o_year""",
    "Q12": """SELECT l_shipmode, sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0
        END) AS high_line_count, sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1
        ELSE 0 END) AS low_line_count FROM orders, lineitem WHERE o_orderkey = l_orderkey
        AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
        GROUP BY l_shipmode""",
    "Q14": f"""SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN {_VOLUME} ELSE 0 END) / sum({_VOLUME})
        AS promo_revenue FROM lineitem, part WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01'""",
    "Q19": f"""SELECT sum({_VOLUME}) AS revenue FROM lineitem, part WHERE
        (p_partkey = l_partkey AND p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX')
        AND l_quantity >= 1 AND l_quantity <= 11 AND p_size BETWEEN 1 AND 5 AND l_shipmode IN ('AIR', 'MAIL'))
        OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX')
        AND l_quantity >= 10 AND l_quantity <= 20 AND p_size BETWEEN 1 AND 10 AND l_shipmode IN ('AIR', 'MAIL'))""",
}


def kind(values: Iterable[Any]) -> str:
    one = next(iter(values))
    if isinstance(one, str):
        return "date" if one[:2] == "19" else "string"
    return "double" if isinstance(one, float) else "bigint"


KINDS = {name: {column: kind(values) for column, values in drawn.items()} for name, (_, drawn) in TABLES.items()}
CATALOG = {
    "time": {"domain": [LOW, HIGH]},
    "relations": {
        name: {"columns": {**kinds, "vb": "bigint", "ve": "bigint"}, "period": ["vb", "ve"]}
        for name, kinds in KINDS.items()
    },
}


def drawn_rows(seed: int) -> dict[str, list[dict[str, Any]]]:
    rng = random.Random(seed)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for name, (number, columns) in TABLES.items():
        for _ in range(number):
            begin = rng.randint(LOW, HIGH // 2)
            end = rng.randint(begin + 3, HIGH)
            values = {column: rng.choice(list(values)) for column, values in columns.items()}
            rows[name].append({**values, "vb": begin, "ve": end})
    return rows


def rounded(row: Iterable[Any]) -> tuple[Any, ...]:
    """A row as both print it: numbers to six places."""
    return tuple(value if value is None or isinstance(value, str) else round(float(value), 6) for value in row)


def snapshots(sql: str, rows: dict[str, list[dict[str, Any]]]) -> list[Counter[Any]]:
    """What the query returns at each point of time."""
    con, found = duckdb.connect(config={"threads": 1}), []
    for name, kinds in KINDS.items():
        con.register(f"all_{name}", pa.Table.from_pylist(rows[name]))
        columns = ", ".join(
            f"CAST({one} AS {kind.replace('string', 'varchar')}) AS {one}" for one, kind in kinds.items()
        )
        valid = "vb <= getvariable('now') AND getvariable('now') < ve"
        con.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM all_{name} WHERE {valid}")
    for time in range(LOW, HIGH):
        con.execute(f"SET VARIABLE now = {time}")
        found.append(Counter(map(rounded, con.execute(sql).fetchall())))
    return found


@pytest.mark.parametrize("seed", range(MORE))
@pytest.mark.parametrize("name", QUERIES)
def test_each_point_of_time_is_a_batch_query(name: str, seed: int, tmp_path: Path) -> None:
    rows, found = drawn_rows(seed), [Counter[Any]() for _ in range(LOW, HIGH)]
    for table, mine in rows.items():
        (tmp_path / f"{table}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in mine), encoding="utf-8")
    compiled, out = jobs.compile(f"SEQ VT ({QUERIES[name]})", CATALOG).compiled, tmp_path / "out.jsonl"
    run_query(compiled, tmp_path, out, tmp_path / "bad.jsonl", engine="embedded")
    for line in out.read_text(encoding="utf-8").splitlines():
        *values, begin, end, count = json.loads(line).values()
        for time in range(begin, end):
            found[time][rounded(values)] += count
    wanted = snapshots(QUERIES[name], rows)
    assert found == wanted
    assert any(wanted), "the query says nothing of these rows"
