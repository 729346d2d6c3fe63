"""Repairs of a rejected statement: found on its meaning, written as edits, and analysed again from the edited text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.diagnostics import Fix
from streambound.analyzer.edits import Edit, Hunk, applied, hunks
from streambound.analyzer.errors import CatalogError, TooManyBranchesError
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Query
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import split_statements
from streambound.analyzer.work import share
from streambound.criteria.repairs.catalog_patch import with_declared
from streambound.criteria.repairs.changes import candidates
from streambound.criteria.repairs.layout import Layout
from streambound.criteria.repairs.meaning import changed, same_meaning
from streambound.criteria.repairs.patch import edits_of
from streambound.criteria.repairs.rejected import Rejected
from streambound.criteria.repairs.search import MOST_CHANGES, QUICK, THOROUGH, UNIT, A, Effort, RepairSearch
from streambound.criteria.repairs.steps import Change, JoinRelation, Step
from streambound.criteria.verdict import decide
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.wording import listed
from streambound.preprocess.pipeline import Derivation

_CUT_SHORT = {
    QUICK: "`explain --emit verdict` tries more",
    THOROUGH: "there are more changes and combinations than are tried",
}


@dataclass(frozen=True, slots=True)
class Repairs:
    """The repairs of one statement, the best first; ``why_none`` says why there is none.

    ``cut_short`` says why the search ended before as many were found as are shown at most; empty where it did not.
    """

    fixes: tuple[Fix, ...] = ()
    why_none: str = ""
    cut_short: str = ""


def repair(statement: Statement, catalog: Catalog, derivation: Derivation, effort: Effort = QUICK) -> Repairs:
    """The repairs of a statement whose query is not bounded."""
    layout, query = Layout(statement, lower(statement, catalog).owners), derivation.query
    rejected = Rejected(derivation, catalog)
    search = RepairSearch(
        rejected, candidates, lambda change: written(change, layout, statement, catalog, query), effort
    )
    return repairs_of(search, _why_none)


def repairs_of(search: RepairSearch[A], why_none: Callable[[RepairSearch[A]], str]) -> Repairs:
    """What a search finds, as many of each kind as its effort says; or why there is nothing."""
    effort = search.effort
    kinds: Counter[tuple[str, ...]] = Counter()
    found: list[Fix] = []
    with share(effort.work * UNIT) as taken:
        for change, fix in search.found():
            kinds[change.kinds] += 1
            if kinds[change.kinds] <= effort.of_a_kind:
                found.append(fix)
            if len(found) == effort.repairs:
                break
    complete = len(found) == effort.repairs or not (search.exhausted or taken.ran_out)
    return Repairs(tuple(found), "" if found else why_none(search), "" if complete else _CUT_SHORT[effort])


def _why_none(search: RepairSearch[Rejected]) -> str:
    if search.unplaced:
        return "what would make it bounded has no certain place in this text: a subquery, a view or a * hides it"
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
        declared = with_declared(change.steps, in_catalog, catalog)
        after = patched(statement, in_sql, declared)
    except (ValueError, CatalogError):
        return None
    if after is None or not _holds(after, declared, intended):
        return None
    return fix_of(change, after, statement, catalog, in_sql, in_catalog, tuple(_repeated(change.steps, intended)))


def fix_of(
    change: Change,
    after: Statement,
    statement: Statement,
    catalog: Catalog,
    in_sql: tuple[Edit, ...],
    in_catalog: tuple[Edit, ...],
    notes: tuple[str, ...],
) -> Fix:
    """A change as it is shown and applied: the edits that make ``statement`` the one ``after`` it."""
    shown = tuple(_hunks(statement, in_sql, catalog, in_catalog))
    told = "; ".join((*change.notes, *notes, *_of_views(in_sql, statement)))
    edits = (*in_sql, *in_catalog)
    sql = after.source.text[after.span.start :] if statement.views else after.source.text
    return Fix(listed(change.titles), change.effect, sql.strip(), change.kinds, edits, shown, told)


def _repeated(steps: tuple[Step, ...], intended: Query) -> Iterator[str]:
    """What a join may do to the number of results, unless duplicates are eliminated."""
    for step in () if intended.distinct else steps:
        if isinstance(step, JoinRelation):
            yield f"results are repeated where rows of {step.relation.name} have the same {step.column}"


def _of_views(edits: tuple[Edit, ...], statement: Statement) -> Iterator[str]:
    """Which views change, for every statement that reads them."""
    for view in statement.views:
        first, last = view.tokens[0].start, view.tokens[-1].end + 1
        if any(first <= edit.span.start <= last for edit in edits):
            yield f"the view {view.name} changes, for everything that reads it"


def patched(statement: Statement, edits: tuple[Edit, ...], catalog: Catalog) -> Statement | None:
    """The statement after its edits; None where it is no longer one. Raises ValueError when two overlap."""
    text, span = statement.source.text, statement.span
    end = max([span.end, *(edit.span.end for edit in edits)])
    start = 0 if statement.views else span.start  # a view is read from what stands before
    edited = SourceText(statement.source.file, applied(text[:end], edits)[start:])
    statements = split_statements(edited, [-1] if statement.views else None, catalog.models)
    return statements[0] if len(statements) == 1 else None


def _holds(statement: Statement, catalog: Catalog, intended: Query) -> bool:
    """Whether a patched statement means what it should, and is bounded."""
    query = lower(statement, catalog).query
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
