"""Mode `final`: whether each result becomes one that does not change any more (correction M2)."""

from __future__ import annotations

from streambound.analyzer.boundedness import Facts
from streambound.criteria.operators.parts import GroupPart, MapPart, Part, RelationPart, UnionPart, ViewJoinPart
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.parts import BlockPart, PairPart


def never_final(judged: JudgedPart) -> Part | None:
    """The operator whose results are not known to become final; None where all do.

    Results that are never taken back are final when they are printed.
    """
    return None if judged.part is None or not judged.retracts else _never_final(judged.part)


def _never_final(part: Part) -> Part | None:
    """The same of an operator that may take results back.

    Groups of a bucket of time that closes (A5), or of a key that a punctuation ends (K1), are final when it is over;
    what is computed of them is so, too, also with relations that do not change. Rows that wait for a partner are, when
    none comes any more (B2).
    """
    match part:
        case BlockPart():
            return None
        case MapPart(input=below):
            return _never_final(below)
        case UnionPart(inputs=several):
            return next((open for one in several if (open := _never_final(one)) is not None), None)
        case ViewJoinPart(left=below, right=RelationPart()):
            return _never_final(below)
        case GroupPart(closing=closing, ends=ends) if closing is not None or ends is not None:
            return None
        case PairPart() if waits_end(part):
            return None
    return part


def waits_end(pair: PairPart) -> bool:
    """Whether a row that waits for a partner does so for a bounded time."""
    facts = Facts.of(pair.joint.split.branches[0])
    return all(facts.lag(partner, row) is not None for row, partner in pair.waiting)
