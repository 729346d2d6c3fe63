"""Declared columns."""

from __future__ import annotations

from msgspec import Struct

from streambound.analyzer.spans import Excerpt
from streambound.analyzer.types import DataType
from streambound.analyzer.values import Value
from streambound_runtime.promises import Domain


class Column(Struct, frozen=True):
    """A declared column, or one derived from a row's declared ones by an expression.

    ``at`` is where the catalog declares it; ``domain_at`` where its domain. ``expression`` is Spark SQL over the
    declared columns of the same row (names in backquotes), cast to ``type``; empty for a declared column. ``shift``
    says of ``a + 3`` that it is another column, and how much more: both are NULL, or they differ by that.
    """

    name: str
    type: DataType
    domain: Domain[Value] | None = None
    at: Excerpt | None = None
    domain_at: Excerpt | None = None
    expression: str = ""
    shift: tuple[str, int] | None = None

    @property
    def ends(self) -> tuple[Value | None, Value | None]:
        """The least and the greatest value that a declared range or the type leaves; None without an end.

        A declared range has both ends; one that was derived, of a view's column, may have one.
        """
        if self.domain is not None and (self.domain.low is not None or self.domain.high is not None):
            return self.domain.low, self.domain.high
        return self.type.range or (None, None)

    @property
    def number(self) -> int | None:
        """How many values there can be, NULL among them; None without a limit."""
        if self.domain is not None and self.domain.values:
            return len({*self.domain.values}) + 1
        low, high = self.ends
        return high - low + 2 if isinstance(low, int) and isinstance(high, int) else None

    @property
    def line(self) -> int:
        """The 1-based line that declares it; 0 where that is not known."""
        return self.at.span.line if self.at else 0

    @property
    def domain_line(self) -> int:
        """The 1-based line that declares its domain; 0 where there is none."""
        return self.domain_at.span.line if self.domain_at else 0
