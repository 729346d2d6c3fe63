"""Runs the plan of a job, timestamp by timestamp, and evaluates the bound M on what it received."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.symbols import symbol, symbols_in
from streambound.criteria.bound import bound
from streambound.criteria.verdict import Decision
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.simulate import deltas_of, operator_of_circuit, tables_of
from streambound_runtime.engine.block import SqlBlock, state_name
from streambound_runtime.spec import JobSpec
from support.encoding import Rows, encode_rows


@dataclass(frozen=True)
class Run:
    """What a kernel printed at each timestamp, the entries it kept after each, and its own limit."""

    printed: dict[int, Counter[tuple[Any, ...]]]
    entries: dict[int, int]
    limit: int | None

    @property
    def peak(self) -> int:
        """The most entries."""
        return max(self.entries.values(), default=0)


def plan_of(decision: Decision, catalog: Mapping[str, Any]) -> Plan:
    """The plan of a decided query; raises NotExecutableError."""
    from streambound.synopsis_exec.plan import make_plan

    return make_plan(decision, catalog_from_mapping(catalog))


class Kernel:
    """What runs a job, over rows of one timestamp after the other."""

    def __init__(self, job: JobSpec, relations: Rows) -> None:
        self.job = job
        self.operator = operator_of_circuit(job.plan, relations, job.streams)
        self.limit, self.entries = self.operator.limit, self.operator.entries
        self.dump, self.load = self.operator.dump, self.operator.load

    def close(self, now: int, rows: Rows) -> list[tuple[tuple[Any, ...], int]]:
        """The results that become true at a timestamp, in order, each with its multiplicity."""
        found = self.tick([now], {now: rows})
        assert {time for time, _, _ in found} <= {now}
        results = ((values, times) for _, values, times in found)
        return sorted(results, key=lambda result: [(item is not None, item) for item in result[0]])

    def tick(self, times: list[int], rows: Mapping[int, Rows]) -> list[tuple[int, tuple[Any, ...], int]]:
        """The results that become true at some timestamps, each with its own and its multiplicity."""
        found = self.operator.step(deltas_of(self.job.streams, times, rows))
        return list(zip(found.time.tolist(), found.rows(), map(int, found.weights().tolist()), strict=True))

    def tables(self) -> dict[str, dict[tuple[Any, ...], int]]:
        """The entries of each table, by its name."""
        return tables_of(self.operator)

    def counted(self, table: str, n: int) -> None:
        """Let every entry of a table stand for so many rows."""
        import pyarrow as pa

        block, state = self.operator.plan.operators[0], self.dump()
        assert isinstance(block, SqlBlock)
        (name,) = (
            f"{block.name}: {state_name(number, place)}"
            for number, branch in enumerate(block.synopsis.branches)
            for place, one in enumerate(branch.tables)
            if one.name == table
        )
        entries = state[name]
        assert entries.num_rows
        counts = pa.array([n] * entries.num_rows, pa.decimal128(38, 0))
        self.load({**state, name: entries.set_column(entries.schema.get_field_index("n"), "n", counts)})


def synopsis_of(plan: Plan, relations: Rows) -> Kernel:
    """What runs a plan."""
    return Kernel(job_spec(plan), relations)


def run_kernel(decision: Decision, catalog: Mapping[str, Any], rows: Rows, together: int = 3) -> Run:
    """Feed a query's kernel the rows in timestamp order, so many timestamps in a tick, after which entries are counted.

    Raises NotExecutableError for what it cannot run.
    """
    encoded = encode_rows(catalog, rows)
    relations = {name: encoded.get(name, []) for name in catalog.get("relations", {})}
    synopsis = synopsis_of(plan_of(decision, catalog), relations)
    names = [output.name for output in decision.query.branches[0].outputs]
    by_time: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for stream, body in catalog.get("streams", {}).items():
        for row in encoded.get(stream, []):
            by_time.setdefault(row[body["timestamp"]], {}).setdefault(stream, []).append(row)
    printed = {now: Counter[tuple[Any, ...]]() for now in sorted(by_time)}
    entries, left = dict[int, int](), list(printed)
    while left:
        tick, left = left[:together], left[together:]
        for now, values, times in synopsis.tick(tick, by_time):
            assert len(values) == len(names)
            assert times > 0
            printed[now][values] += times
        entries[tick[-1]] = synopsis.entries()
    assert synopsis.entries() == sum(len(table) for table in synopsis.tables().values())
    return Run(printed, entries, synopsis.limit)


def formula_value(decision: Decision, catalog: Mapping[str, Any], rows: Rows) -> int | None:
    """M's formula with the actual ``c_S``, ``rows_R``, ``min_R_a`` and ``max_R_a``; None where there is none."""
    formula = decision.bound or bound(decision.derivation.split)
    if formula is None:
        return None
    known = actual_sizes(catalog, rows, ends_of(decision))
    text = formula.entries.text
    if not symbols_in(text) <= set(known):
        return None  # the extreme values of an empty relation, or of a finite stream that brings nothing
    return int(eval(text, {"__builtins__": {}}, {**known, "max": max, "min": min}))


