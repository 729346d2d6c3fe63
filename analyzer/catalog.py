"""The catalog `streams.toml`: which streams and relations exist, their columns and contracts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.arrival import Ttl, read_arrival, read_rate, read_ttl
from streambound.analyzer.catalog_model import (
    ArrivalDocument,
    CatalogDocument,
    DbtDocument,
    ListDocument,
    QuarantineDocument,
    RangeDocument,
    RelationDocument,
    StreamDocument,
    keys,
)
from streambound.analyzer.changes import (
    DeclaredChanges,
    KeyPunctuation,
    StreamKey,
    read_changes,
    read_key_punctuations,
    read_unique,
    shared_keys,
    stream_keys,
)
from streambound.analyzer.columns import Column
from streambound.analyzer.endpoints import Sink, SourceOptions, read_sink, read_source
from streambound.analyzer.engine_profiles import EngineProfile, read_engine
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.models import Described
from streambound.analyzer.names import alike, is_file_name
from streambound.analyzer.periods import PeriodRows, TimeDomain, read_period, read_time
from streambound.analyzer.settings import NO_SETTINGS, CheckSettings, read_settings
from streambound.analyzer.spans import Excerpt, SourceText
from streambound.analyzer.toml_lines import toml_spans
from streambound.analyzer.toml_reader import TomlReader, suggest
from streambound.analyzer.types import DataType, Family, parse_type
from streambound.analyzer.user_functions import UserFunction, read_functions
from streambound.analyzer.values import Value, decode, encode_toml
from streambound_runtime.lineage.formulas import NODES
from streambound_runtime.promises import KEPT_BY_DEFAULT, STRICT, Arrival, Domain, QuarantineLimit, Rate, UniqueKey

if TYPE_CHECKING:
    from streambound.analyzer.file_views import Elsewhere

FILE_NAME = "streams.toml"
MAX_ITERATIONS = 1_000
"""How many steps a recursion may take, where the catalog does not say."""
_ARRIVAL_KEYS = keys(ArrivalDocument)
_TOP_KEYS = keys(CatalogDocument)
_DBT_KEYS = keys(DbtDocument)
_STREAM_KEYS = keys(StreamDocument)
_RELATION_KEYS = keys(RelationDocument)
_QUARANTINE_KEYS = keys(QuarantineDocument)
_DOMAIN_KEYS = (*keys(ListDocument), *keys(RangeDocument))
_DOMAIN_FORMS = (
    "as in { low = 0, high = 99 } or { values = [1, 5] }; [0, 99] is short for the first, [1, 2, 3] for the second"
)


_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)")


class Kind(StrEnum):
    """The kinds of sources of tuples (paper, Definitions 2 and 3)."""

    STREAM = "stream"
    FINITE = "finite stream"
    RELATION = "relation"


class Counters(StrEnum):
    """The type of a result's multiplicity: a count that does not fit stops the job."""

    BIGINT = "bigint"
    DECIMAL = "decimal"

    @property
    def most(self) -> int:
        """The greatest count that fits: of 64 bits, or of the 38 digits that Spark's decimals have."""
        return 2**63 - 1 if self is Counters.BIGINT else 10**38 - 1


class OnViolation(StrEnum):
    """The reaction to a row that breaks its stream's contract: it is quarantined, or the job stops."""

    QUARANTINE = "quarantine"
    STOP = "stop"


class Beyond(StrEnum):
    """The reaction to bad rows beyond those that a job keeps: they are only counted, or the job stops."""

    COUNT = "count"
    STOP = "stop"


