"""The punctuations that a job writes beside its results, where the catalog's sink asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.errors import UsageError
from streambound.analyzer.statement import Statement
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.passed_keys import passed_keys
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.declared_table import told
from streambound.synopsis_exec.job_file import CompiledJob, compiled
from streambound.synopsis_exec.kept_results import ADDED, check_columns, refused
from streambound.synopsis_exec.made_operators import keys_of
from streambound.synopsis_exec.plan_ir import Input, JobPlan
from streambound_runtime import spec
from streambound_runtime.engine.group import SqlGroup
from streambound_runtime.engine.plan import CircuitPlan
from streambound_runtime.engine.stream_join import SqlStreamJoin
from streambound_runtime.operators.circuit_plan import EndedKeysNode, KeyRecords
from streambound_runtime.results import punctuation_types


def compiled_with_punctuations(
    plan: JobPlan,
    statement: Statement,
    catalog: Catalog,
    judgement: Judgement | None,
    forced: str | None,
    tick: str,
) -> CompiledJob:
    """The job of a bounded query that also writes punctuations, all in order, so that it is on the driver.

    Keys that nothing is kept by are passed on without a memory of them. Raises NotExecutableError for results without
    a time of their own, UsageError for another placement.
    """
    file, line = statement.source.file, statement.span.line
    if statement.upserts or (isinstance(plan, PlannedCircuit) and not plan.circuit.timed):
        what = "its sink takes punctuations, which upserts and rows with periods have none of"
        raise refused(statement.name, what, "leave punctuations out of the sink", file, line)
    if forced not in (None, "driver"):
        what = f"the query cannot be placed in {forced}: punctuations come after the rows they are about"
        raise UsageError(what, remedy="leave out --placement")
    final = statement.other_mode is not None
    passing, keys = list[EndedKeysNode](), list[spec.KeyColumns]()
    for key, places in passed_keys(judgement, final) if judgement is not None else ():
        name, columns = keys_of(key.stream, key.marked), tuple(plan.columns[place].name for place in places)
        if columns in [one.columns for one in keys]:
            continue
        node = next((one for one in plan.watched if one.name == name), None)
        if node is None and (node := _passed_on(key, catalog, plan.inputs)) is not None:
            passing.append(node)
        if node is not None:
            keys.append(spec.KeyColumns(name, columns, f"_from_{columns[-1]}" if node.records[0].since else ""))
    plan = replace(plan, inputs=tuple(_marked(one, passing) for one in plan.inputs))
    job = compiled(plan, "driver", tick)
    behind = _behind(job.job.plan) if final else 0
    written = spec.Punctuations(tuple(keys), behind)
    place = spec.Placement("driver", "punctuations come after the rows they are about")
    query = sha256(f"{job.job.saved.query} and {written} of {passing}".encode()).hexdigest()
    whole = replace(
        job.job,
        plan=replace(job.job.plan, watched=(*plan.watched, *passing)),
        told=written,
        placement=place,
        saved=replace(job.job.saved, query=query),
    )
    added = (*ADDED, *punctuation_types(whole))
    check_columns(statement.name, plan.columns, catalog.sink(statement.name), file, line, added=added)
    return replace(job, job=whole)


def _passed_on(key: StreamKey, catalog: Catalog, inputs: Sequence[Input]) -> EndedKeysNode | None:
    """Punctuations that are only passed on: those of one stream that the job reads.

    Of streams that end keys together it reads one alone, whose records say enough then.
    """
    brings = catalog.table(key.stream)
    assert brings is not None, "its punctuations end the key"
    together = next(one.together for one in brings.punctuations if one.attributes == key.marked)
    ending = {key.stream: key.marked, **dict(together)}
    found = [(item, one) for item in inputs for one in item.punctuations if ending.get(item.name) == one.attributes]
    having = [item for item in inputs if any(one.name == key.name for one in item.ending)]
    if len(found) != 1 or (together and len(having) > 1):
        return None
    ((item, one),) = found
    records = KeyRecords(item.name, one.attributes, one.column, told(one.value), one.since)
    return EndedKeysNode(keys_of(key.stream, key.marked), (records,), None, ())


def _marked(item: Input, passing: Iterable[EndedKeysNode]) -> Input:
    """A stream with the columns of the punctuations that are passed on."""
    records = [one for node in passing for one in node.records if one.stream == item.name]
    names = {name for one in records for name in (one.column, *one.attributes, *([one.since] if one.since else []))}
    known = {column.name for column in item.columns}
    more = tuple(column for column in item.declared if column.name in names - known)
    return replace(item, columns=(*item.columns, *more), ends_keys=item.ends_keys or bool(records))


def _behind(plan: CircuitPlan) -> int | None:
    """How far final results may be behind the frontier: groups show the last time of their bucket.

    None where nobody knows: a join's rows that cannot meet later ones go at once, with the time of that.
    """
    if not plan.timestamps:
        return None
    behind = 0
    for one in plan.operators:
        match one:
            case SqlGroup(bucket=bucket) if bucket is not None:
                behind = max(behind, bucket.delay + (bucket.how == "session"))
            case SqlStreamJoin(left=left, right=right):
                tables = [side.table for side in (left, right) if side.table is not None]
                ends = [expires for table in tables for _, expires, _ in table.ages if expires is not None]
                if any(table.deadline is not None for table in tables) or any(end < 0 for end in ends):
                    return None
    return behind
