"""What a model of an engine finds in a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code, Severity
from streambound.analyzer.diagnostics import Diagnostic, Fix, FixKind
from streambound.analyzer.edits import Edit, applied, hunks
from streambound.analyzer.engine_profiles import EngineProfile, Micros, StreamEngine
from streambound.analyzer.expressions.dialect import parsed_text
from streambound.analyzer.findings import Positions
from streambound.analyzer.lower import written_tree
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import split_statements
from streambound.criteria.engines.flink import FlinkModel
from streambound.criteria.engines.flow import EngineModel
from streambound.criteria.engines.profile import EngineFix, EngineReading, EngineState, StateClass, together
from streambound.criteria.engines.spark import SparkModel
from streambound.criteria.repairs.layout import Layout

if TYPE_CHECKING:
    from streambound.criteria.check import Checked

_MODELS: dict[StreamEngine, type[EngineModel]] = {StreamEngine.SPARK: SparkModel, StreamEngine.FLINK: FlinkModel}


def read_on(checked: Checked, catalog: Catalog, profile: EngineProfile, edits: bool = True) -> EngineReading | None:
    """A model's reading of a statement as it is written; None if it was not read as a query.

    Without ``edits`` fixes are words only.
    """
    if checked.tree is None or checked.blocks is not None:
        return None
    try:
        reading = _read(checked.statement, catalog, profile, Layout(checked.statement) if edits else None)
        return None if reading is None else _with_patches(reading, checked.statement, catalog, profile)
    except RecursionError:
        return EngineReading(profile.engine, unread="the statement is nested too deeply")


def read_behind(checked: Checked, catalog: Catalog, profile: EngineProfile, behind: Micros) -> EngineReading | None:
    """What an engine does with a statement while its watermark lags ``behind`` its delay."""
    if checked.tree is None or checked.blocks is not None:
        return None
    return _read(checked.statement, catalog, replace(profile, behind=behind))


def _read(
    statement: Statement, catalog: Catalog, profile: EngineProfile, layout: Layout | None = None
) -> EngineReading | None:
    tree = written_tree(statement, catalog)
    if tree is None:
        return None
    positions = Positions(statement.source, statement.tokens, statement.before)
    return _MODELS[profile.engine](catalog, positions, profile, layout=layout).read(tree)


def _with_patches(
    reading: EngineReading, statement: Statement, catalog: Catalog, profile: EngineProfile
) -> EngineReading:
    """A reading whose fixes are edits only where they add what they say, and the model finds less wrong then."""
    kept: dict[tuple[Edit, ...], bool] = {}

    def tried(fix: EngineFix | None) -> EngineFix | None:
        if fix is not None and fix.stream:
            after = _read(statement, catalog, replace(profile, delays={**profile.delays, fix.stream: fix.delay}))
            return fix if after is not None and _wrong(after) < _wrong(reading) else replace(fix, stream="")
        if fix is None or not fix.edits:
            return fix
        if fix.edits not in kept:
            after = _after(fix, statement, catalog, profile)
            kept[fix.edits] = after is not None and _wrong(after) < _wrong(reading)
        return fix if kept[fix.edits] else replace(fix, edits=())

    return replace(
        reading,
        states=tuple(replace(one, fix=tried(one.fix)) for one in reading.states),
        drops=tuple(replace(one, fix=tried(one.fix)) for one in reading.drops),
        refusals=tuple(replace(one, fix=tried(one.fix)) for one in reading.refusals),
    )


def _wrong(reading: EngineReading) -> tuple[int, int, int]:
    """How much is wrong: refusals, then what is dropped, then what grows."""
    grows = sum(state.kept is StateClass.GROWS for state in reading.states)
    return len(reading.refusals), len(reading.drops), grows


def _after(fix: EngineFix, statement: Statement, catalog: Catalog, profile: EngineProfile) -> EngineReading | None:
    """A model's reading of a statement after a fix; None if its edits change something else, too."""
    source = SourceText(statement.source.file, applied(statement.source.text, fix.edits))
    first = statement.span.start
    same = (one for one in split_statements(source, None, catalog.readable) if one.span.start == first)
    edited = next(same, None)
    if edited is None or edited.tree is None or statement.tree is None:
        return None
    if _unparenthesized(_without(edited.tree, fix.added)) != _unparenthesized(statement.tree.copy()):
        return None
    return _read(edited, catalog, profile)


