"""What is reported of the streaming queries of a PySpark program: each is judged as the SQL that its plan is.

The verdict says what is possible, the model of Spark what is kept as it is written; findings are at the lines of the
program. Spark itself says what it refuses at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind, catalog_from_mapping
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.edits import Edit, Hunk
from streambound.analyzer.engine_profiles import EngineProfile, OutputMode, StreamEngine
from streambound.analyzer.spans import SourceText, Span
from streambound.criteria.vocabulary import Verdict
from streambound.reports.outcome import Outcome

if TYPE_CHECKING:
    from streambound.criteria.check import Checked
    from streambound.criteria.engines.profile import EngineFix, EngineReading
    from streambound.importing.frames.plan_sql import FrameSource, FrameSql
    from streambound.importing.frames.spark_program import FrameQuery

_ARRIVED = "arrived"
_TIMES = ("timestamp", "timestamp_ntz", "date")


def program_outcomes(source: SourceText, catalog: Catalog | None, criteria: str = "exact") -> list[Outcome]:
    """Run a program, whose queries do not start, and judge each of them.

    Raises UsageError where there is no PySpark, and JavaError without a Java.
    """
    from streambound.importing.frames.spark_program import run

    tables = () if catalog is None else catalog.tables
    declared = {one.name.lower(): ", ".join(f"`{c.name}` {c.type.name}" for c in one.columns) for one in tables}
    program = run(source.file, source.text, declared)
    stem, many = Path(source.file).stem, len(program.queries) > 1
    found = [
        query_outcome(one, source, catalog, one.name or (f"{stem}_{one.line}" if many else stem), criteria)
        for one in program.queries
    ]
    if program.error:
        help = "it has to run here as far as its queries start, though on no data: see docs/pyspark.md"
        found.append(_broken(source, stem, program.line, f"the program ends with {program.error}", help))
    elif not found:
        help = "a query is what .writeStream.start() or .toTable() would start"
        found.append(_broken(source, stem, None, "the program starts no streaming query", help))
    return found


def query_outcome(
    query: FrameQuery, source: SourceText | None, catalog: Catalog | None, name: str, criteria: str = "exact"
) -> Outcome:
    """The outcome of one query: at the lines of a program, or without one at places of its SQL."""
    from streambound.importing.frames.expression_sql import NotReadError
    from streambound.importing.frames.plan_sql import sql_of

    try:
        sql = sql_of(query.plan)
        text = SourceText(source.file if source is not None else "<dataframe>", sql.text)
        outcome = _judged(query, sql, text, source, catalog, criteria)
    except NotReadError as error:
        place = source or SourceText("<dataframe>", "")
        return _unread(query, place, name, str(error), error.line)
    outcome = replace(outcome, name=name, rejected=False, witness=None, certificate=None)
    return outcome if source is None else _at_lines(outcome, query, sql, source)


def _judged(
    query: FrameQuery,
    sql: FrameSql,
    text: SourceText,
    program: SourceText | None,
    catalog: Catalog | None,
    criteria: str,
) -> Outcome:
    from streambound.analyzer.statements import some_statements
    from streambound.criteria.check import Checked, check_statement
    from streambound.criteria.engines.reported import findings
    from streambound.importing.frames.expression_sql import NotReadError
    from streambound.reports.outcome import outcome

    known = _catalog(sql.sources, catalog)
    delays = {one.name.lower(): one.delay and one.delay * 1000 for one in sql.sources if one.streaming}
    profile = EngineProfile(StreamEngine.SPARK, OutputMode(query.mode), delays)
    (statement,) = some_statements(text)
    checked = check_statement(statement, known)
    if checked.verdict is Verdict.ERROR:
        raise NotReadError(f"the plan is not read, for {checked.diagnostics[0].message}")
    if sql.unjudged is not None:
        told = Diagnostic(Code.UNSUPPORTED, str(sql.unjudged), text.file, statement.span)
        checked = Checked(statement, Verdict.UNKNOWN, (told,), catalog=known, tree=checked.tree)
    if criteria == "paper":
        from streambound.criteria.paper_verdict import by_the_paper

        checked = by_the_paper(checked)
    reading = _reading(query, checked, known, profile)
    reading = _without_mark(reading, sql.unmarked) if reading is not None and sql.unmarked else reading
    reading = _patched(reading, sql, program) if reading is not None else None
    found = findings(reading, program or text, statement.span) if reading is not None else ()
    checked = replace(checked, diagnostics=tuple(_of_program(checked.diagnostics, catalog)))
    return replace(outcome(replace(checked, diagnostics=(*checked.diagnostics, *found))), engine=reading)


def _of_program(found: tuple[Diagnostic, ...], declared: Catalog | None) -> Iterator[Diagnostic]:
    """Findings as they are said of a program: that nothing declares a rate goes without saying where nothing can."""
    for one in found:
        if one.code is Code.NEVER_PAST:
            yield replace(one, help="call withWatermark, or declare its lateness in a catalog")
        elif one.code is not Code.LARGE_BOUND or declared is not None:
            yield one


def _reading(query: FrameQuery, checked: Checked, known: Catalog, profile: EngineProfile) -> EngineReading | None:
    """The model's reading, with Spark's own answer on whether it refuses the query."""
    from streambound.criteria.engines.profile import EngineReading, Phase
    from streambound.criteria.engines.reported import read_on

    if query.policy != "min":
        return EngineReading(StreamEngine.SPARK, unread=f"multipleWatermarkPolicy is {query.policy}")
    reading = read_on(checked, known, profile)
    if reading is None or bool(query.refusal) == any(one.when is not Phase.RUN for one in reading.refusals):
        return reading
    late = tuple(one for one in reading.refusals if one.when is Phase.RUN)
    return replace(reading, refusals=_refused(query, checked.statement.span) + late)


def _patched(reading: EngineReading, sql: FrameSql, program: SourceText | None) -> EngineReading:
    """A reading whose fixes change the program, where they can; the SQL that it was read as is not there to change."""
    from streambound.gate.program_patches import ProgramPatches, ProgramText

    patches = ProgramPatches(ProgramText(program), sql) if program is not None else None

    def patched(fix: EngineFix | None, span: Span) -> EngineFix | None:
        if fix is None or patches is None:
            return fix and replace(fix, edits=())
        return patches.patched(fix, sql.node(span.start))

    return replace(
        reading,
        states=tuple(replace(one, fix=patched(one.fix, one.span)) for one in reading.states),
        drops=tuple(replace(one, fix=patched(one.fix, one.span)) for one in reading.drops),
        refusals=tuple(replace(one, fix=patched(one.fix, one.span)) for one in reading.refusals),
        delays=tuple(replace(one, fix=patched(one.fix, one.span) or one.fix) for one in reading.delays),
    )


def _without_mark(reading: EngineReading, times: tuple[str, ...]) -> EngineReading:
    """A reading with the fix for groups by a column of the frame before its watermark: name the column."""
    from streambound.criteria.engines.profile import LATE, EngineFix, StateClass

    names = " and ".join(f'F.col("{one}")' for one in times)
    fix = EngineFix(
        f"write {names}: a column of the DataFrame before withWatermark has no watermark", False,
        added=times, loses=LATE,
    )  # fmt: skip
    return replace(
        reading,
        states=tuple(replace(one, fix=fix) if one.kept is StateClass.GROWS else one for one in reading.states),
        refusals=tuple(replace(one, fix=fix) for one in reading.refusals),
    )


def _refused(query: FrameQuery, span: Span) -> tuple[Any, ...]:
    from streambound.criteria.engines.profile import Phase, Refusal

    return (Refusal(Phase.START, query.refusal, span),) if query.refusal else ()


def _unread(query: FrameQuery, source: SourceText, name: str, what: str, line: int | None) -> Outcome:
    """Of a query whose plan has what is not read: that Spark refuses it is said nevertheless."""
    from streambound.criteria.engines.profile import EngineReading
    from streambound.criteria.engines.reported import findings

    span = _line_span(source, line or query.line)
    help = "docs/pyspark.md says which methods are read; streambound check reads SQL, too"
    found = Diagnostic(Code.UNSUPPORTED, what, source.file, span, help)
    refusals = _refused(query, span)
    reading = EngineReading(StreamEngine.SPARK, refusals=refusals, unread="" if refusals else what)
    told = findings(reading, source, span) if refusals else ()
    return Outcome(name, source, _line_span(source, query.line), Verdict.UNKNOWN, (found, *told), engine=reading)


def _broken(source: SourceText, name: str, line: int | None, message: str, help: str) -> Outcome:
    span = _line_span(source, line)
    found = Diagnostic(Code.UNREADABLE_FILE, message, source.file, span, help)
    return Outcome(name, source, span, Verdict.ERROR, (found,))


# --- the catalog of a query -------------------------------------------------------------------------------------------


def _catalog(sources: tuple[FrameSource, ...], declared: Catalog | None) -> Catalog:
    """The streams and relations of a query, with what a catalog says of those that have the same names."""
    made = catalog_from_mapping(dict(_documents(sources, declared)), "<program>")
    if declared is None:
        return made
    tables = (_as_declared(one, source, declared.table(source.known)) for one, source in _pairs(made, sources))
    return replace(made, tables=tuple(tables), settings=declared.settings)


def _documents(sources: tuple[FrameSource, ...], declared: Catalog | None) -> Iterator[tuple[str, dict[str, Any]]]:
    streams, relations = {}, {}
    for source in sources:
        columns = dict(source.columns.values())
        if not source.streaming:
            relations[source.name] = {"columns": columns}
            continue
        time = source.timestamp or _time(source, declared)
        columns |= {time: "timestamp"} if time not in columns else {}
        order = {"order": "none"} if source.delay is None else {"lateness": f"{source.delay} milliseconds"}
        streams[source.name] = {"timestamp": time, "columns": columns, **order}
    yield "streams", streams
    yield "relations", relations


def _time(source: FrameSource, declared: Catalog | None) -> str:
    """The time of a stream without a watermark: the catalog's, else its first, else one that it does not show."""
    table = declared.table(source.known) if declared is not None else None
    known = [name for name, own in source.plain.items() if table and own.lower() == (table.timestamp or "").lower()]
    times = [name for name, kind in source.columns.values() if kind in _TIMES]
    return next(iter((*known, *times)), _ARRIVED)


