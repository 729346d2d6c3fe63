"""Whether formulas are the same Boolean function, decided exactly by reduced ordered binary decision diagrams.

Over one order of the variables each function has one reduced diagram (Bryant, IEEE Transactions on Computers 1986,
Theorem 1), so two formulas are equivalent if and only if theirs are the same node.
"""

from __future__ import annotations

from collections.abc import Iterable

from streambound_runtime.lineage.formulas import (
    AND,
    CONSTANT,
    FALSE,
    NODES,
    NOT,
    TRUE,
    VARIABLE,
    Budget,
    Formula,
    assigned,
    deep,
    leaves,
    literals,
    read_once,
    variables,
)

_FALSE, _TRUE = 0, 1
_WORLDS = 16
"""Worlds in which two formulas are compared before they are as functions."""


def equivalent(left: Formula, right: Formula, nodes: int = NODES) -> bool:
    """Whether two formulas are the same function; raises LineageTooLargeError beyond ``nodes``."""
    if left == right:
        return True
    ours, theirs = variables(left), variables(right)
    if ours.keys() != theirs.keys() and read_once(left) and read_once(right):
        return False  # each depends on all of its variables
    diagrams = _Diagrams({**ours, **theirs}, nodes)
    with deep():
        return not _told_apart(left, right) and diagrams.of(left) == diagrams.of(right)


def _told_apart(left: Formula, right: Formula) -> bool:
    """Whether they differ in one of a few worlds: those with what an operand that only one has needs, and no more."""
    none = dict.fromkeys((*variables(left), *variables(right)), False)
    mine, theirs = dict.fromkeys(left.args), dict.fromkeys(right.args)
    parts = [one for one in (*mine, *theirs) if (one in mine) != (one in theirs)]
    worlds = (none | dict(literals(part)) for part in parts[:_WORLDS])
    return any(assigned(left, world) != assigned(right, world) for world in worlds)


def never_true(formula: Formula, nodes: int = NODES) -> bool:
    """Whether a formula is false in every world of non-zero probability: where what has p = 1 is true."""
    probabilities = variables(formula)
    certain = assigned(formula, {name: True for name, p in probabilities.items() if p == 1.0})
    if certain.op == CONSTANT or read_once(certain):
        return certain == FALSE
    with deep():
        return _Diagrams(variables(certain), nodes).of(certain) == _FALSE


class _Diagrams:
    """Diagrams that share their nodes, with the variables in the given order; a node is its number."""

    def __init__(self, order: Iterable[str], nodes: int) -> None:
        self._level = {name: level for level, name in enumerate(order)}
        self._budget = Budget(len(self._level), nodes)
        bottom = len(self._level)
        self._nodes = [(bottom, _FALSE, _FALSE), (bottom, _TRUE, _TRUE)]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._choices: dict[tuple[int, int, int], int] = {}
        self._known: dict[Formula, int] = {TRUE: _TRUE, FALSE: _FALSE}

    def of(self, formula: Formula) -> int:
        """The node of a formula."""
        if (known := self._known.get(formula)) is not None:
            return known
        if formula.op == VARIABLE:
            node = self._node(self._level[formula.text], _FALSE, _TRUE)
        elif formula.op == NOT:
            node = self._choice(self.of(formula.args[0]), _FALSE, _TRUE)
        else:
            node = _TRUE if formula.op == AND else _FALSE
            for arg in self._from_below(formula):
                part = self.of(arg)
                node = self._choice(part, node, _FALSE) if formula.op == AND else self._choice(part, _TRUE, node)
        self._known[formula] = node
        return node

    def _from_below(self, formula: Formula) -> list[Formula]:
        """The operands, those of late variables first: what is combined then is not walked through again."""
        return sorted(formula.args, key=lambda arg: -min(self._level[leaf.text] for leaf in leaves(arg)))

    def _node(self, level: int, low: int, high: int) -> int:
        if low == high:
            return low
        number = self._numbers.get((level, low, high))
        if number is None:
            self._budget.take()
            number = self._numbers[level, low, high] = len(self._nodes)
            self._nodes.append((level, low, high))
        return number

    def _choice(self, test: int, then: int, other: int) -> int:
        """The node of ``if test then … else …``."""
        if test == _TRUE or then == other:
            return then
        if test == _FALSE:
            return other
        if then == _TRUE and other == _FALSE:
            return test
        key = (test, then, other)
        if (known := self._choices.get(key)) is not None:
            return known
        nodes = self._nodes
        level = min(nodes[test][0], nodes[then][0], nodes[other][0])
        low = self._choice(self._at(test, level, 1), self._at(then, level, 1), self._at(other, level, 1))
        high = self._choice(self._at(test, level, 2), self._at(then, level, 2), self._at(other, level, 2))
        found = self._choices[key] = self._node(level, low, high)
        return found

    def _at(self, node: int, level: int, side: int) -> int:
        """The child of a node when the variable of a level is false (1) or true (2)."""
        found = self._nodes[node]
        return found[side] if found[0] == level else node
