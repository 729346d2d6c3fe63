"""A plan in words: what `explain --emit plan` prints, and the table list in a job's header."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.query import Attribute, Comparison, NullTest, conjunction
from streambound.analyzer.render import render_formula
from streambound.analyzer.types import Family
from streambound.analyzer.values import decode
from streambound.criteria.tables import Member as FamilyMember
from streambound.criteria.tables import Stored, Table
from streambound.synopsis_exec.filters import Extreme, Member
from streambound.synopsis_exec.kernel_choice import kernel_in_words
from streambound.synopsis_exec.key_choice import by_key, key_of, no_key_reason
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan, PlanSource, PlanTransition
from streambound.synopsis_exec.range_choice import no_ranges_reason, reach

_RESULTS = "results: those already returned"


def plan_text(plan: Plan) -> str:
    """The plan as text, for `explain --emit plan`."""
    lines = [f"plan of {plan.name}: {'set' if plan.distinct else 'bag'}, M = {plan.bound.entries.text}"]
    for branch in plan.branches:
        if plan.several:
            lines.append(f"branch {branch.number}")
        lines.extend(f"  {line}" for line in _branch(plan, branch))
    if plan.distinct and plan.several:
        lines.extend(["all branches", f"  keep {_RESULTS}"])
    lines.append(f"kernel: {kernel_in_words(plan)}")
    lines.append(f"batches: folded {batches_in_words(plan, by_key(plan))}")
    return "\n".join(lines)


def batches_in_words(plan: Plan, keyed: bool) -> str:
    """Where batches are folded, large ones by key or not, and why."""
    if keyed and (key := key_of(plan)) is not None:
        columns = " = ".join(f"{stream}.{column}" for stream, column in key.columns.items())
        return f"on the driver, large ones on the executors in parts of the values of {columns}"
    reason = no_ranges_reason(plan)
    if reason:
        what = f"{reason}, and {no_key_reason(plan)}"
        return f"on the driver, large ones a slice of time after the other, because {what}"
    there, back = "on the driver, large ones on the executors in ranges of time", reach(plan)
    if back is None:
        return f"{there}: what each does to the tables first, then its results"
    return f"{there}, each with the rows of {_duration(plan, back)} before it" if back else there


def _branch(plan: Plan, branch: BranchPlan) -> Iterator[str]:
    """What a branch reads, joins and remembers, and how its partial matches grow."""
    yield from (f"read {_source(branch, source)}" for source in branch.sources)
    yield from (f"join {_condition(branch, join)}" for join in branch.joins)
    kept = _tables(plan, branch)
    if plan.distinct and not plan.several:
        kept.append(_RESULTS)
    yield from (f"keep {sentence}" for sentence in kept or ["nothing"])
    yield from (_transition(plan, branch, transition) for transition in branch.transitions)
    yield from (_growth(branch, table, member) for table in branch.tables for member in table.members)


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


def _table(plan: Plan, branch: BranchPlan, table: Table) -> str:
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


def _source(branch: BranchPlan, source: PlanSource) -> str:
    name = source.table if source.table == source.alias else f"{source.table} as {source.alias}"
    tests = [_condition(branch, test) for test in (*source.times, *source.filters)]
    tests += [_extreme(extreme) for extreme in source.extremes]
    tests += [_listed(branch, member) for member in source.members]
    where = f" where {' AND '.join(tests)}" if tests else ""
    return f"{source.kind} {name}({', '.join(source.columns)}){where}"


def _extreme(extreme: Extreme) -> str:
    operator, word = (">=", "min") if extreme.lower else ("<=", "max")
    shift = f" {'+' if extreme.offset > 0 else '-'} {abs(extreme.offset)}" if extreme.offset else ""
    return f"{extreme.attribute} {operator} {word}({extreme.relation}){shift}"


def _listed(branch: BranchPlan, member: Member) -> str:
    kind = branch.branch.column(member.attribute).type
    return f"{member.attribute} IN ({', '.join(decode(value, kind) for value in member.values)})"


def _condition(branch: BranchPlan, test: Comparison | NullTest) -> str:
    return render_formula(conjunction((test,)), branch.branch).sql("spark")


def _growth(branch: BranchPlan, family: Table, member: FamilyMember) -> str:
    """What a member of a family extends: every entry that has what comes before it."""
    first = member.streams[0]
    needs = [s for s in family.streams if s not in member.streams and branch.facts.never_newer(s, first)]
    relations = "".join(f" + {name}" for name in member.relations)
    there = " + any subset" + (f" with {', '.join(needs)}" if needs else "")
    whole = "results" if set(family.streams) == {s.alias for s in branch.branch.streams} else "the full set"
    return f"{' and '.join(member.streams)}{there}{relations} -> a subset, or {whole}"


def _transition(plan: Plan, branch: BranchPlan, transition: PlanTransition) -> str:
    came = " and ".join(transition.arriving)
    old = "".join(
        f" + {{{', '.join(part.streams)}}}{' old or new' * part.now}{' new' * part.new}" for part in transition.parts
    )
    relations = "".join(f" + {name}" for group in transition.groups for name in group)
    target = "results" if transition.output else "{" + ", ".join(transition.target) + "}"
    tests = [_condition(branch, check) for check in transition.checks]
    for age in transition.ages:
        time = Attribute(age.stream, branch.facts.time(age.stream).column)
        if age.least is not None:
            tests.append(f"now - {time} >= {_age(plan, age.least)}")
        if age.greatest is not None:
            tests.append(f"now - {time} <= {_age(plan, age.greatest)}")
    when = f" when {' and '.join(tests)}" if tests else ""
    return f"{came}{old}{relations} -> {target}{when}"
