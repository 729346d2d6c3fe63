"""The plan of a query beyond select-project-join: its decided operators as nodes of a circuit that a job runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any

from streambound.analyzer.algebra.valid_rows import read_as_of
from streambound.analyzer.columns import Column
from streambound.analyzer.statement import Statement
from streambound.analyzer.symbols import symbol
from streambound.criteria.dataflow.state import Combinations, Operation
from streambound.criteria.judged import CircuitBound
from streambound.criteria.periods.parts import JudgedConditions
from streambound.criteria.rows_apart import kept_apart
from streambound.criteria.size import Size
from streambound.synopsis_exec.declared_table import told
from streambound.synopsis_exec.kept_results import check_columns, refused
from streambound.synopsis_exec.made_operators import MadeOperators, keys_of
from streambound.synopsis_exec.period_contracts import contracts_as_of, judged_by
from streambound.synopsis_exec.plan_ir import Input, JobPlan, Plan
from streambound.synopsis_exec.sql_blocks import types_of
from streambound.synopsis_exec.synopsis_plan import as_formula, quantities
from streambound_runtime.engine.block import SqlBlock, state_name
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.group import SqlGroup
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.engine.plan import (
    CircuitPlan,
    ComputedRows,
    EndedKeyRows,
    EngineOperator,
    NativeNode,
    StateBound,
    states_of,
)
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.engine.tables import engine_type
from streambound_runtime.operators import circuit_plan, formula
from streambound_runtime.promises import PeriodContract


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCircuit(JobPlan):
    """The plan of a circuit, of which ``blocks`` are the joins; ``plans`` are those of the operators, by name.

    ``empty`` says that it is decided that there never is a result.
    """

    blocks: tuple[Plan, ...] = ()
    circuit: CircuitPlan
    bound: CircuitBound
    judged: Mapping[str, JudgedConditions] = field(default_factory=dict)
    plans: Mapping[str, Plan] = field(default_factory=dict)
    empty: bool = False

    @property
    def final(self) -> bool:
        """As its circuit."""
        return self.circuit.final

    @property
    def watched(self) -> tuple[circuit_plan.EndedKeysNode, ...]:
        """Those of its circuit."""
        return self.circuit.watched

    @property
    def changing(self) -> list[circuit_plan.ChangesNode]:
        """Those of its circuit."""
        nodes = [one.node for one in self.circuit.operators if isinstance(one, NativeNode)]
        return [node for node in nodes if isinstance(node, circuit_plan.ChangesNode)]

    @property
    def closing(self) -> list[circuit_plan.TimeBucket]:
        """Those of its groups and sets."""
        buckets = [one.bucket for one in self.circuit.operators if isinstance(one, SqlGroup | SqlCounts)]
        return [bucket for bucket in buckets if bucket is not None]

    @property
    def periods(self) -> dict[str, PeriodContract]:
        """Those of its inputs."""
        judged = {} if self.circuit.timed else {item.name: item.period for item in self.inputs}
        return {name: period for name, period in judged.items() if period is not None}


def plan_of(
    made: MadeOperators,
    columns: tuple[Column, ...],
    bound: CircuitBound,
    statement: Statement,
    clocks: Sequence[str],
    added: tuple[str, ...],
    retracts: bool,
    final: bool,
) -> PlannedCircuit:
    """The plan of operators whose results have these columns, and those that are ``added``."""
    blocks, catalog = tuple(made.blocks), made.catalog
    read = [*(item for block in blocks for item in block.inputs), *made.changing, *made.standing]
    inputs = tuple(map(made.watched, inputs_of([*read, *made.marking(read, clocks)])))
    known = known_sizes(blocks) | {symbol("rows", name): formula.RowCount(name) for name in made.relations}
    file, line, sink = statement.source.file, statement.span.line, catalog.sink(statement.name)
    if "_ts" in added and not any(item.timestamp is not None for item in inputs):
        what = "it reads no stream: its rows have no application time"
        raise refused(statement.name, what, "run it as a batch query", file, line)
    check_columns(statement.name, columns, sink, file, line, added)
    watched = tuple(node for item in inputs if item.ends_keys for node in watching(item, inputs))
    operators = shared((*(_ended(keys, inputs) for keys in watched), *made.made.values()))
    circuit = CircuitPlan(
        tuple(column.name for column in columns),
        as_formula(bound.entries, known),
        operators,
        final=final,
        most=catalog.counters.most,
        retracts=retracts,
        watched=watched,
        timed="_ts" in added,
        counted="_mult" in added,
        kept=() if bound.grows else tuple(one for operator in operators for one in bounds_of(operator, made, known)),
    )
    assert statement.tree is not None, "what was decided has been parsed"
    contracts = contracts_as_of(read_as_of(statement.tree, catalog), catalog)
    return PlannedCircuit(
        name=statement.name,
        sql=statement.sql,
        query_sha256=sha256(statement.sql.encode()).hexdigest(),
        contract_sha256=sha256("".join(sorted({block.contract_sha256 for block in blocks})).encode()).hexdigest(),
        columns=columns,
        inputs=tuple(judged_by(item, contracts.get(item.name)) for item in inputs),
        blocks=blocks,
        circuit=circuit,
        bound=bound,
        computed=inputs_of([*(item for block in blocks for item in block.computed), *made.computed]),
        sink=sink,
        plans=made.plans,
        quarantine=catalog.quarantine,
        functions=catalog.functions,
    )


def _ended(keys: circuit_plan.EndedKeysNode, inputs: Iterable[Input]) -> EndedKeyRows:
    """The keys that a stream's punctuations end, as rows."""
    of = keys.records[0]
    kinds = types_of(inputs)[of.stream]
    return EndedKeyRows(keys.name, tuple(engine_type(kinds[name]) for name in of.attributes))


