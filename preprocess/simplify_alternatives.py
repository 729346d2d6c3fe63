"""The alternatives of every OR in one form, however they are written.

======================================  ================================
``a = 1 OR a = 2 OR a = 3``             ``a >= 1 AND a <= 3`` (integers)
``x < y OR x = y``                      ``x <= y``
``a < 2 OR a > 2``                      ``a <> 2``
``a < 5 OR a >= 5``                     ``a IS NOT NULL``
``a OR a AND b``                        ``a``
``a AND b OR a AND c``                  ``a AND (b OR c)``
``b OR a``                              ``a OR b``
======================================  ================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analyzer.query import And, Branch, Comparison, Formula, NullTest, Op, Or, Truth
from analyzer.spans import Span
from preprocess.formula_order import FormulaOrder, Key
from preprocess.normalise import conjoined, disjoined
from preprocess.ranges import End, Range, Scale, Subject

Option = dict[Key, Formula]
"""One alternative: its conjuncts by their keys."""

_Group = tuple[Subject, frozenset[Key]]
"""What alternatives that can be put together have in common: what they compare, and what they say beside it."""


def simplify_alternatives(branch: Branch, formula: Formula) -> Formula:
    """A normalised formula with every OR simplified; TRUE on the same rows."""
    return _Simplifier(branch, FormulaOrder(branch)).formula(formula)


def apart(branch: Branch, first: Formula, second: Formula) -> bool:
    """Whether two conjunctions contradict each other in the range of one subject."""
    simplifier = _Simplifier(branch, FormulaOrder(branch))
    one, other = (simplifier.option((formula,)) for formula in (first, second))
    return any(simplifier.excludes(subject, one, other) for subject in simplifier.subjects(one))


@dataclass(frozen=True)
class _Simplifier:
    branch: Branch
    order: FormulaOrder

    def formula(self, formula: Formula) -> Formula:
        match formula:
            case And(parts):
                kept = self.option(self.formula(part) for part in parts)
                return conjoined(tuple(kept.values()))
            case Or(parts):
                return self._disjunction(self.formula(part) for part in parts)
        return formula

    def option(self, parts: Iterable[Formula]) -> Option:
        """A conjunction's parts, each once, as written first; disjunctions last and in order."""
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))]
        flat = self._narrowed(flat)
        kept = {self.order.key(part): part for part in reversed(flat)}
        atoms = [self.order.key(part) for part in flat if not isinstance(part, Or)]
        choices = sorted(key for key, part in kept.items() if isinstance(part, Or))
        return {key: kept[key] for key in dict.fromkeys((*atoms, *choices))}

    def _disjunction(self, parts: Iterable[Formula]) -> Formula:
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,))]
        if any(isinstance(part, Truth) and part.value for part in flat):
            return Truth(True)
        options = [self.option((part,)) for part in flat if not isinstance(part, Truth)]
        options = self._ranged(_absorbed([option for option in options if not self._contradictory(option)]))
        common = self._common(options) if len(options) > 1 else {}
        if not common:
            return self._alternatives(options)
        rest = [conjoined(tuple(part for key, part in o.items() if key not in common)) for o in options]
        return conjoined(tuple(self.option((*common.values(), self._disjunction(rest))).values()))

    def _contradictory(self, option: Option) -> bool:
        return any(self.excludes(subject, option, option) for subject in self.subjects(option))

    def _common(self, options: list[Option]) -> Option:
        """What all alternatives say: the same condition, or a bound that some of them state and the others exceed.

        ``a < 3 OR a < 5 AND b = 1  ->  a < 5 AND (a < 3 OR b = 1)``
        """
        stated = {key: part for option in reversed(options) for key, part in option.items()}
        found = {key: part for key, part in stated.items() if all(key in option for option in options)}
        subjects = self.subjects(stated)
        for subject in subjects if len(subjects) > 1 else []:
            if all(subject in self.subjects(option) for option in options):
                scale = Scale.of(self.branch, subject)
                ranges = [r for option in options for r in _within(scale, self._about(subject, option))]
                for bound in _bounds(subject, scale.hull(ranges), None):
                    key = self.order.key(bound)
                    if key in stated:
                        found[key] = stated[key]
        return found

    def _alternatives(self, options: list[Option]) -> Formula:
        """A disjunction, plain conditions on one source first: they exclude most from the others."""
        order = sorted(options, key=lambda option: (any(map(_joins, option.values())), len(option), sorted(option)))
        return disjoined(tuple(conjoined(tuple(option.values())) for option in order))

    def _narrowed(self, parts: list[Formula]) -> list[Formula]:
        """Conjuncts on one subject as one: ``a >= 1 AND a < 5 AND (a < 2 OR a > 3)  ->  a = 1 OR a = 4``."""
        about: dict[Subject, list[Formula]] = {}
        for part in parts:
            subject = self._only_subject(part)
            if subject is not None and not (isinstance(part, Comparison) and part.op is Op.NE):
                about.setdefault(subject, []).append(part)
        for subject, mine in about.items():
            if len(mine) > 1 and (narrow := self._intersection(subject, mine)) is not None:
                first = next(place for place, part in enumerate(parts) if part is mine[0])
                rest = [part for part in parts if not any(part is other for other in mine)]
                parts = [*rest[:first], *narrow, *rest[first:]]
        return parts

    def _only_subject(self, formula: Formula) -> Subject | None:
        """The one subject that a formula compares with constants, if it does nothing else."""
        if not isinstance(formula, And | Or):
            return self._subject(formula) if isinstance(formula, Comparison) else None
        found = {self._only_subject(part) for part in formula.parts}
        return found.pop() if len(found) == 1 else None

    def _intersection(self, subject: Subject, parts: list[Formula]) -> tuple[Formula, ...] | None:
        """What conditions on one subject say together; None where they contradict each other."""
        scale = Scale.of(self.branch, subject)
        found: tuple[Range, ...] = (Range(None, None),)
        for part in parts:
            found = scale.intersection(found, self._ranges(scale, part))
        atoms = [self._facing(atom) for part in parts for atom in _atoms(part)]
        options = [self._by_key(self._as_written(_bounds(subject, r, _span(atoms)), atoms)) for r in found]
        return None if not found else _conjuncts(self._alternatives(options))

    def _ranges(self, scale: Scale, formula: Formula) -> tuple[Range, ...]:
        """The ranges that a formula about one subject leaves it."""
        match formula:
            case And(parts):
                found: tuple[Range, ...] = (Range(None, None),)
                for part in parts:
                    found = scale.intersection(found, self._ranges(scale, part))
                return found
            case Or(parts):
                return scale.union(found for part in parts for found in self._ranges(scale, part))
        return _within(scale, [self._facing(formula)])

    # --- ranges ------------------------------------------------------------------------------------------------

    def _ranged(self, options: list[Option]) -> list[Option]:
        """Alternatives that differ in the range of one subject only, put together; until there are none."""
        while (group := next(self._groups(options), None)) is not None:
            (subject, beside), members = group
            rest = {key: part for key, part in members[0].items() if key in beside}
            others = [option for option in options if not any(option is member for member in members)]
            options = _absorbed([*others, *({**rest, **self._by_key(p)} for p in self._union(subject, members))])
        return options

    def _by_key(self, parts: tuple[Formula, ...]) -> Option:
        return {self.order.key(part): part for part in parts}

    def _groups(self, options: list[Option]) -> Iterator[tuple[_Group, list[Option]]]:
        """Alternatives that can be put together, and are not yet in the form that this gives."""
        found: dict[_Group, list[Option]] = {}
        for option in options:
            for subject in self.subjects(option):
                about = {key for key, part in option.items() if self._subject(part) == subject}
                found.setdefault((subject, frozenset(option.keys() - about)), []).append(option)
        for group in sorted(found, key=lambda g: (self._subject_key(g[0]), sorted(g[1]))):
            members = found[group]
            if len(members) > 1:
                united = {frozenset(self._by_key(parts)) for parts in self._union(group[0], members)}
                if united != {frozenset(option.keys() - group[1]) for option in members}:
                    yield group, members

    def _subject_key(self, subject: Subject) -> Key:
        return tuple(self.order.attribute(attribute) for attribute in subject if attribute is not None)

    def subjects(self, option: Option) -> list[Subject]:
        found = (self._subject(part) for part in option.values())
        return list(dict.fromkeys(subject for subject in found if subject is not None))

    def _subject(self, part: Formula) -> Subject | None:
        match part:
            case Comparison(left=left, right=right) if left != right:
                oriented = self.order.oriented(part)
                return oriented.left, oriented.right
            case NullTest(attribute, False):
                return attribute, None
        return None

    def excludes(self, subject: Subject, first: Option, second: Option) -> bool:
        """Whether no value of a subject satisfies both alternatives."""
        scale = Scale.of(self.branch, subject)
        one, other = (_within(scale, self._about(subject, option)) for option in (first, second))
        return not scale.intersection(one, other)

    def _about(self, subject: Subject, option: Option) -> list[Formula]:
        """What an alternative says about a subject."""
        return [self._facing(part) for part in option.values() if self._subject(part) == subject]

    def _facing(self, part: Formula) -> Formula:
        """A comparison with its sides as its subject's."""
        return self.order.oriented(part) if isinstance(part, Comparison) else part

    def _union(self, subject: Subject, options: list[Option]) -> list[tuple[Formula, ...]]:
        """The alternatives' conditions on one subject, put together: one conjunction per range."""
        scale = Scale.of(self.branch, subject)
        about = [self._about(subject, option) for option in options]
        united = scale.union(found for parts in about for found in _within(scale, parts))
        written = [part for parts in about for part in parts]
        missing = scale.gaps(united)
        if missing is None:
            drafts = [_bounds(subject, found, _span(written)) for found in united]
        elif missing:
            drafts = [tuple(Comparison(subject[0], Op.NE, subject[1], value, _span(written)) for value in missing)]
        else:
            present = dict.fromkeys(attribute for attribute in subject if attribute is not None)
            drafts = [tuple(NullTest(attribute, False, _span(written)) for attribute in present)]
        return [self._as_written(parts, written) for parts in drafts]

    def _as_written(self, drafts: tuple[Formula, ...], written: list[Formula]) -> tuple[Formula, ...]:
        """The same conditions, each as it was written where it was."""
        known = {self.order.key(part): part for part in reversed(written)}
        return tuple(known.get(self.order.key(part), part) for part in drafts)


