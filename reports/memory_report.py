"""What `memory` prints: a table of the job beside Spark's own operators, and the same as data."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from streambound.analyzer.json_models import plain

MOST_ROWS = 12
"""Lines of the table; of more micro-batches some are left out, never the last."""
_MIB = 1024 * 1024
_HEADS = ("tuples", "entries", "bytes", "state rows", "heap MiB", "java MiB", "python MiB", "seconds")


def memory_lines(found: Any) -> Iterator[str]:
    """The job's table, that of Spark's own operators or why there is none, and the verdict."""
    rows = ", ".join(f"{name} {number:,}" for name, number in found.rows.items())
    heap = f", heap {found.heap}" if any(sample.heap for sample in found.samples) else ""
    yield f"{found.query}: {found.tuples:,} tuples of {found.stream} streams ({rows}){heap}"
    if found.quarantined:
        yield f"quarantined: {found.quarantined:,} rows, although they were made to fit: please report this"
    if found.in_order:
        names = ", ".join(found.in_order)
        known = f"{names}: the catalog promises no order; rows come in order, and the job knows it"
        yield from textwrap.wrap(known, 100)
    yield ""
    yield "the job:"
    yield from _table(found.samples)
    if found.compared is not None:
        yield f"  {_results(found.compared)}"
    if found.uncompared:
        yield from textwrap.wrap(f"results were not compared: {found.uncompared}", 100)
    yield ""
    if found.native is not None:
        yield from _native_lines(found.native, own(found))
        yield ""
    yield from textwrap.wrap(verdict(found), 100)


def verdict(found: Any) -> str:
    """Whether the entries stayed within M and stopped growing, and the comparison with Spark's join."""
    text = f"{_seen(found)}; {found.bytes:,} bytes of tables"
    if found.curve == "over M":
        return _over(found)
    if found.limit_bytes is not None:
        text += f", within {found.limit_bytes:,}"
    if found.native is not None and found.native.samples:
        last = found.native.samples[-1]
        text += f"; {own(found)} kept {last.state_rows:,} rows after {last.tuples:,} tuples"
    return text


def _seen(found: Any) -> str:
    """The result of a measurement within M, in words."""
    most = f"at most {found.peak:,} entries at any time"
    match found.curve:
        case "at M":
            return f"constant: {most}, within M = {found.limit:,}, which they reached"
        case "flat":
            return f"constant: {most}, {_share(found)}, and no more in the second half than in the first"
        case "empty":
            return f"NOTHING WAS STORED of the M = {found.limit:,} entries that there may be: this shows nothing"
    return (
        f"STILL GROWING at the end: {found.peak:,} entries, {_share(found)}; that is within the bound, but no "
        "measurement of constant memory: read more --tuples, or narrow what M comes from"
    )


def _share(found: Any) -> str:
    """How near M the entries came."""
    share = found.peak / found.limit
    return f"{'less than 0.1%' if share < 0.001 else f'{share:.1%}'} of M = {found.limit:,}"


def _over(found: Any) -> str:
    """How the bound was broken."""
    if found.stopped:
        return f"NOT CONSTANT: the job was stopped: {found.stopped}"
    if found.peak > found.limit:
        return f"NOT CONSTANT: {found.peak:,} entries, more than M = {found.limit:,}"
    return f"NOT CONSTANT: {found.bytes:,} bytes of tables, more than {found.limit_bytes:,}"


def native_ending(native: Any) -> str:
    """How Spark's own join ended."""
    last = native.samples[-1].tuples if native.samples else 0
    return {
        "done": "all that was given was read",
        "stopped": f"stopped after {last:,} tuples, as time was up",
        "out of memory": f"its Java heap was full after {last:,} tuples",
        "failed": f"failed after {last:,} tuples: {native.reason}",
    }.get(native.ended, "")


def own(found: Any) -> str:
    """Spark's counterpart in words: its own operators of the statement, or its join."""
    return "Spark's own operators" if found.beyond_joins else "Spark's own join"


def _native_lines(native: Any, name: str) -> Iterator[str]:
    name = name.replace("own join", "own stream-stream join")
    if native.refused:
        takes = "do not take" if name.endswith("operators") else "does not take"
        yield from textwrap.wrap(f"{name} {takes} this query: {native.refused}", 100)
        return
    yield f"{name} ({native_ending(native)}):"
    if native.keyed:
        yield "  with an equality of constant columns added, since Spark refuses a join without one"
    if native.complete:
        yield "  in complete mode, since Spark refuses append mode: no watermark says when a group is over"
    yield from _table(native.samples)
    if native.dropped:
        yield f"  {native.dropped:,} rows were dropped, since they came later than the watermark"
    if native.compared is not None:
        yield f"  {_results(native.compared)}"


def _results(counts: Any) -> str:
    """The comparison of the final results with batch SQL."""
    if counts.missing == counts.wrong == 0:
        return f"results: all {counts.expected:,} rows of batch SQL, and no others"
    found = f"{counts.missing:,} of {counts.expected:,} rows of batch SQL MISSING, {counts.wrong:,} WRONG ones beside"
    return f"results: {found}"


def _table(samples: Sequence[Any]) -> Iterator[str]:
    lines = [_HEADS, *(_cells(sample) for sample in _some(samples))]
    if not any(sample.heap for sample in samples):  # without Java
        lines = [(*line[:3], *line[6:]) for line in lines]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))


def _some(samples: Sequence[Any]) -> list[Any]:
    """At most `MOST_ROWS` samples, evenly, with the last."""
    if len(samples) <= MOST_ROWS:
        return list(samples)
    return [samples[(place + 1) * len(samples) // MOST_ROWS - 1] for place in range(MOST_ROWS)]


def _cells(sample: Any) -> tuple[str, ...]:
    sizes = (f"{size / _MIB:,.0f}" for size in (sample.heap, sample.java, sample.python))
    kept = ("" if number is None else f"{number:,}" for number in (sample.peak, sample.bytes))
    return (f"{sample.tuples:,}", *kept, f"{sample.state_rows:,}", *sizes, f"{sample.seconds:,.1f}")


def memory_json(found: Any) -> str:
    """The measurement as data; sizes are in bytes."""
    shown = {name: getattr(found, name) for name in ("peak", "bytes", "within", "curve", "constant")}
    return json.dumps(
        {"schema_version": 1, **plain(found), **shown},
        indent=1,
        ensure_ascii=False,
    )
