"""The text output of `check`: each query's verdict in a line, its findings with their SQL and carets, a summary."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from decimal import ROUND_CEILING, Context
from pathlib import Path

from streambound.analyzer.byte_sizes import bytes_text
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Fix, Related
from streambound.criteria.engines.profile import EngineReading, EngineState, GoesBy, StateClass, together
from streambound.criteria.vocabulary import Tier, Verdict
from streambound.reports.outcome import BoundText, Outcome
from streambound.reports.snippet import excerpt, snippet
from streambound.reports.style import link, links, paint
from streambound.reports.totals import total_text

_STYLE = {Verdict.BOUNDED: "good", Verdict.UNKNOWN: "warning", Verdict.NO_QUERY: "note"}
_TIER = {Tier.CONSTANT: "constant", Tier.RATE_WINDOW: "rate × window"}
_WRAP = 96
_READABLE = 10**24
"""Greater numbers are printed by their magnitude; JSON has all digits."""
_LINE_FEED = "\u240a"
"""A line break in a name or a path: a line of its own could be a command to whoever reads the log of a job."""
_FIXES = 2
"""Repairs that `check` shows of each query; `explain` shows all."""


def text_report(checked: tuple[Outcome, ...], color: bool = False) -> str:
    """All checked statements as text: each one's verdict, then its findings, which blank lines keep apart."""
    lines: list[str] = []
    for item in checked:
        if item.verdict is Verdict.NO_QUERY:
            lines.extend(f"{paint(item.name, 'bold', color)}: {one.message}" for one in item.diagnostics)
            continue
        lines.append(verdict_line(item, color))
        lines.extend(f"  {line}" for line in notes(item))
        if item.engine is not None:
            lines.extend(f"  {line}" for line in engine_lines(item.engine))
        findings = [one for one in item.diagnostics if one.suppression is None and not _is_said(item, one)]
        for diagnostic in findings:
            lines.extend(("", *diagnostic_lines(item, diagnostic, color)))
        lines.extend([""] * bool(findings))
    lines.extend(([""] if lines and lines[-1] else []) + [_summary(checked, color)])
    return "\n".join(line.replace("\n", _LINE_FEED) for line in lines)


def _is_said(item: Outcome, found: Diagnostic) -> bool:
    """Whether the verdict's line says a finding: that no rate is declared."""
    return found.code is Code.LARGE_BOUND and item.bound is not None and bool(item.bound.words)


def diagnostic_lines(item: Outcome, diagnostic: Diagnostic, color: bool, whole: bool = False) -> Iterator[str]:
    """One finding: headline, the SQL, the places that explain it, the first fixes as patches, and help.

    The ``whole`` of it has all fixes, and the criterion's condition that does not hold.
    """
    severity, code = diagnostic.severity.value, diagnostic.code
    head = link(paint(f"{severity}[{code} {code.slug}]", severity, color), code.docs, color)
    yield f"{head}: {paint(diagnostic.message, 'bold', color)}"
    here = diagnostic.file, diagnostic.span
    elsewhere = [related for related in diagnostic.related if (related.file, related.span) != here]
    spans = (diagnostic.span, *(related.span for related in elsewhere))
    width = max(len(str(span.line)) for span in spans)
    gutter = " " * width
    yield _place(gutter, "-->", diagnostic, color)
    yield from snippet(excerpt(item, diagnostic), severity, color, width=width)
    for related in elsewhere:
        yield _place(gutter, ":::", related, color)
        yield from snippet(excerpt(item, related), "frame", color, "-", related.message, width)
    facts = [("condition", diagnostic.condition)] if whole else []
    facts += [("note", related.message) for related in diagnostic.related if related not in elsewhere]
    equals = paint("=", "frame", color)
    yield f"{gutter} {paint('|', 'frame', color)}"
    for label, text in facts:
        yield from _labelled(label, text, gutter, equals)
    for fix in diagnostic.fixes[: None if whole else _FIXES]:
        yield from _labelled("fix", _fix_title(fix), gutter, equals)
        yield from (f"{gutter}        {line}" for line in _patch_lines(fix, color))
    yield from _labelled("help", diagnostic.help, gutter, equals)
    if not (code.docs and links(color)):
        yield f"{gutter} {equals} docs: {code.explained}"


def _place(gutter: str, arrow: str, at: Diagnostic | Related, color: bool) -> str:
    return f"{gutter}{paint(arrow, 'frame', color)} {at.file}:{at.span.line}:{at.span.column}"


def _labelled(label: str, text: str, gutter: str, equals: str) -> Iterator[str]:
    if text:
        wrapped = textwrap.wrap(text, _WRAP - len(label), break_long_words=False, break_on_hyphens=False)
        yield f"{gutter} {equals} {label}: {wrapped[0]}"
        yield from (f"{gutter}   {' ' * (len(label) + 1)} {line}" for line in wrapped[1:])


def _fix_title(fix: Fix) -> str:
    """The title of a repair, with whether results may change: ``bound T.a from above (changes results; …)``."""
    return f"{fix.title} ({fix.remarks})"


def _patch_lines(fix: Fix, color: bool) -> Iterator[str]:
    """The changed lines, as in a unified diff, under their file and line."""
    for hunk in fix.hunks:
        yield paint(f"{hunk.file}:{hunk.line}", "frame", color)
        yield from (paint(f"- {line}", "error", color) for line in hunk.removed)
        yield from (paint(f"+ {line}", "good", color) for line in hunk.added)


