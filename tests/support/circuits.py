"""Circuits in this process: a statement beyond select-project-join, its job, and what that prints for some rows."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import inf
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
from msgspec.structs import replace

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.emission import Emission, EmitMode
from streambound.analyzer.expressions.values import derived_value
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.api import catalog_of
from streambound.criteria.check import Checked, check_source
from streambound.criteria.dataflow.judge import judge
from streambound.jobs import planned_circuit
from streambound.recheck.certificates.validate import Proof
from streambound.recheck.derivation.validate import proved as operators_proved
from streambound.recheck.periods.validate import seq_proved
from streambound.reports.outcome import outcome
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan_ir import JobPlan
from streambound.synopsis_exec.simulate import operator_of_circuit, replay, rows_as_delta
from streambound_runtime.engine.loop import Engine
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.operators.delta import Delta
from streambound_runtime.spec import JobSpec
from support.lifted import circuit_of, fed
from support.prefixes import recomputed
from support.profiles import MORE

Rows = Mapping[str, list[dict[str, Any]]]
Ticks = int | Sequence[int] | None
Printed = Counter[tuple[Any, ...]]
"""Values and the timestamp of each row, with its multiplicity."""

TWO_STREAMS: dict[str, Any] = {
    "streams": {
        name: {
            "timestamp": "ts",
            "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
            "domain": {"b": [0, 2]},
            "max_per_timestamp": 2,
        }
        for name in ("S", "T")
    }
}
"""S and T, alike, of which b has few values."""

INTEGERS = pa.schema([(name, pa.int64()) for name in ("a", "b", "v", "ts")])
SEEDS = 5
"""Random rows that are tried at most until something is printed."""


def checked_circuit(sql: str, catalog: Catalog | Mapping[str, Any]) -> Checked:
    """A statement, checked; several tests ask for the same one, so that it is remembered for a while."""
    if isinstance(catalog, Catalog):
        return check_source(SourceText("q.sql", sql), catalog)[0]
    return _checked(sql, json.dumps(catalog))


@lru_cache(maxsize=512)
def _checked(sql: str, catalog: str) -> Checked:
    return check_source(SourceText("q.sql", sql), catalog_of(json.loads(catalog)))[0]


def is_bounded(sql: str, catalog: Mapping[str, Any]) -> bool:
    """Whether a statement beyond joins is bounded, by the judge alone: no witness is searched for where it is not."""
    (statement,) = split_statements(SourceText("q.sql", sql))
    found = judge(statement, catalog_of(catalog))
    assert found is not None, "it means something"
    return found.entries is not None


def certificate_of(checked: Checked) -> dict[str, Any]:
    """The certificate of a bounded statement, as a report has it."""
    document = outcome(checked, frozenset({"certificate"})).certificate
    assert document is not None, "it is bounded"
    return dict(document)


def states_of(certificate: Any) -> list[dict[str, Any]]:
    """The states of all operators of a certificate, those of lower ones first."""
    if isinstance(certificate, list):
        return [state for one in certificate for state in states_of(one)]
    if "operation" in certificate:
        return states_of([certificate["operation"]])
    return [*states_of(certificate.get("inputs", [])), *certificate.get("states", [])]


def with_smaller_states(certificate: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The certificate with one entry less of one of its states that is not of a block's tables, of each in turn."""
    for place, state in enumerate(states_of(certificate)):
        if state["size"]["value"] and "count" in state:
            found = json.loads(json.dumps(certificate))
            fewer = state["size"]["value"] - 1
            states_of(found)[place]["size"].update(value=fewer, formula=str(fewer))
            yield found


def proof_of(checked: Checked, certificate: Mapping[str, Any]) -> Proof:
    """What `recheck` says of a certificate of a statement."""
    assert checked.catalog is not None
    proved = seq_proved if checked.blocks is not None else operators_proved
    return proved(checked.statement, checked.catalog, certificate)


@dataclass(frozen=True)
class CircuitRun:
    """What a run has printed, the entries after each timestamp, and the last timestamps of its ticks."""

    printed: Printed
    entries: tuple[tuple[int, int], ...]
    ends: tuple[int, ...] = ()

    @property
    def peak(self) -> int:
        """The most entries that there were between two ticks."""
        return self.peak_within(-inf, inf)

    def peak_within(self, start: float, end: float) -> int:
        """The most entries after a timestamp from ``start`` until before ``end``."""
        return max((number for time, number in self.entries if start <= time < end), default=0)

    def prints(self, changes: Mapping[tuple[Any, ...], int]) -> bool:
        """Whether it has printed in each tick what these changes of each timestamp add up to."""
        return by_tick(self.printed, self.ends) == by_tick(changes, self.ends)


def by_tick(printed: Mapping[tuple[Any, ...], int], ends: Sequence[int]) -> Printed:
    """Printed rows with the last timestamp of their tick as their time, without those that cancel out in it."""
    found = Printed()
    for (*row, time), n in printed.items():
        place = bisect_left(ends, time)
        found[(*row, ends[place] if place < len(ends) else time)] += n
    return Counter({row: n for row, n in found.items() if n})


