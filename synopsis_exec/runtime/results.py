"""Results as lines of JSON, made column by column."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from math import inf, isnan
from typing import TYPE_CHECKING, TextIO

import numpy as np

from streambound_runtime.arrays import Mask, Values
from streambound_runtime.decoding.derived import typed_values
from streambound_runtime.decoding.json_objects import read_objects
from streambound_runtime.decoding.json_values import element_lines
from streambound_runtime.decoding.sql_types import FIRST_MOMENT, LAST_MOMENT, SqlType, nested, sql_type
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.ended_ranges import EndedPattern
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value
from streambound_runtime.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 1 << 16
"""How many results are made into lines at a time."""
_COPIES = 1000
"""Duplicates of a result that are written at a time."""
_SECOND = 1_000_000
"""In microseconds."""
_COUNT, _TEXT = sql_type("bigint"), sql_type("string")
OP, UPSERT, DELETE = "_op", "upsert", "delete"
"""Of upserts the column that says what they are, and its values: a row that there is now, and one that is gone."""
OVER = "_over"
"""The column that says what a punctuation ends: `_ts`, or columns; NULL of a result."""
_ENCODED = json.JSONEncoder(ensure_ascii=False).encode


def write_results(file: TextIO, job: JobSpec, results: Delta, multiplicity: str) -> int:
    """Write results: a line each with its multiplicity, or as many lines as there are duplicates. Returns how many."""
    parts = (results.take(slice(start, start + _AT_ONCE)) for start in range(0, results.size, _AT_ONCE))
    return sum(_write_some(file, job, part, multiplicity) for part in parts)


def _write_some(file: TextIO, job: JobSpec, results: Delta, multiplicity: str) -> int:
    """Write some results; returns how many lines."""
    counts = results.weights()
    if multiplicity == "count":
        lines = result_lines(job, results)
        _, ends, text = lines.buffers()  # the lines lie one after the other
        file.write(text[: int(np.frombuffer(ends, np.int32)[len(lines)])].to_pybytes().decode())
        return len(lines)
    once = result_lines(job, replace(results, weight=None))
    for line, n in zip(once.to_pylist(), counts.tolist(), strict=True):
        for written in range(0, n, _COPIES):
            file.write(line * min(_COPIES, n - written))
    return int(sum(counts.tolist()))


def result_lines(job: JobSpec, results: Delta) -> pa.Array:
    """Results as lines of JSON: the select list, `_ts` and `_mult`, or of upserts `_op`."""
    import pyarrow.compute as pc

    cells = [(c.name, sql_type(c.type), results.columns[c.name], results.nulls.get(c.name)) for c in job.columns]
    cells += [("_ts", sql_type(job.time_type), results.time, None)] if job.plan.timed else []
    if job.key:
        cells += [(OP, _TEXT, np.where(results.weights() > 0, UPSERT, DELETE).astype(object), None)]
    elif job.plan.counted:
        cells += [("_mult", _COUNT, results.weights(), None)]
    parts: list[pa.Array | str] = []
    for name, kind, values, null in cells:
        check_fits(name, values, null, sql_type(job.multiplicity) if name == "_mult" else kind)
        parts += [f"{',' if parts else '{'}{json.dumps(name, ensure_ascii=False)}:", json_texts(values, null, kind)]
    nothing = "".join(f",{_ENCODED(name)}:null" for name in punctuation_types(job))
    return pc.binary_join_element_wise(*parts, nothing + "}\n", "")


def punctuation_types(job: JobSpec) -> dict[str, str]:
    """The columns that only punctuations have, with their types: where ranges begin, and `OVER`."""
    if job.told is None:
        return {}
    types = {column.name: column.type for column in job.columns}
    return {one.since: types[one.columns[-1]] for one in job.told.keys if one.since} | {OVER: "string"}


def write_punctuations(file: TextIO, job: JobSpec, ended: Sequence[EndedPattern], until: int | None) -> int:
    """Write which keys are over, then that all results before ``until`` are there; returns how many lines."""
    if job.told is None:
        return 0
    types, found = result_types(job), list[dict[str, Value]]()
    for one in job.told.keys:
        names = ("_ts", OVER, one.since, *one.columns)
        over = ((e.time, ", ".join(one.columns), e.since, *e.values) for e in ended if e.keys == one.keys)
        found += (dict(zip(names, values, strict=True)) for values in over)
    if until is not None and job.told.behind is not None:
        found.append({"_ts": until - 1 - job.told.behind, OVER: "_ts"})
    for row in found:
        cells = (f"{_ENCODED(name)}:{json_value(row.get(name), sql_type(kind))}" for name, kind in types.items())
        file.write(f"{{{','.join(cells)}}}\n")
    return len(found)


def check_fits(name: str, values: Values, null: Mask | None, kind: SqlType) -> None:
    """Raise OverflowError for an integer of a result that its type has no room for."""
    if values.dtype != object or kind.family not in ("integer", "decimal"):
        return
    least, most = kind.ends
    there = values if null is None else values[~null]
    wrong = next((value for value in there.tolist() if value is not None and not least <= value <= most), None)
    if wrong is not None:
        raise OverflowError(f"{name} of a result is {wrong}, which {kind.name} has no room for")


def json_value(value: object, kind: SqlType) -> str:
    """An encoded value as JSON: dates, timestamps, decimals and booleans as people write them."""
    if value is None:
        return "null"
    match kind.family:
        case "boolean":
            return "true" if value else "false"
        case "date":
            return f'"{date(1970, 1, 1) + timedelta(days=integer(value))}"'
        case "timestamp":
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=integer(value))
            return '"' + moment.replace(tzinfo=None).isoformat() + ("" if kind.local else "Z") + '"'
        case "decimal":
            number = integer(value)
            sign, digits = int(number < 0), tuple(map(int, str(abs(number))))
            return format(Decimal((sign, digits, -kind.scale)), "f")
        case "list":
            return f"[{','.join(json_value(one, kind.element) for one in json.loads(str(value)))}]"
        case "other" if kind.distance:
            return f"\"INTERVAL '{_distance(integer(value))}' DAY TO SECOND\""
        case "float" if value in (inf, -inf):
            return '"Infinity"' if value == inf else '"-Infinity"'
    if isinstance(value, float) and not isnan(value):
        return float.__repr__(value)  # as the encoder has it, in a tenth of the time
    return _ENCODED(value)


def _distance(microseconds: int) -> str:
    """A distance in time as Spark writes it.

    >>> _distance(-1_500_000), _distance(90_061_000_000)
    ('-0 00:00:01.5', '1 01:01:01')
    """
    seconds, rest = divmod(abs(microseconds), _SECOND)
    minutes, hours = seconds // 60, seconds // 3600
    clock = f"{hours // 24} {hours % 24:02}:{minutes % 60:02}:{seconds % 60:02}"
    return ("-" if microseconds < 0 else "") + clock + (f".{rest:06}".rstrip("0") if rest else "")


def json_texts(values: Values, null: Mask | None, kind: SqlType) -> pa.Array:
    """Encoded values as JSON: what `json_value` gives for each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if values.dtype == object and kind.family != "string":  # integers beyond 64 bits, or sums
        missing = np.zeros(len(values), dtype=bool) if null is None else null
        cells = zip(values.tolist(), missing.tolist(), strict=True)
        return pa.array(["null" if gone else json_value(value, kind) for value, gone in cells], pa.string())
    if values.dtype == np.int64 and kind.family == "integer":
        texts = pa.array(values).cast(pa.string())
    elif values.dtype == np.int64 and kind.family == "timestamp" and _within_years(values):
        texts = pc.binary_join_element_wise('"', _moments(values), '"' if kind.local else 'Z"', "")
    else:
        texts = _by_distinct(values, kind)
    return texts if null is None else pc.if_else(pa.array(null), "null", texts)


