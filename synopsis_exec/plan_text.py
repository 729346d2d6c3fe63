"""A plan in words: the comments above a job, and what `explain --emit plan` prints."""

from __future__ import annotations

from streambound.analyzer.types import Family
from streambound.criteria.judged import CircuitBound
from streambound.criteria.tables import Stored, SynopsisTable
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan_ir import BranchPlan, JobPlan, Plan
from streambound_runtime.decoding.reasons import a_type, shown
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.text import printed

_RESULTS = "results: those already returned"


def plan_text(plan: JobPlan) -> str:
    """The plan, as a job has it: what is computed, kept and relied on, where it is, and the operators that run."""
    kind = ("set" if plan.distinct else "bag") if isinstance(plan, Plan) else "circuit"
    job = job_spec(plan)
    lines = [f"plan of {plan.name}: {kind}, M = {plan.rows_in_words(plan.bound.entries) or plan.bound.entries.text}"]
    lines += [f"  compute {sentence}" for sentence in computed_in_words(plan)]
    lines += [f"  keep {sentence}" for sentence in kept_in_words(plan) or ["nothing"]]
    lines += [f"  rely on the promise {sentence}" for sentence in promises_in_words(plan)]
    lines += [f"  placement: {job.placement.where}, because {job.placement.because}", ""]
    runs = job.plan.operators if isinstance(plan, Plan) else [job.plan]
    return "\n".join([*lines, *(printed(one.synopsis if isinstance(one, SqlBlock) else one) for one in runs)])


def computed_in_words(plan: JobPlan) -> list[str]:
    """One phrase per column that Spark computes: of which rows, what, and of which type."""
    found = [
        f"of each row of {item.name}: {shown(column.expression)}, {a_type(column.type.name)}"
        for item in (*plan.inputs, *plan.computed)
        for column in item.derived
    ]
    found += [f"once, when it starts: {item.name}, which is {shown(item.query)}" for item in plan.computed]
    if isinstance(plan, Plan) and plan.kept is not None:
        pairs = zip(plan.columns, plan.kept.expressions, strict=True)
        found += [f"of what a match keeps: {column.name}, which is {shown(text)}" for column, text in pairs]
    return found


def kept_in_words(plan: JobPlan) -> list[str]:
    """One sentence per table or state: what it is, per what, for how long, at most how much."""
    if isinstance(plan, Plan):
        sentences = [sentence for branch in plan.branches for sentence in _tables(plan, branch)]
        return [*sentences, _RESULTS] if plan.distinct else sentences
    found = []
    for state in plan.bound.states if isinstance(plan.bound, CircuitBound) else ():
        at_most = "" if plan.bound.grows else f"; {plan.at_most(state.size)}"
        each = f"one for each {', '.join(state.keys)}, " if state.keys else ""
        found.append(f"{state.name}: {each}dropped {state.freed}{at_most}")
    return found


def promises_in_words(plan: JobPlan) -> list[str]:
    """The promises that the job relies on but cannot check."""
    return [
        f"that no {period.variable} of {name} returns after its row has ended: keys are checked among valid rows"
        for name, period in plan.periods.items()
        if period.variable and any(stream.name == name for stream in plan.streams)
    ]


def _tables(plan: Plan, branch: BranchPlan) -> list[str]:
    sizes = {size.table: plan.at_most(size.size) for size in plan.bound.tables}
    sentences = []
    for table in branch.tables:
        name = plan.table_name(branch.number, table)
        size = f"; {sizes[name]}" if name in sizes else ""
        sentences.append(f"{name}: {_table(plan, branch, table)}{size}")
    return sentences


def _table(plan: Plan, branch: BranchPlan, table: SynopsisTable) -> str:
    what = "whether there are" if plan.distinct else "the number of"
    of = " and ".join(table.streams) if len(table.streams) < 3 else ", ".join(table.streams)
    rows = f"rows of {of}" if len(table.streams) == 1 else f"combinations of rows of {of}"
    keys = [_stored(stored) for stored in table.key]
    keys += [str(branch.facts.time(age.stream)) for age in table.ages]
    per = f" per {', '.join(keys)}" if keys else ""
    per += "".join(f"{' and' if place else ', with'} the {e.name}" for place, e in enumerate(table.extrema))
    ages = [f"for {_duration(plan, a.expires)} after {a.stream}'s" for a in table.ages if a.expires is not None]
    until = f", until {table.deadline}" if table.deadline is not None else ""
    return f"{what} {rows}{per}{', ' + ' and '.join(ages) if ages else ''}{until}"


def _duration(plan: Plan, length: int) -> str:
    return f"{length} units of time" if plan.time_family is Family.INTEGER else _age(plan, length)


def _age(plan: Plan, length: int) -> str:
    """A difference of timestamps: a number of integer time, else in seconds."""
    if plan.time_family is Family.INTEGER:
        return str(length)
    sign, (seconds, micros) = "-" if length < 0 else "", divmod(abs(length), 1_000_000)
    return f"{sign}{seconds}{f'.{micros:06}'.rstrip('0') if micros else ''} s"


def _stored(stored: Stored) -> str:
    clipped = " (clipped)" if stored.low or stored.high or stored.cuts else ""
    return f"{stored.attribute}{clipped}"
