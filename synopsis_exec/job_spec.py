"""A query's job as the runtime runs it, `streambound_runtime.spec.JobSpec`, and what a saved state of it depends on."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from streambound.analyzer.columns import Column
from streambound.analyzer.endpoints import Target
from streambound.analyzer.version import __version__
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.periods.parts import JudgedConditions, OfRelation
from streambound.synopsis_exec.asked_relations import asked_relations, over_views
from streambound.synopsis_exec.circuit_placement import placed
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.declared_table import declared_table, tests_of
from streambound.synopsis_exec.engine_texts import circuit_with_engine, with_engine
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.sql_blocks import circuit_of_block, types_of
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from streambound.synopsis_exec.useful import useful, uses
from streambound_runtime import spec
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.sql_types import spark_name
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.engine.tables import engine_type
from streambound_runtime.operators.formula import Members
from streambound_runtime.operators.plan import JudgedKeys, PartnerTest, SynopsisPlan
from streambound_runtime.text import printed

BATCH, TIMESTAMP = "batch", "timestamp"
"""What a circuit does at a time, and prints the changes of: what a micro-batch closes, or a timestamp."""


def job_spec(plan: Plan | PlannedCircuit, forced: str | None = None, tick: str = BATCH) -> spec.JobSpec:
    """The job of a bounded query; raises UsageError for a ``forced`` placement that it cannot have."""
    return with_engine(
        _circuit_job(plan, forced, tick) if isinstance(plan, PlannedCircuit) else _synopsis_job(plan, forced)
    )


def _synopsis_job(plan: Plan, forced: str | None) -> spec.JobSpec:
    relations = {item.name.lower(): item.name for item in plan.relations}

    def declared(item: Input) -> spec.Stream | spec.Relation:
        return declared_table(item, useful(item, plan), partial(uses, item, plan), relations)

    tables = list(map(declared, plan.inputs))
    queries = tuple(_computed(item, declared(item), relations) for item in plan.computed)
    return spec.JobSpec(
        plan.name,
        __version__,
        tuple(table for table in tables if isinstance(table, spec.Stream)),
        tuple(table for table in tables if isinstance(table, spec.Relation)),
        _columns(plan.columns),
        plan.time_type.name,
        _operator(plan, forced),
        spec.Saved(plan.query_sha256, plan.contract_sha256, layout_sha256(plan)),
        _sink(plan),
        _target(plan.sink.quarantine) if plan.sink is not None and plan.sink.quarantine is not None else None,
        None if plan.kept is None else spec.ResultColumns(_columns(plan.kept.columns), plan.kept.expressions),
        queries,
        plan.quarantine,
    )


def _operator(plan: Plan, forced: str | None) -> SynopsisPlan | CircuitPlan:
    """The columnar kernel's plan; where it does not run the query, a circuit of one operator."""
    synopsis = synopsis_plan(plan, forced)
    if synopsis.kernel == "columns":
        return synopsis
    types = tuple(engine_type(column.type.name) for column in plan.kept_columns)
    return circuit_of_block(synopsis, types, types_of((*plan.inputs, *plan.computed)))


def _circuit_job(plan: PlannedCircuit, forced: str | None, tick: str) -> spec.JobSpec:
    relations = {item.name.lower(): item.name for item in plan.relations}
    tables = [_judged(declared_table(one, relations=relations), plan.judged.get(one.name, ())) for one in plan.inputs]
    queries = tuple(_computed(i, declared_table(i, relations=relations), relations) for i in plan.computed)
    circuit = replace(circuit_with_engine(plan.circuit), by_timestamp=tick == TIMESTAMP)
    layout = "\n".join((printed(circuit.operators), *(item.query for item in plan.computed)))
    job = spec.JobSpec(
        plan.name,
        __version__,
        tuple(table for table in tables if isinstance(table, spec.Stream)),
        tuple(table for table in tables if isinstance(table, spec.Relation)),
        _columns(plan.columns),
        plan.time_type.name,
        circuit,
        spec.Saved(plan.query_sha256, plan.contract_sha256, sha256(layout.encode()).hexdigest()),
        _sink(plan),
        _target(plan.sink.quarantine) if plan.sink is not None and plan.sink.quarantine is not None else None,
        queries=queries,
        quarantine_limit=plan.quarantine,
    )
    return placed(job, plan, forced)


def _judged(table: spec.Stream | spec.Relation, options: JudgedConditions) -> spec.Stream | spec.Relation:
    """A table of whose rows some are judged beside others: those that satisfy one of the options; all for none."""
    if () in options or not isinstance(table, spec.Stream):
        return table
    found = []
    for atoms in options:
        (tests,) = tests_of([tuple(one for one in atoms if not isinstance(one, OfRelation))])
        partners = (one for one in atoms if isinstance(one, OfRelation))
        found.append(JudgedKeys(tests, tuple(_partner_test(one) for one in partners)))
    return replace(table, judged=tuple(dict.fromkeys(found)))


def _partner_test(one: OfRelation) -> PartnerTest:
    own, theirs = zip(*one.columns, strict=True)
    return PartnerTest(own, Members(one.relation, theirs))


def _computed(item: Input, table: spec.Stream | spec.Relation, relations: dict[str, str]) -> spec.RelationQuery:
    assert isinstance(table, spec.Relation)
    asks = tuple(relations[name] for name in asked_relations(item.query))
    names = ", ".join(quoted(column.name) for column in item.declared)
    cast = ", ".join(f"CAST({n} AS {spark_name(c.type.name)}) AS {n}" for c in item.declared if (n := quoted(c.name)))
    return spec.RelationQuery(table, f"SELECT {cast} FROM ({over_views(item.query, relations)}) AS q({names})", asks)


def _columns(columns: tuple[Column, ...]) -> tuple[spec.TableColumn, ...]:
    return tuple(spec.TableColumn(column.name, column.type.name) for column in columns)


def _sink(plan: Plan | PlannedCircuit) -> spec.SinkSpec | None:
    if plan.sink is None:
        return None
    if plan.sink.call:
        return spec.SinkSpec(call=plan.sink.call)
    return None if plan.sink.target is None else _target(plan.sink.target)


def _target(target: Target) -> spec.SinkSpec:
    return spec.SinkSpec(target.format, target.path, target.options)


_LAYOUT = ("name", "streams", "relations", "stored", "ages", "deadline")


def layout_sha256(plan: Plan) -> str:
    """A hash of what the tables store, in which order: a state saved with another one means something else."""
    found: dict[str, Any] = to_json(certificate(plan.bound, plan.distinct))
    layout = [[table[key] for key in _LAYOUT] for branch in found["branches"] for table in branch["tables"]]
    said: list[Any] = [plan.distinct, layout]
    items = (*plan.inputs, *plan.computed)
    if derived := [[item.name, c.name, c.expression, c.type.name] for item in items for c in item.derived]:
        said.append(derived)
    if plan.computed:
        said.append([[item.name, item.query] for item in plan.computed])
    return sha256(json.dumps(said).encode()).hexdigest()
