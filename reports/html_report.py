"""One self-contained HTML page: every verdict with its source, marks, repairs and drawings, to search and to filter.

The page asks no network for anything, which its content security policy enforces. Everything can be read without its
script but for the drawings, which are put into the page when a query is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from streambound.analyzer.diagnostics import Diagnostic, Fix
from streambound.analyzer.spans import Excerpt
from streambound.analyzer.version import __version__
from streambound.criteria.vocabulary import Verdict
from streambound.reports.outcome import BoundText, Outcome
from streambound.reports.places import repository_path
from streambound.reports.snippet import excerpt
from streambound.reports.text_report import memory_text
from streambound.reports.totals import (
    BY_VERDICT,
    by_attention,
    by_state,
    counts,
    engine_of,
    engine_text,
    state_texts,
    total_text,
)

Mark = tuple[int, int, str]
"""Start and end, 0-based in a line, and a class."""

MOST_CHARACTERS = 2_000
"""Of one line; a longer one is cut, which only hides text."""


def source_html(item: Outcome) -> str:
    """The lines of a statement and of its findings; nothing for a text that could not be read."""
    source = item.source
    if not source.text:
        return ""
    here = [found.span for found in item.diagnostics if found.file == source.file]
    near = [r.span for d in item.diagnostics for r in d.related if r.file == source.file and r.span != d.span]
    first = min([item.span.line, *(span.line for span in here)])
    last = max([item.span.end_line, *(span.end_line for span in here)])
    marks: dict[int, list[Mark]] = {}
    for spans, kind in ((here, ""), (near, "near")):
        for span in spans:
            for line in range(max(span.line, first), min(span.end_line, last) + 1):
                start = span.column - 1 if line == span.line else 0
                end = span.end_column - 1 if line == span.end_line else len(source.line(line))
                marks.setdefault(line, []).append((start, end, kind))
    lines = (_line(number, source.line(number), marks.get(number, ())) for number in range(first, last + 1))
    return f'<pre class="source">{"".join(lines)}</pre>'


def excerpt_html(place: Excerpt) -> str:
    """The line of another file, with its mark."""
    span = place.span
    end = span.end_column - 1 if span.end_line == span.line else len(place.text)
    return f"<pre>{_line(span.line, place.text, [(span.column - 1, end, 'near')])}</pre>" if place.text else ""


def _line(number: int, text: str, marks: Iterable[Mark]) -> str:
    """A numbered line; of overlapping marks the first in the line, and of these the longest, is shown."""
    parts, at = [], 0
    for start, end, kind in sorted(marks, key=lambda mark: (mark[0], -mark[1])):
        if start >= at:
            attribute = f' class="{kind}"' if kind else ""
            parts += [_text(text[at:start]), f"<mark{attribute}>{_text(text[start:end])}</mark>"]
            at = end
    parts.append(_text(text[at : max(at, MOST_CHARACTERS)]))
    more = "…" if len(text) > max(at, MOST_CHARACTERS) else ""
    return f'<span><span class="n">{number}</span>{"".join(parts)}{more}</span>'


_ASSETS = Path(__file__).resolve().parent / "html"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_DECIDED = (Verdict.BOUNDED, Verdict.UNBOUNDED, Verdict.UNKNOWN)
_MOST_SORTED = 10**300
"""Of greater numbers a script has no double."""
_DRAWINGS = {"graph": "Which stream waits for which", "tables": "What is remembered, and when"}


def html_report(outcomes: tuple[Outcome, ...], color: bool = False) -> str:
    """The page; ``color`` is ignored."""
    style, script = ((_ASSETS / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>streambound: {escape(total_text(outcomes))}</title>\n<style>\n{style}</style>\n</head>\n<body>",
            *_header(outcomes),
            "<main>",
            *_states(outcomes),
            '<p id="shown" role="status"></p>',
            *(line for number, item in enumerate(by_attention(outcomes), start=1) for line in _query(number, item)),
            '<p class="empty" hidden>No query fits the search.</p>',
            *(['<p class="empty">There was nothing to check.</p>'] if not outcomes else []),
            f"</main>\n<script>\n{script}</script>\n</body>\n</html>",
        )
    )


def _header(outcomes: tuple[Outcome, ...]) -> Iterator[str]:
    numbers = counts(outcomes)
    present = [verdict for verdict in BY_VERDICT if numbers[verdict]]
    yield "<header><div>\n<h1>Queries in bounded memory</h1>"
    yield f'<p class="about">{escape(total_text(outcomes))} · streambound {__version__}</p>'
    parts = (f'<i class="{v.value}" style="flex: {numbers[v]}; background: var(--tone)"></i>' for v in present)
    yield f'<div class="bar" aria-hidden="true">{"".join(parts)}</div>'
    yield '<div class="tools">'
    for verdict in present:
        yield (
            f'<button type="button" class="{verdict.value}" data-verdict="{verdict.value}" aria-pressed="false">'
            f'<span class="dot"></span>{verdict.value} <b>{numbers[verdict]}</b></button>'
        )
    yield '<input type="search" placeholder="Search names, files, SQL and findings" aria-label="Search">'
    yield "</div>\n</div></header>"


def _states(outcomes: tuple[Outcome, ...]) -> Iterator[str]:
    """A table of the decided queries by what they keep, the most first, which its script sorts by any column.

    It is open where no query needs attention, which would be below it otherwise.
    """
    numbers = {id(item): number for number, item in enumerate(by_attention(outcomes), start=1)}
    decided = [item for item in by_state(outcomes) if item.verdict in _DECIDED]
    if not decided:
        return
    heads = [("query", "none"), ("verdict", "none"), ("entries", "none"), ("bytes", "descending")]
    if engine := engine_of(outcomes):
        heads.append((engine, "none"))
    opened = " open" * all(item.verdict is Verdict.BOUNDED or item.suppressed for item in outcomes)
    yield f'<details class="states"{opened}>\n<summary>State of {len(decided)} queries</summary>'
    yield '<div><table id="states">'
    cells = (f'<th aria-sort="{sort}"><button type="button">{name}</button></th>' for name, sort in heads)
    yield f"<thead><tr>{''.join(cells)}</tr></thead>\n<tbody>"
    for item in decided:
        bound, (entries, size), verdict = item.bound or BoundText(), state_texts(item), item.verdict.value
        number = f"q{numbers[id(item)]}"
        yield (
            f'<tr data-query="{number}"><td><a href="#{number}">{_text(item.name)}</a></td>'
            f'<td class="{verdict}"><span class="dot"></span> {verdict}</td>'
            f'<td data-value="{_value(bound.entries)}">{_text(entries)}</td>'
            f'<td data-value="{_value(bound.bytes)}">{_text(size)}</td>'
            + (f'<td data-value="{_value(item.kept_bytes)}">{_text(engine_text(item))}</td>' if engine else "")
            + "</tr>"
        )
    yield "</tbody></table></div>\n</details>"


def _value(number: int | None) -> str:
    """A number as a script sorts by it; what has none is above all."""
    return "Infinity" if number is None or number > _MOST_SORTED else str(number)


def _query(number: int, item: Outcome) -> Iterator[str]:
    verdict = item.verdict.value
    accepted = "<small>accepted</small>" if item.suppressed else ""
    place = f"{repository_path(item.source.file)}:{item.span.line}"
    yield f'<details class="query {verdict}" id="q{number}" data-is="{verdict}">\n<summary>'
    yield f'<span class="verdict"><span class="dot"></span>{verdict}</span>'
    yield f'<span class="name"><span class="title">{_text(item.name)}</span><small>{_text(place)}</small>'
    yield f"{accepted}</span>"
    if memory := memory_text(item):
        yield f'<span class="bound">{_text(memory)}</span>'
    if item.diagnostics:
        yield f'<span class="claim">{_text(item.diagnostics[0].message)}</span>'
    yield '</summary>\n<div class="body">'
    yield source_html(item)
    for diagnostic in item.diagnostics:
        yield from _finding(item, diagnostic)
    yield from _facts(item)
    for name, svg in item.drawings.items():
        yield f"<h2>{escape(_DRAWINGS.get(name, name))}</h2>\n<template data-drawing>{svg}</template>"
    yield "</div>\n</details>"


def _finding(item: Outcome, found: Diagnostic) -> Iterator[str]:
    severity, code = found.severity.value, found.code
    name = f"{severity} {code} {code.slug}"
    place = f"{repository_path(found.file)}:{found.span.line}:{found.span.column}"
    yield f'<div class="finding {severity}">'
    linked = f'<a href="{escape(code.docs)}" rel="noreferrer">{escape(name)}</a>' if code.docs else escape(name)
    yield f'<p class="head">{linked}</p>'
    yield f'<p>{_text(found.message)}</p>\n<p class="soft">{_text(place)}</p>'
    if found.file != item.source.file:
        yield excerpt_html(excerpt(item, found))
    if suppression := found.suppression:
        until = f" until {suppression.until}" if suppression.until else ""
        yield f'<p class="soft">Accepted{until}: {_text(suppression.reason or suppression.kind)}</p>'
    for related in found.related:
        at = f"{repository_path(related.file)}:{related.line}"
        yield f'<p class="soft">{_text(related.message)}: {_text(at)}</p>'
        if related.file != item.source.file:
            yield excerpt_html(excerpt(item, related))
    if found.help:
        yield f"<p>{_text(found.help)}</p>"
    if not code.docs:
        yield f'<p class="soft"><code>{escape(code.explained)}</code> says more.</p>'
    for fix in found.fixes:
        yield from _fix(fix)
    yield "</div>"


def _fix(fix: Fix) -> Iterator[str]:
    yield f"<details><summary>Repair: {_text(fix.title)} ({fix.kind.words})</summary>"
    if fix.note:
        yield f'<p class="soft">{_text(fix.note)}</p>'
    lines = []
    for hunk in fix.hunks:
        lines.append(f'<span class="where">{_text(f"{repository_path(hunk.file)}:{hunk.line}")}</span>')
        lines += [f'<span class="cut">- {_text(line)}</span>' for line in hunk.removed]
        lines += [f'<span class="add">+ {_text(line)}</span>' for line in hunk.added]
    yield f"<pre>{''.join(lines)}</pre>\n</details>"


def _facts(item: Outcome) -> Iterator[str]:
    rows = [("memory", memory_text(item)), ("results", item.projection or "")]
    rows += [("bound M", item.bound.formula or "")] if item.bound else []
    rows += [
        (result.name, "holds" if result.holds else f"violated: {'; '.join(v.message for v in result.violations)}")
        for result in item.criteria
    ]
    rows += [("no repair", item.why_no_repair)]
    found = [f"<tr><th>{_text(label)}</th><td>{_text(value)}</td></tr>" for label, value in rows if value]
    if found:
        yield f"<h2>Facts</h2>\n<table>{''.join(found)}</table>"


def _text(text: str) -> str:
    """Text for HTML, without characters that UTF-8 cannot hold."""
    return escape(text.encode("utf-8", "replace").decode("utf-8"))
