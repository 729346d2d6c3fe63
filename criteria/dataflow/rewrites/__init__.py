"""Passes over a tree before its rules: pure functions, each in a file of its name; the docstring shows the rewrite."""
