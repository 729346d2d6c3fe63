"""What an engine does with a statement as it is written, as lines beside its verdict."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.spans import Span
from streambound.criteria.engines.profile import EngineReading, EngineState, GoesBy, StateClass, together


def engine_lines(reading: EngineReading) -> Iterator[str]:
    """A line for each operator of the engine."""
    head = f"as written on {reading.engine.version}:"
    if reading.unread:
        yield f"{head} not modelled: {reading.unread}"
        return
    for drop in reading.drops:
        yield f"{head} {'drops' if drop.certain else 'may drop'} results ({_place(drop.span)})"
    for refusal in reading.refusals[:1]:
        yield f"{head} refused ({refusal.when}): {refusal.why}"
    if reading.refusals:
        return
    for states in together(reading.states):
        yield f"{head} {_line(states)}"
        yield from (f"  {note}" for note in states[0].notes)
    if not reading.states:
        yield f"{head} nothing is kept"
    yield from (f"  {note}" for note in reading.notes)


def _line(states: list[EngineState]) -> str:
    """``join keeps both sides for ever (b has no watermark): watermark b (changes results)``."""
    state = states[0]
    name = f"{state.operator} ({_place(state.span)})"
    what = "both sides" if len(states) == 2 else state.source if state.side else ""
    if state.kept is StateClass.GROWS:
        fix = f": {state.fix.words}" if state.fix is not None else ""
        return f"{name} keeps {what or 'its rows'} for ever ({state.why}){fix}"
    amounts = " and ".join(dict.fromkeys(_amount(one) for one in states))
    by = "" if state.by is GoesBy.NEVER else f", by {state.by}"
    return f"{name} keeps {amounts}{by}"


def _amount(state: EngineState) -> str:
    number = f"about {state.rows:,} rows" if state.rows and state.kept is StateClass.WINDOW else ""
    return f"{number} ({state.formula})" if number and state.formula else state.formula or number


def _place(span: Span) -> str:
    return f"{span.line}:{span.column}"
