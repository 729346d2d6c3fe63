"""What a criterion reports: values with a culprit and a span; no criterion raises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Related
from streambound.analyzer.models import Described
from streambound.analyzer.spans import Span

_MOST_NAMES = 4
"""Columns that are named one by one where the same is said of several."""


class Violation(Described, frozen=True):
    """One violated condition.

    ``condition`` is its name in the theorem or criterion; ``stream`` and ``attribute`` the culprit; ``code`` that of
    the diagnostic that reports it, None for the paper's theorems. ``cause`` is what grows, the same for all that is
    said of it; empty where nothing else is. What is ``unnamed`` blames a value for which the user has no name.
    """

    DESCRIPTION = ("cause", "unnamed")

    condition: str
    stream: str
    attribute: str | None
    message: str
    span: Span
    code: Code | None = None
    help: str = ""
    cause: str = ""
    unnamed: bool = False

    @property
    def culprit(self) -> str:
        """The stream and its column to blame."""
        named = not self.attribute or not self.stream or self.attribute.startswith(f"{self.stream}.")
        return self.attribute or self.stream if named else f"{self.stream}.{self.attribute}"


class CriterionResult(Struct, frozen=True):
    """A criterion's answer for a whole query."""

    name: str
    holds: bool
    violations: tuple[Violation, ...]


def cause_of(one: Violation, rows: str) -> str:
    """The cause of a violation, by its code: the rows that wait, or the results that were returned.

    Each code can be accepted by itself, so that none hides another one.
    """
    return f"{one.code} returned" if one.condition == "(1)" else f"{one.code} of {rows}"


def by_cause(violations: Iterable[Violation]) -> list[list[Violation]]:
    """Violations that form one finding, with one cause or at one place, in their order.

    So a column that waits for a partner, and is a group's key above, is blamed once.
    """
    found: dict[object, list[Violation]] = {}
    for one in violations:
        found.setdefault(one.cause or (one.code, one.message, one.span), []).append(one)
    at_place: dict[object, list[Violation]] = {}
    for said in found.values():
        at_place.setdefault((said[0].code, said[0].span), []).extend(said)
    return list(at_place.values())


def also(said: Sequence[Violation], file: str) -> Iterator[Related]:
    """The other violations of a cause, once for each code, at their first place.

    Of a column that another violation blames in the same place, and by the same code, only another cause is said.
    """
    first = said[0]
    told, causes = {(first.code, first.span, first.culprit)}, {first.cause}
    by_code: dict[Code | None, list[Violation]] = {}
    for one in said[1:]:
        if (one.code, one.span, one.culprit) in told:
            if one.cause not in causes:
                yield Related(file, one.span, f"also: {one.message}")
            causes.add(one.cause)
            continue
        told.add((one.code, one.span, one.culprit))
        if (one.code, one.span) == (first.code, first.span) and one.attribute is not None:
            yield Related(file, one.span, f"every value of {one.culprit} must be remembered, too")
        else:
            by_code.setdefault(one.code, []).append(one)
    for same in by_code.values():
        names = list(dict.fromkeys(one.culprit for one in same[1:] if one.culprit not in ("", same[0].culprit)))
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        others = f"; so it is for {', '.join(names[:_MOST_NAMES])}{more}" if names else ""
        yield Related(file, same[0].span, f"also: {same[0].message}{others}")
