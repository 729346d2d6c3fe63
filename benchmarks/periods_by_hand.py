"""Tables of the shape of the Employee data set, the queries over it of Dignös et al. (appendix B.1), and these by hand.

The tables are made of hashes of keys: the same scale gives the same bytes. By hand the queries are SQL over the ends of
periods, ``b`` and ``e``: the paper's own for Spark, and another for DuckDB.

Source: Dignös et al., Snapshot Semantics for Temporal Multiset Relations, figures 8, 10, 12 and 15, whose slips are
repaired. Rows are intersected where they are joined, and coalesced once, at the end (appendix C).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

EMPLOYEES = 300_024
TABLES = ("employees", "salaries", "titles", "dept_emp", "dept_manager")

_TABLES = """
CREATE MACRO u(k, salt) AS ((hash(k, salt) >> 11)::DOUBLE / 9007199254740992.0);
CREATE TABLE employees AS SELECT i AS emp_no, 'F' || (hash(i, 'first') % 1275) AS first_name,
    'L' || (hash(i, 'last') % 1637) AS last_name, day AS from_date,
    CASE WHEN u(i, 'stay') < .8 THEN DATE '9999-01-01'
    ELSE day + greatest(30, CAST((DATE '2002-08-01' - day) * u(i, 'leave') AS INTEGER)) END AS to_date
    FROM (SELECT i, DATE '1985-01-01' + CAST(5300 * pow(u(i, 'hire'), .96) AS INTEGER) AS day
          FROM range({number}) r(i));
