"""Tables of the shape of the Employee data set, and the queries over it of Dignös et al., appendix B.1.

All of them are made of hashes of keys: the same scale gives the same bytes.
"""

from __future__ import annotations

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


_PAID = "dept_emp d JOIN salaries s ON d.emp_no = s.emp_no"
_NO_MANAGERS = "SELECT emp_no FROM dept_emp EXCEPT ALL SELECT emp_no FROM dept_manager"
QUERIES = {
    "C-S max": "SELECT emp_no, salary FROM salaries WHERE salary > 40000",
    "join-1": f"SELECT d.emp_no, d.dept_no, s.salary FROM {_PAID}",
    "join-2": f"SELECT t.title, s.salary, d.dept_no FROM {_PAID} JOIN titles t ON d.emp_no = t.emp_no",
    "agg-1": f"SELECT d.dept_no, AVG(s.salary) AS m FROM {_PAID} GROUP BY d.dept_no",
    "agg-join": f"""SELECT d.emp_no, e.first_name, e.last_name, m.most, d.dept_no
        FROM (SELECT d.dept_no, MAX(s.salary) AS most FROM {_PAID} GROUP BY d.dept_no) m
        JOIN salaries s ON s.salary = m.most JOIN employees e ON e.emp_no = s.emp_no
        JOIN dept_emp d ON d.dept_no = m.dept_no AND d.emp_no = e.emp_no""",
    "diff-1": _NO_MANAGERS,
    "diff-2": f"SELECT a.emp_no, s.salary FROM ({_NO_MANAGERS}) a JOIN salaries s ON a.emp_no = s.emp_no",
    "many groups": "SELECT emp_no % 10000 AS g, COUNT(*) AS n, SUM(salary) AS s FROM salaries GROUP BY emp_no % 10000",
    "one group": "SELECT emp_no % 1 AS g, COUNT(*) AS n, SUM(salary) AS s FROM salaries GROUP BY emp_no % 1",
}
"""Queries by the names of the paper, and one with one hot group, beside the same with many."""
WITHOUT_TIME = QUERIES | {"C-S max": "SELECT DISTINCT emp_no, salary, b, e FROM salaries WHERE salary > 40000"}
"""The same of plain SQL: what is coalesced has no duplicates left."""
