"""(G): keys of groups that nothing bounds, of streams that nobody waits for."""

from __future__ import annotations

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.query import TimeValue
from streambound.criteria.projected_time import limited
from streambound.criteria.violation import Violation
from streambound.criteria.wording import bound_help


def endless(facts: Facts, closed: bool, kept: str = "group", counted: str = "") -> list[Violation]:
    """(G) of streams that nobody waits for: their keys are bounded, or their windows close; distances of times are.

    Of the column ``counted`` it is known how often each value is there (A4).
    """
    found = []
    for output in facts.branch.outputs:
        value = output.value
        times = value.attributes if isinstance(value, TimeValue) and not limited(facts, value) else ()
        for attribute in (*output.attributes, *times):
            if attribute.source not in facts.infinite or facts.later[attribute.source] or closed:
                continue
            if attribute in times or not facts.bounded(attribute):
                message = f"{attribute} is a {kept}'s key and unbounded: there is a {kept} for each of its values"
                if output.name == counted:
                    message = f"{attribute} is unbounded, and how often each of its values is there must be remembered"
                help = bound_help(facts, attribute)
                found.append(
                    Violation(
                        "A4 (G)" if output.name == counted else "A1 (G)",
                        attribute.source,
                        attribute.column,
                        message,
                        output.span,
                        Code.UNBOUNDED_PROJECTION,
                        help,
                    )
                )
    return found
