"""What a declaration would give a number: the repairs of a state of SEQ VT over streams that has none."""

from __future__ import annotations

from streambound.analyzer.codes import Code
from streambound.criteria.periods.views import PeriodContext, PeriodState
from streambound.criteria.violation import Violation


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
