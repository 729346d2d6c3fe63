"""OR and IN into disjoint conjunctive branches, so that a bag keeps its multiplicities.

``a OR b  ->  a | (b AND a is not true)``
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.closure import Closure, close, implied
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.query import (
    FALSE,
    TRUE,
    And,
    Branch,
    Comparison,
    Condition,
    Formula,
    NullTest,
    OneOf,
    Op,
    Or,
    Query,
    Truth,
    conjunction,
    conjuncts,
    first_span,
)
from streambound.analyzer.spans import Span
from streambound.preprocess.normalise import conjoined, disjoined, negate, normalise, not_true
from streambound.preprocess.simplify_alternatives import Simplifier
from streambound.preprocess.subjects import apart

MOST_BRANCHES = 512
"""Disjoint branches that are looked at: n independent choices make 2^n."""

MOST_CONDITIONS = 200_000
"""Conditions that are read on the way to them: each alternative of n excludes those before it."""


def split_disjunctions(query: Query) -> Query:
    """Every branch as disjoint branches whose conditions are conjunctions.

    Contradictory branches are kept only when nothing else is left of a SELECT, so that it can be reported.
    Raises TooManyBranchesError for a condition that would need more than `MOST_BRANCHES` branches.
    """
    branches: list[Branch] = []
    for branch in query.branches:
        try:
            branches.extend(_split_branch(branch))
            complete = len(branches) <= MOST_BRANCHES
        except (_TooMuch, RecursionError):
            complete = False
        if not complete:
            span = _first_choice(normalise(branch.where)) or branch.span
            raise TooManyBranchesError(query.name, MOST_BRANCHES, file=query.file, span=span)
    return replace(query, branches=tuple(branches))


class _TooMuch(Exception):
    """More than `MOST_CONDITIONS` were read."""


def _split_branch(branch: Branch) -> list[Branch]:
    simplifier = Simplifier.of(branch)
    formula = conjoined(simplifier.without_holes(_parts(normalise(branch.where))))
    if not _has_or(formula):
        return [replace(branch, where=_plain_conjunction(simplifier, branch, formula))]
    splitter = _Splitter(branch, simplifier)
    kept = list(islice(splitter.alternatives(formula), MOST_BRANCHES + 1))
    if not kept:
        return [replace(branch, where=FALSE)]
    together = splitter.together(kept) if len(kept) <= MOST_BRANCHES else kept
    return [replace(branch, where=conjunction(atoms)) for atoms in together]


def _first_choice(formula: Formula) -> Span | None:
    """The span of a normalised formula's first OR; None without one."""
    match formula:
        case And(parts):
            return next((span for part in parts if (span := _first_choice(part)) is not None), None)
        case Or():
            return first_span(formula)
    return None


def _plain_conjunction(simplifier: Simplifier, branch: Branch, formula: Formula) -> Formula:
    """A condition without alternatives, as written, less comparisons that follow from the others."""
    if isinstance(formula, Truth):
        return formula
    return conjunction(_without_idle(branch, simplifier.without_weaker(conjuncts(formula))))


def _has_or(formula: Formula) -> bool:
    return isinstance(formula, Or) or (isinstance(formula, And) and any(_has_or(part) for part in formula.parts))


