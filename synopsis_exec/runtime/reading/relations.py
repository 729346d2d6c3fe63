"""The rows of static relations, and of those that are computed of them.

Rows that are random variables are bad with the key or the fact of another row. A stream's are judged in order by
`operators.valid_together`; a relation's have no order, so of a conflict all are bad. Of several rows with a key that is
`unique` the least is good, as of those of a stream at one timestamp (`operators.unique_keys`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streambound_runtime import expressions
from streambound_runtime.decoding.decoder import Decoded, Decoder
from streambound_runtime.decoding.reasons import detail
from streambound_runtime.errors import JobError
from streambound_runtime.operators.formula import values_of
from streambound_runtime.operators.unique_keys import repeated_rows
from streambound_runtime.operators.values import integer
from streambound_runtime.promises import PeriodContract
from streambound_runtime.quarantine import BadRows, row_text, told_rows
from streambound_runtime.reading.computing import decoder_of, in_words, is_of_spark
from streambound_runtime.reading.files import Files, Raw
from streambound_runtime.reading.input_log import local_files
from streambound_runtime.reading.relation_views import (
    Views,
    asked_relations,
    declared_part,
    make_relation_views,
    view_of,
    view_rows,
)
from streambound_runtime.reading.sources import by_path, failing, paths_now, raw_rows
from streambound_runtime.row_values import Row, Value
from streambound_runtime.session import pinned
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, Relation, RelationQuery, SourceSpec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

COMPUTED = "query"
"""The format of a source that is a query."""


@dataclass(frozen=True, slots=True)
class ReadRelations:
    """The encoded good rows of a job's relations, those that it computes among them, and how many rows each has.

    ``views`` are those that subqueries ask in this process.
    """

    rows: dict[str, pa.Table]
    sizes: dict[str, int]
    views: Views


def read_relations(
    spark: SparkSession | None, job: JobSpec, settings: Settings, frames: Mapping[str, DataFrame], bad: BadRows
) -> ReadRelations:
    """Read the static relations of a job, and compute others of them; bad rows are added. Raises JobError."""
    views: dict[str, pa.Table] = {}
    found, asked = ReadRelations({}, {}, views), asked_relations(job)

    def read(relation: Relation) -> None:
        before = bad.counts.total()
        with failing(relation, job, settings):
            good = relation_rows(spark, relation, settings, frames, bad, views)
        found.rows[relation.name], found.sizes[relation.name] = good, good.num_rows + bad.counts.total() - before

    asking = [relation for relation in job.relations if any(column.asks for column in relation.derived)]
    for relation in job.relations:
        if relation not in asking:
            read(relation)
        if relation.name in asked:
            good = found.rows.get(relation.name)
            if good is None:
                with failing(relation, job, settings):
                    good = relation_rows(spark, declared_part(relation), settings, frames, BadRows(0), {})
            rows = view_rows(relation, good)
            views[view_of(relation.name)] = rows if spark is not None else expressions.without_zones(rows)
    if spark is not None:
        make_relation_views(spark, views)
    for relation in asking:
        read(relation)
    bad.stop()
    found.rows.update({query.relation.name: computed_rows(spark, query, views) for query in job.queries})
    return found


def relation_rows(
    spark: SparkSession | None,
    relation: Relation,
    settings: Settings,
    frames: Mapping[str, DataFrame],
    bad: BadRows,
    views: Views,
) -> pa.Table:
    """The good rows of a static relation, encoded; bad ones are added. Raises JobError for more than it may have."""
    import pyarrow as pa

    decoder, parts = decoder_of(spark, relation, bool(settings.input), bad.most, views), list[pa.Table]()
    random, places = relation.period is not None and bool(relation.period.variable), list[pa.Table]()
    if spark is None:
        raws = Files(None, relation, settings).raws(local_files(relation, settings))
    elif by_path(relation, settings):
        raws = Files(spark, relation, settings).raws(paths_now(spark, relation, settings))
    else:
        raws = iter([Raw(raw_rows(spark.read, relation, settings, frames).toArrow())])
    for raw in raws:
        found = decoder.decode(raw.rows, all_columns=raw.all_columns)
        parts.append(_good(found, relation))
        bad.add(relation, found.rejected, raw.file, found.beyond)
        if random or relation.unique:
            places.append(_places(decoder, raw, found))
    good = pa.concat_tables(parts) if parts else pa.table({})
    if places:
        good = _without_conflicts(relation, good, pa.concat_tables(places, promote_options="default"), bad)
    if relation.rows is not None and good.num_rows > relation.rows:
        what = f"relation {relation.name} has {good.num_rows} rows, more than the catalog's rows = {relation.rows}"
        raise JobError("rows", what, 1)
    return good


def _without_conflicts(relation: Relation, good: pa.Table, places: pa.Table, bad: BadRows) -> pa.Table:
    """The rows that are good beside all others; the rest is added to the bad ones."""
    rows = [dict(zip(good.column_names, row, strict=True)) for row in values_of(good, good.column_names)]
    wrong = repeated(relation, rows) if relation.period is None else conflicts(relation.period, rows)
    for reason, per in dict.fromkeys(wrong.values()):
        those = sorted(place for place, why in wrong.items() if why == (reason, per))
        at = places.take(those)
        told, texts = dict(zip(at.column_names, at.columns, strict=True)), [row_text(relation, rows[n]) for n in those]
        bad.add(relation, told_rows(reason, detail(reason, per=per), texts, **told))
    return _taken(good, [place for place in range(len(rows)) if place not in wrong]) if wrong else good


def _places(decoder: Decoder, raw: Raw, found: Decoded) -> pa.Table:
    """Where good rows are: their file and, where that is known, their lines."""
    import pyarrow as pa

    files = pa.array([raw.file] * len(found.good_at), pa.string())
    return pa.table({"file": files} | decoder.place_columns(raw.rows, found.good_at))


def computed_rows(spark: SparkSession | None, query: RelationQuery, views: Views) -> pa.Table:
    """The rows of a relation that is computed of others, encoded, in order; raises JobError where there are none."""
    relation = replace(query.relation, source=SourceSpec(COMPUTED))
    raw = _computed_in_process(query, views) if spark is None else _computed_by_spark(spark, query)
    found = decoder_of(spark, relation, False, 1, views).decode(raw)
    for bad in found.rejected.to_pylist()[:1]:
        what = f"the relation {relation.name}, which the query computes, has a row that is none: {bad['detail']}"
        raise JobError("expression", f"{what}: {bad['row']}", 1)
    rows = _good(found, relation)
    values = values_of(rows, rows.column_names)
    return _taken(rows, sorted(range(len(values)), key=lambda n: [(value is not None, value) for value in values[n]]))


def _computed_by_spark(spark: SparkSession, query: RelationQuery) -> pa.Table:
    try:
        with pinned(spark):
            return spark.sql(query.query).toArrow()
    except Exception as error:
        if not is_of_spark(error):
            raise
        why = f"the relation {query.relation.name} cannot be computed: {in_words(error)}"
        raise JobError("expression", why, 1) from error


def _computed_in_process(query: RelationQuery, views: Views) -> pa.Table:
    try:
        return expressions.selected(query.engine, [column.type for column in query.relation.columns], views)
    except expressions.Raises as error:
        what = f"the relation {query.relation.name}"
        raise JobError("expression", expressions.without_value(what, error), 1) from error


def _taken(rows: pa.Table, places: Sequence[int]) -> pa.Table:
    import pyarrow as pa

    return rows.take(pa.array(places, pa.int64()))


def _good(found: Decoded, relation: Relation) -> pa.Table:
    """The good rows; where no column is needed, with one that says how many there are."""
    import pyarrow as pa

    return found.good if relation.needs else pa.table({"": pa.nulls(len(found.good_at))})


Reasons = dict[int, tuple[str, str]]
"""The reasons why rows are bad, by their places, each with the key that it is about."""


def repeated(relation: Relation, rows: Sequence[Row]) -> Reasons:
    """Rows with a key of a row before them, in the order of the columns' values, NULL first."""
    keys = [[tuple(row[name] for name in key.columns) for row in rows] for key in relation.unique]
    if all(len(set(mine)) == len(rows) for mine in keys):
        return {}
    names = [column.name for column in relation.columns if column.name in relation.needs]
    order = sorted(range(len(rows)), key=lambda place: [(v is not None, v) for v in map(rows[place].get, names)])
    found = repeated_rows(relation.unique, keys, [0] * len(rows), order, [{} for _ in keys])
    return {place: ("not-unique", key) for place, key in found.items()}


def conflicts(period: PeriodContract, rows: Sequence[Row]) -> Reasons:
    """Rows with a key that others share, else of a fact that is valid twice."""
    often = Counter(row[period.variable] for row in rows)
    found = {place: ("key", "") for place, row in enumerate(rows) if often[row[period.variable]] > 1}
    facts: dict[tuple[Value, ...], list[tuple[int, int, int]]] = defaultdict(list)
    for place, row in enumerate(rows):
        if place not in found:
            span = integer(row[period.begin]), integer(row[period.end])
            facts[tuple(row[name] for name in period.fact)].append((*span, place))
    for spans in facts.values():
        spans.sort()
        found |= dict.fromkeys(_overlapping(spans), ("overlapping-fact", ""))
    return found


def _overlapping(spans: Sequence[tuple[int, int, int]]) -> list[int]:
    """The places of those that have a time in common with another, where they are in order."""
    ends, latest = list[int](), spans[0][0]
    for _, end, _ in spans:
        ends.append(latest)
        latest = max(latest, end)
    following = [begin for begin, _, _ in spans[1:]]
    return [
        place
        for number, (begin, end, place) in enumerate(spans)
        if ends[number] > begin or (number < len(following) and following[number] < end)
    ]
