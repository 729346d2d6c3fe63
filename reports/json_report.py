"""The JSON output of `check`: schema version 1, stable keys, lines and columns 1-based, ends exclusive."""

from __future__ import annotations

import json
from typing import cast

from streambound.analyzer.diagnostics import Diagnostic, Fix, FixKind, Related, Suppression
from streambound.analyzer.edits import Edit
from streambound.criteria.engines.profile import EngineFix, EngineReading
from streambound.criteria.violation import CriterionResult, Violation
from streambound.reports.beside import NOTHING, Beside, QueryState
from streambound.reports.json_model import (
    AgainstObject,
    BaselineObject,
    BoundObject,
    CriterionObject,
    DiagnosticObject,
    EditObject,
    EngineFixObject,
    EngineObject,
    FixObject,
    QueryObject,
    RelatedObject,
    ReportObject,
    StaleObject,
    StateObject,
    SummaryObject,
    SuppressionObject,
    ViolationObject,
    WitnessObject,
)
from streambound.reports.outcome import BoundText, Outcome
from streambound.reports.totals import counts

SCHEMA_VERSION = 3


def json_report(checked: tuple[Outcome, ...], color: bool = False, beside: Beside = NOTHING) -> str:
    """All checked statements as one JSON document; ``color`` is ignored."""
    document: ReportObject = {
        "schema_version": SCHEMA_VERSION,
        "queries": [query_json(item) for item in checked],
        **summary_json(checked, beside),
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def summary_json(checked: tuple[Outcome, ...], beside: Beside) -> SummaryObject:
    """How many statements have each verdict, and how many of them are suppressed; what the run was compared with."""
    return {
        "summary": dict(counts(checked)),
        "suppressed": sum(item.suppressed for item in checked),
        "against": _against(beside.ref, beside) if beside.ref is not None else None,
        "baseline": _baseline(beside.baseline, beside) if beside.baseline is not None else None,
    }


def _against(ref: str, beside: Beside) -> AgainstObject:
    """What became of the queries since a commit; those that are as they were are only counted."""
    return {
        "ref": ref,
        "counts": dict(beside.counts),
        "transitions": [
            {
                "change": one.change,
                "name": one.name,
                "touched": one.touched,
                "old": _state(one.old),
                "new": _state(one.new),
            }
            for one in beside.changed
        ],
    }


def _state(state: QueryState | None) -> StateObject | None:
    if state is None:
        return None
    return {
        "file": state.file,
        "line": state.line,
        "verdict": state.verdict,
        "suppressed": state.suppressed,
        "bound": _bound(state.bound),
    }


def _baseline(file: str, beside: Beside) -> BaselineObject:
    """The entries of the baseline that nothing needs any more."""
    stale: list[StaleObject] = [
        {"file": one.file, "query": one.query, "code": one.code, "line": one.line} for one in beside.stale
    ]
    return {"file": file, "known": beside.known, "stale": stale}


def _bound(bound: BoundText | None) -> BoundObject | None:
    if bound is None or bound.formula is None:
        return None
    return {"entries": bound.entries, "bytes": bound.bytes, "formula": bound.formula}


def query_json(item: Outcome) -> QueryObject:
    """One statement."""
    return {
        "name": item.name,
        "file": item.source.file,
        "line": item.span.line,
        "projection": item.projection,
        "verdict": item.verdict,
        "suppressed": item.suppressed,
        "criteria": [_criterion(result) for result in item.criteria],
        "lto_queries": item.lto_queries,
        "tier": item.tier,
        "bound": _bound(item.bound),
        "certificate": item.certificate,
        "witness": cast("WitnessObject | None", item.witness),
        "repairs": {"why_none": item.why_no_repair or None, "cut_short": item.repairs_cut_short or None}
        if item.repaired
        else None,
        "engine": _engine(item.engine) if item.engine is not None else None,
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in item.diagnostics],
    }


def _engine(reading: EngineReading) -> EngineObject:
    """What the user's engine does with the statement as it is written."""
    return {
        "name": reading.engine,
        "version": reading.engine.version,
        "kept": reading.kept.value if reading.kept is not None else "none",
        "unread": reading.unread or None,
        "states": [
            {
                "operator": state.operator,
                "side": state.side or None,
                "source": state.source or None,
                "kept": state.kept,
                "by": state.by,
                "lifetime_us": state.lifetime,
                "rows": state.rows,
                "formula": state.formula,
                "why": state.why,
                "fix": _engine_fix(state.fix),
                "notes": list(state.notes),
                "line": state.span.line,
                "column": state.span.column,
            }
            for state in reading.states
        ],
        "drops": [
            {
                "message": drop.message,
                "certain": drop.certain,
                "fix": _engine_fix(drop.fix),
                "line": drop.span.line,
                "column": drop.span.column,
            }
            for drop in reading.drops
        ],
        "refusals": [
            {
                "when": refusal.when,
                "why": refusal.why,
                "error": refusal.error,
                "fix": _engine_fix(refusal.fix),
                "line": refusal.span.line,
                "column": refusal.span.column,
            }
            for refusal in reading.refusals
        ],
        "notes": list(reading.notes),
    }


def _engine_fix(fix: EngineFix | None) -> EngineFixObject | None:
    return {"text": fix.text, "same_results": fix.same_results} if fix is not None else None


def _criterion(result: CriterionResult) -> CriterionObject:
    return {"name": result.name, "holds": result.holds, "violations": [_violation(v) for v in result.violations]}


def _violation(violation: Violation) -> ViolationObject:
    return {
        "condition": violation.condition,
        "stream": violation.stream,
        "attribute": violation.attribute,
        "message": violation.message,
        "line": violation.span.line,
        "column": violation.span.column,
    }


def _diagnostic(diagnostic: Diagnostic) -> DiagnosticObject:
    span = diagnostic.span
    return {
        "code": diagnostic.code.value,
        "name": diagnostic.code.slug,
        "severity": diagnostic.severity,
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


def _related(related: Related) -> RelatedObject:
    span = related.span
    return {
        "file": related.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "message": related.message,
    }


def _suppression(suppression: Suppression | None) -> SuppressionObject | None:
    """Who accepts the finding: a comment or a baseline, where, why and until which day."""
    if suppression is None:
        return None
    until = suppression.until.isoformat() if suppression.until else None
    return {"kind": suppression.kind, "reason": suppression.reason, "until": until, "where": suppression.where}


def _fix(fix: Fix) -> FixObject:
    """A repair; applying its edits, which do not overlap, makes the query bounded.

    Readers know two kinds; results change for input that breaks a contract, which the note says.
    """
    contract = fix.kind is FixKind.CONTRACT
    return {
        "title": fix.title,
        "kind": FixKind.CHANGES_RESULTS if contract else fix.kind,
        "sql": fix.sql,
        "changes": list(fix.changes),
        "note": fix.remarks if contract else fix.note,
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> EditObject:
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
