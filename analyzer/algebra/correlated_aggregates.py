"""A correlated subquery that is an aggregate, in the parts of which a join or a running aggregate is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.calls import Reader
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.verify import outer_columns
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.spans import Span


class AggregateParts(NamedTuple):
    """The rows that are aggregated, the conditions that name columns outside, those that do not, and what is shown."""

    rows: nodes.Tree
    naming: list[exp.Expr]
    own: list[exp.Expr]
    calls: tuple[nodes.AggregateCall, ...]
    value: exp.Expr


class CorrelatedAggregate(Struct, frozen=True):
    """One subquery, which stands at a place; ``fresh`` gives names that no column or alias has."""

    catalog: Catalog
    scalar: Reader
    fresh: Callable[[str], str]
    place: exp.Expr
    at: Span

    def parts(self, asked: nodes.Tree) -> AggregateParts | None:
        """Those of the subquery's tree; None unless it is an aggregate, of rows that name no columns outside."""
        match asked:
            case nodes.Project(nodes.Aggregate(nodes.Filter(rows, condition), (), calls), (nodes.Named(value=value),)):
                every = conjuncts(condition.syntax)
            case _:
                return None
        if outer_columns(rows, self.catalog):
            return None
        naming = [one for one in every if self.names_outer(rows, one)]
        return AggregateParts(rows, naming, [one for one in every if one not in naming], calls, value.syntax)

    def names_outer(self, rows: nodes.Tree, value: exp.Expr) -> bool:
        """Whether an expression over these rows names a column outside."""
        return bool(outer_columns(nodes.Filter(rows, self.scalar(value)), self.catalog))
