"""The JSON output of `check`: schema version 1, stable keys, lines and columns 1-based, ends exclusive."""

from __future__ import annotations

import json
from typing import Any

from analyzer.diagnostics import Diagnostic, Fix, Related, Suppression
from analyzer.edits import Edit
from criteria.violation import CriterionResult, Violation
from reports.outcome import Outcome
from reports.totals import counts

SCHEMA_VERSION = 1


def json_report(checked: tuple[Outcome, ...], color: bool = False) -> str:
    """All checked statements as one JSON document; ``color`` is ignored."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "queries": [query_json(item) for item in checked],
        **summary_json(checked),
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def summary_json(checked: tuple[Outcome, ...]) -> dict[str, Any]:
    """How many statements have each verdict, and how many of them are suppressed."""
    summary = {verdict.value: number for verdict, number in counts(checked).items()}
    return {"summary": summary, "suppressed": sum(item.suppressed for item in checked)}


def query_json(item: Outcome) -> dict[str, Any]:
    """One statement."""
    bound = item.bound
    return {
        "name": item.name,
        "file": item.source.file,
        "line": item.span.line,
        "projection": item.projection,
        "verdict": item.verdict.value,
        "suppressed": item.suppressed,
        "criteria": [_criterion(result) for result in item.criteria],
        "lto_queries": item.lto_queries,
        "tier": item.tier.value if item.tier else None,
        "bound": {"entries": bound.entries, "formula": bound.formula} if bound and bound.formula else None,
        "certificate": item.certificate,
        "witness": item.witness,
        "repairs": {"why_none": item.why_no_repair or None, "cut_short": item.repairs_cut_short or None}
        if item.repaired
        else None,
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in item.diagnostics],
    }


def _criterion(result: CriterionResult) -> dict[str, Any]:
    return {"name": result.name, "holds": result.holds, "violations": [_violation(v) for v in result.violations]}


def _violation(violation: Violation) -> dict[str, Any]:
    return {
        "condition": violation.condition,
        "stream": violation.stream,
        "attribute": violation.attribute,
        "message": violation.message,
        "line": violation.span.line,
        "column": violation.span.column,
    }


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "name": diagnostic.rule.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": diagnostic.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "condition": diagnostic.condition,
        "help": diagnostic.help,
        "related": [_related(related) for related in diagnostic.related],
        "fixes": [_fix(fix) for fix in diagnostic.fixes],
        "suppression": _suppression(diagnostic.suppression),
    }


def _related(related: Related) -> dict[str, Any]:
    span = related.span
    return {
        "file": related.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "message": related.message,
    }


def _suppression(suppression: Suppression | None) -> dict[str, Any] | None:
    """Who accepts the finding: a comment or a baseline, where, why and until which day."""
    if suppression is None:
        return None
    until = suppression.until.isoformat() if suppression.until else None
    return {"kind": suppression.kind, "reason": suppression.reason, "until": until, "where": suppression.where}


def _fix(fix: Fix) -> dict[str, Any]:
    """A repair; applying its edits, which do not overlap, makes the query bounded."""
    return {
        "title": fix.title,
        "kind": fix.kind,
        "sql": fix.sql,
        "changes": list(fix.changes),
        "note": fix.note,
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    """A text edit; the replacement is inserted where start and end are the same."""
    span = edit.span
    return {
        "file": edit.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "replacement": edit.replacement,
    }
