"""A random query's job, as the product compiles it, against DuckDB and the reference evaluator on prefixes of its rows.

The job's circuit runs in this process, by the operators of the runtime; what Spark computes of single rows in a job,
the analyzer's interpreter does here. Operators run in DuckDB, so that it is not asked alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any

import duckdb
import sqlglot

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import StreamboundError
from streambound.analyzer.expressions.function import NotKnown
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import split_statements
from streambound.analyzer.types import Family
from streambound.criteria.check import unproved
from streambound.criteria.dataflow.decision import JudgedOperators
from streambound.criteria.dataflow.final import never_final
from streambound.criteria.dataflow.result_key import result_key
from streambound.criteria.vocabulary import Verdict
from streambound.incremental.evaluate import SourceChange, evaluate, ticks
from streambound.incremental.pipeline import stages
from streambound.incremental.translation.views import Untranslatable
from streambound.jobs import planned_circuit
from streambound.recheck.oracle.reference import circuit_of
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.operations.plan import plan_of_operators
from streambound.synopsis_exec.plan_ir import Input
from streambound.synopsis_exec.simulate import relation_tables, replay
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.operators.formula import value
from support.choices import Choices
from support.circuits import encoded_rows, random_ends
from support.lifted import value_of
from support.operator_queries import (
    CHANGING,
    LAST,
    STATIC,
    coming_once,
    in_words_of,
    random_catalog,
    random_rows,
)
from support.window_queries import STARTS

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
Views = dict[int, Counter[tuple[Any, ...]]]
"""The result at each timestamp, of all rows up to it."""


class World:
    """A catalog, rows for it, and these in DuckDB, where each time has a schema with the rows up to there.

    They are views with the time as a constant: with a scalar subquery for it DuckDB 2.0 gives wrong results of NOT IN
    with a correlated subquery.
    """

    def __init__(self, choices: Choices) -> None:
        self.mapping = random_catalog(choices)
        self.catalog = catalog_from_mapping(self.mapping)
        self.rows = random_rows(choices, self.mapping)
        self.database = duckdb.connect(config={"threads": 1})
        self.database.execute("PRAGMA disable_optimizer")
        self.good = {name: coming_once(body, self.rows[name]) for name, body in self.mapping["streams"].items()}
        for name, body in self.mapping["streams"].items():
            self._table(f"{name}_rows", body["columns"], self.good[name])
        pair = {"a": "bigint", "b": "bigint"}
        self._table(STATIC, pair, self.rows[STATIC])
        self._table("versions", {**pair, "_from": "bigint", "_to": "bigint"}, list(self._versions()))
        for slide in STARTS:
            self.database.execute(f"CREATE TABLE starts_{slide} AS SELECT * FROM range(-12, 12, {slide}) AS r(s)")
        for time in range(1, LAST + 1):
            self._prefix(time)

    def _prefix(self, time: int) -> None:
        """A schema with what is there at a time."""
        views = {name: f"SELECT * FROM {name}_rows WHERE ts <= {time}" for name in self.mapping["streams"]}
        views[f"{CHANGING}_versions"] = f"SELECT * FROM versions WHERE _from <= {time}"
        views[CHANGING] = f"SELECT a, b FROM versions WHERE _from <= {time} AND (_to IS NULL OR {time} < _to)"
        made = (f"CREATE VIEW t{time}.{name} AS {view}" for name, view in views.items())
        self.database.execute("; ".join((f"CREATE SCHEMA t{time}", *made)))

    def __enter__(self) -> World:
        return self

    def __exit__(self, *failure: object) -> None:
        self.database.close()

    def _table(self, name: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> None:
        declared = ", ".join(f"{column} {'VARCHAR' if kind == 'string' else kind}" for column, kind in columns.items())
        self.database.execute(f"CREATE TABLE {name} ({declared})")
        if rows:
            one = f"({', '.join('?' for _ in columns)})"
            values = [row.get(column) for row in rows for column in columns]
            self.database.execute(f"INSERT INTO {name} VALUES {', '.join([one] * len(rows))}", values)

    def _versions(self) -> Iterator[dict[str, Any]]:
        """The rows of the relation that changes, each with the time from which on, and up to which, it is there."""
        key = self.mapping["relations"][CHANGING]["changes"].get("key")
        present: list[dict[str, Any]] = []
        for change in self.rows[CHANGING]:
            row = {"a": change["a"], "b": change["b"]}
            same = [one for one in present if one["a"] == row["a"] if key or one["b"] == row["b"]]
            if same and (key or change["op"] == "delete"):
                present.remove(same[0])
                if same[0]["_from"] < change["ts"]:
                    yield {**same[0], "_to": change["ts"]}
            if change["op"] == "insert":
                present.append({**row, "_from": change["ts"], "_to": None})
        yield from present

    def results(self, text: str, times: Sequence[int]) -> Views:
        """What DuckDB returns at each of some timestamps."""
        (statement,) = sqlglot.transpile(in_words_of(text, duckdb=True), read="spark", write="duckdb")
        found = {}
        for time in times:
            self.database.execute(f"SET search_path = 't{time},main'")
            found[time] = Counter(map(plain, self.database.execute(statement).fetchall()))
        self.database.execute("SET search_path = 'main'")
        return found

    def on_spark(self, spark: Any) -> None:
        """Let a Spark session have views of all rows."""
        for schema in (f"t{LAST}", "main"):
            for (name,) in self.database.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", [schema]
            ).fetchall():
                rows = self.database.sql(f"SELECT * FROM {schema}.{name}").to_arrow_table()
                spark.createDataFrame(rows).createOrReplaceTempView(name)

    def changes(self, text: str) -> Views | None:
        """What the reference evaluator says comes and goes at each time; None where it cannot execute the text."""
        try:
            circuit = circuit_of(_statement(text), self.catalog)
            times, given = ticks(self._sent(self._read(text)))
            *_, last = stages(circuit)
            each = zip(times, evaluate(last.circuit, given), strict=True)
        except (Untranslatable, NotKnown):
            return None
        kinds = [column.kind.family for column in circuit.schema]
        return {
            int(time): Counter({tuple(map(_shown, row, kinds)): number for row, number in change.items()})
            for time, change in each
        }

    def _sent(self, read: Collection[str]) -> Iterator[SourceChange]:
        """The rows of some tables as the evaluator takes them."""
        for name, body in self.mapping["streams"].items():
            for row in self.good[name] if name in read else ():
                values = (row.get(column) for column in body["columns"])
                yield SourceChange(name, tuple(map(value_of, values)), Fraction(row["ts"]))
        for row in self.rows[STATIC]:
            yield SourceChange(STATIC, (value_of(row["a"]), value_of(row["b"])), None)
        for row in self._versions() if CHANGING in read else ():
            ends = ((row["_from"], 1), *(((row["_to"], -1),) if row["_to"] is not None else ()))
            for time, weight in ends:
                yield SourceChange(CHANGING, (value_of(row["a"]), value_of(row["b"])), Fraction(time), weight)

    def _read(self, text: str) -> set[str]:
        """The tables that a text reads."""
        return set(re.findall(r"\b[A-Z]\b", in_words_of(text, duckdb=False)))

    def computed(self, relation: Input) -> list[dict[str, Any]]:
        """The rows of a relation that is computed of those that do not change."""
        (statement,) = sqlglot.transpile(relation.query, read="spark", write="duckdb")
        names = [column.name for column in relation.declared]
        return [dict(zip(names, row, strict=True)) for row in self.database.execute(statement).fetchall()]

    def times(self, text: str) -> list[int]:
        """The timestamps of the rows of what a text reads."""
        read = self._read(text)
        return sorted({row["ts"] for name, rows in self.rows.items() if name in read for row in rows if "ts" in row})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a query: ``refused`` by the product, in words, or how it ran.

    ``results`` is whether something was printed, ``retired`` whether entries went, ``retracted`` whether rows did.
    ``different`` names a difference, or entries above M. ``final`` results were compared, too, and it is ``evaluated``
    what the reference evaluator says. The ``last`` result is that of all rows.
    """

    refused: str = ""
    bounded: bool = False
    results: bool = False
    retired: bool = False
    retracted: bool = False
    different: str = ""
    final: bool = False
    evaluated: bool = False
    last: Counter[tuple[Any, ...]] = field(default_factory=Counter)


