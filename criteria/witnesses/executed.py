"""Statements that are executed to see whether a witness tells prefixes apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog


@dataclass(frozen=True)
class Executed:
    """A statement that can be executed: its tree, its catalog, and the trees of its subqueries."""

    tree: Tree
    catalog: Catalog
    queries: Mapping[int, Tree]