def _by_distinct(values: Values, kind: SqlType) -> pa.Array:
    """Encoded values as JSON, each distinct one made once."""
    import pyarrow as pa

    bits = values.dtype == np.float64  # 0.0 and -0.0 are written differently
    kept = (
        pa.array(values, pa.string()) if values.dtype == object else pa.array(values.view(np.int64) if bits else values)
    )
    encoded = kept.dictionary_encode()
    found = encoded.dictionary.to_numpy(zero_copy_only=False)
    distinct = found.view(np.float64).tolist() if bits else found.tolist()
    texts = pa.array(["null" if value is None else json_value(value, kind) for value in distinct], pa.string())
    return texts.take(encoded.indices).fill_null("null")


def _within_years(values: Values) -> bool:
    """Whether microseconds since 1970 are all in the years 1 to 9999."""
    return len(values) > 0 and int(values.min()) >= FIRST_MOMENT and int(values.max()) <= LAST_MOMENT


def _moments(values: Values) -> pa.Array:
    """Microseconds since 1970 as ISO 8601 has them: with a fraction of six digits, or without one where it is zero."""
    import pyarrow as pa
    import pyarrow.compute as pc

    full_seconds = values % _SECOND == 0
    texts = pa.array(values).cast(pa.timestamp("us")).cast(pa.string())
    if full_seconds.any():
        seconds = pa.array(values // _SECOND).cast(pa.timestamp("s")).cast(pa.string())
        texts = seconds if full_seconds.all() else pc.if_else(pa.array(full_seconds), seconds, texts)
    return pc.replace_substring(texts, " ", "T")


def result_types(job: JobSpec) -> dict[str, str]:
    """The columns of results with their types: the select list, `_ts` and `_mult`, or of upserts `_op`."""
    types = {column.name: column.type for column in job.columns}
    types |= {"_ts": job.time_type} if job.plan.timed else {}
    if job.key:
        return types | {OP: "string"}
    return types | ({"_mult": job.multiplicity} if job.plan.counted else {}) | punctuation_types(job)


def typed_results(job: JobSpec, lines: Sequence[str]) -> pa.Table:
    """Lines of results as a table with their types, as Spark has them."""
    import pyarrow as pa

    kinds = {name: sql_type("string" if kind == "void" else kind) for name, kind in result_types(job).items()}
    return pa.table(typed_columns(lines, kinds))


def typed_columns(lines: Sequence[str], kinds: dict[str, SqlType]) -> dict[str, pa.Array]:
    """Columns of these types of lines of JSON."""
    import pyarrow as pa

    read = {name: sql_type(nested(kind.name)) if kind.family == "list" else kind for name, kind in kinds.items()}
    _, columns = read_objects(pa.array(lines, pa.string()), read, records=False)
    found = {name: columns[name].encoded() for name in kinds}
    return {
        name: _arrays(found[name].to_pylist(), kind) if kind.family == "list" else typed_values(found[name], kind)
        for name, kind in kinds.items()
    }


def _arrays(texts: Sequence[str | None], kind: SqlType) -> pa.Array:
    """Arrays of their texts, as `element_lines` takes them."""
    import pyarrow as pa

    each = [None if text is None else element_lines(text) for text in texts]
    ends = [0, *accumulate(len(one or ()) for one in each)]
    places = [None if one is None else end for one, end in zip(each, ends, strict=False)] + ends[-1:]
    values = typed_columns([line for one in each for line in one or ()], {"v": kind.element})["v"]
    return pa.ListArray.from_arrays(pa.array(places, pa.int32()), values)
