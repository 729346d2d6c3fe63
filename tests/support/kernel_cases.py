"""What the kernels are tested with: a random statement, the rows that arrive, and where they are cut; and its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.criteria.vocabulary import Verdict
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_ir import Plan
from support.choices import Choices
from support.encoding import encode_rows
from support.product import decided
from support.queries import Features, make_statement
from support.streams import Rows, adversarial_rows, small_rows


@dataclass(frozen=True)
class Case:
    """A statement, its catalog, its rows, and before which of their timestamps batches, or ranges, begin."""

    sql: str
    catalog: dict[str, Any]
    rows: Rows
    cuts: Sequence[int] = ()

    def encoded(self) -> tuple[Rows, Rows]:
        """The rows of the relations and those of all tables, as a kernel takes them."""
        encoded = encode_rows(self.catalog, self.rows)
        return {name: encoded.get(name, []) for name in self.catalog.get("relations", {})}, encoded


def make_case(choices: Choices, features: Features, cuts: tuple[int, int] = (0, 0), hostile: bool = False) -> Case:
    """A random case with so many cuts, at least and at most."""
    statement = make_statement(choices, features)
    rows = (adversarial_rows if hostile else small_rows)(choices, statement.catalog)
    return Case(statement.sql, statement.catalog, rows, make_cuts(choices, cuts, 12))


def make_cuts(choices: Choices, number: tuple[int, int], last: int) -> list[int]:
    """Places to cut at, up to the last one, in any order."""
    return [choices.integer(0, last) for _ in range(choices.integer(*number))] if number[1] else []


def plan_of(case: Case) -> Plan | None:
    """The plan of a bounded query; None for another one, and for what no job runs."""
    decision = decided(case.sql, case.catalog)
    if decision.verdict is not Verdict.BOUNDED:
        return None
    try:
        return make_plan(decision, catalog_from_mapping(case.catalog))
    except NotExecutableError:
        return None