def random_ends(times: Sequence[int], ticks: int = 4) -> list[int]:
    """The last timestamps of about so many ticks."""
    random = Random(repr(times))
    return sorted({*random.sample(times, min(ticks - 1, len(times))), *times[-1:]})


def circuit_plan(checked: Checked, final: bool = False) -> PlannedCircuit:
    """The plan of a bounded statement that is more than joins; of its ``final`` results, also where it asks for others.

    Raises NotExecutableError.
    """
    assert checked.catalog is not None
    statement = checked.statement
    if final:
        statement = replace(statement, emit=Emission(EmitMode.FINAL, statement.span))
    plan = planned_circuit(replace(checked, statement=statement), checked.catalog)
    assert plan is not None, "it is bounded, and more than joins"
    return plan


def run_circuit(checked: Checked, rows: Rows, final: bool = False, ticks: Ticks = 3) -> CircuitRun:
    """A bounded statement's circuit over rows of integers, without Spark (`run_plan`)."""
    return run_plan(circuit_plan(checked, final), rows, ticks)


def run_plan(plan: JobPlan, rows: Rows, ticks: Ticks = 3) -> CircuitRun:
    """A statement's job over rows of integers, without Spark.

    In random ticks, about so many, in those with these last timestamps, or, for None, in one a timestamp.
    """
    job = job_spec(plan)
    given = encoded_rows(plan, rows)
    found, entries = Printed(), list[tuple[int, int]]()
    relations = {relation.name: given[relation.name] for relation in (*job.relations, *plan.computed)}
    times = sorted({row[stream.timestamp] for stream in job.streams for row in given[stream.name]})
    ends = times if ticks is None else random_ends(times, ticks) if isinstance(ticks, int) else ticks
    for closed in replay(job, relations, {stream.name: given[stream.name] for stream in job.streams}, ends):
        entries.append((closed.timestamp, closed.entries))
        assert not closed.beyond
        for row, n in closed.results:
            found[(*map(rounded, row.values()), closed.timestamp)] += n
    return CircuitRun(Counter({row: n for row, n in found.items() if n}), tuple(entries), tuple(ends))


