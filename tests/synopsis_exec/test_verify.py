"""`streambound verify` end to end: jobs that are right, and wrong ones that are caught and shrunk; and on Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streambound import cli, jobs
from streambound.synopsis_exec import bench, finite_rows, job_file
from streambound.synopsis_exec.job_file import CompiledJob, compiled, job_text
from support.figure import FIGURE, FIGURE_CATALOG, toml
from support.plans import plan_of

CATALOG = """
[streams.S]
timestamp = "at"
columns = { k = "string", d = "decimal(9,2)", born = "date", x = "double", tags = "array<int>", at = "timestamp" }
[streams.T]
timestamp = "at"
columns = { k = "string", n = "int", ok = "boolean", at = "timestamp" }
domain.n = [0, 3]
[relations.R]
columns = { k = "string", name = "string" }
rows = 5
"""
SQL = """-- name: typed
WITH young AS (SELECT * FROM S WHERE born > DATE '2000-01-01')
SELECT y.d, y.born, y.x, R.name, T.n FROM young AS y JOIN T ON T.k = y.k AND T.at < y.at JOIN R ON R.k = y.k
WHERE y.at <= T.at + INTERVAL 5 SECONDS
UNION ALL
SELECT S.d, S.born, S.x, 'none', -1 FROM S WHERE S.k IS NULL OR tags IS NOT NULL
"""
INPUT: dict[str, list[Any]] = {
    "S": [
        {"k": "a", "d": 1.25, "born": "2001-02-03", "x": 0.5, "tags": [1], "at": "2026-01-01T00:00:03+01:00"},
        {"k": "a", "d": 1.25, "born": "2001-02-03", "x": 0.5, "tags": None, "at": "2025-12-31 23:00:03"},
        {"k": "b", "d": -0.05, "born": None, "x": None, "tags": None, "at": "2025-12-31T23:00:04Z"},
        {"k": None, "d": None, "born": "1999-01-01", "x": 2, "tags": None, "at": "2025-12-31T23:00:02.5Z"},
        "not JSON",
        {"k": "a", "d": "many", "born": None, "x": None, "tags": None, "at": "2025-12-31T23:00:05Z"},
    ],
    "T": [
        {"k": "a", "n": 0, "ok": True, "at": "2025-12-31T23:00:00Z"},
        {"k": "a", "n": 9, "ok": True, "at": "2025-12-31T23:00:00Z"},
        {"k": "a", "n": 3, "ok": None, "at": "2025-12-31T23:00:01Z"},
        {"k": "a", "n": None, "ok": None, "at": "2025-12-31T23:00:01Z"},
    ],
    "R": [{"k": "a", "name": "A"}, {"k": "a", "name": None}, {"k": None, "name": "none"}],
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _verify(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["verify", *arguments])


def verified(*arguments: str) -> dict[str, Any]:
    """The report of a verification that found no difference."""
    result = _verify(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    report: dict[str, Any] = json.loads(result.stdout)
    assert report["equal"]
    return report


@pytest.fixture
def typed(place: Path) -> Path:
    """Whose results go nowhere else, whatever the catalog says."""
    (place / "streams.toml").write_text(f'{CATALOG}\n[sinks.typed]\nformat = "json"\npath = "${{env:NOWHERE}}/sent"\n')
    (place / "q.sql").write_text(SQL)
    (place / "in").mkdir()
    for name, rows in INPUT.items():
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (place / "in" / f"{name}.jsonl").write_text("\n".join(lines))
    return place


def is_typed(report: dict[str, Any]) -> None:
    (run,) = report["runs"]
    assert run["rows"] == {"S": 6, "T": 4, "R": 3}
    assert sum(run["quarantined"].values()) == 3
    # Two young tuples of S with k = 'a', each with three older ones of T, each with two of R; and two of S alone.
    assert (run["results"], run["timestamps"]) == (2 * 3 * 2 + 2, 2)


def test_a_right_job_over_recorded_rows_of_every_type(typed: Path) -> None:
    report = verified("q.sql", "--input", "in", "--runs", "1", "--seed", "7")
    assert (report["query"], report["engine"]) == ("typed", "embedded")
    is_typed(report)


def test_batch_sql_says_the_same_of_every_type(spark: Any, typed: Path) -> None:
    report = verified("q.sql", "--input", "in", "--runs", "1", "--seed", "7", "--engine", "spark")
    assert report["engine"] == "spark"
    is_typed(report)


def test_a_wrong_comparison_is_caught_and_shrunk(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job of another query, with <= for <."""
    (place / "streams.toml").write_text(toml(FIGURE_CATALOG))
    (place / "figure.sql").write_text(FIGURE)
    wrong = compiled(plan_of(FIGURE.replace("T.B < 5", "T.B <= 5"), FIGURE_CATALOG)).job
    monkeypatch.setattr(job_file, "compiled", lambda plan, **more: CompiledJob(plan, wrong))
    monkeypatch.setattr(finite_rows, "COMBINATIONS", 30_000)
    result = _verify("figure.sql", "--runs", "3", "--format", "json")
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    assert not report["equal"]
    difference = report["difference"]
    assert difference["minimal"]
    s, t, u = (json.loads(line) for name in "STU" for line in difference["rows"][name])
    assert t["B"] == 5 and s["A"] > 5 and s["I"] > t["J"] > u["K"]
    assert difference["_ts"] == s["I"]
    assert difference["results"] == [{"values": {"A": str(s["A"]), "B": "5"}, "batch_sql": 0, "job": 1}]


