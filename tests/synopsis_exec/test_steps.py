"""Recorded rows without Spark, and what `explain --emit synopses` prints of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import InputError, RuntimeLimitError, UsageError
from streambound.synopsis_exec.job_file import compiled
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.recorded import read_rows, recorded_rows
from streambound.synopsis_exec.steps import steps_text
from support.product import decided

CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "at", "columns": {"k": "string", "at": "timestamp"}},
        "T": {"timestamp": "at", "columns": {"k": "string", "at": "timestamp"}, "domain": {"k": ["x", "y", "z"]}},
    }
}
SQL = "SELECT S.k FROM S, T WHERE S.at > T.at AND S.k = T.k"
SMALL: dict[str, Any] = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": {"a": "bigint", "unused": "boolean", "ts": "bigint"},
            "domain": {"a": [0, 3]},
        }
    },
    "relations": {"R": {"columns": {"k": "bigint"}, "rows": 1}},
}
SMALL_SQL = "SELECT S.a FROM S, R"


def plan_of(sql: str, catalog: dict[str, Any]) -> Plan:
    return make_plan(decided(sql, catalog), catalog_from_mapping(catalog))


def test_steps(tmp_path: Path) -> None:
    (tmp_path / "S.jsonl").write_text('{"k": "x", "at": "2024-01-01T00:00:01Z"}\n{"k": null, "at": "2024-01-01"}\n')
    (tmp_path / "T").mkdir()
    (tmp_path / "T" / "1.jsonl").write_text('{"k": "x", "at": "2024-01-01"}\n\n{"k": "x", "at": "2024-01-01"}\n')
    plan = make_plan(decided(SQL, CATALOG), catalog_from_mapping(CATALOG))
    assert steps_text(compiled(plan), tmp_path) == (
        "s_n^T + s_p^T: the number of rows of T per T.k; at most 3\n"
        "timestamp 2024-01-01 00:00:00: S(NULL) T('x') T('x')\n"
        "  s_n^T = {('x')×2}\n"
        "  s_p^T = {}\n"
        "timestamp 2024-01-01 00:00:01: S('x')\n"
        "  s_n^T = {}\n"
        "  s_p^T = {('x')×2}\n"
        "  returns ('x')×2"
    )


def test_a_table_with_timestamps_is_shown_whole(tmp_path: Path) -> None:
    sql = "SELECT S.k FROM S, T WHERE S.at >= T.at AND S.at <= T.at + INTERVAL 1 SECOND"
    (tmp_path / "S.jsonl").write_text('{"k": "x", "at": "2024-01-01"}\n')
    (tmp_path / "T.jsonl").write_text('{"k": "x", "at": "2024-01-01"}\n')
    plan = make_plan(decided(sql, CATALOG), catalog_from_mapping(CATALOG))
    text = steps_text(compiled(plan), tmp_path)
    assert text.startswith("{T}: the number of rows of T per T.at, for 1 s after T's; at most ")
    assert "  {T} = {(1704067200000000)×1}\n  returns ('x')×1" in text


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nope", "not a JSON object"),
        (b"[1]", "not a JSON object"),
        (b"[" * 100_000, "not a JSON object"),
        (b'{"a": "\xff", "ts": 1}', "not UTF-8"),
        (b'{"ts": 1, "unused": true}', "a is missing"),
        (b'{"a": 3, "unused": true, "ts": null}', "ts, the timestamp, is NULL"),
        (b'{"a": 3, "unused": true, "ts": -1}', "ts is before 0, where time starts"),
        (b'{"a": 70, "unused": true, "ts": 1}', "a is outside its domain"),
        (b'{"a": 3, "ts": 1}', "unused is missing"),
        (b'{"a": 3, "unused": 1, "ts": 1}', "unused is not a boolean"),
    ],
)
def test_a_bad_row_is_left_out_and_counted(tmp_path: Path, line: bytes, reason: str) -> None:
    (tmp_path / "S.jsonl").write_bytes(b'{"a": 3, "unused": null, "ts": 1}\n' + line + b"\n")
    found = recorded_rows(plan_of(SMALL_SQL, SMALL).streams[0], tmp_path)
    assert found.rows == [{"a": 3, "ts": 1}]
    assert found.quarantined == {reason: 1}
    (tmp_path / "R.jsonl").write_text('{"k": 1}\n{"k": "x"}\n')
    plan = plan_of(SMALL_SQL, SMALL)
    text = steps_text(compiled(plan), tmp_path)
    assert text.endswith(f"quarantined: 2 rows ({', '.join(sorted([f'{reason} 1', 'k is not a bigint 1']))})")


def test_more_rows_than_a_relation_declares(tmp_path: Path) -> None:
    plan = plan_of(SMALL_SQL, SMALL)
    (tmp_path / "S.jsonl").write_text("")
    (tmp_path / "R.jsonl").write_text('{"k": 1}\n{"k": 1}\n')
    with pytest.raises(RuntimeLimitError, match="relation R has 2 rows, more than the catalog's rows = 1"):
        steps_text(compiled(plan), tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no input for S: neither S\.jsonl"):
        recorded_rows(plan_of(SMALL_SQL, SMALL).streams[0], tmp_path)


def test_what_is_needed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "S.jsonl").write_text("{}")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="recorded rows needs pyarrow, which is not installed") as caught:
        recorded_rows(plan_of(SMALL_SQL, SMALL).streams[0], tmp_path)
    assert caught.value.remedy == "pip install 'streambound[spark]'"


def test_rows_are_told_in_the_order_of_their_lines() -> None:
    item = plan_of(SMALL_SQL, SMALL).streams[0]
    lines = [b'{"a": 1, "unused": true, "ts": 2}', b"", b"{}", b'{"a": null, "unused": null, "ts": 0}']
    rows = [{"a": 1, "ts": 2}, None, "missing-column: a is missing", {"a": None, "ts": 0}]
    assert read_rows(item, lines) == rows
    assert [list(row) for row in read_rows(item, lines) if isinstance(row, dict)] == [["a", "ts"]] * 2


@pytest.mark.parametrize("name", ["value", "text", "fault"])
def test_a_column_may_have_the_name_of_what_a_record_is_read_as(name: str) -> None:
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": {name: "bigint", "ts": "bigint"}}}}
    (stream,) = plan_of(f"SELECT S.{name} FROM S", catalog).streams
    assert read_rows(stream, [f'{{"{name}": 7, "ts": 1}}'.encode()]) == [{name: 7, "ts": 1}]
