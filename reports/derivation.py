"""How a verdict follows, as a tree: query, passes, branches, facts, clauses, tables, verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from msgspec import Struct

from streambound.analyzer.boundedness import Facts, JoinConstraint
from streambound.analyzer.codes import Code
from streambound.analyzer.query import Attribute, Branch, Comparison, Kind, Op, Query, conjunction
from streambound.analyzer.render import render_branch, render_formula
from streambound.analyzer.values import decode
from streambound.criteria.check import Checked
from streambound.criteria.projected_time import waiting_times
from streambound.criteria.synopsis import MOST_TABLES
from streambound.criteria.verdict import Decision
from streambound.criteria.violation import CriterionResult, Violation
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.wording import listed
from streambound.preprocess.pipeline import PASSES
from streambound.reports.outcome import outcome
from streambound.reports.phrases import join_text, values_text
from streambound.reports.table_words import TableWords, parts
from streambound.reports.text_report import bound_text

MOST_BRANCHES = 6
"""Branches that the tree shows."""

MOST_ROWS = 12
"""Tables, or facts of one stream, that the tree shows."""

_CLAUSES = {
    "bag": (
        ("(i)", "every projected attribute of a remembered stream is bounded"),
        ("(ii)", "every join of a remembered stream with one that may come later is harmless"),
    ),
    "set": (
        ("(1)", "every projected attribute of an infinite stream is bounded"),
        ("(2)", "every equality with a stream that may come later is on a bounded attribute"),
        ("(3)", "inequalities ask for at most one extreme value per component of a set of streams"),
    ),
}


_FORGOTTEN = "results are forgotten by their time, and every projected attribute of a remembered stream is bounded"


class Step(Struct, frozen=True):
    """A node of the derivation tree; ``style`` is a key of `reports.style`, or empty."""

    text: str
    children: tuple[Step, ...] = ()
    style: str = ""


def derivation(checked: Checked, decision: Decision) -> Step:
    """The derivation tree of a decided statement."""
    branches = parts(checked, decision)
    words = [TableWords.of(checked, decision, number, branch) for number, branch in enumerate(branches, start=1)]
    shown = [_branch(decision, number, len(branches), words[number - 1]) for number in _shown(words)]
    more = len(branches) - len(shown)
    rest = (Step(f"and {more} more {'branch' if more == 1 else 'branches'}", style="dim"),) if more else ()
    papers = (_paper(decision, result) for result in decision.criteria[1:])
    return Step(
        f"{decision.query.name}, a {'set' if decision.query.distinct else 'bag'}",
        (_query(decision), _passes(decision), *shown, *rest, *papers, _verdict(checked, decision)),
        "bold",
    )


def _shown(words: list[TableWords]) -> list[int]:
    """The numbers of the branches to show: those that violate a clause first."""
    numbers = range(1, len(words) + 1)
    return sorted(sorted(numbers, key=lambda number: not words[number - 1].violations)[:MOST_BRANCHES])


def _query(decision: Decision) -> Step:
    query = decision.query
    selects = [Step(render_branch(branch, query.distinct)) for branch in query.branches]
    return Step("query", _few(selects, "SELECTs"))


def _passes(decision: Decision) -> Step:
    steps = [Step(f"{name}: {effect}") for name, effects in pass_effects(decision) for effect in effects]
    unchanged = [name for name, effects in pass_effects(decision) if not effects]
    steps += _together(decision)
    idle = (Step(f"no change by {listed(unchanged)}", style="dim"),) if unchanged else ()
    return Step("passes", (*_few(steps, "changes"), *idle))


def _together(decision: Decision) -> Iterator[Step]:
    """Whether tables are those of a query that is less split."""
    found, apart = decision.bound, len(decision.derivation.split.branches)
    number = len({branch.number for branch in found.branches}) if found is not None else apart
    if number < apart:
        branches = f"{number} {'branch' if number == 1 else 'branches'}"
        yield Step(f"tables: <> is a test where partners meet, which takes fewer entries: {branches}")


def _branch(decision: Decision, number: int, total: int, words: TableWords) -> Step:
    name = f"branch {number} of {total}" if total > 1 else "branch"
    sql = (Step(render_branch(words.facts.branch, decision.query.distinct)),) if total > 1 else ()
    return Step(name, (*sql, _facts(words), _criterion(decision, words), _tables(words)))


# --- facts -------------------------------------------------------------------------------------------------------


def _facts(words: TableWords) -> Step:
    streams = [_stream(words, source.alias) for source in words.facts.branch.streams]
    relations = [Step(f"{s.alias}: a relation, finite") for s in words.facts.branch.of_kind(Kind.RELATION)]
    return Step("facts", _few([*streams, *relations], "sources"))


def _stream(words: TableWords, alias: str) -> Step:
    """Who may come after a stream's row, and what that makes of its attributes."""
    facts, later = words.facts, words.facts.later[alias]
    if alias in facts.finite_streams:
        return Step(f"{alias}: a finite stream, it brings finitely many values")
    if not later:
        waits = f"{alias}: no stream may come later, so its rows are forgotten after a bounded time"
    else:
        waits = f"{alias}: remembered, because {listed(later, 'or')} may come later"
    return Step(waits, _few([*_projections(words, alias), *_joins(words, alias)], "facts"))


