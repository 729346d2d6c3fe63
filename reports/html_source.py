"""SQL and catalog lines as HTML, numbered, with the spans that findings blame marked."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from streambound.analyzer.spans import Excerpt
from streambound.reports.outcome import Outcome

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


def _text(text: str) -> str:
    return escape(text.encode("utf-8", "replace").decode("utf-8"))
