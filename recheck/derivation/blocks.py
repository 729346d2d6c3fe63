"""Select-project-join blocks: what is needed of one is read as a query, whose tables `recheck.certificates` proves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from streambound.analyzer.query import Branch, Query
from streambound.analyzer.render import render_branch
from streambound.preprocess.pipeline import Derivation
from streambound.recheck.certificates.cases import case_of, incomplete
from streambound.recheck.certificates.claims import ClaimedBranch, RejectedError
from streambound.recheck.certificates.conditions import Conditions, ContradictionError
from streambound.recheck.certificates.names import counts_of, unknown
from streambound.recheck.certificates.quantity import Quantity, total
from streambound.recheck.certificates.validate import branch_faults, results_faults, symbols_of, table_size
from streambound.recheck.derivation.claims import ClaimedBlockTables, ClaimedStateCount


class Blocks(Struct):
    """Proves the tables of blocks; ``symbols`` gets those of their formulas."""

    symbols: dict[str, Quantity]

    def tables(
        self, splits: Sequence[Query], claim: ClaimedBlockTables, distinct: bool, newest: str = ""
    ) -> list[Quantity]:
        """The sizes of a block's tables, in order; raises RejectedError where they are not enough.

        They are of one of the forms of its query: with a ``<>`` split, or as a test. Those of all streams but the
        ``newest``, which nothing follows, are in the entries of what stands above.
        """
        if claim.distinct != distinct:
            raise RejectedError("a bag for a set, or a set for a bag")
        split = next((one for one in splits if _is_of(claim, one)), None)
        if split is None:
            raise RejectedError("tables of another block")
        self.symbols.update(symbols_of(split))
        _refuse(incomplete(split, claim.branches))
        sizes = list[Quantity]()
        for branch in claim.branches:
            conditions = Conditions(case_of(split, branch))
            if any(table.results for table in branch.tables):
                raise RejectedError("the tables of a block are not of its results")
            _refuse(branch_faults(conditions, branch, distinct))
            others = {*conditions.streams} - {newest}
            for table in branch.tables:
                size = table_size(conditions, table, symbols_of(split)).entries
                if not newest or others != {*table.streams}:
                    sizes.append(size)
        return sizes

    def results(self, derivations: Iterable[Derivation], claim: ClaimedStateCount, by_values: bool = False) -> Quantity:
        """How many different results some blocks have, by a table of them for each branch.

        ``by_values``: whichever rows come, so that these are not counted by a stream's rows.
        """
        found = claimed_results(derivations, claim)
        if found is None:
            raise RejectedError("results of another block")
        for split, branch, one in found:
            self.symbols.update(symbols_of(split))
            if by_values and not _is_by_values(Conditions(branch), one):
                raise RejectedError("rows that wait for any that a side may still bring")
        return total(self._results(*one) for one in found)

    @staticmethod
    def _results(split: Query, branch: Branch, claim: ClaimedBranch) -> Quantity:
        conditions = Conditions(branch)
        if claim.conditions or len(claim.tables) != 1:
            raise RejectedError(f"the results are not those of {claim.sql}")
        (table,) = claim.tables
        try:
            _refuse(unknown(conditions, table))
            if not table.results or any(age.expires is not None or age.saturates is not None for age in table.ages):
                raise RejectedError("results that are forgotten")
            _refuse(results_faults(conditions, claim.tables, True))
            return table_size(conditions, table, symbols_of(split)).entries
        except ContradictionError:
            raise RejectedError(f"nothing satisfies {claim.sql}, and it has results") from None


def claimed_results(
    derivations: Iterable[Derivation], claim: ClaimedStateCount
) -> list[tuple[Query, Branch, ClaimedBranch]] | None:
    """The branches of the results of some blocks, with what a count claims of each; None where it is of others."""
    rest, found = list(claim.branches), list[tuple[Query, Branch, ClaimedBranch]]()
    for derivation in derivations:
        split = next((one for one in (derivation.split, derivation.together) if _are_results(rest, one)), None)
        if split is None:
            return None
        found += [(split, branch, rest.pop(0)) for branch in split.branches]
    return None if rest else found


def _is_by_values(conditions: Conditions, claim: ClaimedBranch) -> bool:
    """Whether a count of results is one of values, and not of a stream's rows."""
    for one in counts_of(claim.tables[0].count):
        key = [conditions.one_of(attribute, by_values=True) for attribute in one.attributes]
        if one.rule == "tuples" or (one.rule == "one" and (one.source is not None or None in key)):
            return False
    return True


def _is_of(claim: ClaimedBlockTables, split: Query) -> bool:
    """Whether claims are about the branches of a query, as their SQL says."""
    if {one.branch for one in claim.branches} != {*range(len(split.branches))}:
        return False
    cases = (Conditions(case_of(split, one)).branch for one in claim.branches)
    return all(one.sql == render_branch(case, claim.distinct) for one, case in zip(claim.branches, cases, strict=True))


def _are_results(claims: list[ClaimedBranch], split: Query) -> bool:
    """Whether the next claims are of a query's results."""
    shown = [render_branch(branch, True) for branch in split.branches]
    return [one.sql for one in claims[: len(shown)]] == shown


def _refuse(faults: Iterable[str]) -> None:
    for fault in faults:
        raise RejectedError(fault)
