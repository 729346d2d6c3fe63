"""An order of formulas that does not depend on how they are written: sides, aliases, place in the text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from streambound.analyzer.closure import in_order
from streambound.analyzer.query import And, Attribute, Branch, Comparison, Formula, Not, NullTest, OneOf, Op, Or, Truth
from streambound.analyzer.values import Value

Key = tuple[object, ...]
"""Equal for formulas that say the same in another way, as ``x < 3`` and ``2 >= x`` over integers; sortable."""

_OPS = {op: place for place, op in enumerate((Op.EQ, Op.LE, Op.LT, Op.GE, Op.GT, Op.NE))}


class FormulaOrder(Struct, frozen=True, dict=True):
    """The order of formulas over one branch's attributes."""

    branch: Branch

    def key(self, formula: Formula) -> Key:
        """The place of a normalised formula: plain conditions, then joins, NULL tests, conjunctions, disjunctions."""
        match formula:
            case Comparison():
                return self._comparison(self.oriented(formula))
            case OneOf(attribute, values):
                return (0, self.attribute(attribute), len(_OPS), tuple(map(in_order, values)))
            case NullTest(attribute, is_null):
                return (2, self.attribute(attribute), is_null)
            case And(parts) | Or(parts):
                kind = 3 if isinstance(formula, And) else 4
                return (kind, len(parts), *sorted(self.key(part) for part in parts))
            case Truth(value):
                return (5, value)
            case Not():
                raise ValueError("a formula is put in negation normal form before it gets a place")

    def oriented(self, atom: Comparison) -> Comparison:
        """A comparison with the lesser attribute on the left: ``y > x + 1  ->  x < y - 1``."""
        if atom.right is None or self.attribute(atom.left) <= self.attribute(atom.right):
            return atom
        return _flipped(atom)

    def attribute(self, attribute: Attribute) -> Key:
        """The key of an attribute: of its table, not of its alias."""
        table, place = self._places[attribute.source]
        return (table, attribute.column, place)

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        """Sources by their table; those of one table by what is said of them, and only then by their place in FROM."""
        sources = self.branch.sources
        if len({source.table for source in sources}) < len(sources):
            said = self._said()
            sources = tuple(sorted(sources, key=lambda source: sorted(said[source.alias])))
        return {source.alias: (source.table, place) for place, source in enumerate(sources)}

    def _said(self) -> dict[str, list[tuple[str, ...]]]:
        """The select list and conditions as seen from each source, the others being known by their tables only."""
        found: dict[str, list[tuple[str, ...]]] = {source.alias: [] for source in self.branch.sources}
        for place, output in enumerate(self.branch.outputs):
            for attribute in output.attributes:
                found[attribute.source].append(("", str(place), attribute.column))
        for atom in _comparisons(self.branch.where):
            for left, right, op, offset in (self._exact(atom), self._exact(_flipped(atom))):
                other = ("", "") if right is None else (self.branch.source(right.source).table, right.column)
                found[left.source].append((left.column, *other, str(op), str(offset)))
        return found

    def _comparison(self, atom: Comparison) -> Key:
        left, right, op, offset = self._exact(atom)
        ends = tuple(self.attribute(end) for end in (left, right) if end is not None)
        return (len(ends) - 1, *ends, _OPS[op], in_order(offset))

    def _exact(self, atom: Comparison) -> tuple[Attribute, Attribute | None, Op, Value]:
        """A comparison's parts, without strictness where the type is discrete: ``x < 3  ->  x <= 2``."""
        op, offset = atom.op, atom.offset
        if not isinstance(offset, str) and self.branch.column(atom.left).type.discrete:
            if op is Op.LT:
                return atom.left, atom.right, Op.LE, offset - 1
            if op is Op.GT:
                return atom.left, atom.right, Op.GE, offset + 1
        return atom.left, atom.right, op, offset


def _flipped(atom: Comparison) -> Comparison:
    if atom.right is None:
        return atom
    offset = atom.offset if isinstance(atom.offset, str) else -atom.offset
    return Comparison(atom.right, atom.op.flipped, atom.left, offset, atom.span)


def _comparisons(formula: Formula) -> Iterator[Comparison]:
    match formula:
        case Comparison():
            yield formula
        case And(parts) | Or(parts):
            for part in parts:
                yield from _comparisons(part)
        case Not(part):
            yield from _comparisons(part)
