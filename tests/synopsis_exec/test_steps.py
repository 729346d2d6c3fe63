"""Recorded rows without Spark, and what `explain --emit synopses` prints of them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from analyzer.catalog import Column, Kind, catalog_from_mapping
from analyzer.errors import InputError
from analyzer.types import parse_type
from synopsis_exec.codegen import job_text
from synopsis_exec.plan import make_plan
from synopsis_exec.plan_ir import Input
from synopsis_exec.recorded import encode, recorded_rows
from synopsis_exec.steps import steps_text
from tests.support.product import decided

CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "at", "columns": {"k": "string", "at": "timestamp"}},
        "T": {"timestamp": "at", "columns": {"k": "string", "at": "timestamp"}, "domain": {"k": ["x", "y", "z"]}},
    }
}
SQL = "SELECT S.k FROM S, T WHERE S.at > T.at AND S.k = T.k"
S = Input(
    "S", Kind.STREAM, (), (Column("a", parse_type("bigint")), Column("ts", parse_type("bigint"))), "ts", None, None
)  # type: ignore[arg-type]


def column(kind: str) -> Column:
    parsed = parse_type(kind)
    assert parsed is not None
    return Column("c", parsed)


def test_steps(tmp_path: Path) -> None:
    (tmp_path / "S.jsonl").write_text('{"k": "x", "at": "2024-01-01T00:00:01Z"}\n{"k": null, "at": "2024-01-01"}\n')
    (tmp_path / "T").mkdir()
    (tmp_path / "T" / "1.jsonl").write_text('{"k": "x", "at": "2024-01-01"}\n\n{"k": "x", "at": "2024-01-01"}\n')
    plan = make_plan(decided(SQL, CATALOG), catalog_from_mapping(CATALOG))
    assert steps_text(job_text(plan), plan, tmp_path) == (
        "s_n^T + s_p^T: the number of tuples of T per T.k; at most 3\n"
        "timestamp 2024-01-01 00:00:00: S(NULL) T('x') T('x')\n"
        "  s_n^T = {('x')×2}\n"
        "  s_p^T = {}\n"
        "timestamp 2024-01-01 00:00:01: S('x')\n"
        "  s_n^T = {}\n"
        "  s_p^T = {('x')×2}\n"
        "  returns ('x')×2\n"
    )


def test_a_table_with_timestamps_is_shown_whole(tmp_path: Path) -> None:
    sql = "SELECT S.k FROM S, T WHERE S.at >= T.at AND S.at <= T.at + INTERVAL 1 SECOND"
    (tmp_path / "S.jsonl").write_text('{"k": "x", "at": "2024-01-01"}\n')
    (tmp_path / "T.jsonl").write_text('{"k": "x", "at": "2024-01-01"}\n')
    plan = make_plan(decided(sql, CATALOG), catalog_from_mapping(CATALOG))
    text = steps_text(job_text(plan), plan, tmp_path)
    assert text.startswith("{T}: the number of tuples of T per T.at, for 1 s after T's; at most ")
    assert "  {T} = {(1704067200000000)×1}\n  returns ('x')×1\n" in text


@pytest.mark.parametrize(
    ("value", "kind", "encoded"),
    [
        (None, "date", None),
        (True, "boolean", 1),
        (3, "int", 3),
        (Decimal("2.5"), "double", 2.5),
        ("1970-01-03", "date", 2),
        ("1970-01-01T00:00:01", "timestamp", 1_000_000),
        (Decimal("-1.25"), "decimal(9,2)", -125),
        ([1], "array<int>", 1),
    ],
)
def test_values_are_encoded(value: object, kind: str, encoded: object) -> None:
    assert encode(value, column(kind)) == encoded


@pytest.mark.parametrize(
    ("value", "kind"),
    [("3", "int"), (True, "int"), (1, "boolean"), (Decimal("1.5"), "bigint"), (3, "string"), ("x", "date")],
)  # fmt: skip
def test_wrong_types_are_refused(value: object, kind: str) -> None:
    with pytest.raises(ValueError):
        encode(value, column(kind))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nope", "Expecting value"),
        ("[1]", "not a JSON object"),
        ('{"ts": 1}', "a is missing"),
        ('{"a": 1, "ts": null}', "is NULL"),
    ],
)
def test_a_bad_row_is_named_with_its_line(tmp_path: Path, line: str, reason: str) -> None:
    (tmp_path / "S.jsonl").write_text('{"a": 1, "ts": 1}\n' + line + "\n")
    with pytest.raises(InputError, match=reason) as caught:
        recorded_rows(S, tmp_path)
    assert caught.value.line == 2


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no input for S: neither S\.jsonl"):
        recorded_rows(S, tmp_path)