class DeclaredTable(Struct, frozen=True):
    """A declared stream or relation.

    ``query`` is Spark SQL that gives the rows of a relation that a statement computes of others; empty in a catalog.
    ``timestamp`` is the application-time column of a stream; ``max_per_timestamp`` is the paper's bound on the tuples
    of one timestamp, ``max_rate`` one on those of a length of time; ``rows`` the size of a relation where declared;
    ``ttl`` how long a stream's row waits for partners in joins; ``unique`` are its keys that come once; ``arrival`` the
    order of a stream, or of the ``changes`` of a relation; ``punctuations`` say which keys are over, ``ending`` are the
    stream's keys of which some stream's do. A stream of which there is ``one_key`` only is none of a catalog's, but
    what a query is judged with for each value of its key.
    """

    name: str
    kind: Kind
    columns: tuple[Column, ...]
    timestamp: str | None = None
    max_per_timestamp: int | None = None
    rows: int | None = None
    source: SourceOptions | None = None
    period: PeriodRows | None = None
    arrival: Arrival[Value] = STRICT
    on_violation: OnViolation = OnViolation.QUARANTINE
    max_rate: Rate | None = None
    ttl: Ttl | None = None
    unique: tuple[UniqueKey, ...] = ()
    changes: DeclaredChanges | None = None
    punctuations: tuple[KeyPunctuation, ...] = ()
    ending: tuple[StreamKey, ...] = ()
    one_key: StreamKey | None = None
    at: Excerpt | None = None
    file: str = ""
    query: str = ""

    @property
    def line(self) -> int:
        """The 1-based line that declares it; 0 where that is not known."""
        return self.at.span.line if self.at else 0

    @property
    def is_fixed(self) -> bool:
        """Whether it is a relation that never changes: it has the same rows whatever streams bring."""
        return self.kind is Kind.RELATION and self.changes is None

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """Columns in which no two rows agree: a key that comes once for some time does at a timestamp."""
        unique = (key.columns if key.within is None else (*key.columns, str(self.timestamp)) for key in self.unique)
        return (*(key.attributes for key in self.ending if key.once), *unique)

    @property
    def has_dates(self) -> bool:
        """Whether the times of a stream are dates, which only rows with periods may have."""
        time = self.column(self.timestamp) if self.timestamp is not None else None
        return time is not None and time.type.family is Family.DATE

    def column(self, name: str) -> Column | None:
        """The column of that name (case-insensitive, as in Spark SQL)."""
        lowered = name.lower()
        return next((column for column in self.columns if column.name.lower() == lowered), None)


_ONE_ROW = DeclaredTable("", Kind.RELATION, (), rows=1)


class CatalogNames(Struct, frozen=True):
    """The names of a catalog that statements can read: its ``tables``, in lower case, and dbt's models.

    Of ``models``, ``x`` is ``ref('x')``, ``a.b`` is ``source('a', 'b')`` and ``ref('a', 'b')``; ``vars`` are the values
    of dbt's variables. ``elsewhere`` is what other files create, ``functions`` are the user's own.
    """

    tables: frozenset[str] = frozenset()
    models: Mapping[str, str] = field(default_factory=dict)
    vars: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Elsewhere | None = None
    functions: tuple[UserFunction, ...] = ()

    def model(self, key: str) -> str | None:
        """The table, or the other file's model, that a key of dbt is; None where nothing is called so."""
        name = key.rpartition(".")[2]
        if key in self.models or name.lower() in self.tables:
            return self.models.get(key, name)
        return name if self.elsewhere is not None and self.elsewhere.is_model(name) else None


