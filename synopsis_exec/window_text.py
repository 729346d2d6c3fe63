"""The windows of a join of rows with lineages over recorded rows: what `explain --emit windows` shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.errors import UsageError
from streambound.synopsis_exec.period_job import job_in_process
from streambound.synopsis_exec.running import run
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.statement import SeqStatement
from streambound.temporal.windows import matched_windows, negating_windows, outermost_join
from streambound_runtime.operators.period_plan import SlicePlan, width

_Window = tuple[tuple[str, str], tuple[str, str], Any, Any]
"""Of each side the fact and the lineage, then begin and end."""
_NONE = "-", "-"
"""What a side has that plays no part in a window."""


def windows_text(statement: SeqStatement | None, catalog: Catalog, input_dir: Path) -> str:
    """The windows that the outermost join of a SEQ TP statement needs, in tables as Figure 2 of the paper has them.

    Raises UsageError for a statement without such a join, and StreamboundError for rows that cannot be read.
    """
    block = statement.blocks[0] if statement is not None else None
    join = outermost_join(block.query.plan) if isinstance(block, LineageBlock) else None
    if statement is None or join is None:
        raise UsageError("windows are those of a join in SEQ TP", remedy="make the join a statement of its own")
    by, kinds = width(join.left), ("unmatched", "overlapping", "negating")
    tables: dict[str, list[_Window]] = {kind: [] for kind in kinds}
    for *row, begin, end, _ in _rows(matched_windows(join), statement, catalog, input_dir):
        left, right = _side(row[: by + 1]), _side(row[by + 1 :])
        kind = "unmatched" if _NONE in (left, right) else "overlapping"
        tables[kind].append((left, right, begin, end))
    for place, negating in enumerate(negating_windows(join)):
        for *row, begin, end, lineage in _rows(negating, statement, catalog, input_dir) if negating else ():
            own, others = _side(row), (_NONE[0], lineage)
            tables["negating"].append((own, others, begin, end) if place == 0 else (others, own, begin, end))
    if join.kind == "anti":
        del tables["overlapping"]
    return "\n\n".join(_table(kind, windows) for kind, windows in tables.items() if windows) or "no windows"


def _side(row: Sequence[Any]) -> tuple[str, str]:
    """The fact and the lineage of a side, from its columns."""
    *fact, lineage = row
    if lineage is None:
        return _NONE
    return ", ".join("NULL" if value is None else str(value) for value in fact), lineage


def _table(kind: str, windows: Sequence[_Window]) -> str:
    rows = [("Fr", "Fs", "λr", "λs", "T")]
    rows += [(left[0], right[0], left[1], right[1], f"[{begin}, {end})") for left, right, begin, end in windows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join([f"{kind} windows", *(f"  {line}" for line in lines)])


def _rows(plan: SlicePlan, statement: SeqStatement, catalog: Catalog, input_dir: Path) -> list[list[Any]]:
    """The rows of an operator in place of the statement's: its columns, begin, end and lineage."""
    (block,) = statement.blocks
    assert isinstance(block, LineageBlock), "its rows have lineages"
    query = replace(block.query, plan=plan, columns=tuple(f"c{n}" for n in range(width(plan))), as_of=False)
    job = job_in_process(structs.replace(statement, blocks=(structs.replace(block, query=query),)), catalog)
    if isinstance(job, str):
        raise UsageError(f"windows are computed without Spark: {job}", remedy="make the join a statement of its own")
    return [list(row.values())[: width(plan) + 3] for row in run(job, None, input_dir, "", "").rows()]
