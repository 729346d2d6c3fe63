"""What a job of a SEQ block over streams is made of."""

from __future__ import annotations

from msgspec import Struct

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Condition
from streambound.criteria.block_part import BlockPart
from streambound_runtime.operators.period_plan import SliceLineage, SliceQuery


class OfRelation(Struct, frozen=True):
    """A condition on a stream's row: some row of a static relation has the values of these columns, each in another."""

    relation: str
    columns: tuple[tuple[str, str], ...]


JudgedConditions = tuple[tuple[Condition | OfRelation, ...], ...]
"""Conjunctions of which a row of a stream satisfies one where it is judged beside others."""


class PeriodPart(Struct, frozen=True):
    """A SEQ block over streams of rows with periods (`criteria.periods`): blocks of one stream each, and operators.

    ``relations`` are static, with the columns that are needed; ``streams`` are those that are read. ``judged`` says
    among which rows of a stream its snapshot key is: those that satisfy one of some conjunctions; else among all.
    """

    name: str
    blocks: tuple[BlockPart, ...]
    relations: tuple[tuple[DeclaredTable, tuple[str, ...]], ...]
    streams: tuple[DeclaredTable, ...]
    query: SliceQuery | SliceLineage
    columns: tuple[Column, ...]
    judged: tuple[tuple[str, JudgedConditions], ...] = ()