class Catalog(Described, frozen=True):
    """All declared streams and relations; ``queries`` are the globs that a bare ``check`` gates.

    ``counters`` and ``sinks`` are for jobs: the type of `_mult`, and where the results of which query go. ``text`` is
    the file's, where it was read from one: repairs of the catalog are edits of it. ``settings`` are those of `[check]`;
    ``models`` are the names of dbt for streams and relations, ``vars`` the values of its variables, ``time`` is what
    all-time results cover. A recursion that is not known to end stops a run after ``max_iterations`` steps at one
    timestamp, and a decision about a lineage may take ``lineage_nodes`` nodes; ``probability_bounds``: results have
    bounds of probabilities, which may take more. ``quarantine`` says how many bad rows a job keeps, ``engine`` what
    runs the queries elsewhere; ``functions`` are the user's own.
    """

    DESCRIPTION = ("text", "elsewhere")

    file: str
    tables: tuple[DeclaredTable, ...]
    queries: tuple[str, ...] = ()
    counters: Counters = Counters.BIGINT
    sinks: tuple[Sink, ...] = ()
    settings: CheckSettings = NO_SETTINGS
    models: Mapping[str, str] = field(default_factory=dict)
    time: TimeDomain | None = None
    max_iterations: int = MAX_ITERATIONS
    lineage_nodes: int = NODES
    probability_bounds: bool = False
    quarantine: QuarantineLimit = KEPT_BY_DEFAULT
    engine: EngineProfile | None = None
    text: str = ""
    vars: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Elsewhere | None = None
    """What the files of its project create."""
    functions: tuple[UserFunction, ...] = ()

    def table(self, name: str) -> DeclaredTable | None:
        """The stream or relation of that name (case-insensitive); without a name that of one row without columns."""
        lowered = name.lower()
        return next((table for table in self.tables if table.name.lower() == lowered), None if name else _ONE_ROW)

    def sink(self, query: str) -> Sink | None:
        """Where the results of the query of that name go."""
        return next((sink for sink in self.sinks if sink.query == query), None)

    def domain_of(self, kind: DataType) -> tuple[int | None, int | None]:
        """The ends of `[time] domain` for periods of a type, encoded; None where there are none of the type."""
        try:
            return self.time.encoded(kind) if self.time is not None else (None, None)
        except ValueError:
            return None, None

    def read_by(self, source: SourceText) -> tuple[SourceText, ...]:
        """The other files whose views a text may read, and those that these may read."""
        return () if self.elsewhere is None else self.elsewhere.read_by(source)

    @property
    def readable(self) -> CatalogNames:
        """The names that statements can read."""
        tables = frozenset(name.lower() for name in self.names)
        return CatalogNames(tables, self.models, self.vars, self.elsewhere, self.functions)

    @property
    def names(self) -> tuple[str, ...]:
        """The declared names, in order."""
        return tuple(table.name for table in self.tables)


def find_catalog(start: Path) -> Path:
    """The nearest `streams.toml` from ``start`` upwards; raises CatalogError when there is none."""
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
    raise CatalogError(
        f"no {FILE_NAME} in {start} or above it",
        remedy="declare your streams in a streams.toml (`streambound catalog import` does it by DDL, Avro or a Spark "
        "schema), or name the catalog with --catalog FILE",
    )


def load_catalog(path: Path) -> Catalog:
    """Read and validate a catalog file; raises CatalogError naming file and line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CatalogError(f"cannot read the catalog: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise CatalogError("the catalog is not UTF-8 text", file=str(path)) from error
    return parse_catalog(text, str(path))


def parse_catalog(text: str, file: str = FILE_NAME) -> Catalog:
    """Validate a catalog's text; raises CatalogError naming file and line."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, or Python's limit on digits or nesting
        at = _TOML_PLACE.search(str(error))
        line, column = (int(at.group(1)), int(at.group(2))) if at else (None, None)
        raise CatalogError(
            f"not TOML: {_TOML_PLACE.sub('', str(error))}", file=file, line=line, column=column
        ) from error
    source = SourceText(file, text)
    places = {path: source.excerpt(span) for path, span in toml_spans(source).items()}
    return replace(catalog_from_mapping(document, file, places), text=text)


def redeclared(catalog: Catalog, text: str, names: Collection[str]) -> Catalog:
    """The catalog of a text that differs from this one's in how the tables of these names are declared, only.

    They do not know where they are in the text. Raises ValueError where it is no TOML, and CatalogError.
    """
    document, reader = tomllib.loads(text), _CatalogReader(catalog.file, {})

    def again(table: DeclaredTable) -> DeclaredTable:
        section = "relations" if table.kind is Kind.RELATION else "streams"
        return reader.table(table.name, document[section][table.name], table.kind, section, _clock(catalog.tables))

    tables = (again(table) if table.name in names else table for table in catalog.tables)
    return replace(catalog, tables=_with_keys(reader, tables), text=text)


