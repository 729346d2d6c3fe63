"""Which rows of streams and relations have good periods, as a job's decoders judge them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.criteria.periods.endless import certain
from streambound.criteria.periods.leaves import own_columns
from streambound.criteria.periods.parts import PeriodPart
from streambound.synopsis_exec.plan_ir import Input
from streambound_runtime.operators.period_plan import SliceLineage
from streambound_runtime.promises import PeriodContract


def contracts_of_block(part: PeriodPart, catalog: Catalog) -> dict[str, PeriodContract]:
    """The contracts that a SEQ block needs of its streams and relations, by their names."""
    found = {}
    for table in (*part.streams, *(table for table, _ in part.relations)):
        period = table.period
        if period is None:
            continue
        made = _contract(table, catalog)
        if table.timestamp:
            made = replace(made, longest=period.max_duration, most=period.max_valid, key=period.snapshot_key)
        if isinstance(part.query, SliceLineage):
            key, p = own_columns(period)
            one, fact = int(certain(table, p)), period.fact(table.columns)
            made = replace(made, variable=key, probability=p, certain=one, fact=fact)
        found[table.name] = made
    return found


def contracts_as_of(names: Iterable[str], catalog: Catalog) -> dict[str, PeriodContract]:
    """The contracts of the relations that a statement reads as of a time (`analyzer.algebra.valid_rows`)."""
    tables = (catalog.table(name) for name in names)
    return {table.name: _contract(table, catalog) for table in tables if table is not None}


def judged_by(item: Input, contract: PeriodContract | None) -> Input:
    """A stream or relation with a contract, and the columns that it is judged by where nothing else reads them."""
    if contract is None:
        return item
    asked = {contract.begin, contract.end, contract.variable, contract.probability} - {c.name for c in item.columns}
    return replace(item, columns=(*item.columns, *(one for one in item.declared if one.name in asked)), period=contract)


def _contract(table: DeclaredTable, catalog: Catalog) -> PeriodContract:
    assert table.period is not None, "its rows have periods"
    return PeriodContract(table.period.begin, table.period.end, *catalog.domain_of(table.period.kind))
