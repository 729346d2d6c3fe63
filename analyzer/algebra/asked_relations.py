"""Conditions that ask relations as joins with what they allow: values that a relation gives are as many as its rows.

S WHERE S.a IN (SELECT k FROM R WHERE c)        ->  S JOIN (SELECT DISTINCT k FROM R WHERE c) q ON S.a = q.k
S WHERE EXISTS (SELECT 1 FROM R WHERE k = S.a AND b > S.b)
                                                ->  S JOIN (SELECT DISTINCT k FROM R) q ON S.a = q.k WHERE EXISTS (…)
S WHERE S.a < (SELECT MAX(k) FROM R)            ->  S CROSS JOIN (SELECT MAX(k) AS v FROM R) q WHERE S.a < q.v

Each row has at most one partner, and exactly one where the condition holds: the rows are the same, and as many
(docs/theory-conditions.md, "Relations without state").
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.calls import Reader
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.verify import outer_columns
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.expressions.rows import outermost_queries


class AskedRelations(Struct, frozen=True):
    """Makes these joins for one SELECT; ``fresh`` gives names that no column or alias has."""

    catalog: Catalog
    scalar: Reader
    lowered: Callable[[exp.Query], nodes.Tree]
    fresh: Callable[[str], str]

    def semi_join(self, join: nodes.Join) -> nodes.Tree:
        """A semi join with a relation as an inner one with the values that its equalities allow, and the rest of it."""
        given, asked = schema(join.left, self.catalog), schema(join.right, self.catalog)
        parts = conjuncts(join.condition)
        pairs = [(part, pair) for part in parts if (pair := _pair(part, given, asked)) is not None]
        if not pairs:
            return join
        alias = self.fresh("asked")
        names = [self.fresh("_c") for _ in pairs]
        values = [inner for _, (_, inner) in pairs]
        items = tuple(
            nodes.Named(name, self.scalar(value), alias=True) for name, value in zip(names, values, strict=True)
        )
        allowed = nodes.Alias(
            nodes.Distinct(nodes.Project(join.right, items, syntax=join.syntax), syntax=join.syntax),
            alias,
            syntax=join.syntax,
        )
        equal = [
            exp.EQ(this=outer.copy(), expression=exp.column(name, alias))
            for name, (_, (outer, _)) in zip(names, pairs, strict=True)
        ]
        condition = exp.and_(*equal, copy=False) if len(equal) > 1 else equal[0]
        left = join.left if len(pairs) == len(parts) else join
        return nodes.Join(nodes.JoinKind.INNER, left, allowed, self.scalar(condition), syntax=join.syntax, at=join.at)

    def values(self, tree: nodes.Tree, part: exp.Expr, clause: exp.Expr) -> nodes.Tree | None:
        """The rows that satisfy a condition whose subqueries give one row each; None where it has others, or none."""
        queries = outermost_queries(part)
        if not queries or not all(map(self._gives_one_row, queries)):
            return None
        holder = exp.Paren(this=part.copy())
        for query, place in zip(queries, outermost_queries(holder), strict=True):
            alias, name, at = self.fresh("asked"), self.fresh("_v"), query.parent or query
            one = nodes.Alias(self.lowered(query), alias, (name,), syntax=at)
            tree = nodes.Join(nodes.JoinKind.INNER, tree, one, syntax=at)
            (place.parent or place).replace(exp.column(name, alias))
        return nodes.Filter(tree, self.scalar(holder.this), syntax=clause)

    def _gives_one_row(self, query: exp.Query) -> bool:
        tree = self.lowered(query)
        whole = isinstance(tree, nodes.Project) and isinstance(tree.input, nodes.Aggregate) and not tree.input.keys
        alone = isinstance(query.parent, exp.Subquery) and not isinstance(query.parent.parent, exp.In)
        return whole and alone and len(schema(tree, self.catalog)) == 1 and not outer_columns(tree, self.catalog)


def _pair(part: exp.Expr, given: Schema, asked: Schema) -> tuple[exp.Expr, exp.Expr] | None:
    """The sides of an equality of an expression over the row with one over the relation, in this order."""
    if not isinstance(part, exp.EQ) or part.find(exp.Query):
        return None
    for outer, inner in ((part.this, part.expression), (part.expression, part.this)):
        if _all_of(outer, given) and _all_of(inner, asked) and not _any_of(outer, asked) and not _any_of(inner, given):
            return outer, inner
    return None


def _all_of(node: exp.Expr, fields: Schema) -> bool:
    columns = list(node.find_all(exp.Column))
    return bool(columns) and all(any(f.called(c.name, c.table) for f in fields) for c in columns)


def _any_of(node: exp.Expr, fields: Schema) -> bool:
    return any(f.called(c.name, c.table) for c in node.find_all(exp.Column) for f in fields)
