"""A query's plan as data: what `explain --emit plan` prints and a job's runtime executes."""

from __future__ import annotations

from functools import reduce

from streambound.analyzer.symbols import symbol
from streambound.criteria.rows_apart import kept_apart
from streambound.criteria.size import Addition, Maximum, Minimum, Number, Size, Symbol
from streambound.synopsis_exec.apart_plan import rows_apart
from streambound.synopsis_exec.branch_plan import BranchLowering
from streambound.synopsis_exec.plan_ir import Plan
from streambound_runtime.engine.tables import engine_type
from streambound_runtime.operators import formula, plan


def synopsis_plan(query: Plan) -> plan.SynopsisPlan:
    """The synopsis of a bounded query as data."""
    return plan.SynopsisPlan(
        "result",
        tuple(column.name for column in query.kept_columns),
        tuple(engine_type(column.type.name) for column in query.kept_columns),
        _branches(query),
        query.distinct,
        query.counters.most,
        query.sums,
    )


def _branches(query: Plan) -> tuple[plan.Subplan, ...]:
    if kept_apart(query.bound) is None:
        return tuple(BranchLowering(query, branch).lowered() for branch in query.branches)
    apart = rows_apart(query)
    return () if apart is None else (apart,)


def bound_formula(query: Plan) -> formula.Formula:
    """M as a formula over the sizes and extreme values of relations."""
    return as_formula(query.bound.entries, quantities(query))


def quantities(query: Plan) -> dict[str, formula.Formula]:
    """The quantities of a formula's symbols."""
    found: dict[str, formula.Formula] = {}
    for stream in query.streams:
        name = symbol("c", stream.name)
        found[name] = formula.Unknown(name) if stream.max_per_timestamp is None else stream.max_per_timestamp
        found |= {symbol("rate", stream.name): stream.max_rate.rows} if stream.max_rate is not None else {}
    for relation in query.static:
        found[symbol("rows", relation.name)] = formula.RowCount(relation.name)
        for column in relation.columns:
            found[symbol("min", relation.name, column.name)] = formula.Extreme(relation.name, column.name, False)
            found[symbol("max", relation.name, column.name)] = formula.Extreme(relation.name, column.name, True)
    return found


def as_formula(size: Size, known: dict[str, formula.Formula]) -> formula.Formula:
    """A size as a formula of the runtime; symbols that are not known are those of what streams will bring.

    >>> from streambound.criteria.size import Multiplication
    >>> rows = Addition((Symbol("rows_R"), Number(-1)))
    >>> size = Addition((Multiplication((Number(3), Symbol("c_S"))), Maximum((Number(0), rows))))
    >>> as_formula(size, {"c_S": 2, "rows_R": formula.RowCount("R")})
    Sum(of=(Greatest(of=(0, Sum(of=(RowCount(relation='R'), -1)))), 6))
    """
    match size:
        case Number(number):
            return number
        case Symbol(name):
            return known.get(name, formula.Unknown(name))
    parts = [as_formula(part, known) for part in size.parts]
    match size:
        case Addition():
            return reduce(formula.added, parts)
        case Minimum():
            return formula.combined(formula.Least, parts)
        case Maximum():
            return formula.combined(formula.Greatest, parts)
    return reduce(formula.times, parts)