def _projections(words: TableWords, alias: str) -> Iterator[Step]:
    facts = words.facts
    if not facts.later[alias] and (not words.distinct or words.stamped is not None):
        return
    for time in waiting_times(facts, alias):
        yield Step(f"projected: {time} has no bound, not bounded", style="error")
    for attribute in facts.branch.projected:
        if attribute.source == alias:
            known = facts.bounded(attribute)
            text = f"projected: {values_text(facts, attribute)}, {'bounded' if known else 'not bounded'}"
            yield Step(text, style="" if known else "error")


def _joins(words: TableWords, alias: str) -> Iterator[Step]:
    facts, extreme = words.facts, bool(words.synopsis.references)
    found: dict[str, tuple[Attribute, list[bool]]] = {}
    for own, join in facts.joins_of(alias, facts.later[alias]):
        text = _join(facts, join)
        found.setdefault(f"{text}|{own}", (own, []))[1].append(facts.harmless(own, join))
    for key, (own, harmless) in found.items():
        text = key.rsplit("|", 1)[0]
        if all(harmless):
            yield Step(f"joined: {text}, harmless ({_why_harmless(facts, own)})")
        elif extreme:
            yield Step(f"joined: {text}, harmful, but of {own} an extreme value is enough")
        else:
            yield Step(f"joined: {text}, harmful: it depends on unboundedly many {own}", style="error")


def _join(facts: Facts, join: JoinConstraint) -> str:
    """An equality is two joins; it is written once."""
    x, y = join.attribute, join.other
    return join_text(facts, *sorted((x, y))) if join.equality else join_text(facts, x, y)


def _why_harmless(facts: Facts, own: Attribute) -> str:
    if facts.bounded(own):
        return values_text(facts, own)
    return f"{own} may be clipped"


# --- criterion and tables ----------------------------------------------------------------------------------------


def _criterion(decision: Decision, words: TableWords) -> Step:
    projection = decision.query.projection
    stated = dict(_CLAUSES[projection]) | ({"(1)": _FORGOTTEN} if words.stamped is not None else {})
    clauses = tuple(_clause(name, text, words.violations) for name, text in stated.items())
    return Step(f"{projection} criterion", clauses)


def _clause(name: str, text: str, violations: tuple[Violation, ...]) -> Step:
    broken = [v for v in violations if v.condition == name]
    if not broken:
        return Step(f"{name} {text}: holds", style="good")
    return Step(f"{name} {text}: violated", _few([_at(v) for v in broken], "violations"), "error")


def _at(violation: Violation) -> Step:
    culprit = violation.stream + (f".{violation.attribute}" if violation.attribute else "")
    return Step(f"at {culprit} ({violation.span.line}:{violation.span.column}) [{violation.code}]")


def _tables(words: TableWords) -> Step:
    """The tables; a set keeps its results as well."""
    if words.tables is None:
        return Step(f"tables: more than {MOST_TABLES}")
    rows = [
        Step(f"{table.name}: {'; '.join(words.lines(table))}", style="error" if words.culprits(table) else "")
        for table in words.tables
    ]
    if words.distinct:
        style = "error" if words.result_culprits else ""
        rows.append(Step(f"results: {'; '.join(words.result_lines)}", style=style))
    return Step("tables" if rows else "tables: none, nothing is remembered", _few(rows, "tables"))


def _few(steps: list[Step], what: str) -> tuple[Step, ...]:
    more = len(steps) - MOST_ROWS
    return (*steps[:MOST_ROWS], Step(f"and {more} more {what}", style="dim")) if more > 0 else tuple(steps)


# --- verdict -----------------------------------------------------------------------------------------------------


def _paper(decision: Decision, result: CriterionResult) -> Step:
    return Step(paper_note(decision, result), style="dim")


def _verdict(checked: Checked, decision: Decision) -> Step:
    style = {Verdict.BOUNDED: "good", Verdict.UNKNOWN: "warning"}.get(checked.verdict, "error")
    reasons = []
    if decision.witness is not None:
        kept = listed(dict.fromkeys(str(kept.attribute) for kept in decision.witness.plan.kept))
        reasons.append(Step(f"witness: of N values of {kept}, every subset leads to a different output"))
    reasons += [
        Step(d.message)
        for d in checked.diagnostics
        if d.code in (Code.UNION_UNKNOWN, Code.SELF_JOIN_UNKNOWN, Code.NO_WITNESS)
    ]
    return Step(f"verdict: {checked.verdict.value}{bound_text(outcome(checked))}", tuple(reasons), style)


