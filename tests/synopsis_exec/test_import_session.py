"""Catalogs from a live Spark session's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import Kind, parse_catalog
from streambound.analyzer.errors import UsageError
from streambound.importing.spark_session import spark_session
from streambound.importing.tables import accepted, toml_text


def test_tables_of_a_session(spark: Any, tmp_path: Path) -> None:
    spark.range(3).selectExpr("id", "CAST(id AS DECIMAL(9,2)) AS price", "array(id) AS list").createOrReplaceTempView(
        "flat"
    )
    stream = spark.readStream.schema("k INT, at TIMESTAMP").json(str(tmp_path))
    stream.withWatermark("at", "3 seconds").createOrReplaceTempView("flow")
    try:
        tables = [accepted(table) for table in spark_session(["flat", "flow"])]
        assert {"flat", "flow"} <= {table.name for table in spark_session()}
        with pytest.raises(UsageError, match="no table nowhere"):
            spark_session(["nowhere"])
    finally:
        for view in ("flat", "flow"):
            spark.catalog.dropTempView(view)
    catalog = parse_catalog(toml_text(tables, "a session"))
    relation, flowing = catalog.table("flat"), catalog.table("flow")
    assert relation is not None and flowing is not None
    types = [column.type.name for column in relation.columns]
    assert (relation.kind, types) == (Kind.RELATION, ["bigint", "decimal(9,2)", "array<bigint>"])
    assert (flowing.kind, flowing.timestamp) == (Kind.STREAM, "at")
    assert flowing.arrival.lateness == 3_000_000
