"""The certificate of a SEQ statement over streams against its SQL: every reason why it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.statement import Statement
from streambound.analyzer.types import parse_type
from streambound.recheck.certificates.claims import ClaimedAmount, RejectedError, once, read_as
from streambound.recheck.certificates.quantity import least, total
from streambound.recheck.certificates.validate import Proof, amount_faults
from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.periods.equal_keys import equal_keys
from streambound.recheck.periods.leaves import PeriodCatalog
from streambound.recheck.periods.lineages import random_states
from streambound.recheck.periods.operators import PeriodLine, PeriodStates
from streambound.recheck.periods.sizes import number, smaller
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.snapshot import SnapshotBlock
from streambound.temporal.statement import SeqStatement, read_statement
from streambound_runtime.operators.period_plan import SliceCoalesce, SliceGroup, SlicePlan, inputs_of

VERSION = 3


class ClaimedPeriodState(Struct, frozen=True):
    """A state that the certificate of a SEQ block claims."""

    state: str
    proposition: str
    keys: tuple[str, ...]
    entries: ClaimedAmount
    lifetime: str


class ClaimedPeriods(Struct, frozen=True):
    """The whole certificate."""

    version: int
    states: tuple[ClaimedPeriodState, ...]
    entries: ClaimedAmount

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise RejectedError(f"the certificate is not of version {VERSION}")
        once("'states'", *(state.state for state in self.states))


_ENDED = "when its end has passed"


def seq_proved(statement: Statement, catalog: Catalog, document: Any) -> Proof:
    """Check a certificate against a SEQ statement; raises NotCheckedError for what this checker does not know."""
    found = read_statement(statement, catalog)
    if isinstance(found, Diagnostic):
        return Proof((f"the statement means nothing any more: {found.message}",))
    if found.outer or len(found.blocks) > 1:
        return Proof(("SQL around a SEQ block has no certificate",))
    emit = EmitMode.FINAL if statement.emit is None else statement.emit.mode
    if emit in (EmitMode.CHANGES, EmitMode.UPSERT):
        return Proof(("what a SEQ block prints never changes",))
    block = found.blocks[0]
    states = _random(block, catalog, emit) if isinstance(block, LineageBlock) else _snapshots(block, catalog, emit)
    _contracts(found, states)
    try:
        claimed = read_as(ClaimedPeriods, document)
        wrong = list(_faults(claimed, states))
    except RejectedError as error:
        wrong = [str(error)]
    if wrong and not states.known.exact:
        raise NotCheckedError("conditions between columns, or on expressions, in SEQ blocks")
    return Proof(tuple(wrong), None if wrong else total(least(line.entries or ()) for line in states.lines))


def reads_relations_only(statement: Statement, catalog: Catalog) -> bool:
    """Whether it is a SEQ statement for which no rows arrive, so that Spark computes it once."""
    found = read_statement(statement, catalog) if statement.blocks else None
    return isinstance(found, SeqStatement) and all(table.kind is Kind.RELATION for table in found.tables)


def _snapshots(block: SnapshotBlock, catalog: Catalog, emit: EmitMode) -> PeriodStates:
    query = block.query
    known = PeriodCatalog(catalog, *_domain(catalog, query.time_type))
    known.equal = equal_keys(query.plan, catalog)
    above = query.high is None and _always(query.plan)
    states = PeriodStates(known, above, emit is EmitMode.PARTS)
    assert isinstance(query.plan, SliceCoalesce), "the result of a block is coalesced"
    states.result(query.plan.input, emit is EmitMode.FINAL)
    return states


def _always(plan: SlicePlan) -> bool:
    """Whether there are rows of it at all of time."""
    return (isinstance(plan, SliceGroup) and plan.always) or any(map(_always, inputs_of(plan)))


def _random(block: LineageBlock, catalog: Catalog, emit: EmitMode) -> PeriodStates:
    known = PeriodCatalog(catalog, *_domain(catalog, block.query.time_type), random=True)
    states = PeriodStates(known, parts=emit is EmitMode.PARTS)
    random_states(block.query.plan, states, emit is EmitMode.FINAL)
    return states


def _domain(catalog: Catalog, time: str) -> tuple[int | None, int | None]:
    """When rows may be valid, whatever part of it a block shows."""
    kind = parse_type(time)
    return catalog.time.encoded(kind) if catalog.time is not None and kind is not None else (None, None)


def _contracts(statement: SeqStatement, states: PeriodStates) -> None:
    """P2: the latest end of each key that is unique among valid rows, and a counter for each end.

    Where nothing says how many keys there are, of those that are read.
    """
    known = states.known
    for table in statement.tables:
        if table.kind is not Kind.STREAM:
            continue
        valid = known.valid(table, ())
        for key in known.unique(table):
            values = smaller(valid, known.values(table, key))
            states.line("P2", key, known.keys_read(table, key) if values is None else values)
        if table.period is not None and table.period.max_valid is not None:
            states.line("P2", ("end",), smaller(valid, number(known.longest(table))))


def _faults(claimed: ClaimedPeriods, states: PeriodStates) -> Iterator[str]:
    if len(claimed.states) != len(states.lines):
        yield f"the query has {len(states.lines)} states, not {len(claimed.states)}"
        return
    for state, line in zip(claimed.states, states.lines, strict=True):
        yield from _line_faults(state, line, states)
    if all(line.entries is not None for line in states.lines):
        every = total(least(line.entries) for line in states.lines if line.entries is not None)
        yield from amount_faults("M", claimed.entries, every, states.known.symbols)


def _line_faults(state: ClaimedPeriodState, line: PeriodLine, states: PeriodStates) -> Iterator[str]:
    if state.proposition != line.proposition:
        yield f"{state.state} is bounded by {line.proposition}, not by {state.proposition}"
    if state.keys != line.keys:
        yield f"the keys of {state.state} are {', '.join(line.keys) or 'none'}"
    if state.lifetime != _ENDED:
        yield f"an entry of {state.state} goes {_ENDED!r}, not {state.lifetime!r}"
    found = None if line.entries is None else least(line.entries)
    yield from amount_faults(state.state, state.entries, found, states.known.symbols)
