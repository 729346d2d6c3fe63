"""Repairs of a rejected statement: found on its meaning, written as edits, and analysed again from the edited text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.catalog import Catalog
from analyzer.diagnostics import Fix
from analyzer.edits import Edit, Hunk, applied, hunks
from analyzer.errors import CatalogError, TooManyBranchesError
from analyzer.lower import lower
from analyzer.query import Query
from analyzer.spans import SourceText
from analyzer.statements import Statement, split_statements
from criteria.repairs.catalog_patch import with_domains
from criteria.repairs.layout import Layout
from criteria.repairs.meaning import changed, same_meaning
from criteria.repairs.patch import edits_of
from criteria.repairs.rejected import Rejected
from criteria.repairs.search import MOST_CHANGES, QUICK, THOROUGH, Effort, Search
from criteria.repairs.steps import Change
from criteria.verdict import decide
from criteria.vocabulary import Verdict
from criteria.wording import listed
from preprocess.pipeline import Derivation

_CUT_SHORT = {
    QUICK: "`explain --emit verdict` tries more",
    THOROUGH: "there are more changes and combinations than are tried",
}


@dataclass(frozen=True, slots=True)
class Repairs:
    """The repairs of one statement, the one that changes least first; ``why_none`` says why there is none.

    ``cut_short`` says why the search ended before as many were found as are shown at most; empty where it did not.
    """

    fixes: tuple[Fix, ...] = ()
    why_none: str = ""
    cut_short: str = ""


def repair(statement: Statement, catalog: Catalog, derivation: Derivation, effort: Effort = QUICK) -> Repairs:
    """The repairs of a statement whose query is not bounded."""
    layout, query = Layout(statement), derivation.query
    rejected = Rejected(derivation, catalog)
    search = Search(rejected, lambda change: written(change, layout, statement, catalog, query), effort)
    kinds: Counter[tuple[str, ...]] = Counter()
    found: list[Fix] = []
    for change, fix in search.found():
        kinds[change.kinds] += 1
        if kinds[change.kinds] <= effort.of_a_kind:
            found.append(fix)
        if len(found) == effort.repairs:
            break
    cut_short = _CUT_SHORT[effort] if search.exhausted and len(found) < effort.repairs else ""
    return Repairs(tuple(found), "" if found else _why_none(search), cut_short)


def _why_none(search: Search) -> str:
    if search.unplaced:
        return "what would make it bounded has no certain place in this text: a subquery or a * hides it"
    if search.exhausted:
        places = len({(x.source, x.column) for culprits in search.rejected.culprits for x in culprits.attributes})
        many = f"{places} attributes are to blame, and " if places > MOST_CHANGES else ""
        return f"{many}nothing that was tried makes it bounded"
    tried = "no bound, domain, window, order, relation, DISTINCT or dropped column that was tried makes it bounded"
    alone = sum(len(change.kinds) == 1 for change in search.tried)
    return f"{tried} (alone: {alone}, together: {len(search.tried) - alone})"


def written(change: Change, layout: Layout, statement: Statement, catalog: Catalog, query: Query) -> Fix | None:
    """A change as a patch; None unless the patched text means what the change says, and is bounded."""
    intended, edits = changed(query, change.steps), edits_of(change.steps, layout, catalog)
    if intended is None or edits is None:
        return None
    in_catalog = tuple(edit for edit in edits if edit.file == catalog.file and edit.file != statement.source.file)
    in_sql = tuple(edit for edit in edits if edit not in in_catalog)
    try:
        sql = _patched(statement, in_sql)
        declared = with_domains(change.steps, in_catalog, catalog)
    except (ValueError, CatalogError):
        return None
    if not _holds(sql, declared, intended, statement):
        return None
    kind = "safe" if change.safe else "changes-results"
    shown = tuple(_hunks(statement, in_sql, catalog, in_catalog))
    notes = "; ".join(change.notes)
    return Fix(listed(change.titles), kind, sql.strip(), change.kinds, (*in_sql, *in_catalog), shown, notes)


def _patched(statement: Statement, edits: tuple[Edit, ...]) -> str:
    """The statement's text after its edits; raises ValueError when they overlap."""
    text, span = statement.source.text, statement.span
    end = max([span.end, *(edit.span.end for edit in edits)])
    return applied(text[:end], edits)[span.start :]


def _holds(sql: str, catalog: Catalog, intended: Query, statement: Statement) -> bool:
    """Whether a patched statement means what it should, and is bounded."""
    statements = split_statements(SourceText(statement.source.file, sql))
    if len(statements) != 1:
        return False
    query = lower(statements[0], catalog).query
    try:
        return query is not None and same_meaning(query, intended) and decide(query).verdict is Verdict.BOUNDED
    except TooManyBranchesError:
        return False


def _hunks(
    statement: Statement, in_sql: tuple[Edit, ...], catalog: Catalog, in_catalog: tuple[Edit, ...]
) -> Iterator[Hunk]:
    if in_sql:
        yield from hunks(statement.source, in_sql)
    if in_catalog:
        yield from hunks(SourceText(catalog.file, catalog.text), in_catalog)
