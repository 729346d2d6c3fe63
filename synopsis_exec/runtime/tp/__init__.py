"""Temporal-probabilistic relations: rows that are valid for a time with a probability, their windows and joins."""
