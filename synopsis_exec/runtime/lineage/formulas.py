"""Boolean formulas over independent variables, in a normal form whose text tells them apart.

A variable stands for a row of a base relation: it is true in the worlds that have the row. Of the connectives, `!`
binds strongest and `|` weakest; `&` and `|` have any number of operands. Two formulas are equal if and only if their
texts are; formulas of different texts may still be the same function, see `streambound_runtime.lineage.diagrams`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

VARIABLE, NOT, AND, OR, CONSTANT = "var", "!", "&", "|", "const"
DUAL = {AND: OR, OR: AND}
_PLAIN = re.compile(r"[A-Za-z0-9_]+", re.ASCII)


UNKNOWN = -1.0
"""The probability of a formula that nobody has computed."""


class Formula(NamedTuple):
    """A formula; ``p`` is its probability where that is known, as a variable's is. Made by the functions below."""

    op: str
    args: tuple[Formula, ...]
    text: str
    p: float = UNKNOWN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.text == other.text

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text


TRUE, FALSE = Formula(CONSTANT, (), "true", 1.0), Formula(CONSTANT, (), "false", 0.0)


def variable_name(relation: str, key: str) -> str:
    """The name of the variable of a row.

    >>> variable_name("a", "1"), variable_name("a", 'the "7" bus')
    ('a.1', 'a."the ""7"" bus"')
    """
    return f"{quoted(relation)}.{quoted(key)}"


def quoted(part: str) -> str:
    """A relation's name or a key as a variable's name has it."""
    return part if _PLAIN.fullmatch(part) else '"' + part.replace('"', '""') + '"'


def variable(name: str, p: float) -> Formula:
    """The variable of a row that exists with probability ``p``; p = 1 does not make it a constant."""
    return Formula(VARIABLE, (), name, p)


def negation(formula: Formula) -> Formula:
    """``!x``; of ``!x`` it is x."""
    if formula.op == NOT:
        return formula.args[0]
    if formula.op == CONSTANT:
        return FALSE if formula is TRUE else TRUE
    return Formula(NOT, (formula,), f"!({formula.text})" if formula.args else f"!{formula.text}")


def conjunction(formulas: Iterable[Formula]) -> Formula:
    """``x & y & …``; of nothing it is true.

    >>> a, b, c = (variable(name, 0.5) for name in "abc")
    >>> str(conjunction([negation(disjunction([c, b])), a, a]))
    'a & !(b | c)'
    """
    return combined(AND, formulas)


def disjunction(formulas: Iterable[Formula]) -> Formula:
    """``x | y | …``; of nothing it is false."""
    return combined(OR, formulas)


def combined(op: str, formulas: Iterable[Formula]) -> Formula:
    """The conjunction or disjunction: flat, in order, without duplicates, constants, or a part beside its negation."""
    neutral, absorbing = (TRUE, FALSE) if op == AND else (FALSE, TRUE)
    found: dict[str, Formula] = {}
    for formula in formulas:
        for part in formula.args if formula.op == op else (formula,):
            found[part.text] = part
    if absorbing.text in found:
        return absorbing
    found.pop(neutral.text, None)
    if any(part.op == NOT and _excluded(op, part.args[0], found) for part in found.values()):
        return absorbing
    if len(found) < 2:
        return next(iter(found.values()), neutral)
    args = tuple(sorted(found.values(), key=_place))
    return Formula(op, args, (" & " if op == AND else " | ").join(map(_operand if op == AND else _text, args)))


def _excluded(op: str, negated: Formula, others: Mapping[str, Formula]) -> bool:
    """Whether ``!x`` beside the others is constant: beside x, and in a conjunction for an x = y | … beside y."""
    if negated.text in others:
        return True
    if negated.op == op:
        return all(arg.text in others for arg in negated.args)
    return negated.op == DUAL[op] and any(arg.text in others for arg in negated.args)


