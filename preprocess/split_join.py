"""≠-splitting of the rows that an outer, semi or anti join keeps: each has one case, and is joined there.

S(a IN (1, 2)) ANTI JOIN T ON c  ->  S(a = 1) ANTI JOIN T ON c  UNION ALL  S(a = 2) ANTI JOIN T ON c

A row satisfies one case only, so that its partners are looked for once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.asked_relations import conjuncts
from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Alias, Filter, Join, JoinKind, Named, Scalar, Scan, Tree, Union
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.query import Branch
from streambound.analyzer.render import render_formula
from streambound.preprocess.pipeline import derive

MOST_CASES = 16
"""Joins that one becomes; one of more cases is left as it is."""
_KEEPS_LEFT = (JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.NOT_IN)


@dataclass(frozen=True, slots=True)
class SplitJoin:
    """A join whose kept side has several cases, in two forms that give the same rows.

    ``union`` joins each case; ``tested_above`` joins all rows, and tests the conditions that have cases afterwards.
    """

    union: Union
    tested_above: Filter


def split_join(tree: Join, blocks: BlockReader) -> SplitJoin | None:
    """A join of two blocks, the kept one a stream, over this stream's cases; None where it has one case.

    Raises Finding where the stream's condition means nothing.
    """
    right = tree.kind is JoinKind.RIGHT
    if tree.using or not (right or tree.kind in _KEEPS_LEFT):
        return None
    if not is_block(tree.left, blocks.catalog) or not is_block(tree.right, blocks.catalog):
        return None

    def joined(side: Tree) -> Join:
        return replace(tree, right=side) if right else replace(tree, left=side)

    side = tree.right if right else tree.left
    stream, conditions = _taken_apart(side)
    if not conditions or not _is_scan(stream):
        return None
    cases = [_filtered(stream, [_written(case, stream, blocks)], side) for case in _cases(side, blocks)]
    if not 1 < len(cases) <= MOST_CASES:
        return None
    first, *others = (joined(case) for case in cases)
    union: Tree = first
    for other in others:
        union = Union(union, other, distinct=False, syntax=tree.syntax, at=tree.at)
    several = [one for one in conditions if len(_cases(_filtered(stream, [one], side), blocks)) > 1]
    rest = [one for one in conditions if one not in several]
    above = _filtered(joined(_filtered(stream, rest, side) if rest else stream), several or conditions, side)
    assert isinstance(union, Union), "several cases"
    return SplitJoin(union, above)


def _taken_apart(side: Tree) -> tuple[Tree, list[exp.Expr]]:
    """What is below the conditions of a side, and the parts of these, which must all be true."""
    parts = list[exp.Expr]()
    while isinstance(side, Filter):
        parts += conjuncts(parsed(side.condition))
        side = side.input
    return side, parts


def _cases(side: Tree, blocks: BlockReader) -> Sequence[Branch]:
    """The cases of a stream's condition; none where its rows are not those of one stream alone."""
    one = Named("c0", Scalar("1", exp.Literal.number(1)), alias=True)
    branches = derive(blocks.query(side, [one])).split.branches
    return branches if all(len(branch.sources) == 1 for branch in branches) else ()


def _filtered(tree: Tree, conditions: Sequence[exp.Expr], side: Tree) -> Filter:
    condition = exp.and_(*conditions)
    return Filter(tree, Scalar(condition.sql("spark"), condition), syntax=side.syntax, at=side.at)


def _is_scan(tree: Tree) -> bool:
    return isinstance(tree, Scan) or (isinstance(tree, Alias) and not tree.columns and _is_scan(tree.input))


def _written(case: Branch, stream: Tree, blocks: BlockReader) -> exp.Expr:
    """The condition of a case, over the rows of the stream as they are called."""
    condition = render_formula(case.where, case)
    for column in condition.find_all(exp.Column):
        column.set("table", exp.to_identifier(schema(stream, blocks.catalog)[0].alias, quoted=True))
    return condition
