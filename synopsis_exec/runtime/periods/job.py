"""What a job of SEQ blocks is: the relations that it reads, the plans of its blocks, and the SQL around them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streambound_runtime.operators.period_plan import SliceLineage, SliceQuery
from streambound_runtime.promises import KEPT_BY_DEFAULT, QuarantineLimit
from streambound_runtime.spec import Relation, SinkSpec

BlockQuery = SliceQuery | SliceLineage
"""The plan of a block."""


@dataclass(frozen=True, slots=True)
class PeriodRelation:
    """A relation; if its rows have periods, the columns of these and their type.

    ``low`` and ``high`` are the declared domain of time, encoded, which no period may leave. Where a block asks for
    lineages, ``key`` and ``probability`` are the columns of the rows' random variables.
    """

    relation: Relation
    period: tuple[str, str] | None = None
    time_type: str = "bigint"
    low: int | None = None
    high: int | None = None
    key: str = ""
    probability: str = ""

    def fact(self, columns: Iterable[str]) -> list[str]:
        """Of these columns those that are neither the period nor the random variable."""
        own = {name.lower() for name in (*(self.period or ()), self.key, self.probability)}
        return [name for name in columns if name.lower() not in own]


@dataclass(frozen=True, slots=True)
class PeriodJob:
    """A statement with SEQ blocks. ``runtime`` is the version of this package that it was written for.

    ``outer`` is Spark SQL around the blocks, in which ``{name}`` stands for a block or a relation; empty where the
    statement is one block. With ``ordered`` that SQL says in which order the lines of the result are.
    """

    name: str
    runtime: str
    relations: tuple[PeriodRelation, ...]
    blocks: tuple[BlockQuery, ...]
    outer: str = ""
    ordered: bool = False
    sink: SinkSpec | None = None
    quarantine: SinkSpec | None = None
    quarantine_limit: QuarantineLimit = KEPT_BY_DEFAULT

    @property
    def tables(self) -> tuple[Relation, ...]:
        """The relations that it reads."""
        return tuple(one.relation for one in self.relations)
