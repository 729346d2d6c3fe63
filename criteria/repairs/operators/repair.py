"""Repairs of a rejected statement beyond joins: found on its syntax, written as edits, and decided from their text."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.diagnostics import Fix
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.lower import lower
from streambound.analyzer.statement import Statement
from streambound.criteria.check import Checked, unproved
from streambound.criteria.repairs.catalog_patch import declared_edits, with_declared
from streambound.criteria.repairs.changes import ranked
from streambound.criteria.repairs.layout import Layout
from streambound.criteria.repairs.operators.changes import candidates
from streambound.criteria.repairs.operators.edits import NoPlace, Writer
from streambound.criteria.repairs.operators.open_keys import open_keys
from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.operators.syntax import changed_syntax
from streambound.criteria.repairs.repair import Repairs, fix_of, patched, repairs_of
from streambound.criteria.repairs.search import QUICK, Effort, RepairSearch
from streambound.criteria.repairs.steps import Change
from streambound.criteria.vocabulary import Verdict


def repair_statement(statement: Statement, catalog: Catalog, effort: Effort = QUICK) -> Repairs:
    """The repairs of a statement that is not bounded."""
    return _repaired(statement, catalog, effort, candidates)


def numbered_keys(statement: Statement, catalog: Catalog, effort: Effort = QUICK) -> Repairs:
    """The repairs of a statement that is not bounded by how many keys are open, whose ends the catalog tells."""
    if not any(key.max_open is None for table in catalog.tables for key in table.ending):
        return Repairs()
    return _repaired(statement, catalog, effort, lambda rejected, most: ranked((open_keys,), rejected, most))


def _repaired(
    statement: Statement,
    catalog: Catalog,
    effort: Effort,
    candidates: Callable[[RejectedTree, int], tuple[Change, ...]],
) -> Repairs:
    rejected = RejectedTree.of(statement, catalog)
    if rejected is None or statement.tree is None:
        return Repairs(why_none="it takes too much work to look for one")
    writer = Writer(statement, Layout(statement, lower(statement, catalog).owners))
    search = RepairSearch(rejected, candidates, lambda change: written(change, writer, catalog), effort)
    return repairs_of(search, _why_none)


def _why_none(search: RepairSearch[RejectedTree]) -> str:
    if search.unplaced:
        return "what would make it bounded has no certain place in this text: a view or a * hides it"
    tried = "no condition, window, domain, AS OF or other change that was tried makes it bounded"
    alone = sum(len(change.kinds) == 1 for change in search.tried)
    return f"{tried} (alone: {alone}, together: {len(search.tried) - alone})"


def written(change: Change, writer: Writer, catalog: Catalog) -> Fix | None:
    """A change as a patch; None unless the patched text is what the change says, and is bounded."""
    statement = writer.statement
    intended = changed_syntax(statement.tree, change.steps) if statement.tree is not None else None
    declared = declared_edits(change.steps, catalog)
    if intended is None or declared is None:
        return None
    try:
        in_sql = writer.edits(change.steps)
        after = with_declared(change.steps, declared, catalog)
        changed = patched(statement, in_sql, after)
    except (NoPlace, ValueError, CatalogError):
        return None
    if changed is None or changed.tree is None or _plain(changed.tree) != _plain(intended):
        return None
    checked = unproved(changed, after)
    if checked.verdict is not Verdict.BOUNDED:
        return None
    return fix_of(change, changed, statement, catalog, in_sql, declared, (_remembered(checked),))


def _remembered(checked: Checked) -> str:
    """What a repaired statement remembers."""
    found = checked.circuit_bound or checked.bound
    if found is None:
        return "then it is bounded"
    number = found.entries.value
    if number == 0:
        return "then nothing is remembered"
    counted = found.entries.text if number is None else format(number, ",")
    return f"then at most {counted} {'entry' if number == 1 else 'entries'}"


def _plain(tree: exp.Expr) -> str:
    """Syntax without its comments."""
    return str(tree.sql("spark", comments=False))
