"""Random expressions of Spark SQL over the columns of `tests/runtime/test_expressions_on_spark.py`."""

from __future__ import annotations

from support.choices import Choices


class Expressions:
    """Expressions over rows of some aliases; with ``raising`` such as may raise an error."""

    def __init__(self, choices: Choices, aliases: str, raising: bool = False) -> None:
        self.choices, self.aliases, self.raising = choices, aliases, raising

    def _column(self, *names: str) -> str:
        return f"{self.choices.pick(self.aliases)}.{self.choices.pick(names)}"

    def _literal(self) -> str:
        return str(self.choices.integer(0, 9))

    def integer(self, depth: int) -> str:
        """Of type INT or BIGINT."""
        if depth == 0:
            return self._column("a", "b", "a") if self.choices.chance(80) else self._literal()
        one, other = self.integer(depth - 1), self.integer(depth - 1)
        forms = [
            f"({one} + {other})",
            f"({one} - {other})",
            f"{one} % {self.choices.integer(2, 6)}",
            f"CASE WHEN {self.truth(depth - 1)} THEN {one} ELSE {other} END",
            f"length({self.text(depth - 1)})",
            f"coalesce({one}, {other})",
            f"abs({one})",
            f"greatest({one}, {other})",
            f"year({self.date()})",
            f"CAST({self.truth(depth - 1)} AS INT)",
            f"if({self.truth(depth - 1)}, {one}, {other})",
            f"nullif({one}, {other})",
        ]
        forms += [f"CAST({self._column('s')} AS INT)", f"({one} DIV {other})"] * (2 * self.raising)
        return self.choices.pick(forms)

    def text(self, depth: int) -> str:
        """Of type STRING."""
        if depth == 0:
            return self._column("s") if self.choices.chance(80) else self.choices.pick(["'a'", "'é'", "''"])
        one, other = self.text(depth - 1), self.text(depth - 1)
        return self.choices.pick(
            [
                f"({one} || {other})",
                f"upper({one})",
                f"lower({one})",
                f"substr({one}, {self.choices.integer(1, 2)}, 1)",
                f"concat({one}, '-', {other})",
                f"CAST({self.integer(depth - 1)} AS STRING)",
                f"CASE WHEN {self.truth(depth - 1)} THEN {one} END",
                f"coalesce({one}, {other})",
                f"replace({one}, 'a', 'xy')",
                f"trim({one})",
                f"date_format({self.date()}, 'yyyy-MM')",
            ]
        )

    def truth(self, depth: int) -> str:
        """Of type BOOLEAN."""
        less = max(depth - 1, 0)
        forms = [
            f"{self.integer(less)} < {self.integer(less)}",
            f"{self.integer(less)} % 2 = 0",
            f"{self.text(less)} LIKE '{self.choices.pick(['a%', '%b', '_', '%é%'])}'",
            f"{self.text(less)} RLIKE '^[a-z]+$'",
            f"{self.text(less)} IN ('ab', 'é', '7')",
            f"{self._column('ok')}",
            f"{self.date()} > DATE'2000-01-01'",
            f"{self.integer(less)} IS NOT NULL",
        ]
        found = self.choices.pick(forms)
        return found if depth == 0 or self.choices.chance(60) else f"(NOT {found} OR {self.truth(depth - 1)})"

    def date(self) -> str:
        """Of type DATE."""
        born = self._column("born")
        return self.choices.pick([born, f"date_add({born}, {self._literal()})", f"last_day({born})"])

    def any(self, depth: int) -> str:
        """Of any type."""
        other = [
            f"{self._column('x')} / 4",
            f"round({self._column('x')}, 1)",
            f"{self._column('d')} * 2",
            f"date_trunc('HOUR', {self._column('seen')})",
            f"{self._column('seen')} + INTERVAL 1 DAY",
            self.date(),
            self.truth(depth),
        ]
        return self.choices.pick([self.integer(depth), self.integer(depth), self.text(depth), *other])


def statement(choices: Choices, window: str) -> str:
    """A filter, a join of S and T within a window, a union or a set of the streams S and T."""

    def rows(aliases: list[str], number: int) -> str:
        raising = aliases == ["S"]
        found = (Expressions(choices, choices.pick(aliases), raising).any(2) for _ in range(number))
        return ", ".join(f"{text} AS c{place}" for place, text in enumerate(found))

    here = Expressions(choices, "S").truth(1)
    both = f"{Expressions(choices, 'S').integer(1)} = {Expressions(choices, 'T').integer(1)}"
    return choices.pick(
        [
            f"SELECT {rows(['S'], 4)} FROM S WHERE {here}",
            f"SELECT {rows(['S', 'T', 'ST'], 4)} FROM S, T WHERE {both} AND {window}",
            f"SELECT {rows(['S', 'T', 'ST'], 3)} FROM S, T WHERE {both} AND {window} AND {here}",
            f"SELECT DISTINCT {Expressions(choices, 'S').integer(1)} % 5 AS c0, {here} AS c1 FROM S WHERE {here}",
            f"SELECT {Expressions(choices, 'S').integer(2)} AS c0 FROM S WHERE {here} UNION ALL "
            f"SELECT {Expressions(choices, 'T').integer(1)} FROM T",
        ]
    )
