"""SARIF 2.1.0 (OASIS, with errata 01): what code scanning services read.

Columns are code points (``columnKind``), from 1, ends exclusive, as everywhere here. URIs are relative to the
repository's root, `%SRCROOT%`, which the reader knows.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from streambound.analyzer.codes import Code, docs_address
from streambound.analyzer.diagnostics import Diagnostic, Fix, Related, Suppression
from streambound.analyzer.edits import Edit
from streambound.analyzer.errors import InputError
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.version import __version__
from streambound.reports.code_page import code_page
from streambound.reports.fingerprint import VERSION, fingerprints
from streambound.reports.outcome import Outcome
from streambound.reports.places import repository_path, uri
from streambound.reports.totals import counts

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_PAGE_LINK = re.compile(r"\]\((SB\d+)\.md\)")
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
_DOC_LINK = re.compile(r"\]\(\.\./([^)]+)\)")
_INDEX = {code: index for index, code in enumerate(Code)}
_KINDS = {"comment": "inSource"}


def sarif_report(outcomes: tuple[Outcome, ...], color: bool = False) -> str:
    """A log of one run; ``color`` is ignored."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(outcomes)]}
    return json.dumps(log, indent=1, ensure_ascii=False)


def _run(outcomes: tuple[Outcome, ...]) -> dict[str, Any]:
    sources = {item.source.file: item.source for item in outcomes}
    artifacts = {file: index for index, file in enumerate(sources)}
    prints = fingerprints(outcomes, repository_path)
    results = [
        _result(item, diagnostic, mark, artifacts)
        for item, marks in zip(outcomes, prints, strict=True)
        for diagnostic, mark in zip(item.diagnostics, marks, strict=True)
    ]
    unread = any(found.code is Code.UNREADABLE_FILE for item in outcomes for found in item.diagnostics)
    return {
        "tool": {"driver": _driver()},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [{"executionSuccessful": not unread}],
        "artifacts": [_artifact(source) for source in sources.values()],
        "results": results,
        "properties": {"queries": {verdict.value: number for verdict, number in counts(outcomes).items()}},
    }


def _driver() -> dict[str, Any]:
    return {
        "name": "streambound",
        "semanticVersion": __version__,
        "rules": [_rule(code) for code in Code],
    } | ({"informationUri": address} if (address := docs_address()) else {})


def _rule(code: Code) -> dict[str, Any]:
    return {
        "id": code.value,
        "name": code.slug,
        "shortDescription": {"text": code.summary},
        "fullDescription": {"text": code.summary},
        "help": {"text": f"{code.summary} See {code.explained}", "markdown": _page(code)},
        "defaultConfiguration": {"level": code.severity.value},
    } | ({"helpUri": code.docs} if code.docs else {})


def _page(code: Code) -> str:
    """The page of a code with links that lead somewhere wherever it is shown, or without links."""
    try:
        page = code_page(code)
    except (InputError, OSError):
        return code.summary
    base = docs_address()
    if not base:
        return _LINK.sub(r"\1", page)
    return _DOC_LINK.sub(rf"]({base.rpartition('/')[0]}/\1)", _PAGE_LINK.sub(rf"]({base}/\1.md)", page))


def _artifact(source: SourceText) -> dict[str, Any]:
    return {"location": _location(source.file), "sourceLanguage": "sql", "roles": ["analysisTarget"]}


def _location(file: str, index: int | None = None) -> dict[str, Any]:
    place = uri(file)
    found: dict[str, Any] = {"uri": place}
    if not place.startswith("file:"):
        found["uriBaseId"] = _ROOT
    if index is not None:
        found["index"] = index
    return found


def _result(item: Outcome, diagnostic: Diagnostic, mark: str, artifacts: dict[str, int]) -> dict[str, Any]:
    physical = partial(_physical, artifacts=artifacts)
    text = f"{diagnostic.message}. {diagnostic.help}" if diagnostic.help else diagnostic.message
    found = {
        "ruleId": diagnostic.code,
        "ruleIndex": _INDEX[diagnostic.code],
        "level": diagnostic.severity.value,
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": physical(diagnostic.file, diagnostic.span, _text(item, diagnostic)),
                "logicalLocations": [
                    {"name": item.name, "fullyQualifiedName": f"{repository_path(item.source.file)}::{item.name}"}
                ],
            }
        ],
        "relatedLocations": [
            _related(number, r, physical(r.file, r.span)) for number, r in enumerate(diagnostic.related, 1)
        ],
        "partialFingerprints": {"primaryLocationLineHash": mark, VERSION: mark},
        "suppressions": [_suppression(diagnostic.suppression)] if diagnostic.suppression else [],
        "properties": {"query": item.name, "verdict": item.verdict.value, "condition": diagnostic.condition},
    }
    return found | ({"fixes": [_fix(fix) for fix in diagnostic.fixes]} if diagnostic.fixes else {})


def _text(item: Outcome, diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    return item.source.text[span.start : span.end] if diagnostic.file == item.source.file else ""


def _physical(file: str, span: Span, text: str = "", *, artifacts: dict[str, int]) -> dict[str, Any]:
    region = _region(span) | ({"snippet": {"text": text}} if text else {})
    return {"artifactLocation": _location(file, artifacts.get(file)), "region": region}


def _region(span: Span) -> dict[str, Any]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _related(number: int, related: Related, place: dict[str, Any]) -> dict[str, Any]:
    return {"id": number, "physicalLocation": place, "message": {"text": related.message}}


def _suppression(suppression: Suppression) -> dict[str, Any]:
    until = f" (until {suppression.until})" if suppression.until else ""
    return {
        "kind": _KINDS.get(suppression.kind, "external"),
        "status": "accepted",
        "justification": f"{suppression.reason or suppression.kind}{until}",
    }


def _fix(fix: Fix) -> dict[str, Any]:
    changes: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        changes.setdefault(edit.file, []).append(edit)
    return {
        "description": {"text": f"{fix.title} ({fix.remarks})"},
        "artifactChanges": [
            {"artifactLocation": _location(file), "replacements": [_replacement(edit) for edit in edits]}
            for file, edits in changes.items()
        ],
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}
