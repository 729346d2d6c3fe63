"""The timestamps of a witness's tuples: beyond all constants, elements farther apart than all windows, probes last."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import ceil, lcm

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.calendar_text import MICROSECONDS, parse_timestamp
from streambound.analyzer.closure import Sort
from streambound.analyzer.types import Family
from streambound.criteria.contract import promised_distance
from streambound.criteria.projected_time import time_as_value
from streambound.criteria.reach import stated_differences
from streambound.criteria.solution import DifferenceConstraint, conditions_of, solve
from streambound.criteria.witness_plan import WitnessPlan

_FIRST_MOMENT = parse_timestamp("2024-01-01 00:00:00")


class WitnessTimes:
    """When the tuples of each stream of the plan's branch come, of which ``elements`` are parts of elements.

    Elements and probes are later than any constant. Two elements are farther apart than any window, or interval of a
    rate, and what one element takes together; what no element moves is before all of them or after them, by more than
    that. So no condition sees more of a timestamp than the order. Where times are values, too, the same holds of the
    constants and offsets that values are compared with.
    """

    def __init__(self, plan: WitnessPlan, size: int, elements: frozenset[str]) -> None:
        self.plan, self.size = plan, size
        self.facts = Facts.of(plan.branch)
        self.conditions = conditions_of(plan.branch, plan.reach.texts)
        self.moved = self._moved(elements)
        self._clocks = {alias: plan.branch.column(self.facts.time(alias)).type.family for alias in self.facts.infinite}
        self._tick = MICROSECONDS if Family.TIMESTAMP in self._clocks.values() else 1  # a second, for timestamps
        self._valued = any(map(time_as_value, (plan.branch, *plan.branches)))
        stated = stated_differences(self.conditions, (Sort.TIME, Sort.DISCRETE) if self._valued else (Sort.TIME,))
        self._path = ceil(sum(abs(d.c) + d.strict for d in stated if d.x is not None and d.y is not None))
        element = self._path + len(plan.branch.streams) * self._tick
        promised = max(map(promised_distance, plan.branch.streams), default=0)
        offset = ceil(plan.reach.offset) if self._valued else 0
        period = lcm(self._tick, plan.reach.period)
        self._shift = -(-(element + max(plan.reach.window, promised, offset)) // period) * period
        self._range = (size + 2) * self._shift

    def times(self) -> dict[str, int] | None:
        """A timestamp per stream such that probes come after every element; elements are moved by `moment`."""
        for apart, first in product((1, -1, 0), (_FIRST_MOMENT, None)):
            extra = [*self._phases(), *self._beyond(first), *self._apart(apart)]
            solved = solve(self.conditions, extra, sorts=(Sort.TIME,))
            if solved is not None:
                return {attribute.source: int(value) for attribute, value in solved.items() if value is not None}
        return None

    def moment(self, element: int) -> int:
        """How much later than the first an element's rows come."""
        return self._shift * (self.size - 1 - element if self.plan.backwards else element)

    def end(self, times: dict[str, int]) -> int:
        """A time that is later than all others."""
        return max(times.values(), default=0) + 2 * self._range

    def again(self, times: dict[str, int]) -> int:
        """How much later a whole match is sent once more: after all else."""
        own = [times[alias] for alias in self.facts.infinite]
        return self._range + self._shift * max(1, -(-(max(own) - min(own)) // self._shift))

    def _phases(self) -> Iterator[DifferenceConstraint]:
        """Probes after prefixes; what is not moved with the elements is after all of them if it must, else before."""
        time, lag = self.facts.time, self.facts.lag
        before = [source.alias for source in self.plan.branch.streams if source.alias not in self.plan.after]
        for old, new in product(before, sorted(self.plan.after)):
            yield DifferenceConstraint(time(old), time(new), Fraction(-self._range - self._shift))
        for still in (alias for alias in before if alias in self.facts.infinite and alias not in self.moved):
            lags = {moved: lag(moved, still) for moved in self.moved}
            late = any(found is not None for found in lags.values())
            for moved, found in lags.items():
                if found is not None or (late and lag(still, moved) is None):
                    yield DifferenceConstraint(time(moved), time(still), Fraction((found or 0) - self._range))
                else:
                    yield DifferenceConstraint(time(still), time(moved), Fraction(-2 * self._shift))

    def _beyond(self, first: int | None) -> Iterator[DifferenceConstraint]:
        """Elements and probes are later than constants, by more than any window; clocks show a usual time."""
        moving = {*self.moved, *self.plan.after}
        for alias in self.facts.infinite:
            if self.plan.early and alias not in moving:
                continue
            last = self.plan.reach.moment(self._clocks[alias])
            if self._valued:
                last = max(last or 0, ceil(self.plan.reach.constant + self.plan.reach.offset))
            starts = [first] if first is not None and self._clocks[alias] is Family.TIMESTAMP else []
            if last is not None:
                past = last + self._path + self.plan.reach.window
                starts.append((past // self._tick + 1) * self._tick)
            if starts:
                yield DifferenceConstraint(None, self.facts.time(alias), Fraction(-max(starts)))

    def _apart(self, sign: int) -> Iterator[DifferenceConstraint]:
        """Tuples of a stream that is used twice come one after the other (``sign`` 1 or -1), as its rate may demand."""
        for one, two in combinations(self.plan.branch.streams, 2):
            if sign and one.table == two.table:
                first, then = (self.facts.time(s.alias) for s in ((one, two) if sign > 0 else (two, one)))
                yield DifferenceConstraint(first, then, Fraction(-self._tick))

    def _moved(self, elements: frozenset[str]) -> tuple[str, ...]:
        """The streams whose tuples move in time with their element, with those that a window ties to them."""
        found = [alias for alias in self.facts.infinite if alias in elements]
        for alias in found:
            tied = [
                other for other in self.facts.infinite
                if other not in self.plan.after and other not in found
                and self.facts.lag(alias, other) is not None and self.facts.lag(other, alias) is not None
            ]  # fmt: skip
            found.extend(tied)
        return tuple(found)