def ends_of(decision: Decision) -> dict[str, int]:
    """The last timestamp of every stream that is finite in a query."""
    ends: dict[str, int] = {}
    for branch in decision.derivation.split.branches:
        for alias, end in Facts.of(branch).finite_streams.items():
            table = branch.source(alias).table
            ends[table] = max(end, ends.get(table, end))
    return ends


def actual_sizes(catalog: Mapping[str, Any], rows: Rows, ends: Mapping[str, int] | None = None) -> dict[str, int]:
    """The symbols of M and their values in some rows; ``ends`` says when finite streams end."""
    encoded = encode_rows(catalog, rows)
    known: dict[str, int] = {}
    for stream, body in catalog.get("streams", {}).items():
        mine, time = encoded.get(stream, []), body["timestamp"]
        times = Counter(row[time] for row in mine)
        known |= {symbol("rate", stream): body["max_rate"]["rows"]} if "max_rate" in body else {}
        known[symbol("c", stream)] = max(times.values(), default=0)
        if ends and stream in ends:
            known |= _extremes(stream, body["columns"], [row for row in mine if row[time] <= ends[stream]])
    for relation, body in catalog.get("relations", {}).items():
        mine = encoded.get(relation, [])
        known[symbol("rows", relation)] = len(mine)
        known |= _extremes(relation, body["columns"], mine)
    return known


def _extremes(table: str, columns: Iterable[str], rows: list[dict[str, Any]]) -> dict[str, int]:
    """The least and the greatest value of each column that has any."""
    found: dict[str, int] = {}
    for column in columns:
        values = [row[column] for row in rows if isinstance(row[column], int)]
        if values:
            found |= {symbol("min", table, column): min(values), symbol("max", table, column): max(values)}
    return found


def sizes_of(plan: Plan, relations: Rows, streams: Rows) -> dict[str, int]:
    """The symbols of M and their values in encoded rows."""
    known: dict[str, int] = {}
    for stream in plan.streams:
        time, names = str(stream.timestamp), [column.name for column in stream.declared]
        times = Counter(row[time] for row in streams[stream.name])
        known |= {symbol("rate", stream.name): stream.max_rate.rows} if stream.max_rate is not None else {}
        known[symbol("c", stream.name)] = max(times.values(), default=0)
        if (end := plan.ends.get(stream.name)) is not None:
            known |= _extremes(stream.name, names, [row for row in streams[stream.name] if row[time] <= end])
    for relation in plan.relations:
        rows = relations[relation.name]
        known[symbol("rows", relation.name)] = len(rows)
        known |= _extremes(relation.name, [column.name for column in relation.declared], rows)
    return known
