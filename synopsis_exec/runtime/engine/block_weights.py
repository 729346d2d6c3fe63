"""How often a row, an entry or a result is there, and the sums that it has beside that, as columns in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streambound_runtime.engine.tables import DOUBLE, EXACT, HUGEINT, listed


@dataclass(frozen=True, slots=True)
class Weights:
    """The column ``n`` of the number, if it is ``counted``, and columns of sums of these ``types``."""

    types: tuple[str, ...]
    counted: bool = False

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The columns, with their types."""
        sums = ((f"s{place}", kind) for place, kind in enumerate(self.types))
        return (*((("n", HUGEINT),) if self.counted else ()), *sums)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(name for name, _ in self.columns)

    @property
    def nothing(self) -> tuple[str, ...]:
        """The columns where there are no rows."""
        return tuple(f"CAST(NULL AS {kind}) AS {name}" for name, kind in self.columns)

    @property
    def totals(self) -> tuple[str, ...]:
        """The sums of the columns over some rows."""
        return tuple(f"exact_total(list({name}))" if kind == EXACT else f"sum({name})" for name, kind in self.columns)

    def grouped(self, names: Sequence[str], rows: str) -> str:
        """Rows with what agrees in some columns added up, none where there are no rows.

        >>> Weights((), counted=True).grouped(["e0"], "FROM x")
        'SELECT e0, sum(n) AS n FROM (FROM x) GROUP BY ALL HAVING count(*) > 0'
        """
        added = (f"{total} AS {name}" for total, name in zip(self.totals, self.names, strict=True))
        return f"SELECT {listed(*names, *added)} FROM ({rows}) GROUP BY ALL HAVING count(*) > 0"

    def product(self, participants: Sequence[str]) -> tuple[str, ...]:
        """What a match of several participants has, who say what each column is called, as ``j0.{0}``."""
        found = []
        for name, kind in self.columns:
            parts = [one.format(name) for one in participants]
            several = f"exact_product([{', '.join(parts)}])" if len(parts) > 1 else parts[0]
            found.append(f"{several if kind == EXACT else ' * '.join(parts)} AS {name}")
        return tuple(found)

    def of_rows(self, factors: Sequence[Sequence[tuple[str, str]]]) -> tuple[str, ...]:
        """What rows that agree have: their number, and sums of products of these factors, each with its type."""
        found = ["sum(w) AS n"] if self.counted else []
        for place, kind in enumerate(self.types):
            mine = factors[place] if factors else ()
            whole = " * ".join(["w", *(f"{column}::HUGEINT" for column, one in mine if one != DOUBLE)])
            doubles = [column for column, one in mine if one == DOUBLE]
            if kind != EXACT:
                added = f"sum({whole})"
            elif len(doubles) < 2:
                added = f"exact_sum(list({(doubles or ['1.0::DOUBLE'])[0]}), list({whole}))"
            else:
                first, *rest = doubles
                parts = [f"exact_sum([{first}], [{whole}])", *(f"exact_sum([{one}], [1::HUGEINT])" for one in rest)]
                added = f"exact_total(list(exact_product([{', '.join(parts)}])))"
            found.append(f"{added} AS s{place}")
        return tuple(found)
