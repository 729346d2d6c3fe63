"""Whether the step of a recursion only adds rows where its relation does: else there is no least fixpoint."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    Bucket,
    BucketKind,
    Distinct,
    Except,
    Filter,
    Fixpoint,
    Intersect,
    Join,
    JoinKind,
    Project,
    Recur,
    SpjBlock,
    Tree,
    Union,
    inputs,
)

_KEEP_LEFT = (JoinKind.INNER, JoinKind.SEMI, JoinKind.LEFT, JoinKind.ANTI, JoinKind.NOT_IN)
"""Joins in which a new row on the left never removes a result."""
_KEEP_RIGHT = (JoinKind.INNER, JoinKind.SEMI, JoinKind.RIGHT)


def not_monotone(step: Tree, name: str) -> Tree | None:
    """The operator of a step that may take a row away when the relation ``name`` has one more; None without any."""
    if not _reads(step, name):
        return None
    match step:
        case Recur():
            return None
        case Join(left=left, right=right, kind=kind):
            if (_reads(left, name) and kind not in _KEEP_LEFT) or (_reads(right, name) and kind not in _KEEP_RIGHT):
                return step
        case Except(right=right):
            if _reads(right, name):
                return step
        case Aggregate(keys=keys, calls=calls):
            if calls or not keys:
                return step
        case Bucket(kind=kind):
            if kind is BucketKind.SESSION:
                return step
        case Filter() | Project() | Alias() | SpjBlock() | Distinct() | Union() | Intersect() | Fixpoint():
            pass
        case _:
            return step
    return next((found for below in inputs(step) if (found := not_monotone(below, name)) is not None), None)


def _reads(tree: Tree, name: str) -> bool:
    if isinstance(tree, Recur):
        return tree.name.lower() == name.lower()
    return any(_reads(below, name) for below in inputs(tree))
