"""Functions that catalogs of tests declare as the user's own."""

from __future__ import annotations


def score(name: str | None, amount: int | None) -> float | None:
    """A number that raises an error of a name and of no amount."""
    if name == "bad":
        raise ValueError("a bad name")
    return None if name is None or amount is None else len(name) / amount


def many(amount: int) -> object:
    """Whether it is many; of 13 it says that in a text."""
    return "many" if amount == 13 else amount > 10
