"""The pipeline: passes in order, each a function from a query to a query; what a pass needs is checked, not assumed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.errors import BrokenInvariant
from streambound.analyzer.query import FALSE, Query
from streambound.preprocess.contradictory import drop_unsatisfiable
from streambound.preprocess.contradictory_alternatives import contradictory_alternatives
from streambound.preprocess.invariants import violations
from streambound.preprocess.merge_timestamps import merge_timestamps
from streambound.preprocess.normalise import normalise
from streambound.preprocess.rename_finite import rename_finite
from streambound.preprocess.split_disjunctions import split_disjunctions
from streambound.preprocess.split_unequal import split_unequal, split_waiting


class Pass(Struct, frozen=True):
    """A pass, what must have been established before it, and what it establishes."""

    run: Callable[[Query], Query]
    establishes: str
    requires: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The pass is named after its function, which is named after its file."""
        return self.run.__name__


def satisfiable_branches(query: Query) -> Query:
    """`drop_unsatisfiable` without its warnings, with the remaining branches numbered as parts."""
    kept = drop_unsatisfiable(query)[0]
    return replace(kept, branches=tuple(replace(branch, part=i) for i, branch in enumerate(kept.branches)))


PASSES: tuple[Pass, ...] = (
    Pass(split_disjunctions, "conjunctive"),
    Pass(satisfiable_branches, "satisfiable", frozenset({"conjunctive"})),
    Pass(split_unequal, "split", frozenset({"conjunctive", "satisfiable"})),
    Pass(merge_timestamps, "merged", frozenset({"split"})),
    Pass(rename_finite, "finite", frozenset({"merged"})),
)


def _verified(query: Query, step: Pass, done: set[str]) -> Query:
    """The result of a pass; raises BrokenInvariant if that violates what the pass establishes."""
    if wrong := violations(query, {*done, step.establishes}):
        raise BrokenInvariant(f"after {step.name}: {'; '.join(wrong)}")
    return query


class Derivation(Struct, frozen=True, dict=True):
    """A query's stages, each computed once, on demand."""

    query: Query

    @cached_property
    def _stages(self) -> dict[str, Query]:
        return {}

    def after(self, established: str) -> Query:
        """The query after the pass that establishes a property; each pass's result is verified.

        Raises ValueError when a pass lacks what it requires, or none establishes the property.
        """
        query, done = self.query, set[str]()
        for step in PASSES:
            if not step.requires <= done:
                raise ValueError(f"{step.name} needs {sorted(step.requires - done)} first")
            if step.establishes not in self._stages:
                self._stages[step.establishes] = _verified(step.run(query), step, done)
            query = self._stages[step.establishes]
            done.add(step.establishes)
            if step.establishes == established:
                return query
        raise ValueError(f"no pass establishes {established!r}")

    @property
    def split(self) -> Query:
        """Disjoint satisfiable branches without ``<>`` between streams: what the deciding criteria take."""
        return self.after("split")

    @cached_property
    def together(self) -> Query:
        """The same where ``<>`` is a test, of values that never wait for ever: an equal query, of fewer branches."""
        return split_waiting(self.after("satisfiable"))

    @property
    def renamed(self) -> Query:
        """The split query with merged timestamps and finite streams marked (paper, steps 2 and 3)."""
        return self.after("finite")

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings of conditions that can never hold: of a whole SELECT, or of an alternative."""
        false = {branch.statement for branch in self.query.branches if normalise(branch.where) == FALSE}
        _, satisfiable = drop_unsatisfiable(self.after("conjunctive"), false)
        alive = {branch.statement for branch in self.after("satisfiable").branches}
        rest = tuple(branch for branch in self.query.branches if branch.statement in alive)
        return (*satisfiable, *contradictory_alternatives(replace(self.query, branches=rest)))


def derive(query: Query) -> Derivation:
    """The derivation of a query."""
    return Derivation(query)
