"""Lineage: Boolean formulas over the rows that a result comes from, and how probable they are."""
