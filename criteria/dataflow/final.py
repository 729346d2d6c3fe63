"""Mode `final`: whether each result becomes one that does not change any more (correction M2)."""

from __future__ import annotations

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.state import DecidedBlock, Operation, Retention

_WAITS_LEFT = frozenset({nodes.JoinKind.LEFT, nodes.JoinKind.FULL, nodes.JoinKind.SEMI, nodes.JoinKind.ANTI})
_WAITS_RIGHT = frozenset({nodes.JoinKind.RIGHT, nodes.JoinKind.FULL})


def never_final(judgement: Judgement) -> Operation | None:
    """The operator whose results are not known to become final; None where all do.

    Results that are never taken back are final when they are printed. Groups of a bucket of time that closes (A5), or
    of a key that a punctuation ends (K1, K3), are final when it is over; what is computed of them is so, too, also with
    relations that do not change. Rows that wait for a partner are, when none comes any more (B2).
    """
    return _never_final(judgement.operation, judgement)


def _never_final(one: Operation, judgement: Judgement, key_ends: bool = False) -> Operation | None:
    tree, views = one.tree, judgement.context.views
    if one.each_key is not None:
        return _never_final(one.each_key.operation, judgement, key_ends=True)
    if views.of(tree).change <= ViewKind.APPEND_ONLY:
        return None
    match tree:
        case nodes.Filter() | nodes.Project() | nodes.Alias() | nodes.SpjBlock() | nodes.Bucket():
            return _never_final(one.inputs[0], judgement, key_ends)
        case nodes.Union(distinct=False):
            return next(
                (it for side in one.inputs if (it := _never_final(side, judgement, key_ends)) is not None), None
            )
        case nodes.Join(kind=kind) if one.rows is not None:
            return None if _waits_end(kind, one.rows) else one
        case nodes.Join(kind=nodes.JoinKind.INNER | nodes.JoinKind.LEFT, right=right) if is_static(
            right, judgement.context.catalog
        ):
            return _never_final(one.inputs[0], judgement, key_ends)
        case nodes.Aggregate() if key_ends or _groups_end(one):
            return None
    return one


def _groups_end(one: Operation) -> bool:
    """Whether the groups themselves go, and not only values of theirs."""
    counts = (state.count for state in one.states if state.what == "groups")
    return any(count is not None and count.retention in (Retention.TIME, Retention.KEY) for count in counts)


def takes_back(judgement: Judgement) -> bool:
    """Whether results may be taken back: not those of rows that wait for partners which can only have come before."""
    return _takes_back(judgement.operation, judgement)


def _takes_back(one: Operation, judgement: Judgement) -> bool:
    tree = one.tree
    if one.each_key is not None:
        return _takes_back(one.each_key.operation, judgement)
    if judgement.context.views.of(tree).change <= ViewKind.APPEND_ONLY:
        return False
    match tree:
        case nodes.Filter() | nodes.Project() | nodes.Alias() | nodes.SpjBlock() | nodes.Bucket():
            return _takes_back(one.inputs[0], judgement)
        case nodes.Union(distinct=False):
            return any(_takes_back(side, judgement) for side in one.inputs)
        case nodes.Join(kind=kind) if one.rows is not None and one.rows.read.split.branches:
            return any(lag is None or lag > 0 for lag in _lags(kind, one.rows))
    return True


def _lags(kind: nodes.JoinKind, found: DecidedBlock) -> list[int | None]:
    """How much later a partner may come than each row that waits for one; None for ever."""
    facts = Facts.of(found.read.split.branches[0])
    left, right = (source.alias for source in found.read.split.branches[0].sources)
    waiting = [(left, right)] * (kind in _WAITS_LEFT) + [(right, left)] * (kind in _WAITS_RIGHT)
    return [facts.lag(partner, row) for row, partner in waiting]


def _waits_end(kind: nodes.JoinKind, found: DecidedBlock) -> bool:
    """Whether a row that waits for a partner does so for a bounded time."""
    if not found.read.split.branches:
        return True
    return None not in _lags(kind, found)
