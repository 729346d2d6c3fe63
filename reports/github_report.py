"""GitHub Actions annotations: one workflow command per finding, most severe first.

GitHub shows ten annotations of a severity per step and drops the others without a word: where there are more, the
tenth says how many, and the step summary has them all. A command's data and properties are percent-encoded as the
runner decodes them; columns are only for findings on one line, from 1, the end exclusive.
"""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.codes import Severity
from streambound.analyzer.diagnostics import ORDER, Diagnostic
from streambound.reports.beside import NOTHING, BaselineEntry, Beside
from streambound.reports.outcome import Outcome
from streambound.reports.places import repository_path
from streambound.reports.totals import total_text
from streambound.reports.visible import visible

MOST = 10
"""Annotations of one severity that GitHub shows of a step."""

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github_report(outcomes: tuple[Outcome, ...], color: bool = False, beside: Beside = NOTHING) -> str:
    """The annotations of all findings that nobody accepted, and the totals; ``color`` is ignored."""
    lines = [line for severity in reversed(ORDER) for line in _annotations(outcomes, severity, beside)]
    return "\n".join((*lines, total_text(outcomes)))


def _annotations(outcomes: tuple[Outcome, ...], severity: Severity, beside: Beside) -> Iterator[str]:
    found = [
        _annotation(item, diagnostic)
        for item in outcomes
        for diagnostic in item.diagnostics
        if diagnostic.severity is severity and diagnostic.suppression is None
    ]
    if severity is Severity.ERROR:
        found += [_stale(entry, beside.baseline or "") for entry in beside.stale]
    shown = found if len(found) <= MOST else found[: MOST - 1]
    yield from shown
    if more := len(found) - len(shown):
        command = _COMMANDS[severity]
        yield f"::{command} title=streambound::{more} more {command}s: all of them are in the summary of this step"


def _annotation(item: Outcome, diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    properties = {"file": repository_path(diagnostic.file), "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:
        properties |= {"col": span.column, "endColumn": span.end_column}
    properties["title"] = f"{diagnostic.code} {diagnostic.code.slug}"
    facts = (
        f"{item.name} is {item.verdict.value}: {diagnostic.message}",
        diagnostic.help,
        f"See {diagnostic.code.explained}",
    )
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_data(chr(10).join(filter(None, facts)))}"


def _stale(entry: BaselineEntry, baseline: str) -> str:
    """An entry of the baseline that nothing needs: it fails the check as a finding does."""
    place = f"file={_property(repository_path(baseline))},line={entry.line},title=stale baseline entry"
    text = f"there is no {entry.code} of {entry.query} in {entry.file} any more: streambound baseline update removes it"
    return f"::error {place}::{_data(text)}"


def _data(text: str) -> str:
    return _escaped(visible(text))


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(visible(text)).replace(":", "%3A").replace(",", "%2C")
