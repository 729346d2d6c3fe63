"""Part of every job: results as lines of JSON, made column by column."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

import numpy as np

from streambound.synopsis_exec.job.batch import Results
from streambound.synopsis_exec.job.given import COLUMNS, TIME_TYPE, TYPES
from streambound.synopsis_exec.job.output import json_value

PIECE = 1 << 16
"""How many results are made into lines at a time."""
COPIES = 1000
"""Duplicates of a result that are written at a time."""
MULTIPLICITY = ',"_mult":'
"""What is before a result's multiplicity."""
SECOND = 1_000_000
"""In microseconds."""
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1
"""Of the years 1 to 9999, in microseconds since 1970."""


def write_results(file: TextIO, results: Results, multiplicity: str) -> int:
    """Write results: a line each with its multiplicity, or as many lines as there are duplicates. Returns how many."""
    return sum(write_piece(file, piece, multiplicity) for piece in pieces(results))


def pieces(results: Results) -> Iterator[Results]:
    """The results, so many at a time."""
    for start in range(0, len(results.time), PIECE):
        part = slice(start, start + PIECE)
        columns = [values[part] for values in results.columns]
        nulls = [null if null is None else null[part] for null in results.nulls]
        yield Results(results.time[part], results.n[part], columns, nulls)


def write_piece(file: TextIO, results: Results, multiplicity: str) -> int:
    """Write some results; returns how many lines."""
    if multiplicity == "count":
        lines = result_lines(results)
        _, ends, text = lines.buffers()  # the lines lie one after the other
        file.write(text[: int(np.frombuffer(ends, np.int32)[len(lines)])].to_pybytes().decode())
        return len(lines)
    once = result_lines(results._replace(n=np.ones(len(results.n), dtype=np.int64)))
    for line, n in zip(once.to_pylist(), results.n.tolist(), strict=True):
        for written in range(0, n, COPIES):
            file.write(line * min(COPIES, n - written))
    return sum(results.n.tolist())


def result_lines(results: Results) -> Any:
    """Results as an Arrow array of lines of JSON: the select list, `_ts` and `_mult`."""
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(
        *line_parts(results), MULTIPLICITY, json_texts(results.n, None, "integer"), "}\n", ""
    )


def result_texts(results: Results) -> Any:
    """Results as `result_lines`, each without its multiplicity and what comes after that."""
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*line_parts(results), "")


def line_parts(results: Results) -> list[Any]:
    """The parts of lines up to the multiplicity."""
    kinds = [TYPES[name] for name in COLUMNS]
    cells = [*zip(COLUMNS, results.columns, results.nulls, kinds, strict=True), ("_ts", results.time, None, TIME_TYPE)]
    parts: list[Any] = []
    for name, values, null, kind in cells:
        parts += [f"{',' if parts else '{'}{json.dumps(name, ensure_ascii=False)}:", json_texts(values, null, kind)]
    return parts


def json_texts(values: Any, null: Any, kind: str) -> Any:
    """Encoded values as JSON, in an Arrow array: what `json_value` gives for each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if values.dtype == object and kind != "string":  # integers beyond 64 bits, and what a kernel of rows returns
        missing = np.zeros(len(values), dtype=bool) if null is None else null
        cells = zip(values.tolist(), missing.tolist(), strict=True)
        return pa.array(["null" if gone else json_value(value, kind) for value, gone in cells], pa.string())
    if values.dtype == np.int64 and kind == "integer":
        texts = pa.array(values).cast(pa.string())
    elif values.dtype == np.int64 and kind in ("timestamp", "timestamp_ntz") and within_years(values):
        texts = pc.binary_join_element_wise('"', moments(values), '"' if kind == "timestamp_ntz" else 'Z"', "")
    else:
        texts = by_distinct(values, kind)
    return texts if null is None else pc.if_else(pa.array(null), "null", texts)


def by_distinct(values: Any, kind: str) -> Any:
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


def within_years(moments_of: Any) -> bool:
    """Whether microseconds since 1970 are all in the years 1 to 9999."""
    return len(moments_of) > 0 and int(moments_of.min()) >= FIRST_MOMENT and int(moments_of.max()) <= LAST_MOMENT


def moments(values: Any) -> Any:
    """Microseconds since 1970 as ISO 8601 has them: with a fraction of six digits, or without one where it is zero."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = values % SECOND == 0
    texts = pa.array(values).cast(pa.timestamp("us")).cast(pa.string())
    if whole.any():
        seconds = pa.array(values // SECOND).cast(pa.timestamp("s")).cast(pa.string())
        texts = seconds if whole.all() else pc.if_else(pa.array(whole), seconds, texts)
    return pc.replace_substring(texts, " ", "T")
