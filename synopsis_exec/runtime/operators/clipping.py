"""How far values may be clipped before a row is kept: as the plan's tables clip them, where nothing else asks more.

Executors combine the rows of a timestamp that are the same then. A value may be clipped where every table that takes it
clips it as far, and where every test that it is in says the same of all values that become one: of what the value is
compared with, the tests of a row and the limits of the tables say between which ends it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.formula import resolved
from streambound_runtime.operators.plan import Subplan, Term, Test, TestOffset
from streambound_runtime.row_values import Value
from streambound_runtime.spec import JobSpec, Stream

if TYPE_CHECKING:
    import pyarrow as pa

Ends = tuple[float, float]
"""The least and the greatest, infinite where there is none."""
EVERY: Ends = (-inf, inf)
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def clips(job: JobSpec, relations: Mapping[str, list[dict[str, Value]]]) -> tuple[dict[str, Ends], ...]:
    """Of each stream the columns whose values may be raised and lowered to some ends, and these."""
    if job.plan.synopsis is None:
        return tuple({} for _ in job.streams)
    branches: tuple[Subplan, ...] = resolved(job.plan.synopsis, relations).branches
    wanted = {
        (stream.name, name): _hull(_stored(branch, variable) for branch, variable in _uses(branches, stream, name))
        for number, stream in enumerate(job.streams)
        for name in _candidates(job, number)
    }
    known = [_Values(branch, wanted) for branch in branches]
    return tuple(
        {
            name: ends
            for name in stream.needs
            if (ends := wanted.get((stream.name, name), EVERY)) != EVERY
            and all(each.unseen(each.variables(stream.name, name), ends) for each in known)
        }
        for stream in job.streams
    )


def clipped(rows: pa.Table, stream: Stream, ends: Mapping[str, Ends]) -> pa.Table:
    """Open rows (`pending.open_rows`) with their values raised and lowered to these ends."""
    from pyarrow import compute as pc

    for name, (low, high) in ends.items():
        place = 1 + stream.needs.index(name)
        values = rows.column(place)
        if low > -inf:
            values = pc.max_element_wise(values, int(low), skip_nulls=False)
        if high < inf:
            values = pc.min_element_wise(values, int(high), skip_nulls=False)
        rows = rows.set_column(place, rows.schema.field(place), values)
    return rows


def _candidates(job: JobSpec, number: int) -> Iterator[str]:
    """The declared columns of integers of 64 bits, whatever they encode, but that by which rows are in buckets."""
    stream = job.streams[number]
    kinds = {column.name: sql_type(column.type) for column in stream.columns}
    for name in (name for name in stream.needs if name in kinds):
        kind, key = kinds[name], job.placement.key[number] if job.placement.key else None
        if kind.family in ("integer", "date", "timestamp", "decimal") and not kind.large and name != key:
            yield name


def _uses(branches: Iterable[Subplan], stream: Stream, column: str) -> Iterator[tuple[Subplan, str]]:
    for branch in branches:
        for scan in (scan for scan in branch.scans if scan.table == stream.name):
            yield from ((branch, variable) for variable, name in scan.columns if name == column)


def _hull(several: Iterable[Ends]) -> Ends:
    """The least ends that hold all of some; any where there is none."""
    found = list(several)
    return min((low for low, _ in found), default=-inf), max((high for _, high in found), default=inf)


def _within(ends: Ends, limits: Ends) -> Ends:
    """What raising and lowering to limits makes of values between ends."""
    low, high = (min(max(end, limits[0]), limits[1]) for end in ends)
    return low, high


def _terms(branch: Subplan) -> Iterator[Term]:
    return (term for transition in branch.transitions for term in transition.values)


def _limits(term: Term) -> Ends:
    """The ends of a value that is kept; no ends where it is more than its variable between constants."""
    simple = not (term.offset or term.places or term.lows or term.highs)
    low, high = -inf if term.low is None else term.low, inf if term.high is None else term.high
    return (low, high) if simple and isinstance(low, int | float) and isinstance(high, int | float) else EVERY


def _stored(branch: Subplan, variable: str) -> Ends:
    """How far all tables of a branch clip a variable; not at all where none keeps it."""
    if branch.families:
        return EVERY
    ends = _hull(_limits(term) for term in _terms(branch) if term.variable == variable)
    fine = all(abs(end) == inf or _SMALLEST <= end <= _LARGEST for end in ends)
    return ends if fine and variable not in _nested(_terms(branch)) else EVERY


def _nested(terms: Iterable[Term]) -> set[str | None]:
    """The variables that limit others."""
    inside = [part for term in terms for choice in (*term.lows, *term.highs) for part in choice]
    return {part.variable for part in inside} | (_nested(inside) if inside else set())


@dataclass(frozen=True, slots=True)
class _Values:
    """What a branch's variables may be, once the columns of ``wanted`` are clipped."""

    branch: Subplan
    wanted: Mapping[tuple[str, str], Ends]

    def variables(self, stream: str, column: str) -> list[str]:
        """The variables of a stream's column."""
        scans = (scan for scan in self.branch.scans if scan.table == stream)
        return [variable for scan in scans for variable, name in scan.columns if name == column]

    def ends(self, variable: str | None) -> Ends:
        """Between which ends the values of a variable are, of a row or of an entry."""
        of = ((scan, name) for scan in self.branch.scans for mine, name in scan.columns if mine == variable)
        scan, name = next(of, (None, ""))
        if scan is None:
            return EVERY
        own = EVERY
        for test in (test for test in scan.tests if test.left == variable and test.right is None):
            low, high = _thresholds(test, EVERY)
            if test.op in (">", ">=", "==", "in"):
                own = (max(own[0], low), own[1])
            if test.op in ("<", "<=", "==", "in"):
                own = (own[0], min(own[1], high))
        limits = [_limits(term) for term in _terms(self.branch) if term.variable == variable]
        limits.append(self.wanted.get((scan.table, name), EVERY))
        return _hull([own, *(_within(own, each) for each in limits)])

    def unseen(self, variables: list[str], ends: Ends) -> bool:
        """Whether no test tells values apart that become one."""
        return all(self._alike(test, ends) for variable in variables for test in self._tests(variable))

    def _tests(self, variable: str) -> Iterator[tuple[str, Ends]]:
        """The tests that a variable is in: how it is compared, and between which ends are what it is compared with."""
        joins = [join for transition in self.branch.transitions for join in transition.joins]
        every = [test for scan in self.branch.scans for test in scan.tests]
        every += [test for join in joins for test in join.tests]
        for own, term in (pair for join in joins for pair in join.equal):
            simple = not (term.places or term.lows or term.highs or term.low is not None or term.high is not None)
            if variable in (own, term.variable) and not simple:
                yield "==", EVERY
            elif term.variable is None:
                every.append(Test(own, "==", None, term.offset))
            else:
                every.append(Test(own, "==", term.variable, term.offset))
        for test in every:
            if test.left == variable:
                yield test.op, _thresholds(test, self.ends(test.right))
            if test.right == variable:
                low, high = _thresholds(Test("", test.op, "", _negative(test.offset)), self.ends(test.left))
                yield _TURNED[test.op], (low, high)

    @staticmethod
    def _alike(test: tuple[str, Ends], ends: Ends) -> bool:
        """Whether a comparison says of all values beyond either end what it says of that end."""
        op, (least, most) = test
        if op in ("is null", "is not null"):
            return True
        above = ends[1] == inf or most < ends[1] or (most == ends[1] and op in (">=", "<"))
        below = ends[0] == -inf or least > ends[0] or (least == ends[0] and op in ("<=", ">"))
        return above and below


def _negative(offset: TestOffset) -> TestOffset:
    return -offset if isinstance(offset, int) else offset


def _thresholds(test: Test, of: Ends) -> Ends:
    """Between which ends are the values that a test compares with, those of its right side being between some."""
    given = test.offset if isinstance(test.offset, tuple) else (test.offset or 0,)
    values = [value for value in given if isinstance(value, int)]
    if len(values) < len(given):
        return EVERY  # a number that is no integer is compared as one of 64 bits, rounded
    if test.right is not None:
        return of[0] + values[0], of[1] + values[0]
    return min(values, default=inf), max(values, default=-inf)
