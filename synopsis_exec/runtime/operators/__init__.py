"""Operators of a job: what each remembers, and what rows that come in change in it."""
