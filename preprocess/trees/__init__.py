"""Rewrites of trees of operators that need no facts: pure, each in a file of its name; the docstring shows the rewrite.

The judge makes them, and certificates name them: both forms of each are run in DuckDB (`test_dataflow_rewrites`).
"""
