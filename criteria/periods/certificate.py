"""The certificate of a SEQ block over streams: a line for each state, as plain JSON.

`recheck.periods` finds out from the SQL which states there must be, and how many entries they have; it shares no code
with this package.
"""

from __future__ import annotations

from msgspec import Struct

from streambound.criteria.certificate import Amount
from streambound.criteria.judged import Judged
from streambound.criteria.size import total

VERSION = 3


class PeriodStateCertificate(Struct, frozen=True):
    """A state: its name, its proposition, its keys, the most entries, and when one goes."""

    state: str
    proposition: str
    keys: tuple[str, ...]
    entries: Amount
    lifetime: str


class PeriodCertificate(Struct, frozen=True):
    """All states, and M."""

    version: int
    states: tuple[PeriodStateCertificate, ...]
    entries: Amount


def period_certificate(judged: Judged) -> PeriodCertificate:
    """The certificate of a bounded block."""
    states = tuple(
        PeriodStateCertificate(one.name, one.proposition, one.keys, Amount(one.size.text, one.size.value), one.freed)
        for one in judged.states
    )
    every = total(state.size for state in judged.states)
    return PeriodCertificate(VERSION, states, Amount(every.text, every.value))
