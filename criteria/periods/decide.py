"""The verdict on a SEQ statement over streams: a number by P4 where it applies, else by P3 with P2.

P1: what is known of a point of time is final once the frontier has passed it; so each result row is given once. `parts`
are rows with their whole periods, as soon as they are known: pairs when the later one begins.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from msgspec import Struct, structs
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.findings import Positions
from streambound.analyzer.seq_blocks import SeqBlock
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.statement import Statement
from streambound.analyzer.types import parse_type
from streambound.criteria.judged import Judged
from streambound.criteria.periods.contracts import contract_states
from streambound.criteria.periods.ends import valid_state
from streambound.criteria.periods.leaves import NOTHING, key_values
from streambound.criteria.periods.lowering import NotRead, lowered
from streambound.criteria.periods.parts import PeriodPart
from streambound.criteria.periods.slices import open_state
from streambound.criteria.periods.views import MaybeSize, PeriodContext, PeriodState
from streambound.criteria.periods.windows import lineage_windows
from streambound.criteria.violation import Violation
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.snapshot import SnapshotBlock
from streambound.temporal.statement import SeqStatement
from streambound_runtime.operators.period_plan import (
    SliceCoalesce,
    SliceGroup,
    SliceLineage,
    SlicePlan,
    SliceQuery,
    inputs_of,
    is_arriving,
    is_whole,
    scans,
)


class JudgedPeriods(Struct, frozen=True):
    """The judgement of a statement, and the operators without a bound."""

    judged: Judged
    context: PeriodContext
    query: SliceQuery | SliceLineage


def reads_streams(statement: SeqStatement) -> bool:
    """Whether rows arrive for a statement."""
    return any(table.kind is Kind.STREAM for table in statement.tables)


def judged_periods(statement: SeqStatement, catalog: Catalog) -> JudgedPeriods | Diagnostic:
    """The judgement of a statement over streams by the propositions; a diagnostic if it is outside the language."""
    block = statement.blocks[0]
    if len(statement.blocks) > 1 or statement.outer:
        message = "SQL around a SEQ block over streams is outside the query language"
        return _refused(statement, message, block.block.at, "make the block a statement of its own")
    if (wrong := refused_emission(statement.statement)) is not None:
        return wrong
    asked = statement.statement.emit
    emit = EmitMode.FINAL if asked is None else asked.mode
    made: SliceQuery | SliceLineage
    try:
        if isinstance(block, LineageBlock):
            context = _lineage_context(block, catalog)
            made, columns, empty = lineage_windows(block, emit, context)
        else:
            context = _snapshot_context(block, catalog, emit)
            made, columns, empty = _snapshots(block, emit, context)
    except NotRead as why:
        kind = "SEQ TP" if isinstance(block, LineageBlock) else "SEQ VT"
        return _refused(statement, f"{why} is outside of what {kind} evaluates over streams", block.block.at)
    if isinstance(made, SliceQuery) and (wrong := refused_parts(statement.statement, made.plan)) is not None:
        return wrong
    streams = tuple(table for table in statement.tables if table.kind is Kind.STREAM)
    for table in streams:
        contract_states(table, context, partial(_key_values, table, context))
    relations = tuple((table, tuple(names)) for table, names in context.relations.values())
    judged = tuple(context.judged.items())
    part = PeriodPart("periods", tuple(context.blocks), relations, streams, made, tuple(columns), judged)
    violations = tuple(lacking(one, context) for one in context.lacking)
    found = Judged(tuple(context.states), violations, periods=None if violations else part)
    if empty:
        at, file = _list(block.block, statement.statement.source), statement.statement.source.file
        found = structs.replace(
            found, empty=tuple(dict.fromkeys(structs.replace(one, span=at, file=file) for one in context.never))
        )
    return JudgedPeriods(found, context, made)


def _snapshot_context(block: SnapshotBlock, catalog: Catalog, emit: EmitMode) -> PeriodContext:
    query = block.query
    endless = query.high is None and _always(query.plan)
    parts = emit is EmitMode.PARTS
    order = {id(scan): number for number, scan in enumerate(scans(query.plan))}
    declared = _declared(catalog, query.time_type)
    return PeriodContext(catalog, block.block.at, *declared, whole=endless, parts=parts, order=order)


def _lineage_context(block: LineageBlock, catalog: Catalog) -> PeriodContext:
    return PeriodContext(catalog, block.block.at, *_declared(catalog, block.query.time_type), lineages=True)


def _declared(catalog: Catalog, time: str) -> tuple[int | None, int | None]:
    """The domain of time; FROM … TO and AS OF say what is shown of rows that are valid before and after it, too."""
    return catalog.time.encoded(parse_type(time) or BIGINT) if catalog.time is not None else (None, None)


def _snapshots(block: SnapshotBlock, emit: EmitMode, context: PeriodContext) -> tuple[SliceQuery, list[Column], bool]:
    """The operators of a SEQ VT block, the columns of its results, and whether it never has any; notes the states.

    Raises NotRead.
    """
    query, final = block.query, emit is EmitMode.FINAL
    assert isinstance(query.plan, SliceCoalesce), "the result is coalesced"
    view = lowered(query.plan.input, context)
    if is_arriving(view.plan) and not context.parts:  # what is given is not remembered
        valid_state(view, context)
    if final:
        open_state(view, context)
    columns = [Column(name, kind) for name, kind in zip(query.columns, view.types, strict=True)]
    if not query.as_of:
        kind = parse_type(query.time_type) or BIGINT
        columns += [Column("_begin", kind), Column("_end", kind)]
    made = replace(query, plan=view.plan, final=final, parts=context.parts)
    return made, columns, NOTHING in (view.valid, view.there)


def _key_values(table: DeclaredTable, context: PeriodContext, names: tuple[str, ...]) -> MaybeSize:
    return key_values(table, names, [], context)


def _always(plan: SlicePlan) -> bool:
    """Whether a result has rows at all of time."""
    return (isinstance(plan, SliceGroup) and plan.always) or any(map(_always, inputs_of(plan)))


def _list(block: SeqBlock, source: SourceText) -> Span:
    """Where the first item of a block's list is written; the block's own place where it has none."""
    select = block.query
    if not isinstance(select, exp.Select):
        return block.at
    return Positions(source, block.tokens, block.before).of(select.expressions[0])


def _refused(statement: SeqStatement, message: str, at: Span, help: str = "") -> Diagnostic:
    return Diagnostic(Code.UNSUPPORTED, message, statement.statement.source.file, at, help)


def lacking(state: PeriodState, context: PeriodContext) -> Violation:
    """The violation for a state without a number, with the declarations that would give it one."""
    streams = [name for name in dict.fromkeys(state.streams) if _endless(name, context)]
    named = ", ".join(streams or dict.fromkeys(state.streams))
    keys = ", ".join(state.keys)
    message = f"{state.name}, one for each {keys}, have no bound" if keys else f"{state.name} have no bound"
    message += f": nothing says how many rows of {named} are valid at a time"
    help = "declare max_duration, max_valid or snapshot_key with the domains of its columns"
    if context.lineages:
        help += ", or domains of all columns of its facts"
    elif state.proposition == "P4" and "end" in state.keys:
        help += "; with domains of all columns, SELECT DISTINCT needs no length of time"
    return Violation(
        f"{state.proposition} ({state.name})", named, None, message, context.span, Code.UNBOUNDED_PERIODS, help
    )


def _endless(name: str, context: PeriodContext) -> bool:
    table = context.catalog.table(name)
    period = table.period if table is not None else None
    return period is not None and period.max_duration is None and period.max_valid is None


_HELP = "final gives each result row once it has ended, fragments the part of it in each slice of time"
_PARTS = "emit parts is outside the query language here: rows may not have their whole periods when they begin"
_WHOLE = "parts are of SELECT, WHERE, UNION ALL and inner joins; others are given as final or fragments"


def refused_emission(statement: Statement) -> Diagnostic | None:
    """Why an emission cannot be had: Q(τ_t(D)) is final once w > t, so nothing that was printed changes.

    Rows with b <= t only are valid at t, and later ones have b >= w > t.
    """
    asked = statement.emit
    if asked is None or asked.mode not in (EmitMode.CHANGES, EmitMode.UPSERT):
        return None
    message = f"emit {asked.mode} is outside the query language here: what SEQ VT prints never changes"
    return Diagnostic(Code.UNSUPPORTED, message, statement.source.file, asked.at, _HELP)


def refused_parts(statement: Statement, plan: SlicePlan) -> Diagnostic | None:
    """Why the rows of a result are not known with their whole periods when they begin; None where they are."""
    asked = statement.emit
    if asked is None or asked.mode is not EmitMode.PARTS or is_whole(plan):
        return None
    return Diagnostic(Code.UNSUPPORTED, _PARTS, statement.source.file, asked.at, _WHOLE)