class Losing(CompiledJob):
    """A job whose file drops a result at its end."""

    @property
    def text(self) -> str:
        end = 'if __name__ == "__main__":\n'
        edit = (
            "    status = main(JOB)\n"
            '    file = Path(sys.argv[sys.argv.index("--output") + 1])\n'
            "    kept = [line for line in file.read_text().splitlines(True) if '\"A\":6,' not in line]\n"
            '    file.write_text("".join(kept))\n'
            "    sys.exit(status)\n"
        )
        text = job_text(self.job, self.plan)
        return text[: text.rindex(end) + len(end)] + edit


def test_a_job_on_spark_that_loses_a_result(spark: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the file of the job is wrong."""
    (place / "streams.toml").write_text(toml(FIGURE_CATALOG))
    (place / "one.sql").write_text("SELECT S.A FROM S WHERE S.A > 3")
    (place / "in").mkdir()
    (place / "in" / "S.jsonl").write_text("".join(f'{{"A": {i}, "I": {i}}}\n' for i in (5, 6, 7)))
    monkeypatch.setattr(job_file, "compiled", lambda plan, **more: Losing(plan, compiled(plan).job))
    result = _verify("one.sql", "--input", "in", "--runs", "1", "--engine", "spark")
    assert result.exit_code == 1, result.output
    assert "first at _ts = 6:\n  A  batch SQL  job\n  6  1 times    0 times\n" in result.output
    assert "with 1 row (no row can go: " in result.output
    assert result.output.endswith('  S {"A": 6, "I": 6}\n')


def test_a_job_that_takes_rows_within_the_lateness_for_late_ones(
    spark: Any, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows come out of order, as the catalog allows; a job that does not wait for them is told by its results."""
    catalog = {"streams": {name: {**FIGURE_CATALOG["streams"][name], "lateness": 6} for name in "ST"}}
    sql = "SELECT S.A, T.B FROM S, T WHERE S.I > T.J AND T.B < 5 AND 0 < T.B AND S.A < 9 AND 0 < S.A"
    (place / "streams.toml").write_text(toml(catalog).replace("timestamp", "lateness = 6\ntimestamp"))
    (place / "late.sql").write_text(sql)
    (place / "in").mkdir()
    for name, (value, time) in {"S": "AI", "T": "BJ"}.items():
        rows = [json.dumps({value: 1 + ts % 4, time: ts}) for ts in range(16)]
        (place / "in" / f"{name}.jsonl").write_text("\n".join(rows))
    arguments = ("late.sql", "--input", "in", "--runs", "2", "--format", "json")
    result = _verify(*arguments)
    assert result.exit_code == 0, result.output
    right = json.loads(result.stdout)
    assert all(run["quarantined"] == {} and run["batches"] > 1 and run["results"] == 120 for run in right["runs"])
    strict = {"streams": {name: FIGURE_CATALOG["streams"][name] for name in "ST"}}
    impatient = compiled(plan_of(sql, strict)).job
    monkeypatch.setattr(job_file, "compiled", lambda plan, **more: CompiledJob(plan, impatient))
    monkeypatch.setattr(bench, "_TRIALS_HERE", 5)
    result = _verify(*arguments)
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    assert report["runs"][-1]["quarantined"]["late: its timestamp is closed already"] > 0
    difference = report["difference"]
    (s, t) = ({json.loads(row)[key] for row in difference["rows"][name]} for name, key in (("S", "I"), ("T", "J")))
    assert s and t and len(s) + len(t) < 32
    assert all(cell["job"] < cell["batch_sql"] for cell in difference["results"])


PERIODS = """
[streams.shifts]
timestamp = "vb"
columns = { name = "string", skill = "string", vb = "bigint", ve = "bigint" }
period = ["vb", "ve"]
max_duration = 24
max_per_timestamp = 10
[streams.posts]
timestamp = "since"
columns = { skill = "string", pay = "double", since = "bigint", until = "bigint" }
period = ["since", "until"]
max_valid = 5
snapshot_key = ["skill"]
"""
LEFT = "SELECT s.name, p.pay FROM shifts s LEFT JOIN posts p ON s.skill = p.skill"


@pytest.fixture
def periods(place: Path) -> Path:
    (place / "streams.toml").write_text(PERIODS)
    return place


def test_generated_rows_with_periods(periods: Path) -> None:
    """Some of them bad: alone, or beside others."""
    (periods / "q.sql").write_text(f"SEQ VT ({LEFT})")
    result = _verify("q.sql", "--runs", "2", "--format", "json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["equal"] and sum(run["results"] for run in report["runs"]) > 100
    assert any("snapshot_key" in reason for run in report["runs"] for reason in run["quarantined"])


def test_a_wrong_job_over_rows_with_periods(periods: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An inner join for the left one: the difference is at a point of time, with one row left."""
    (periods / "q.sql").write_text(f"SEQ VT ({LEFT})")
    wrong = jobs.compile(f"SEQ VT ({LEFT.replace('LEFT', '')})", PERIODS).compiled.job
    monkeypatch.setattr(job_file, "compiled", lambda plan, **more: CompiledJob(plan, wrong))
    result = _verify("q.sql", "--runs", "1", "--format", "json")
    assert result.exit_code == 1, result.output
    difference = json.loads(result.stdout)["difference"]
    assert difference["minimal"]
    assert (len(difference["rows"]["shifts"]), difference["rows"]["posts"]) == (1, [])
    shift = json.loads(difference["rows"]["shifts"][0])
    assert difference["_ts"] == shift["vb"]
    name = "NULL" if shift["name"] is None else shift["name"]
    assert difference["results"] == [{"values": {"name": name, "pay": "NULL"}, "batch_sql": 1, "job": 0}]


BUCKETS = {
    "the ends of a window of integers": "SELECT window.start AS s, window.end AS e, COUNT(*) AS n FROM S "
    "GROUP BY window(ts, '10 microseconds') HAVING window.end > 3",
    "windows that overlap, of a subquery": "SELECT q.e, q.n FROM (SELECT window.end AS e, SUM(b) AS n FROM S "
    "GROUP BY window(ts, '10 microseconds', '5 microseconds')) q WHERE q.n > 1",
    "sessions": "SELECT a, session_window.start AS s, session_window.end AS e, COUNT(*) AS n FROM S "
    "GROUP BY a, session_window(ts, '2 microseconds')",
    "Flink's group function": "SELECT a, HOP_START(ts, INTERVAL '0.000005' SECOND, INTERVAL '0.00001' SECOND) AS s, "
    "HOP_ROWTIME(ts, INTERVAL '0.000005' SECOND, INTERVAL '0.00001' SECOND) AS r, COUNT(*) AS n FROM S "
    "GROUP BY a, HOP(ts, INTERVAL '0.000005' SECOND, INTERVAL '0.00001' SECOND)",
    "Flink's table function": "SELECT x.a, window_start, window_time, COUNT(*) AS n "
    "FROM TABLE(TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '0.00001' SECOND)) AS x "
    "GROUP BY x.a, window_start, window_end, window_time",
    "Flink's function of timestamps": "SELECT TUMBLE_END(ts, INTERVAL '1' MINUTE) AS e, COUNT(*) AS n FROM T "
    "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
}


def with_buckets(place: Path, sql: str) -> None:
    columns = 'columns = { a = "bigint", b = "bigint", ts = "%s" }\ndomain.a = [1, 3]\nmax_per_timestamp = 3\n'
    tables = [f'[streams.{name}]\ntimestamp = "ts"\n{columns % kind}' for name, kind in BUCKET_TIMES.items()]
    (place / "streams.toml").write_text("".join(tables))
    (place / "q.sql").write_text(sql)


@pytest.mark.parametrize("sql", BUCKETS.values(), ids=BUCKETS)
def test_buckets_of_time(place: Path, sql: str) -> None:
    with_buckets(place, sql)
    assert verified("q.sql", "--runs", "1")["results"] > 0


@pytest.mark.parametrize("name", ["the ends of a window of integers", "Flink's group function"])
def test_buckets_of_time_are_those_of_spark(spark: Any, place: Path, name: str) -> None:
    """Spark has no windows of integers, and not Flink's functions: batch SQL asks Spark's `window` of timestamps."""
    with_buckets(place, BUCKETS[name])
    assert verified("q.sql", "--runs", "1", "--engine", "spark")["results"] > 3


BUCKET_TIMES = {"S": "bigint", "T": "timestamp"}


CHANGES = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
domain.a = [0, 4]
max_per_timestamp = 2
"""
R = '[relations.R]\ncolumns = {{ a = "bigint", n = "string" }}\ndomain.a = [0, 4]\nrows = 5\nchanges = {{ {} }}\n'
FORMATS = {
    "inserts and deletes": 'timestamp = "ts", op = "op"',
    "inserts and deletes by key": 'timestamp = "ts", op = "op", key = ["a"]',
    "Debezium's envelopes": 'timestamp = "ts_ms", format = "debezium", key = ["a"]',
    "upserts": 'timestamp = "ts", format = "upsert", key = ["a"]',
}
READING = {
    "as of a time": "SELECT S.a, R.n FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts ON S.a = R.a",
    "as it is": "SELECT a, COUNT(n) AS n, MAX(n) AS m FROM R GROUP BY a",
}


@pytest.mark.parametrize(("how", "sql"), [*zip(FORMATS, [*READING.values()] * 2, strict=True)], ids=FORMATS)
def test_a_relation_that_changes(place: Path, how: str, sql: str) -> None:
    (place / "streams.toml").write_text(CHANGES + R.format(FORMATS[how]))
    (place / "q.sql").write_text(sql)
    assert verified("q.sql", "--runs", "1")["results"] > 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.a, V.b FROM S ASOF LEFT JOIN V ON V.a = S.a AND V.ts <= S.ts",
        "SELECT DISTINCT ON (a) a, b, ts FROM S ORDER BY a, ts DESC",
        "SELECT a, SUM(b) AS n FROM S GROUP BY ROLLUP (a)",
    ],
)
def test_what_is_read_as_other_operators_needs_no_spark(place: Path, sql: str) -> None:
    columns = 'columns = { a = "bigint", b = "bigint", ts = "bigint" }\ndomain.a = [1, 3]\n'
    tables = (f'[streams.{name}]\ntimestamp = "ts"\n{columns}' for name in "SV")
    (place / "streams.toml").write_text("".join(tables))
    (place / "q.sql").write_text(sql)
    for tick in ("timestamp", "batch"):
        assert verified("q.sql", "--runs", "1", "--engine", "embedded", "--tick", tick)["results"] > 4


def test_what_needs_spark_says_so(place: Path) -> None:
    (place / "streams.toml").write_text(toml(FIGURE_CATALOG))
    (place / "q.sql").write_text("SELECT S.A, sinh(S.A) AS r FROM S WHERE S.A > 3")
    result = _verify("q.sql", "--engine", "embedded")
    assert result.exit_code == 2
    assert "q cannot run without Spark: " in result.output and "run it with --engine spark" in result.output


def test_a_value_that_only_spark_knows(place: Path) -> None:
    """The reference evaluator has no infinite numbers."""
    (place / "streams.toml").write_text('[streams.S]\ntimestamp = "ts"\ncolumns = { x = "double", ts = "bigint" }\n')
    (place / "q.sql").write_text("SELECT x FROM S WHERE x > 1")
    (place / "in").mkdir()
    (place / "in" / "S.jsonl").write_text('{"x": "Infinity", "ts": 1}\n{"x": 2, "ts": 2}\n')
    result = _verify("q.sql", "--input", "in", "--engine", "embedded")
    assert result.exit_code == 2
    assert "q cannot run without Spark: only Spark knows what is computed of Infinity" in result.output