def _place(formula: Formula) -> tuple[bool, str]:
    return formula.op == NOT, formula.text


def _text(formula: Formula) -> str:
    return formula.text


def _operand(formula: Formula) -> str:
    return f"({formula.text})" if formula.op == OR else formula.text


def variables(formula: Formula) -> dict[str, float]:
    """The names of the variables in it, each with its probability, in order of their first occurrence."""
    return {leaf.text: leaf.p for leaf in leaves(formula)}


def leaves(formula: Formula) -> Iterator[Formula]:
    """The occurrences of variables, from left to right."""
    open_ones = [formula]
    while open_ones:
        found = open_ones.pop()
        if found.op == VARIABLE:
            yield found
        else:
            open_ones.extend(reversed(found.args))


def literals(formula: Formula) -> Iterator[tuple[str, bool]]:
    """The occurrences of variables, each with whether it is not negated, or twice."""
    open_ones = [(formula, True)]
    while open_ones:
        found, sign = open_ones.pop()
        if found.op == VARIABLE:
            yield found.text, sign
        else:
            open_ones.extend((arg, sign != (found.op == NOT)) for arg in found.args)


def read_once(formula: Formula) -> bool:
    """Whether no variable occurs twice: its parts are independent, and it depends on each of its variables."""
    names = [leaf.text for leaf in leaves(formula)]
    return len(set(names)) == len(names)


def assigned(formula: Formula, values: Mapping[str, bool]) -> Formula:
    """The formula where these variables have these values."""
    if formula.op == VARIABLE:
        return formula if (value := values.get(formula.text)) is None else TRUE if value else FALSE
    if formula.op == CONSTANT:
        return formula
    args = []
    for arg in formula.args:
        args.append(assigned(arg, values))
    if all(new is old for new, old in zip(args, formula.args, strict=True)):
        return formula
    return negation(args[0]) if formula.op == NOT else combined(formula.op, args)


NODES = 100_000
"""The nodes that a decision about one formula may take, unless `lineage_nodes` says otherwise."""


class LineageTooLargeError(Exception):
    """A formula took more nodes than it may; ``variables`` is how many it has."""

    def __init__(self, variables: int, nodes: int) -> None:
        super().__init__(f"a lineage of {variables:,} variables takes more than {nodes:,} nodes")
        self.variables = variables
        self.nodes = nodes


class Budget:
    """Counts the nodes that a decision about a formula takes."""

    def __init__(self, variables: int, nodes: int) -> None:
        self.variables = variables
        self.nodes = self.left = nodes

    def take(self) -> None:
        """One more node; raises LineageTooLargeError if there is none left."""
        if not self.left:
            raise LineageTooLargeError(self.variables, self.nodes)
        self.left -= 1


def both(left: Formula, right: Formula) -> Formula:
    """``a & b``, of two variables.

    >>> from streambound_runtime.lineage.formulas import variable
    >>> both(variable("b.1", 0.5), variable("a.1", 0.5))[2:]
    ('a.1 & b.1', 0.25)
    """
    if right.text < left.text:
        left, right = right, left
    return Formula(AND, (left, right), f"{left.text} & {right.text}", left.p * right.p)


def without(row: Formula, others: Iterable[Formula]) -> Formula:
    """``a & !(b | c | …)``, of variables."""
    args = tuple(sorted(others, key=_text))
    none = 1.0
    for arg in args:
        none *= 1.0 - arg.p
    if len(args) == 1:
        missing = Formula(NOT, args, f"!{args[0].text}", none)
    else:
        any_of = Formula(OR, args, " | ".join(map(_text, args)))
        missing = Formula(NOT, (any_of,), f"!({any_of.text})", none)
    return Formula(AND, (row, missing), f"{row.text} & {missing.text}", row.p * none)


_DEPTH = 1_000_000


@contextmanager
def deep() -> Iterator[None]:
    """Functions may call themselves more often than Python lets them; such calls take no C stack since Python 3.11."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