def outcome(world: World, text: str, tick: str = "timestamp") -> Outcome:
    """Compile a query, run it, and compare at each timestamp, or after each of a few ticks."""
    planned = plan_of(world, text)
    if isinstance(planned, str):
        return Outcome(planned)
    plan, bounded, final = planned
    try:
        rows = {**world.rows, **{one.name: world.computed(one) for one in plan.computed}}
    except (duckdb.Error, sqlglot.errors.SqlglotError):
        return Outcome("only Spark computes a relation of it")
    times = world.times(text) if tick == "timestamp" else random_ends(world.times(text), 6)
    try:
        views, entries, limit, retracted = run(plan, rows, times, tick)
    except NotKnown as error:
        return Outcome(f"only Spark knows {error}"[:60])
    try:
        wanted = world.results(text, times)
    except duckdb.BinderException as error:  # names that Spark can tell apart
        return Outcome(f"DuckDB: {str(error).splitlines()[0]}"[:60])
    different, changes = "", world.changes(text)
    totals, evaluated = _totals(views, times), {} if changes is None else _totals(changes, times)
    for oracle, wished in (("DuckDB", wanted), ("the evaluator", evaluated)):
        for end, view in wished.items():
            if totals[end] != view:
                different = different or f"at {end}: {oracle} {dict(view)}, the job {dict(totals[end])}"
    key = result_key(_statement(text), world.catalog)
    for end, view in wanted.items():
        if key and any(n > 1 for n in Counter(tuple(row[p] for p in key) for row in view.elements()).values()):
            different = different or f"at {end}: two rows agree in the columns {key}, {dict(view)}"
    if any(now > end for now in views for end in times[-1:]):
        different = different or f"something is printed after {times[-1]}"
    if bounded and limit is not None and max(entries, default=0) > limit:
        different = different or f"{max(entries)} entries, at most {limit} were to be"
    if final is not None:
        different = different or _wrong_in_the_end(final, rows, wanted[times[-1]] if times else Counter(), times, tick)
    retired = any(later < before for before, later in pairwise(entries))
    printed, last = any(views.values()), totals[times[-1]] if times else Counter[tuple[Any, ...]]()
    return Outcome("", bounded, printed, retired, retracted, different, final is not None, changes is not None, last)


