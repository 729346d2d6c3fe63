"""Applies the suppression comments of the checked files: what they allow, and what is wrong with them.

A comment before or inside a statement is about that statement, and so is one behind it, before its semicolon or on the
line of that; ``allow-file`` before the first statement is about all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Fix, FixKind, Suppression
from streambound.analyzer.edits import Edit, hunks
from streambound.analyzer.spans import SourceText, Span
from streambound.gate.directives import Allowed, Directive, Owners, directives
from streambound.gate.policy import NO_POLICY, Policy
from streambound.reports.outcome import Outcome


class _Scope(Struct):
    """A suppression comment and the statements, by their place in the file, that it is about."""

    directive: Directive
    members: range
    used: set[str] = field(default_factory=set)


def today() -> date:
    """The day by which suppressions end, the same everywhere."""
    return datetime.now(UTC).date()


def suppressed(outcomes: Iterable[Outcome], today: date, policy: Policy = NO_POLICY) -> tuple[Outcome, ...]:
    """The statements with what their comments allow marked, and findings on the comments themselves.

    Statements of one file stand together. A comment holds through its ``until`` day (UTC); afterwards it is an error.
    So is one for a code that the catalog denies in the file.
    """
    found: list[Outcome] = []
    for _, group in groupby(outcomes, key=lambda item: item.source.file):
        items = list(group)
        found += _of_file(items, today, policy) if "streambound" in items[0].source.text.lower() else items
    return tuple(found)


def _of_file(items: list[Outcome], today: date, policy: Policy) -> list[Outcome]:
    source = items[0].source
    criteria, denied = policy.value("criteria", source.file), _denied(policy, source.file)
    owners = Owners.of(source, [item.span for item in items])
    scopes: list[_Scope] = []
    extra: dict[int, list[Diagnostic]] = {}
    for directive in directives(source):
        if isinstance(directive, Diagnostic):
            index = owners.of_comment(directive.span)
            extra.setdefault(len(items) - 1 if index is None else index, []).append(directive)
            continue
        members = _refused(directive, denied, source) or _members(directive, items, owners)
        if isinstance(members, Diagnostic):
            extra.setdefault(len(items) - 1, []).append(members)
        else:
            scopes.append(_Scope(directive, members))
    allowed = [_allowed(item, i, scopes, today) for i, item in enumerate(items)]
    for scope in scopes:
        if wrong := _judged(scope, items, source, today, criteria):
            extra.setdefault(scope.members[0], []).append(wrong)
    return [
        replace(item, diagnostics=(*item.diagnostics, *sorted(extra[i], key=lambda found: found.span)))
        if i in extra
        else item
        for i, item in enumerate(allowed)
    ]


def _denied(policy: Policy, file: str) -> dict[str, str]:
    """The codes that nothing accepts in a file, with the line of the catalog that says so."""
    catalog = policy.catalog.file if policy.catalog is not None else ""
    here = policy.acceptance(file)
    return {code: f"{catalog}:{setting.line}" for code, (setting, _) in here.items() if setting.value is None}


def _refused(directive: Directive, denied: Mapping[str, str], source: SourceText) -> Diagnostic | None:
    for allowed in directive.allowed:
        if allowed.code in denied:
            message = f"{allowed.code} cannot be allowed in this file: {denied[allowed.code]} denies it"
            help = "repair the query; or let whoever keeps the catalog allow it"
            return Diagnostic(Code.MALFORMED_SUPPRESSION, message, source.file, allowed.span, help)
    return None


def _members(directive: Directive, statements: Sequence[Outcome], owners: Owners) -> range | Diagnostic:
    """The statements that a comment is about; a finding where there is none."""
    file = statements[0].source.file
    if directive.whole_file:
        if statements[0].span.start < directive.comment.start:
            message = "allow-file stands before the first statement of its file"
            return Diagnostic(
                Code.MALFORMED_SUPPRESSION, message, file, directive.comment, "move it there, or write allow"
            )
        return range(len(statements))
    index = owners.of_comment(directive.comment)
    if index is None:
        message = "this suppression is about no statement"
        return Diagnostic(
            Code.MALFORMED_SUPPRESSION, message, file, directive.comment, "write it before the statement, or inside it"
        )
    return range(index, index + 1)


def _allowed(item: Outcome, index: int, scopes: Sequence[_Scope], today: date) -> Outcome:
    """A statement with its findings marked that a comment of its own, or else one of the file, allows."""
    mine = [scope for scope in scopes if index in scope.members and not _expired(scope.directive, today)]
    mine.sort(key=lambda scope: scope.directive.whole_file)
    return replace(item, diagnostics=tuple(_marked(found, mine) for found in item.diagnostics)) if mine else item


def _marked(found: Diagnostic, scopes: Sequence[_Scope]) -> Diagnostic:
    for scope in scopes:
        for allowed in scope.directive.allowed:
            if allowed.code == found.code:
                scope.used.add(found.code)
                where = f"{found.file}:{allowed.span.line}:{allowed.span.column}"
                directive = scope.directive
                return replace(found, suppression=Suppression("comment", directive.reason, directive.until, where))
    return found


def _expired(directive: Directive, today: date) -> bool:
    return directive.until is not None and directive.until < today


def _judged(
    scope: _Scope, items: Sequence[Outcome], source: SourceText, today: date, criteria: str
) -> Diagnostic | None:
    """The finding on a comment that has expired, or allows a finding that does not exist."""
    directive = scope.directive
    members = [items[i] for i in scope.members]
    there = {found.code for item in members for found in item.diagnostics}
    needed = there if _expired(directive, today) else scope.used
    codes = {allowed.code for allowed in directive.allowed} - needed
    idle = {code for code in codes if all(_looked_for(code, item, criteria) for item in members)}
    first = {allowed.code: allowed for allowed in reversed(directive.allowed)}
    unused = [allowed for allowed in directive.allowed if allowed.code in idle or first[allowed.code] is not allowed]
    fixes = (_removal(directive, unused, source),) if unused else ()
    if _expired(directive, today):
        message = f"this suppression ended on {directive.until}"
        help = "decide again: repair the query, or extend until= with a reason that still holds"
        return Diagnostic(
            Code.EXPIRED_SUPPRESSION, message, source.file, directive.until_span or directive.comment, help, fixes=fixes
        )
    if unused:
        listed = ", ".join(allowed.code for allowed in unused)
        message = f"{listed} {'is' if len(unused) == 1 else 'are'} allowed here, and nothing needs it"
        return Diagnostic(
            Code.UNUSED_SUPPRESSION, message, source.file, unused[0].span, "remove it; check --fix does so", fixes=fixes
        )
    return None


def _looked_for(code: Code, item: Outcome, criteria: str) -> bool:
    """Whether a run could have found a code in a statement; one that it did not look for is not unused."""
    if code is Code.REPEATED_NAME:  # depends on which files are checked together
        return False
    if code.startswith("SB11"):
        return all(found.code is not Code.SYNTAX_ERROR for found in item.diagnostics)
    if code.by_engine:
        return item.engine is not None
    return item.projection is not None and code.criteria in (None, criteria)


def _removal(directive: Directive, unused: Sequence[Allowed], source: SourceText) -> Fix:
    """The comment without the codes that nothing needs; no comment where none is left."""
    gone = set(unused)
    kept = [allowed.code for allowed in directive.allowed if allowed not in gone]
    if kept:
        span = source.span(directive.allowed[0].span.start, directive.allowed[-1].span.end)
        edit = Edit(source.file, span, ", ".join(kept))
    else:
        edit = _without(directive.comment, source)
    changed = tuple(hunks(source, (edit,)))
    return Fix("remove the unused suppression", FixKind.SAFE, "", ("suppression",), (edit,), changed)


def _without(comment: Span, source: SourceText) -> Edit:
    """A comment removed: with its line where nothing else is on it, else with the blanks before it."""
    text, start, end = source.text, comment.start, comment.end
    line = text.rfind("\n", 0, start) + 1
    newline = text.find("\n", end)
    rest = text[end : len(text) if newline < 0 else newline]
    if not text[line:start].strip() and not rest.strip():
        last = len(text) if newline < 0 else newline + 1
        return Edit(source.file, source.span(line, last), "")
    if not rest.strip():
        start = line + len(text[line:start].rstrip(" \t"))
    glued = text[start - 1 : start].strip() and rest[:1].strip()
    return Edit(source.file, source.span(start, end), " " if glued else "")
