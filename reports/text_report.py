"""The text output of `check`: each finding with its SQL and carets, each query's verdict in a line, a summary."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from decimal import ROUND_CEILING, Context
from pathlib import Path

from analyzer.diagnostics import Diagnostic, Fix
from criteria.bound import Tier
from criteria.check import Checked
from criteria.verdict import Decision, Verdict
from criteria.violation import CriterionResult
from criteria.wording import listed
from reports.snippet import snippet
from reports.style import paint

_STYLE = {Verdict.BOUNDED: "good", Verdict.UNKNOWN: "warning"}
_PAPER = {"theorem-1": "Theorem 1", "theorem-2": "Theorem 2"}
_TIER = {Tier.CONSTANT: "constant", Tier.RATE_WINDOW: "rate × window"}
_WRAP = 96
_READABLE = 10**24
"""Greater numbers are printed by their magnitude; JSON has all digits."""
_FIXES = 2
"""Repairs that `check` shows of each query; `explain` shows all."""


def text_report(checked: tuple[Checked, ...], color: bool = False) -> str:
    """All checked statements as text."""
    lines: list[str] = []
    for item in checked:
        for diagnostic in item.diagnostics:
            lines.extend(diagnostic_lines(item, diagnostic, color))
            lines.append("")
        lines.append(verdict_line(item, color))
        lines.extend(f"  {line}" for line in notes(item))
    lines.extend(("", _summary(checked, color)))
    return "\n".join(lines)


def diagnostic_lines(
    item: Checked, diagnostic: Diagnostic, color: bool, most_fixes: int | None = _FIXES
) -> Iterator[str]:
    """One finding: headline, place, snippet, condition, help, related places, and the first of its fixes as patches."""
    severity = diagnostic.severity.value
    head = paint(f"{severity}[{diagnostic.code} {diagnostic.rule.name}]", severity, color)
    yield f"{head}: {paint(diagnostic.message, 'bold', color)}"
    gutter = " " * len(str(diagnostic.span.line))
    arrow, equals = paint("-->", "frame", color), paint("=", "frame", color)
    yield f"{gutter}{arrow} {diagnostic.file}:{diagnostic.span.line}:{diagnostic.span.column}"
    yield from snippet(item.source, diagnostic.span, severity, color)
    facts = [("condition", diagnostic.condition), ("help", diagnostic.help)]
    facts += [("note", f"{r.file}:{r.line}: {r.message}") for r in diagnostic.related]
    for label, text in facts:
        yield from _labelled(label, text, gutter, equals)
    for fix in diagnostic.fixes[:most_fixes]:
        yield from _labelled("fix", _fix_title(fix), gutter, equals)
        yield from (f"{gutter}        {line}" for line in _patch_lines(fix, color))


def _labelled(label: str, text: str, gutter: str, equals: str) -> Iterator[str]:
    if text:
        wrapped = textwrap.wrap(text, _WRAP - len(label), break_long_words=False, break_on_hyphens=False)
        yield f"{gutter} {equals} {label}: {wrapped[0]}"
        yield from (f"{gutter}   {' ' * (len(label) + 1)} {line}" for line in wrapped[1:])


def _fix_title(fix: Fix) -> str:
    """What a repair does and whether results may change: ``bound T.a from above (changes results; …)``."""
    remarks = "; ".join(("safe" if fix.kind == "safe" else "changes results", *([fix.note] if fix.note else [])))
    return f"{fix.title} ({remarks})"


def _patch_lines(fix: Fix, color: bool) -> Iterator[str]:
    """The changed lines, as in a unified diff, under their file and line."""
    for hunk in fix.hunks:
        yield paint(f"{hunk.file}:{hunk.line}", "frame", color)
        yield from (paint(f"- {line}", "error", color) for line in hunk.removed)
        yield from (paint(f"+ {line}", "good", color) for line in hunk.added)


def verdict_line(item: Checked, color: bool) -> str:
    """``name: verdict`` with the bound where there is one."""
    verdict = paint(item.verdict.value, _STYLE.get(item.verdict, "error"), color)
    return f"{paint(item.statement.name, 'bold', color)}: {verdict}{bound_text(item)}"


def bound_text(item: Checked) -> str:
    """The bound M in words, for a bounded statement."""
    proved = item.decision is not None and item.decision.verdict is Verdict.BOUNDED
    if item.verdict is not Verdict.BOUNDED or not proved:
        return ""
    if item.bound is None:
        return ", by a constant that has no formula yet"
    tier = f" ({_TIER[item.bound.tier]})"
    entries = item.bound.entries
    if entries.value == 0:
        return f"{tier}, nothing is remembered"
    if entries.value is None:
        return f"{tier}, at most {entries.text} synopsis entries"
    if entries.value > _READABLE:
        rounded = Context(prec=2, rounding=ROUND_CEILING, Emax=10**9).create_decimal(entries.value)
        return f"{tier}, at most {rounded:.1e} synopsis entries"
    known = "" if entries.text == str(entries.value) else f" = {entries.text}"
    if entries.value > _READABLE:
        rounded = Context(prec=2, rounding=ROUND_CEILING, Emax=10**9).create_decimal(entries.value)
        return f"{tier}, at most {rounded:.1e} synopsis entries"
    return f"{tier}, at most {entries.value:,}{known} synopsis {'entry' if entries.value == 1 else 'entries'}"


def notes(item: Checked, thorough: bool = False) -> Iterator[str]:
    """Where the witness is, why there is no repair, and what the paper's theorem says, where it speaks of the query.

    ``thorough`` says that repairs were looked for as long as they ever are.
    """
    if item.decision is None:
        return
    if item.verdict is Verdict.UNBOUNDED and item.decision.witness is not None:
        yield f"streambound witness {_argument(item)} shows streams that cannot be forgotten"
    if item.repairs is not None and item.repairs.why_none:
        yield f"no repair was found: {item.repairs.why_none}"
    if item.repairs is not None and item.repairs.cut_short:
        yield f"the search for repairs was cut short{'' if thorough else '; explain --emit verdict tries more'}"
    for result in item.decision.criteria[1:]:
        yield paper_note(item.decision, result)


def _argument(item: Checked) -> str:
    """How a command line names the statement."""
    file, name = item.source.file, item.statement.name
    return shlex.quote(file) if Path(file).stem == name else f"{shlex.quote(file)} --name {shlex.quote(name)}"


def paper_note(decision: Decision, result: CriterionResult) -> str:
    """A sentence on the paper's theorem, and on its disagreement with the verdict if there is one."""
    name = _PAPER[result.name]
    if result.holds:
        unsound = decision.verdict is not Verdict.BOUNDED
        return f"{name} of the paper holds" + (", but it is not sound: see docs/theory.md" if unsound else "")
    broken = listed(dict.fromkeys(violation.condition for violation in result.violations))
    unnecessary = decision.verdict is Verdict.BOUNDED
    return f"{name} of the paper is violated at {broken}" + (
        ", but it is not necessary: see docs/theory.md" if unnecessary else ""
    )


def _summary(checked: tuple[Checked, ...], color: bool) -> str:
    counts = [(verdict, sum(item.verdict is verdict for item in checked)) for verdict in Verdict]
    parts = [paint(f"{n} {verdict.value}", _STYLE.get(verdict, "error"), color) for verdict, n in counts if n]
    summary = f"{len(checked)} {'query' if len(checked) == 1 else 'queries'} checked: {', '.join(parts)}"
    repaired = sum(item.repairs is not None for item in checked)
    if 0 < repaired < sum(item.rejected for item in checked):
        summary += (
            f"\nrepairs were looked for in the first {repaired} of the rejected queries; --repairs does so in all"
        )
    return summary
