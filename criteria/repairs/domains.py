"""``domain.a = [0, 99]`` in the catalog: a contract on a stream's column; rows outside are quarantined."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.diagnostics import FixKind
from streambound.analyzer.query import Attribute
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.criteria.repairs.examples import example_range, example_values
from streambound.criteria.repairs.rejected import Rejected
from streambound.criteria.repairs.steps import Change, DeclareDomain
from streambound_runtime.promises import Domain

WEIGHT = 1000
"""More than all else together: a domain concerns every query that reads the stream, and none of them says so."""
_EXAMPLE = 3
_QUARANTINE = "rows outside it are quarantined, for every query that reads the {}"


def domains(rejected: Rejected) -> Iterator[Change]:
    """A range for a column of a discrete type, a list of values for another one."""
    for culprits, attribute in rejected.places():
        source, column = culprits.branch.source(attribute.source), culprits.branch.column(attribute)
        if source.kind is not Kind.STREAM or column.domain is not None or column.type.family is Family.OTHER:
            continue
        yield declared_domain(culprits.facts, attribute, source.table, rejected.catalog)


def declared_domain(facts: Facts, attribute: Attribute, table: str, catalog: Catalog) -> Change:
    """The declaration of the values of an attribute, which is the column of a stream."""
    column = facts.branch.column(attribute)
    if column.type.discrete:
        found = example_range(facts, attribute, catalog)
        domain: Domain[Value] = Domain(found.low, found.high)
        note, implied = found.note, found.implied
    else:
        values, note = example_values(facts, attribute, catalog)
        domain, implied = Domain(values=values), "example" not in note
    step = DeclareDomain(table, column.name, domain, column.type)
    title = f"declare {'a range' if column.type.discrete else 'the values'} of {table}.{column.name}"
    quarantine = _QUARANTINE.format(facts.branch.source(attribute.source).kind.value)
    weight = WEIGHT + (0 if implied else _EXAMPLE)
    return Change(("domain",), (title,), weight, (step,), (note, quarantine), FixKind.CONTRACT)
