"""The column by which rows close, and how many values columns have: of open rows, or by what is known of them."""

from __future__ import annotations

from math import ceil, floor

from msgspec import Struct

from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.claims import ClaimedColumn, NotCheckedError
from streambound.recheck.derivation.facts import CheckedFacts, TimeFact
from streambound.recheck.derivation.plan import PlanNode


class ClosingFacts(Struct, frozen=True):
    """A column by which rows close: one changes until ``wait`` after the last time of its bucket."""

    place: int
    wait: int
    now: TimeFact

    @property
    def buckets(self) -> int | None:
        """The most different values that open rows have; None without limit.

        A bucket is open if one of the times from ``wait`` ago to ``ahead`` is in it: the function is non-decreasing.
        """
        length, ahead = self.now.function.shortest, self.now.high
        return None if ahead is None else max(0, -(-(self.wait + length - 1 + ahead) // length))

    def begun(self, every: int) -> int | None:
        """The most buckets, one beginning every ``every`` timestamps, that are open at a time."""
        width, ahead = self.now.function.width, self.now.high
        return None if ahead is None else max(0, -(-(self.wait + width - 1 + ahead) // every))

    def timestamps(self, source: str, time: TimeFact) -> int:
        """At how many timestamps rows of a source come that open rows are made of."""
        if time.source != source or time.function.name != self.now.function.name or time.high is None:
            raise RejectedError(f"a time that does not limit {source}")
        return max(0, self.wait + self.now.function.width - 1 + time.high)


def values_by(
    facts: CheckedFacts, claim: ClaimedColumn, node: PlanNode, column: int, closing: ClosingFacts | None, at: int | None
) -> int | None:
    """The values of a column of a node by facts; ``at``: where the column is by which rows close."""
    if claim.rule == "set" and len(claim.facts) == 1:
        return facts.values(claim.facts[0], node, column).size
    if claim.rule == "clipped" and claim.facts:
        return _clipped(facts, claim, node, column)
    if claim.rule not in ("near", "finer") or closing is None or at is None or not 2 <= len(claim.facts) <= 3:
        raise NotCheckedError(f"values by the rule {claim.rule!r}")
    time = facts.time(claim.facts[0], node, column)
    whole = facts.time(claim.facts[1], node, at, beside=claim.rule == "near")
    null = len(claim.facts) < 3 or facts.values(claim.facts[2], node, column).null
    if time.source != whole.source or not time.source or time.low is None or time.high is None:
        raise RejectedError("times of different sources")
    if claim.rule == "near":  # another time near those of a source's rows at a number of timestamps
        number = closing.timestamps(time.source, whole)
        length = number + time.high - time.low + time.function.width - 1
        return (-(-length // time.function.shortest) if number else 0) + null
    part, every, name = time.function.division, whole.function.division, closing.now.function.name
    if time.low != time.high or (time.low, time.high) != (whole.low, whole.high) or whole.function.name != name:
        raise RejectedError("buckets of different times")
    if part is None or every is None or every % part or closing.buckets is None:
        raise RejectedError("buckets that are not within those that are open")
    return closing.buckets * (every // part) + null


def _clipped(facts: CheckedFacts, claim: ClaimedColumn, pair: PlanNode, column: int) -> int | None:
    """D5: the values that comparisons with other columns tell apart: all that are beyond these fare alike."""
    values, kind = facts.values(claim.facts[0], pair, column), pair.schema[column].type
    limits = [atoms.alike(one, pair.row, column) for one in pair.conditions if column in pair.read_by(one)]
    known = [one for one in limits if one is not None]
    exact = known and len(known) == len(limits) == len(claim.facts) - 1
    if kind is None or kind.family is not Family.INTEGER or not exact:
        raise RejectedError("values that are not only compared")
    ends = [facts.values(fact, pair, one[0]).ends for one, fact in zip(known, claim.facts[1:], strict=True)]
    lows = [low + one[1] for one, (low, _) in zip(known, ends, strict=True) if isinstance(low, int)]
    highs = [high + one[2] for one, (_, high) in zip(known, ends, strict=True) if isinstance(high, int)]
    low, high = values.ends
    first = min([*lows, *([] if high is None else [high])]) if low is None and len(lows) == len(known) else low
    last = max([*highs, *([] if low is None else [low])]) if high is None and len(highs) == len(known) else high
    return None if first is None or last is None else int(floor(last) - ceil(first)) + 1 + values.null
