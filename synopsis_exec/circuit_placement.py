"""Whether the states of a circuit fall apart by a column of each stream, so that rows that agree may meet anywhere.

Of each node it is asked which columns of its rows always are that of the streams' rows that they were made of, the
*key*. An operator divides where rows that it has to compare agree in such a column: the groups of an aggregate, equal
rows of a set operation, partitions, partners of a join.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product

from streambound.analyzer.catalog import Kind
from streambound.analyzer.errors import UsageError
from streambound.analyzer.query import Attribute, OutputValue
from streambound.criteria.size import Size
from streambound.synopsis_exec import circuit_ir as nodes
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.placement import BUCKETS, LARGE, equal
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.operators.circuit_plan import BlockNode, MapNode
from streambound_runtime.spec import JobSpec, Stream

_TRIED = 4096
"""Choices of a column of each stream that are tried."""
Key = Mapping[str, str]
"""A column of each stream."""
Places = frozenset[int]


class _UndividedError(Exception):
    """A node whose state does not fall apart by a key."""


def placed(job: JobSpec, query: PlannedCircuit, forced: str | None) -> JobSpec:
    """A circuit's job with its placement; raises UsageError for a ``forced`` one that it cannot have."""
    entries = query.bound.entries
    much = query.bound.grows or entries.value is None or entries.value > LARGE
    key, why = _key(job, query) if (much or forced == "buckets") and forced != "driver" else (None, _size(entries))
    if forced == "stateless" or (forced == "buckets" and key is None):
        why = "its operators are more than joins" if forced == "stateless" else why
        raise UsageError(f"the query cannot be placed in {forced}: {why}", remedy="leave out --placement")
    if key is None or not (much or forced):
        return _in(job, "driver", "--placement says so" if forced else why)
    columns = tuple(key[stream.name] for stream in job.streams)
    because = f"what is remembered is apart by {', '.join(sorted({*columns}))}, and "
    because += "there is no M" if query.bound.grows else _size(entries)
    return _in(job, "buckets", "--placement says so" if forced else because, columns)


def _size(entries: Size) -> str:
    much = entries.value is None or entries.value > LARGE
    return f"M = {entries.text} may exceed {LARGE:,}" if much else f"M is at most {entries.value:,}"


def _in(job: JobSpec, where: str, because: str, key: tuple[str, ...] = ()) -> JobSpec:
    assert isinstance(job.plan, CircuitPlan), "this places circuits"
    buckets = BUCKETS if where == "buckets" else 0
    return replace(job, plan=replace(job.plan, placement=where, placed=because, key=key, buckets=buckets))


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
    """The nodes of a circuit for one key: the places of each one's columns that are the key of its rows."""

    query: PlannedCircuit
    key: Key
    places: dict[str, Places] = field(default_factory=dict)

    def check(self) -> None:
        """Raise _UndividedError where a state does not fall apart."""
        *_, last = self.query.circuit.nodes
        for node in self.query.circuit.nodes:
            if isinstance(node, MapNode) and node is not last and node.picks is None:
                raise _UndividedError(f"the driver computes the rows of {node.name}, which others need")
            self.places[node.name] = self._of(node)

    def _of(self, node: nodes.Node) -> Places:
        match node:
            case BlockNode():
                return self._block(self.query.plans[node.name])
            case nodes.PairNode():
                return self._pair(node, self.query.plans[node.name])
            case MapNode():
                known = self.places[node.input]
                return frozenset(number for number, place in enumerate(node.picks or ()) if place in known)
            case nodes.BucketNode():
                return self._bucket(node)
            case nodes.UnionNode():
                return frozenset.intersection(*(self.places[name] for name in node.inputs))
            case nodes.GroupNode():
                return self._group(node)
            case nodes.SetNode():
                sides = [self.places[name] for name in (node.left, node.right) if name is not None]
                return _some(frozenset.intersection(*sides), node.name, "equal rows")
            case nodes.OverNode():
                places = _some(self.places[node.input] & frozenset(node.partition), node.name, "partitions")
                return frozenset(place for place in places if place < node.width)
            case nodes.ViewJoinNode():
                return self._view_join(node)
        raise _UndividedError(f"{node.name} is one")

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

    def _pair(self, node: nodes.PairNode, plan: Plan) -> Places:
        """A side that may be without a partner is known by its own column only: the other's is NULL then."""
        (branch,) = plan.branches
        self._branch(branch)
        keys = self._attributes(branch)
        mine = [keys[side.scan] for side in (node.left, node.right)]
        kept = {"full": [], "right": mine[1:]}.get(node.kind, mine[:1])
        return frozenset(n for n, output in enumerate(branch.outputs) if output.value in kept)

    def _bucket(self, node: nodes.BucketNode) -> Places:
        known = self.places[node.input]
        used = {node.time, *(item for item in node.items if isinstance(item, int))}
        return frozenset(n for n, item in enumerate(node.items) if item in known) | frozenset(
            len(node.items) + place - sum(one < place for one in used) for place in known - used
        )

    def _group(self, node: nodes.GroupNode) -> Places:
        inputs = [self.places[node.rows], *(self.places[argument.block] for argument in node.arguments)]
        same = frozenset.intersection(*inputs) & frozenset(range(len(node.keys)))
        return _some(same - frozenset(node.session or ()), node.name, "groups")

    def _view_join(self, node: nodes.ViewJoinNode) -> Places:
        left, right = self.places[node.left], self.places[node.right]
        names = {node.left_columns[n] for n in left} | {node.right_columns[n] for n in right}
        pairs = [{test.left, test.right} for test in node.tests if test.op == "==" and not test.offset]
        sides = (frozenset(node.left_columns), frozenset(node.right_columns))
        if not any(pair <= names and all(pair & side for side in sides) for pair in pairs):
            raise _UndividedError(f"partners of {node.name} do not agree in a column that their streams have")
        shown = names if node.kind == "inner" else {node.left_columns[n] for n in left}
        return frozenset(n for n, name in enumerate(node.shown) if name in shown)


def _some(places: Places, node: str, what: str) -> Places:
    if not places:
        raise _UndividedError(f"{what} of {node} do not agree in one column of each stream")
    return places


def _equal(branch: BranchPlan, one: Attribute, other: OutputValue) -> bool:
    closure = branch.facts.closure
    if one == other:
        return True
    return isinstance(other, Attribute) and {one, other} <= {*closure.nodes} and equal(closure, one, other)