def catalog_from_mapping(
    document: Mapping[str, Any], file: str = FILE_NAME, places: Mapping[tuple[str, ...], Excerpt] | None = None
) -> Catalog:
    """Build a catalog from parsed TOML. ``places`` maps key paths to where they are, for messages."""
    reader = _CatalogReader(file, places or {})
    reader.known_keys(document, _TOP_KEYS, ())
    queries = reader.strings(document.get("queries", []), ("queries",))
    tables = list[DeclaredTable]()
    for section, kind in (("streams", Kind.STREAM), ("relations", Kind.RELATION)):
        for name, body in reader.mapping(document.get(section, {}), (section,)).items():
            tables.append(reader.table(name, body, kind, section, _clock(tables)))
    seen: dict[str, str] = {}
    for table in tables:
        if alike(table.name) in seen:
            raise CatalogError(
                f"{table.name} is declared twice (names are case-insensitive)",
                file=file,
                line=table.at.span.line if table.at else None,
                column=table.at.span.column if table.at else None,
                excerpt=table.at,
            )
        seen[alike(table.name)] = table.name
    tables = list(_with_keys(reader, tables))
    counters = Counters(reader.choice(document, "counters", (), tuple(Counters)))
    sinks = reader.mapping(document.get("sinks", {}), ("sinks",))
    return Catalog(
        file,
        tuple(tables),
        queries,
        counters,
        tuple(read_sink(reader, query, body, ("sinks", query)) for query, body in sinks.items()),
        read_settings(reader, document.get("check", {})),
        reader.models(document.get("dbt", {}), [table.name for table in tables]),
        read_time(reader, document.get("time", {})),
        reader.positive(document, "max_iterations", (), 1) or MAX_ITERATIONS,
        reader.positive(document, "lineage_nodes", (), 1) or NODES,
        reader.choice(document, "probabilities", (), ("exact", "bounds")) == "bounds",
        reader.quarantine(document.get("quarantine", {})),
        read_engine(reader, document.get("engine", {}), tuple(t.name for t in tables if t.kind is not Kind.RELATION)),
        vars=reader.vars(document.get("dbt", {})),
        functions=read_functions(reader, document.get("functions", {})),
    )


def _with_keys(reader: TomlReader, tables: Iterable[DeclaredTable]) -> tuple[DeclaredTable, ...]:
    """Tables that know which of their keys end, by whichever stream's punctuations; raises CatalogError."""
    found = tuple(tables)
    streams = {one.name: (one.columns, one.timestamp, one.punctuations) for one in found if one.timestamp is not None}
    known = shared_keys(reader, streams)
    return tuple(
        replace(one, punctuations=known[one.name], ending=stream_keys(known, one.name)) if one.name in known else one
        for one in found
    )


def _clock(tables: Iterable[DeclaredTable]) -> DataType | None:
    """The type of the streams' times but dates, which only rows with periods have; None where there is no stream."""
    times = (table.column(table.timestamp) for table in tables if table.timestamp is not None)
    return next((one.type for one in times if one is not None and one.type.family is not Family.DATE), None)


