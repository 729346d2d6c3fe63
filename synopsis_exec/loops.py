"""Joins as nested loops and hash lookups: the inner text of one transition of the kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.query import Attribute, Comparison, Op
from streambound.synopsis_exec.emit import WIDTH, literal, tuple_text

MOST_NESTED = 16
"""Loops in one function: Python allows 20, and some are around these."""
MOST_JOINED = 40
"""Sources joined at one timestamp beyond which no job is written: Python allows 100 levels of indentation."""
OPERATORS = {Op.LT: "<", Op.LE: "<=", Op.EQ: "==", Op.GE: ">=", Op.GT: ">", Op.NE: "!="}
_MIRRORED = {Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}


_Lookup = tuple[list[Comparison], str, str]
"""For a column of a participant's keys: the equalities that fix it, the value's text, and the column's variable."""


@dataclass(frozen=True)
class Term:
    """The text of a value: a variable plus a constant."""

    variable: str
    offset: int | Fraction = 0

    def __str__(self) -> str:
        return plus(self.variable, self.offset)


@dataclass(frozen=True)
class Participant:
    """What one loop runs over: a mapping from keys to multiplicities.

    ``pattern`` names a variable per column of a key, ``count`` the variable of the multiplicity; ``values`` says
    which attributes the variables give; ``conditions`` are further tests of its variables. ``index`` gives the
    mapping's name grouped by some columns of the key.
    """

    counts: str
    pattern: tuple[str, ...]
    count: str
    values: dict[Attribute, Term]
    index: Callable[[tuple[int, ...]], str]
    conditions: tuple[str, ...] = ()


@dataclass
class _Bound:
    """What the loops so far have given a value, and the checks still to make."""

    values: dict[Attribute, Term] = field(default_factory=dict)
    open: list[Comparison] = field(default_factory=list)


def join_loops(
    participants: list[Participant],
    checks: tuple[Comparison, ...],
    body: Callable[[dict[Attribute, Term], list[str]], list[str]],
    counted: bool = True,
) -> list[str]:
    """Nested loops over the participants, each check made as soon as both its ends have a value.

    ``body`` gets every attribute's value and the multiplicities' variables. Without ``counted`` multiplicities do not
    matter. Raises NotExecutableError where Python could not nest the loops.
    """
    if len(participants) > MOST_JOINED:
        raise NotExecutableError(
            f"the query joins {len(participants)} sources at one timestamp, more than {MOST_JOINED}",
            remedy="join fewer sources in one query",
        )
    bound = _Bound(open=list(checks))
    return _loops(list(participants), bound, [], body, counted)


def _loops(
    waiting: list[Participant],
    bound: _Bound,
    counts: list[str],
    body: Callable[[dict[Attribute, Term], list[str]], list[str]],
    counted: bool,
) -> list[str]:
    if not waiting:
        return body(bound.values, counts)
    chosen = max(waiting, key=lambda p: _connection(p, bound))
    lookups = _lookups(chosen, bound)
    values = {**bound.values, **chosen.values}
    used = {check for checks, _, _ in lookups.values() for check in checks}
    ready = [c for c in bound.open if c not in used and all(a in values for a in c.attributes)]
    rest = [c for c in bound.open if c not in used and c not in ready]
    tests = list(dict.fromkeys([*chosen.conditions, *(comparison_text(c, values) for c in ready)]))
    inner = _loops(
        [p for p in waiting if p is not chosen],
        _Bound(values, rest),
        [*counts, chosen.count],
        body,
        counted,
    )
    found = _loop(chosen, lookups, tested(tests, inner), counted)
    return _in_a_function(found) if counts and len(counts) % MOST_NESTED == 0 else found


def _in_a_function(lines: list[str]) -> list[str]:
    return ["def deeper() -> None:  # Python nests no more loops in one function", *_indented(lines), "", "deeper()"]


def _connection(participant: Participant, bound: _Bound) -> tuple[bool, bool]:
    """How well a participant is connected to what has a value already: by equality, by any check."""
    met = [
        check
        for check in bound.open
        if any(a in participant.values for a in check.attributes) and any(a in bound.values for a in check.attributes)
    ]
    return any(check.op is Op.EQ for check in met), bool(met)


