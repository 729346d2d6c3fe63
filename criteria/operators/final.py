"""Mode `final`: whether each result becomes one that does not change any more (correction M2)."""

from __future__ import annotations

from streambound.criteria.operators.states import GroupPart, MapPart, Part, RelationPart, UnionPart, ViewJoinPart


def never_final(part: Part) -> Part | None:
    """The operator whose results are not known to become final; None where all do.

    Groups of a bucket of time that closes (A5), or of a key that a punctuation ends (K1), are final when it is over;
    what is computed of them is so, too, also with relations that do not change.
    """
    match part:
        case MapPart(input=below):
            return never_final(below)
        case UnionPart(inputs=several):
            return next((open for one in several if (open := never_final(one)) is not None), None)
        case ViewJoinPart(left=below, right=RelationPart()):
            return never_final(below)
        case GroupPart(closing=closing, ends=ends) if closing is not None or ends is not None:
            return None
    return part