class _Splitter(Struct, frozen=True):
    branch: Branch
    simplifier: Simplifier
    left: list[int] = field(default_factory=lambda: [MOST_CONDITIONS])
    """How many conditions may still be read."""
    alone: dict[tuple[Formula, ...], bool] = field(default_factory=dict)
    """Whether a conjunction contradicts itself, or the catalog."""

    def alternatives(self, formula: Formula) -> Iterator[tuple[Condition, ...]]:
        """The disjoint conjunctions of a normalised formula, contradictory ones pruned."""
        self._count(sum(1 + len(part.parts) if isinstance(part, Or) else 1 for part in _parts(formula)))
        formula = self.simplifier.formula(formula)
        parts = () if isinstance(formula, Truth) else _parts(formula)
        atoms = tuple(part for part in parts if isinstance(part, Comparison | NullTest | OneOf))
        closure = close(replace(self.branch, where=conjunction(atoms)))
        if formula == FALSE or not closure.satisfiable:
            return
        choices = tuple(part for part in parts if isinstance(part, Or))
        reduced = tuple(self._reduced(closure, atoms, choice) for choice in choices)
        if reduced != choices:
            yield from self.alternatives(conjoined((*atoms, *reduced)))
        elif not choices:
            yield _without_idle(self.branch, atoms)
        else:
            choice, *others = choices
            for option, excluded in self._one_by_one(choice):
                yield from self.alternatives(conjoined((*atoms, *others, option, *excluded)))

    def _count(self, conditions: int) -> None:
        self.left[0] -= conditions
        if self.left[0] < 0:
            raise _TooMuch

    def _one_by_one(self, choice: Or) -> Iterator[tuple[Formula, list[Formula]]]:
        """Every option of a simplified disjunction, with the negations that keep it apart from those before it."""
        subjects = self.simplifier.subjects
        said = [subjects.said(_parts(option)) for option in choice.parts]
        only = [subjects.only(option) for option in choice.parts]
        for place, option in enumerate(choice.parts):
            before = (
                other
                for other, its, its_only in zip(choice.parts[:place], said, only, strict=False)
                if not (its_only is not None and its_only == only[place]) and not apart(its, said[place])
            )
            yield option, [not_true(other) for other in before]

    def _reduced(self, closure: Closure, atoms: tuple[Condition, ...], choice: Or) -> Formula:
        """A disjunction beside conditions that hold: without options that contradict them, nor what they imply."""
        options = []
        for option in choice.parts:
            rest = tuple(part for part in _parts(option) if not _implied(closure, part))
            if not rest:
                return TRUE
            if not self._contradicts(closure, atoms, rest):
                options.append(conjoined(rest))
        return disjoined(tuple(options))

    def _contradicts(self, closure: Closure, atoms: tuple[Condition, ...], parts: tuple[Formula, ...]) -> bool:
        """Whether a conjunction contradicts conditions beside it; what it says in disjunctions does not count."""
        added = tuple(part for part in parts if isinstance(part, Comparison | NullTest | OneOf))
        attributes = {attribute for part in added for attribute in part.attributes}
        if len(added) == 1 and closure.compared.issuperset(attributes):
            return _implied(closure, negate(added[0]))
        if attributes.isdisjoint(attribute for atom in atoms for attribute in atom.attributes):
            if added not in self.alone:
                self.alone[added] = self._contradictory(added)
            return self.alone[added]
        return self._contradictory((*atoms, *added))

    def _contradictory(self, atoms: tuple[Condition, ...]) -> bool:
        self._count(len(atoms))
        return bool(atoms) and not close(replace(self.branch, where=conjunction(atoms))).satisfiable

    def together(self, branches: list[tuple[Condition, ...]]) -> list[tuple[Condition, ...]]:
        """Branches that differ in what they say of one subject only, put together where that makes them fewer."""
        united = self.simplifier.united([self.simplifier.option(atoms) for atoms in branches])
        return [conjuncts(conjunction(tuple(option.values()))) for option in united]


def _parts(formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, And) else (formula,)


def _implied(closure: Closure, part: Formula) -> bool:
    """Whether a condition follows from conditions beside it."""
    match part:
        case Comparison():
            return implied(closure, part)
        case NullTest(attribute, is_null):
            return attribute in (closure.null if is_null else closure.compared)
        case And(parts):
            return all(_implied(closure, inner) for inner in parts)
        case Or(parts):
            return any(_implied(closure, inner) for inner in parts)
    return False


def _without_idle(branch: Branch, atoms: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The conjunction without each ``<>`` that follows from the others: ``x = 3 AND x <> 1  ->  x = 3``."""
    unequal = tuple(atom for atom in atoms if isinstance(atom, Comparison) and atom.op is Op.NE)
    if not unequal or not close(replace(branch, where=conjunction(atoms))).satisfiable:
        return atoms
    others = tuple(atom for atom in atoms if not (isinstance(atom, Comparison) and atom.op is Op.NE))
    present = {a for atom in others if not (isinstance(atom, NullTest) and atom.is_null) for a in atom.attributes}
    closure = close(replace(branch, where=conjunction(atoms)), tighten=False)
    idle = {id(atom) for atom in unequal if present.issuperset(atom.attributes) and implied(closure, atom)}
    return tuple(atom for atom in atoms if id(atom) not in idle)