def _totals(changes: Views, ends: Sequence[int]) -> Views:
    """What changes add up to at some times."""
    found: Views = {}
    total: Counter[tuple[Any, ...]] = Counter()
    for before, end in pairwise((-inf, *ends)):
        total = Counter(total)
        for rows in (rows for now, rows in changes.items() if before < now <= end):
            for row, number in rows.items():
                total[row] += number
        total = found[end] = Counter({row: number for row, number in total.items() if number})
    return found


def _wrong_in_the_end(
    plan: PlannedCircuit, rows: Rows, wanted: Counter[tuple[Any, ...]], ends: Sequence[int], tick: str
) -> str:
    """What is wrong with final results: each is of the last view, and none is taken back; or entries above M."""
    views, entries, limit, retracted = run(plan, rows, ends, tick)
    found = sum(views.values(), Counter[tuple[Any, ...]]())
    if retracted or found != wanted:
        return f"final: DuckDB {dict(wanted)}, the job {dict(found)}{', retracted' * retracted}"
    most = max(entries, default=0)
    return f"final: {most} entries, at most {limit} were to be" if limit is not None and most > limit else ""


def plan_of(world: World, text: str) -> tuple[PlannedCircuit, bool, PlannedCircuit | None] | str:
    """The job's plan, whether the query is bounded, and the plan of final results; why there is none."""
    statement = _statement(text)
    if lower(statement, world.catalog).query is not None:
        return "select-project-join"
    checked = unproved(statement, world.catalog)
    bounded, judged = checked.verdict is Verdict.BOUNDED, checked.circuit
    try:
        plan = planned_circuit(checked, world.catalog, unbounded=not bounded)
        if plan is None:
            return next((one.message for one in checked.diagnostics), "no plan")
        last = bounded and isinstance(judged, JudgedOperators) and never_final(judged.judgement) is None
        final = plan_of_operators(judged, statement, final=True) if last else None
        return plan, bounded, final
    except StreamboundError as error:
        return error.message


def _statement(text: str) -> Statement:
    (statement,) = split_statements(SourceText("random.sql", in_words_of(text, duckdb=False)))
    return statement


def run(plan: PlannedCircuit, rows: Rows, ends: Sequence[int], tick: str) -> tuple[Views, list[int], int | None, bool]:
    """The changes at each timestamp, the entries after each tick, M, and whether something was taken back."""
    job, given = job_spec(plan, tick=tick), encoded_rows(plan, {name: list(mine) for name, mine in rows.items()})
    relations = {relation.name: given[relation.name] for relation in job.relations}
    relations |= {one.name: given[one.name] for one in plan.computed}
    assert isinstance(job.plan, CircuitPlan)
    found: Views = {}
    entries, retracted = [], False
    for closed in replay(job, relations, {stream.name: given[stream.name] for stream in job.streams}, ends):
        entries.append(closed.entries)
        assert not closed.beyond
        now = found.setdefault(closed.timestamp, Counter())
        for row, number in closed.results:
            now[plain(tuple(row.values()))] += number
            retracted |= number < 0
    return found, entries, value(job.plan.bound, relation_tables(relations)), retracted


def _shown(value: Any, kind: Family) -> Any:
    return float(f"{float(value):.6g}") if kind is Family.FLOAT and value is not None else value


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row with doubles to six digits."""
    return tuple(float(f"{value:.6g}") if isinstance(value, float) else value for value in row)
