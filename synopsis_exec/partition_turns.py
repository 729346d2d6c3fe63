"""Generated rows of streams with partitions: each is of a declared one, and all of them go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle

from streambound.analyzer.values import Value
from streambound.synopsis_exec.adversary import Row
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.promises import Partitions

LAG = 4
"""How many rows for each of the partitions a stream brings while one of them brings none."""


def in_partitions(streams: Sequence[Input], rows: Iterator[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """Pairs of a stream's name and a row of it, the rows given to the stream's partitions in turn.

    A row that is of a partition already, since the query compares the column with something, stays there. Where all
    rows are of some partitions only, the others would promise nothing and hold back the results: now and then a row is
    given to one of them. There are as many rows at each timestamp as before.
    """
    turns = {item.name: _Turns(item.arrival.partitions) for item in streams if item.arrival.partitions is not None}
    for name, row in rows:
        yield name, turns[name].placed(row) if name in turns else row


class _Turns:
    """The partitions of a stream, and how many rows ago each has brought one."""

    def __init__(self, partitions: Partitions[Value]) -> None:
        self.column, self.next = partitions.column, cycle(partitions.values)
        self.ago = dict.fromkeys(partitions.values, 0)

    def placed(self, row: Row) -> Row:
        """A row of one of the partitions: of its own, of one that is behind, or of the next one."""
        mine = row[self.column]
        behind = max(self.ago, key=self.ago.__getitem__)
        if self.ago[behind] >= LAG * len(self.ago):
            mine = behind
        elif mine not in self.ago:
            mine = next(self.next)
        for value in self.ago:
            self.ago[value] += 1
        self.ago[mine] = 0
        return {**row, self.column: mine}
