"""The document that a catalog is: its tables, keys and values, from which docs/schemas/catalog.schema.json is made.

Metadata are words of JSON Schema with their values. The settings of `[check]` are in `settings.KEYS`; what is wrong
with a document, and in which line, `catalog` says.
"""

# No annotations from __future__: a TypedDict whose annotations are texts does not know what is required.

from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

Scalar = str | float | bool
"""An integer is a number, too."""
_Name = Annotated[str, ("minLength", 1)]
_Positive = Annotated[int, ("minimum", 1)]
_Size = Annotated[int, ("minimum", 0)]
_Duration = _Size | str
_Values = Annotated[list[Scalar], ("minItems", 1)]
_Columns = Annotated[dict[str, Annotated[str, ("description", "A Spark SQL type.")]], ("minProperties", 1)]
_Options = dict[str, Scalar]
_CodeText = Annotated[str, ("pattern", "^SB[0-9]{3}$")]


class ListDocument(TypedDict):
    """A domain that is a list."""

    values: _Values


class RangeDocument(TypedDict):
    """A domain that is a range."""

    low: Scalar
    high: Scalar


_Domains = dict[str, _Values | ListDocument | RangeDocument]


class SourceDocument(TypedDict, total=False):
    """Where the rows of a stream or relation come from."""

    format: Required[str]
    path: str
    options: _Options
    payload: _Name
    metadata: dict[str, _Name]


class TargetDocument(TypedDict, total=False):
    """Where rows go."""

    format: str
    path: str
    options: _Options


class SinkDocument(TargetDocument, total=False):
    """Where the results of a query go, and its bad rows."""

    call: str
    table: str
    quarantine: TargetDocument
    punctuations: bool


class MarkDocument(TypedDict):
    """Which records are punctuations."""

    column: str
    value: NotRequired[Scalar]
    like: NotRequired[str]
    since: NotRequired[str]


class PartitionsDocument(TypedDict):
    """The partitions of a stream."""

    column: str
    values: _Values


class RateDocument(TypedDict):
    """How fast a stream's rows may come."""

    rows: _Positive
    per: _Positive | str


class ChangesDocument(TypedDict, total=False):
    """How the rows of a relation come and go."""

    timestamp: Required[_Name]
    op: _Name
    insert: Scalar
    delete: Scalar
    key: Annotated[list[str], ("minItems", 1)]
    format: Literal["op", "debezium", "upsert"]


class KeyPunctuationDocument(TypedDict, total=False):
    """Which records of a stream say that no row of a key comes any more."""

    attributes: Required[Annotated[list[str], ("minItems", 1)]]
    column: Required[_Name]
    value: Required[Scalar]
    max_open: _Positive
    since: _Name
    ends: dict[str, list[str]]
    together: dict[str, list[str]]
    once: list[str]


class ArrivalDocument(TypedDict, total=False):
    """How a stream's rows arrive."""

    order: Literal["strict", "none"]
    lateness: _Duration
    idle_after: _Duration
    punctuation: MarkDocument
    partitions: PartitionsDocument


_Period = Annotated[list[str], ("minItems", 2), ("maxItems", 2)]
_Keys = Annotated[list[str] | list[list[str]], ("minItems", 1)]


class TimeDocument(TypedDict, total=False):
    """The points of time that there are."""

    domain: Annotated[list[Scalar], ("minItems", 1), ("maxItems", 2)]


class _StreamDocument(TypedDict, total=False):
    timestamp: Required[str]
    columns: Required[_Columns]
    max_per_timestamp: _Positive
    max_rate: RateDocument
    ttl: _Duration
    unique: _Keys
    within: _Duration
    domain: _Domains
    on_violation: Literal["quarantine", "stop"]
    source: SourceDocument
    period: _Period
    key: _Name
    probability: _Name
    max_duration: _Duration
    max_valid: _Positive
    snapshot_key: Annotated[list[str], ("minItems", 1)]
    punctuations: list[KeyPunctuationDocument]


class StreamDocument(_StreamDocument, ArrivalDocument):
    """A stream."""


class _RelationDocument(TypedDict, total=False):
    columns: Required[_Columns]
    rows: _Size
    unique: _Keys
    domain: _Domains
    on_violation: Literal["quarantine", "stop"]
    source: SourceDocument
    period: _Period
    key: _Name
    probability: _Name
    changes: ChangesDocument


class RelationDocument(_RelationDocument, ArrivalDocument):
    """A relation; how its rows arrive is said of one with changes."""


class DbtDocument(TypedDict, total=False):
    """The models of dbt that stand for streams and relations, and the values of its variables."""

    models: Annotated[
        dict[str, str],
        ("description", "By model, its stream or relation: x is ref('x'), \"a.b\" is source('a', 'b')."),
    ]
    vars: dict[str, str | int | float]


class ByCode(TypedDict, total=False):
    """The keys of `[check]` and its overrides that are set by code."""

    severity: Annotated[
        dict[_CodeText, Literal["error", "warning", "note", "off"]],
        ("description", "By code, of warnings and notes."),
    ]
    allow: Annotated[
        dict[_CodeText, Annotated[str, ("pattern", r"\S")]],
        ("description", "By code, the reason why such findings are accepted."),
    ]
    deny: Annotated[
        list[_CodeText],
        ("description", "Codes that neither a comment nor a baseline may accept."),
    ]


class QuarantineDocument(TypedDict, total=False):
    """How many bad rows a job keeps, and what becomes of more."""

    max: _Positive
    beyond: Literal["count", "stop"]


class EngineDocument(TypedDict, total=False):
    """The engine that runs the queries elsewhere: its watermarks, by stream, and its output mode."""

    name: Literal["spark", "flink"]
    output_mode: Literal["append", "update", "complete"]
    delays: dict[str, Annotated[str, ("description", "A length of time, or none: it has no watermark.")]]
    ttl: str


class FunctionDocument(TypedDict, total=False):
    """A function of the user's own."""

    arguments: Required[Annotated[list[str], ("description", "Types of Spark SQL.")]]
    result: Required[str]
    deterministic: bool
    python: Annotated[str, ("description", "module:function; without it, one that the Spark session has.")]


class CatalogDocument(TypedDict, total=False):
    """A whole catalog."""

    queries: list[str]
    check: dict[str, Any]
    counters: Literal["bigint", "decimal"]
    max_iterations: _Positive
    lineage_nodes: _Positive
    probabilities: Literal["exact", "bounds"]
    quarantine: QuarantineDocument
    engine: EngineDocument
    functions: dict[str, FunctionDocument]
    time: TimeDocument
    streams: dict[str, StreamDocument]
    relations: dict[str, RelationDocument]
    sinks: dict[str, SinkDocument]
    dbt: DbtDocument


def keys(document: type) -> tuple[str, ...]:
    """The keys that a table of the catalog may have.

    >>> keys(PartitionsDocument)
    ('column', 'values')
    """
    return tuple(document.__annotations__)
