"""Criteria for operators above select-project-join blocks: each proposition that decides in its own file."""
