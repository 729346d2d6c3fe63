"""Repairs of statements beyond select-project-join: changes of their syntax, each decided again."""
