"""What `explain` prints for one checked statement."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.algebra.blocks import blocks
from streambound.analyzer.algebra.facts import NOW, ColumnFacts, FactsOfTree, TimePromise, ViewFacts
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.algebra.tree_text import tree_text as algebra_text
from streambound.analyzer.algebra.verify import violations
from streambound.analyzer.errors import BrokenInvariant
from streambound.analyzer.types import DataType
from streambound.analyzer.values import decode
from streambound.criteria.check import Checked
from streambound.criteria.judged import Judged
from streambound.criteria.repairs.repair import with_repairs
from streambound.reports.derivation import derivation, paper_note
from streambound.reports.outcome import outcome
from streambound.reports.stages import STAGES
from streambound.reports.terminal import tree_text
from streambound.reports.text_report import bound_text, diagnostic_lines, notes, verdict_line
from streambound.temporal.plan_text import rewriting_text

STAGE_NAMES = ("derivation", "tree", "rewriting", "states", *(stage.name for stage in STAGES), "verdict")
"""The stages that need nothing but the checked statement."""

QUERY_STAGES = ("tree", *(stage.name for stage in STAGES if stage.sql is not None))
"""The stages that are queries: trees of operators, or SQL."""


def stage_text(name: str, checked: Checked, color: bool, sql: bool = False) -> str:
    """A stage as text; the diagnostics instead, where the statement has no meaning in the query language.

    ``sql``: as SQL, where it is a query.
    """
    if name == "tree" and checked.tree is not None and checked.catalog is not None:
        return to_sql(checked.tree).sql("spark") if sql else algebra(checked)
    if name == "states" and checked.circuit is not None:
        return "\n".join(states_lines(checked.circuit))
    if checked.blocks is not None and name in ("derivation", "rewriting"):
        return rewriting_text(checked.blocks)
    if name == "rewriting" and not checked.diagnostics:
        return "it has no SEQ block, so that nothing is rewritten over periods"
    if checked.decision is None or name in ("verdict", "states", "rewriting"):
        return verdict_text(checked, color)
    if name == "derivation":
        return tree_text(derivation(checked, checked.decision), color)
    stage = next(stage for stage in STAGES if stage.name == name)
    show = stage.sql if sql and stage.sql is not None else stage.show
    return show(checked, checked.decision)


def algebra(checked: Checked) -> str:
    """The operators that a statement names, with its select-project-join blocks, and what is known of each.

    Raises BrokenInvariant where a statement that has a meaning has a tree that has none.
    """
    assert checked.tree is not None and checked.catalog is not None, "asked for a statement that names operators"
    catalog, marked = checked.catalog, blocks(checked.tree, checked.catalog)
    known = FactsOfTree(catalog)
    decided = checked.decision is not None or checked.circuit is not None
    if decided and (wrong := violations(marked, catalog)):
        raise BrokenInvariant(f"the tree of this statement is no query: {'; '.join(wrong)}")
    known.of(marked)
    return algebra_text(marked, lambda operator: facts_text(known.of(operator), schema(operator, catalog)))


def states_lines(circuit: Judged) -> list[str]:
    """The states of each operator, by which proposition, and when entries go; or the violations of propositions."""
    lines = []
    for result in circuit.criteria:
        lines.append(f"{result.name}: {'holds' if result.holds else 'violated'}")
        for violation in result.violations:
            lines.append(f"  at {violation.span.line}:{violation.span.column}: {violation.message}")
        for state in (state for state in circuit.states if state.proposition == result.name):
            keys = f" for each {', '.join(state.keys)}" if state.keys else ""
            lines.append(f"  {state.name}: at most {state.size.text}{keys}; dropped {state.freed}")
            if state.name.startswith("over "):
                lines.append("    rows that ORDER BY leaves equal are in order of their other columns, NULL first")
    return lines or ["nothing is remembered"]


def verdict_text(checked: Checked, color: bool) -> str:
    """The verdict, every diagnostic with every repair, every criterion by clauses, the bound per table."""
    checked = with_repairs(checked, thorough=True)
    shown = outcome(checked)
    lines = [verdict_line(shown, color)]
    for diagnostic in checked.diagnostics:
        lines.extend(("", *diagnostic_lines(shown, diagnostic, color, whole=True)))
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
    if checked.circuit is not None:
        lines += ["", *states_lines(checked.circuit)]
    return "\n".join(lines)


_MOST_LISTED = 6
"""Values of a column that are told one by one."""


def facts_text(found: ViewFacts, columns: Schema) -> str:
    """How rows change, their keys, how many there are, what is kept; then what is known of the columns.

    Of a column its domain, and its distance from ``now``, the time at which a row is added or taken back.
    """
    keys = [f"key ({', '.join(sorted(key)) or 'none: one row'})" for key in found.keys]
    rows = [] if found.rows is None else [f"at most {found.rows:,} rows"]
    state = [f"remembers at most {found.state:,} rows"] if found.state else []
    known = [text for column, facts in zip(columns, found.columns, strict=False) for text in _of_column(column, facts)]
    return "; ".join((str(found.change), *keys, *rows, *state, *known))


def _of_column(column: ViewColumn, facts: ColumnFacts) -> Iterator[str]:
    name = f"{column.alias}.{column.name}".strip(".")
    domain = _values(facts, column.type) if column.type is not None else ""
    if domain:
        yield f"{name} {domain}"
    now = next((time for time in facts.times if time.source == NOW), None)
    if now is not None:
        yield f"{name} {_time(now)}"


def _values(facts: ColumnFacts, kind: DataType) -> str:
    values, null = facts.values, " or NULL" * facts.values.null
    if values.listed is not None and len(values.listed) <= _MOST_LISTED:
        texts = [decode(value, kind) for value in sorted(values.listed, key=lambda v: (str(type(v)), v))]
        return f"in ({', '.join(texts)}){null}" if texts else "is NULL" * values.null
    low, high = (None if end is None else decode(end, kind) for end in values.ends)
    if low is not None and high is not None:
        return f"in {low} .. {high}{null}"
    return f">= {low}{null}" if low is not None else f"<= {high}{null}" if high is not None else ""


def _time(now: TimePromise) -> str:
    """``= now``, ``in now - 3 .. now``, ``<= now``; of a bucket that of some time: ``_t DIV 10 of a _t <= now``."""
    low, high = (None if end is None else "now" + (f" {'+-'[end < 0]} {abs(end):,}" * (end != 0))
                 for end in (now.low, now.high))  # fmt: skip
    if low is not None and high is not None:
        near = f"= {low}" if low == high else f"in {low} .. {high}"
    else:
        near = f"<= {high}" if low is None else f">= {low}"
    return f"= {now.function} of a _t {near}" if now.function else near
