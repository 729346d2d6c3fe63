"""The alternatives of every OR in one form, however they are written.

======================================  ================================
``a = 1 OR a = 2 OR a = 3``             ``a >= 1 AND a <= 3`` (integers)
``a = 1 OR a = 4 OR …`` (many)          ``a IN (1, 4, …)``
``x < y OR x = y``                      ``x <= y``
``a < 2 OR a > 2``                      ``a <> 2``
``a < 5 OR a >= 5``                     ``a IS NOT NULL``
``a IS NULL OR a IS NOT NULL AND b``    ``a IS NULL OR b``
``a OR a AND b``                        ``a``
``a AND b OR a AND c``                  ``a AND (b OR c)``
``b OR a``                              ``a OR b``
======================================  ================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from streambound.analyzer.query import And, Branch, Comparison, Condition, Formula, NullTest, OneOf, Op, Or, Truth
from streambound.analyzer.work import spend
from streambound.preprocess.formula_order import FormulaOrder, Key
from streambound.preprocess.normalise import conjoined, disjoined
from streambound.preprocess.ranges import Range, Subject, intersection
from streambound.preprocess.subjects import Subjects, bounds

_STEPS = 20
"""What an alternative costs."""
MOST_RANGES = 8
"""More ranges than these are not listed where ``<>`` keeps them apart: each alternative costs tables of its own."""
Option = dict[Key, Formula]
"""One alternative: its conjuncts by their keys."""


class Simplifier(Struct, frozen=True, dict=True):
    """Simplifies the normalised conditions of one branch; what it returns is TRUE on the same rows."""

    subjects: Subjects

    @cached_property
    def _known(self) -> dict[Or, Formula]:
        """Disjunctions that were simplified: most stay as they are while others are split."""
        return {}

    @classmethod
    def of(cls, branch: Branch) -> Simplifier:
        """The simplifier of a branch."""
        return cls(Subjects(branch, FormulaOrder(branch)))

    def formula(self, formula: Formula) -> Formula:
        """A formula with every OR simplified."""
        match formula:
            case And(parts):
                return _conjunction(self.option(self.formula(part) for part in parts))
            case Or(parts):
                if formula not in self._known:
                    self._known[formula] = self._disjunction(self.formula(part) for part in parts)
                return self._known[formula]
        return formula

    def option(self, parts: Iterable[Formula]) -> Option:
        """A conjunction's parts, each once, as written first; disjunctions last and in order."""
        spend(_STEPS)
        flat = self._narrowed([inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))])
        kept = {self._key(part): part for part in reversed(flat)}
        atoms = [self._key(part) for part in flat if not isinstance(part, Or)]
        choices = sorted(key for key, part in kept.items() if isinstance(part, Or))
        return {key: kept[key] for key in dict.fromkeys((*atoms, *choices))}

    def _key(self, formula: Formula) -> Key:
        return self.subjects.order.key(formula)

    def _by_key(self, parts: Iterable[Formula]) -> Option:
        return {self._key(part): part for part in parts}

    # --- conjunctions ------------------------------------------------------------------------------------------

    def _narrowed(self, parts: list[Formula]) -> list[Formula]:
        """Conjuncts on one subject as one: ``a >= 1 AND a < 5 AND (a < 2 OR a > 3)  ->  a = 1 OR a = 4``."""
        parts = list(self.without_holes(parts))
        about: dict[Subject, list[Formula]] = {}
        for part in parts:
            if (subject := self.subjects.only(part)) is not None:
                about.setdefault(subject, []).append(part)
        for subject, mine in about.items():
            if not any(isinstance(part, OneOf) for part in mine):
                mine = [part for part in mine if not _is_unequal(part)]
            if len(mine) > 1 and (narrow := self._together(subject, mine)):
                first = next(place for place, part in enumerate(parts) if part is mine[0])
                rest = [part for part in parts if not any(part is other for other in mine)]
                parts = [*rest[:first], *narrow, *rest[first:]]
        return parts

    def without_holes(self, parts: Sequence[Formula]) -> tuple[Formula, ...]:
        """Conjuncts, where those that leave a subject few ranges, all of them finite, list these, as an ``IN`` does.

        ``a >= 1 AND a <= 3 AND a <> 2  ->  a = 1 OR a = 3``
        """
        kept = tuple(parts)
        for subject in dict.fromkeys(self.subjects.only(part) for part in parts if _is_unequal(part)):
            if subject is None or subject[1] is not None or self.subjects.branch.is_time(subject[0]):
                continue
            mine = [part for part in kept if self.subjects.only(part) == subject]
            ranges = self.subjects.ranges(subject, mine)
            if any(found.low is None or found.high is None for found in ranges):
                continue
            values = self.subjects.conditions(subject, ranges, mine)
            listed = any(isinstance(part, OneOf) for option in values for part in option)
            if (len(values) > 1 or listed) and len(values) <= MOST_RANGES:
                rest = (part for part in kept if not any(part is other for other in mine))
                kept = (*rest, disjoined(tuple(conjoined(option) for option in values)))
        return kept

    def _together(self, subject: Subject, parts: list[Formula]) -> tuple[Formula, ...]:
        """The conjunction of conditions on one subject; empty if they contradict each other."""
        found = self.subjects.ranges(subject, parts)
        options = [self._by_key(option) for option in self.subjects.conditions(subject, found, parts)] if found else []
        together = self._alternatives(options)
        return () if not options else together.parts if isinstance(together, And) else (together,)

    def without_weaker(self, atoms: tuple[Condition, ...]) -> tuple[Condition, ...]:
        """A conjunction without each comparison that follows from another one: ``x < y AND x <= y + 1  ->  x < y``."""
        about: dict[Subject, list[Comparison]] = {}
        for atom in atoms:
            if isinstance(atom, Comparison) and (subject := self.subjects.subject(atom)) is not None:
                about.setdefault(subject, []).append(atom)
        weaker = {id(atom) for subject, mine in about.items() for atom in self._weaker(subject, mine)}
        return tuple(atom for atom in atoms if id(atom) not in weaker)

    def _weaker(self, subject: Subject, atoms: list[Comparison]) -> Iterator[Comparison]:
        """The comparisons of one subject that another one implies; of several that say the same, all but the first.

        A ``<>`` implies none but itself, so that there may be many.
        """
        kept: dict[int, tuple[Range, ...]] = {}
        unequal: set[Key] = set()
        for place, atom in sorted(enumerate(atoms), key=lambda placed: _is_unequal(placed[1])):
            mine = self.subjects.ranges(subject, (atom,))
            if self._key(atom) in unequal or any(intersection(other, mine) == other for other in kept.values()):
                yield atom
                continue
            if _is_unequal(atom):
                unequal.add(self._key(atom))
                continue
            yield from (atoms[other] for other, its in kept.items() if intersection(mine, its) == mine)
            kept = {other: its for other, its in kept.items() if intersection(mine, its) != mine}
            kept[place] = mine

    # --- disjunctions ------------------------------------------------------------------------------------------

    def _disjunction(self, parts: Iterable[Formula]) -> Formula:
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,))]
        if any(isinstance(part, Truth) and part.value for part in flat):
            return Truth(True)
        options = [self.option((part,)) for part in flat if not isinstance(part, Truth)]
        possible = [option for option in options if all(self.subjects.said(option.values()).values())]
        options = _without_nulls(self.united(_absorbed(possible)))
        if not all(options):
            return Truth(True)
        common = self._common(options) if len(options) > 1 else {}
        if not common:
            return self._alternatives(options)
        rest = [conjoined(tuple(part for key, part in o.items() if key not in common)) for o in options]
        return _conjunction(self.option((*common.values(), self._disjunction(rest))))

    def _alternatives(self, options: list[Option]) -> Formula:
        """A disjunction, plain conditions on one source first: they exclude most from the others.

        Of joins those of timestamps come first, which are never NULL: what they exclude is one comparison.
        """

        def place(option: Option) -> tuple[bool, bool, int, list[Key]]:
            return any(map(_joins, option.values())), not self._is_timed(option), len(option), sorted(option)

        order = sorted(options, key=place)
        return disjoined(tuple(map(_conjunction, order)))

    def _is_timed(self, option: Option) -> bool:
        comparisons = (part for part in option.values() if isinstance(part, Comparison))
        return any(self.subjects.branch.is_time(a) for part in comparisons for a in part.attributes)

    def _common(self, options: list[Option]) -> Option:
        """What follows from all alternatives: a common condition, or the loosest bound that each of them states.

        ``a < 3 OR a < 5 AND b = 1  ->  a < 5 AND (a < 3 OR b = 1)``
        """
        stated = {key: part for option in reversed(options) for key, part in option.items()}
        found = {key: part for key, part in stated.items() if all(key in option for option in options)}
        subjects = self.subjects.of(stated.values())
        for subject in subjects if len(subjects) > 1 else ():
            about = [self.subjects.about(subject, option.values()) for option in options]
            if all(about):
                ranges = [r for parts in about for r in self.subjects.ranges(subject, parts)]
                ends = map(self._key, bounds(subject, self.subjects.scale(subject).hull(ranges), None))
                found.update((key, stated[key]) for key in ends if key in stated)
        return found

    def united(self, options: list[Option]) -> list[Option]:
        """Alternatives that differ in what they say of one subject only, put together; until there are none."""
        before = None
        while before != (keys := [frozenset(option) for option in options]):
            before = keys
            subjects = {subject for option in options for subject in self.subjects.of(option.values())}
            for subject in sorted(subjects, key=self.subjects.key):
                options = self._united_on(subject, options)
        return options

    def _united_on(self, subject: Subject, options: list[Option]) -> list[Option]:
        groups: dict[frozenset[Key], list[Option]] = {}
        for option in options:
            about = {key for key, part in option.items() if self.subjects.subject(part) == subject}
            groups.setdefault(frozenset(option.keys() - about), []).append(option)
        united = [option for group in groups.values() for option in self._united_group(subject, group)]
        return united if len(united) == len(options) else _absorbed(united)

    def _united_group(self, subject: Subject, options: list[Option]) -> list[Option]:
        """Alternatives that say the same of all else, by the union of their ranges."""
        about = [self.subjects.about(subject, option.values()) for option in options]
        if len(options) == 1 or not all(about):
            return options
        ranges = self.subjects.scale(subject).union(r for p in about for r in self.subjects.ranges(subject, p))
        rest = {key: part for key, part in options[0].items() if self.subjects.subject(part) != subject}
        found = self.subjects.conditions(subject, ranges, [part for parts in about for part in parts])
        return [{**rest, **self._by_key(parts)} for parts in found]


