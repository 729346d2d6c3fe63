"""Bounds of a probability that is too large to compute: some Shannon expansions, and inequalities for what is left.

After Olteanu, Huang, Koch, *Approximate Confidence Computation in Probabilistic Databases* (ICDE 2010), with negation.
Every operation is rounded outwards, so that the probability is between the two doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.diagrams import never_true
from streambound_runtime.lineage.formulas import (
    CONSTANT,
    NODES,
    NOT,
    OR,
    VARIABLE,
    Formula,
    LineageTooLargeError,
    assigned,
    deep,
    leaves,
    literals,
    variable,
    variables,
)
from streambound_runtime.lineage.probability import decimal, independent_parts, most_frequent, possible, probability

Bounds = tuple[float, float]
"""What a probability is at least, and at most."""


def bounds(formula: Formula, nodes: int = NODES) -> Bounds | None:
    """Bounds of P(formula), both with fifteen digits; None where it is known to be false in every possible world.

    They are equal, and as `probability` has it, where that takes no more nodes; else they are what ``nodes`` expansions
    tell. Never raises LineageTooLargeError.
    """
    try:
        p = formula.p if formula.p > 0.0 else probability(formula, nodes)
        if p > 0.0:
            return decimal(p), decimal(p)
        if never_true(formula, nodes):
            return None
    except LineageTooLargeError:
        pass
    with deep():
        low, high = _between(absorbed(formula), nodes)
    down, up = (Context(prec=15, rounding=rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    return float(down.create_decimal_from_float(low)), float(up.create_decimal_from_float(high))


def chances(formula: Formula, nodes: int, bounded: bool) -> Bounds | None:
    """What a result says of P(formula): equal bounds unless it is ``bounded``; None where no possible world has it.

    Raises LineageTooLargeError where it is not, and takes more nodes.
    """
    if bounded:
        return bounds(formula, nodes)
    p = possible(formula, nodes)
    return None if p is None else (decimal(p), decimal(p))


def _between(formula: Formula, nodes: int) -> Bounds:
    """Bounds of P(formula), by at most ``nodes`` expansions."""
    if formula.op == CONSTANT or (formula.op == VARIABLE and formula.p == 1.0):
        return formula.p, formula.p
    if formula.op == VARIABLE:
        return _wider(formula.p, formula.p)  # the double nearest to a decimal number
    if formula.op == NOT:
        return _complement(_between(formula.args[0], nodes))
    parts = independent_parts(formula)
    share = nodes // len(parts)
    found = [_expanded(one, share) if one.op == formula.op else _between(one, share) for one in parts]
    return _combined(formula.op, found, _any)


def _expanded(formula: Formula, nodes: int) -> Bounds:
    """``P(f) = p·P(f where x) + (1 − p)·P(f where not x)``, with half of the expansions for each."""
    if not nodes:
        return _unexpanded(formula)
    name, p = most_frequent(formula)
    sides = (True, (nodes - 1) // 2), (False, nodes // 2)
    yes, no = (_between(absorbed(assigned(formula, {name: value})), share) for value, share in sides)
    return _mixed(_between(variable(name, p), 0), yes, no)


def _mixed(p: Bounds, yes: Bounds, no: Bounds) -> Bounds:
    """``p·yes + (1 − p)·no``, which is linear in p."""
    low = min(_down(_down(x * yes[0]) + _down(_down(1.0 - x) * no[0])) for x in p)
    return low, max(_up(_up(x * yes[1]) + _up(_up(1.0 - x) * no[1])) for x in p)


def _unexpanded(formula: Formula) -> Bounds:
    """Bounds of what has common variables, from those of its operands.

    Any of them is at least as probable as any of some that are independent. At most it is so as if all were, where each
    variable is negated everywhere or nowhere, as such operands are never less often false together (Harris 1960); else
    as their sum (Boole).
    """
    unate = len({*literals(formula)}) == len(variables(formula))

    def any_of(parts: Sequence[Bounds]) -> Bounds:
        high = _any(parts)[1] if unate else _sum(one[1] for one in parts)
        apart, names = list[Bounds](), set[str]()
        pairs = zip(formula.args, parts, strict=True)
        for one, own in sorted(pairs, key=lambda pair: -pair[1][0]):
            mine = {leaf.text for leaf in leaves(one)}
            if not mine & names:
                apart.append(own)
                names |= mine
        return _any(apart)[0], high

    return _combined(formula.op, [_between(one, 0) for one in formula.args], any_of)


def _combined(op: str, parts: Sequence[Bounds], any_of: Callable[[Sequence[Bounds]], Bounds]) -> Bounds:
    """Bounds of a disjunction, or of a conjunction, which is that no operand is false."""
    if op == OR:
        return any_of(parts)
    return _complement(any_of([_complement(one) for one in parts]))


def _any(parts: Iterable[Bounds]) -> Bounds:
    """Bounds of any of some independent events."""
    least, most = 1.0, 1.0
    for low, high in parts:
        least, most = _down(least * _down(1.0 - high)), _up(most * _up(1.0 - low))
    return _complement((least, most))


def _complement(of: Bounds) -> Bounds:
    return _wider(1.0 - of[1], 1.0 - of[0])


def _sum(values: Iterable[float]) -> float:
    total = 0.0
    for value in values:
        total = _up(total + value)
    return total


def _wider(low: float, high: float) -> Bounds:
    """What was computed by one operation, rounded outwards."""
    return _down(low), _up(high)


def _down(value: float) -> float:
    return math.nextafter(value, 0.0)


def _up(value: float) -> float:
    return min(1.0, math.nextafter(value, 2.0))
