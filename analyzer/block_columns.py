"""Queries of select-project-join blocks that read only the columns that are needed, by position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.schema import qualified, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.syntax import column_of, conjunction, conjuncts
from streambound.analyzer.block_queries import BlockReader, Monomial
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.query import Query


class BlockColumns(Struct, frozen=True):
    """Reads some columns of the blocks of one statement. Raises Finding for a tree that is no block."""

    blocks: BlockReader
    catalog: Catalog
    recursive: Schema = ()
    """The columns of the relation that a `Fixpoint` around them defines."""

    def of(self, tree: nodes.Tree) -> Schema:
        """The columns of a tree's rows."""
        return schema(tree, self.catalog, self.recursive)

    def block(self, tree: nodes.Tree, places: Iterable[int] | None, distinct: bool = False) -> Query:
        """The query of a block with some of its columns, by position; all of them for None."""
        given = self.of(tree)
        every = frozenset(range(len(given)))
        wanted = every if places is None else frozenset(places)
        match tree:
            case nodes.Distinct(input=nodes.Project() | nodes.Union()):
                return self.blocks.view(tree, distinct)
            case nodes.Distinct(input):
                return self.block(input, places, distinct)
            case nodes.Project(input=input, items=items) if all(isinstance(item, nodes.Named) for item in items):
                return self.items(input, [item for place, item in enumerate(items) if place in wanted], distinct)
            case nodes.Project() | nodes.Union():
                if wanted == every:
                    return self.blocks.view(tree, distinct)
                names = tuple(f"c{n}" for n in range(len(given)))
                whole = nodes.Alias(tree, "_q", names, syntax=tree.syntax)
                columns = [exp.column(f"c{place}", table="_q") for place in sorted(wanted)]
                return self.items(whole, [nodes.Named(c.name, nodes.Scalar(c), alias=True) for c in columns], distinct)
        named = enumerate(column_of(given[place]) for place in sorted(wanted))
        return self.items(
            tree, [nodes.Named(f"c{n}", nodes.Scalar(column), alias=True) for n, column in named], distinct
        )

    def items(
        self,
        body: nodes.Tree,
        items: Sequence[nodes.Item],
        distinct: bool = False,
        sums: Sequence[Monomial] = (),
        summed: bool = False,
    ) -> Query:
        """The query of a select list over a block, with sums over its rows; of no list, a row for each.

        ``summed``: sums of its rows are asked that are not read here, so that there need be no list.
        """
        body = with_conditions_above(body, self) if _is_nested(body) else body
        one = nodes.Named("c0", nodes.Scalar(exp.Literal.number(1)), alias=True)
        wanted = list(items) or ([] if sums or summed else [one])
        return self.blocks.query(body, wanted, sums, distinct=distinct)


def with_conditions_above(tree: nodes.Tree, columns: BlockColumns) -> nodes.Tree:
    """The same with one condition, above its inner joins."""
    if not isinstance(tree, nodes.Filter | nodes.Join):
        return tree
    body, conditions = _hoisted(tree, columns)
    every = conjunction(conditions)
    return body if every is None else nodes.Filter(body, every, syntax=tree.syntax)


def _hoisted(tree: nodes.Tree, columns: BlockColumns) -> tuple[nodes.Tree, list[exp.Expr]]:
    """``(R WHERE p) JOIN (S WHERE q)  ->  R JOIN S, p AND q``: inner joins without the conditions of their inputs."""
    match tree:
        case nodes.Filter(input, condition):
            below, more = _hoisted(input, columns)
            return below, [*more, *conjuncts(qualified(condition, columns.of(input)))]
        case nodes.Join(nodes.JoinKind.INNER, left, right):
            (left, mine), (right, theirs) = _hoisted(left, columns), _hoisted(right, columns)
            return replace(tree, left=left, right=right), [*mine, *theirs]
    return tree, []


def _is_nested(tree: nodes.Tree, inside: bool = False) -> bool:
    """Whether there are conditions where the reader of blocks does not look for them: below others, or below joins."""
    match tree:
        case nodes.Filter(input):
            return inside or _is_nested(input, True)
        case nodes.Join(nodes.JoinKind.INNER, left, right):
            return _is_nested(left, True) or _is_nested(right, True)
    return False