def _span(parts: list[Formula]) -> Span | None:
    return next((part.span for part in parts if isinstance(part, Comparison | NullTest)), None)


def _atoms(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, And | Or):
        for part in formula.parts:
            yield from _atoms(part)
    else:
        yield formula


def _conjuncts(formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, And) else (formula,)


def _within(scale: Scale, parts: list[Formula]) -> tuple[Range, ...]:
    """The ranges that a conjunction leaves a subject."""
    found: tuple[Range, ...] = (Range(None, None),)
    for part in parts:
        if isinstance(part, Comparison):
            found = scale.intersection(found, scale.ranges(part))
    return found


def _bounds(subject: Subject, found: Range, span: Span | None) -> tuple[Formula, ...]:
    """A range as comparisons."""
    left, right = subject

    def atom(op: Op, end: End) -> Comparison:
        return Comparison(left, op, right, end[0], span)

    low, high = found.low, found.high
    if low is not None and low == high:
        return (atom(Op.EQ, low),)
    below = () if low is None else (atom(Op.GE if low[1] else Op.GT, low),)
    return (*below, *(() if high is None else (atom(Op.LE if high[1] else Op.LT, high),)))


def _absorbed(options: list[Option]) -> list[Option]:
    """The alternatives without each that only says more than another one, and each once."""
    single: dict[Key, Option] = {}
    longer: list[Option] = []
    for option in sorted(options, key=len):
        if len(option) == 1:
            single.setdefault(next(iter(option)), option)
        elif single.keys().isdisjoint(option) and not any(other.keys() <= option.keys() for other in longer):
            longer.append(option)
    return [*single.values(), *longer]


def _joins(formula: Formula) -> bool:
    """Whether a formula is no plain condition on one source: it compares several, or asks for NULL."""
    match formula:
        case Comparison():
            return len({attribute.source for attribute in formula.attributes}) > 1
        case And(parts) | Or(parts):
            return any(_joins(part) for part in parts)
    return True
