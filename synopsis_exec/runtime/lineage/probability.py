"""How probable a formula is, exactly, its variables being independent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.diagrams import never_true
from streambound_runtime.lineage.formulas import (
    AND,
    CONSTANT,
    NODES,
    NOT,
    VARIABLE,
    Budget,
    Formula,
    assigned,
    combined,
    deep,
    leaves,
    read_once,
    variables,
)


def probability(formula: Formula, nodes: int = NODES) -> float:
    """P(formula), in [0, 1].

    Where each variable occurs once the parts are independent: products, linear in its size, with an absolute error of
    at most 2n·2^−53 for n variables. Otherwise what has common variables is expanded by its most frequent variable
    (Shannon), and each part once. Raises LineageTooLargeError beyond ``nodes`` expansions.
    """
    with deep():
        if read_once(formula):
            return _of_independent(formula, True)
        return _Expansion(Budget(len(variables(formula)), nodes)).chance(absorbed(formula), True)


def possible(formula: Formula, nodes: int = NODES) -> float | None:
    """P(formula); None where it is false in every world that is possible. Raises as `probability` does."""
    if formula.p > 0.0:
        return formula.p
    return None if never_true(formula, nodes) else probability(formula, nodes)


def decimal(p: float) -> float:
    """A probability with the fifteen digits that every decimal keeps as a double.

    >>> decimal(0.7 * 0.7), decimal(0.7 * (1.0 - 0.6))
    (0.49, 0.28)
    """
    return float(f"{p:.15g}")


def _of_independent(formula: Formula, value: bool) -> float:
    """P(formula = value) where each variable occurs once; accurate near 0 for either value."""
    if formula.op in (VARIABLE, CONSTANT):
        return formula.p if value else 1.0 - formula.p
    if formula.op == NOT:
        return _of_independent(formula.args[0], not value)
    chances = []
    for arg in formula.args:
        chances.append(_of_independent(arg, value))
    return _together(chances, value == (formula.op == AND))


def _together(chances: Iterable[float], all_of_them: bool) -> float:
    """The probability that all of some independent events happen, or any; small ones keep their digits."""
    if all_of_them:
        return math.prod(chances)
    none = 0.0
    for chance in chances:
        if chance >= 1.0:
            return 1.0
        none += math.log1p(-chance)
    return -math.expm1(none)


class _Expansion:
    """The formulas that were expanded, each with its probability."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._known: dict[tuple[Formula, bool], float] = {}

    def chance(self, formula: Formula, value: bool) -> float:
        """P(formula = value)."""
        if formula.op in (VARIABLE, CONSTANT):
            return formula.p if value else 1.0 - formula.p
        if formula.op == NOT:
            return self.chance(formula.args[0], not value)
        chances = []
        for part in independent_parts(formula):
            chances.append(self._expanded(part, value) if part.op == formula.op else self.chance(part, value))
        return _together(chances, value == (formula.op == AND))

    def _expanded(self, formula: Formula, value: bool) -> float:
        """``P(f) = p·P(f where x) + (1 − p)·P(f where not x)``."""
        known = self._known.get((formula, value))
        if known is None:
            self._budget.take()
            name, p = most_frequent(formula)
            with_it = self.chance(absorbed(assigned(formula, {name: True})), value)
            without = self.chance(absorbed(assigned(formula, {name: False})), value)
            known = self._known[formula, value] = p * with_it + (1.0 - p) * without
        return known


def most_frequent(formula: Formula) -> tuple[str, float]:
    """The variable that occurs most often, and its probability."""
    ((name, p), _) = Counter((leaf.text, leaf.p) for leaf in leaves(formula)).most_common(1)[0]
    return name, p


def independent_parts(formula: Formula) -> list[Formula]:
    """The operands in as many parts as possible without common variables."""
    owners: dict[str, int] = {}
    parts: list[list[Formula]] = []
    for arg in formula.args:
        names = {leaf.text for leaf in leaves(arg)}
        touched = sorted({owners[name] for name in names if name in owners})
        home = touched[0] if touched else len(parts)
        if not touched:
            parts.append([])
        parts[home].append(arg)
        for other in touched[1:]:
            parts[home] += parts[other]
            parts[other] = []
            owners.update((leaf.text, home) for moved in parts[home] for leaf in leaves(moved))
        owners.update(dict.fromkeys(names, home))
    return [part[0] if len(part) == 1 else combined(formula.op, part) for part in parts if part]
