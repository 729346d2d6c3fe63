"""The verdict on a SEQ VT statement over streams: a number by P4 where it applies, else by P3 with P2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.spans import Span
from streambound.analyzer.types import parse_type
from streambound.criteria.operators.states import Judged, PeriodPart
from streambound.criteria.periods.ends import valid_state
from streambound.criteria.periods.epochs import open_state
from streambound.criteria.periods.finality import refused_emission, refused_parts
from streambound.criteria.periods.leaves import key_values
from streambound.criteria.periods.lowering import NotRead, lowered
from streambound.criteria.periods.repairs import lacking
from streambound.criteria.periods.valid import contract_states
from streambound.criteria.periods.views import MaybeSize, PeriodContext
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.statement import SeqStatement
from streambound_runtime.operators.epochs.plan import EpochQuery, is_arriving
from streambound_runtime.periods.plan import PeriodCoalesce, PeriodGroup, PeriodPlan, inputs_of


@dataclass(frozen=True, slots=True)
class JudgedPeriods:
    """What is said of a statement, and the operators that need more than there is a number for."""

    judged: Judged
    context: PeriodContext
    query: EpochQuery


def reads_streams(statement: SeqStatement) -> bool:
    """Whether rows arrive for a statement."""
    return any(table.kind is Kind.STREAM for table in statement.tables)


def judged_periods(statement: SeqStatement, catalog: Catalog) -> JudgedPeriods | Diagnostic:
    """What the propositions say of a statement over streams; a diagnostic where it is outside of the language."""
    first = statement.blocks[0]
    if len(statement.blocks) > 1 or statement.outer or isinstance(first, LineageBlock):
        message = "SQL around a SEQ block over streams is outside the query language"
        return _refused(statement, message, first.block.at, "make the block a statement of its own")
    if (wrong := refused_emission(statement.statement)) is not None:
        return wrong
    query, emit = first.query, statement.statement.emit
    endless = query.high is None and _always(query.plan)
    parts = emit is not None and emit.mode is EmitMode.PARTS
    context = PeriodContext(catalog, first.block.at, query.low, query.high, whole=endless, parts=parts)
    assert isinstance(query.plan, PeriodCoalesce), "the result is coalesced"
    try:
        view = lowered(query.plan.input, context)
    except NotRead as why:
        return _refused(statement, f"{why} is outside of what SEQ VT evaluates over streams", first.block.at, "")
    if (wrong := refused_parts(statement.statement, view.plan)) is not None:
        return wrong
    for table in statement.tables:
        if table.kind is Kind.STREAM:
            contract_states(table, context, partial(_key_values, table, context))
    final = emit is None or emit.mode is EmitMode.FINAL
    if parts:
        pass  # what is given is not remembered
    elif is_arriving(view.plan):
        valid_state(view, context)
    elif final:
        open_state(view, context)
    made = EpochQuery(view.plan, query.low, query.high, query.as_of, final, parts)
    columns = [Column(name, kind) for name, kind in zip(query.columns, view.types, strict=True)]
    if not query.as_of:
        kind = parse_type(query.time_type) or BIGINT
        columns += [Column("_begin", kind), Column("_end", kind)]
    relations = tuple((table, tuple(names)) for table, names in context.relations.values())
    streams = tuple(table for table in statement.tables if table.kind is Kind.STREAM)
    part = PeriodPart("periods", tuple(context.blocks), relations, streams, made, tuple(columns))
    violations = tuple(lacking(one, context) for one in context.lacking)
    return JudgedPeriods(Judged(None if violations else part, tuple(context.states), violations), context, made)


def _key_values(table: DeclaredTable, context: PeriodContext, names: tuple[str, ...]) -> MaybeSize:
    return key_values(table, names, [], context)


def _always(plan: PeriodPlan) -> bool:
    """Whether a result has rows at all of time."""
    return (isinstance(plan, PeriodGroup) and plan.always) or any(map(_always, inputs_of(plan)))


def _refused(statement: SeqStatement, message: str, at: Span, help: str) -> Diagnostic:
    return Diagnostic(Code.UNSUPPORTED, message, statement.statement.source.file, at, help)
