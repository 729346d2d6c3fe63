"""Jobs with FLOAT columns and typed constants print what batch SQL prints, and keep the values of a FLOAT's domain."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from streambound import cli

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", f = "float", x = "double", d = "decimal(9,2)", ts = "bigint" }
domain.f = [0.1, 0.5, 1.24, 16777217]
[streams.T]
timestamp = "ts"
columns = { a = "bigint", g = "float", y = "double", d = "decimal(9,2)", ts = "bigint" }
domain.g = { low = -1.1, high = 1.24 }
"""
FLOATS = [0.1, 0.1, 0.5, 1.24, 16777217, None]
DOUBLES = [0.1, 0.10000000149011612, 0.5, 1.24, 1.2400000095367432, 16777216, None]
WINDOW = "S.ts < T.ts AND T.ts <= S.ts + 5"
QUERIES = {
    "keys": f"SELECT S.f, T.y FROM S, T WHERE {WINDOW} AND S.f = T.y AND S.f IN (0.1F, 1.24F, 16777216)",
    "ranges": f"SELECT S.f, T.g FROM S, T WHERE {WINDOW} AND S.f <= T.g AND S.x <= 1.24F AND T.g >= 0.1F",
    "extremes": "SELECT DISTINCT S.f FROM S, T WHERE S.ts < T.ts AND S.f < T.y",
    "constants": "SELECT DISTINCT S.f, 0.1F AS k, 1.50 AS m, CAST('7' AS TINYINT) AS n, DATE '2024-1-2' AS o, "
    f"TRY_CAST(300 AS TINYINT) AS p FROM S, T WHERE {WINDOW} AND S.a IN ('1', 2) AND T.d < '100' "
    "AND (S.d = CAST(1.239 AS DECIMAL(9,2)) OR S.x = 0.1F)",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(CATALOG)
    (tmp_path / "input").mkdir()
    dice = Random(7)
    for name, single, double in (("S", "f", "x"), ("T", "g", "y")):
        rows = [
            {
                "a": dice.randrange(3), single: dice.choice([*FLOATS, 0.2] if single == "f" else [*FLOATS, -1.1]),
                double: dice.choice(DOUBLES), "d": dice.choice([1.24, 1.25, 0.1, 100]), "ts": ts,
            }
            for ts in range(60)
        ]  # fmt: skip
        (tmp_path / "input" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize("name", QUERIES)
def test_floats(place: Path, name: str) -> None:
    is_equal(place, name)


def test_floats_on_spark(spark: Any, place: Path) -> None:
    is_equal(place, "keys", "--engine", "spark")


def is_equal(place: Path, name: str, *more: str) -> None:
    (place / f"{name}.sql").write_text(QUERIES[name])
    arguments = ["verify", f"{name}.sql", "--input", "input", "--runs", "1", "--format", "json", *more]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["equal"] and all(run["results"] > 0 for run in report["runs"])
    rows = [json.loads(line) for line in (place / "input" / "S.jsonl").read_text().splitlines()]
    others = [json.loads(line) for line in (place / "input" / "T.jsonl").read_text().splitlines()]
    bad = {
        "f is outside its domain": sum(row["f"] == 0.2 for row in rows),
        "g is outside its domain": sum((row["g"] or 0) > 1.24 for row in others),
    }
    assert all(run["quarantined"] == bad for run in report["runs"])
