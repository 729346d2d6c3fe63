"""``S.a BETWEEN 0 AND 99`` in the query, or ``domain.a = [0, 99]`` in the catalog: the values of a column to blame."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.query import Attribute
from streambound.analyzer.types import Family
from streambound.analyzer.values import decode
from streambound.criteria.repairs.bounds import WEIGHT
from streambound.criteria.repairs.domains import declared_domain
from streambound.criteria.repairs.examples import example_range
from streambound.criteria.repairs.operators.rejected import RejectedTree, condition
from streambound.criteria.repairs.steps import Change

_EXAMPLE = 2


def value_ranges(rejected: RejectedTree) -> Iterator[Change]:
    """The bounds that a column lacks, where the query says what its rows satisfy."""
    for scope, item, name in rejected.blamed():
        facts, attribute = scope.facts, Attribute(item.alias, name)
        if facts is None or item not in scope.streams or not facts.branch.column(attribute).type.discrete:
            continue
        below, above = facts.bounded_below(attribute), facts.bounded_above(attribute)
        if below and above:
            continue
        values = example_range(facts, attribute, rejected.catalog)
        kind, written = facts.branch.column(attribute).type, item.written(name)
        low, high = decode(values.low, kind), decode(values.high, kind)
        text = f"{written} <= {high}" if below else f"{written} >= {low}" if above else ""
        step = condition(scope, (item,), text or f"{written} BETWEEN {low} AND {high}")
        how = "from above" if below else "from below" if above else "from both sides"
        if step is not None:
            weight = WEIGHT + (0 if values.implied else _EXAMPLE)
            yield Change(("bound",), (f"bound {attribute} {how}",), weight, (step,), (values.note,))


def value_domains(rejected: RejectedTree) -> Iterator[Change]:
    """A range for a column of a discrete type, a list of values for another one, as a contract."""
    for scope, item, name in rejected.blamed():
        column = item.table.column(name)
        facts = scope.facts_of(item)
        if facts is None or column is None or column.domain is not None or column.type.family is Family.OTHER:
            continue
        yield declared_domain(facts, Attribute(item.alias, name), item.table.name, rejected.catalog)
