"""What a job computes of rows, in DuckDB's SQL beside Spark's, where both compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace

from streambound.analyzer.constants import BOOLEAN, kind_of
from streambound.analyzer.expressions.engine_sql import NotInEngine, engine_sql
from streambound.synopsis_exec.circuit_ir import Node, NodePlan
from streambound_runtime import spec
from streambound_runtime.operators.circuit_plan import MapNode, NamedTypes, PeriodNode
from streambound_runtime.operators.epochs.plan import EpochJoin, EpochMap, EpochPlan


def with_engine(job: spec.JobSpec) -> spec.JobSpec:
    """A job whose expressions have a text for DuckDB, if there is one."""
    return replace(
        job,
        streams=tuple(replace(table, derived=_derived(table)) for table in job.streams),
        relations=tuple(replace(table, derived=_derived(table)) for table in job.relations),
        computed=None if job.computed is None else _results(job.computed, job.columns),
    )


def nodes_with_engine(plan: NodePlan) -> NodePlan:
    """A circuit whose expressions have a text for DuckDB, if there is one."""
    return replace(plan, nodes=tuple(map(_node, plan.nodes)))


def _derived(table: spec.Stream | spec.Relation) -> tuple[spec.Derived, ...]:
    given = tuple((column.name, column.type) for column in table.columns)
    return tuple(
        replace(column, engine=_texts(given, [column.expression], [column.type])[0]) for column in table.derived
    )


def _node(node: Node) -> Node:
    match node:
        case MapNode() if node.picks is None:
            engine = _texts(node.given, node.expressions, [kind for _, kind in node.columns])
            return replace(node, engine=engine, engine_where=_condition(node.given, node.where))
        case PeriodNode(query=query):
            return replace(node, query=replace(query, plan=_epochs(query.plan)))  # type: ignore[arg-type]  # as it was
    return node


def _epochs(plan: EpochPlan) -> EpochPlan:
    """An operator of epochs, with all under it."""
    below = {field.name: getattr(plan, field.name) for field in fields(plan)}
    plan = replace(plan, **{name: _epochs(part) for name, part in below.items() if is_dataclass(part)})  # type: ignore[arg-type]
    match plan:
        case EpochMap() if plan.picks is None:
            engine = _texts(plan.given, plan.expressions, [kind for _, kind in plan.columns])
            return replace(plan, engine=engine, engine_where=_condition(plan.given, plan.where))
        case EpochJoin():
            return replace(plan, engine=_condition(plan.given, plan.condition))
    return plan


def _results(computed: spec.ResultColumns, columns: Sequence[spec.TableColumn]) -> spec.ResultColumns:
    given = tuple((column.name, column.type) for column in computed.columns)
    engine = _texts(given, computed.expressions, [column.type for column in columns])
    return replace(computed, engine=engine, engine_where=_condition(given, computed.where))


def _condition(given: NamedTypes, where: str) -> str:
    return _texts(given, [where], [BOOLEAN.name])[0] if where else ""


def _texts(given: NamedTypes, expressions: Sequence[str], kinds: Sequence[str]) -> tuple[str, ...]:
    """The text of each expression over columns of these types; empty where there is none."""
    columns = {name: kind_of(kind) for name, kind in given}
    found = (engine_sql(text, columns, kind_of(kind)) for text, kind in zip(expressions, kinds, strict=True))
    return tuple("" if isinstance(text, NotInEngine) else text for text in found)
