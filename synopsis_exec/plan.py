"""From a bounded query to a plan: what to filter, what to remember, and how partial matches grow."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import is_interval
from streambound.analyzer.endpoints import Sink
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.query import Attribute, Comparison, Query, Source
from streambound.analyzer.render import render
from streambound.analyzer.types import Family
from streambound.criteria.bound import QueryBound
from streambound.criteria.column_types import columns_of, type_of
from streambound.criteria.projected_time import stamp
from streambound.criteria.synopsis import MOST_TABLES, Synopsis
from streambound.criteria.unlimited import unlimited
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.ways import MOST_WAYS
from streambound.synopsis_exec.asked_relations import asked_columns, asked_relations
from streambound.synopsis_exec.filters import constraint, extremes, local_filters, members, time_filters
from streambound.synopsis_exec.kept_results import KeptResults, check_columns, kept_results, refused
from streambound.synopsis_exec.period_contracts import contracts_as_of, judged_by
from streambound.synopsis_exec.plan_ir import BranchPlan, Input, Plan, PlanSource
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.promises import STRICT


def make_plan(decision: Decision, catalog: Catalog, unbounded: bool = False) -> Plan:
    """The plan of a bounded query, or, where ``unbounded`` allows that, of one without M.

    Raises NotExecutableError with the reason and a remedy.
    """
    split = decision.derivation.split
    if not unbounded:
        _check_verdict(decision)
    _check_outputs(decision.query, catalog.sink(decision.query.name))
    _check_times(decision.query)
    sizes = decision.bound or (unlimited(split) if unbounded else None)
    if sizes is None:
        raise _unknown_bound(split)
    plan, contracts = planned(decision.query, split, sizes, catalog), contracts_as_of(decision.query.as_of, catalog)
    return replace(plan, inputs=tuple(judged_by(item, contracts.get(item.name)) for item in plan.inputs))


def planned(query: Query, split: Query, sizes: QueryBound, catalog: Catalog) -> Plan:
    """The plan of a query, or of a block of one, with tables of these sizes; raises NotExecutableError."""
    results = columns_of(query)
    kept = kept_results([part.synopsis.facts.branch for part in sizes.branches], results)
    each = (_branch_plan(split, number, part.synopsis, kept) for number, part in enumerate(sizes.branches, start=1))
    branches = tuple(plan for plan in each if plan is not None)
    sources = [source for branch in query.branches for source in branch.sources]
    expressions = tuple(dict.fromkeys(c.expression for source in sources for c in source.columns if c.expression))
    computed = _computed(sources)
    expressions += tuple(table.query for table in computed)
    asked = (name for expression in expressions for name in asked_relations(expression))
    used = {name.lower(): name for name in (*(source.table for source in sources), *asked)}
    tables = [table for name in used if (table := catalog.table(name)) is not None]
    inputs = tuple(_input(table, branches, expressions) for table in tables)
    made = tuple(_input(table, branches, expressions) for table in computed)
    _check_inputs(query, inputs)
    for item in inputs:
        _check_nested(query, item, expressions)
    kinds = [column.type for column in kept.columns] if kept is not None else []
    if any(kind.family is Family.OTHER and not is_interval(kind) for kind in kinds):
        what = "a result is computed of a value that is no simple one, such as an array"
        raise _refused(query, what, "declare what is needed of it as a column of its own, of a simple type")
    sql = render(query)
    sink = catalog.sink(query.name)
    tables.sort(key=lambda table: table.name)
    contracts = "\n".join(map(_contract, tables))
    return Plan(
        name=query.name,
        sql=sql,
        query_sha256=sha256(sql.encode()).hexdigest(),
        contract_sha256=sha256(contracts.encode()).hexdigest(),
        distinct=query.distinct,
        columns=results,
        inputs=inputs,
        computed=made,
        branches=branches,
        bound=sizes,
        stamp=stamp(split),
        counters=catalog.counters,
        sink=sink,
        quarantine=catalog.quarantine,
        functions=catalog.functions,
        kept=kept,
        sums=query.sums,
        order=query.order,
    )


def _check_verdict(decision: Decision) -> None:
    if decision.verdict is Verdict.BOUNDED:
        return
    query = decision.query
    first = next((d for d in decision.diagnostics if d.severity == "error"), None)
    first = first or next(iter(decision.diagnostics), None)
    reason = f": {first.code} {first.message}" if first else ""
    raise NotExecutableError(
        f"{query.name} cannot be run in constant memory, its verdict is {decision.verdict}{reason}",
        remedy=(first.help if first else "") or f"see `streambound check {query.file}`",
        file=query.file,
        line=first.span.line if first else query.span.line,
        column=first.span.column if first else None,
    )


def _check_outputs(query: Query, sink: Sink | None) -> None:
    columns = columns_of(query)
    check_columns(query.name, columns, sink, query.file, query.span.line)
    for position, column in enumerate(columns):
        kinds = {type_of(branch, branch.outputs[position]) for branch in query.branches}
        families = {(kind.family, kind.scale) for kind in kinds if kind.name != "void" and not is_interval(kind)}
        if len({*families, *filter(is_interval, kinds)}) > 1:
            what = f"the branches of the union give {column.name} different types"
            raise _refused(query, what, "declare the columns with one type in the catalog")


def _check_times(query: Query) -> None:
    """A result became true with the newest of its tuples; rows of relations alone have no such time."""
    if not all(branch.streams for branch in query.branches):
        what = (
            "one of its branches reads no stream, only relations" if len(query.branches) > 1 else "it reads no stream"
        )
        raise _refused(query, f"{what}: its rows have no application time", "run it as a batch query")


def _refused(query: Query, what: str, remedy: str) -> NotExecutableError:
    return refused(query.name, what, remedy, query.file, query.span.line)


def _unknown_bound(split: Query) -> NotExecutableError:
    what = f"it would need more than {MOST_TABLES} tables, each of a set of streams that may come first"
    return _refused(split, what, "relate the streams' timestamps, or join fewer streams")


def _branch_plan(split: Query, number: int, synopsis: Synopsis, kept: KeptResults | None) -> BranchPlan | None:
    """The plan of a case of a branch, the one with that number; None when no timestamp can satisfy it."""
    facts, branch = synopsis.facts, synopsis.facts.branch
    if synopsis.transitions is None:
        what = f"its partial matches can grow in more than {MOST_WAYS} ways"
        raise _refused(split, what, "relate the streams' timestamps, or join fewer streams")
    joins = (*_joins(facts), *facts.unequal)
    used = {a for join in joins for a in join.attributes}
    used.update(branch.projected)
    clipping = {a for table in synopsis.tables for stored in table.key for a in stored.limiting}
    used |= {a for a in clipping if a.source in facts.finite_streams}
    sources = []
    for source in branch.sources:
        relation = source.kind is Kind.RELATION
        times = () if relation else time_filters(facts, source.alias)
        if times is None:
            return None
        columns = tuple(c.name for c in source.columns if Attribute(source.alias, c.name) in used)
        limits = () if relation else extremes(facts, source.alias, synopsis.late)
        filters = local_filters(facts, source.alias)
        lists = members(facts, source.alias)
        read = PlanSource(source.alias, source.table, source.kind, columns, filters, times, limits, lists)
        sources.append(replace(read, factors=source.factors))
    outputs = branch.outputs if kept is None else kept.outputs(branch)
    plan = BranchPlan(number, synopsis, tuple(sources), joins, outputs)
    _check_extrema(split, plan)
    return plan


def _check_extrema(split: Query, plan: BranchPlan) -> None:
    """Extrema of several parts decide which results there are, where each is compared with arriving tuples alone."""
    extremal = {table.streams for table in plan.tables if table.extrema}
    for way in (w for w in plan.ways if len(w.parts) > 1 and any(part.streams in extremal for part in w.parts)):
        _, checks = plan.met(way)
        across = any({a.source for a in check.attributes} <= {*way.before} for check in checks)
        if across or not plan.is_output(way):
            what = "its greatest and least values would have to be joined from the tables of independent streams"
            raise _refused(split, what, "relate the streams' timestamps, or join fewer streams")


def _joins(facts: Facts) -> tuple[Comparison, ...]:
    """The joins of the branch, both directions of an equality as one."""
    found: dict[frozenset[Attribute] | tuple[Attribute, Attribute], Comparison] = {}
    for join in facts.joins:
        key = frozenset((join.attribute, join.other)) if join.equality else (join.attribute, join.other)
        if key not in found:
            found[key] = constraint(facts, join.attribute, join.other)
    return tuple(found.values())


def _input(table: DeclaredTable, branches: tuple[BranchPlan, ...], expressions: tuple[str, ...]) -> Input:
    """A table with the columns that filters, joins, the select list, and subqueries in expressions mention."""
    derived = dict[str, Column]()
    needed = {table.timestamp, *(name for one in expressions for name in asked_columns(one, table.columns, table.name))}
    if table.unique:
        needed.update(_compared(table))
    for plan in branches:
        for source in plan.sources:
            if source.table == table.name:
                needed |= source.used
                columns = plan.branch.source(source.alias).columns
                derived |= {column.name: column for column in columns if column.expression}
            needed |= {
                limit.relation.column
                for limit in source.extremes
                if plan.source(limit.relation.source).table == table.name
            }
    columns = tuple(column for column in (*table.columns, *derived.values()) if column.name in needed)
    return Input(
        name=table.name,
        kind=table.kind,
        declared=table.columns,
        columns=columns,
        timestamp=table.timestamp,
        max_per_timestamp=table.max_per_timestamp,
        source=table.source,
        rows=table.rows,
        on_violation=table.on_violation,
        arrival=table.arrival,
        max_rate=table.max_rate,
        query=table.query,
        punctuations=table.punctuations,
        ending=table.ending,
        unique=table.unique,
    )


def asked_input(table: DeclaredTable, expressions: tuple[str, ...]) -> Input:
    """A relation with the columns that queries in some expressions mention; a stream has its time."""
    return _input(table, (), expressions)


def relation_input(table: DeclaredTable, needed: tuple[str, ...]) -> Input:
    """A static relation and those of its columns that are read."""
    names = dict.fromkeys((*needed, *(_compared(table) if table.unique else ())))
    columns = tuple(column for name in names if (column := table.column(name)) is not None)
    return Input(
        table.name, table.kind, table.columns, columns, None, None, table.source, table.rows, table.on_violation,
        query=table.query, unique=table.unique,
    )  # fmt: skip


def _compared(table: DeclaredTable) -> list[str]:
    """The columns that say which of two rows of a key is good."""
    return [column.name for column in table.columns if column.type.family is not Family.OTHER]


def _computed(sources: list[Source]) -> list[DeclaredTable]:
    """The relations that are computed of others."""
    found = {source.table: source for source in sources if source.query}
    return [
        DeclaredTable(
            source.table,
            source.kind,
            tuple(column for column in source.columns if not column.expression),
            rows=source.rows,
            query=source.query,
        )
        for source in found.values()
    ]


def _check_inputs(query: Query, inputs: tuple[Input, ...]) -> None:
    streams = [item for item in inputs if item.timestamp is not None]
    families = {c.type.family for item in streams for c in item.columns if c.name == item.timestamp}
    if len(families) > 1:
        what = "its branches have integer and TIMESTAMP application time, which have no common order"
        raise _refused(query, what, "register the branches as queries of their own")


def _check_nested(query: Query, item: Input, expressions: tuple[str, ...]) -> None:
    """CSV has no arrays; and of a relation's, where a subquery asks for it, a job only knows that it is there."""
    kinds = {column.name: column.type for column in item.declared if column.type.family is Family.OTHER}
    asked = {name for one in expressions for name in asked_columns(one, item.declared, item.name)}
    read = {name for one in item.derived for name in kinds if quoted(name).lower() in one.expression.lower()}
    csv = item.source is not None and item.source.format == "csv"
    if (name := next((name for name in kinds if name in asked or (csv and name in read)), None)) is not None:
        why = "asked for in a subquery" if name in asked else "read from CSV"
        what = f"{item.name}.{name}, a column of type {kinds[name].name}, is {why}"
        raise _refused(query, what, "declare what is needed of it as a column of its own, of a simple type")


def _contract(table: DeclaredTable) -> str:
    """A table's declaration of its rows, as text to hash."""
    columns = ", ".join(f"{c.name} {c.type.name} {c.domain}" for c in table.columns)
    rest = f" {table.arrival}" if table.arrival != STRICT else ""
    rest += f" {table.max_rate.rows} per {table.max_rate.per}" if table.max_rate is not None else ""
    rest += f" ttl {table.ttl.length}" if table.ttl is not None else ""
    rest += "".join(f" {one}" for one in table.punctuations)
    rest += "".join(f" unique {', '.join(one.columns)} within {one.within}" for one in table.unique)
    return f"{table.kind} {table.name}({columns}) {table.timestamp} {table.max_per_timestamp} {table.rows}{rest}"
