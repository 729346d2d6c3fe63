"""From files to checked statements: what `streambound check` reports on, one value per statement seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.closure import closed
from streambound.analyzer.codes import Code, Severity
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.errors import InputError, TooManyBranchesError, UsageError
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Query
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import some_statements
from streambound.analyzer.toml_reader import suggest
from streambound.analyzer.work import TooMuchWork, at_most
from streambound.analyzer.workspace import Workspace
from streambound.criteria.bound import QueryBound, counted
from streambound.criteria.large_bound import large_bound
from streambound.criteria.paper import MOST_STRICT, strict_branches, weak_joins
from streambound.criteria.verdict import Decision, decide
from streambound.criteria.vocabulary import Tier, Verdict
from streambound.criteria.waiting_rows import waiting_rows
from streambound.preprocess.contradictory import contradictory
from streambound.preprocess.count_lto import count_lto

if TYPE_CHECKING:
    from streambound.criteria.repairs.repair import Repairs

STATEMENT = 2_000_000
"""Steps of work that a statement is given."""
_CACHES = (closed, contradictory, counted)
"""What is forgotten before each statement, so that those before it do not change how much work it takes."""
_TOO_LARGE = frozenset({Code.TOO_MANY_BRANCHES, Code.TOO_MUCH_WORK})
_UNSUPPORTED = frozenset({Code.UNSUPPORTED, Code.TIMESTAMP_COMPARISON, Code.PROJECTED_TIMESTAMP, Code.MIXED_UNION})


@dataclass(frozen=True)
class Checked:
    """One statement's verdict; ``decision`` is None where there is none.

    ``tree`` is what it names in the algebra, None where it names nothing; ``catalog`` what it was checked against.
    ``repairs`` are None until `with_repairs` has looked for them.
    """

    statement: Statement
    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]
    decision: Decision | None = None
    catalog: Catalog | None = field(default=None, repr=False, compare=False)
    repairs: Repairs | None = None
    tree: Tree | None = field(default=None, repr=False, compare=False)

    @property
    def rejected(self) -> bool:
        """Whether the criteria reject it, so that a repair may help."""
        return self.decision is not None and self.decision.verdict in (Verdict.UNBOUNDED, Verdict.UNKNOWN)

    @property
    def bound(self) -> QueryBound | None:
        """M; None where it is not known that there is one."""
        return self.decision.bound if self.decision is not None and self.verdict is Verdict.BOUNDED else None

    @cached_property
    def lto_queries(self) -> int | None:
        """The number of LTO queries that it stands for; None where they would have to be enumerated."""
        return lto_queries(self.decision.derivation.split) if self.decision is not None else None

    @property
    def source(self) -> SourceText:
        """The file's text, for carets."""
        return self.statement.source

    @property
    def tier(self) -> Tier | None:
        """What the memory depends on; None where that is not known, or there is no verdict."""
        match self.verdict:
            case Verdict.UNBOUNDED:
                return Tier.UNBOUNDED
            case Verdict.UNKNOWN:
                return Tier.UNKNOWN
        return self.bound.tier if self.bound else None


def check_source(source: SourceText, catalog: Catalog, only: Sequence[int] | None = None) -> tuple[Checked, ...]:
    """Check every statement of a text, or some, by their numbers from 0; raises InputError when it holds none."""
    return tuple(check_statement(statement, catalog) for statement in some_statements(source, only, catalog.models))


def check_statement(statement: Statement, catalog: Catalog, most: float = STATEMENT) -> Checked:
    """Lower one statement and decide it, in at most so many steps of work (``SB212``)."""
    for cached in _CACHES:
        cached.cache_clear()
    try:
        with at_most(most):
            return _decided(statement, catalog)
    except TooMuchWork:
        return Checked(statement, Verdict.UNKNOWN, (_too_much_work(statement, most),))


def _too_much_work(statement: Statement, most: float) -> Diagnostic:
    first = statement.tokens[0] if statement.tokens else None
    span = statement.source.span(first.start, first.end + 1) if first else statement.span
    if most < STATEMENT:
        message = "the statements before this one take all the work that a file of this length is given"
        help = "write it into another file"
    else:
        message = f"this statement takes more than the {STATEMENT:,} steps of work that one is given"
        help = "use fewer streams, conditions or alternatives; or make it several queries"
    return Diagnostic(Code.TOO_MUCH_WORK, f"{message}; it was not decided", statement.source.file, span, help)


def _decided(statement: Statement, catalog: Catalog) -> Checked:
    lowered = lower(statement, catalog)
    if lowered.query is None:
        undecided = _undecided(lowered.diagnostics)
        return Checked(statement, undecided, lowered.diagnostics, catalog=catalog, tree=lowered.tree)
    try:
        decision = decide(lowered.query)
    except TooManyBranchesError as error:
        return Checked(statement, Verdict.UNKNOWN, (_too_many_branches(error),), catalog=catalog, tree=lowered.tree)
    notes = []
    if decision.bound is not None:
        notes = [*large_bound(decision.derivation.split, decision.bound), *waiting_rows(lowered.query, catalog)]
    diagnostics = (*decision.diagnostics, *notes)
    return Checked(statement, decision.verdict, diagnostics, decision, catalog, tree=lowered.tree)


