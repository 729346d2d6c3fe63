"""Repairs of a rejected statement: changes of its text, each judged again, alone or with what the rest needs.

Changes come from what is to blame, by a few rules (`RULES`); whatever a rule offers, only what makes the statement
bounded is a repair. What removes some of the findings is continued with the best change of what it leaves. The budget
counts analyses and steps of work, not time, so that every machine finds the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Severity
from streambound.analyzer.diagnostics import Fix, FixKind, Repairs
from streambound.analyzer.edits import Edit, Hunk, hunks
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.work import share
from streambound.criteria.check import Checked
from streambound.criteria.large_bound import rows_in_words, without_rate
from streambound.criteria.repairs.demands import not_exists, past_relations, unseen_duplicates
from streambound.criteria.repairs.keyed import buckets, domains, open_keys, relations
from streambound.criteria.repairs.rejected import Change, Rejected, stretch
from streambound.criteria.repairs.waits import windows
from streambound.criteria.wording import listed

RULES: tuple[Callable[[Rejected], Iterator[Change]], ...] = (
    unseen_duplicates,
    open_keys,
    relations,
    past_relations,
    not_exists,
    windows,
    buckets,
    domains,
)
"""What offers changes: add a rule by adding it here."""
_NOTHING = "no window of time, relation or other change that was tried makes it bounded"
_HIDDEN = (
    "what would make it bounded has no certain place in this text: a subquery or a view hides the time of its rows"
)
FEW = 2
"""With fewer changes that are enough alone than that, several together are looked for."""
MOST_CHANGES = 8
"""Changes taken together at most."""
UNIT = 50
_LONG = 60
"""A size of more characters tells nobody anything."""
_WORD = re.compile(r"\w+|\s+|.")


class Effort(Struct, frozen=True):
    """How many repairs are wanted, in all and of one kind, and how much their search may cost.

    ``work`` limits how long all analyses may take together, for queries so large that fewer are afforded: in units of
    `UNIT` steps of work.
    """

    repairs: int
    of_a_kind: int
    analyses: int
    work: int


QUICK = Effort(repairs=5, of_a_kind=2, analyses=60, work=30_000)
THOROUGH = Effort(repairs=20, of_a_kind=20, analyses=400, work=300_000)
_CUT_SHORT = {
    QUICK: "`explain --emit verdict` tries more",
    THOROUGH: "there are more changes and combinations than are tried",
}


Found = tuple[tuple[Change, ...], Rejected]
"""Changes, one after the other, and what the statement is then."""


class _Search(Struct):
    """The search from one rejected statement; ``analyses`` are those that are left."""

    rejected: Rejected
    analyses: int
    tried: int = 0
    _enough: set[tuple[str, str]] = field(default_factory=set)
    """The changes that are enough alone, by what they are: nothing else is taken together with them."""

    def found(self) -> Iterator[Found]:
        """Changes that are enough, the best first; then what several together are, in the order of the first."""
        partial = list[Found]()
        for change, after in self._after(self.rejected):
            if after.is_bounded:
                self._enough.add((change.kind, change.title))
                yield (change,), after
            elif _left(after) <= _left(self.rejected):
                partial.append(((change,), after))
        partial.sort(key=lambda one: _left(one[1]) == _left(self.rejected))
        for changes, after in partial if len(self._enough) < FEW else ():
            yield from self._completed(changes, after)

    def _completed(self, changes: tuple[Change, ...], rejected: Rejected) -> Iterator[Found]:
        """Some changes with the best ones of what they leave, until nothing is left."""
        best: Found | None = None
        for change, after in self._after(rejected):
            if (change.kind, change.title) in self._enough:
                continue
            together = (*changes, change)
            if after.is_bounded:
                yield together, after
                return
            if _left(after) < _left(rejected) and (best is None or _left(after) < _left(best[1])):
                best = together, after
        if best is not None and len(best[0]) < MOST_CHANGES:
            yield from self._completed(*best)

    def _after(self, rejected: Rejected) -> Iterator[tuple[Change, Rejected]]:
        """The statement after each change, as long as analyses are left."""
        for change in candidates(rejected):
            if self.analyses <= 0:
                return
            self.analyses -= 1
            self.tried += 1
            after = rejected.after(change)
            if after is not None:
                yield change, after


def candidates(rejected: Rejected) -> tuple[Change, ...]:
    """Single changes that have a place in the text, the best first; two ways to say one change count once."""
    distinct: dict[object, Change] = {}
    for change in (change for rule in RULES for change in rule(rejected)):
        if change.edits or change.declared:
            distinct.setdefault((change.edits, change.declared), change)
    return tuple(sorted(distinct.values(), key=lambda change: change.weight))


def _left(rejected: Rejected) -> int:
    """How much is wrong: the places and the columns that are to blame."""
    return len({(one.code, one.message, one.span) for one in rejected.violations}) or int(not rejected.is_bounded)


def repair(statement: Statement, catalog: Catalog, effort: Effort = QUICK) -> Repairs:
    """The repairs of a statement that is not bounded, as many of each kind as its effort says."""
    rejected = Rejected.of(statement, catalog)
    if rejected is None:
        return Repairs(why_none="it takes too much work to look for one")
    afforded = effort.work * UNIT // max(1, rejected.steps)
    search = _Search(rejected, min(effort.analyses, max(3, afforded)))
    found: list[Found] = []
    kinds = Counter[tuple[str, ...]]()
    with share(effort.work * UNIT) as taken:
        for changes, after in search.found():
            kind = tuple(sorted(change.kind for change in changes))
            kinds[kind] += 1
            if kinds[kind] <= effort.of_a_kind:
                found.append((changes, after))
    found.sort(key=lambda one: sum(change.weight for change in one[0]))
    needed = [one for number, one in enumerate(found) if not any(_within(less, one) for less in found[:number])]
    hidden = any(item.hides_time for scope in rejected.scopes for item in scope.items)
    why_none = "" if found else _HIDDEN if hidden else f"{_NOTHING} ({search.tried} were)"
    fixes = tuple(_fix(changes, rejected, after) for changes, after in needed[: effort.repairs])
    complete = len(fixes) == effort.repairs or not (search.analyses <= 0 or taken.ran_out)
    return Repairs(fixes, why_none, "" if complete else _CUT_SHORT[effort])


def _within(less: Found, more: Found) -> bool:
    """Whether some changes are all among others."""
    return {(one.kind, one.title) for one in less[0]} <= {(one.kind, one.title) for one in more[0]}


def _fix(changes: tuple[Change, ...], before: Rejected, after: Rejected) -> Fix:
    """Changes as they are shown and applied: what makes the one statement the other."""
    statement, catalog = before.statement, before.catalog
    in_sql = tuple(_edits(statement.source, *stretch(statement), after.statement.source.text))
    text = SourceText(catalog.file, catalog.text)
    in_catalog = tuple(_edits(text, 0, len(catalog.text), after.catalog.text))
    shown: list[Hunk] = [*(hunks(statement.source, in_sql) if in_sql else ())]
    shown += hunks(text, in_catalog) if in_catalog else ()
    notes = dict.fromkeys(filter(None, (change.note for change in changes)))
    told = "; ".join((*notes, *_of_views(in_sql, statement), _remembered(after.checked)))
    written = after.statement
    sql = written.source.text[written.span.start :] if written.views else written.source.text
    titles, kinds = (dict.fromkeys(getattr(change, name) for change in changes) for name in ("title", "kind"))
    effect = max((change.effect for change in changes), key=[*FixKind].index)
    return Fix(listed(titles), effect, sql.strip(), tuple(kinds), (*in_sql, *in_catalog), tuple(shown), told)


def _edits(source: SourceText, start: int, end: int, after: str) -> Iterator[Edit]:
    """The edits, word by word, that make a stretch of a text another one."""
    old, new = _WORD.findall(source.text[start:end]), _WORD.findall(after)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    last = 0
    while last < min(len(old), len(new)) - same and old[-1 - last] == new[-1 - last]:
        last += 1
    offsets = [start]
    for word in old:
        offsets.append(offsets[-1] + len(word))
    middle = old[same : len(old) - last], new[same : len(new) - last]
    for kind, first, behind, begin, stop in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
        if kind != "equal":
            span = source.span(offsets[same + first], offsets[same + behind])
            yield Edit(source.file, span, "".join(middle[1][begin:stop]))


def _of_views(edits: tuple[Edit, ...], statement: Statement) -> Iterator[str]:
    """Which views change, for every statement that reads them."""
    for view in statement.views:
        first, last = view.tokens[0].start, view.tokens[-1].end + 1
        if any(first <= edit.span.start <= last for edit in edits):
            yield f"the view {view.name} changes, for everything that reads it"


def _remembered(checked: Checked) -> str:
    """The states of a repaired statement, in words."""
    found = checked.circuit_bound or checked.bound
    if found is None:
        return "then it is bounded"
    number = found.entries.value
    if number == 0:
        return "then nothing is remembered"
    assert checked.catalog is not None, "what is bounded has one"
    if words := rows_in_words(found.entries, without_rate(checked.catalog)):
        return f"then it keeps {words}"
    counted = found.entries.text if number is None else format(number, ",")
    if len(counted) > _LONG:
        return "then it is bounded"
    return f"then at most {counted} {'entry' if number == 1 else 'entries'}"


def with_repairs(item: Checked, thorough: bool = False) -> Checked:
    """A rejected statement with its repairs, which are the fixes of its first error; all of them when thorough."""
    if not item.rejected or item.catalog is None:
        return item
    repairs = repair(item.statement, item.catalog, THOROUGH if thorough else QUICK)
    diagnostics = list(item.diagnostics)
    first = next((i for i, found in enumerate(diagnostics) if found.severity is Severity.ERROR), None)
    if first is not None:
        diagnostics[first] = replace(diagnostics[first], fixes=repairs.fixes)
    return replace(item, repairs=repairs, diagnostics=tuple(diagnostics))