def inputs_of(inputs: Sequence[Input]) -> tuple[Input, ...]:
    """The inputs of some blocks and relations, each once, with the columns that any of them needs."""
    found: dict[str, Input] = {}
    for item in inputs:
        known = found.get(item.name)
        columns = {column.name: column for column in (*(known.columns if known else ()), *item.columns)}
        found[item.name] = replace(item, columns=tuple(columns.values()))
    return tuple(found.values())


def watching(item: Input, inputs: Sequence[Input]) -> tuple[circuit_plan.EndedKeysNode, ...]:
    """The promises of a stream whose punctuations a circuit uses, each with its keys in all streams that it reads."""
    return tuple(
        circuit_plan.EndedKeysNode(
            keys_of(item.name, one.attributes),
            tuple(
                circuit_plan.KeyRecords(name, p.attributes, p.column, told(p.value), p.since)
                for name, attributes in ((item.name, one.attributes), *one.together)
                for p in next(other for other in inputs if other.name == name).punctuations
                if p.attributes == attributes
            ),
            one.max_open,
            members_of(item.name, one.attributes, inputs),
        )
        for one in item.punctuations
    )


def members_of(stream: str, attributes: Sequence[str], inputs: Sequence[Input]) -> tuple[circuit_plan.KeyMember, ...]:
    """The streams that have a key which punctuations of a stream end."""
    keys = [(one.name, key) for one in inputs for key in one.ending if key.stream == stream]
    return tuple(
        circuit_plan.KeyMember(name, key.attributes, key.once) for name, key in keys if key.marked == tuple(attributes)
    )


def known_sizes(plans: Sequence[Plan]) -> dict[str, formula.Formula]:
    """The formulas of the symbols in some blocks' sizes."""
    return {name: size for plan in plans for name, size in quantities(plan).items()}


_READ = ("input", "inputs", "keys")
"""The fields in which operators name what they read."""


def shared(operators: Sequence[EngineOperator]) -> tuple[EngineOperator, ...]:
    """Operators in order, without those that are earlier ones but for their names.

    The last one stays, and those that operators which are no SQL call by their names.
    """
    called = {name for one in operators if isinstance(one, NativeNode) for name in one.inputs}
    found: dict[EngineOperator, str] = {}
    names: dict[str, str] = {}
    kept = list[EngineOperator]()
    *others, last = operators
    for operator in others:
        mine = _reading(operator, names)
        alike = _unnamed(mine)
        if alike in found and operator.name not in called:
            names[operator.name] = found[alike]
        else:
            found.setdefault(alike, operator.name)
            kept.append(mine)
    return (*kept, _reading(last, names))


def _unnamed(operator: EngineOperator) -> EngineOperator:
    """An operator without its name."""
    match operator:
        case NativeNode() | ComputedRows():
            return operator
        case SqlBlock(synopsis=synopsis):
            return replace(operator, synopsis=replace(synopsis, name=""))
    return replace(operator, name="")


