"""Blocks and results that a circuit's certificate speaks of, each proved of the query that the SQL gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from streambound.analyzer.query import Attribute, Branch, Constant, Query
from streambound.analyzer.render import render_branch
from streambound.preprocess.pipeline import Derivation
from streambound.recheck.certificates.cases import case_of, incomplete
from streambound.recheck.certificates.claims import (
    ClaimedBranch,
    ClaimedCount,
    ClaimedStored,
    ClaimedTable,
    RejectedError,
)
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.distances import ContradictionError
from streambound.recheck.certificates.names import unknown
from streambound.recheck.certificates.quantity import Quantity, total
from streambound.recheck.certificates.validate import branch_faults, results_faults, symbols_of, table_size
from streambound.recheck.circuits.claims import ClaimedBlock, ClaimedCircuit, ClaimedKey, NotRecheckedError
from streambound.recheck.periods.column_values import values_of

EvidenceSaved = tuple[list[ClaimedBlock], list[tuple[str, ClaimedBranch]], list[tuple[str | None, "Line"]]]
FREED = "when no later row can complete it"


@dataclass(frozen=True, slots=True)
class Line:
    """What a line of the certificate must say."""

    proposition: str
    keys: tuple[ClaimedKey, ...]
    entries: Quantity
    lifetime: str


@dataclass(frozen=True, slots=True)
class CountedResults:
    """How many different results there are, by these tables of them, one a branch."""

    entries: Quantity
    tables: tuple[ClaimedTable, ...]


@dataclass
class Evidence:
    """The claims of one certificate that are not used up, and the lines that they stand for."""

    claimed: ClaimedCircuit
    blocks: list[ClaimedBlock] = field(default_factory=list)
    counts: list[tuple[str, ClaimedBranch]] = field(default_factory=list)
    symbols: dict[str, Quantity] = field(default_factory=dict)
    lines: list[tuple[str | None, Line]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.blocks = list(self.claimed.blocks)
        self.counts = [(one.state, branch) for one in self.claimed.counts for branch in one.branches]
        for one in self.claimed.counts:
            if [branch.branch for branch in one.branches] != [*range(len(one.branches))] or not one.branches:
                raise RejectedError(f"the results of {one.state} are of another number of branches")

    # --- blocks -----------------------------------------------------------------------------------------------------

    def block(
        self, split: Query, proposition: str, distinct: bool, newest: str = "", together: Query | None = None
    ) -> None:
        """Prove the tables of a block, whose lines come next; raises RejectedError where they are not enough.

        They may be those of the block ``together``: an equal one, of which a ``<>`` is a test. Those of all streams but
        the ``newest``, which nothing follows, are in the entries of what stands above.
        """
        mine = next((one for one in self.blocks if self.is_of(one, split, distinct)), None)
        if mine is None and together is not None:
            mine = next((one for one in self.blocks if self.is_of(one, together, distinct)), None)
            split = split if mine is None else together
        self.symbols.update(symbols_of(split))
        if mine is not None:
            self.blocks.remove(mine)
        claims = mine.branches if mine is not None else _no_tables(split, distinct)
        _refuse(incomplete(split, claims))
        for claim in claims:
            conditions = Conditions(case_of(split, claim))
            if any(table.results for table in claim.tables):
                raise RejectedError("the tables of a block are not of its results")
            _refuse(branch_faults(conditions, claim, distinct))
            others = {*conditions.streams} - {newest}
            for table in claim.tables:
                found = table_size(conditions, table, symbols_of(split))
                keys = tuple(key for stored in table.stored for key in _stored(table, stored))
                assert mine is not None, "a block without a claim has no tables"
                line = Line(proposition, keys, found.entries, FREED)
                if not newest or others != {*table.streams}:
                    self.lines.append((f"{mine.block} {table.name}", line))

    @staticmethod
    def is_of(claim: ClaimedBlock, split: Query, distinct: bool) -> bool:
        """Whether a claim is about a block, as its SQL says."""
        if claim.distinct != distinct or {one.branch for one in claim.branches} != {*range(len(split.branches))}:
            return False
        cases = (Conditions(case_of(split, one)).branch for one in claim.branches)
        return all(one.sql == render_branch(case, distinct) for one, case in zip(claim.branches, cases, strict=True))

    # --- results ----------------------------------------------------------------------------------------------------

    def count_of(self, split: Query) -> CountedResults | None:
        """How many different results a block has, where the next claims say so; raises RejectedError for wrong ones."""
        mine = self.counts[: len(split.branches)]
        if not self._is_counted(split):
            return None
        del self.counts[: len(mine)]
        self.symbols.update(symbols_of(split))
        tables = [_results(name, branch, claim) for (name, claim), branch in zip(mine, split.branches, strict=True)]
        pairs = zip(split.branches, tables, strict=True)
        return CountedResults(total(_entries(split, branch, table) for branch, table in pairs), tuple(tables))

    def _is_counted(self, split: Query) -> bool:
        """Whether the next claims are of the results of a block."""
        shown = [render_branch(branch, True) for branch in split.branches]
        return bool(shown) and [one.sql for _, one in self.counts[: len(shown)]] == shown

    def counted(self, derivation: Derivation) -> Query:
        """A block in the form whose results are claimed: split, or with a ``<>`` as a test, where they are the same."""
        return derivation.together if self._is_counted(derivation.together) else derivation.split

    def results(self, splits: Iterable[Query], by_values: bool = False) -> CountedResults:
        """How many different results some blocks have; raises RejectedError where nothing says so.

        ``by_values``: how many there can be whichever rows come, not as many as the rows of a stream that ends.
        """
        found = [CountedResults(Quantity.number(0), ())]
        for split in splits:
            if split.branches:
                one = self.count_of(split) or _of_one_key(split, by_values)
                if one is None:
                    shown = "; ".join(render_branch(branch, True) for branch in split.branches)
                    raise RejectedError(f"nothing says how many results there are of {shown}")
                if by_values and any(_counts_rows(table.count) for table in one.tables):
                    raise RejectedError("rows wait for those of a side that ends, and are not counted")
                found.append(one)
        return CountedResults(
            total(one.entries for one in found), tuple(table for one in found for table in one.tables)
        )

    def saved(self) -> EvidenceSaved:
        """The claims that are not used up, and the lines."""
        return [*self.blocks], [*self.counts], [*self.lines]

    def restore(self, saved: EvidenceSaved) -> None:
        """No claim has been used up since, and no line been added."""
        self.blocks, self.counts, self.lines = saved

    @property
    def of_each_key(self) -> bool:
        """Whether states are claimed to be of each of the keys that are open (K3)."""
        return any(state.proposition == "K3" for state in self.claimed.states)

    def line(self, line: Line) -> None:
        """What the next line that is no table's must say."""
        self.lines.append((None, line))


