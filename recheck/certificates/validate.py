"""A certificate against its query: every reason why it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from streambound.analyzer.query import Kind, Query
from streambound.analyzer.render import render_branch
from streambound.analyzer.symbols import symbol
from streambound.recheck.certificates.cases import case_of, incomplete
from streambound.recheck.certificates.claims import ClaimedAmount, ClaimedBranch, ClaimedTable, RejectedError, read
from streambound.recheck.certificates.conditions import Conditions, ContradictionError
from streambound.recheck.certificates.forgotten import remembered_too_briefly
from streambound.recheck.certificates.formula import quantity
from streambound.recheck.certificates.independence import Neighbours
from streambound.recheck.certificates.names import unknown
from streambound.recheck.certificates.quantity import Quantity, total
from streambound.recheck.certificates.sizes import Symbols, entries
from streambound.recheck.certificates.sufficiency import insufficient
from streambound.recheck.certificates.widths import entry_width


class Proof(Struct, frozen=True):
    """The result of a certificate: M, or why it proves nothing."""

    faults: tuple[str, ...]
    entries: Quantity | None = None


def faults(split: Query, document: Any) -> tuple[str, ...]:
    """The reasons why a certificate (plain JSON) does not prove the bound of a split query; none when it does."""
    return proved(split, document).faults


def proved(split: Query, document: Any) -> Proof:
    """Check a certificate (plain JSON) against a split query.

    Everything is computed anew, numbers too: a number that is larger than necessary is refused as well.
    """
    try:
        claimed = read(document)
        symbols = symbols_of(split)
        found = list(incomplete(split, claimed.branches))
        sizes: list[TableSize] = []
        results: list[tuple[Conditions, tuple[ClaimedTable, ...]]] = []
        for claim in claimed.branches if not found else ():
            conditions = Conditions(case_of(split, claim))
            wrong = list(branch_faults(conditions, claim, split.distinct))
            found += wrong
            results.append((conditions, tuple(table for table in claim.tables if table.results)))
            sizes += [] if wrong else [table_size(conditions, table, symbols) for table in claim.tables]
        found += remembered_too_briefly(results) if split.distinct and not found else ()
        if found:
            return Proof(tuple(dict.fromkeys(found)))
        every = total(size.entries for size in sizes)
        taken = [size.bytes for size in sizes if size.bytes is not None]
        in_bytes = total(taken) if len(taken) == len(sizes) else None
        wrong = [*amount_faults("M", claimed.entries, every, symbols)]
        wrong += amount_faults("the size in bytes", claimed.bytes, in_bytes, symbols)
        return Proof(tuple(wrong), every)
    except RejectedError as error:
        return Proof((str(error),))


def branch_faults(conditions: Conditions, claim: ClaimedBranch, distinct: bool) -> Iterator[str]:
    """The reasons why a branch's tables do not hold what they need to."""
    sql = render_branch(conditions.branch, distinct)
    if claim.sql != sql:
        yield f"the certificate is for another query: {claim.sql}, where this one has {sql}"
        return
    try:
        if nameless := [fault for table in claim.tables for fault in unknown(conditions, table)]:
            yield from nameless
            return
        partial = tuple(table for table in claim.tables if not table.results)
        if any(table.distances for table in partial):
            yield "a partial match is known by the distance of its timestamps only"
        if not distinct and any(table.extrema for table in claim.tables):
            yield "a query that counts its results keeps extrema"
        yield from _table_faults(conditions, partial)
        yield from results_faults(conditions, tuple(table for table in claim.tables if table.results), distinct)
    except ContradictionError:  # nothing satisfies the conditions
        if claim.tables:
            yield f"nothing satisfies {claim.sql}, and it has tables"


def _table_faults(conditions: Conditions, tables: tuple[ClaimedTable, ...]) -> Iterator[str]:
    """A table per set, or per part of it, of which each stores enough."""
    neighbours = Neighbours(conditions, tables, all_streams=True)
    without = list(uncovered(conditions, tables, neighbours))
    if without:
        neighbours = Neighbours(conditions, tables, all_streams=False)
        without = [*neighbours.sharing(), *uncovered(conditions, tables, neighbours)]
    yield from without
    for table in tables:
        yield from insufficient(conditions, table, neighbours.beside(table))


