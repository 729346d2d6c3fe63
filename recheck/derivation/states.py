"""What a rule says of a state, which a claim must say, too; and what of a count says why and how long."""

from __future__ import annotations

from dataclasses import dataclass

from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.certificates.validate import amount_faults
from streambound.recheck.derivation.claims import ClaimedOperatorState, ClaimedStateCount

NUMBER, SUMS, VALUES, OPEN_VALUES, ROW, SOURCES = "number", "sums", "values", "open values", "row", "rows of sources"
"""What an entry holds beside its key."""
PRESENT, TIME, EVER, KEY = "when its rows are taken back", "when its time is over", "never", "when its key ends"
LAST_ENDED = "when as many more have ended"
"""When an entry goes."""
BLOCK, ROWS, OF_VALUES, OPEN, OPEN_KEYS = (
    "tables of a select-project-join block",
    "rows of the input",
    "values of the key's columns",
    "rows that are open",
    "keys that are open",
)
"""Why there are at most so many."""


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """What a claim must say of a state."""

    what: str
    proposition: str
    key: tuple[int, ...]
    entry: str
    size: Quantity
    reason: str
    retention: str = PRESENT


def check_state(claim: ClaimedOperatorState, state: ExpectedState, symbols: dict[str, Quantity]) -> Quantity:
    """The size of a state; raises RejectedError where a claim says something else."""
    said = (claim.what, claim.proposition, claim.key, claim.entry, claim.reason, claim.retention)
    if said != (state.what, state.proposition, state.key, state.entry, state.reason, state.retention):
        raise RejectedError(f"the state of {state.what} ({state.proposition}) is said to be another one")
    for fault in amount_faults(state.what, claim.size, state.size, symbols):
        raise RejectedError(fault)
    return state.size


def reason_of(count: ClaimedStateCount) -> str:
    """Why there are at most so many entries, by the rule of their count."""
    match count.rule:
        case "results":
            return BLOCK
        case "one" | "rows" | "whole":
            return ROWS
        case "keys":
            return OPEN_KEYS
        case "empty":
            return OF_VALUES
        case "parts" | "below" if count.of:
            return reason_of(count.of[0])
        case "open" | "apart":
            return OPEN
    if count.closing:
        return OPEN
    return ROWS if count.sources else OF_VALUES


def retention_of(count: ClaimedStateCount) -> str:
    """When an entry goes, by the rule of its count."""
    if count.rule in ("parts", "below") and count.of:
        return retention_of(count.of[0])
    if count.rule == "keys":
        return KEY
    return TIME if count.closing or count.rule in ("open", "apart") else PRESENT
