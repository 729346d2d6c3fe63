"""What recorded rows suggest to declare: what holds of them, and no more than that."""

from __future__ import annotations

import json
import random
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.errors import InputError
from streambound.importing.measured import measured

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { k = "string", n = "int", x = "double", ts = "timestamp" }
[streams.T]
timestamp = "at"
columns = { at = "bigint" }
[relations.R]
columns = { a = "bigint" }
"""
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def rows_of(seed: int) -> tuple[list[datetime], list[dict[str, object]]]:
    dice = random.Random(seed)
    times = [BEGIN + timedelta(milliseconds=dice.randrange(120_000)) for _ in range(300)]
    values = [{"k": dice.choice("ab"), "n": dice.randrange(3), "x": dice.random()} for _ in times]
    return times, [value | {"ts": time.isoformat()} for value, time in zip(values, times, strict=True)]


def written(folder: Path, name: str, rows: list[dict[str, object]]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("seed", range(5))
def test_suggestions_hold_and_nothing_less_does(seed: int, tmp_path: Path) -> None:
    times, rows = rows_of(seed)
    written(tmp_path, "S.jsonl", rows)
    written(tmp_path, "T.jsonl", [{"at": at} for at in (3, 3, 5, 4, 5, 5)])
    written(tmp_path, "R.jsonl", [{"a": 1}, {"a": 2}])
    found = tomllib.loads(measured(parse_catalog(CATALOG, "streams.toml"), tmp_path))
    stream = found["streams"]["S"]
    within = timedelta(seconds=1)
    most = max(sum(time - within < other <= time for other in times) for time in times)
    late = max(max(times[: place + 1]) - time for place, time in enumerate(times))
    assert stream["max_rate"] == {"rows": most, "per": "1 second"}
    assert stream["domain"] == {"k": {"values": ["a", "b"]}, "n": {"values": [0, 1, 2]}}
    number, unit = stream["lateness"].split()
    assert timedelta(**{f"{unit.removesuffix('s')}s": int(number)}) == late
    assert found["streams"]["T"] == {"max_per_timestamp": 3, "lateness": 1}
    assert found["relations"] == {"R": {"rows": 2}}


def test_parquet_and_directories(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "T").mkdir()
    for number in (1, 2):
        duckdb.sql(f"COPY (SELECT {number} AS at) TO '{tmp_path}/T/{number}.parquet'")
    assert "# 2 rows of 1.parquet, 2.parquet" in measured(parse_catalog(CATALOG, "streams.toml"), tmp_path)


def test_what_is_no_row_is_not_measured(tmp_path: Path) -> None:
    (tmp_path / "T.jsonl").write_text('{"at": 7}\n{"at": "later"}\nno row\n')
    assert "max_per_timestamp = 1" in measured(parse_catalog(CATALOG, "streams.toml"), tmp_path)


def test_without_rows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no rows of S, T, R"):
        measured(parse_catalog(CATALOG, "streams.toml"), tmp_path)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "streams.toml").write_text(CATALOG)
    written(tmp_path, "R.jsonl", [{"a": 1}])
    monkeypatch.chdir(tmp_path)
    assert "rows = 1" in CliRunner().invoke(cli.main, ["catalog", "measure", "."]).output
