"""Streams that fill the tables: what a bounded query's memory is measured on, and how near it comes to M.

For each table every combination of the values that its key can hold is made part of a solution of the conditions, as
far as the budget goes. The streams then bring the solutions' tuples over and over, at every timestamp as many as may
share one, so that each meets all others in every order, inside every window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from math import inf, nextafter, prod
from random import Random
from typing import Any

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute
from streambound.analyzer.types import Family
from streambound.criteria.clipping import stream_limits
from streambound.criteria.cuts import representatives
from streambound.criteria.tables import Stored
from streambound.synopsis_exec.expression_values import expression_values, rows_behind, standing_rows
from streambound.synopsis_exec.plan_ir import BranchPlan, Input, Plan

Row = dict[str, Any]
Solution = dict[Attribute, Any]
Free = Mapping[str, tuple[Any, ...]]
"""Values of the columns that only expressions read."""
Interval = tuple[Fraction | None, Fraction | None]

RATE = 8
"""Tuples per timestamp where the catalog does not say how many there may be."""
MOST_VALUES = 512
"""Values of one attribute that are tried."""
MOST_SOLUTIONS = 4096
"""Solutions per table."""
RANDOM_SOLUTIONS = 1024
MOST_TIMESTAMPS = 512
REPEATED = 32
"""Solutions that are tried with several values of what only expressions read."""


def first_timestamp(plan: Plan, before: int = MOST_TIMESTAMPS // 2) -> int:
    """When the streams start: with time itself, or some time ``before`` a finite stream is over."""
    facts = [branch.facts for branch in plan.branches]
    starts = [int(f.closure.interval(f.time(s))[0] or 0) for f in facts for s in f.later]
    ends = [end for f in facts for end in f.finite_streams.values()]
    if not ends:
        return max(0, min(starts, default=0))
    return max([min(ends) - before, *([0] if plan.time_family is Family.INTEGER else starts)])


# --- rows -------------------------------------------------------------------------------------------------------------


def pools(plan: Plan, random: Random | None = None) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """The rows of each relation, and the different tuples of each stream, from the solutions of all branches.

    With ``random``, from as many random solutions as `RANDOM_SOLUTIONS` says.
    """
    relations: dict[str, dict[tuple[Any, ...], Row]] = {item.name: {} for item in plan.relations}
    streams: dict[str, dict[tuple[Any, ...], Row]] = {item.name: {} for item in plan.streams}
    most = {name: _most_rows(plan, name) for name in relations}
    inputs = {item.name: item for item in (*plan.inputs, *plan.computed)}
    free = {name: expression_values(item) for name, item in inputs.items()}
    for branch in plan.branches:
        # What stands for whatever is newest (`criteria.dataflow.blocks.NEWEST`) has no rows.
        made = [(inputs[s.table], _attributes(inputs[s.table], s.alias)) for s in branch.sources if s.table in inputs]
        for number, solution in enumerate(_often(_solutions(branch, random), free)):
            rows = list[tuple[str, Row]]()
            for item, attributes in made:
                row = _row(attributes, free[item.name], solution, number)
                rows += rows_behind(item, row, plan.relations, number) if item.query else [(item.name, row)]
            fits = all(
                tuple(row.values()) in relations[name] or len(relations[name]) < most[name]
                for name, row in rows
                if name in relations
            )
            for name, row in rows if fits else ():
                (relations if name in relations else streams)[name].setdefault(tuple(row.values()), row)
    brought = {name: list(rows.values()) for name, rows in {**relations, **streams}.items()}
    texts = [column.expression for item in plan.inputs for column in item.derived]
    for item in plan.relations:
        brought[item.name] = brought[item.name] or standing_rows(item, brought, most[item.name], texts)
    return {name: brought[name] for name in relations}, {name: brought[name] for name in streams}


def _most_rows(plan: Plan, relation: str) -> int:
    return next((item.rows for item in plan.relations if item.name == relation and item.rows is not None), RATE)


def _often(solutions: Iterator[Solution], free: Mapping[str, Free]) -> Iterator[Solution]:
    """Solutions, the first ones several times where expressions read columns that have no value in them."""
    times = max((len(values) for mine in free.values() for values in mine.values()), default=1)
    return (solution for place, solution in enumerate(solutions) for _ in range(times if place < REPEATED else 1))


def _attributes(declared: Input, alias: str) -> dict[str, Attribute]:
    """The attributes of a table's columns, but for its timestamp."""
    names = (column.name for column in declared.declared if column.name != declared.timestamp)
    return {name: Attribute(alias, name) for name in names}


