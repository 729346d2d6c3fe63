"""What each preprocessing pass changed in a query, in a line or two per change; nothing where it changed nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.query import Branch, Comparison, Kind, Op, Query, conjunction
from streambound.analyzer.render import render_formula
from streambound.analyzer.values import decode
from streambound.criteria.verdict import Decision
from streambound.criteria.wording import listed
from streambound.preprocess.pipeline import PASSES

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
