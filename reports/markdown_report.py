"""Markdown for a comment on a pull request, and for the summary of a step in GitHub Actions.

A comment holds 65,536 characters, so the findings that need least attention are only counted where they do not fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streambound.analyzer.diagnostics import Diagnostic, Fix
from streambound.criteria.vocabulary import Verdict
from streambound.reports.beside import NOTHING, Beside
from streambound.reports.outcome import Outcome
from streambound.reports.places import repository_path
from streambound.reports.snippet import excerpt, snippet
from streambound.reports.text_report import bound_text
from streambound.reports.totals import by_attention, by_state, counts, engine_of, engine_text, state_texts

MOST_CHARACTERS = 60_000
_LISTED = 50
MARKER = "<!-- streambound -->"
"""The first line; a job finds the comment that it wrote before by it."""

_SIGNS = {Verdict.BOUNDED: "✅", Verdict.UNKNOWN: "⚠️", Verdict.NO_QUERY: "⚪"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&@])")
_TICKS = re.compile("`+")


def markdown_report(outcomes: tuple[Outcome, ...], color: bool = False, beside: Beside = NOTHING) -> str:
    """The totals, what changed, and every finding; ``color`` is ignored."""
    head = [MARKER, f"### {_headline(outcomes, beside)}", "", *_table(outcomes), *_compared(beside)]
    parts = [("\n".join(_finding(item, found))) for item in by_attention(outcomes) for found in item.diagnostics]
    shown, size = [], sum(map(len, head))
    for part in parts:
        size += len(part) + 1
        if size > MOST_CHARACTERS:
            break
        shown.append(part)
    more = len(parts) - len(shown)
    return "\n".join((*head, *shown, *([f"\n… and {more} more findings"] if more else [])))


def _headline(outcomes: tuple[Outcome, ...], beside: Beside) -> str:
    failing = sum(not item.passes for item in outcomes)
    queries = "query" if len(outcomes) == 1 else "queries"
    if failing:
        return f"❌ streambound: {failing} of {len(outcomes)} {queries} {'does' if failing == 1 else 'do'} not pass"
    if stale := len(beside.stale):
        return f"❌ streambound: {stale} {'entry' if stale == 1 else 'entries'} of the baseline must be removed"
    return (
        f"✅ streambound: {len(outcomes)} {queries} passed" if outcomes else "streambound: there was nothing to check"
    )


def _table(outcomes: tuple[Outcome, ...]) -> Iterator[str]:
    numbers = {verdict: number for verdict, number in counts(outcomes).items() if number}
    if not numbers:
        return
    yield "| verdict | queries |"
    yield "| --- | ---: |"
    yield from (f"| {_SIGNS.get(verdict, '❌')} {verdict.value} | {number} |" for verdict, number in numbers.items())
    if accepted := sum(item.suppressed for item in outcomes):
        yield f"| of these suppressed | {accepted} |"
    yield from _states(outcomes)


def _states(outcomes: tuple[Outcome, ...]) -> Iterator[str]:
    """Each query with its state: what needs attention first, then by bytes and entries, the most first."""
    items = by_attention(by_state(outcomes))
    engine = engine_of(items)
    head, line = (f" {engine} |", " ---: |") if engine else ("", "")
    yield from ("", f"| query | verdict | entries | bytes |{head}", f"| --- | --- | ---: | ---: |{line}")
    for item in items[:_LISTED]:
        entries, size = state_texts(item)
        more = f" {engine_text(item)} |" if engine else ""
        yield f"| {_escaped(item.name)} | {item.verdict.value} | {_escaped(entries)} | {size} |{more}"
    if len(items) > _LISTED:
        yield f"| and {len(items) - _LISTED} more | | | |{' |' * bool(engine)}"


def _compared(beside: Beside) -> Iterator[str]:
    """The transitions of queries since a commit, and the stale entries of a baseline, as lists."""
    lines = [f"- {_escaped(str(one))}" for one in beside.changed]
    lines += [
        f"- stale in {_escaped(beside.baseline or '')}: {one.code} of {_escaped(one.query)} in {_escaped(one.file)}"
        for one in beside.stale
    ]
    if lines:
        yield from ("", *lines[:_LISTED], *([f"- and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []))


def _finding(item: Outcome, found: Diagnostic) -> Iterator[str]:
    place = f"{repository_path(found.file)}:{found.span.line}:{found.span.column}"
    yield ""
    yield f"#### {_escaped(item.name)}: {item.verdict.value}{_escaped(bound_text(item))}"
    yield ""
    code = found.code
    name = f"[{code} {code.slug}]({code.docs})" if code.docs else f"{code} {code.slug}"
    yield f"**{found.severity.value}** {name} at {_code(place)}: {_escaped(found.message)}"
    if found.suppression:
        until = f" until {found.suppression.until}" if found.suppression.until else ""
        yield f"\nAccepted{until}: {_escaped(found.suppression.reason or found.suppression.kind)}"
    yield from _block("sql", list(snippet(excerpt(item, found), "error", False)[1:]))
    for related in found.related:
        yield f"- {_code(f'{repository_path(related.file)}:{related.line}')}: {_escaped(related.message)}"
    if found.help:
        yield f"\n{_escaped(found.help)}"
    if not code.docs:
        yield f"\n{_code(code.explained)} says more."
    for fix in found.fixes:
        yield from _fix(fix)


def _fix(fix: Fix) -> Iterator[str]:
    yield f"\n<details><summary>{_html(f'{fix.title} ({fix.kind.words})')}</summary>"
    if fix.note:
        yield f"\n{_escaped(fix.note)}"
    lines = []
    for hunk in fix.hunks:
        lines += [f"@@ {repository_path(hunk.file)}:{hunk.line} @@"]
        lines += [f"-{line}" for line in hunk.removed] + [f"+{line}" for line in hunk.added]
    yield from _block("diff", lines)
    yield "</details>"


def _block(language: str, lines: list[str]) -> Iterator[str]:
    """A fenced block, with a fence longer than any in it."""
    if not lines:
        return
    longest = max((len(run) for line in lines for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from ("", f"{fence}{language}", *lines, fence, "")


def _code(text: str) -> str:
    longest = max(map(len, _TICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{ticks}{pad}{' '.join(text.split())}{pad}{ticks}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split())) if text[:1] != " " else " " + _escaped(text[1:])


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
