"""What a run was compared with, as the formats print it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from streambound.gate.transitions import ChangeKind, StatementChange
from streambound.reports.beside import Beside, Changed, QueryState, Stale

if TYPE_CHECKING:
    from streambound.gate.baseline import Baseline
    from streambound.gate.ratchet import Ratchet


def beside(
    ref: str | None, transitions: Sequence[StatementChange], baseline: Baseline | None, ratchet: Ratchet | None
) -> Beside:
    """The comparisons of a run with a commit and with a baseline, as far as there were any."""
    counts = Counter(transition.change for transition in transitions)
    stale = ratchet.stale if ratchet is not None else ()
    return Beside(
        ref,
        tuple(_changed(transition) for transition in transitions if transition.change is not ChangeKind.SAME),
        {change.value: counts[change] for change in ChangeKind} if ref is not None else {},
        str(baseline.file) if baseline is not None else None,
        len(ratchet.held) if ratchet is not None else 0,
        tuple(Stale(entry.file, entry.query, entry.code, entry.line) for entry in stale),
    )


def _changed(transition: StatementChange) -> Changed:
    old, new = transition.old, transition.new
    item = new or old
    assert item is not None, "a transition has a state"
    states = (QueryState.of(state) if state is not None else None for state in (old, new))
    return Changed(transition.change.value, item.name, transition.touched, *states)
