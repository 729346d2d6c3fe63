"""Rows with periods: the plans of SEQ statements, and how Spark executes them."""
