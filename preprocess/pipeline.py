"""The pipeline: passes in order, each from a query to a query, each stage kept for `explain --emit`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from analyzer.diagnostics import Diagnostic
from analyzer.query import Query
from preprocess.drop_unsatisfiable import drop_unsatisfiable
from preprocess.merge_timestamps import merge_timestamps
from preprocess.rename_finite import rename_finite
from preprocess.split_disjunctions import split_disjunctions
from preprocess.split_unequal import split_unequal

PASSES: tuple[Callable[[Query], Query], ...] = (
    split_disjunctions,
    split_unequal,
    merge_timestamps,
    rename_finite,
)
"""The passes in order. The first two split; the last two only annotate: the deciding criteria skip them."""


@dataclass(frozen=True)
class Derivation:
    """A query at every stage: normal form, split into branches, timestamps merged, finite streams renamed."""

    query: Query
    split: Query
    warnings: tuple[Diagnostic, ...]

    @property
    def merged(self) -> Query:
        """The split query with merged timestamps (paper, step 2)."""
        return merge_timestamps(self.split)

    @property
    def renamed(self) -> Query:
        """The merged query with finite streams renamed (paper, step 3)."""
        return rename_finite(self.merged)


def derive(query: Query) -> Derivation:
    """Split a query into disjoint satisfiable branches and warn of those that can never produce a row."""
    disjoint = split_disjunctions(query)
    satisfiable, warnings = drop_unsatisfiable(disjoint)
    parts = tuple(replace(branch, part=number) for number, branch in enumerate(satisfiable.branches))
    return Derivation(query, split_unequal(replace(satisfiable, branches=parts)), warnings)