class _CatalogReader(TomlReader, frozen=True):
    """Streams and relations, and the models that stand for some."""

    def models(self, value: object, tables: list[str]) -> dict[str, str]:
        body = self.mapping(value, ("dbt",))
        self.known_keys(body, _DBT_KEYS, ("dbt",))
        found, names = self.mapping(body.get("models", {}), ("dbt", "models")), {name.lower(): name for name in tables}
        for model, table in found.items():
            path = ("dbt", "models", model)
            if not isinstance(table, str) or table.lower() not in names:
                remedy = suggest(table, tables) if isinstance(table, str) else ""
                raise self.fail(f"the model {model} must be a stream or a relation of this catalog", path, remedy)
        return {model: names[table.lower()] for model, table in found.items()}

    def vars(self, value: object) -> dict[str, str]:
        """The values of dbt's variables, as they stand in SQL."""
        path = ("dbt", "vars")
        found = self.mapping(self.mapping(value, ("dbt",)).get("vars", {}), path)
        for name, one in found.items():
            if isinstance(one, bool) or not isinstance(one, str | int | float):
                raise self.fail(f"the variable {name} must be a text or a number", (*path, name))
        return {name: str(one) for name, one in found.items()}

    def quarantine(self, value: object) -> QuarantineLimit:
        body = self.mapping(value, ("quarantine",))
        self.known_keys(body, _QUARANTINE_KEYS, ("quarantine",))
        most = self.positive(body, "max", ("quarantine",), 1) or KEPT_BY_DEFAULT.most
        return QuarantineLimit(most, self.choice(body, "beyond", ("quarantine",), tuple(Beyond)) == Beyond.STOP)

    def table(self, name: str, body: object, kind: Kind, section: str, clock: DataType | None = None) -> DeclaredTable:
        path = (section, name)
        if not is_file_name(name):
            message = f"{name!r} cannot be the name of a table: its recorded rows are in the file NAME.jsonl"
            raise self.fail(message, path, "leave out slashes and control characters, and a dot or blank at its ends")
        entry = self.mapping(body, path)
        self.known_keys(entry, _STREAM_KEYS if kind is Kind.STREAM else _RELATION_KEYS, path)
        columns = self.columns(entry, path)
        time = self.timestamp(entry, columns, path) if kind is Kind.STREAM else None
        changes = read_changes(self, entry, columns, clock, path) if kind is Kind.RELATION else None
        moved = time or (changes.timestamp if changes else None)
        if moved is None and (key := next((key for key in _ARRIVAL_KEYS if key in entry), None)) is not None:
            message = f"{key} says how changes arrive, and {name} has none"
            raise self.fail(message, (*path, key), 'add changes = { timestamp = "ts", op = "op" }')
        return DeclaredTable(
            name=name,
            kind=kind,
            columns=columns,
            timestamp=time.name if time else None,
            max_per_timestamp=self.positive(entry, "max_per_timestamp", path, 1),
            rows=self.positive(entry, "rows", path, 0),
            source=read_source(self, entry["source"], [c.name for c in columns], (*path, "source"))
            if "source" in entry
            else None,
            period=read_period(self, entry, columns, time, path),
            arrival=read_arrival(self, entry, columns, moved, path) if moved else STRICT,
            on_violation=OnViolation(self.choice(entry, "on_violation", path, tuple(OnViolation))),
            max_rate=read_rate(self, entry, time, path) if time else None,
            ttl=read_ttl(self, entry, time, path) if time else None,
            unique=read_unique(self, entry, columns, time, path),
            changes=changes,
            punctuations=read_key_punctuations(self, entry, columns, time, path) if time else (),
            at=self.at(path),
            file=self.file,
        )

    def columns(self, entry: Mapping[str, Any], path: tuple[str, ...]) -> tuple[Column, ...]:
        declared = self.mapping(entry.get("columns", {}), (*path, "columns"))
        if not declared:
            raise self.fail(f"{path[-1]} declares no columns", path, 'add columns = { name = "bigint", … }')
        domains = self.mapping(entry.get("domain", {}), (*path, "domain"))
        lowered = {name.lower() for name in declared}
        for name in domains:
            if name.lower() not in lowered:
                raise self.fail(f"domain of unknown column {name!r}", (*path, "domain", name), suggest(name, declared))
        if len(lowered) != len(declared):
            raise self.fail(f"{path[-1]} has two columns whose names differ only in case", (*path, "columns"))
        by_lower = {name.lower(): (name, value) for name, value in domains.items()}
        if len(by_lower) != len(domains):
            raise self.fail(f"{path[-1]} has two domains for one column", (*path, "domain"))
        return tuple(self.column(name, kind, by_lower.get(name.lower()), path) for name, kind in declared.items())

    def column(self, name: str, type_name: object, domain: tuple[str, object] | None, path: tuple[str, ...]) -> Column:
        where = (*path, "columns", name)
        kind = parse_type(type_name) if isinstance(type_name, str) else None
        if kind is None:
            raise self.fail(f"{type_name!r} is not a Spark SQL type", where, "for instance bigint, string or timestamp")
        if domain is None:
            return Column(name, kind, None, self.at(where))
        domain_path = (*path, "domain", domain[0])
        return Column(name, kind, self.domain(domain[1], kind, domain_path), self.at(where), self.at(domain_path))

    def domain(self, value: object, kind: DataType, path: tuple[str, ...]) -> Domain[Value]:
        """``[low, high]`` and ``{ low, high }`` are ranges; ``{ values }`` and every other list are values.

        What is beyond the type's own range is left out: no value of the column is there.
        """
        declared = self.declared_domain(value, kind, path)
        found = _within(kind.range, declared)
        if found is None:
            least, most = (decode(end, kind) for end in kind.range or ())
            remedy = f"a {kind.name} lies between {least} and {most}: declare another domain, or a wider type"
            raise self.fail(f"no {kind.name} is in this domain", path, remedy)
        return found

    def declared_domain(self, value: object, kind: DataType, path: tuple[str, ...]) -> Domain[Value]:
        if isinstance(value, dict):
            return self.spelled_domain(value, kind, path)
        items = self.encoded(value, kind, path)
        if len(items) != 2 or kind.family in (Family.STRING, Family.BOOLEAN):
            return Domain(values=items)
        return self.range(items, kind, path)

    def spelled_domain(self, body: Mapping[str, Any], kind: DataType, path: tuple[str, ...]) -> Domain[Value]:
        self.known_keys(body, _DOMAIN_KEYS, path)
        if "values" in body and len(body) == 1:
            return Domain(values=self.encoded(body["values"], kind, (*path, "values")))
        if body.keys() != {"low", "high"}:
            raise self.fail("a domain is a range [low, high] or a list of values", path, _DOMAIN_FORMS)
        return self.range(self.encoded([body["low"], body["high"]], kind, path), kind, path)

    def encoded(self, value: object, kind: DataType, path: tuple[str, ...]) -> tuple[Value, ...]:
        if not isinstance(value, list) or not value:
            raise self.fail("a domain is a range [low, high] or a list of values", path, _DOMAIN_FORMS)
        try:
            return tuple(encode_toml(item, kind) for item in value)
        except ValueError as error:
            raise self.fail(f"bad domain: {error}", path) from error

    def range(self, ends: tuple[Value, ...], kind: DataType, path: tuple[str, ...]) -> Domain[Value]:
        low, high = ends
        if kind.family in (Family.STRING, Family.BOOLEAN):
            raise self.fail(f"a {kind.name} has no range: declare its domain as {{ values = [...] }}", path)
        if low > high:  # type: ignore[operator]  # both values have the column's type
            remedy = f"if these are the two values, write {path[-1]} = {{ values = [...] }}"
            raise self.fail("the domain's low end is above its high end", path, remedy)
        return Domain(low, high)

    def timestamp(self, entry: Mapping[str, Any], columns: tuple[Column, ...], path: tuple[str, ...]) -> Column:
        name = entry.get("timestamp")
        if not isinstance(name, str):
            raise self.fail(f"stream {path[-1]} declares no timestamp", path, 'add timestamp = "ts"')
        column = next((column for column in columns if column.name.lower() == name.lower()), None)
        if column is None:
            remedy = suggest(name, [column.name for column in columns])
            raise self.fail(f"the timestamp {name!r} is not a column of {path[-1]}", (*path, "timestamp"), remedy)
        dates = column.type.family is Family.DATE
        if column.type.family not in (Family.INTEGER, Family.TIMESTAMP) and not (dates and "period" in entry):
            where = (*path, "columns", column.name)
            remedy = "declare it as timestamp: only of rows with a period the times may be dates" if dates else ""
            raise self.fail(f"the timestamp {name!r} must have an integer or timestamp type", where, remedy)
        if column.type.range is not None:
            message = f"the timestamp {name!r} cannot be a {column.type.name}, which has an end: time never ends"
            raise self.fail(message, (*path, "columns", column.name), "declare it as bigint or timestamp")
        if column.domain is not None:
            where = (*path, "domain", column.name)
            raise self.fail(f"the timestamp {name!r} cannot have a domain: time never ends", where)
        return column


def _within(ends: tuple[int, int] | None, domain: Domain[Value]) -> Domain[Value] | None:
    """The part of a domain that lies between two ends; None where there is none."""
    if ends is None:
        return domain
    least, most = ends
    if isinstance(domain.low, int) and isinstance(domain.high, int):
        low, high = max(least, domain.low), min(most, domain.high)
        return Domain(low, high) if low <= high else None
    values = tuple(value for value in domain.values if isinstance(value, int) and least <= value <= most)
    return Domain(values=values) if values else None
