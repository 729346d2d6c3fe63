"""Linear aggregates over a block as sums of products of its rows, which are pushed below its joins (proposition A1).

SUM((S.v + 2) * T.w - S.v)   ->   SUM((S.v + 2) · T.w) + SUM(-S.v), each factor over the rows of one source
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, GroupKeeps
from streambound.analyzer.algebra.nodes import AggregateCall, Tree
from streambound.analyzer.block_columns import with_conditions_above
from streambound.analyzer.block_queries import Monomial
from streambound.analyzer.findings import Finding
from streambound.criteria.dataflow.blocks import RuleContext
from streambound.criteria.dataflow.state import BlockSums, SummedCall, Undecided
from streambound.preprocess.trees.polynomials import expanded, squared


def sums_of(calls: Sequence[AggregateCall], body: Tree, context: RuleContext) -> BlockSums | Undecided | None:
    """The sums that linear aggregates are computed of; None where an argument of theirs does not factor."""
    products, found = list[Monomial](), list[SummedCall]()
    body = with_conditions_above(body, context.columns)
    try:
        for call in calls:
            one = _summed(call, products, lambda node: context.blocks.sources_of(body, node))
            if one is None:
                return None
            found.append(one)
    except Finding as finding:
        return Undecided(body, finding.diagnostic.message, finding=finding.diagnostic)
    return BlockSums(tuple(products), tuple(found))


def _summed(
    call: AggregateCall, known: list[Monomial], sources: Callable[[exp.Expr], tuple[str, ...]]
) -> SummedCall | None:
    """An aggregate with its sums, which are added to those that are known."""
    filters = (call.filter.syntax,) if call.filter is not None else ()
    at, arguments = (call.filter or call.arguments[0]).syntax if call.filter or call.arguments else None, call.arguments
    nodes = tuple(one.syntax for one in arguments)
    if any(len(sources(one)) > 1 for one in filters):
        return None
    if call.function == "COUNT":
        present = () if all(isinstance(one, exp.Literal) for one in nodes) else nodes
        if any(len(sources(one)) > 1 for one in present):
            return None
        return SummedCall(call, (-1,) if at is None or not (present or filters) else (
            _place(Monomial("", at, (), present, filters), known),
        ))  # fmt: skip
    products = expanded(nodes[0], sources)
    if products is None or at is None:
        return None
    present = tuple(dict.fromkeys(factor for one in products for factor in one))
    count = _place(Monomial("", at, (), present, filters), known)
    sums = tuple(_place(Monomial("", at, one, present, filters), known) for one in products)
    squares = squared(products) if AGGREGATES[call.function].kept is GroupKeeps.SQUARES else []
    return SummedCall(
        call,
        (count, *sums),
        tuple(_place(Monomial("", at, one, present, filters), known) for one in squares),
    )


def _place(wanted: Monomial, known: list[Monomial]) -> int:
    """The place of a sum among those that are known, where equal ones are one."""
    for place, one in enumerate(known):
        if (one.factors, one.present, one.filters) == (wanted.factors, wanted.present, wanted.filters):
            return place
    known.append(replace(wanted, name=f"_s{len(known) + 1}"))
    return len(known) - 1
