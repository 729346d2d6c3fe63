"""What became of each statement between two states: paired, compared, and ordered from better to worse.

Order of verdicts: *bounded*, *unknown*, *unbounded*, *unsupported*, *error*: first what is proved, then what may still
be bounded, what is not, and at last what was not analysed. What somebody accepted counts as bounded does: it passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from streambound.analyzer.symbols import symbols_in
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.formula import evaluate
from streambound.reports.beside import Beside, ChangeKind, StatementChange
from streambound.reports.fingerprint import words
from streambound.reports.outcome import BoundText, Outcome

if TYPE_CHECKING:
    from streambound.gate.baseline import Baseline
    from streambound.gate.ratchet import Ratchet

WORSE_LAST = (Verdict.BOUNDED, Verdict.UNKNOWN, Verdict.UNBOUNDED, Verdict.UNSUPPORTED, Verdict.ERROR)
_SAMPLES = (1, 2, 3, 10, 1000)


def transitions(
    old: Sequence[Outcome], new: Sequence[Outcome], older: Mapping[str, str]
) -> tuple[StatementChange, ...]:
    """Every statement of both states once: those of the new one in their order, then what was removed.

    ``older`` maps files as they are called now to their old names.
    """
    pairs = _pairs(old, new, older)
    found = [_transition(old[pairs[i]] if i in pairs else None, item) for i, item in enumerate(new)]
    left = set(range(len(old))) - set(pairs.values())
    return (*found, *(StatementChange(ChangeKind.REMOVED, old[i], None, True) for i in sorted(left)))


def _transition(old: Outcome | None, new: Outcome) -> StatementChange:
    if old is None:
        return StatementChange(ChangeKind.NEW, None, new, True)
    touched = _words(old) != _words(new)
    return StatementChange(compared(old, new), old, new, touched)


def compared(old: Outcome, new: Outcome) -> ChangeKind:
    """The transition of a statement's verdict, or else of its bound."""
    before, after = rank(old), rank(new)
    if before != after:
        return ChangeKind.WORSE if after > before else ChangeKind.BETTER
    if old.verdict is not Verdict.BOUNDED or new.verdict is not Verdict.BOUNDED:
        return ChangeKind.SAME
    sizes = [inf if item.kept_bytes is None else item.kept_bytes for item in (old, new)]
    if old.engine is not None and new.engine is not None and sizes[0] != sizes[1]:
        return ChangeKind.GREW if sizes[1] > sizes[0] else ChangeKind.SHRANK
    return _bounds(old.bound or BoundText(), new.bound or BoundText())


def rank(item: Outcome) -> int:
    """Where a statement stands in the order; what somebody accepted, where bounded ones do."""
    return 0 if item.suppressed or item.verdict is Verdict.NO_QUERY else WORSE_LAST.index(item.verdict)


def _bounds(old: BoundText, new: BoundText) -> ChangeKind:
    """Numbers are compared, of equal ones their bytes; formulas at some values: one that is greater for any grew."""
    if old.entries is not None and new.entries is not None:
        before, after = [old.entries], [new.entries]
        if before == after and old.bytes is not None and new.bytes is not None:
            before, after = [old.bytes], [new.bytes]
    elif old.formula == new.formula:
        return ChangeKind.SAME
    elif new.formula is None or old.formula is None:
        return ChangeKind.GREW if new.formula is None else ChangeKind.SHRANK
    else:
        before, after = _sampled(old.formula, new.formula)
    if any(b < a for b, a in zip(before, after, strict=True)):
        return ChangeKind.GREW
    return ChangeKind.SHRANK if before != after else ChangeKind.SAME


def _sampled(old: str, new: str) -> tuple[list[int], list[int]]:
    """Both formulas where all symbols have one value, and where one of them has another; equal ones mostly agree."""
    symbols = sorted(symbols_in(old) | symbols_in(new))
    points = [dict.fromkeys(symbols, value) for value in _SAMPLES]
    points += [{**dict.fromkeys(symbols, 2), symbol: value} for symbol in symbols for value in _SAMPLES]
    return [evaluate(old, point) for point in points], [evaluate(new, point) for point in points]


# --- which statement is which --------------------------------------------------------------------------------------


def _pairs(old: Sequence[Outcome], new: Sequence[Outcome], older: Mapping[str, str]) -> dict[int, int]:
    """Statements of the new state with those of the old one: by name or text in one file, then anywhere, then by place.

    Equal keys are paired in their order.
    """
    pairing = _Pairing(old, new)

    def then(item: Outcome) -> str:
        return older.get(item.source.file, item.source.file)

    pairing.match(lambda item: (item.source.file, item.name) if item.named else None,
                  lambda item: (then(item), item.name) if item.named else None)  # fmt: skip
    pairing.match(lambda item: (item.source.file, _words(item)), lambda item: (then(item), _words(item)))
    pairing.match(lambda item: item.name if item.named else None, lambda item: item.name if item.named else None)
    pairing.match(_words, _words)
    pairing.match(lambda item: item.source.file, then)
    return pairing.found


class _Pairing:
    """Pairs what is left, round by round."""

    def __init__(self, old: Sequence[Outcome], new: Sequence[Outcome]) -> None:
        self.old, self.new = dict(enumerate(old)), dict(enumerate(new))
        self.found: dict[int, int] = {}

    def match(
        self, old_key: Callable[[Outcome], Hashable | None], new_key: Callable[[Outcome], Hashable | None]
    ) -> None:
        """Pair statements of one key, in their order; those whose key is None are left."""
        waiting: dict[Hashable, list[int]] = {}
        for i, item in self.old.items():
            if (key := old_key(item)) is not None:
                waiting.setdefault(key, []).append(i)
        for i, item in list(self.new.items()):
            key = new_key(item)
            if key is not None and waiting.get(key):
                self.found[i] = waiting[key].pop(0)
                del self.new[i]
                del self.old[self.found[i]]


def _words(item: Outcome) -> str:
    return words(item.source.text[item.span.start : item.span.end])


def beside(
    ref: str | None, transitions: Sequence[StatementChange], baseline: Baseline | None, ratchet: Ratchet | None
) -> Beside:
    """The comparisons of a run with a commit and with a baseline, as far as there were any."""
    counts = Counter(transition.change for transition in transitions)
    return Beside(
        ref,
        tuple(one for one in transitions if one.change is not ChangeKind.SAME),
        {change.value: counts[change] for change in ChangeKind} if ref is not None else {},
        str(baseline.file) if baseline is not None else None,
        len(ratchet.held) if ratchet is not None else 0,
        ratchet.stale if ratchet is not None else (),
    )
