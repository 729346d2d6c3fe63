"""What a model of an engine finds in a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code, Severity
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.engine_profiles import EngineProfile, StreamEngine
from streambound.analyzer.findings import Positions
from streambound.analyzer.lower import written_tree
from streambound.criteria.engines.flink import FlinkModel
from streambound.criteria.engines.flow import EngineModel
from streambound.criteria.engines.profile import EngineFix, EngineReading, EngineState, StateClass, together
from streambound.criteria.engines.spark import SparkModel

if TYPE_CHECKING:
    from streambound.criteria.check import Checked

_MODELS: dict[StreamEngine, type[EngineModel]] = {StreamEngine.SPARK: SparkModel, StreamEngine.FLINK: FlinkModel}


def read_on(checked: Checked, catalog: Catalog, profile: EngineProfile) -> EngineReading | None:
    """What an engine does with a statement as it is written; None where it is no query that was read."""
    if checked.tree is None or checked.blocks is not None:
        return None
    statement = checked.statement
    positions = Positions(statement.source, statement.tokens, statement.before)
    model: EngineModel = _MODELS[profile.engine](catalog, positions, profile)
    try:
        tree = written_tree(statement, catalog)
        return None if tree is None else model.read(tree)
    except RecursionError:
        return EngineReading(profile.engine, unread="the statement is nested too deeply")


def findings(reading: EngineReading, file: str) -> tuple[Diagnostic, ...]:
    """What is dropped, refused and kept for ever, the worst first."""
    name = reading.engine.version
    found = [
        Diagnostic(
            Code.ENGINE_DROPS, f"{name} {'drops' if one.certain else 'may drop'} results: {one.message}", file,
            one.span, _help(one.fix), level=None if one.certain else Severity.WARNING,
        )
        for one in reading.drops
    ]  # fmt: skip
    for one in reading.refusals[:1]:
        when = {"analysis": "while it analyses it", "start": "at its start", "run": "when it runs"}[one.when]
        error = f" ({one.error})" if one.error else ""
        message = f"{name} refuses this {when}: {one.why}{error}"
        found.append(Diagnostic(Code.ENGINE_REFUSES, message, file, one.span, _help(one.fix)))
    for states in () if reading.refusals else together(reading.states):
        state = states[0]
        if state.kept is StateClass.GROWS:
            message = f"{name} keeps {_subject(states)} for ever: {state.why}"
            found.append(Diagnostic(Code.ENGINE_GROWS, message, file, state.span, _help(state.fix)))
    return tuple(found)


def _subject(states: list[EngineState]) -> str:
    state = states[0]
    if len(states) == 2:
        return f"both sides of the {state.operator}"
    return f"{state.source} in the {state.operator}" if state.side else f"every row of the {state.operator}"


def _help(fix: EngineFix | None) -> str:
    return fix.words if fix is not None else ""
