"""The statements of a tick: what `explain --emit sql` prints of a query that runs on the engine."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import sqlglot

from streambound.synopsis_exec.job_file import CompiledJob
from streambound.synopsis_exec.plan_text import kept_in_words
from streambound_runtime.engine.plan import (
    EngineOperator,
    NativeNode,
    OtherOperator,
    delta_columns,
    states_of,
    tables_of,
)
from streambound_runtime.engine.session import declared, statement
from streambound_runtime.engine.tables import TickTables

_HEAD = """\
-- A tick of {name}, in DuckDB: the operators in turn, each with what it keeps and what it runs.
-- delta_N are the rows of operator N that have come (w > 0) or gone (w < 0), in a tick, and t is their time.
-- The variables `last` and `closed` are the last timestamp with a row, and the one up to which no row can come."""


def tick_text(compiled: CompiledJob) -> str:
    """The operators of a job, the tables that they keep, and the statements that they run in each tick."""
    tree = compiled.job.plan
    kept = [f"-- It keeps {sentence}." for sentence in kept_in_words(compiled.plan)]
    head = "\n".join([_HEAD.format(name=compiled.name), *kept])
    tables = tables_of(tree)
    limits = {(one.operator, one.state): one.words for one in tree.kept}
    return "\n\n".join([head, *(_operator(one, tables[one.name], limits) for one in tree.every)])


def _operator(one: EngineOperator, at: TickTables, limits: Mapping[tuple[str, str], str]) -> str:
    read = f", of {', '.join(at.inputs)}" if at.inputs else ""
    lines = [f"-- {at.delta}: {one.name}{read}"]
    what = inspect.getdoc(one.node if isinstance(one, NativeNode) else one) or ""
    lines.append(f"-- {what.splitlines()[0]}")
    if isinstance(one, OtherOperator):
        return "\n".join([*lines, f"CREATE TEMP TABLE {at.delta} ({declared(delta_columns(one))});"])
    for state in states_of(one):
        said = [limits[one.name, state.name]] if (one.name, state.name) in limits else []
        said += [f"an entry goes when {state.expired}"] if state.expired else []
        comment = f"  -- {'; '.join(said)}" if said else ""
        lines.append(f"CREATE TABLE {at.state(state.name)} ({declared(state.columns)});{comment}")
    lines += [f"{_pretty(statement(step).sql)};" for step in one.tick(at)]
    return "\n".join(lines)


def _pretty(sql: str) -> str:
    return sqlglot.parse_one(sql, dialect="duckdb").sql("duckdb", pretty=True)