def _is_unequal(formula: Formula) -> bool:
    return isinstance(formula, Comparison) and formula.op is Op.NE


def _conjunction(option: Option) -> Formula:
    return conjoined(tuple(option.values()))


def _absorbed(options: list[Option]) -> list[Option]:
    """The alternatives without each that only says more than another one, and each once."""
    single: set[Key] = set()
    longer: list[Option] = []
    kept: set[int] = set()
    for option in sorted(options, key=len):
        if single.isdisjoint(option) and not any(other.keys() <= option.keys() for other in longer):
            kept.add(id(option))
            if len(option) == 1:
                single.update(option)
            else:
                longer.append(option)
    return [option for option in options if id(option) in kept]


def _without_nulls(options: list[Option]) -> list[Option]:
    """Alternatives without the NOT NULLs that another one makes up for: ``a IS NULL OR a IS NOT NULL AND b``."""
    tests = (part for option in options if len(option) == 1 for part in option.values() if isinstance(part, NullTest))
    nulls = {test.attribute for test in tests if test.is_null}

    def said_already(part: Formula) -> bool:
        return isinstance(part, NullTest) and not part.is_null and part.attribute in nulls

    return [{key: part for key, part in option.items() if not said_already(part)} for option in options]


def _joins(formula: Formula) -> bool:
    """Whether a formula compares several sources or tests for NULL, and so is no plain condition on one source."""
    match formula:
        case Comparison():
            return len({attribute.source for attribute in formula.attributes}) > 1
        case OneOf():
            return False
        case And(parts) | Or(parts):
            return any(_joins(part) for part in parts)
    return True