def _pairs(made: Catalog, sources: tuple[FrameSource, ...]) -> Iterator[tuple[DeclaredTable, FrameSource]]:
    for source in sources:
        table = made.table(source.name)
        assert table is not None, "it was made of it"
        yield table, source


def _as_declared(table: DeclaredTable, source: FrameSource, declared: DeclaredTable | None) -> DeclaredTable:
    """A table with the domains, the rate and the order that are declared of its source."""
    if declared is None or (declared.kind is Kind.RELATION) == source.streaming:
        return table
    columns = tuple(
        replace(one, domain=own.domain) if (own := declared.column(source.plain.get(one.name, ""))) is not None
        and own.type == one.type else one
        for one in table.columns
    )  # fmt: skip
    made = replace(table, columns=columns, rows=None if source.more else declared.rows)
    if table.timestamp is None or source.plain.get(table.timestamp, "").lower() != (declared.timestamp or "").lower():
        return made
    made = made if source.more else replace(made, max_rate=declared.max_rate)
    late, delay = declared.arrival.lateness, source.delay
    return replace(made, arrival=declared.arrival) if delay is None or (late and late < delay * 1000) else made


# --- lines ------------------------------------------------------------------------------------------------------------


def _at_lines(outcome: Outcome, query: FrameQuery, sql: FrameSql, source: SourceText) -> Outcome:
    """An outcome whose places are lines of the program."""

    def place(span: Span) -> Span:
        node = sql.node(span.start)
        return _line_span(source, (node and node.line) or query.line)

    told = {name: _moved(value, place) for name, value in asdict(outcome).items() if name != "source"}
    return Outcome(**{**told, "source": source, "span": _line_span(source, query.line)})


def _moved(value: Any, place: Callable[[Span], Span]) -> Any:
    """A value with all spans in it replaced; edits are of the program."""
    if isinstance(value, Edit | Hunk):
        return value
    if isinstance(value, Span):
        return place(value)
    if isinstance(value, tuple):
        return tuple(_moved(one, place) for one in value)
    if isinstance(value, Struct):
        return replace(value, **{name: _moved(one, place) for name, one in asdict(value).items()})
    return value


def _line_span(source: SourceText, line: int | None) -> Span:
    """A line without its indentation; the whole text without a line."""
    if line is None or not source.line(line):
        return source.span(0, len(source.text.split("\n", 1)[0]))
    text = source.line(line)
    start = sum(len(one) + 1 for one in source.text.split("\n")[: line - 1])
    return source.span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
