"""A query's kernel against DuckDB, and against its bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from streambound.analyzer.errors import NotExecutableError
from streambound.criteria.verdict import Decision
from support.encoding import Rows
from support.kernel import formula_value, run_kernel
from support.oracle import Oracle


class Printed(NamedTuple):
    """What SQL says, and the kernel printed, at each timestamp; ``limit`` is M for these rows, if it has a value."""

    expected: Mapping[int, Counter[tuple[Any, ...]]]
    limit: int | None

    @property
    def results(self) -> int:
        """How many different results there were."""
        return sum(map(len, self.expected.values()))


def printed_as_sql_says(sql: str, decision: Decision, catalog: Mapping[str, Any], rows: Rows) -> Printed | None:
    """Fails where a kernel prints anything else at a timestamp, or keeps more than M; None for what no kernel runs."""
    try:
        run = run_kernel(decision, catalog, rows)
    except NotExecutableError:
        return None
    expected = Oracle(catalog, rows).prefix_expected(sql)
    assert run.printed == expected, sql
    printed = Printed(expected, formula_value(decision, catalog, rows))
    for limit in (printed.limit, run.limit):
        assert limit is None or run.peak <= limit, sql
    return printed
