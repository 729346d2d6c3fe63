"""A circuit's certificate as it was read: what it claims, its shape checked and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from streambound.recheck.certificates.claims import ClaimedAmount, ClaimedBranch, RejectedError, once

VERSION = 1


class NotRecheckedError(Exception):
    """What of a statement this checker does not know: its certificate is neither accepted nor refuted."""


@dataclass(frozen=True, slots=True)
class ClaimedKey:
    """A key of a state, and how many values it has."""

    key: str
    values: str | None


@dataclass(frozen=True, slots=True)
class ClaimedState:
    """A line of the certificate."""

    state: str
    proposition: str
    keys: tuple[ClaimedKey, ...]
    entries: ClaimedAmount
    lifetime: str


@dataclass(frozen=True, slots=True)
class ClaimedBlock:
    """The tables of a block."""

    block: str
    distinct: bool
    branches: tuple[ClaimedBranch, ...]


@dataclass(frozen=True, slots=True)
class ClaimedCounts:
    """The different results that a state's entries are."""

    state: str
    branches: tuple[ClaimedBranch, ...]


@dataclass(frozen=True, slots=True)
class ClaimedCircuit:
    """The whole certificate."""

    version: int
    states: tuple[ClaimedState, ...]
    blocks: tuple[ClaimedBlock, ...]
    counts: tuple[ClaimedCounts, ...]
    entries: ClaimedAmount

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise RejectedError(f"the certificate is not of version {VERSION}")
        once("'states'", *(state.state for state in self.states))
        once("'blocks'", *(block.block for block in self.blocks))
        once("'counts'", *(count.state for count in self.counts))
