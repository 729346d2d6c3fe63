"""Conditions by what they compare: their ranges, and ranges as conditions again.

``a >= 1 AND a < 5  <->  [1, 4]`` over integers; ``x < y OR x = y  <->  (-∞, 0]`` of ``x - y``.

Long lists of values stay one condition, so that they split nothing: ``a = 1 OR a = 5 OR …  ->  a IN (1, 5, …)``. A
list bounds its attribute from both sides, so that to the criteria it is what a declared list is (docs/theory-bags.md,
"Types"). Short lists are alternatives like any other: then each of their values is a constant of its branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from streambound.analyzer.closure import in_order
from streambound.analyzer.query import And, Branch, Comparison, Formula, NullTest, OneOf, Op, Or
from streambound.analyzer.spans import Span
from streambound.analyzer.values import Value
from streambound.preprocess.formula_order import FormulaOrder, Key
from streambound.preprocess.ranges import EVERYTHING, Cluster, End, Range, Scale, Subject, intersection

LONGEST_SPLIT = 4
"""Values up to which a list is split."""

LONGEST_LISTED = 64
"""Values up to which a range is written out in a list, beside others."""


class Subjects(Struct, frozen=True):
    """The subjects of one branch's normalised conditions."""

    branch: Branch
    order: FormulaOrder

    def key(self, subject: Subject) -> Key:
        """The place of a subject among others."""
        return tuple(self.order.attribute(attribute) for attribute in subject if attribute is not None)

    def subject(self, part: Formula) -> Subject | None:
        """The subject of a comparison, a list or ``IS NOT NULL``; None for other formulas."""
        match part:
            case Comparison(left=left, right=right) if left != right:
                oriented = self.order.oriented(part)
                return oriented.left, oriented.right
            case OneOf(attribute) | NullTest(attribute, False):
                return attribute, None
        return None

    def only(self, formula: Formula) -> Subject | None:
        """The one subject that a formula compares, if it does nothing else."""
        if isinstance(formula, And | Or):
            found = {self.only(part) for part in formula.parts}
            return found.pop() if len(found) == 1 else None
        return self.subject(formula) if isinstance(formula, Comparison | OneOf) else None

    def of(self, parts: Iterable[Formula]) -> tuple[Subject, ...]:
        """The subjects of a conjunction's parts, each once."""
        found = (self.subject(part) for part in parts)
        return tuple(dict.fromkeys(subject for subject in found if subject is not None))

    def about(self, subject: Subject, parts: Iterable[Formula]) -> list[Formula]:
        """The parts of a conjunction that are about a subject."""
        return [part for part in parts if self.subject(part) == subject]

    def scale(self, subject: Subject) -> Scale:
        """The values that a subject can have."""
        return Scale.of(self.branch, subject)

    def ranges(self, subject: Subject, parts: Iterable[Formula]) -> tuple[Range, ...]:
        """The ranges of one subject that satisfy a conjunction of formulas."""
        found: tuple[Range, ...] = (EVERYTHING,)
        unequal: list[Value] = []
        for part in parts:
            if isinstance(part, Comparison) and part.op is Op.NE:
                unequal.append(self.order.oriented(part).offset)
            else:
                found = intersection(found, self._ranges(subject, part))
        return intersection(found, self.scale(subject).excluded(unequal)) if unequal else found

    def _ranges(self, subject: Subject, formula: Formula) -> tuple[Range, ...]:
        match formula:
            case Comparison():
                return self.scale(subject).ranges(self.order.oriented(formula))
            case OneOf(_, values):
                return self.scale(subject).listed_values(values)
            case And(parts):
                return self.ranges(subject, parts)
            case Or(parts):
                return self.scale(subject).union(r for part in parts for r in self._ranges(subject, part))
        return (EVERYTHING,)

    def said(self, parts: Iterable[Formula]) -> dict[Subject, tuple[Range, ...]]:
        """The ranges of each subject that satisfy a conjunction's comparisons."""
        about: dict[Subject, list[Formula]] = {}
        for part in parts:
            if (subject := self.subject(part)) is not None:
                about.setdefault(subject, []).append(part)
        return {subject: self.ranges(subject, mine) for subject, mine in about.items()}

    # --- ranges as conditions ----------------------------------------------------------------------------------

    def conditions(
        self, subject: Subject, ranges: tuple[Range, ...], written: list[Formula]
    ) -> list[tuple[Formula, ...]]:
        """Ranges that do not touch as alternatives, each a conjunction; a condition as it was written where it was.

        Ranges that single values keep apart are one alternative with ``<>``, unless each is a single value. Short
        ranges that make a long list together are one alternative, too.
        """
        atoms = [self._facing(atom) for part in written for atom in _atoms(part)]
        known = {self.order.key(atom): atom for atom in reversed(atoms)}
        span = next((atom.span for atom in atoms if isinstance(atom, Comparison | OneOf | NullTest)), None)
        clusters = list(self.scale(subject).clusters(ranges))
        members = self._members(subject, clusters)
        values = tuple(sorted((value for mine in members for value in mine), key=in_order))
        drafts: list[tuple[Formula, ...]] = [(OneOf(subject[0], values, span),)] if values else []
        rest = (cluster for cluster, mine in zip(clusters, members, strict=True) if not mine)
        drafts += [_conjunction(subject, *cluster, span) for cluster in rest]
        return [tuple(known.get(self.order.key(part), part) for part in draft) for draft in drafts]

    def _members(self, subject: Subject, clusters: list[Cluster]) -> list[tuple[Value, ...]]:
        """The values of every short range that belongs to a long list; timestamps stay apart."""
        nothing: list[tuple[Value, ...]] = [()] * len(clusters)
        if subject[1] is not None or self.branch.is_time(subject[0]):
            return nothing
        found = [self.scale(subject).members(*cluster, LONGEST_LISTED) for cluster in clusters]
        return found if sum(map(bool, found)) > 1 and sum(map(len, found)) > LONGEST_SPLIT else nothing

    def _facing(self, atom: Formula) -> Formula:
        return self.order.oriented(atom) if isinstance(atom, Comparison) else atom


def apart(first: Mapping[Subject, tuple[Range, ...]], second: Mapping[Subject, tuple[Range, ...]]) -> bool:
    """Whether two conjunctions contradict each other in what they say of one subject."""
    return any(not intersection(first[subject], second[subject]) for subject in first.keys() & second.keys())


def bounds(subject: Subject, found: Range, span: Span | None) -> tuple[Comparison, ...]:
    """The ends of a range as comparisons."""
    left, right = subject

    def atom(op: Op, end: End) -> Comparison:
        return Comparison(left, op, right, end[0], span)

    low, high = found.low, found.high
    if low is not None and low == high:
        return (atom(Op.EQ, low),)
    below = () if low is None else (atom(Op.GE if low[1] else Op.GT, low),)
    return (*below, *(() if high is None else (atom(Op.LE if high[1] else Op.LT, high),)))


def _conjunction(subject: Subject, hull: Range, holes: tuple[End, ...], span: Span | None) -> tuple[Formula, ...]:
    """A range with holes; where nothing is left to say, that the subject is not NULL."""
    unequal = tuple(Comparison(subject[0], Op.NE, subject[1], value, span) for value, _ in holes)
    present = dict.fromkeys(attribute for attribute in subject if attribute is not None)
    said = (*bounds(subject, hull, span), *unequal)
    return said or tuple(NullTest(attribute, False, span) for attribute in present)


def _atoms(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, And | Or):
        for part in formula.parts:
            yield from _atoms(part)
    else:
        yield formula
