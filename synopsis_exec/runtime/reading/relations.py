"""The rows of static relations."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from streambound_runtime.errors import JobError
from streambound_runtime.quarantine import Row, quarantined
from streambound_runtime.reading.computing import decoder_of
from streambound_runtime.reading.files import Files, Raw
from streambound_runtime.reading.sources import by_path, paths_now, raw_rows
from streambound_runtime.settings import Settings
from streambound_runtime.spec import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def relation_rows(
    spark: SparkSession, relation: Relation, settings: Settings, frames: Mapping[str, DataFrame]
) -> tuple[list[dict[str, Any]], list[Row]]:
    """The good rows of a static relation, encoded, and its bad ones; raises JobError for more than it may have."""
    decoder, good, bad = decoder_of(spark, relation, bool(settings.input)), list[dict[str, Any]](), list[Row]()
    if by_path(relation, settings):
        raws = Files(spark, relation, settings).raws(paths_now(spark, relation, settings))
    else:
        raws = iter([Raw(raw_rows(spark.read, relation, settings, frames).toArrow())])
    for raw in raws:
        found = decoder.decode(raw.rows, whole=raw.whole)
        rows = found.good.to_pylist() if relation.needs else [dict[str, Any]() for _ in found.good_at]
        good += [{name: _plain(value) for name, value in row.items()} for row in rows]
        bad += quarantined(relation, found.rejected, raw.file)
    if relation.rows is not None and len(good) > relation.rows:
        what = f"relation {relation.name} has {len(good)} rows, more than the catalog's rows = {relation.rows}"
        raise JobError("rows", what, 1)
    return good, bad


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) else value
