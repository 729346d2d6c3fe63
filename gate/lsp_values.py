"""What an editor is shown of checked statements, as values of the language server protocol.

They equal what `streambound check` prints: the same findings at the same places, the same bounds, the same repairs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from lsprotocol import types

from streambound.analyzer.codes import Severity
from streambound.analyzer.diagnostics import Diagnostic, Fix, FixKind, Related
from streambound.analyzer.spans import Span
from streambound.reports.outcome import Outcome
from streambound.reports.text_report import accepted_text, notes, verdict_line

NAME = "streambound"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}

Place = Callable[[str, Span], types.Range]
"""A span of a file, by its name, in the units that the editor counts in."""
Address = Callable[[str], str]
"""A file's URI, by its name."""


def diagnostics(outcomes: Iterable[Outcome], place: Place, address: Address) -> list[types.Diagnostic]:
    """Every finding; one that a comment or a baseline suppresses is a hint."""
    return [_diagnostic(found, place, address) for item in outcomes for found in item.diagnostics]


def _diagnostic(found: Diagnostic, place: Place, address: Address) -> types.Diagnostic:
    severity = types.DiagnosticSeverity.Hint if found.suppression else _SEVERITIES[found.severity]
    return types.Diagnostic(
        range=place(found.file, found.span),
        message=_message(found),
        severity=severity,
        code=found.code,
        code_description=types.CodeDescription(found.code.docs) if found.code.docs else None,
        source=NAME,
        related_information=[_related(other, place, address) for other in found.related],
    )


def message(said: str, help: str = "", suppressed: str = "") -> str:
    """A text with the way out below it, as the command line prints them."""
    lines = (said, f"help: {help}" if help else "", f"suppressed: {suppressed}" if suppressed else "")
    return "\n".join(line for line in lines if line)


def _message(found: Diagnostic) -> str:
    accepted = accepted_text(found) if found.suppression else ""
    return message(f"{found.code.slug}: {found.message}", found.help, accepted)


def _related(other: Related, place: Place, address: Address) -> types.DiagnosticRelatedInformation:
    line = Span(0, 0, other.line, 1, other.line, 1)
    return types.DiagnosticRelatedInformation(
        types.Location(address(other.file), place(other.file, line)), other.message
    )


def hover(outcomes: Iterable[Outcome], line: int, character: int, place: Place) -> types.Hover | None:
    """Verdict and bound of the statement at a position (0-based, in the editor's units); None beside statements."""
    for item in outcomes:
        area = place(item.source.file, item.span)
        if (area.start.line, area.start.character) <= (line, character) <= (area.end.line, area.end.character):
            text = "\n\n".join((f"**{verdict_line(item, False)}**", *notes(item)))
            return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), area)
    return None


def code_actions(
    outcomes: Iterable[Outcome], wanted: types.Range, place: Place, address: Address
) -> list[types.CodeAction]:
    """The repairs of the findings that a range touches; a safe one is preferred."""
    return [
        _action(found, fix, place, address)
        for item in outcomes
        for found in item.diagnostics
        if _touches(place(found.file, found.span), wanted)
        for fix in found.fixes
    ]


def _touches(one: types.Range, other: types.Range) -> bool:
    first, second = sorted((one, other), key=lambda area: (area.start.line, area.start.character))
    return (second.start.line, second.start.character) <= (first.end.line, first.end.character)


def _action(found: Diagnostic, fix: Fix, place: Place, address: Address) -> types.CodeAction:
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in fix.edits:
        changes.setdefault(address(edit.file), []).append(types.TextEdit(place(edit.file, edit.span), edit.replacement))
    return types.CodeAction(
        title=f"{fix.title} ({fix.kind.words})",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(found, place, address)],
        is_preferred=fix.kind is FixKind.SAFE,
        edit=types.WorkspaceEdit(changes=changes),
    )


_LINE_END = re.compile(r"\r\n|\r|\n")


def place(text: str, span: Span, units: Callable[[str], int]) -> types.Range:
    r"""A span, which counts lines that \n ends and code points from 1, in the client's lines and units, from 0.

    ``units`` counts the units of a text. A byte-order mark that a client keeps is in its first line.

    >>> place("\ufeffab\rc", Span(3, 4, 1, 4, 1, 5), len).start, place("\ufeffab", Span(1, 2, 1, 2, 1, 3), len).start
    (1:0, 0:2)
    """
    mark = len(text) - len(text.removeprefix("\ufeff"))
    return types.Range(
        _position(text, _offset(text, span.line, span.column) + mark, units),
        _position(text, _offset(text, span.end_line, span.end_column) + mark, units),
    )


def _offset(text: str, line: int, column: int) -> int:
    """Where a line and column are, from 0, as if there were no byte-order mark."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return start + column - 1


def _position(text: str, offset: int, units: Callable[[str], int]) -> types.Position:
    start = number = 0
    for end in _LINE_END.finditer(text, 0, offset):
        start, number = end.end(), number + 1
    return types.Position(number, units(text[start:offset]))