def _entries(split: Query, branch: Branch, table: ClaimedTable) -> Quantity:
    """How many different results a branch has; raises NotRecheckedError where it has none, which nobody noticed."""
    try:
        return table_size(Conditions(branch), table, symbols_of(split)).entries
    except ContradictionError:
        raise NotRecheckedError("conditions that nothing satisfies") from None


def _counts_rows(count: ClaimedCount) -> bool:
    """Whether a count has the rows of a stream in it."""
    return count.rule in ("tuples", "one") or any(map(_counts_rows, count.of))


def _of_one_key(split: Query, by_values: bool) -> CountedResults | None:
    """The results for one value of a key that ends, of which nothing is claimed but their number; None elsewhere."""
    if not any(source.one_key is not None for branch in split.branches for source in branch.sources):
        return None
    numbers = (Quantity.number(different_values(Conditions(branch), by_values=by_values)) for branch in split.branches)
    return CountedResults(total(numbers), ())


def _results(name: str, branch: Branch, claim: ClaimedBranch) -> ClaimedTable:
    """The table of a branch's different results; raises RejectedError where it is none."""
    conditions = Conditions(branch)
    if claim.conditions or len(claim.tables) != 1:
        raise RejectedError(f"the results of {name} are not those of {claim.sql}")
    (table,) = claim.tables
    try:
        _refuse(unknown(conditions, table))
        if not table.results or any(age.expires is not None or age.saturates is not None for age in table.ages):
            raise RejectedError(f"the results of {name} are forgotten")
        _refuse(results_faults(conditions, claim.tables, True))
    except ContradictionError:
        raise RejectedError(f"nothing satisfies {claim.sql}, and it has results") from None
    return table


def keys_with_values(keys: tuple[str, ...], split: Query, tables: Sequence[ClaimedTable]) -> tuple[ClaimedKey, ...]:
    """The keys of a state, each with the number of its values, if its results are of one branch and say so."""
    outputs = split.branches[0].outputs if len(split.branches) == 1 else ()
    if len(outputs) != len(keys) or len(tables) != 1:
        return tuple(ClaimedKey(key, None) for key in keys)
    pairs = zip(keys, outputs, strict=True)
    return tuple(ClaimedKey(key, _values(tables[0].count, output.value)) for key, output in pairs)


def _stored(table: ClaimedTable, stored: ClaimedStored) -> Iterator[ClaimedKey]:
    """An attribute in a key, and those that equal it."""
    yield ClaimedKey(str(stored.attribute), _values(table.count, stored.attribute))
    for attribute, _ in stored.equal:
        yield ClaimedKey(str(attribute), None)


def _values(count: ClaimedCount, attribute: object) -> str | None:
    """How many values an attribute has, if that is a factor of a count by itself."""
    found = [part for part in (count.of or (count,)) if part.attributes == (attribute,) and part.source is None]
    return found[0].size if len(found) == 1 else None


def _no_tables(split: Query, distinct: bool) -> tuple[ClaimedBranch, ...]:
    branches = enumerate(split.branches)
    return tuple(ClaimedBranch(number, (), render_branch(branch, distinct), ()) for number, branch in branches)


def _refuse(faults: Iterator[str]) -> None:
    for fault in faults:
        raise RejectedError(fault)


def different_values(conditions: Conditions, padded: bool = False, by_values: bool = False) -> int:
    """The most different results of a branch; where they are ``padded``, there are NULLs in their place, too.

    ``by_values``: whichever rows come, also where there is one row of a key.
    """
    found, rows = 1, set[str]()
    for output in conditions.branch.outputs:
        if isinstance(output.value, Constant):
            continue
        if not isinstance(output.value, Attribute):
            raise NotRecheckedError("different values of what is computed of several rows")
        if (one := conditions.one_of(output.value, by_values)) is not None:
            found *= 1 if one in rows else 1 + padded
            rows.add(one)
            continue
        size = values_of(conditions, output.value, null=padded or output.value not in conditions.present).size
        if size is None:
            raise NotRecheckedError("results without a number")
        found *= size
    return found
