"""P2: what is remembered to enforce the contracts on rows that are valid together.

A snapshot key is judged among all rows of a stream where their number is bounded. Else it is among those of the keys
that some part of the query reads: rows of others are none of the result's, and conflict with none of its rows.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.query import Comparison, Condition, Query, conjunction
from streambound.criteria.bound import results_size
from streambound.criteria.periods.leaves import read_block
from streambound.criteria.periods.partners import values_beside
from streambound.criteria.periods.parts import OfRelation
from streambound.criteria.periods.slices import plus
from streambound.criteria.periods.valid import P2, KeyValues, unique_keys, valid_rows
from streambound.criteria.periods.views import MaybeSize, PeriodContext, smallest
from streambound.criteria.size import Number
from streambound.preprocess.pipeline import derive

Conditions = tuple[Condition | OfRelation, ...]
"""Conditions on a row's key, all of which hold."""


def contract_states(table: DeclaredTable, context: PeriodContext, values: KeyValues) -> None:
    """The latest end of each key (<= V*, |dom key|), a counter for each end (<= min(V*, L)).

    Without V* those of the keys that are read.
    """
    period = table.period
    assert period is not None, "only streams of rows with periods are read"
    valid, longest = valid_rows(table, context, values)
    if valid is None and period.snapshot_key and not context.lineages:
        size, conditions = _judged_keys(table, period.snapshot_key, context)
        if size is not None:
            context.judged[table.name] = conditions
            context.remember("latest ends", P2, size, period.snapshot_key, (table.name,))
            return
    told = any(table.name in one.streams for one in context.lacking)
    for key in unique_keys(table, context) if valid is not None or not told else ():  # else it lacks the same
        context.remember("latest ends", P2, smallest(valid, values(key)), key, (table.name,))
    if period.max_valid is not None:
        size = smallest(valid, None if longest is None else Number(longest))
        context.remember("ends", P2, size, ("end",), (table.name,))


def _judged_keys(
    table: DeclaredTable, key: tuple[str, ...], context: PeriodContext
) -> tuple[MaybeSize, tuple[Conditions, ...]]:
    """How many values a key has in the rows that are read, and the conditions of which one row's satisfy one."""
    found: dict[Conditions, MaybeSize] = {}
    for leaf in context.leaves:
        if leaf.table.name != table.name:
            continue
        items = [exp.column(name, quoted=True) for name in key]
        query = read_block(table, items, leaf.passing, context)
        if query is None:
            return None, ((),)
        partners = [
            OfRelation(one.relation, own)
            for one in leaf.partners
            if (own := tuple(pair for pair in one.columns if pair[0] in key))
        ]
        for branch in derive(query).split.branches:
            kept = tuple(replace(atom, span=None) for atom in branch.atoms if _is_of(atom, key))
            only = replace(query, branches=(replace(branch, where=conjunction(kept)),))
            different = partial(_different, only)
            found[(*kept, *partners)] = values_beside(leaf.partners, key, tuple(range(len(key))), different)
    return (plus(*found.values()), tuple(found)) if found else (None, ((),))


def _different(query: Query, places: tuple[int, ...]) -> MaybeSize:
    """How many different values some columns of a branch have together."""
    (branch,) = query.branches
    return results_size(replace(query, branches=(replace(branch, outputs=tuple(branch.outputs[n] for n in places)),)))


def _is_of(atom: Condition, key: tuple[str, ...]) -> bool:
    """Whether a condition is on a key alone, and a row's values are compared as they are."""
    plain = not isinstance(atom, Comparison) or atom.right is None or not atom.offset
    return plain and all(attribute.column in key for attribute in atom.attributes)
