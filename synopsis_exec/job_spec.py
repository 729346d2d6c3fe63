"""A query's job as the runtime runs it: `streambound_runtime.spec.Job`."""

from __future__ import annotations

from functools import partial

from streambound.analyzer.columns import Column
from streambound.analyzer.endpoints import Target
from streambound.analyzer.version import __version__
from streambound.synopsis_exec.declared_table import declared_table
from streambound.synopsis_exec.layout import layout_sha256
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from streambound.synopsis_exec.useful import useful, uses
from streambound_runtime import spec


def job_spec(plan: Plan, forced: str | None = None) -> spec.Job:
    """The job of a bounded query; raises UsageError for a ``forced`` placement that it cannot have."""
    relations = {item.name.lower(): item.name for item in plan.relations}
    tables = [declared_table(item, useful(item, plan), partial(uses, item, plan), relations) for item in plan.inputs]
    return spec.Job(
        plan.name,
        __version__,
        tuple(table for table in tables if isinstance(table, spec.Stream)),
        tuple(table for table in tables if isinstance(table, spec.Relation)),
        _columns(plan.columns),
        plan.time_type.name,
        synopsis_plan(plan, forced),
        spec.Saved(plan.query_sha256, plan.contract_sha256, layout_sha256(plan)),
        _sink(plan),
        _target(plan.sink.quarantine) if plan.sink is not None and plan.sink.quarantine is not None else None,
        None if plan.kept is None else spec.Computed(_columns(plan.kept.columns), plan.kept.expressions),
    )


def _columns(columns: tuple[Column, ...]) -> tuple[spec.Column, ...]:
    return tuple(spec.Column(column.name, column.type.name) for column in columns)


def _sink(plan: Plan) -> spec.Sink | None:
    if plan.sink is None:
        return None
    if plan.sink.call:
        return spec.Sink(call=plan.sink.call)
    return None if plan.sink.target is None else _target(plan.sink.target)


def _target(target: Target) -> spec.Sink:
    return spec.Sink(target.format, target.path, target.options)
