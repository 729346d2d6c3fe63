"""The JSON report as a document: its objects, from which docs/schemas/report.schema.json is made.

Metadata are words of JSON Schema with their values. All keys are always there; `json_report` takes
their values from attributes of the same names.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from streambound.analyzer.codes import Severity
from streambound.analyzer.engine_profiles import StreamEngine
from streambound.criteria.engines.profile import GoesBy, Phase, StateClass
from streambound.criteria.vocabulary import Tier, Verdict

Amount = Annotated[int, ("minimum", 0)]
Place = Annotated[int, ("minimum", 1)]
Words = Annotated[str, ("minLength", 1)]
CodeText = Annotated[str, ("pattern", "^SB[0-9]{3}$")]
Day = Annotated[str, ("pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class BoundObject(TypedDict):
    """M, as a number where the catalog gives one and as a formula; what so many entries take, where it is known.

    `promises` are those of the catalog that it is under: results of rows that do not keep them are left out.
    """

    entries: Amount | None
    bytes: Amount | None
    formula: Words
    promises: list[str]


class WitnessObject(TypedDict):
    """The witness of an unbounded query: the attributes that must be kept, and the streams of its probes."""

    attributes: list[str]
    probe_streams: list[str]
    replays_a_match: bool


class RepairsObject(TypedDict):
    """Why there are no repairs, or not all."""

    why_none: str | None
    cut_short: str | None


class ViolationObject(TypedDict):
    """A violated condition of a criterion."""

    condition: str
    stream: str
    attribute: str | None
    message: str
    line: Place
    column: Place


class CriterionObject(TypedDict):
    """A criterion's answer: of ``bag``, ``set``, ``theorem-1``, ``theorem-2``, or of a proposition beyond joins."""

    name: str
    holds: bool
    violations: list[ViolationObject]


class _SpanObject(TypedDict):
    file: str
    line: Place
    column: Place
    end_line: Place
    end_column: Place


class RelatedObject(_SpanObject):
    """Another place that explains a diagnostic."""

    message: Words


class EditObject(_SpanObject):
    """A text edit; the replacement is inserted where start and end are the same."""

    replacement: str


class FixObject(TypedDict):
    """A repair; applying its edits, which do not overlap, makes the query bounded."""

    title: Words
    kind: Annotated[str, ("enum", ("safe", "changes-results"))]
    sql: str
    changes: list[str]
    note: str
    edits: list[EditObject]


class SuppressionObject(TypedDict):
    """Who accepts a finding: a comment, a baseline or the catalog, where, why and until which day."""

    kind: Annotated[str, ("enum", ("comment", "baseline", "catalog"))]
    reason: str
    until: Day | None
    where: str


class DiagnosticObject(TypedDict):
    """A diagnostic."""

    code: CodeText
    name: Words
    severity: Severity
    message: Words
    file: str
    line: Place
    column: Place
    end_line: Place
    end_column: Place
    condition: str
    help: str
    related: list[RelatedObject]
    fixes: list[FixObject]
    suppression: SuppressionObject | None


class EngineFixObject(TypedDict):
    """A change that makes the engine keep less, and whether results stay the same, or what is lost."""

    text: Words
    same_results: bool
    loses: str | None


class EngineStateObject(TypedDict):
    """A state of an operator of the engine, for one side if it has two; `lifetime_us` is of event time."""

    operator: Words
    side: Annotated[str, ("enum", ("left", "right"))] | None
    source: str | None
    kept: StateClass
    by: GoesBy
    lifetime_us: Amount | None
    rows: Amount | None
    bytes: Amount | None
    formula: str
    why: str
    fix: EngineFixObject | None
    notes: list[str]
    line: Place
    column: Place


class EngineDropObject(TypedDict):
    """Results that the engine never gives: of rows in order, or, if not certain, of late ones."""

    message: Words
    certain: bool
    fix: EngineFixObject | None
    line: Place
    column: Place


class EngineRefusalObject(TypedDict):
    """Why the engine does not run the query, and when it says so."""

    when: Phase
    why: Words
    error: str
    fix: EngineFixObject | None
    line: Place
    column: Place


class EngineObject(TypedDict):
    """The model of the user's own engine for the query as written (--engine); `unread`: why there is none."""

    name: StreamEngine
    version: Words
    kept: Annotated[str, ("enum", ("none", "constant", "window", "grows"))]
    unread: str | None
    states: list[EngineStateObject]
    drops: list[EngineDropObject]
    refusals: list[EngineRefusalObject]
    notes: list[str]


class QueryObject(TypedDict):
    """One statement; a line of JSON Lines."""

    name: str
    file: str
    line: Place
    projection: Annotated[str, ("enum", ("bag", "set", "snapshot", "tp"))] | None
    verdict: Verdict
    suppressed: bool
    criteria: list[CriterionObject]
    lto_queries: Amount | None
    tier: Tier | None
    bound: BoundObject | None
    certificate: Annotated[Mapping[str, Any] | None, ("description", "For streambound recheck.")]
    witness: WitnessObject | None
    repairs: RepairsObject | None
    engine: EngineObject | None
    diagnostics: list[DiagnosticObject]


class StateObject(TypedDict):
    """A statement as it was before or is after a change."""

    file: str
    line: Place
    verdict: Verdict
    suppressed: bool
    bound: BoundObject | None


class TransitionObject(TypedDict):
    """The transition of a statement."""

    change: Annotated[str, ("enum", ("worse", "grew", "new", "better", "shrank", "removed"))]
    name: str
    touched: bool
    old: StateObject | None
    new: StateObject | None


class AgainstObject(TypedDict):
    """The comparison with a commit."""

    ref: str
    counts: dict[Annotated[str, ("enum", ("worse", "grew", "new", "better", "shrank", "removed", "same"))], Amount]
    transitions: list[TransitionObject]


class StaleObject(TypedDict):
    """An entry of a baseline that nothing needs any more; its line there."""

    file: str
    query: str
    code: CodeText
    line: Amount


class BaselineObject(TypedDict):
    """The comparison with a baseline."""

    file: str
    known: Amount
    stale: list[StaleObject]


class SummaryObject(TypedDict):
    """Figures of all statements together."""

    summary: Annotated[
        dict[Verdict, Amount],
        ("description", "How many queries have each verdict; they sum to the queries."),
    ]
    suppressed: Annotated[
        int,
        ("minimum", 0),
        ("description", "How many of the queries pass although they are not bounded."),
    ]
    against: Annotated[AgainstObject, ("description", "What became of the queries since a commit (--against).")] | None
    baseline: (
        Annotated[
            BaselineObject,
            ("description", "The baseline, how many of its entries hold, and those that nothing needs any more."),
        ]
        | None
    )


class _ReportHead(TypedDict):
    schema_version: Annotated[int, ("const", 3)]
    queries: list[QueryObject]


class ReportObject(_ReportHead, SummaryObject):
    """The whole report."""


DEFINED = (QueryObject, EngineObject, CriterionObject, DiagnosticObject, FixObject, StateObject)
"""What the schema says once, under a name of its own."""
