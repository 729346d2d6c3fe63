"""A query's plan as data: what `explain --emit plan` prints and a job's runtime executes."""

from __future__ import annotations

import ast

from streambound.analyzer.catalog import Counters
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import Family
from streambound.synopsis_exec.branch_plan import BranchLowering
from streambound.synopsis_exec.kernel_choice import row_kernel_reason
from streambound.synopsis_exec.placement import BUCKETS, placement
from streambound.synopsis_exec.plan_ir import Plan
from streambound_runtime import formula, plan


def synopsis_plan(query: Plan, forced: str | None = None) -> plan.Synopsis:
    """The synopsis of a bounded query as data; raises UsageError for a ``forced`` placement that it cannot have."""
    reason, placed = row_kernel_reason(query), placement(query, forced)
    return plan.Synopsis(
        tuple(column.name for column in query.columns),
        tuple(BranchLowering(query, branch).lowered() for branch in query.branches),
        bound_formula(query),
        query.distinct,
        tuple(place for place, column in enumerate(query.columns) if column.type.family is Family.STRING),
        2**63 - 1 if query.counters is Counters.BIGINT else 10**38 - 1,
        "rows" if reason else "columns",
        reason or "",
        placed.where,
        placed.because,
        placed.key,
        BUCKETS if placed.where == "buckets" else 0,
    )


def bound_formula(query: Plan) -> formula.Formula:
    """M as a formula over the sizes and extreme values of relations."""
    return as_formula(query.bound.entries.text, quantities(query))


def quantities(query: Plan) -> dict[str, formula.Formula]:
    """What the symbols of a formula stand for."""
    found: dict[str, formula.Formula] = {}
    for stream in query.streams:
        name = symbol("c", stream.name)
        found[name] = formula.Unknown(name) if stream.max_per_timestamp is None else stream.max_per_timestamp
    for relation in query.relations:
        found[symbol("rows", relation.name)] = formula.Size(relation.name)
        for column in relation.columns:
            found[symbol("min", relation.name, column.name)] = formula.Extreme(relation.name, column.name, False)
            found[symbol("max", relation.name, column.name)] = formula.Extreme(relation.name, column.name, True)
    return found


def as_formula(text: str, known: dict[str, formula.Formula]) -> formula.Formula:
    """A formula from its text; symbols that are not known are those of what streams will bring.

    >>> as_formula("3*c_S + max(0, rows_R - 1)", {"c_S": 2, "rows_R": formula.Size("R")})
    Sum(of=(Greatest(of=(0, Sum(of=(Size(relation='R'), -1)))), 6))
    """
    return _formula(ast.parse(text, mode="eval").body, known)


def _formula(node: ast.expr, known: dict[str, formula.Formula]) -> formula.Formula:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return known.get(name, formula.Unknown(name))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return formula.times(-1, _formula(operand, known))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return formula.added(_formula(left, known), _formula(right, known))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return formula.added(_formula(left, known), formula.times(-1, _formula(right, known)))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return formula.times(_formula(left, known), _formula(right, known))
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=args):
            how = formula.Greatest if name == "max" else formula.Least
            return formula.combined(how, [_formula(arg, known) for arg in args])
        case _:
            raise AssertionError(f"no formula: {ast.unparse(node)}")