_PAPER = {"theorem-1": "Theorem 1", "theorem-2": "Theorem 2"}


def paper_note(decision: Decision, result: CriterionResult) -> str:
    """A sentence on the paper's theorem, and on its disagreement with the verdict if there is one."""
    name = _PAPER[result.name]
    if result.holds:
        unsound = decision.verdict is not Verdict.BOUNDED
        return f"{name} of the paper holds" + (", but it is not sound: see docs/theory-paper.md" if unsound else "")
    broken = listed(dict.fromkeys(violation.condition for violation in result.violations))
    unnecessary = decision.verdict is Verdict.BOUNDED
    return f"{name} of the paper is violated at {broken}" + (
        ", but it is not necessary: see docs/theory-paper.md" if unnecessary else ""
    )


Effect = Callable[[Decision, Query, Query], Iterator[str]]


def pass_effects(decision: Decision) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The passes in order, each by its name with what it changed."""
    before = decision.query
    for step in PASSES:
        after = decision.derivation.after(step.establishes)
        yield step.name, tuple(EFFECTS[step.name](decision, before, after))
        before = after


def _split_disjunctions(decision: Decision, before: Query, after: Query) -> Iterator[str]:
    """``OR`` and ``IN`` into disjoint branches."""
    counts = Counter(branch.statement for branch in after.branches)
    for branch in before.branches:
        if counts[branch.statement] > 1:
            where = f"SELECT {branch.statement + 1}: " if len(before.branches) > 1 else ""
            yield f"{where}OR, IN or NOT split into {counts[branch.statement]} disjoint branches"
    for diagnostic in decision.derivation.warnings:
        if diagnostic.code is Code.NEVER_TRUE_ALTERNATIVE:
            yield f"dropped the alternative at {diagnostic.span.line}:{diagnostic.span.column}, which can never hold"


def _satisfiable_branches(decision: Decision, before: Query, after: Query) -> Iterator[str]:
    """Contradictory branches are dropped."""
    left = Counter(branch.statement for branch in after.branches)
    for statement, count in Counter(branch.statement for branch in before.branches).items():
        if count > left[statement]:
            what = "the query" if len(decision.query.branches) == 1 else f"SELECT {statement + 1}"
            some = f"{count - left[statement]} of {count} branches of {what}" if left[statement] else what
            yield f"dropped {some}: the conditions contradict each other"


def _split_unequal(decision: Decision, before: Query, after: Query) -> Iterator[str]:
    """``<>`` between streams into ``<`` and ``>``."""
    for branch in before.branches:
        halves = [half for half in after.branches if half.part == branch.part]
        split = [atom for atom in branch.atoms if _unequal(atom) and atom not in halves[0].atoms] if halves else []
        if split:
            texts = listed(render_formula(conjunction((atom,)), branch).sql("spark") for atom in split)
            found = "1 branch is" if len(halves) == 1 else f"{len(halves)} branches are"
            yield f"{texts} split into < and >: {found} left"
        elif not halves:
            yield "dropped a branch: both halves of a <> contradict the rest"


def _unequal(atom: object) -> bool:
    return isinstance(atom, Comparison) and atom.op is Op.NE


def _merge_timestamps(decision: Decision, before: Query, after: Query) -> Iterator[str]:
    """Streams with equal timestamps become one, for the paper's theorems."""
    return _once(after, lambda branch: [f"{listed(group)} always share a timestamp" for group in branch.merged])


def _rename_finite(decision: Decision, before: Query, after: Query) -> Iterator[str]:
    """Streams whose timestamps end."""
    return _once(after, _finite)


def _finite(branch: Branch) -> list[str]:
    ends = Facts.of(branch).finite_streams
    return [
        f"{source.alias} is finite: its timestamps end at "
        f"{decode(ends[source.alias], source.column(source.timestamp or '').type)}"
        for source in branch.of_kind(Kind.FINITE)
    ]


def _once(query: Query, effects: Callable[[Branch], list[str]]) -> Iterator[str]:
    """The effects on all branches, each once, with the number of branches where it is not all."""
    counts = Counter(text for branch in query.branches for text in effects(branch))
    for text, count in counts.items():
        total = len(query.branches)
        yield text if count == total else f"{text} (in {count} of {total} branches)"


EFFECTS: dict[str, Effect] = {
    "split_disjunctions": _split_disjunctions,
    "satisfiable_branches": _satisfiable_branches,
    "split_unequal": _split_unequal,
    "merge_timestamps": _merge_timestamps,
    "rename_finite": _rename_finite,
}
