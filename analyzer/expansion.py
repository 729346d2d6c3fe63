"""How large a query is without its CTEs and subqueries: added and multiplied, before any is put in its place."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions

MOST_SELECTS = 512
"""SELECTs, where unions inside FROM are joined: as many as the disjoint branches that are looked at."""
MOST_SOURCES = 4_000
"""Streams and relations in all these SELECTs together."""
MOST_COLUMNS = 20_000
"""Columns in all their select lists together."""
_ENOUGH = 10**9
"""Larger numbers are not told apart: they can have more digits than the text."""


class Expansion(Struct, frozen=True):
    """The number of SELECTs after expansion, of streams and relations in all of them, and of columns of each."""

    selects: int
    sources: int
    columns: int

    def union(self, other: Expansion) -> Expansion:
        """The SELECTs of both; the columns are called as in the first."""
        return _clipped(self.selects + other.selects, self.sources + other.sources, self.columns)

    def cross(self, other: Expansion) -> Expansion:
        """Each SELECT of one with each of the other."""
        sources = self.sources * other.selects + other.sources * self.selects
        return _clipped(self.selects * other.selects, sources, self.columns + other.columns)

    @property
    def excess(self) -> tuple[Code, str] | None:
        """The code and the words of the first limit that is exceeded; None if none is."""
        for code, number, most, things in (
            (Code.TOO_MANY_BRANCHES, self.selects, MOST_SELECTS, "SELECTs"),
            (Code.TOO_MUCH_WORK, self.sources, MOST_SOURCES, "streams and relations"),
            (Code.TOO_MUCH_WORK, self.selects * self.columns, MOST_COLUMNS, "columns"),
        ):
            if number > most:
                told = f"{number:,}" if number < _ENOUGH else "more than a thousand million"
                return code, f"{told} {things}; at most {most:,} are looked at"
        return None


_NOTHING = Expansion(1, 0, 0)
Sizes = Mapping[str, Expansion]
"""The expansions of the CTEs in scope, by their names in small letters."""


def _clipped(selects: int, sources: int, columns: int) -> Expansion:
    return Expansion(min(selects, _ENOUGH), min(sources, _ENOUGH), min(columns, _ENOUGH))


class Sizer(Struct, frozen=True):
    """Measures the queries of one statement; if ``strict``, raises Finding at the part that makes one too large."""

    positions: Positions
    catalog: Catalog
    strict: bool = True

    def query(self, node: exp.Expr, sizes: Sizes) -> Expansion:
        """The expansion of a query; what is outside the language counts as nothing."""
        node = node.unnest()
        if isinstance(node, exp.Subquery):
            return self.query(node.this, sizes)
        if isinstance(node, exp.Select):
            return self._select(node, self._with_ctes(node, sizes))
        if isinstance(node, exp.SetOperation):
            sizes = self._with_ctes(node, sizes)
            both = self.query(node.this, sizes).union(self.query(node.expression, sizes))
            return self._allowed(both, node.expression)
        return _NOTHING

    def _with_ctes(self, node: exp.Expr, sizes: Sizes) -> Sizes:
        """The CTEs in scope in a query with a WITH clause; a CTE is too large only where it is used."""
        clause = node.args.get("with_")
        if clause is None:
            return sizes
        known, lenient = dict(sizes), Sizer(self.positions, self.catalog, strict=False)
        for cte in clause.expressions:
            known[cte.alias.lower()] = lenient.query(cte.this, known)
        return known

    def _select(self, node: exp.Select, sizes: Sizes) -> Expansion:
        total, widths = _NOTHING, dict[str, int]()
        source = node.args.get("from_")
        for item in [*([source.this] if source else []), *(join.this for join in node.args.get("joins") or [])]:
            mine = self._allowed(self._item(item, sizes), item)
            total = self._allowed(total.cross(mine), item, columns=False)
            widths[item.alias_or_name.lower()] = mine.columns
        columns = 0
        for output in node.expressions:
            named = output.table.lower() if isinstance(output, exp.Column) else ""
            columns += widths.get(named, total.columns) if output.is_star else 1
            self._allowed(_clipped(total.selects, total.sources, columns), output)
        return _clipped(total.selects, total.sources, columns)

    def _item(self, node: exp.Expr, sizes: Sizes) -> Expansion:
        if not isinstance(node, exp.Table):
            return self.query(node, sizes)
        if (cte := sizes.get(node.name.lower())) is not None and not node.args.get("db"):
            return cte
        table = self.catalog.table(node.name)
        return Expansion(1, 1, len(table.columns) if table else 0)

    def _allowed(self, found: Expansion, at: exp.Expr, columns: bool = True) -> Expansion:
        """An expansion; raises Finding for one that is too large. ``columns``: whether all of them are wanted."""
        excess = (found if columns else _clipped(found.selects, found.sources, 0)).excess
        if self.strict and excess is not None:
            code, message = excess
            help = "use fewer unions, CTEs and subqueries; or make it several queries"
            raise self.positions.finding(code, f"put in their places, they give {message}", at, help)
        return found
