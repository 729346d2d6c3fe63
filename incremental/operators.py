"""The operators of circuits: what each computes of the values at its inputs, and the properties it declares.

Those without a memory are functions; `DelayOp`, `IntegrateOp` and `DifferentiateOp` remember one value, on one clock:
0 is the clock of closed timestamps, 1 that of the iterations of a recursive query (DBSP, sections 2 and 5).
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from msgspec import Struct

from streambound.analyzer.expressions.function import Fails
from streambound.analyzer.work import spend
from streambound.incremental.aggregates import AggregateOf, Vector
from streambound.incremental.row_expression import RowExpression, remembered
from streambound.incremental.window_functions import FirstOfPartition, OverPartition
from streambound.incremental.zset import KeyedSums, Row, ZSet

_STEPS_A_PAIR = 1

Group = ZSet | KeyedSums
"""What flows through a circuit: values of commutative groups."""


class Declared(Struct, frozen=True):
    """What an operator declares; tests try it on random values.

    ``linear``: f(a + b) = f(a) + f(b). ``bilinear``: so in each of two inputs. ``strict``: what comes out at a tick
    does not depend on what comes in then. ``stateful``: it remembers a value.
    """

    arity: ClassVar[int] = 1
    linear: ClassVar[bool] = False
    bilinear: ClassVar[bool] = False
    strict: ClassVar[bool] = False
    stateful: ClassVar[bool] = False


class SourceOp(Declared, frozen=True):
    """The rows of a stream or relation; ``history``: each change of a relation with its time in a first column."""

    arity: ClassVar[int] = 0
    table: str
    history: bool = False


class ConstantOp(Declared, frozen=True):
    """The same rows at each tick; ``at_first``: on those clocks at the first tick only, and then nothing."""

    arity: ClassVar[int] = 0
    rows: tuple[Row, ...]
    at_first: frozenset[int] = frozenset()

    @property
    def zset(self) -> ZSet:
        """The rows."""
        return ZSet.of(self.rows)


class PortOp(Declared, frozen=True):
    """An input of a nested circuit, by its number."""

    arity: ClassVar[int] = 0
    number: int


class FilterOp(Declared, frozen=True):
    """The rows for which a condition is true."""

    linear: ClassVar[bool] = True
    condition: RowExpression

    def apply(self, rows: ZSet) -> ZSet:
        """Sigma."""
        return rows.filter(remembered(self.condition))


class MapOp(Declared, frozen=True):
    """Other columns for each row."""

    linear: ClassVar[bool] = True
    columns: tuple[RowExpression, ...]

    def apply(self, rows: ZSet) -> ZSet:
        """pi, and all that is computed of a row."""
        spend(len(rows) * len(self.columns))
        return rows.map(lambda row: tuple(column(row) for column in self.columns))


class BucketsOp(Declared, frozen=True):
    """Each row once for every bucket ``[offset + k·slide, offset + k·slide + size)`` that its time is in.

    ``ends`` columns are added: the bucket's start, its end and, if there is a third, its last microsecond.
    """

    linear: ClassVar[bool] = True
    time: RowExpression
    size: int
    slide: int
    offset: int = 0
    ends: int = 2

    def apply(self, rows: ZSet) -> ZSet:
        """`flatmap` of DBSP, section 7.1."""
        return ZSet(((*row, *more), weight) for row, weight in rows.items() for more in self._buckets(row))

    def _buckets(self, row: Row) -> list[Row]:
        time = self.time(row)
        if not isinstance(time, Fraction):
            return []
        last = self.offset + (time - self.offset) // self.slide * self.slide
        number = -(-self.size // self.slide)
        starts = (last - at * self.slide for at in range(number))
        return [_bucket(Fraction(start), self.size, self.ends) for start in starts if time < start + self.size]


def _bucket(start: Fraction, size: Fraction | int, ends: int) -> Row:
    return (start, start + size, start + size - 1)[:ends]


class NegateOp(Declared, frozen=True):
    """Each weight with the other sign."""

    linear: ClassVar[bool] = True

    def apply(self, value: ZSet) -> ZSet:
        """-a."""
        return -value


class PlusOp(Declared, frozen=True):
    """The sum of two inputs."""

    arity: ClassVar[int] = 2
    linear: ClassVar[bool] = True

    def apply(self, left: ZSet, right: ZSet) -> ZSet:
        """A + b."""
        return left + right


class Equality(Struct, frozen=True):
    """An equality between the two sides of a join; ``null_safe``: NULL is equal to NULL."""

    left: RowExpression
    right: RowExpression
    null_safe: bool = False


class JoinOp(Declared, frozen=True):
    """The pairs of rows that agree in keys and satisfy a condition, which is over the columns of both."""

    arity: ClassVar[int] = 2
    bilinear: ClassVar[bool] = True
    keys: tuple[Equality, ...] = ()
    condition: RowExpression | None = None

    def apply(self, left: ZSet, right: ZSet) -> ZSet:
        """The weights of a pair are multiplied."""
        index: dict[Row, list[tuple[Row, int]]] = {}
        for row, weight in right.items():
            key = tuple(one.right(row) for one in self.keys)
            if self._may_join(key):
                index.setdefault(key, []).append((row, weight))
        pairs = (
            ((*row, *other), weight * more)
            for row, weight in left.items()
            for other, more in _charged(index.get(tuple(one.left(row) for one in self.keys), []))
        )
        holds = None if self.condition is None else remembered(self.condition)
        return ZSet.made({row: weight for row, weight in pairs if holds is None or holds(row)})

    def _may_join(self, key: Row) -> bool:
        return all(value is not None or one.null_safe for value, one in zip(key, self.keys, strict=True))


def _charged(partners: list[tuple[Row, int]]) -> list[tuple[Row, int]]:
    """The partners of a row, once their pairs are accounted for."""
    spend(_STEPS_A_PAIR * len(partners))
    return partners


class DistinctOp(Declared, frozen=True):
    """Each row of positive weight once."""

    def apply(self, rows: ZSet) -> ZSet:
        """Definition 4.4."""
        return rows.distinct()

    def touched(self, row: Row) -> Row:
        """What of the input decides about a row: the row."""
        return row


class PositiveOp(Declared, frozen=True):
    """The rows of positive weight, with it."""

    def apply(self, rows: ZSet) -> ZSet:
        """Pos."""
        return rows.positive()

    def touched(self, row: Row) -> Row:
        """What of the input decides about a row: the row."""
        return row


class SumsOp(Declared, frozen=True):
    """Per group how many rows, and what the linear aggregates sum; a group that has nothing of that is not there."""

    linear: ClassVar[bool] = True
    keys: tuple[RowExpression, ...]
    calls: tuple[AggregateOf, ...]

    @property
    def width(self) -> int:
        """How many numbers a group has."""
        return 1 + sum(call.width for call in self.calls)

    def apply(self, rows: ZSet) -> KeyedSums:
        """DBSP, section 7.2: a homomorphism into maps from keys to vectors."""
        sums = dict[Row, Vector]()
        for row, weight in rows.items():
            key = tuple(one(row) for one in self.keys)
            own: Vector = (Fraction(1), *(part for call in self.calls for part in call.contribution(row)))
            before = sums.get(key, (Fraction(0),) * self.width)
            sums[key] = tuple(a + weight * b for a, b in zip(before, own, strict=True))
        return KeyedSums(self.width, sums)


class GroupRowsOp(Declared, frozen=True):
    """The row of each group, of its sums; ``always``: the one group without a key is there without rows, too."""

    calls: tuple[AggregateOf, ...]
    always: bool = False

    def apply(self, sums: KeyedSums) -> ZSet:
        """`makeset` of DBSP, section 7.2; COUNT(*) = 0 deletes a group."""
        keys = {(), *sums} if self.always else set(sums)
        return ZSet.of((*key, *self._results(sums[key])) for key in keys if self.always or sums[key][0])

    def _results(self, vector: tuple[object, ...]) -> Row:
        at, results = 1, []
        for call in self.calls:
            results.append(call.result(vector[at : at + call.width]))  # type: ignore[arg-type]
            at += call.width
        return tuple(results)

    def touched(self, key: Row) -> Row:
        """What of the input decides about a key: the key."""
        return key


class AggregateRows(Struct, frozen=True):
    """The row of a group: its key and the values of any aggregates."""

    keys: tuple[RowExpression, ...]
    calls: tuple[AggregateOf, ...]

    def of(self, rows: ZSet) -> ZSet:
        """One row; of a group without rows the one of nothing."""
        first = next(iter(rows), None)
        key = () if first is None else tuple(one(first) for one in self.keys)
        return ZSet.of([(*key, *(call.of(rows) for call in self.calls))])

    @property
    def text(self) -> str:
        """What is computed, as readers see it."""
        return ", ".join(call.text for call in self.calls)


class AtMostOne(Struct, frozen=True):
    """The one row of a group; what has more stops the run, as a scalar subquery does."""

    text: ClassVar[str] = "at most one row"

    def of(self, rows: ZSet) -> ZSet:
        """The row; raises Fails for several."""
        if sum(weight for _, weight in rows.items()) > 1:
            raise Fails("a scalar subquery returned more than one row")
        return rows


class SessionsOfGroup(Struct, frozen=True):
    """Each row of a group with its session: from the first row to ``gap`` after the last one."""

    time: RowExpression
    gap: int
    ends: int = 2

    def of(self, rows: ZSet) -> ZSet:
        """The rows with the ends of their sessions; rows without a time are in none."""
        times = ((self.time(row), row, weight) for row, weight in rows.items())
        dated = [(time, row, weight) for time, row, weight in times if isinstance(time, Fraction)]
        dated.sort(key=lambda one: one[0])
        found: list[tuple[Row, int]] = []
        session: list[tuple[Fraction, Row, int]] = []
        for one in dated:
            if session and one[0] > session[-1][0] + self.gap:
                found += self._closed(session)
                session = []
            session.append(one)
        return ZSet([*found, *self._closed(session)])

    def _closed(self, session: list[tuple[Fraction, Row, int]]) -> list[tuple[Row, int]]:
        if not session:
            return []
        ends = _bucket(session[0][0], session[-1][0] - session[0][0] + self.gap, self.ends)
        return [((*row, *ends), weight) for _, row, weight in session]

    @property
    def text(self) -> str:
        """What is computed, as readers see it."""
        return f"sessions of {self.time.text}"


GroupFunction = AggregateRows | OverPartition | FirstOfPartition | AtMostOne | SessionsOfGroup


class GroupOp(Declared, frozen=True):
    """A function of each group's rows; ``always``: also of the one group without a key that has none."""

    keys: tuple[RowExpression, ...]
    function: GroupFunction
    always: bool = False

    def apply(self, rows: ZSet) -> ZSet:
        """The sum over all groups (DBSP, section 7.3)."""
        groups: dict[Row, list[tuple[Row, int]]] = {(): []} if self.always else {}
        for row, weight in rows.items():
            groups.setdefault(self.touched(row), []).append((row, weight))
        return ZSet(pair for group in groups.values() for pair in self.function.of(ZSet(group)).items())

    def touched(self, row: Row) -> Row:
        """What of the input decides about a row: its group."""
        return tuple(key(row) for key in self.keys)