def _undecided(diagnostics: Sequence[Diagnostic]) -> Verdict:
    """The verdict of a statement that means nothing, or too much."""
    codes = {diagnostic.code for diagnostic in diagnostics}
    if codes == {Code.NO_QUERY}:
        return Verdict.NO_QUERY
    if codes <= _TOO_LARGE:
        return Verdict.UNKNOWN
    return Verdict.UNSUPPORTED if codes <= _UNSUPPORTED else Verdict.ERROR


def with_repairs(item: Checked, thorough: bool = False) -> Checked:
    """A rejected statement with its repairs, which are the fixes of its first error; all of them when thorough."""
    from streambound.criteria.repairs.repair import repair
    from streambound.criteria.repairs.search import QUICK, THOROUGH

    if not item.rejected or item.decision is None or item.catalog is None:
        return item
    repairs = repair(item.statement, item.catalog, item.decision.derivation, THOROUGH if thorough else QUICK)
    diagnostics = list(item.diagnostics)
    first = next((i for i, found in enumerate(diagnostics) if found.severity is Severity.ERROR), None)
    if first is not None:
        diagnostics[first] = replace(diagnostics[first], fixes=repairs.fixes)
    return replace(item, repairs=repairs, diagnostics=tuple(diagnostics))


def _too_many_branches(error: TooManyBranchesError) -> Diagnostic:
    message = f"this condition, with those beside it, splits into more than {error.most:,} cases: too many to decide"
    return Diagnostic(Code.TOO_MANY_BRANCHES, message, error.file, error.span, error.remedy)


def lto_queries(split: Query) -> int | None:
    """The number of LTO queries that a split query stands for; None where they would have to be enumerated."""
    if 2 ** max((len(weak_joins(branch)) for branch in split.branches), default=0) > MOST_STRICT:
        return None
    total = 0
    for branch in strict_branches(split):
        counted = count_lto(branch)
        if counted is None:
            return None
        total += counted
    return total


def find_statement(query: str, name: str | None, catalog_file: Path | None) -> tuple[Catalog, Checked]:
    """The one statement that a command's QUERY means: a file's only or named one, or a registered query of that name.

    Raises InputError for a missing file and UsageError for a name that fits none or several.
    """
    catalog, (checked,) = find_statements(query, name, catalog_file)
    return catalog, checked


def find_statements(
    query: str, name: str | None, catalog_file: Path | None, several: bool = False
) -> tuple[Catalog, list[Checked]]:
    """As `find_statement`; where ``several`` are welcome, all of a file that has no name chosen."""
    if not query:
        raise UsageError(
            "an empty argument names no query", remedy="name a file, or a query that the catalog registers"
        )
    path = Path(query)
    is_file = path.is_file() or query == "-"
    if not is_file and (path.suffix or path.is_dir()):
        raise InputError("a directory, not a query file" if path.is_dir() else "no such file", file=query)
    workspace = Workspace(catalog_file)
    files = [path] if is_file else workspace.registered()
    catalog = workspace.catalog(path if is_file else None)
    statements = [one for file in files for one in some_statements(workspace.read(file), None, catalog.models)]
    all_of_it = several and is_file and name is None and statements
    queries = [statement for statement in statements if statement.is_query]
    found = (queries or statements[:1]) if all_of_it else [one_of(statements, query, name if is_file else query)]
    return catalog, [check_statement(statement, catalog) for statement in found]


def one_of(statements: Sequence[Statement], query: str, name: str | None) -> Statement:
    """The statement of a name, or the only one; raises UsageError for a name that fits none or several."""
    if name is None:
        statements = [statement for statement in statements if statement.is_query] or statements[:1]
    matches = [statement for statement in statements if name is None or statement.name == name]
    names = [statement.name for statement in statements]
    if not matches:
        remedy = suggest(str(name), names) or f"there are: {', '.join(names)}"
        raise UsageError(f"no query is called {name!r}", remedy=remedy)
    if len(matches) > 1:
        message, remedy = _ambiguous(query, name, matches)
        raise UsageError(message, remedy=remedy)
    return matches[0]


def _ambiguous(query: str, wanted: str | None, matches: list[Statement]) -> tuple[str, str]:
    """Why several statements match, and what to do."""
    if wanted is None:
        names = ", ".join(statement.name for statement in matches)
        return f"{query} holds {len(matches)} statements", f"choose one with --name: {names}"
    places = ", ".join(f"{statement.source.file}:{statement.span.line}" for statement in matches)
    return f"{len(matches)} statements are called {wanted!r}: {places}", "give each a name of its own: -- name: …"
