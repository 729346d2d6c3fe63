"""The rows of static relations, and of those that are computed of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from streambound_runtime.decoding.decoder import Decoded
from streambound_runtime.decoding.reasons import detail
from streambound_runtime.errors import JobError
from streambound_runtime.quarantine import BadRows, row_text, told_rows
from streambound_runtime.reading.computing import decoder_of, in_words, is_of_spark
from streambound_runtime.reading.files import Files, Raw
from streambound_runtime.reading.input_log import local_files
from streambound_runtime.reading.random_rows import conflicts
from streambound_runtime.reading.sources import by_path, paths_now, raw_rows
from streambound_runtime.row_values import Value
from streambound_runtime.session import pinned
from streambound_runtime.settings import Settings
from streambound_runtime.spec import Relation, RelationQuery, SourceSpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


COMPUTED = "query"
"""The format of a source that is a query."""


def relation_rows(
    spark: SparkSession | None,
    relation: Relation,
    settings: Settings,
    frames: Mapping[str, DataFrame],
    bad: BadRows,
) -> list[dict[str, Value]]:
    """The good rows of a static relation, encoded; bad ones are added. Raises JobError for more than it may have."""
    decoder, good = decoder_of(spark, relation, bool(settings.input), bad.most), list[dict[str, Value]]()
    if spark is None:
        raws = Files(None, relation, settings).raws(local_files(relation, settings))
    elif by_path(relation, settings):
        raws = Files(spark, relation, settings).raws(paths_now(spark, relation, settings))
    else:
        raws = iter([Raw(raw_rows(spark.read, relation, settings, frames).toArrow())])
    for raw in raws:
        found = decoder.decode(raw.rows, all_columns=raw.all_columns)
        good += _good(found, relation)
        bad.add(relation, found.rejected, raw.file, found.beyond)
    if relation.rows is not None and len(good) > relation.rows:
        what = f"relation {relation.name} has {len(good)} rows, more than the catalog's rows = {relation.rows}"
        raise JobError("rows", what, 1)
    if relation.period is None or not relation.period.variable:
        return good
    wrong = conflicts(relation.period, good)
    for reason in dict.fromkeys(wrong.values()):
        texts = [row_text(relation, good[place]) for place, why in wrong.items() if why == reason]
        bad.add(relation, told_rows(reason, detail(reason), texts))
    return [row for place, row in enumerate(good) if place not in wrong]


def computed_rows(spark: SparkSession, query: RelationQuery) -> list[dict[str, Value]]:
    """The rows of a relation that is computed of others, encoded, in order; raises JobError where there are none."""
    relation = replace(query.relation, source=SourceSpec(COMPUTED))
    try:
        with pinned(spark):
            raw = spark.sql(query.query).toArrow()
    except Exception as error:
        if not is_of_spark(error):
            raise
        raise JobError(
            "expression", f"the relation {relation.name} cannot be computed: {in_words(error)}", 1
        ) from error
    found = decoder_of(spark, relation, False, 1).decode(raw)
    for bad in found.rejected.to_pylist()[:1]:
        what = f"the relation {relation.name}, which the query computes, has a row that is none: {bad['detail']}"
        raise JobError("expression", f"{what}: {bad['row']}", 1)
    return sorted(_good(found, relation), key=lambda row: [(value is not None, value) for value in row.values()])


def _good(found: Decoded, relation: Relation) -> list[dict[str, Value]]:
    if not relation.needs:
        return [{} for _ in found.good_at]
    rows: list[dict[str, Value | Decimal]] = found.good.to_pylist()
    return [{n: int(value) if isinstance(value, Decimal) else value for n, value in row.items()} for row in rows]
