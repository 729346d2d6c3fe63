"""What is known of an operator's rows without deciding anything: one transfer rule an operator, in `rules`."""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    Apply,
    AsOf,
    Bucket,
    Distinct,
    Except,
    Filter,
    FirstRows,
    Fixpoint,
    Intersect,
    Join,
    OrderBy,
    Over,
    Project,
    Recur,
    Scan,
    SpjBlock,
    Tree,
    Union,
    named_inputs,
)
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


def facts(tree: Tree, catalog: Catalog, recursive: ViewFacts = NOTHING_KNOWN) -> ViewFacts:
    """The facts of a tree's rows. ``recursive``: those of the relation that a `Fixpoint` around it defines."""
    return FactsOfTree(catalog).of(tree, recursive)


class FactsOfTree:
    """The facts of a tree and of all operators in it, each computed once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._found: dict[int, tuple[Tree, ViewFacts]] = {}

    def of(self, tree: Tree, recursive: ViewFacts = NOTHING_KNOWN, columns: Schema = ()) -> ViewFacts:
        """The facts of an operator's rows; the last ones, of an operator in a recursion.

        ``recursive`` and ``columns`` are of the relation that a `Fixpoint` around it defines.
        """
        known = self._found.get(id(tree))
        if known is not None and not columns:
            return known[1]
        found = self._rule(tree, recursive, columns)
        self._found[id(tree)] = tree, found
        return found

    def _rule(self, tree: Tree, recursive: ViewFacts, columns: Schema) -> ViewFacts:
        def of(under: Tree) -> OperatorInput:
            return OperatorInput(schema(under, self._catalog, columns), self.of(under, recursive, columns))

        match tree:
            case Scan():
                return scan(tree, self._catalog)
            case Recur():
                return recursive
            case Fixpoint(_, base, step, each_once):
                named = schema(tree, self._catalog, columns)
                return fixpoint(of(base).facts, lambda found: self.of(step, found, named), each_once)
            case Join(_, left, right):
                return join(tree, of(left), of(right))
            case Union(left, right):
                return union(tree, of(left), of(right), schema(tree, self._catalog, columns))
            case Except(left, right):
                return difference(tree, of(left), of(right), schema(tree, self._catalog, columns))
            case Intersect(left, right):
                return intersection(tree, of(left), of(right), schema(tree, self._catalog, columns))
            case AsOf(input):  # what a relation was at a time does not change any more
                return replace(of(input).facts, change=ViewKind.STATIC, state=0)
            case OrderBy(input):
                return replace(of(input).facts, state=0)
            case SpjBlock(input):
                found = of(input).facts
                return replace(found, state=added(*self._states(input)))
            case Filter(input):
                return filtered(tree, of(input))
            case Alias(input):
                return aliased(tree, of(input), schema(tree, self._catalog, columns))
            case Distinct(input):
                return distinct(of(input))
            case Project(input):
                return projected(tree, of(input))
            case FirstRows(input):
                return first_rows(tree, of(input))
            case Over(input):
                return over(tree, of(input), schema(tree, self._catalog, columns))
            case Bucket(input):
                return bucketed(tree, of(input))
            case Apply(input, subquery):
                return applied(tree, of(input), of(subquery))
            case Aggregate(input):
                return aggregate(tree, of(input), schema(tree, self._catalog, columns))

    def _states(self, tree: Tree) -> list[int | None]:
        """What each operator of a tree must remember."""
        below = [state for under in named_inputs(tree).values() for state in self._states(under)]
        return [self.of(tree).state, *below]


__all__ = ["NOW", "ColumnFacts", "FactsOfTree", "Key", "TimePromise", "ViewFacts", "ViewKind", "facts"]
