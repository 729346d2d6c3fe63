"""The Python API: what `import streambound` offers, for gates, notebooks and tests. The command line says the same.

Failures that the user can do something about are `StreamboundError`s, with the place and a remedy; what is wrong with a
query is no failure but a finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

from streambound.analyzer.catalog import Catalog, catalog_from_mapping, parse_catalog
from streambound.analyzer.catalog import load_catalog as catalog_of_file
from streambound.analyzer.errors import UsageError
from streambound.analyzer.spans import SourceText

if TYPE_CHECKING:
    from streambound.analyzer.diagnostics import Diagnostic, Fix
    from streambound.criteria.check import Checked
    from streambound.reports.outcome import Outcome

SQL = "<sql>"
"""The file of statements that are given as text."""
TEXT = "<catalog>"
"""The file of a catalog that is given as text or as a dictionary."""
_DETAILS = frozenset({"certificate", "lto_queries", "theorems"})
_CRITERIA = ("exact", "paper")


def load_catalog(source: str | Path | Mapping[str, Any]) -> Catalog:
    """A catalog from a file, a text or a dictionary; raises CatalogError, which names file, line and column.

    A string is a catalog's text if it holds a newline or ``=``, else a path. A dictionary is what TOML would give.
    """
    if isinstance(source, Mapping):
        return catalog_from_mapping(source, TEXT)
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return parse_catalog(source, TEXT)
    return catalog_of_file(Path(source))


class StreamingFrame(Protocol):
    """A DataFrame of PySpark."""

    @property
    def isStreaming(self) -> bool:  # PySpark's name
        """Whether it reads a stream."""


@dataclass(frozen=True, slots=True)
class Bound:
    """M, the most entries between two timestamps: a formula, and a number where the catalog gives one.

    Both are None where a bound exists and takes too many tables to be written down.
    """

    formula: str | None
    entries: int | None


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """What was found of one statement."""

    outcome: Outcome

    def __repr__(self) -> str:
        from streambound.reports.text_report import verdict_line

        found = ", ".join(f"{one.code} {one.code.slug}" for one in self.diagnostics)
        return f"<streambound.Result: {verdict_line(self.outcome, False)}{found and f'; {found}'}>"

    @property
    def name(self) -> str:
        """As a comment before the statement names it, else the file and its place there."""
        return self.outcome.name

    @property
    def verdict(self) -> str:
        """``bounded``, ``unbounded``, ``unknown``, ``unsupported`` or ``error``, as in the JSON report."""
        return self.outcome.verdict.value

    @property
    def tier(self) -> str | None:
        """What the memory depends on, as in the JSON report; None where that is not known."""
        return self.outcome.tier.value if self.outcome.tier else None

    @property
    def bound(self) -> Bound | None:
        """M; None for a statement that is not bounded."""
        found = self.outcome.bound
        return None if found is None else Bound(found.formula, found.entries)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings, each with its code, severity, message, place, help and fixes."""
        return self.outcome.diagnostics

    @property
    def repairs(self) -> tuple[Fix, ...]:
        """Changes that make the statement bounded, the best first; none where it is, or where none was found."""
        return next((found.fixes for found in self.diagnostics if found.fixes), ())

    @property
    def passes(self) -> bool:
        """Whether a gate lets it pass: it is bounded without an error, or somebody has accepted each error."""
        return self.outcome.passes

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        """Why M holds, for `streambound recheck`; None where there is no bound."""
        return self.outcome.certificate


class Report(Sequence[Result]):
    """The results in the order of the statements, each also by its name."""

    def __init__(self, outcomes: tuple[Outcome, ...]) -> None:
        self._outcomes = outcomes
        self._results = tuple(map(Result, outcomes))

    @overload
    def __getitem__(self, index: int | str) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...
    def __getitem__(self, index: int | str | slice) -> Result | Sequence[Result]:
        """A result by its place or name, or some of them; raises KeyError for a name that no statement has."""
        if isinstance(index, str):
            named = {result.name: result for result in self._results}
            if index not in named:
                raise KeyError(f"no statement is called {index!r}: there are {', '.join(named) or 'none'}")
            return named[index]
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        from streambound.reports.totals import total_text

        return f"<streambound.Report: {total_text(self._outcomes)}>"

    def __str__(self) -> str:
        return self.render("text")

    @property
    def passes(self) -> bool:
        """Whether a gate lets all statements pass."""
        return all(result.passes for result in self)

    def render(self, form: str) -> str:
        """The report as `streambound check --format` prints it; raises UsageError for a format that there is not."""
        from streambound.reports.formats import FORMAT_NAMES, format_named

        if form not in FORMAT_NAMES:
            raise UsageError(f"there is no format {form!r}", remedy=f"the formats are {', '.join(FORMAT_NAMES)}")
        return format_named(form).render(self._outcomes)

    def to_json(self) -> str:
        """The JSON report, the same as that of `streambound check --format json`."""
        return self.render("json")

    def _repr_html_(self) -> str:
        """What a notebook shows: the HTML report, in a frame of its own."""
        page = escape(self.render("html"), quote=True)
        return f'<iframe title="streambound" style="width:100%;height:36em;border:0" srcdoc="{page}"></iframe>'