Keyed = DistinctOp | PositiveOp | GroupRowsOp | GroupOp
"""The operators that are not linear: each a sum over keys, of a function of what the input has for a key."""


class TouchedOp(Declared, frozen=True):
    """``f(i + d) − f(i)``, computed for the keys that are in d only: ``H`` of proposition 4.7, for any keyed f."""

    arity: ClassVar[int] = 2
    of: Keyed

    def apply(self, before: Group, change: Group) -> ZSet:
        """What a change of the input changes at the output."""
        keys = {self.of.touched(row) for row in change}
        if isinstance(change, KeyedSums):
            known = before if isinstance(before, KeyedSums) else KeyedSums(change.width)
            old: Group = KeyedSums(change.width, {key: known[key] for key in keys})
        else:
            assert isinstance(before, ZSet)
            old = before.filter(lambda row: self.of.touched(row) in keys)
        new = old + change  # type: ignore[operator]
        return self.of.apply(new) - self.of.apply(old)  # type: ignore[arg-type]


class DelayOp(Declared, frozen=True):
    """``z⁻¹``: the value of the tick before, at first nothing."""

    linear: ClassVar[bool] = True
    strict: ClassVar[bool] = True
    stateful: ClassVar[bool] = True
    clock: int = 0


class IntegrateOp(Declared, frozen=True):
    """``I``: the sum of all values until now."""

    linear: ClassVar[bool] = True
    stateful: ClassVar[bool] = True
    clock: int = 0


class DifferentiateOp(Declared, frozen=True):
    """``D``: the value less that of the tick before."""

    linear: ClassVar[bool] = True
    stateful: ClassVar[bool] = True
    clock: int = 0


class FirstOp(Declared, frozen=True):
    """``δ0``: a value at the first iteration, and nothing at the others."""

    linear: ClassVar[bool] = True


class TotalOp(Declared, frozen=True):
    """``∫``: the sum of the values of all iterations."""

    linear: ClassVar[bool] = True
