"""What every operator of a job is: something that is given deltas of closed timestamps and returns their results.

Some rows are known to be bad only when their timestamp closes, because of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.delta import Delta
from streambound_runtime.row_values import Value

if TYPE_CHECKING:
    import pyarrow as pa

State = dict[str, "pa.Table"]
"""Arrow tables by name."""


class StatefulOperator(Protocol):
    """An operator of the circuit that a job runs."""

    limit: int | None
    """The most entries between two timestamps; None where no number is known."""
    history: tuple[Integers, Integers]
    """The timestamps of the last step at which the number of entries changes, and its first, and how many there are
    from then on."""

    @property
    def peak(self) -> int:
        """The most entries there were after any timestamp of the last step."""
        ...

    def step(self, deltas: Mapping[str, Delta]) -> Delta:
        """Close the timestamps of some deltas, by the name of what they are of; returns what becomes true at them."""
        ...

    def entries(self) -> int:
        """How many entries there are now."""
        ...

    def dump(self) -> State:
        """What has to be remembered."""
        ...

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        ...


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row, as often as it came: of which stream or changing relation, at which timestamp, with its encoded values.

    ``reason`` is a code of `decoding.reasons.REASONS`, ``detail`` its words.
    """

    stream: str
    reason: str
    detail: str
    time: int
    values: Mapping[str, Value]
    copies: int = 1
