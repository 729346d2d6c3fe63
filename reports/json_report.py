"""The JSON output of `check`: schema version 1, stable keys, lines and columns 1-based, ends exclusive."""

from __future__ import annotations

import json
from typing import Any

from analyzer.diagnostics import Diagnostic, Fix
from analyzer.edits import Edit
from criteria.certificate import certificate, to_json
from criteria.check import Checked
from criteria.verdict import Verdict
from criteria.violation import CriterionResult, Violation

SCHEMA_VERSION = 1


def json_report(checked: tuple[Checked, ...], color: bool = False) -> str:
    """All checked statements as one JSON document; ``color`` is ignored."""
    summary = {verdict.value: sum(item.verdict is verdict for item in checked) for verdict in Verdict}
    document = {"schema_version": SCHEMA_VERSION, "queries": [_query(item) for item in checked], "summary": summary}
    return json.dumps(document, indent=1, ensure_ascii=False)


def _query(item: Checked) -> dict[str, Any]:
    decision = item.decision
    return {
        "name": item.statement.name,
        "file": item.source.file,
        "line": item.statement.span.line,
        "projection": decision.query.projection if decision else None,
        "verdict": item.verdict.value,
        "criteria": [_criterion(result) for result in decision.criteria] if decision else [],
        "lto_queries": item.lto_queries,
        "tier": item.tier.value if item.tier else None,
        "bound": {"entries": item.bound.entries.value, "formula": item.bound.entries.text} if item.bound else None,
        "certificate": _certificate(item),
        "witness": _witness(item),
        "repairs": _repairs(item),
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in item.diagnostics],
    }


def _witness(item: Checked) -> dict[str, Any] | None:
    """What the witness keeps, for an unbounded query; `streambound witness` writes one of any size."""
    witness = item.decision.witness if item.decision is not None and item.verdict is Verdict.UNBOUNDED else None
    if witness is None:
        return None
    kept, probes = ([str(k.attribute) for k in witness.plan.kept], sorted(witness.plan.after))
    return {"attributes": kept, "probe_streams": probes, "replays_a_match": witness.plan.replay}


def _repairs(item: Checked) -> dict[str, Any] | None:
    """Why no repair was found, and whether the search for more ended early; the fixes are those of a diagnostic."""
    if item.repairs is None:
        return None
    return {"why_none": item.repairs.why_none or None, "cut_short": item.repairs.cut_short}


def _certificate(item: Checked) -> Any:
    """All that is needed to check the bound again (`criteria.certificate`)."""
    if item.bound is None or item.decision is None:
        return None
    return to_json(certificate(item.bound, item.decision.query.distinct))


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
        "related": [{"file": r.file, "line": r.line, "message": r.message} for r in diagnostic.related],
        "fixes": [_fix(fix) for fix in diagnostic.fixes],
    }


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
