"""Ways to write the same query differently, as changes of sqlglot's syntax tree. Shares no code with the analyzer.

Each rewrite keeps the meaning on every input, NULLs included (`tests/test_rewrites.py` runs both texts in DuckDB). It
changes one place that it picks at random, and returns None where it finds none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlglot

from support import rewrite_conditions as conditions
from support import rewrite_conjunctions as conjunctions
from support import rewrite_sources as sources
from support.choices import Choices
from support.syntax import Kinds, Tree


@dataclass(frozen=True)
class Rewrite:
    """A rewrite. ``joins`` says that it changes which joins between streams the query states (paper, C2 and C4)."""

    apply: Callable[[Tree, Kinds, Choices], Tree | None]
    joins: bool = False

    @property
    def name(self) -> str:
        """Named after its function."""
        return self.apply.__name__


def kinds_of(catalog: Mapping[str, Any]) -> dict[str, str]:
    """The types of a catalog's columns by name."""
    tables = {**catalog.get("streams", {}), **catalog.get("relations", {})}
    return {column: kind for body in tables.values() for column, kind in body["columns"].items()}


def rewritten(sql: str, rewrite: Rewrite, kinds: Kinds, choices: Choices) -> str | None:
    """The statement with one rewrite applied somewhere; None where it applies nowhere."""
    tree = rewrite.apply(sqlglot.parse_one(sql, read="spark"), kinds, choices)
    return None if tree is None else tree.sql("spark")


REWRITES: tuple[Rewrite, ...] = (
    Rewrite(conditions.flip_sides),
    Rewrite(conditions.move_offset),
    Rewrite(conditions.shift_both_sides),
    Rewrite(conditions.negate_twice),
    Rewrite(conditions.negate_opposite),
    Rewrite(conditions.push_not_inwards),
    Rewrite(conditions.pull_not_outwards),
    Rewrite(conditions.open_between),
    Rewrite(conditions.close_between),
    Rewrite(conditions.strict_or_weak),
    Rewrite(conditions.equality_as_two),
    Rewrite(conditions.in_as_or),
    Rewrite(conditions.repeat_in),
    Rewrite(conditions.range_as_in),
    Rewrite(conditions.in_as_range),
    Rewrite(conditions.split_range),
    Rewrite(conditions.boolean_form),
    Rewrite(conditions.bare_boolean),
    Rewrite(conditions.reorder_alternatives),
    Rewrite(conditions.absorbed_alternative),
    Rewrite(conditions.distribute),
    Rewrite(conjunctions.repeat_conjunct),
    Rewrite(conjunctions.shuffle_conjuncts),
    Rewrite(conjunctions.add_weaker),
    Rewrite(conjunctions.add_not_null),
    Rewrite(conjunctions.add_transitive_time),
    Rewrite(conjunctions.add_transitive, joins=True),
    Rewrite(conjunctions.other_spanning_tree, joins=True),
    Rewrite(sources.permute_from),
    Rewrite(sources.commas_as_joins),
    Rewrite(sources.rename_aliases),
    Rewrite(sources.wrap_table),
    Rewrite(sources.wrap_statement),
    Rewrite(sources.swap_union),
)
