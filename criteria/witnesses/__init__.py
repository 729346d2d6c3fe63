"""Witnesses of statements: which are tried, their execution, and the proof that they hold at every size."""
