"""A GitLab code quality report: the subset of the Code Climate format that merge requests show.

Findings that somebody accepted are left out, since GitLab knows no suppression.
"""

from __future__ import annotations

import json
from typing import Any

from streambound.analyzer.codes import Severity
from streambound.analyzer.diagnostics import Diagnostic
from streambound.reports.fingerprint import fingerprints
from streambound.reports.outcome import Outcome
from streambound.reports.places import repository_path

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}


def gitlab_report(outcomes: tuple[Outcome, ...], color: bool = False) -> str:
    """An array of issues; ``color`` is ignored."""
    prints = fingerprints(outcomes, repository_path)
    issues = [
        _issue(item, diagnostic, mark)
        for item, marks in zip(outcomes, prints, strict=True)
        for diagnostic, mark in zip(item.diagnostics, marks, strict=True)
        if diagnostic.suppression is None
    ]
    return json.dumps(issues, indent=1, ensure_ascii=False)


def _issue(item: Outcome, diagnostic: Diagnostic, mark: str) -> dict[str, Any]:
    span, code = diagnostic.span, diagnostic.code
    positions = {
        "begin": {"line": span.line, "column": span.column},
        "end": {"line": span.end_line, "column": span.end_column},
    }
    return {
        "type": "issue",
        "check_name": f"{code} {code.slug}",
        "description": f"{item.name} is {item.verdict.value}: {diagnostic.message}",
        "content": {"body": "\n\n".join(filter(None, (diagnostic.help, f"See {code.explained}")))},
        "categories": ["Performance"],
        "severity": _SEVERITIES[diagnostic.severity],
        "fingerprint": mark,
        "location": {
            "path": repository_path(diagnostic.file),
            "lines": {"begin": span.line, "end": span.end_line},
            "positions": positions,
        },
    }
