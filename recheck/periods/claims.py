"""A SEQ block's certificate as it was read: what it claims, its shape checked and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from streambound.recheck.certificates.claims import ClaimedAmount, RejectedError, once

VERSION = 3


@dataclass(frozen=True, slots=True)
class ClaimedPeriodState:
    """A line of the certificate."""

    state: str
    proposition: str
    keys: tuple[str, ...]
    entries: ClaimedAmount
    lifetime: str


@dataclass(frozen=True, slots=True)
class ClaimedPeriods:
    """The whole certificate."""

    version: int
    states: tuple[ClaimedPeriodState, ...]
    entries: ClaimedAmount

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise RejectedError(f"the certificate is not of version {VERSION}")
        once("'states'", *(state.state for state in self.states))
