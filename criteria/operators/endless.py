"""(G): keys of groups that nothing bounds, of streams that nobody waits for."""

from __future__ import annotations

from collections.abc import Mapping

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.query import TimeValue
from streambound.criteria.projected_time import limited
from streambound.criteria.violation import Violation
from streambound.criteria.wording import bound_help

COUNTED = ("A4 (G)", "{} is unbounded, and how often each of its values is there must be remembered")
"""Of an argument of which it is known how often each value is there (A4)."""


def endless(
    facts: Facts, closed: bool, kept: str = "group", others: Mapping[str, tuple[str, str]] | None = None
) -> list[Violation]:
    """(G) of streams that nobody waits for: their keys are bounded, or their windows close; distances of times are.

    ``others`` are columns that are no keys but are remembered with them, each with its proposition, and what is said
    of it.
    """
    found = []
    for output in facts.branch.outputs:
        value = output.value
        times = value.attributes if isinstance(value, TimeValue) and not limited(facts, value) else ()
        for attribute in (*output.attributes, *times):
            if attribute.source not in facts.infinite or facts.later[attribute.source] or closed:
                continue
            if attribute in times or not facts.bounded(attribute):
                key = ("A1 (G)", f"{{}} is a {kept}'s key and unbounded: there is a {kept} for each of its values")
                proposition, message = (others or {}).get(output.name, key)
                help = bound_help(facts, attribute)
                found.append(
                    Violation(
                        proposition,
                        attribute.source,
                        attribute.column,
                        message.format(attribute),
                        output.span,
                        Code.UNBOUNDED_PROJECTION,
                        help,
                    )
                )
    return found
