"""A certificate against its query: every reason why it does not hold."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from analyzer.query import Kind, Query
from analyzer.render import render_branch
from analyzer.symbols import symbol
from recheck.cases import case_of, incomplete
from recheck.claims import Amount, Branch, Certificate, RejectedError, Table, read
from recheck.conditions import Conditions
from recheck.coverage import uncovered
from recheck.distances import ContradictionError
from recheck.family import wrong_family
from recheck.formula import evaluate
from recheck.independence import Independence
from recheck.names import unknown
from recheck.sizes import Numbers, oversized
from recheck.sufficiency import insufficient
from recheck.widths import too_wide

SAMPLES = 20
"""How many random valuations of its symbols a formula is evaluated on."""
_FAR = 1_000_000


def faults(split: Query, document: Any) -> tuple[str, ...]:
    """The reasons why a certificate (plain JSON) does not prove the bound of a split query; none when it does."""
    try:
        claimed = read(document)
        samples = _samples(split)
        found = list(incomplete(split, claimed.branches))
        if found:
            return tuple(found)
        found = [
            fault
            for claim in claimed.branches
            for fault in _branch_faults(Conditions(case_of(split, claim)), claim, split.distinct, samples)
        ]
        return tuple(dict.fromkeys((*found, *_total_faults(split, claimed, samples))))
    except RejectedError as error:
        return (str(error),)


def _branch_faults(conditions: Conditions, claim: Branch, distinct: bool, samples: list[Numbers]) -> Iterator[str]:
    sql = render_branch(conditions.branch, distinct)
    if claim.sql != sql:
        yield f"the certificate is for another query: {claim.sql}, where this one has {sql}"
        return
    try:
        if nameless := [fault for table in claim.tables for fault in unknown(conditions, table)]:
            yield from nameless
            return
        partial = tuple(table for table in claim.tables if not table.results)
        if not distinct and any(table.extrema for table in claim.tables):
            yield "a query that counts its results keeps extrema"
        families = tuple(table for table in partial if table.members)
        if families:
            yield from _family_faults(conditions, partial, families, samples)
        else:
            yield from _table_faults(conditions, partial)
        yield from _results_faults(conditions, tuple(table for table in claim.tables if table.results), distinct)
        for table in claim.tables:
            if not table.members:
                yield from oversized(conditions, table, samples)
            yield from too_wide(conditions, table, distinct)
    except ContradictionError:
        return  # nothing satisfies the conditions, so nothing is stored


def _table_faults(conditions: Conditions, tables: tuple[Table, ...]) -> Iterator[str]:
    """A table per set, or per part of it, of which each stores enough."""
    independence = Independence(conditions, tables, whole=True)
    without = list(uncovered(conditions, tables, independence))
    if without:
        independence = Independence(conditions, tables, whole=False)
        without = [*independence.sharing(), *uncovered(conditions, tables, independence)]
    yield from without
    for table in tables:
        yield from insufficient(conditions, table, independence.beside(table))


def _family_faults(
    conditions: Conditions, tables: tuple[Table, ...], families: tuple[Table, ...], samples: list[Numbers]
) -> Iterator[str]:
    """Families of streams that are near no others, each with a table of its full set if that is not all streams."""
    independence = Independence(conditions, tables, whole=False)
    others = tuple(table for table in tables if not table.members)
    sets = tuple(frozenset(table.streams) for table in families)
    for family, streams in zip(families, sets, strict=True):
        outside = [stream for stream in conditions.streams if stream not in streams]
        if independence.touching(streams, outside) or sets.count(streams) > 1:
            yield f"table {family.name} holds no parts of matches"
        if outside and not any(streams == {*table.streams} for table in others):
            yield f"there is no table of {', '.join(family.streams)} together"
    yield from (fault for table in families for fault in wrong_family(conditions, table, samples))
    yield from independence.sharing()
    yield from uncovered(conditions, others, independence, sets)
    for table in others:
        yield from insufficient(conditions, table, independence.beside(table))


def _results_faults(conditions: Conditions, tables: tuple[Table, ...], distinct: bool) -> Iterator[str]:
    """A set remembers its results, for ever; a bag does not."""
    if len(tables) != int(distinct):
        yield f"there are {len(tables)} tables of results"
    for table in tables:
        if {*table.streams} != {*conditions.streams} or {*table.relations} != {*conditions.relations}:
            yield "the results are not of all streams and relations"
        elif (
            table.extrema
            or table.members
            or table.ages
            or table.deadline is not None
            or any(stored.low or stored.high for stored in table.stored)
        ):
            yield "a result is forgotten or changed"
        else:
            yield from insufficient(conditions, table)


# --- amounts -------------------------------------------------------------------------------------------------------


def _samples(split: Query) -> list[Numbers]:
    """Random numbers for every symbol of a query's formulas, within what the catalog declares."""
    choose = random.Random(0)
    return [_sample(split, choose, far=number % 4 == 3) for number in range(SAMPLES)]


def _sample(split: Query, choose: random.Random, far: bool) -> Numbers:
    most = _FAR if far else 9
    numbers: dict[str, int] = {}
    for source in (source for branch in split.branches for source in branch.sources):
        prefix, declared = ("rows", source.rows) if source.kind is Kind.RELATION else ("c", source.max_per_timestamp)
        numbers[symbol(prefix, source.table)] = choose.randint(1, most) if declared is None else declared
        for column in source.columns:
            low, high = sorted((choose.randint(-most, most), choose.randint(-most, most)))
            numbers[symbol("min", source.table, column.name)] = low
            numbers[symbol("max", source.table, column.name)] = high
    return numbers


def _total_faults(split: Query, claimed: Certificate, samples: list[Numbers]) -> Iterator[str]:
    tables = [table for branch in claimed.branches for table in branch.tables]
    for numbers in samples:
        for table in tables:
            yield from _amount_faults(f"table {table.name}", table.entries, numbers)
            if table.bytes is not None:
                yield from _amount_faults(f"table {table.name} in bytes", table.bytes, numbers)
        yield from _sum_faults("M", claimed.entries, [table.entries for table in tables], numbers)
        if claimed.bytes is not None:
            yield from _byte_faults(claimed.bytes, tables, numbers)


def _amount_faults(what: str, amount: Amount, numbers: Numbers) -> Iterator[str]:
    number = evaluate(amount.formula, numbers)
    if amount.value is not None and number > amount.value:
        yield f"{what}: {amount.formula} is {number}, more than {amount.value}"


def _sum_faults(what: str, whole: Amount, parts: list[Amount], numbers: Numbers) -> Iterator[str]:
    expected = sum(evaluate(part.formula, numbers) for part in parts)
    if evaluate(whole.formula, numbers) != expected:
        yield f"{what} is {whole.formula}, which is not the sum of the tables' {expected}"
    yield from _amount_faults(what, whole, numbers)


def _byte_faults(whole: Amount, tables: list[Table], numbers: Numbers) -> Iterator[str]:
    """Per table the entries, and the name with an empty list in the state's JSON."""
    parts = [table.bytes for table in tables if table.bytes is not None]
    if len(parts) < len(tables):
        yield "a table has no bound in bytes, but all together have one"
        return
    for table, part in zip(tables, parts, strict=True):
        each, name = table.bytes_per_entry or 0, len(json.dumps(table.name) + ": [], ")
        if evaluate(part.formula, numbers) != evaluate(table.entries.formula, numbers) * each + name:
            yield f"table {table.name} does not take {part.formula} bytes"
    yield from _sum_faults("the size in bytes", whole, parts, numbers)
