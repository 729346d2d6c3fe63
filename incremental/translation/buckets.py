"""Buckets of time: each row once for every window that its time is in, and sessions of rows close to each other."""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.algebra.nodes import Bucket, BucketKind, Tree
from streambound.incremental.operators import BucketsOp, GroupOp, SessionsOfGroup
from streambound.incremental.translation.subqueries import with_subqueries
from streambound.incremental.translation.translator import Around, Translator
from streambound.incremental.translation.views import BoundView, NamedColumn, bind


def bucket(to: Translator, tree: Tree, around: Around) -> BoundView:
    """Tumbling and hopping windows are a flatmap, which is linear; sessions a function of the rows that share keys."""
    assert isinstance(tree, Bucket)
    view = to.view(tree.input, around)
    syntaxes = [to.scalar(tree.time), *map(to.scalar, tree.keys)]
    view = to.reaching(view, around, syntaxes)
    view, replaced = with_subqueries(to, view, syntaxes, around, to.place(tree))
    time = bind(to.scalar(tree.time), view, replaced)
    ends = len(tree.columns)
    columns = (*view.columns, *(NamedColumn(tree.alias, name, time.kind) for name in tree.columns))
    if tree.kind is BucketKind.SESSION:
        keys = (
            *(view.column(at) for at in range(view.prefix)),
            *(bind(to.scalar(k), view, replaced) for k in tree.keys),
        )
        op: BucketsOp | GroupOp = GroupOp(keys, SessionsOfGroup(time, tree.size, ends))
    else:
        op = BucketsOp(time, tree.size, tree.slide or tree.size, tree.offset, ends)
    return replace(view, node=to.add(op, (view.node,), columns, to.place(tree)), columns=columns)
