"""Where a job keeps what it remembers: decided when a query is compiled, so that a job never changes its mind.

* *stateless*: nothing is remembered, and each row gives its results by itself.
* *buckets*: all states fall apart by a column of each stream, the *key*, and M is large or not a number: rows that
  agree in it meet on an executor.
* *driver*: every other query; its state is one.

Of each operator's columns it is known which columns of the streams always have the same value. An operator divides
where rows that it has to compare agree in such a column: the groups of an aggregate, equal rows of a set operation,
partitions, partners of a join. Each asks that of the key, and a key is searched that does for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from streambound.analyzer.catalog import Kind
from streambound.analyzer.errors import UsageError
from streambound.analyzer.query import Attribute, OutputValue
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.plan_ir import BranchPlan, JobPlan, Plan
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.block_tables import RowsOfStream
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.first import SqlFirst
from streambound_runtime.engine.group import SqlGroup
from streambound_runtime.engine.join import SqlAsOf, SqlJoin
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.engine.linear import SqlBucket, SqlPick, SqlUnion
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.plan import ComputedRows, EngineOperator, states_of
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.spec import JobSpec, Placement, Stream

LARGE = 1_000_000
"""From this number of entries on, a state is better not on the driver."""
BUCKETS = 16
"""How many parts a state is split into; they are in checkpoints, so this number must not change."""

_NO_COLUMNS = "its streams have no columns to be divided by"

Columns = Mapping[str, frozenset[str]]
"""Columns of streams, by stream: a key that has one of each stream's."""
Places = Mapping[int, Columns]
"""The streams' columns that always have the same value as an operator's column, by its place."""


def placement(job: JobSpec, query: JobPlan, forced: str | None = None) -> Placement:
    """The placement of a job; raises UsageError for a ``forced`` one that it cannot have."""
    of_joins = isinstance(query, Plan)
    no_state = _remembered(query) if isinstance(query, Plan) else "its operators are more than joins"
    much, size = _how_large(query)
    wanted = of_joins or ((much or forced == "buckets") and forced != "driver")
    key, no_key = _key(job, query) if wanted else (None, size)
    for name, why in (("stateless", no_state), ("buckets", no_key if key is None else "")):
        if forced == name and why:
            raise UsageError(f"the query cannot be placed in {forced}: {why}", remedy="leave out --placement")
    best = "stateless" if not no_state else "buckets" if much and key is not None else "driver"
    columns = tuple((key or {}).get(stream.name, "") for stream in job.streams)
    agree = "all streams agree in" if of_joins else "what is remembered is apart by"
    because = {
        "stateless": "nothing is remembered",
        "buckets": f"{agree} {', '.join(sorted({*columns}))}, and {size}",
        "driver": f"{no_state}; {no_key or size}" if of_joins else no_key or size,
    }
    why = because[best] if forced is None or (of_joins and forced == best) else "--placement says so"
    where = forced or best
    return Placement(where, why, columns, BUCKETS) if where == "buckets" else Placement(where, why)


def _how_large(plan: JobPlan) -> tuple[bool, str]:
    """Whether there may be many entries, or nobody knows how many; and that in words."""
    entries = plan.bound.entries
    if plan.bound.grows:
        return True, "there is no M"
    if words := plan.rows_in_words(entries):
        return True, f"{words} may be more than {LARGE:,}"
    if entries.value is None or entries.value > LARGE:
        return True, f"M = {entries.text} may exceed {LARGE:,}"
    return False, f"M is at most {entries.value:,}"


def _remembered(plan: Plan) -> str:
    """Why a query of joins is not stateless; nothing where it is."""
    if plan.distinct:
        return "a set remembers the results that it has returned"
    if any(branch.tables for branch in plan.branches):
        return "partial matches are remembered"
    if plan.order:
        return f"rows wait until they are released in the order of {plan.order}"
    if any(len(_streams(branch)) != 1 for branch in plan.branches):
        return "rows of several streams meet at a timestamp"
    for limit in ("max_per_timestamp", "max_rate"):
        if counted := [stream.name for stream in plan.streams if getattr(stream, limit) is not None]:
            return f"{limit} counts the rows of {', '.join(counted)}"
    if unique := [stream.name for stream in plan.streams if stream.unique]:
        return f"keys of {', '.join(unique)} that come once are remembered"
    return ""


# --- the key ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Demand:
    """The demand of an operator: a key within one of the ``options``; ``why`` says what other keys would break."""

    why: str
    options: Sequence[Columns] = ()


