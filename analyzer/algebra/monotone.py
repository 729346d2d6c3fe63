"""Whether the step of a recursion only adds rows where its relation does: else there is no least fixpoint."""

from __future__ import annotations

from streambound.analyzer.algebra import nodes

_KEEP_LEFT = (
    nodes.JoinKind.INNER,
    nodes.JoinKind.SEMI,
    nodes.JoinKind.LEFT,
    nodes.JoinKind.ANTI,
    nodes.JoinKind.NOT_IN,
)
"""Joins in which a new row on the left never removes a result."""
_KEEP_RIGHT = (nodes.JoinKind.INNER, nodes.JoinKind.SEMI, nodes.JoinKind.RIGHT)


def not_monotone(step: nodes.Tree, name: str) -> nodes.Tree | None:
    """The operator of a step that may take a row away when the relation ``name`` has one more; None without any."""
    if not _reads(step, name):
        return None
    match step:
        case nodes.Recur():
            return None
        case nodes.Join(left=left, right=right, kind=kind):
            if (_reads(left, name) and kind not in _KEEP_LEFT) or (_reads(right, name) and kind not in _KEEP_RIGHT):
                return step
        case nodes.Except(right=right):
            if _reads(right, name):
                return step
        case nodes.Aggregate(keys=keys, calls=calls):
            if calls or not keys:
                return step
        case nodes.Bucket(kind=kind):
            if kind is nodes.BucketKind.SESSION:
                return step
        case (
            nodes.Filter()
            | nodes.Project()
            | nodes.Alias()
            | nodes.SpjBlock()
            | nodes.Distinct()
            | nodes.Union()
            | nodes.Intersect()
            | nodes.Fixpoint()
        ):
            pass
        case _:
            return step
    return next((found for below in nodes.inputs(step) if (found := not_monotone(below, name)) is not None), None)


def _reads(tree: nodes.Tree, name: str) -> bool:
    if isinstance(tree, nodes.Recur):
        return tree.name.lower() == name.lower()
    return any(_reads(below, name) for below in nodes.inputs(tree))