def results_faults(conditions: Conditions, tables: tuple[ClaimedTable, ...], distinct: bool) -> Iterator[str]:
    """A set remembers its results, for ever or as long as `remembered_too_briefly` asks; a bag does not."""
    if len(tables) > int(distinct):
        yield f"there are {len(tables)} tables of results"
    for table in tables:
        if {*table.streams} != {*conditions.streams} or {*table.relations} != {*conditions.relations}:
            yield "the results are not of all streams and relations"
        elif table.extrema or table.deadline is not None or any(stored.low or stored.high for stored in table.stored):
            yield "a result is forgotten or changed"
        else:
            yield from insufficient(conditions, table)


# --- amounts -------------------------------------------------------------------------------------------------------


class TableSize(Struct, frozen=True):
    """The most entries of a table, and the most bytes that they take; None where a text may be of any length."""

    entries: Quantity
    bytes: Quantity | None


def symbols_of(split: Query) -> Symbols:
    """Every symbol of a query's formulas, with the numbers that the catalog declares."""
    found: dict[str, Quantity] = {}
    for source in (source for branch in split.branches for source in branch.sources):
        prefix, declared = ("rows", source.rows) if source.kind is Kind.RELATION else ("c", source.max_per_timestamp)
        names = {symbol(prefix, source.table): declared}
        names |= {symbol(extreme, source.table, c.name): None for extreme in ("min", "max") for c in source.columns}
        names |= {symbol("rate", source.table): source.max_rate.rows} if source.max_rate is not None else {}
        found |= {name: Quantity.symbol(name, number) for name, number in names.items()}
    return found


def table_size(conditions: Conditions, table: ClaimedTable, symbols: Symbols) -> TableSize:
    """The size of a table, which is what the table says; raises RejectedError where it says something else."""
    try:
        most = entries(conditions, table, symbols)
    except RejectedError as error:
        raise RejectedError(f"table {table.name}: {error}") from error
    width = entry_width(conditions, table)
    if table.bytes_per_entry != width:
        taken = "any number of" if width is None else width
        raise RejectedError(f"an entry of table {table.name} may take {taken} bytes, not {table.bytes_per_entry}")
    in_bytes = None if width is None else most * Quantity.number(width)
    wrong = [*amount_faults(f"table {table.name}", table.entries, most, symbols)]
    wrong += amount_faults(f"table {table.name} in bytes", table.bytes, in_bytes, symbols)
    for fault in wrong:
        raise RejectedError(fault)
    return TableSize(most, in_bytes)


def amount_faults(what: str, claimed: ClaimedAmount | None, found: Quantity | None, symbols: Symbols) -> Iterator[str]:
    """The reasons why an amount is not the size that was found."""
    if claimed is None or found is None:
        if claimed is not None:
            yield f"{what}: {claimed.formula}, where nothing limits it"
        elif found is not None:
            yield f"{what} has a size that the certificate does not say"
    elif not quantity(claimed.formula, symbols).same(found):
        yield f"{what} is not {claimed.formula}" + ("" if found.constant is None else f" but {found.constant}")
    elif claimed.value != found.most:
        yield f"{what}: {claimed.formula} is at most {_number(found.most)}, not {_number(claimed.value)}"


def _number(value: int | None) -> str:
    return "a number that the catalog does not give" if value is None else str(value)


def uncovered(conditions: Conditions, tables: tuple[ClaimedTable, ...], independence: Neighbours) -> Iterator[str]:
    """The reasons why some partial match has no table.

    From nothing and from every table: a stream more, together with all that is forced to be at most as new, must be a
    table again, or all streams, unless the two are independent. So by induction there is one for each part of whatever
    has come by some timestamp.
    """
    known = [frozenset(table.streams) for table in tables]
    everything = frozenset(conditions.streams)
    for table, streams in zip(tables, known, strict=True):
        if not streams < everything or not streams or len(streams) != len(table.streams):
            yield f"table {table.name} is not of some of the streams {', '.join(conditions.streams)}"
        if known.count(streams) > 1:
            yield f"there are two tables of {', '.join(sorted(streams))}"
        if not frozenset(table.relations) <= frozenset(conditions.relations):
            yield f"table {table.name} joins a relation that the query does not have"
    needs = {s: frozenset(t for t in conditions.streams if t == s or conditions.forced(t, s)) for s in everything}
    for streams in (frozenset[str](), *known):
        for stream in conditions.streams:
            larger = streams | needs[stream]
            apart = bool(streams) and not independence.touching(streams, needs[stream])
            held = larger == everything or larger in known
            if not held and not apart:
                come = ", ".join(sorted(larger))
                yield f"tuples of {come} can come before all others, and there is no table of them"