CREATE TABLE salaries AS SELECT emp_no, CAST(38623 + 34000 * pow(u(emp_no, 'base'), 2)
    + k * (300 + 1900 * u(emp_no, 'raise')) + 900 * u(emp_no * 32 + k, 'var') AS BIGINT) AS salary,
    from_date + CAST(365 * k AS INTEGER) AS from_date,
    CASE WHEN k = last THEN to_date ELSE from_date + CAST(365 * (k + 1) AS INTEGER) END AS to_date
    FROM (SELECT *, unnest(range(0, last + 1)) AS k FROM (SELECT *,
          greatest(0, (least(to_date, DATE '2002-08-01') - from_date - 1) // 365) AS last FROM employees));
CREATE TABLE changes AS SELECT *, from_date + greatest(1, CAST((least(to_date, DATE '2002-08-01') - from_date)
    * (.25 + .5 * u(emp_no, 'change')) AS INTEGER)) AS day FROM employees;
CREATE TABLE pieces AS SELECT kind, piece, emp_no, CASE WHEN piece = 1 THEN day ELSE from_date END AS from_date,
    CASE WHEN piece = 0 AND two THEN day ELSE to_date END AS to_date
    FROM (SELECT *, u(emp_no, kind) < share AND day < to_date AS two FROM changes,
          (VALUES ('dept', .105), ('title', .478)) kinds(kind, share)), (VALUES (0), (1)) n(piece)
    WHERE piece = 0 OR two;
CREATE TABLE dept_emp AS SELECT emp_no, 'd00' || (1 + CAST(floor(9 * pow(u(emp_no * 2 + piece, 'd'), 1.5)) AS INTEGER))
    AS dept_no, from_date, to_date FROM pieces WHERE kind = 'dept';
CREATE TABLE titles AS SELECT emp_no, 'title ' || CAST(floor(6 * u(emp_no * 2 + piece, 't')) AS INTEGER) AS title,
    from_date, to_date FROM pieces WHERE kind = 'title';
CREATE TABLE dept_manager AS SELECT emp_no, dept_no, from_date, to_date FROM dept_emp
    WHERE to_date = DATE '9999-01-01' AND u(emp_no, 'manager') < 24 / (0.8 * {number});
"""


def generate(folder: Path, scale: float) -> None:
    """Write the tables as Parquet: 80 % of the employees are current, to 9999-01-01; a salary each year."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(config={"threads": 2}) as con:
        con.execute(_TABLES.format(number=int(EMPLOYEES * scale)))
        for table in TABLES:
            con.execute(f"COPY (SELECT * FROM {table} ORDER BY ALL) TO '{folder / table}.parquet' (FORMAT parquet)")


_PAID_ROWS = "dept_emp d JOIN salaries s ON d.emp_no = s.emp_no"
_WITHOUT_MANAGERS = "SELECT emp_no FROM dept_emp EXCEPT ALL SELECT emp_no FROM dept_manager"
QUERIES = {
    "C-S max": "SELECT emp_no, salary FROM salaries WHERE salary > 40000",
    "join-1": f"SELECT d.emp_no, d.dept_no, s.salary FROM {_PAID_ROWS}",
    "join-2": f"SELECT t.title, s.salary, d.dept_no FROM {_PAID_ROWS} JOIN titles t ON d.emp_no = t.emp_no",
    "agg-1": f"SELECT d.dept_no, AVG(s.salary) AS m FROM {_PAID_ROWS} GROUP BY d.dept_no",
    "agg-join": f"""SELECT d.emp_no, e.first_name, e.last_name, m.most, d.dept_no
        FROM (SELECT d.dept_no, MAX(s.salary) AS most FROM {_PAID_ROWS} GROUP BY d.dept_no) m
        JOIN salaries s ON s.salary = m.most JOIN employees e ON e.emp_no = s.emp_no
        JOIN dept_emp d ON d.dept_no = m.dept_no AND d.emp_no = e.emp_no""",
    "diff-1": _WITHOUT_MANAGERS,
    "diff-2": f"SELECT a.emp_no, s.salary FROM ({_WITHOUT_MANAGERS}) a JOIN salaries s ON a.emp_no = s.emp_no",
    "many groups": "SELECT emp_no % 10000 AS g, COUNT(*) AS n, SUM(salary) AS s FROM salaries GROUP BY emp_no % 10000",
    "one group": "SELECT emp_no % 1 AS g, COUNT(*) AS n, SUM(salary) AS s FROM salaries GROUP BY emp_no % 1",
}
"""Queries by the names of the paper, and one with one hot group, beside the same with many."""
WITHOUT_TIME = QUERIES | {"C-S max": "SELECT DISTINCT emp_no, salary, b, e FROM salaries WHERE salary > 40000"}
"""The same of plain SQL: what is coalesced has no duplicates left."""


def _together(left: str, right: str, on: str, columns: str) -> str:
    """A join: rows of both sides, l and r, while both are valid."""
    return f"""SELECT {columns}, greatest(l.b, r.b) AS b, least(l.e, r.e) AS e FROM ({left}) l JOIN ({right}) r
        ON {on} AND l.b < r.e AND r.b < l.e"""


_PAID = _together(
    "SELECT * FROM dept_emp", "SELECT * FROM salaries", "l.emp_no = r.emp_no", "l.emp_no, dept_no, salary"
)
_TITLED = _together(_PAID, "SELECT * FROM titles", "l.emp_no = r.emp_no", "title, salary, dept_no")


def _coalesced(query: str, columns: str) -> str:
    """Figure 8, which gives a row for each duplicate."""
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


def _average(query: str, group: str, column: str) -> str:
    """Figure 12: rows of equal periods are added up first, then sums go up and down."""
    return f"""WITH pre AS (SELECT {group}, count({column}) AS c, sum({column}) AS s, b, e FROM ({query})
            GROUP BY {group}, b, e),
        moves AS (SELECT {group}, sum(add_c) AS add_c, sum(add_s) AS add_s, sum(dec_c) AS dec_c, sum(dec_s) AS dec_s, t
            FROM (SELECT {group}, c AS add_c, s AS add_s, 0 AS dec_c, 0 AS dec_s, b AS t FROM pre
                  UNION ALL SELECT {group}, 0, 0, c, s, e FROM pre) GROUP BY {group}, t),
        total AS (SELECT {group}, sum(add_c) OVER w - sum(dec_c) OVER w AS c,
            sum(add_s) OVER w - sum(dec_s) OVER w AS s, t FROM moves
            WINDOW w AS (PARTITION BY {group} ORDER BY t RANGE UNBOUNDED PRECEDING))
        SELECT {group}, m, b, e FROM (SELECT {group}, c, CASE WHEN c = 0 THEN NULL ELSE s / c END AS m, t AS b,
            last_value(t) OVER w AS e FROM total
            WINDOW w AS (PARTITION BY {group} ORDER BY t ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)) WHERE c > 0"""


def _greatest(query: str, group: str, column: str) -> str:
    """Figure 10, the split operator, and an aggregate of what is split: that of MAX (appendix E.3)."""
    return f"""WITH q AS ({query}), points AS (SELECT {group} AS g, b AS t FROM q UNION SELECT {group}, e FROM q),
        numbered AS (SELECT *, row_number() OVER (ORDER BY b) AS id FROM q),
        starts AS (SELECT {group}, {column}, t AS b, e, id FROM numbered
            JOIN points ON {group} = g AND b <= t AND t < e),
        parts AS (SELECT {group}, {column}, b, coalesce(lead(b) OVER (PARTITION BY id ORDER BY b), e) AS e FROM starts)
        SELECT {group}, max({column}) AS most, b, e FROM parts GROUP BY {group}, b, e"""


def _difference(left: str, right: str, columns: str) -> str:
    """Figure 15, which gives a row for each duplicate."""
    return f"""WITH counts AS (SELECT {columns}, b AS t, count(*) AS o, 0 AS c FROM ({left}) GROUP BY b, {columns}
            UNION ALL SELECT {columns}, e, 0, count(*) FROM ({left}) GROUP BY e, {columns}
            UNION ALL SELECT {columns}, b, -count(*), 0 FROM ({right}) GROUP BY b, {columns}
            UNION ALL SELECT {columns}, e, 0, -count(*) FROM ({right}) GROUP BY e, {columns}),
        acc AS (SELECT {columns}, t, sum(o) AS o, sum(c) AS c FROM counts GROUP BY t, {columns}),
        intervals AS (SELECT {columns}, t AS b, lead(t) OVER v AS e, sum(o) OVER w - sum(c) OVER w AS m FROM acc
            WINDOW v AS (PARTITION BY {columns} ORDER BY t),
                   w AS (PARTITION BY {columns} ORDER BY t RANGE UNBOUNDED PRECEDING)),
        mx AS (SELECT explode(sequence(1, (SELECT max(m) FROM intervals))) AS n)
        SELECT {columns}, b, e FROM intervals, mx WHERE m > 0 AND m >= n"""


def _best_paid() -> str:
    """The 4-way join above a maximum."""
    found = _greatest(_PAID, "dept_no", "salary")
    found = _together(found, "SELECT * FROM salaries", "r.salary = l.most", "dept_no, most, emp_no")
    names = "dept_no, most, l.emp_no, first_name, last_name"
    found = _together(found, "SELECT * FROM employees", "l.emp_no = r.emp_no", names)
    on = "l.emp_no = r.emp_no AND l.dept_no = r.dept_no"
    return _together(found, "SELECT * FROM dept_emp", on, "l.emp_no, first_name, last_name, most, l.dept_no")


_NO_MANAGERS = _difference("SELECT * FROM dept_emp", "SELECT * FROM dept_manager", "emp_no")
_SALARIES = "SELECT emp_no, salary, b, e FROM salaries"
_THEIRS = _together(_NO_MANAGERS, _SALARIES, "l.emp_no = r.emp_no", "l.emp_no, salary")
_BEST = "emp_no, first_name, last_name, most, dept_no"
PAPER = {
    "C-S max": _coalesced(f"{_SALARIES} WHERE salary > 40000", "emp_no, salary"),
    "join-1": _coalesced(_PAID, "emp_no, dept_no, salary"),
    "join-2": _coalesced(_TITLED, "title, salary, dept_no"),
    "agg-1": _coalesced(_average(_PAID, "dept_no", "salary"), "dept_no, m"),
    "agg-join": _coalesced(_best_paid(), _BEST),
    "diff-1": _coalesced(_NO_MANAGERS, "emp_no"),
    "diff-2": _coalesced(_THEIRS, "emp_no, salary"),
}
"""The paper's SQL, for Spark."""


def _swept(query: str, columns: str) -> str:
    """Coalesced, with multiplicities."""
    return f"""SELECT {columns}, b, e, n FROM (SELECT {columns}, t AS b, lead(t) OVER w AS e, sum(x) OVER w AS n FROM (
        SELECT {columns}, t, sum(x) AS x FROM (WITH q AS ({query})
            SELECT {columns}, b AS t, 1 AS x FROM q UNION ALL SELECT {columns}, e, -1 FROM q)
        GROUP BY {columns}, t HAVING sum(x) <> 0) WINDOW w AS (PARTITION BY {columns} ORDER BY t)) WHERE n > 0"""


def _means(query: str, group: str, column: str) -> str:
    return f"""SELECT {group}, m, b, e FROM (SELECT {group}, sum(s) OVER w / sum(c) OVER w AS m, t AS b,
        lead(t) OVER w AS e, sum(c) OVER w AS c FROM (SELECT {group}, t, sum(c) AS c, sum(s) AS s FROM (
            WITH q AS ({query}) SELECT {group}, b AS t, 1 AS c, {column} AS s FROM q
            UNION ALL SELECT {group}, e, -1, -{column} FROM q) GROUP BY {group}, t)
        WINDOW w AS (PARTITION BY {group} ORDER BY t)) WHERE c > 0"""


def _left_over(left: str, right: str, columns: str) -> str:
    return f"""SELECT {columns}, b, e FROM (SELECT {columns}, t AS b, lead(t) OVER w AS e, sum(x) OVER w AS m FROM (
        SELECT {columns}, t, sum(x) AS x FROM (SELECT {columns}, b AS t, 1 AS x FROM ({left})
            UNION ALL SELECT {columns}, e, -1 FROM ({left}) UNION ALL SELECT {columns}, b, -1 FROM ({right})
            UNION ALL SELECT {columns}, e, 1 FROM ({right})) GROUP BY {columns}, t)
        WINDOW w AS (PARTITION BY {columns} ORDER BY t)), unnest(generate_series(1, greatest(m, 0)::BIGINT))
        WHERE e IS NOT NULL"""


_REST = _left_over("SELECT * FROM dept_emp", "SELECT * FROM dept_manager", "emp_no")
DUCKDB = {
    "C-S max": _swept(f"{_SALARIES} WHERE salary > 40000", "emp_no, salary"),
    "join-1": _swept(_PAID, "emp_no, dept_no, salary"),
    "join-2": _swept(_TITLED, "title, salary, dept_no"),
    "agg-1": _swept(_means(_PAID, "dept_no", "salary"), "dept_no, m"),
    "diff-1": _swept(_REST, "emp_no"),
    "diff-2": _swept(_together(_REST, _SALARIES, "l.emp_no = r.emp_no", "l.emp_no, salary"), "emp_no, salary"),
}
"""By hand, as rows with multiplicities ``n``."""

rows_of_duckdb: Callable[[str], str] = "SELECT count(*), sum(n)::BIGINT FROM ({})".format
"""What is measured of a query of `DUCKDB`: all of its rows are made, and counted."""
