"""What DuckDB is said to compute as Spark does: every entry of the table, on extreme values, and nested at random."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from streambound.analyzer.constants import kind_of
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.engine_functions import REWRITINGS
from streambound.analyzer.expressions.engine_sql import NotInEngine, engine_sql
from streambound.analyzer.expressions.reading import read
from streambound_runtime.decoding.sql_types import spark_name, sql_type
from streambound_runtime.expressions import needs_spark, tried
from support.engine_expressions import COLUMNS, every, of_casts, random_expressions, rows
from support.profiles import MORE

KINDS = {name: kind_of(kind) for name, kind in COLUMNS.items()}
ROWS, AT_ONCE = 240, 250
_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.subexpressionElimination.enabled": "false",  # it evaluates also what NULL would leave out
}

Compared = tuple[str, str, str]
"""An expression, the type that it is cast to, and the same in DuckDB's SQL."""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    found = rows(ROWS)
    return pa.table({name: pa.array(found[name], sql_type(kind).arrow) for name, kind in COLUMNS.items()})


@pytest.fixture(scope="module")
def frame(spark: Any, table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = Path(tmp_path_factory.mktemp("rows")) / "rows.parquet"
    parquet.write_table(table, path)
    return spark.read.parquet(str(path))


@cache
def entries() -> tuple[list[Compared], set[str]]:
    """Expressions of the entries, and those entries of which there is one."""
    found, there = list[Compared](), set[str]()
    for entry, text in every():
        kind = read(parsed(text), KINDS).kind
        if kind.name in ("unknown", "void") or kind.name.startswith(("array", "interval")):
            continue
        sql = engine_sql(text, KINDS, kind)
        if not isinstance(sql, NotInEngine):
            found.append((text, kind.name, sql))
            there.add(repr(entry))
    for value, kind_name in of_casts():
        for text in (f"CAST({value} AS {kind_name})", f"TRY_CAST({value} AS {kind_name})"):
            sql = engine_sql(text, KINDS, kind_of(kind_name))
            if not isinstance(sql, NotInEngine):
                found.append((text, kind_name, sql))
    return list(dict.fromkeys(found)), there


def by_spark(frame: Any, part: Sequence[Compared]) -> pa.Table:
    """The values of expressions, and which rows raise an error."""
    shown = []
    for place, (text, kind, _) in enumerate(part):
        value = f"CAST(({text}) AS {spark_name(kind)})"
        fine = f"try_add(DATE'1970-01-01', pmod(hash({value}), 1)) IS NOT NULL"
        shown += [f"NOT ({fine}) AS r{place}", f"CASE WHEN {fine} THEN {value} END AS v{place}"]
    return frame.selectExpr(*shown).toArrow()


def plain(values: Any) -> list[Any]:
    """Values, of doubles with the signs of zeros, where NaN is itself; of times as numbers, as Python has few years."""
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        values = values.cast(pa.int32() if pa.types.is_date(values.type) else pa.int64())
    return [repr(value) if isinstance(value, float) else value for value in values.to_pylist()]


def differences(frame: Any, table: pa.Table, compared: Sequence[Compared]) -> list[str]:
    found = []
    for start in range(0, len(compared), AT_ONCE):
        part = compared[start : start + AT_ONCE]
        theirs = by_spark(frame, part)
        values, raising = tried(table, [sql for _, _, sql in part], [kind for _, kind, _ in part])
        for place, (text, kind, sql) in enumerate(part):
            spark_raises = theirs.column(f"r{place}").to_pylist()
            spark_values = plain(theirs.column(f"v{place}"))
            ours = zip(plain(values[place]), raising[place].to_pylist(), strict=True)
            for row, (value, raises) in enumerate(ours):
                if raises and not spark_raises[row] and needs_spark(table.slice(row, 1), sql):
                    continue  # the job stops with these words
                if raises != spark_raises[row] or value != spark_values[row]:
                    wanted = "an error" if spark_raises[row] else repr(spark_values[row])
                    given = {name: table.column(name)[row].as_py() for name in COLUMNS if name in text}
                    mine = "an error" if raises else repr(value)
                    found.append(f"{text} [{kind}] of {given}: Spark has {wanted}, DuckDB {mine}; {sql[:300]}")
                    break
    return found


@pytest.fixture(autouse=True)
def interpreted(spark: Any) -> Any:
    """Spark interprets expressions: it takes longer to compile thousands of them than to evaluate them."""
    before = {name: spark.conf.get(name, None) for name in _INTERPRETED}
    for name, value in _INTERPRETED.items():
        spark.conf.set(name, value)
    yield
    for name, old in before.items():
        spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def test_every_entry_is_tried() -> None:
    _, there = entries()
    assert [one for one in REWRITINGS if repr(one) not in there and one.name != "split"] == []


def test_each_entry_computes_what_spark_does(frame: Any, table: pa.Table, record_property: Any) -> None:
    compared, _ = entries()
    record_property("expressions of entries", f"{len(compared)} over {ROWS} rows")
    assert differences(frame, table, compared) == []
    assert len(compared) > 500


def test_letters_beyond_those_that_stop_a_job_are_those_of_spark(spark: Any, tmp_path: Path) -> None:
    """All letters that have cases, and others, alone and between others."""
    letters = pa.table({"c": [chr(code) for code in range(1, 0x20000) if not 0xD800 <= code < 0xE000]})
    texts = ("lower(c)", "upper(c)", "lower('aB' || c || 'cD')", "upper('aB' || c || 'cD')")
    ours = [engine_sql(text, {"c": kind_of("string")}, kind_of("string")) for text in texts]
    values, raising = tried(letters, [str(sql) for sql in ours], ["string"] * len(texts))
    assert all(0 < rows.true_count < 500 for rows in raising)
    found = {"c": letters.column("c"), **{f"v{place}": one for place, one in enumerate(values)}}
    parquet.write_table(pa.table(found | {f"r{n}": one for n, one in enumerate(raising)}), tmp_path / "letters.parquet")
    other = " OR ".join(f"(NOT r{place} AND {text} IS DISTINCT FROM v{place})" for place, text in enumerate(texts))
    assert spark.read.parquet(str(tmp_path / "letters.parquet")).where(other).select("c").collect() == []


def test_nested_expressions_compute_what_spark_does(frame: Any, table: pa.Table, record_property: Any) -> None:
    compared, refused = list[Compared](), 0
    for text, kind in random_expressions(375 * MORE, 0):
        sql = engine_sql(text, KINDS, kind_of(kind))
        if isinstance(sql, NotInEngine):
            refused += 1
        else:
            compared.append((text, kind, sql))
    record_property("nested expressions", f"{len(compared)} over {ROWS} rows, {refused} refused")
    assert differences(frame, table, compared) == []
    assert len(compared) > 350 * MORE
