"""A SEQ VT block: what it means as a plan over periods, or why it means nothing."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions
from streambound.analyzer.seq_blocks import SeqBlock
from streambound.analyzer.spans import SourceText
from streambound.temporal.inferring import inferred
from streambound.temporal.language import block_tree
from streambound.temporal.rewriting import Rewriter, Rewritten
from streambound.temporal.semirings import counted
from streambound.temporal.time_line import no_domain, time_line
from streambound_runtime.operators.period_plan import (
    SliceCoalesce,
    SlicePlan,
    SliceProject,
    SliceQuery,
    scans,
    width,
)

BEGIN, END, MULTIPLICITY = "_begin", "_end", "_mult"
_OWN = (BEGIN, END, MULTIPLICITY)


class SnapshotBlock(Struct, frozen=True):
    """A SEQ VT block with its plan, and the relations that it reads."""

    block: SeqBlock
    query: SliceQuery
    tables: tuple[DeclaredTable, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of its rows."""
        periods = () if self.query.as_of else (BEGIN, END)
        return (*self.query.columns, *periods, MULTIPLICITY)


def snapshot_block(block: SeqBlock, source: SourceText, catalog: Catalog) -> SnapshotBlock:
    """The plan of a block; raises Finding at what is outside of the language, means nothing, or lacks a domain."""
    block = counted(block, source, catalog)
    tree, lowering, positions = block_tree(block, source, catalog)
    rewriter = Rewriter(positions, catalog, lowering)
    found = rewriter.tree(tree)
    line = time_line(block, source, catalog, rewriter.periods, positions)
    always = [*rewriter.all_time, *([found.always] if found.always is not None else [])]
    arriving = any(table.kind is Kind.STREAM for table, _ in rewriter.periods)
    if always and (line.low is None or (line.high is None and not arriving)):
        raise no_domain(positions, min(always), catalog)
    names, plan = shown(found)
    check_names(names, (MULTIPLICITY,) if line.as_of else _OWN, block, positions)
    plan = inferred(plan, catalog)
    query = SliceQuery(block.name, SliceCoalesce(plan), names, line.kind.name, line.low, line.high, line.as_of)
    read = dict.fromkeys(scan.table for scan in scans(plan) if scan.table)
    tables = tuple(table for name in read if (table := catalog.table(name)) is not None)
    return SnapshotBlock(block, query, tables)


def shown(found: Rewritten) -> tuple[tuple[str, ...], SlicePlan]:
    """The columns of the result, by name, and a plan that gives these."""
    shown = [column for column in found.columns if column.shown and not column.hidden]
    names = tuple(column.name for column in shown)
    if [column.place for column in shown] == list(range(width(found.plan))):
        return names, found.plan
    return names, SliceProject(found.plan, tuple(f"c{column.place}" for column in shown))


def check_names(names: tuple[str, ...], own: tuple[str, ...], block: SeqBlock, positions: Positions) -> None:
    """Raise a Finding where two columns of the result have one name, ``own`` being the last: nothing is renamed."""
    counts = Counter(name.lower() for name in (*names, *own))
    twice = next((name for name in names if counts[name.lower()] > 1), None)
    if twice is None:
        return
    message = (
        f"the result has its own {twice}" if twice.lower() in own else f"the result has two columns called {twice!r}"
    )
    raise positions.finding(Code.AMBIGUOUS_COLUMN, message, _last_item(block, twice), "give it another name, with AS")


def _last_item(block: SeqBlock, name: str) -> exp.Expr:
    """The last item of the first select list that has a name, which stands for the block's."""
    select = block.query.find(exp.Select)
    items = [item for item in select.expressions if item.alias_or_name.lower() == name.lower()] if select else []
    return items[-1] if items else (select or block.query)