def _reading(operator: EngineOperator, names: Mapping[str, str]) -> EngineOperator:
    """An operator that calls what it reads by the names that it has now."""
    if isinstance(operator, NativeNode):
        return operator
    if isinstance(operator, ComputedRows):
        return replace(operator, node=_renamed(operator.node, names))
    found: EngineOperator = _renamed(operator, names)
    return found


def _renamed(reader: Any, names: Mapping[str, str]) -> Any:
    read = {field.name: getattr(reader, field.name) for field in fields(reader) if field.name in _READ}
    new = {
        name: names.get(value, value) if isinstance(value, str) else tuple(names.get(one, one) for one in value)
        for name, value in read.items()
    }
    return reader if new == read else replace(reader, **new)


def bounds_of(operator: EngineOperator, made: MadeOperators, known: dict[str, formula.Formula]) -> Iterator[StateBound]:
    """The bounds of the tables of an operator, by the plan of a block or by the judgement."""
    if isinstance(operator, SqlBlock):
        if (plan := made.plans.get(operator.name)) is not None:
            yield from _of_block(operator, plan, known)
        return
    operation = made.made_of_operation.get(operator.name)
    if operation is None or operation.each_key is not None:  # of each key there is an own number
        return
    if isinstance(operator, SqlStreamJoin):
        yield from _of_streams(operator, operation, known)
        return
    if isinstance(operator, SqlJoinTree):
        rows, *relations = operation.states
        why = None if rows.count is None else rows.count.why
        streams = iter(why.sources if isinstance(why, Combinations) else ())
        others = iter(relations)
        for table, leaf in zip(operator.states, operation.leaves(), strict=True):
            size = next(others).size if leaf.rows is None else next(streams).size
            if size is not None:
                yield _bound(operator, table.name, size, "E1" if leaf.rows is None else rows.proposition, known)
        return
    names = [table.name for table in states_of(operator)]
    told = [state for state in operation.states if state.what != "table" and state.count is not None]
    values = [state for state in told if state.what == "values"]
    by_name = {state.what: state for state in told if state.what != "values"}
    numbered = [name for name in names if name.removeprefix("values").isdecimal()]
    if len(values) == len(numbered):
        by_name |= dict(zip(numbered, values, strict=True))
    if len(names) == 1:
        of_one = [name for name, one in made.made_of_operation.items() if one is operation]
        keeping = [name for name in of_one if states_of(made.made[name])]
        if len(keeping) == len(told):  # each window of several has an operator of its own
            by_name = {names[0]: told[keeping.index(operator.name)]}
    for name in names:
        state = by_name.get(name)
        if state is not None and state.size is not None:
            yield _bound(operator, name, state.size, state.proposition, known)


def _bound(
    operator: EngineOperator, table: str, size: Size, proposition: str, known: dict[str, formula.Formula]
) -> StateBound:
    words = f"at most {size.text}, by {proposition}"
    return StateBound(operator.name, table, as_formula(size, known), words)


def _of_streams(join: SqlStreamJoin, operation: Operation, known: dict[str, formula.Formula]) -> Iterator[StateBound]:
    """The rows of both sides of a join of two streams, as many as the inner join's tables have."""
    sizes = operation.rows.sizes if operation.rows is not None else None
    tables = {} if sizes is None else {one.table: one.size for one in sizes.tables}
    for name, side in (("left", join.left), ("right", join.right)):
        size = None if side.table is None else tables.get(side.table.name)
        if size is not None:
            yield _bound(join, name, size, operation.states[0].proposition, known)


def _of_block(operator: SqlBlock, plan: Plan, known: dict[str, formula.Formula]) -> Iterator[StateBound]:
    """How many entries a block's tables have at most, or how many rows of each stream, where these are kept apart."""
    apart = kept_apart(plan.bound)
    sizes = {one.table: one.size for one in plan.bound.tables} if apart is None else {}
    sizes |= {name: rows.size for name, rows in (apart or {}).items()}
    for number, branch in enumerate(operator.synopsis.branches):
        for place, table in enumerate(branch.tables):
            if (size := sizes.get(table.name)) is not None:
                words = f"at most {size.text} {'entries' if apart is None else 'rows'} of {table.name}, by Lemma 1"
                yield StateBound(operator.name, state_name(number, place), as_formula(size, known), words)
