"""Expressions on rows: what Spark's operators and functions give, of which types, and which values can come out."""
