"""What a construct outside the query language is called, and what to do instead, in the words of the user's SQL."""

from __future__ import annotations

import re

from sqlglot import exp

from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Finding, Positions

_SUBQUERIES = (exp.Exists, exp.Subquery, exp.Select, exp.SetOperation, exp.Any, exp.All)
_PARAMETERS = (exp.Placeholder, exp.Parameter, exp.SessionParameter)
_CALL = re.compile(r"\s*([\w.]+)\s*(?:\(|$)")
_OPERATOR = re.compile(r"[^\w\s()'\"]{1,3}|(?:NOT\s+)?[A-Z]+(?:\s+[A-Z]+){0,3}", re.I)


def outside(positions: Positions, node: exp.Expr) -> Finding:
    """The finding for a scalar or boolean expression outside the language."""
    name, help = _name(positions, node)
    return positions.finding(Code.UNSUPPORTED, f"{name} is outside the query language", node, help)


def _name(positions: Positions, node: exp.Expr) -> tuple[str, str]:
    called = _CALL.match(positions.text(positions.of(node)))
    match node:
        case exp.Cast():
            return "a cast", "declare the column in the catalog with the type that the comparison needs"
        case exp.Case():
            return "CASE", ""
        case exp.Star():
            return "*", ""
        case exp.Window():
            return "a window function", ""
        case exp.Bracket():
            return "access to an element", ""
        case exp.Dot():
            return "access to a field", ""
        case exp.NullSafeEQ() | exp.NullSafeNEQ() if called is None:
            help = "x <=> y can be written x = y OR (x IS NULL AND y IS NULL)"
            return _operator(positions, node), help
        case exp.AggFunc() if called:
            return f"the aggregate {called.group(1)}", ""
    if isinstance(node, _SUBQUERIES):
        return "a subquery in a condition", ""
    if isinstance(node, _PARAMETERS):
        return "a parameter", "put its value into the query: the verdict depends on it"
    if isinstance(node, exp.Func) and called:
        return f"the function {called.group(1)}", ""
    return _operator(positions, node), ""


def _operator(positions: Positions, node: exp.Expr) -> str:
    """The operator between a node's two operands, as it is written."""
    left, right = node.args.get("this"), node.args.get("expression")
    if not isinstance(left, exp.Expr) or not isinstance(right, exp.Expr):
        return "this expression"
    between = positions.source.text[positions.of(left).end : positions.of(right).start].strip(" \t\r\n()")
    return " ".join(between.upper().split()) if _OPERATOR.fullmatch(between) else "this expression"
