"""A plan in words: the tables of a job's header, and what `explain --emit plan` prints."""

from __future__ import annotations

from collections.abc import Iterable

from streambound.analyzer.types import Family
from streambound.criteria.tables import Stored, SynopsisTable
from streambound.synopsis_exec.kernel_choice import kernel_in_words
from streambound.synopsis_exec.plan_ir import BranchPlan, Input, Plan
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from streambound_runtime.decoding.reasons import a_type, shown
from streambound_runtime.text import printed

_RESULTS = "results: those already returned"


def plan_text(plan: Plan) -> str:
    """The plan, as a job has it: its tables in words, why it has its kernel, and the tree that runs."""
    lines = [f"plan of {plan.name}: {'set' if plan.distinct else 'bag'}, M = {plan.bound.entries.text}"]
    lines += [f"  compute {sentence}" for sentence in derived_in_words(plan)]
    lines += [f"  keep {sentence}" for sentence in tables_in_words(plan) or ["nothing"]]
    tree = synopsis_plan(plan)
    lines += [f"  kernel: {kernel_in_words(plan)}", f"  placement: {tree.placement}, because {tree.placed}"]
    lines += ["", printed(tree)]
    return "\n".join(lines)


def derived_in_words(plan: Plan) -> list[str]:
    """One phrase per column that Spark computes: of which rows, what, and of which type."""
    found = inputs_in_words((*plan.inputs, *plan.computed))
    found += [f"once, when it starts: {item.name}, which is {shown(item.query)}" for item in plan.computed]
    if plan.kept is not None:
        pairs = zip(plan.columns, plan.kept.expressions, strict=True)
        found += [f"of what a match keeps: {column.name}, which is {shown(text)}" for column, text in pairs]
    return found


def inputs_in_words(inputs: Iterable[Input]) -> list[str]:
    """One phrase per column that Spark computes of rows as they come."""
    return [
        f"of each row of {item.name}: {shown(column.expression)}, {a_type(column.type.name)}"
        for item in inputs
        for column in item.derived
    ]


def tables_in_words(plan: Plan) -> list[str]:
    """One sentence per table: what it counts, per what, and for how long."""
    sentences = [sentence for branch in plan.branches for sentence in _tables(plan, branch)]
    return [*sentences, _RESULTS] if plan.distinct else sentences


def _tables(plan: Plan, branch: BranchPlan) -> list[str]:
    sizes = {size.table: size.size.text for size in plan.bound.tables}
    sentences = []
    for table in branch.tables:
        name = plan.table_name(branch.number, table)
        size = f"; at most {sizes[name]}" if name in sizes else ""
        sentences.append(f"{name}: {_table(plan, branch, table)}{size}")
    return sentences


def _table(plan: Plan, branch: BranchPlan, table: SynopsisTable) -> str:
    what = "whether there are" if plan.distinct else "the number of"
    of = " and ".join(table.streams) if len(table.streams) < 3 else ", ".join(table.streams)
    if table.members:
        of = f"any of {of} that may come before the others"
    tuples = f"tuples of {of}" if len(table.streams) == 1 else f"combinations of tuples of {of}"
    keys = [_stored(stored) + table.until(stored.attribute) for stored in table.key]
    keys += [str(branch.facts.time(age.stream)) for age in table.ages]
    per = f" per {', '.join(keys)}" if keys else ""
    per += "".join(f"{' and' if place else ', with'} the {e.name}" for place, e in enumerate(table.extrema))
    ages = [f"for {_duration(plan, a.expires)} after {a.stream}'s" for a in table.ages if a.expires is not None]
    until = f", until {table.deadline}" if table.deadline is not None else ""
    return f"{what} {tuples}{per}{', ' + ' and '.join(ages) if ages else ''}{until}"


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