def _row(attributes: Mapping[str, Attribute], free: Free, solution: Solution, number: int) -> Row:
    """A tuple of a solution; columns that only expressions read have another value each time."""
    found = {column: solution.get(attribute) for column, attribute in attributes.items()}
    for place, (column, values) in enumerate(free.items()):
        if attributes[column] not in solution:
            found[column] = values[(number + number // len(values) * place) % len(values)]
    return found


# --- solutions --------------------------------------------------------------------------------------------------------


def _solutions(branch: BranchPlan, random: Random | None) -> Iterator[Solution]:
    """Values of all attributes that satisfy the conditions on values, for every combination that a table can hold."""
    facts = branch.facts
    for chosen in _stretched(branch):
        if (stretched := _completed(facts, chosen)) is not None:
            yield stretched
    for key in [*(table.key for table in branch.tables), *_others(branch)]:
        axes = [[(stored.attribute, value) for value in _candidates(facts, stored)] for stored in key]
        for combination in _combinations(axes, random):
            solution = _completed(facts, dict(combination))
            if solution is not None:
                yield solution


def _stretched(branch: BranchPlan) -> Iterator[Solution]:
    """Where finite streams limit values, choices that leave these as much room as `MOST_VALUES` allows.

    A value of a finite stream that others are clipped to is told apart itself, so it takes several.
    """
    facts = branch.facts
    room: Solution = {}
    stored = list(dict.fromkeys(stored for table in branch.tables for stored in table.key))
    clipping = {a: bool(s.low) for s in stored for a in s.limiting if a.source in facts.finite_streams}
    ranged = [s.attribute for s in stored if s.attribute.source in facts.infinite]
    ranged = [a for a in ranged if a in facts.closure.nodes and facts.closure.sort(a) is Sort.DISCRETE]
    for lower, extreme in ((True, 0), (False, MOST_VALUES - 1)):
        unlimited = (a for a in ranged if not facts.limits(a)[0 if lower else 1].known)
        ends = (end for a in unlimited for end, _ in stream_limits(facts, a, lower, frozenset(facts.finite_streams)))
        room |= dict.fromkeys((*ends, *(a for a, low in clipping.items() if low is lower)), extreme)
    for step in range(MOST_VALUES // 8) if clipping else ():
        yield room | {a: step if low else MOST_VALUES - 1 - step for a, low in clipping.items()}
    for attribute in ranged if room else ():
        yield from (room | {attribute: value} for value in range(MOST_VALUES))


def _combinations(axes: list[list[tuple[Attribute, Any]]], random: Random | None) -> Iterator[tuple[Any, ...]]:
    """Every combination, as far as the budget goes; or random ones."""
    if random is None or prod(map(len, axes)) <= RANDOM_SOLUTIONS:
        yield from islice(product(*axes), MOST_SOLUTIONS)
        return
    for _ in range(RANDOM_SOLUTIONS):
        yield tuple(random.choice(axis) for axis in axes)


def _others(branch: BranchPlan) -> list[tuple[Stored, ...]]:
    """What is stored in no table: the results of a set; and nothing, for streams that no table keeps a value of."""
    projected = dict.fromkeys(a for output in branch.outputs for a in output.attributes)
    return [tuple(Stored(attribute, (), ()) for attribute in projected)]


def _candidates(facts: Facts, stored: Stored) -> list[Any]:
    """Values to try for a stored attribute: all that its key can hold, or the first of them."""
    attribute = stored.attribute
    if attribute in facts.closure.null or attribute not in facts.closure.nodes:
        return [None]
    null = [] if attribute in facts.closure.compared else [None]
    if stored.cuts:
        least, *others = representatives(facts, attribute, stored.cuts)
        return [_smaller(others[0]) if least == -inf else least, *others, *null]
    if (listed := facts.listed(attribute)) is not None:
        return [*sorted(set(listed)), *null]
    match facts.closure.sort(attribute):
        case Sort.STRING:
            return [*_texts(facts, attribute), *null]
        case Sort.DENSE:
            return [*_fractions(facts, stored), *null]
    return [*_interval(facts, stored), *null]


def _smaller(value: Any) -> Any:
    """A smaller number of the same kind."""
    return value - 1 if isinstance(value, int) else nextafter(value, -inf)


def _interval(facts: Facts, stored: Stored) -> range:
    """The integers between a stored attribute's limits, from the clipped end on; some, where there is no limit."""
    low, high = facts.closure.interval(stored.attribute)
    lows = [limit for limit in (low, *(clip.constant for clip in stored.low)) if limit is not None]
    highs = [limit for limit in (high, *(clip.constant for clip in stored.high)) if limit is not None]
    least, most = (int(max(lows)) if lows else None), (int(min(highs)) if highs else None)
    if least is None:
        least = 0 if most is None else most - MOST_VALUES + 1
    return range(least, min(least + MOST_VALUES, least + MOST_VALUES if most is None else most + 1))


def _fractions(facts: Facts, stored: Stored) -> list[float]:
    low, high = facts.closure.interval(stored.attribute)
    return [float(low)] if low is not None and low == high else [float(number) for number in _interval(facts, stored)]


def _texts(facts: Facts, attribute: Attribute) -> list[str]:
    low, high = facts.closure.interval(attribute)
    if low is not None and low == high:
        return [facts.closure.strings[int(low)]]
    return [f"text {number:04}" for number in range(MOST_VALUES)]


def _completed(facts: Facts, chosen: Solution) -> Solution | None:
    """Values of all attributes, given some: the others as small as they can be; None where that is impossible."""
    solution, closure = dict(chosen), facts.closure
    fixed: dict[Sort, dict[int, Fraction | int]] = {Sort.DISCRETE: {}, Sort.DENSE: {}}
    values = [a for a in closure.nodes if not facts.branch.is_time(a)]
    for attribute in sorted(values, key=lambda a: a not in chosen):
        sort, node = closure.nodes[attribute]
        low, high = closure.bounds[sort].limits_beside(node, fixed.get(sort, {}))
        if attribute not in solution:
            interval = (-low[0] if low else None, high[0] if high else None)
            solution[attribute] = _free(facts, attribute, interval, solution)
        value = solution[attribute]
        if isinstance(value, int | float) and sort in fixed:
            number = Fraction(value) if isinstance(value, float) else value
            if not closure.satisfiable or (high and not _below(number, *high)) or (low and not _below(-number, *low)):
                return None
            fixed[sort][node] = number
    return solution


def _below(number: Fraction | int, limit: Fraction, strict: bool) -> bool:
    return number < limit or (number == limit and not strict)


def _free(facts: Facts, attribute: Attribute, interval: Interval, solution: Solution) -> Any:
    """A value in an interval, which the conditions leave to an attribute that no key asks for."""
    closure, (low, high) = facts.closure, interval
    if attribute in closure.null:
        return None
    if closure.sort(attribute) is Sort.DISCRETE:
        return int(low if low is not None else high if high is not None else 0)
    equal = next((solution[other] for other in facts.equal_to(attribute) if other in solution), None)
    if equal is not None:
        return equal
    if closure.sort(attribute) is Sort.STRING or facts.listed(attribute) is not None:
        return _candidates(facts, Stored(attribute, (), ()))[0]
    return float(_inside(low, high))


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A number between two limits, neither of them, since they may be strict; unless they are equal."""
    if low is not None and high is not None:
        return (low + high) / 2
    return low + 1 if low is not None else high - 1 if high is not None else Fraction(0)