def _key(job: JobSpec, query: JobPlan) -> tuple[Mapping[str, str] | None, str]:
    """A column of each stream such that all states can be split by it; or why there is none."""
    if unique := [stream.name for stream in job.streams if stream.unique]:
        return None, f"the keys of {', '.join(unique)} that come once are kept together"
    plans = query.plans if isinstance(query, PlannedCircuit) else {job.plan.operators[0].name: query.blocks[0]}
    if isinstance(query, Plan) and query.order:
        return None, "rows of all keys are released in one order"
    if isinstance(query, Plan) and not any(map(states_of, job.plan.operators)):
        return None, "no partial matches are remembered"
    if counted := [relation.name for relation in job.streams if relation.relation]:
        return None, f"the rows of {', '.join(counted)} are counted together"
    if query.watched or any(stream.period is not None for stream in job.streams):
        return None, "punctuations and contracts of several rows are kept together"
    return _searched(job, _Dividing(job, plans).demands(job.plan.operators))


def _searched(job: JobSpec, demands: Iterable[_Demand]) -> tuple[Mapping[str, str] | None, str]:
    """A key that meets all demands, each with columns that are encoded alike; or the demand that no key meets."""
    asked, farthest = list(demands), -1
    encodings = {(s.name, name): _encoding(s, name) for s in job.streams for name in _candidates(s)}

    def narrowed(left: Mapping[str, list[str]], place: int) -> Mapping[str, str] | None:
        nonlocal farthest
        farthest = max(farthest, place)
        if place == len(asked):
            return {stream: columns[0] for stream, columns in left.items()}
        for option in asked[place].options:
            kinds = dict.fromkeys(encodings[name, c] for name in option for c in left[name] if c in option[name])
            for kind in kinds or [None]:
                alike = {name: [c for c in left[name] if encodings[name, c] == kind] for name in option}
                mine = {**left, **{name: [c for c in alike[name] if c in option[name]] for name in option}}
                if all(mine.values()) and (found := narrowed(mine, place + 1)) is not None:
                    return found
        return None

    every = {stream.name: _candidates(stream) for stream in job.streams}
    if all(every.values()) and (found := narrowed(every, 0)) is not None:
        return found, ""
    return None, asked[max(farthest, 0)].why if asked else _NO_COLUMNS


def _candidates(stream: Stream) -> list[str]:
    """Columns that are not the time or computed from it: all rows of a moment would be in one bucket."""
    of_time = {one.name for one in stream.derived if re.search(rf"\b{re.escape(stream.timestamp)}\b", one.expression)}
    return [name for name in stream.needs if name != stream.timestamp and name not in of_time]


def _encoding(stream: Stream, name: str) -> tuple[str, int, bool]:
    """How a column's values are encoded: equal ones are alike where that is the same."""
    types = {one.name: one.type for one in stream.columns} | {one.name: one.type for one in stream.derived}
    kind = sql_type(types[name])
    return "decimal" if kind.family == "integer" else kind.family, kind.scale, kind.large