def _lookups(participant: Participant, bound: _Bound) -> dict[int, _Lookup]:
    """The columns of the participant's keys that equalities fix."""
    found: dict[int, _Lookup] = {}
    for check in bound.open:
        left, right = check.left, check.right
        if check.op is not Op.EQ or right is None:
            continue
        offset = number(check.offset)
        if right in participant.values and left in bound.values:
            left, right, offset = right, left, -offset
        if left in participant.values and right in bound.values:
            mine, other = participant.values[left], bound.values[right]
            column = participant.pattern.index(mine.variable)
            value = plus(other.variable, other.offset + offset - mine.offset)
            checks, first, _ = found.setdefault(column, ([], value, mine.variable))
            if value == first:
                checks.append(check)
    return dict(sorted(found.items()))


def _loop(
    participant: Participant,
    lookups: dict[int, _Lookup],
    inner: list[str],
    counted: bool,
) -> list[str]:
    words = set(re.findall(r"\w+", "\n".join(inner)))
    columns = tuple(lookups)
    values = tuple_text([value for _, value, _ in lookups.values()])
    if lookups and len(lookups) == len(participant.pattern):
        bindings = [
            f"{variable} = {value}"
            for _, value, variable in lookups.values()
            if variable in words and variable != value
        ]
        test = f"if {participant.count} := {participant.counts}.get({values}):"
        if participant.count not in words:
            test = f"if {values} in {participant.counts}:"
        return [test, *_indented([*bindings, *inner])]
    source = participant.counts
    if lookups:
        source = f"{participant.index(columns)}.get({values}, NOTHING)"
    pattern = [name if name in words else "_" for name in participant.pattern]
    keys = tuple_text(pattern) if any(name != "_" for name in pattern) else "_"
    if not counted or participant.count not in words:
        bare = keys if len(pattern) == 1 or keys == "_" else ", ".join(pattern)
        return [f"for {bare} in {source}:", *_indented(inner)]
    if keys == "_":
        return [f"for {participant.count} in {source}.values():", *_indented(inner)]
    return [f"for {keys}, {participant.count} in {source}.items():", *_indented(inner)]


def tested(tests: list[str], inner: list[str]) -> list[str]:
    """Lines under some tests."""
    if not tests:
        return inner
    line = f"if {' and '.join(tests)}:"
    if len(line) <= WIDTH - 32:
        return [line, *_indented(inner)]
    return ["if (", *_indented([tests[0], *(f"and {test}" for test in tests[1:])]), "):", *_indented(inner)]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def comparison_text(check: Comparison, values: dict[Attribute, Term]) -> str:
    """A check of two attributes as a Python expression."""
    assert check.right is not None, "checks between sources have two sides"
    left, right = values[check.left], values[check.right]
    offset = right.offset - left.offset + number(check.offset)
    return f"{left.variable} {OPERATORS[check.op]} {plus(right.variable, offset)}"


def filter_text(check: Comparison, name: Callable[[Attribute], str]) -> str:
    """A check of one row as a Python expression."""
    operator = OPERATORS[check.op]
    if check.right is None:
        return f"{name(check.left)} {operator} {literal(check.offset)}"
    return f"{name(check.left)} {operator} {plus(name(check.right), number(check.offset))}"


def mirrored(check: Comparison) -> str:
    """A lower bound as the left end of a chain: ``x >= 1  ->  1 <=``."""
    return f"{literal(check.offset)} {OPERATORS[_MIRRORED[check.op]]}"


def plus(text: str, offset: int | Fraction) -> str:
    """``text + offset``.

    >>> plus("t_b", 0), plus("t_b", -2)
    ('t_b', 't_b - 2')
    """
    if not offset:
        return text
    return f"{text} {'+' if offset > 0 else '-'} {literal(abs(offset))}"


def exact(offset: Fraction | int) -> int | Fraction:
    """The offset as an integer, where it is one."""
    return int(offset) if Fraction(offset).denominator == 1 else offset


def number(offset: int | Fraction | str) -> int | Fraction:
    """The offset between two attributes; strings have none."""
    return 0 if isinstance(offset, str) else offset
