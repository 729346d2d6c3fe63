"""Whether the states of a circuit fall apart by a column of each stream, so that rows that agree may meet anywhere.

Of each operator it is asked which columns of its rows always are that of the streams' rows that they were made of, the
*key*. It divides where rows that it has to compare agree in such a column: the groups of an aggregate, equal
rows of a set operation, partitions, partners of a join.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from streambound.analyzer.catalog import Kind
from streambound.analyzer.errors import UsageError
from streambound.analyzer.query import Attribute, OutputValue
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.placement import BUCKETS, equal, how_large
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.group import SqlGroup
from streambound_runtime.engine.join import SqlAsOf, SqlJoin
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.engine.linear import SqlBucket, SqlPick, SqlUnion
from streambound_runtime.engine.over import SqlOver
from streambound_runtime.engine.plan import ComputedRows, EngineOperator, RowsOfStream
from streambound_runtime.engine.running import SqlRunning
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.spec import JobSpec, Placement, Stream

_TRIED = 4096
"""Choices of a column of each stream that are tried."""
Key = Mapping[str, str]
"""A column of each stream."""
Places = frozenset[int]


class _UndividedError(Exception):
    """An operator whose state does not fall apart by a key."""


def placed(job: JobSpec, query: PlannedCircuit, forced: str | None) -> Placement:
    """The placement of a circuit's job; raises UsageError for a ``forced`` one that it cannot have."""
    much, size = how_large(query.bound)
    key, why = _key(job, query) if (much or forced == "buckets") and forced != "driver" else (None, size)
    if forced == "stateless" or (forced == "buckets" and key is None):
        why = "its operators are more than joins" if forced == "stateless" else why
        raise UsageError(f"the query cannot be placed in {forced}: {why}", remedy="leave out --placement")
    if key is None or not (much or forced):
        return Placement("driver", "--placement says so" if forced else why)
    columns = tuple(key[stream.name] for stream in job.streams)
    because = f"what is remembered is apart by {', '.join(sorted({*columns}))}, and {size}"
    return Placement("buckets", "--placement says so" if forced else because, columns, BUCKETS)


def _key(job: JobSpec, query: PlannedCircuit) -> tuple[Key | None, str]:
    """A column of each stream by which all states fall apart; or why there is none."""
    counted = [relation.name for relation in job.streams if relation.relation]
    if counted:
        return None, f"the rows of {', '.join(counted)} are counted together"
    if query.circuit.watched or any(stream.period is not None for stream in job.streams):
        return None, "punctuations and contracts of several rows are kept together"
    farthest, why = -1, "its streams have no columns of one type to be divided by"
    names = [stream.name for stream in job.streams]
    for columns in islice(product(*map(_candidates, job.streams)), _TRIED):
        key = dict(zip(names, columns, strict=True))
        if len({_encoding(stream, key[stream.name]) for stream in job.streams}) > 1:
            continue
        dividing = _Dividing(query, key)
        try:
            dividing.check()
        except _UndividedError as error:
            if len(dividing.places) > farthest:
                farthest, why = len(dividing.places), str(error)
            continue
        return key, ""
    return None, why


def _candidates(stream: Stream) -> list[str]:
    """Columns that are not the time, nor computed of it: all rows of a moment would be in one bucket."""
    of_time = {one.name for one in stream.derived if re.search(rf"\b{re.escape(stream.timestamp)}\b", one.expression)}
    return [name for name in stream.needs if name != stream.timestamp and name not in of_time]


def _encoding(stream: Stream, name: str) -> str:
    """How a column's values are encoded: equal ones are alike where that is the same."""
    types = {column.name: column.type for column in stream.columns}
    kind = (types | {column.name: column.type for column in stream.derived})[name]
    return "integer" if sql_type(kind).family == "integer" and not sql_type(kind).large else kind


