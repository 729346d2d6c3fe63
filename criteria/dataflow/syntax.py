"""Expressions of the tree as SQL's syntax, which the front end has."""

from streambound.analyzer.algebra.syntax import column_of, conjunction, conjuncts, scalar_of, scalar_of_column

__all__ = ["column_of", "conjunction", "conjuncts", "scalar_of", "scalar_of_column"]