def encoded_rows(plan: JobPlan, rows: Rows) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table, and of each relation that is computed, with what is derived of them."""
    items = (*plan.inputs, *plan.computed)
    given = {item.name: [dict(row) for row in rows.get(item.name, ())] for item in items}
    for item in items:
        for row in given[item.name]:
            declared = {column.name: row.get(column.name) for column in item.declared}
            row.update(declared | {one.name: derived_value(one, item.declared, declared) for one in item.derived})
    return given


def expected(lines: list[dict[str, Any]]) -> Printed:
    """Rows of an expected output."""
    found = Printed()
    for line in lines:
        *values, time, n = line.values()
        found[(*map(rounded, values), time)] += n
    return found


def reference(sql: str, catalog: Mapping[str, Any], rows: Rows, ends: Sequence[int] | None = None) -> Printed:
    """What the reference evaluator says: the difference of every prefix of the rows of the streams that are read, or
    of those up to some timestamps.
    """
    read = {name: body for name, body in catalog["streams"].items() if re.search(rf"\b{name}\b", sql)}
    circuit = circuit_of(sql, catalog)
    times, given = fed({"streams": read}, rows)
    found = Printed()
    places = None if ends is None else {bisect_right(times, end) - 1 for end in ends}
    for time, change in zip(times, recomputed(circuit, given, places), strict=True):
        for row, n in change.items():
            found[(*map(rounded, row), int(time))] += n
    return found


def proved(sql: str, catalog: Mapping[str, Any]) -> tuple[Checked, int]:
    """A statement with its bound; asserts that it is bounded, and that `recheck` accepts its certificate."""
    checked = checked_circuit(sql, catalog)
    assert str(checked.verdict) == "bounded", [one.message for one in checked.diagnostics]
    assert proof_of(checked, certificate_of(checked)).faults == ()
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
    return checked, checked.circuit_bound.entries.value


def prints_as_duckdb(
    sql: str, catalog: Mapping[str, Any], number: int = 40, duck: str = "", every_prefix: bool = False
) -> None:
    """Assert that a proved job's changes of random rows add up to what DuckDB returns, within its bound.

    Rows are made until a job prints something. ``duck`` is the statement in DuckDB's words, where these differ;
    ``every_prefix`` asks the reference evaluator, too.
    """
    checked, most = proved(sql, catalog)
    printed = 0
    for seed in range(SEEDS * MORE):
        rows = random_rows(1, seed, number)
        found = run_circuit(checked, rows)
        if every_prefix:
            assert found.prints(reference(sql, catalog, rows, found.ends)), seed
        assert in_the_end(found.printed) == in_duckdb(duck or sql, rows), seed
        assert found.peak <= most
        printed += len(found.printed)
        if printed and seed + 1 >= MORE:
            return
    raise AssertionError("nothing is printed")


def random_rows(unit: int, seed: int, number: int = 40) -> dict[str, list[dict[str, Any]]]:
    """Rows of the streams S and T with a, b, v and ts, which is a multiple of a unit; at most two of each time."""
    random, found = Random(seed), dict[str, list[dict[str, Any]]]()
    for name in ("S", "T"):
        times = sorted(random.choices(range(30), k=number))
        kept = [time for place, time in enumerate(times) if place < 2 or times[place - 2] != time]
        found[name] = [
            {
                "a": random.choice([None, 1, 2, 3, 9]),
                "b": random.choice([None, 0, 1, 2]),
                "v": random.randint(-3, 4),
                "ts": time * unit,
            }
            for time in kept
        ]
    return found


def in_the_end(printed: Printed) -> Counter[tuple[Any, ...]]:
    """The rows that all changes together leave, without times."""
    total = Counter[tuple[Any, ...]]()
    for (*row, _), number in printed.items():
        total[tuple(row)] += number
    return Counter({row: number for row, number in total.items() if number})


def in_duckdb(sql: str, rows: Rows) -> Counter[tuple[Any, ...]]:
    """What DuckDB returns of rows of `random_rows`, all of them."""
    with duckdb.connect(config={"threads": 1}) as database:
        for name, given in rows.items():
            database.register(name, pa.Table.from_pylist(given, INTEGERS))
        found = database.execute(sql.replace(" DIV ", " // ")).fetchall()
        return Counter(tuple(map(rounded, row)) for row in found)


def rounded(value: Any) -> Any:
    """Floats to nine digits, exact numbers as floats, arrays as texts of JSON."""
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"))
    return round(float(value), 9) if isinstance(value, float | Fraction) else value


InOrder = list[tuple[int, int, tuple[Any, ...]]]
"""Printed rows in their order: when, how often, and their values."""


class Circuit:
    """A case's job, its relations' rows and its streams' by timestamp."""

    def __init__(self, case: dict[str, Any], tick: str = "timestamp") -> None:
        checked = checked_circuit(case["sql"], case["catalog"])
        plan = circuit_plan(checked, case["mode"] == "final")
        self.job: JobSpec = job_spec(plan, tick=tick)
        assert isinstance(self.job.plan, CircuitPlan)
        self.circuit = self.job.plan
        rows = encoded_rows(plan, case["input"])
        self.relations = {relation.name: rows[relation.name] for relation in self.job.relations}
        self.rows = {stream.name: rows[stream.name] for stream in self.job.streams}
        self.times = sorted({row[stream.timestamp] for stream in self.job.streams for row in self.rows[stream.name]})

    def operator(self) -> Engine:
        return operator_of_circuit(self.circuit, self.relations, self.job.streams)

    def delta(self, times: Sequence[int]) -> dict[str, Delta]:
        found = {}
        for stream in self.job.streams:
            rows = [row for row in self.rows[stream.name] if row[stream.timestamp] in times]
            rows.sort(key=lambda row, name=stream.timestamp: row[name])
            found[stream.name] = rows_as_delta([row[stream.timestamp] for row in rows], rows, stream)
        return found

    def cuts(self, ticks: int = 6) -> list[list[int]]:
        """The timestamps of about so many ticks."""
        ends = random_ends(self.times, ticks)
        return [[time for time in self.times if before < time <= end] for before, end in pairwise((-inf, *ends))]

    def run(self, cuts: Sequence[Sequence[int]], restart: bool) -> tuple[InOrder, int, int]:
        """What is printed, in its order, the most entries, and those that are left."""
        operator, printed, peak = self.operator(), InOrder(), 0
        for number, times in enumerate(cuts):
            found = operator.step(self.delta(times))
            printed += rows_of(found)
            peak = max(peak, operator.peak)
            until = cuts[number + 1][0] if number + 1 < len(cuts) else None
            printed += rows_of(operator.step({}, until, over=until is None))
            if restart:
                state = operator.dump()
                operator = self.operator()
                operator.load(state)
        return printed, peak, operator.entries()


def restarts_and_other_ticks_change_nothing(circuit: Circuit) -> None:
    """Assert that restarts change nothing, and other ticks only when something is printed."""
    whole = circuit.run(circuit.cuts(7), restart=False)
    assert len(whole[0]) > 3
    assert circuit.run(circuit.cuts(7), restart=True) == whole
    other = circuit.run(circuit.cuts(3), restart=True)
    assert (added_up(other[0]), other[2]) == (added_up(whole[0]), whole[2])


def added_up(printed: InOrder) -> Counter[tuple[Any, ...]]:
    """The rows that all changes together leave."""
    total = Counter[tuple[Any, ...]]()
    for _, n, row in printed:
        total[row] += n
    return Counter({row: n for row, n in total.items() if n})


def rows_of(delta: Delta) -> InOrder:
    return list(zip(delta.time.tolist(), map(int, delta.weights().tolist()), delta.rows(), strict=True))
