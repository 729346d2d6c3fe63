"""From files to checked statements: what `streambound check` reports on, one value per statement seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analyzer.catalog import Catalog, suggest
from analyzer.diagnostics import Diagnostic
from analyzer.errors import InputError, TooManyBranchesError, UsageError
from analyzer.lower import lower
from analyzer.query import Query
from analyzer.spans import SourceText
from analyzer.statements import Statement, split_statements
from analyzer.workspace import Workspace, read_query
from criteria.bound import Bound, bound
from criteria.paper import MOST_STRICT, strict_branches, weak_joins
from criteria.verdict import Decision, Verdict, decide
from preprocess.count_lto import count_lto

_UNSUPPORTED = frozenset({"SB110", "SB111", "SB112", "SB113"})


@dataclass(frozen=True)
class Checked:
    """One statement's verdict. ``decision``, ``bound`` and ``lto_queries`` are None where there is none."""

    statement: Statement
    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]
    decision: Decision | None = None
    bound: Bound | None = None
    lto_queries: int | None = None

    @property
    def source(self) -> SourceText:
        """The file's text, for carets."""
        return self.statement.source


def check_source(source: SourceText, catalog: Catalog) -> tuple[Checked, ...]:
    """Check every statement of a text; raises InputError when it holds none."""
    statements = split_statements(source)
    if not statements:
        raise InputError("the file holds no SQL statement", file=source.file, remedy="remove it, or add a query")
    return tuple(check_statement(statement, catalog) for statement in statements)


def check_statement(statement: Statement, catalog: Catalog) -> Checked:
    """Lower one statement and decide it."""
    lowered = lower(statement, catalog)
    if lowered.query is None:
        codes = {diagnostic.code for diagnostic in lowered.diagnostics}
        verdict = Verdict.UNSUPPORTED if codes <= _UNSUPPORTED else Verdict.ERROR
        return Checked(statement, verdict, lowered.diagnostics)
    try:
        decision = decide(lowered.query)
    except TooManyBranchesError as error:
        return Checked(statement, Verdict.UNKNOWN, (_too_many_branches(error),))
    split = decision.derivation.split
    found = bound(split) if decision.verdict is Verdict.BOUNDED else None
    return Checked(statement, decision.verdict, decision.diagnostics, decision, found, lto_queries(split))


def _too_many_branches(error: TooManyBranchesError) -> Diagnostic:
    message = f"this condition, with those beside it, splits into more than {error.most:,} cases: too many to decide"
    return Diagnostic("SB208", message, error.file, error.span, error.remedy)


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
    path = Path(query)
    is_file = path.is_file() or query == "-"
    if not is_file and (path.suffix or path.is_dir()):
        raise InputError("a directory, not a query file" if path.is_dir() else "no such file", file=query)
    workspace = Workspace(catalog_file)
    files = [path] if is_file else workspace.registered()
    checked = [item for file in files for item in check_source(read_query(file), workspace.catalog(file))]
    wanted = name if is_file else query
    matches = [item for item in checked if wanted is None or item.statement.name == wanted]
    names = [item.statement.name for item in checked]
    if not matches:
        remedy = suggest(str(wanted), names) or f"there are: {', '.join(names)}"
        raise UsageError(f"no query is called {wanted!r}", remedy=remedy)
    if len(matches) > 1:
        raise UsageError(
            f"{query} holds {len(matches)} statements", remedy=f"choose one with --name: {', '.join(names)}"
        )
    return workspace.catalog(path if is_file else None), matches[0]
