"""Statements that are executed to see whether a witness tells prefixes apart."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog


class Executed(Struct, frozen=True):
    """A statement that can be executed: its tree, its catalog, and the trees of its subqueries."""

    tree: Tree
    catalog: Catalog
    queries: Mapping[int, Tree]