def _without(tree: exp.Expr, added: tuple[str, ...]) -> exp.Expr:
    """A statement without conditions, or keys of groups, that were added to it behind others."""
    tree = tree.copy()
    wanted = [parsed_text(one) for one in added]
    for one in wanted:
        for node in list(tree.find_all(exp.And)):
            if node.expression == one:
                node.replace(node.this.copy())
                break
        for group in tree.find_all(exp.Group):
            if group.expressions and group.expressions[-1] == one:
                group.expressions[-1].pop()
                break
    return tree


def _unparenthesized(tree: exp.Expr) -> exp.Expr:
    """A tree without parentheses, and without hints, of which a patch only adds some."""
    for select in tree.find_all(exp.Select):
        select.set("hint", None)
    return tree.transform(  # type: ignore[no-any-return]
        lambda node: node.this if isinstance(node, exp.Paren) else node
    )


def findings(reading: EngineReading, source: SourceText, span: Span) -> tuple[Diagnostic, ...]:
    """The findings on dropped results, refusals and growing states, the worst first, for a statement in a text.

    Patches are of that text.
    """
    file = source.file
    name = reading.engine.version
    found = [
        Diagnostic(
            Code.ENGINE_DROPS, f"{name} {'drops' if one.certain else 'may drop'} results: {one.message}", file,
            one.span, _help(one.fix), fixes=_patch(one.fix, source, span),
            level=None if one.certain else Severity.WARNING,
        )
        for one in reading.drops
    ]  # fmt: skip
    for one in reading.refusals[:1]:
        when = {"analysis": "while it analyses it", "start": "at its start", "run": "when it runs"}[one.when]
        error = f" ({one.error})" if one.error else ""
        message = f"{name} refuses this {when}: {one.why}{error}"
        patch = _patch(one.fix, source, span)
        found.append(Diagnostic(Code.ENGINE_REFUSES, message, file, one.span, _help(one.fix), fixes=patch))
    for states in () if reading.refusals else together(reading.states):
        state = states[0]
        if state.kept is StateClass.GROWS:
            message = f"{name} keeps {_subject(states)} for ever: {state.why}"
            patch = _patch(state.fix, source, span)
            found.append(Diagnostic(Code.ENGINE_GROWS, message, file, state.span, _help(state.fix), fixes=patch))
    for delay in reading.delays:
        patch = _patch(delay.fix, source, span)
        found.append(Diagnostic(Code.ENGINE_WAITS, delay.message, file, delay.span, _help(delay.fix), fixes=patch))
    return tuple(found)


def _subject(states: list[EngineState]) -> str:
    state = states[0]
    if len(states) == 2:
        return f"both sides of the {state.operator}"
    return f"{state.source} in the {state.operator}" if state.side else f"every row of the {state.operator}"


def _help(fix: EngineFix | None) -> str:
    return fix.words if fix is not None and not fix.edits else ""


def _patch(fix: EngineFix | None, source: SourceText, span: Span) -> tuple[Fix, ...]:
    """A fix of a finding as a change of the text."""
    if fix is None or not fix.edits:
        return ()
    after = applied(source.text, fix.edits)
    sql = after[span.start : len(after) - (len(source.text) - span.end)]
    kind, note = FixKind.SAFE, "same results"
    if not fix.same_results:
        kind, note = FixKind.CHANGES_RESULTS, fix.loses
    return (Fix(fix.text, kind, sql, ("engine",), fix.edits, tuple(hunks(source, fix.edits)), note),)