@dataclass(frozen=True, slots=True)
class _OneText:
    """Statements that are given as text, and their catalog."""

    source: SourceText
    found: Catalog

    def read(self, file: Path) -> SourceText:
        return self.source

    def texts(self, _: Catalog) -> Iterator[SourceText]:
        """No other text."""
        return iter(())

    def catalog(self, file: Path | None = None) -> Catalog:
        return self.found


def check(
    query: str | StreamingFrame,
    catalog: Catalog | str | Path | Mapping[str, Any] | None = None,
    *,
    criteria: str = "exact",
    repairs: bool = True,
    output_mode: str = "append",
) -> Report:
    """The verdict of every statement of a text, or of a streaming DataFrame, as `streambound check` gives it.

    ``catalog`` is one, or what `load_catalog` takes; a DataFrame needs none, as its plan says what its streams are.
    ``criteria`` "paper" judges by the paper's theorems alone; without ``repairs`` none are looked for, which is faster.
    ``output_mode`` is the one in which a DataFrame would be written. Nothing is read but the catalog, and no query is
    started.
    """
    from streambound.gate.check_files import GateSettings, check_sources
    from streambound.gate.policy import Policy
    from streambound.gate.reported import reported
    from streambound.gate.suppressions import today

    if criteria not in _CRITERIA:
        raise UsageError(f"there are no criteria {criteria!r}", remedy=f"choose one of {', '.join(_CRITERIA)}")
    if not isinstance(query, str):
        return Report((_of_frame(query, None if catalog is None else catalog_of(catalog), criteria, output_mode),))
    if catalog is None:
        raise UsageError("SQL is checked against a catalog", remedy="give one: a file, a text, a dictionary")
    known, source = catalog_of(catalog), SourceText(SQL, query)
    settings = GateSettings(criteria, None if repairs else 0, _DETAILS)
    found = check_sources([source], _OneText(source, known), settings)
    return Report(reported(found, Policy(known), today()))


def _of_frame(frame: StreamingFrame, catalog: Catalog | None, criteria: str, mode: str) -> Outcome:
    """What is reported of a DataFrame, at places of the SQL that its plan is."""
    from streambound.analyzer.engine_profiles import OutputMode
    from streambound.gate.spark_frames import query_outcome
    from streambound.importing.frames.spark_program import query_of

    if mode not in tuple(OutputMode):
        raise UsageError(f"there is no output mode {mode!r}", remedy=f"choose one of {', '.join(OutputMode)}")
    return query_outcome(query_of(frame, mode), None, catalog, "dataframe", criteria)


def explain(
    query: str,
    catalog: Catalog | str | Path | Mapping[str, Any] | None = None,
    *,
    stages: Sequence[str] = ("derivation", "verdict"),
    name: str | None = None,
    sql: bool = False,
) -> str:
    """How a verdict came about, or the page of a code such as "SB201", as `streambound explain` prints it.

    ``stages`` are those of `--emit` that need no Spark; ``name`` chooses one of several statements. With ``sql`` stages
    that are queries are SQL, as with `--format sql`. Raises UsageError for a stage or a name that there is not.
    """
    from streambound.reports.explanation import QUERY_STAGES, STAGE_NAMES, stage_text

    if catalog is None:
        return _page(query)
    unknown = next((stage for stage in stages if stage not in STAGE_NAMES), None)
    if unknown is not None:
        raise UsageError(f"there is no stage {unknown!r}", remedy=f"the stages are {', '.join(STAGE_NAMES)}")
    checked = statement_of(query, catalog_of(catalog), name)
    if sql and not (stages and set(stages) <= set(QUERY_STAGES)):
        raise UsageError("sql is for stages that are queries", remedy=f"they are {', '.join(QUERY_STAGES)}")
    return "\n\n".join(stage_text(stage, checked, False, sql=sql) for stage in stages)


def _page(code: str) -> str:
    from streambound.analyzer.codes import Code
    from streambound.reports.code_page import code_page

    known = Code.named(code.upper())
    if known is None:
        remedy = f"the codes are {', '.join(Code)}; to explain a query give its catalog, too"
        raise UsageError(f"there is no diagnostic code {code}", remedy=remedy)
    return code_page(known)


def statement_of(sql: str, catalog: Catalog, name: str | None) -> Checked:
    """One statement of a text, checked; raises UsageError for a name that there is not."""
    from streambound.analyzer.statements import some_statements
    from streambound.criteria.check import check_statement, one_of

    return check_statement(one_of(some_statements(SourceText(SQL, sql), None, catalog.readable), SQL, name), catalog)


def catalog_of(catalog: Catalog | str | Path | Mapping[str, Any]) -> Catalog:
    """A catalog, or what `load_catalog` takes, as one."""
    return catalog if isinstance(catalog, Catalog) else load_catalog(catalog)