@dataclass
class _Dividing:
    """The demands of a job's operators on the key, in turn, and the streams' columns from which theirs come."""

    job: JobSpec
    plans: Mapping[str, Plan]
    places: dict[str, Places] = field(default_factory=dict)
    asked: list[_Demand] = field(default_factory=list)

    def demands(self, operators: Sequence[EngineOperator]) -> list[_Demand]:
        """The demands of some operators, after those of the operators that they read."""
        for one in operators:
            if isinstance(one, ComputedRows) and one is not operators[-1]:
                self.asked.append(_Demand(f"the driver computes the rows of {one.name}, which others need"))
            self.places[one.name] = self._of(one)
        return self.asked

    def _of(self, one: EngineOperator) -> Places:
        match one:
            case SqlStreamJoin():
                return self._stream_join(one, self.plans[one.name])
            case _ if one.name in self.plans:
                return self.block(self.plans[one.name])
            case RowsOfStream() | ComputedRows():
                return {}
            case SqlPick():
                known = {f"c{place}": columns for place, columns in self.places[one.input].items()}
                return {place: known[column] for place, column in enumerate(one.picked) if column in known}
            case SqlBucket():
                below = self.places[one.input]
                return {n: below[item] for n, item in enumerate(one.items) if isinstance(item, int) and item in below}
            case SqlUnion():
                return self._same(one.inputs)
            case SqlGroup():
                groups = {*range(len(one.keys))} - {*(one.session or ())}
                return self._agree(self._same(one.inputs), groups, f"groups of {one.name}")
            case SqlCounts() | SqlFirst():
                return self._agree(same := self._same(one.inputs), same, f"equal rows of {one.name}")
            case SqlOver() | SqlRunning():
                agree = self._agree(self.places[one.input], one.partition, f"partitions of {one.name}")
                return {place: columns for place, columns in agree.items() if place < one.width}
            case SqlJoin() | SqlAsOf():
                return self._join(one)
            case SqlJoinTree(inputs=inputs, parts=parts):
                self.places |= {str(number): self.places[name] for number, name in enumerate(inputs)}
                for part in parts:
                    self.places[part.name] = self._of(part)
                return self.places[parts[-1].name]
        self.asked.append(_Demand(f"{one.name} is one"))
        return {}

    def _agree(self, below: Places, among: Iterable[int], what: str) -> Places:
        """The demand that the key is in one of these places, because only rows that agree there are compared."""
        found = {place: below[place] for place in sorted(among) if place in below}
        self.asked.append(_Demand(f"{what} do not agree in one column of each stream", [*found.values()]))
        return found

    def _same(self, names: Sequence[str]) -> Places:
        return _in_all([self.places[name] for name in names])

    def block(self, plan: Plan) -> Places:
        """The results of joins; these demand that all streams have an equal column."""
        if not plan.branches:
            self.asked.append(_Demand("it never has a row"))
        return _in_all([self._branch(branch) for branch in plan.branches])

    def _branch(self, branch: BranchPlan) -> Places:
        streams, known = _streams(branch), {stream.name: _candidates(stream) for stream in self.job.streams}
        if not streams or not known.keys() >= {*streams.values()}:
            why = "best values of a join are compared with each other"
            self.asked.append(_Demand(why if streams else "rows of relations alone come once"))
            return {}

        def same(value: OutputValue) -> Columns:
            """The columns that equal a value in every match; those of a stream that occurs twice do in both places."""
            found: dict[str, frozenset[str]] = {}
            for alias, table in streams.items():
                mine = frozenset(name for name in known[table] if _equal(branch, Attribute(alias, name), value))
                found[table] = found.get(table, mine) & mine
            return found

        first, table = next(iter(streams.items()))
        equal = [same(Attribute(first, name)) for name in known[table]]
        why = "no equality spans all streams of a join" if len(streams) > 1 else _NO_COLUMNS
        self.asked.append(_Demand(why, equal))
        return {place: same(output.value) for place, output in enumerate(branch.outputs)}

    def _stream_join(self, join: SqlStreamJoin, plan: Plan) -> Places:
        """The column of a side that may have no partner counts alone: the other side's is NULL then."""
        (branch,) = plan.branches
        self._branch(branch)
        streams = _streams(branch)
        alone = {"full": (join.left, join.right), "right": (join.right,)}.get(join.kind, (join.left,))
        return {
            place: {streams[output.value.source]: frozenset((output.value.column,))}
            for place, output in enumerate(branch.outputs)
            if isinstance(output.value, Attribute) and output.value.source in streams
            if all(side.padded[place] is not None for side in alone)
        }

    def _join(self, join: SqlJoin | SqlAsOf) -> Places:
        left, right = ({f"{side}{place}": columns for place, columns in self.places[name].items()}
                       for side, name in zip("lr", join.inputs, strict=True))  # fmt: skip
        tests = [(test.left, test.right) for test in join.tests if test.op == "==" and not test.offset]
        pairs = [pair if pair[0] in left else pair[::-1] for pair in tests]
        met = [_both(left[mine], right[other]) for mine, other in pairs if mine in left and other in right]
        why = f"partners of {join.name} do not agree in a column that their streams have"
        self.asked.append(_Demand(why, met))
        shown = left | (right if join.kind == "inner" else {})
        return {place: shown[name] for place, name in enumerate(join.shown) if name in shown}


def _in_all(several: Sequence[Places]) -> Places:
    """The places that are known for rows from each of several inputs."""
    if not several:
        return {}
    first, *others = several
    found = dict(first)
    for other in others:
        found = {place: _both(columns, other[place]) for place, columns in found.items() if place in other}
    return found


def _both(one: Columns, other: Columns) -> Columns:
    return {name: one.get(name, other.get(name, frozenset())) & other.get(name, one.get(name, frozenset()))
            for name in {**one, **other}}  # fmt: skip


def _streams(branch: BranchPlan) -> dict[str, str]:
    """The streams of a branch by alias."""
    return {source.alias: source.table for source in branch.sources if source.kind is not Kind.RELATION}


def _equal(branch: BranchPlan, one: Attribute, other: OutputValue) -> bool:
    """Whether ``one = other`` in every match."""
    closure = branch.facts.closure
    if one == other or not isinstance(other, Attribute) or not {one, other} <= {*closure.nodes}:
        return one == other
    if (pair := closure.pair(one, other)) is None:
        return False
    matrix, i, j = pair
    limits = (matrix.limit(i, j), matrix.limit(j, i))
    return all(limit is not None and limit == (Fraction(0), False) for limit in limits)
