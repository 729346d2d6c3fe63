"""What `explain` prints for one checked statement."""

from __future__ import annotations

from streambound.analyzer.algebra.blocks import blocks
from streambound.analyzer.algebra.facts import ViewFacts, facts
from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.algebra.tree_text import tree_text as algebra_text
from streambound.analyzer.catalog import Catalog
from streambound.criteria.check import Checked, with_repairs
from streambound.reports.derivation import derivation
from streambound.reports.outcome import outcome
from streambound.reports.paper_note import paper_note
from streambound.reports.stages import STAGES
from streambound.reports.terminal import tree_text
from streambound.reports.text_report import bound_text, diagnostic_lines, notes, verdict_line

STAGE_NAMES = ("derivation", "tree", *(stage.name for stage in STAGES), "verdict")
"""The stages that need nothing but the checked statement."""


def stage_text(name: str, checked: Checked, color: bool) -> str:
    """A stage as text; the diagnostics instead, where the statement has no meaning in the query language."""
    if name == "tree" and checked.tree is not None and checked.catalog is not None:
        return algebra(checked.tree, checked.catalog)
    if checked.decision is None or name == "verdict":
        return verdict_text(checked, color)
    if name == "derivation":
        return tree_text(derivation(checked, checked.decision), color)
    return next(stage for stage in STAGES if stage.name == name).show(checked, checked.decision)


def algebra(tree: Tree, catalog: Catalog) -> str:
    """The operators that a statement names, with its select-project-join blocks, and what is known of each."""
    return algebra_text(blocks(tree), lambda operator: _facts_text(facts(operator, catalog)))


def _facts_text(found: ViewFacts) -> str:
    keys = [f"key ({', '.join(sorted(key)) or 'none: one row'})" for key in found.keys]
    rows = [] if found.rows is None else [f"at most {found.rows:,} rows"]
    return "; ".join((str(found.change), *keys, *rows))


def verdict_text(checked: Checked, color: bool) -> str:
    """The verdict, every diagnostic with every repair, every criterion by clauses, the bound per table."""
    checked = with_repairs(checked, thorough=True)
    shown = outcome(checked)
    lines = [verdict_line(shown, color)]
    for diagnostic in checked.diagnostics:
        lines.extend(("", *diagnostic_lines(shown, diagnostic, color, None)))
    if checked.decision is not None:
        lines.append("")
        for result in checked.decision.criteria:
            lines.append(f"{result.name}: {'holds' if result.holds else 'violated'}")
            for violation in result.violations:
                place = f"{violation.span.line}:{violation.span.column}"
                culprit = violation.stream + (f".{violation.attribute}" if violation.attribute else "")
                lines.append(f"  {violation.condition} at {culprit} ({place}): {violation.message}")
        lines.extend(notes(shown))
        lines.extend(paper_note(checked.decision, result) for result in checked.decision.criteria[1:])
    if checked.bound is not None and checked.bound.tables:
        lines.append(f"synopsis{bound_text(shown)}:")
        lines.extend(f"  {table.table}: at most {table.size.text}" for table in checked.bound.tables)
    return "\n".join(lines)
