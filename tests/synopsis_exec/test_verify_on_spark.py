"""`streambound verify` end to end: a job that is right over every type, and wrong ones that are caught and shrunk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from synopsis_exec.test_feeds import plan_of

from streambound import cli
from streambound.synopsis_exec import job_file, verify
from streambound.synopsis_exec.job_file import CompiledJob, compiled, job_text

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

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
FIGURE = "SELECT S.A, T.B FROM S, T, U WHERE S.I > T.J AND T.J > U.K AND S.A > T.B AND 0 < T.B AND T.B < 5"
FIGURE_CATALOG = {
    "streams": {
        "S": {"timestamp": "I", "columns": {"A": "bigint", "I": "bigint"}},
        "T": {"timestamp": "J", "columns": {"B": "bigint", "J": "bigint"}},
        "U": {"timestamp": "K", "columns": {"C": "bigint", "K": "bigint"}},
    }
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _verify(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["verify", *arguments])


def _toml(catalog: dict[str, Any]) -> str:
    lines = []
    for name, body in catalog["streams"].items():
        columns = ", ".join(f'{column} = "{kind}"' for column, kind in body["columns"].items())
        lines += [f"[streams.{name}]", f'timestamp = "{body["timestamp"]}"', f"columns = {{ {columns} }}"]
    return "\n".join(lines)


def test_a_right_job_over_recorded_rows_of_every_type(spark: Any, place: Path) -> None:
    """Whose results go nowhere else, whatever the catalog says."""
    (place / "streams.toml").write_text(f'{CATALOG}\n[sinks.typed]\nformat = "json"\npath = "${{env:NOWHERE}}/sent"\n')
    (place / "q.sql").write_text(SQL)
    (place / "in").mkdir()
    for name, rows in INPUT.items():
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (place / "in" / f"{name}.jsonl").write_text("\n".join(lines))
    result = _verify("q.sql", "--input", "in", "--runs", "1", "--seed", "7", "--format", "json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["equal"] and report["query"] == "typed"
    (run,) = report["runs"]
    assert run["rows"] == {"S": 6, "T": 4, "R": 3}
    assert sum(run["quarantined"].values()) == 3
    # Two young tuples of S with k = 'a', each with three older ones of T, each with two of R; and two of S alone.
    assert (run["results"], run["timestamps"]) == (2 * 3 * 2 + 2, 2)


def test_a_wrong_comparison_is_caught_and_shrunk(spark: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job of another query, with <= for <: its kernel alone shows the difference."""
    (place / "streams.toml").write_text(_toml(FIGURE_CATALOG))
    (place / "figure.sql").write_text(FIGURE)
    wrong = compiled(plan_of(FIGURE.replace("T.B < 5", "T.B <= 5"), FIGURE_CATALOG)).job
    monkeypatch.setattr(job_file, "compiled", lambda plan: CompiledJob(plan, wrong))
    monkeypatch.setattr(verify, "COMBINATIONS", 30_000)
    result = _verify("figure.sql", "--runs", "3", "--format", "json")
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    assert not report["equal"]
    difference = report["difference"]
    assert (difference["minimal"], difference["by"]) == (True, "kernel")
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


def test_a_job_that_loses_a_result_is_shrunk_with_the_job(
    spark: Any, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernel is right, and its output lacks a line: only whole runs show it."""
    (place / "streams.toml").write_text(_toml(FIGURE_CATALOG))
    (place / "one.sql").write_text("SELECT S.A FROM S WHERE S.A > 3")
    (place / "in").mkdir()
    (place / "in" / "S.jsonl").write_text("".join(f'{{"A": {i}, "I": {i}}}\n' for i in range(8)))
    monkeypatch.setattr(job_file, "compiled", lambda plan: Losing(plan, compiled(plan).job))
    result = _verify("one.sql", "--input", "in", "--runs", "1")
    assert result.exit_code == 1, result.output
    assert "first at _ts = 6:\n  A  batch SQL  job\n  6  1 times    0 times\n" in result.output
    assert "with 1 row (no row can go: " in result.output and " trials with the job on Spark):" in result.output
    assert result.output.endswith('  S {"A": 6, "I": 6}\n')


def test_a_job_that_takes_rows_within_the_lateness_for_late_ones(
    spark: Any, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows come out of order, as the catalog allows; a job that does not wait for them is told by its results."""
    catalog = {"streams": {name: {**FIGURE_CATALOG["streams"][name], "lateness": 6} for name in "ST"}}
    sql = "SELECT S.A, T.B FROM S, T WHERE S.I > T.J AND T.B < 5 AND 0 < T.B AND S.A < 9 AND 0 < S.A"
    (place / "streams.toml").write_text(_toml(catalog).replace("timestamp", "lateness = 6\ntimestamp"))
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
    monkeypatch.setattr(job_file, "compiled", lambda plan: CompiledJob(plan, impatient))
    monkeypatch.setattr(verify, "JOB_TRIALS", 5)
    result = _verify(*arguments)
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    assert report["runs"][-1]["quarantined"]["late: its timestamp is closed already"] > 0
    difference = report["difference"]
    assert difference["by"] == "job"
    (s, t) = ({json.loads(row)[key] for row in difference["rows"][name]} for name, key in (("S", "I"), ("T", "J")))
    assert s and t and len(s) + len(t) < 32
    assert all(cell["job"] < cell["batch_sql"] for cell in difference["results"])