@dataclass
class _Dividing:
    """The operators of a circuit for one key: the places of each one's columns that are the key of its rows."""

    query: PlannedCircuit
    key: Key
    places: dict[str, Places] = field(default_factory=dict)

    def check(self) -> None:
        """Raise _UndividedError where a state does not fall apart."""
        *_, last = self.query.circuit.operators
        for one in self.query.circuit.operators:
            if isinstance(one, ComputedRows) and one is not last:
                raise _UndividedError(f"the driver computes the rows of {one.name}, which others need")
            self.places[one.name] = self._of(one)

    def _of(self, one: EngineOperator) -> Places:
        match one:
            case SqlStreamJoin():
                return self._stream_join(one, self.query.plans[one.name])
            case _ if one.name in self.query.plans:
                return self._block(self.query.plans[one.name])
            case RowsOfStream() | ComputedRows():
                return frozenset()
            case SqlPick():
                columns = {f"c{place}" for place in self.places[one.input]}
                return frozenset(place for place, column in enumerate(one.picked) if column in columns)
            case SqlBucket():
                known = self.places[one.input]
                return frozenset(place for place, item in enumerate(one.items) if item in known)
            case SqlUnion():
                return self._same(one.inputs)
            case SqlGroup():
                same = self._same(one.inputs) & frozenset(range(len(one.keys)))
                return _some(same - frozenset(one.session or ()), one.name, "groups")
            case SqlCounts():
                return _some(self._same(one.inputs), one.name, "equal rows")
            case SqlOver() | SqlRunning():
                same = _some(self.places[one.input] & frozenset(one.partition), one.name, "partitions")
                return frozenset(place for place in same if place < one.width)
            case SqlJoin() | SqlAsOf():
                return self._join(one)
            case SqlJoinTree(inputs=inputs, parts=parts):
                self.places |= {str(number): self.places[name] for number, name in enumerate(inputs)}
                for part in parts:
                    self.places[part.name] = self._of(part)
                return self.places[parts[-1].name]
        raise _UndividedError(f"{one.name} is one")

    def _same(self, names: Sequence[str]) -> Places:
        return frozenset.intersection(*(self.places[name] for name in names))

    def _block(self, plan: Plan) -> Places:
        if not plan.branches:
            raise _UndividedError("it never has a row")
        return frozenset.intersection(*(self._branch(branch) for branch in plan.branches))

    def _branch(self, branch: BranchPlan) -> Places:
        first, *others = self._attributes(branch)
        if any(not _equal(branch, first, other) for other in others):
            raise _UndividedError("no equality spans all streams of a join")
        return frozenset(n for n, output in enumerate(branch.outputs) if _equal(branch, first, output.value))

    def _attributes(self, branch: BranchPlan) -> list[Attribute]:
        """The key of each stream of a branch."""
        streams = [source for source in branch.sources if source.kind is not Kind.RELATION]
        if not streams:
            raise _UndividedError("rows of relations alone come once")
        if any(source.table not in self.key for source in streams):
            raise _UndividedError("best values of a join are compared with each other")
        return [Attribute(source.alias, self.key[source.table]) for source in streams]

    def _stream_join(self, join: SqlStreamJoin, plan: Plan) -> Places:
        """A side that may be without a partner is known by its own column only: the other's is NULL then."""
        (branch,) = plan.branches
        self._branch(branch)
        keys = self._attributes(branch)
        alone = {"full": (join.left, join.right), "right": (join.right,)}.get(join.kind, (join.left,))
        return frozenset(
            place
            for place, output in enumerate(branch.outputs)
            if output.value in keys and all(side.padded[place] is not None for side in alone)
        )

    def _join(self, join: SqlJoin | SqlAsOf) -> Places:
        left, right = self.places[join.inputs[0]], self.places[join.inputs[1]]
        sides = {f"l{place}" for place in left}, {f"r{place}" for place in right}
        pairs = [{test.left, test.right} for test in join.tests if test.op == "==" and not test.offset]
        if not any(all(pair & side for side in sides) for pair in pairs):
            raise _UndividedError(f"partners of {join.name} do not agree in a column that their streams have")
        shown = sides[0] | (sides[1] if join.kind == "inner" else set())
        return frozenset(place for place, name in enumerate(join.shown) if name in shown)


def _some(places: Places, name: str, what: str) -> Places:
    if not places:
        raise _UndividedError(f"{what} of {name} do not agree in one column of each stream")
    return places


def _equal(branch: BranchPlan, one: Attribute, other: OutputValue) -> bool:
    closure = branch.facts.closure
    if one == other:
        return True
    return isinstance(other, Attribute) and {one, other} <= {*closure.nodes} and equal(closure, one, other)
