"""What is known of an operator's rows without deciding anything: one transfer rule an operator, in `rules`."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.rules.aggregate import aggregate
from streambound.analyzer.algebra.rules.bucket import bucketed
from streambound.analyzer.algebra.rules.joins import join
from streambound.analyzer.algebra.rules.operator_input import OperatorInput
from streambound.analyzer.algebra.rules.recursion import fixpoint
from streambound.analyzer.algebra.rules.scan import scan
from streambound.analyzer.algebra.rules.select_list import applied, over, projected
from streambound.analyzer.algebra.rules.selection import aliased, distinct, filtered, first_rows
from streambound.analyzer.algebra.rules.set_operations import difference, intersection, union
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.view_facts import (
    NOTHING_KNOWN,
    NOW,
    ColumnFacts,
    Key,
    TimePromise,
    ViewFacts,
    ViewKind,
    added,
)
from streambound.analyzer.catalog import Catalog


def facts(tree: nodes.Tree, catalog: Catalog, recursive: ViewFacts = NOTHING_KNOWN) -> ViewFacts:
    """The facts of a tree's rows. ``recursive``: those of the relation that a `Fixpoint` around it defines."""
    return FactsOfTree(catalog).of(tree, recursive)


class FactsOfTree:
    """The facts of a tree and of all operators in it, each computed once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._found: dict[int, tuple[nodes.Tree, ViewFacts]] = {}

    def of(self, tree: nodes.Tree, recursive: ViewFacts = NOTHING_KNOWN, columns: Schema = ()) -> ViewFacts:
        """The facts of an operator's rows; the last ones, of an operator in a recursion.

        ``recursive`` and ``columns`` are of the relation that a `Fixpoint` around it defines.
        """
        known = self._found.get(id(tree))
        if known is not None and not columns:
            return known[1]
        found = self._rule(tree, recursive, columns)
        self._found[id(tree)] = tree, found
        return found

    def _rule(self, tree: nodes.Tree, recursive: ViewFacts, columns: Schema) -> ViewFacts:
        def of(under: nodes.Tree) -> OperatorInput:
            return OperatorInput(schema(under, self._catalog, columns), self.of(under, recursive, columns))

        match tree:
            case nodes.Scan():
                return scan(tree, self._catalog)
            case nodes.Recur():
                return recursive
            case nodes.Fixpoint(_, base, step, each_once):
                named = schema(tree, self._catalog, columns)
                return fixpoint(of(base).facts, lambda found: self.of(step, found, named), each_once)
            case nodes.Join(_, left, right):
                return join(tree, of(left), of(right))
            case nodes.Union(left, right):
                return union(tree, of(left), of(right), schema(tree, self._catalog, columns))
            case nodes.Except(left, right):
                return difference(tree, of(left), of(right), schema(tree, self._catalog, columns))
            case nodes.Intersect(left, right):
                return intersection(tree, of(left), of(right), schema(tree, self._catalog, columns))
            case nodes.AsOf(input):  # what a relation was at a time does not change any more
                return replace(of(input).facts, change=ViewKind.STATIC, state=0)
            case nodes.OrderBy(input):
                return replace(of(input).facts, state=0)
            case nodes.SpjBlock(input):
                found = of(input).facts
                return replace(found, state=added(*self._states(input)))
            case nodes.Filter(input):
                return filtered(tree, of(input))
            case nodes.Alias(input):
                return aliased(tree, of(input), schema(tree, self._catalog, columns))
            case nodes.Distinct(input):
                return distinct(of(input))
            case nodes.Project(input):
                return projected(tree, of(input))
            case nodes.FirstRows(input):
                return first_rows(tree, of(input))
            case nodes.Over(input):
                return over(tree, of(input), schema(tree, self._catalog, columns))
            case nodes.Bucket(input):
                return bucketed(tree, of(input))
            case nodes.Apply(input, subquery):
                return applied(tree, of(input), of(subquery))
            case nodes.Aggregate(input):
                return aggregate(tree, of(input), schema(tree, self._catalog, columns))

    def _states(self, tree: nodes.Tree) -> list[int | None]:
        """The most entries that each operator of a tree must remember."""
        below = [state for under in nodes.named_inputs(tree).values() for state in self._states(under)]
        return [self.of(tree).state, *below]


__all__ = ["NOW", "ColumnFacts", "FactsOfTree", "Key", "TimePromise", "ViewFacts", "ViewKind", "facts"]
