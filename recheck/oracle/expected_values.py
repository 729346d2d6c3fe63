"""EXPECTED(…) of SEQ TP by its definition: the mean of an aggregate over all possible worlds.

Of a SELECT with EXPECTED the groups are computed in every world of a point of time, and weighted by its probability;
a group that is not there adds nothing. The statement reads the means as relations, joined with its groups by their
keys, so that what stands around the SELECT is evaluated as without EXPECTED.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import DOUBLE
from streambound.analyzer.lower import Lowered
from streambound.analyzer.statement import Statement
from streambound.incremental.circuit import Circuit
from streambound.incremental.evaluate import Inputs, evaluate_once
from streambound.incremental.translate import translate
from streambound.incremental.zset import Row, ZSet
from streambound.recheck.oracle.reference import lowered_tree
from streambound.temporal.lineage import is_expected

_DIGITS = 15
"""Of a mean, as the job has them."""


class Means(Struct, frozen=True):
    """The groups of a SELECT with EXPECTED: ``keys`` columns, then aggregates, whose means are a relation's rows."""

    table: DeclaredTable
    groups: Circuit
    keys: int

    def over(self, worlds: Iterable[tuple[Fraction, Inputs]]) -> ZSet:
        """The groups that there are in some world, with what is expected; NULL adds nothing."""
        totals: dict[Row, list[Fraction]] = defaultdict(lambda: [Fraction()] * (len(self.table.columns) - self.keys))
        for weight, inputs in worlds:
            for row in evaluate_once(self.groups, inputs):
                before = totals[row[: self.keys]]
                totals[row[: self.keys]] = [
                    total + weight * Fraction(value or 0) for total, value in zip(before, row[self.keys :], strict=True)
                ]
        return ZSet.of((*key, *map(_rounded, found)) for key, found in totals.items())


def _rounded(mean: Fraction) -> Fraction:
    return Fraction(f"{float(mean):.{_DIGITS}g}")


def with_means(statement: Statement, catalog: Catalog) -> tuple[Circuit, tuple[Means, ...]]:
    """A statement's circuit, and the relations of means that it reads, those first that others need.

    Raises Untranslatable where it has none.
    """
    tree, lowered = lowered_tree(statement, catalog)
    made = _Means(lowered, catalog)
    return made.circuit(made.tree(tree)), tuple(made.found)


class _Means:
    def __init__(self, lowered: Lowered, catalog: Catalog) -> None:
        self.lowered, self.catalog = lowered, catalog
        self.found = list[Means]()

    def circuit(self, tree: nodes.Tree) -> Circuit:
        """The circuit of a tree that may read the means found so far."""
        tables = (*self.catalog.tables, *(one.table for one in self.found))
        known = Catalog(self.catalog.file, tables)
        return translate(tree, known, self.lowered.queries, self.lowered.positions)

    def tree(self, tree: nodes.Tree) -> nodes.Tree:
        """The tree without EXPECTED."""
        tree = replace(tree, **{name: self.tree(under) for name, under in nodes.named_inputs(tree).items()})
        if not isinstance(tree, nodes.Project) or not any(map(_is_expected, tree.items)):
            return tree
        filters, under = list[nodes.Filter](), tree.input
        while isinstance(under, nodes.Filter):
            filters, under = [*filters, under], under.input
        assert isinstance(under, nodes.Aggregate), "EXPECTED is an item of a list with GROUP BY"
        means = self._relation(under)
        joined = _joined(under, means)
        for one in reversed(filters):
            joined = replace(one, input=joined)
        return replace(tree, input=joined, items=tuple(_value(item, means.table.name) for item in tree.items))

    def _relation(self, groups: nodes.Aggregate) -> Means:
        circuit, keys = self.circuit(groups), len(groups.keys)
        columns = [Column(f"_k{place}", column.kind) for place, column in enumerate(circuit.schema[:keys])]
        columns += [Column(call.name, DOUBLE) for call in groups.calls]
        table = DeclaredTable(f"_means_{len(self.found)}", Kind.RELATION, tuple(columns), file=self.catalog.file)
        self.found.append(Means(table, circuit, keys))
        return self.found[-1]


def _joined(groups: nodes.Aggregate, means: Means) -> nodes.Tree:
    """The groups with their means: each of them has one row of these."""
    name = means.table.name
    pairs = [
        exp.NullSafeEQ(
            this=exp.column(key.name, quoted=True) if key.alias else key.value.syntax.copy(),
            expression=exp.column(f"_k{place}", table=name),
        )
        for place, key in enumerate(groups.keys)
    ]
    return nodes.Join(nodes.JoinKind.INNER, groups, nodes.Scan(name, name), nodes.Scalar(exp.and_(*pairs)))


def _value(item: nodes.Item, table: str) -> nodes.Item:
    if not isinstance(item, nodes.Named) or not _is_expected(item):
        return item
    (aggregate,) = item.value.syntax.expressions
    return replace(item, value=nodes.Scalar(exp.column(aggregate.name, table=table, quoted=True)))


def _is_expected(item: nodes.Item) -> bool:
    return isinstance(item, nodes.Named) and is_expected(item.value.syntax)
