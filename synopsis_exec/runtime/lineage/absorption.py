"""Shorter formulas of the same function, by laws that undo what joins of joins bring in.

``a | a & b  ->  a``, ``a | !a & b  ->  a | b``, and with & for | and | for &.
``b & c | b & d | b & !(c | d)  ->  b``, which is what LEFT and FULL joins inside the right side of a join bring in.
"""

from __future__ import annotations

from collections.abc import Iterable

from streambound_runtime.lineage.formulas import (
    AND,
    CONSTANT,
    DUAL,
    NOT,
    VARIABLE,
    Formula,
    assigned,
    combined,
    negation,
    read_once,
)

_MOST = 64
"""Operands that are compared pairwise, and factors that are tried; more would take longer than they save."""


def absorbed(formula: Formula) -> Formula:
    """The same function, where these laws apply; a formula whose variables all occur once is left as it is."""
    return formula if read_once(formula) else _absorbed(formula)


def _absorbed(formula: Formula) -> Formula:
    if formula.op == NOT:
        return negation(absorbed(formula.args[0]))
    if formula.op not in DUAL:
        return formula
    while True:
        op = formula.op
        parts = [absorbed(arg) for arg in formula.args]
        shorter = combined(op, _factors_gone(op, _without_covered(op, _told_the_units(op, parts))))
        if shorter.op not in DUAL or read_once(shorter) or shorter == formula:
            return shorter
        formula = shorter


def _told_the_units(op: str, parts: list[Formula]) -> list[Formula]:
    """``a | (… a …)  ->  a | (… false …)``: beside a literal the others matter only where it does not decide."""
    units = {}
    for part in parts:
        leaf = part.args[0] if part.op == NOT else part
        if leaf.op == VARIABLE:
            units[leaf.text] = (part.op == NOT) == (op != AND)
    if not units:
        return parts
    return [part if _is_literal(part) else assigned(part, units) for part in parts]


def _is_literal(formula: Formula) -> bool:
    return formula.op == VARIABLE or (formula.op == NOT and formula.args[0].op == VARIABLE)


def _without_covered(op: str, parts: Iterable[Formula]) -> list[Formula]:
    """``a & b | a & b & c  ->  a & b``."""
    kept = list(dict.fromkeys(parts))
    if len(kept) > _MOST:
        return kept
    members = [_members(op, part) for part in kept]
    return [part for part, inside in zip(kept, members, strict=True) if not any(other < inside for other in members)]


def _members(op: str, part: Formula) -> frozenset[Formula]:
    return frozenset(part.args) if part.op == DUAL[op] else frozenset((part,))


def _factors_gone(op: str, parts: list[Formula]) -> list[Formula]:
    """``b & c | b & !c  ->  b``: a factor stands alone where what stands beside it, together, is constant."""
    having: dict[Formula, list[Formula]] = {}
    for part in parts:
        if part.op == DUAL[op]:
            for member in part.args:
                having.setdefault(member, []).append(part)
    often = sorted((factor for factor, found in having.items() if len(found) > 1), key=lambda f: -len(having[f]))
    for factor in often[:_MOST]:
        rest = absorbed(combined(op, (_less(part, factor) for part in having[factor])))
        if rest.op == CONSTANT:
            others = [part for part in parts if part not in having[factor]]
            return [*others, combined(DUAL[op], (factor, rest))]
    return parts


def _less(part: Formula, factor: Formula) -> Formula:
    return combined(part.op, (arg for arg in part.args if arg != factor))