def verdict_line(item: Outcome, color: bool) -> str:
    """``name: verdict`` with the bound where there is one."""
    verdict = paint(item.verdict.value, _STYLE.get(item.verdict, "error"), color)
    accepted = f", {paint('suppressed', 'warning', color)}" if item.suppressed else ""
    return f"{paint(item.name, 'bold', color)}: {verdict}{accepted}{bound_text(item)}"


def memory_text(item: Outcome) -> str:
    """The bound M in words, as a phrase of its own: ``constant, at most 5 entries``."""
    return bound_text(item).removeprefix(", ").removeprefix(" (").replace("), ", ", ", 1)


def bound_text(item: Outcome) -> str:
    """The bound M in words, for a bounded statement, with the promises that it is under."""
    if item.verdict is not Verdict.BOUNDED or item.bound is None:
        return ""
    promises = " and ".join(item.bound.promises)
    return _most_text(item, item.bound) + (f", under your promise {promises}" if promises else "")


def _most_text(item: Outcome, bound: BoundText) -> str:
    formula, entries = bound.formula, bound.entries
    if item.tier is None or formula is None:
        from streambound.criteria.synopsis import MOST_TABLES

        return f", by a constant that is not worked out: it would need more than {MOST_TABLES} tables"
    tier = f" ({_TIER[item.tier]})"
    if bound.words:
        return f"{tier}, at most {bound.words}: declare max_rate to know how many"
    if entries is None:
        return f"{tier}, at most {formula} entries"
    size = "" if bound.bytes is None else f", {bytes_text(bound.bytes)}"
    if entries == 0:
        return f"{tier}, nothing is remembered"
    if entries > _READABLE:
        rounded = Context(prec=2, rounding=ROUND_CEILING, Emax=10**9).create_decimal(entries)
        return f"{tier}, at most {rounded:.1e} entries{size}"
    known = "" if formula == str(entries) else f" = {formula}"
    return f"{tier}, at most {entries:,}{known} {'entry' if entries == 1 else 'entries'}{size}"


def accepted_text(diagnostic: Diagnostic) -> str:
    """Who accepts a finding: ``SB201 at q.sql:3:8 is allowed by q.sql:1:22 until 2027-01-31: the reason``."""
    suppression = diagnostic.suppression
    if suppression is None:
        return ""
    place = f"{diagnostic.code} at {diagnostic.file}:{diagnostic.span.line}:{diagnostic.span.column}"
    until = f" until {suppression.until}" if suppression.until else ""
    return f"{place} is allowed by {suppression.where}{until}" + (f": {suppression.reason}" * bool(suppression.reason))


def notes(item: Outcome) -> Iterator[str]:
    """Notes below a verdict: what is accepted, where the witness is, why there is no repair or no more."""
    yield from filter(None, map(accepted_text, item.diagnostics))
    if item.witness is not None:
        yield f"streambound witness {_argument(item)} shows streams that cannot be forgotten"
    if item.why_no_repair:
        yield f"no repair was found: {item.why_no_repair}"
    if item.repairs_cut_short:
        yield f"the search for repairs was cut short: {item.repairs_cut_short}"


def _argument(item: Outcome) -> str:
    """How a command line names the statement."""
    file, name = item.source.file, item.name
    return shlex.quote(file) if Path(file).stem == name else f"{shlex.quote(file)} --name {shlex.quote(name)}"


def _summary(checked: tuple[Outcome, ...], color: bool) -> str:
    painted = {verdict.value: paint(verdict.value, _STYLE.get(verdict, "error"), color) for verdict in Verdict}
    summary = total_text(checked, painted)
    repaired = sum(item.repaired for item in checked)
    if 0 < repaired < sum(item.rejected for item in checked):
        summary += (
            f"\nrepairs were looked for in the first {repaired} of the rejected queries; --repairs does so in all"
        )
    return summary


def engine_lines(reading: EngineReading) -> Iterator[str]:
    """A line for each operator of the engine."""
    head = f"as written on {reading.engine.version}:"
    if reading.unread:
        yield f"{head} not modelled: {reading.unread}"
        return
    for drop in reading.drops:
        yield f"{head} {'drops' if drop.certain else 'may drop'} results ({drop.span.line}:{drop.span.column})"
    for refusal in reading.refusals[:1]:
        yield f"{head} refused ({refusal.when}): {refusal.why}"
    if reading.refusals:
        return
    for states in together(reading.states):
        yield f"{head} {_engine_line(states)}"
        yield from (f"  {note}" for note in states[0].notes)
    if not reading.states:
        yield f"{head} nothing is kept"
    yield from (f"  {note}" for note in reading.notes)


def _engine_line(states: list[EngineState]) -> str:
    """``join keeps both sides for ever (b has no watermark): watermark b (changes results)``."""
    state = states[0]
    name = f"{state.operator} ({state.span.line}:{state.span.column})"
    what = "both sides" if len(states) == 2 else state.source if state.side else ""
    if state.kept is StateClass.GROWS:
        fix = f": {state.fix.words}" if state.fix is not None else ""
        return f"{name} keeps {what or 'its rows'} for ever ({state.why}){fix}"
    amounts = " and ".join(dict.fromkeys(_amount(one) for one in states))
    by = "" if state.by is GoesBy.NEVER else f", by {state.by}"
    return f"{name} keeps {amounts}{by}"


def _amount(state: EngineState) -> str:
    number = f"about {state.rows:,} rows" if state.rows and state.kept is StateClass.WINDOW else ""
    size = f", {bytes_text(state.bytes)}" if state.bytes else ""
    return f"{number}{size} ({state.formula})" if number and state.formula else f"{state.formula or number}{size}"
