"""Witnesses of statements that ask relations: in subqueries, through left and semi joins, of what they compute.

Where the statement's own conditions do not say which rows they are true of, a statement with joins instead does
(`criteria.joined_subqueries`). Plans are those of that one, and count when this one, executed on their rows, tells all
subsets apart; the rows of relations are the same at every size, as the bound of a bounded query depends on them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.lower import Lowered, lower
from streambound.analyzer.query import Query
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import split_statements
from streambound.criteria.joined_subqueries import joined_subqueries
from streambound.criteria.judged import Judged
from streambound.criteria.operators.decide import judged
from streambound.preprocess.pipeline import derive

if TYPE_CHECKING:
    from streambound.criteria.witnesses.witness import CircuitWitness


def relation_witness(statement: Statement, catalog: Catalog, lowered: Lowered) -> CircuitWitness | None:
    """How to build the witnesses of a statement that asks relations; None where it does not, or none was found."""
    from streambound.criteria.witnesses.executed import Executed
    from streambound.criteria.witnesses.witness import find_circuit_witness

    if lowered.tree is None:
        return None
    suspects = joined_suspects(statement, catalog)
    return find_circuit_witness(Executed(lowered.tree, catalog, lowered.queries), suspects) if suspects else None


def joined_suspects(statement: Statement, catalog: Catalog) -> tuple[Query, ...]:
    """The blocks, split, of the statement with joins."""
    tree = joined_subqueries(statement.tree, catalog) if statement.tree is not None else None
    if tree is None:
        return ()
    source = SourceText(statement.source.file, tree.sql("spark", comments=False))
    made = split_statements(source, None, catalog.models)
    if len(made) != 1:
        return ()
    joined = replace(made[0], name=statement.name)
    lowered = lower(joined, catalog)
    if lowered.query is not None:
        try:
            return (derive(lowered.query).split,)
        except TooManyBranchesError:
            return ()
    found = judged(joined, lowered, catalog)
    return found.suspects if isinstance(found, Judged) else ()
