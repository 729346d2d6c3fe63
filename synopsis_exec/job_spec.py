"""A query's job as the runtime runs it, `streambound_runtime.spec.JobSpec`, and what a saved state of it depends on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256

from streambound.analyzer.columns import Column
from streambound.analyzer.user_functions import UserFunction
from streambound.analyzer.version import __version__
from streambound.criteria.periods.parts import JudgedConditions, OfRelation
from streambound.synopsis_exec.asked_relations import asked_relations, over_views
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.declared_table import declared_table, sink_specs, tests_of
from streambound.synopsis_exec.engine_texts import with_engine
from streambound.synopsis_exec.placement import placement
from streambound.synopsis_exec.plan_ir import Input, JobPlan, Plan
from streambound.synopsis_exec.sql_blocks import circuit_of_joins
from streambound.synopsis_exec.useful import useful, uses
from streambound_runtime import spec
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.sql_types import spark_name
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.operators.formula import Members
from streambound_runtime.operators.plan import JudgedKeys, PartnerTest
from streambound_runtime.text import printed

BATCH, TIMESTAMP = "batch", "timestamp"
"""What a job does at a time, and prints the changes of: what a micro-batch closes, or a timestamp."""


def job_spec(plan: JobPlan, forced: str | None = None, tick: str = BATCH) -> spec.JobSpec:
    """The job of a bounded query; raises UsageError for a ``forced`` placement that it cannot have."""
    relations = {item.name.lower(): item.name for item in plan.relations}
    if isinstance(plan, PlannedCircuit):
        declared = partial(declared_table, relations=relations)
        tables = [_judged(declared(item), plan.judged.get(item.name, ())) for item in plan.inputs]
        runs = plan.circuit
    else:
        assert isinstance(plan, Plan), "there are no others"
        declared = partial(_declared, plan, relations)
        tables = [declared(item) for item in plan.inputs]
        runs = circuit_of_joins(plan)
    job = spec.JobSpec(
        plan.name,
        __version__,
        tuple(table for table in tables if isinstance(table, spec.Stream)),
        tuple(table for table in tables if isinstance(table, spec.Relation)),
        _columns(plan.columns),
        plan.time_type.name,
        replace(runs, by_timestamp=tick == TIMESTAMP),
        spec.Saved(plan.query_sha256, plan.contract_sha256, _states_sha256(plan, runs)),
        *sink_specs(plan.sink),
        tuple(_computed(item, declared(item), relations) for item in plan.computed),
        plan.quarantine,
    )
    job = replace(job, placement=placement(job, plan, forced), functions=tuple(_called(plan.functions, job)))
    return with_engine(job)


def upserting(job: spec.JobSpec, key: Sequence[str]) -> spec.JobSpec:
    """The job that returns the row of each key; its checkpoint is no other one's, as what went before is missing."""
    by = sha256(f"{job.saved.query} by {json.dumps([*key])}".encode()).hexdigest()
    return replace(job, key=tuple(key), saved=replace(job.saved, query=by))


def _called(functions: Iterable[UserFunction], job: spec.JobSpec) -> Iterator[spec.PythonFunction]:
    """The functions in Python that a job's expressions call, by names in backquotes."""
    text = repr(job).lower()
    for one in functions:
        if one.python and f"`{one.name}`(" in text:
            kinds = tuple(kind.name for kind in one.arguments)
            yield spec.PythonFunction(one.name, one.python, kinds, one.result.name)


def _declared(plan: Plan, relations: dict[str, str], item: Input) -> spec.Stream | spec.Relation:
    """A table, with which of its rows joins can use."""
    return declared_table(item, useful(item, plan), partial(uses, item, plan), relations)


def _judged(table: spec.Stream | spec.Relation, options: JudgedConditions) -> spec.Stream | spec.Relation:
    """A table with the conditions under which its rows are judged beside others; one without any means all rows."""
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


def _states_sha256(plan: JobPlan, runs: CircuitPlan) -> str:
    """A hash of the operators and of what they read: a state that was saved with another hash cannot be read."""
    items = (*plan.inputs, *plan.computed)
    derived = (f"{item.name}.{one.name}: {one.expression}, {one.type.name}" for item in items for one in item.derived)
    texts = (printed(runs.operators), *derived, *(item.query for item in plan.computed))
    return sha256("\n".join(texts).encode()).hexdigest()
