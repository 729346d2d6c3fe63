"""How much work a search may do, counted in steps and not in seconds: verdicts are the same on every machine."""

from __future__ import annotations


class GivenUp(Exception):
    """A search has used up its steps."""


class Effort:
    """The steps that a search has left; None for as many as it takes."""

    def __init__(self, steps: int | None = None) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Count work that is done; raises GivenUp where there is more of it than allowed."""
        if self.left is not None:
            self.left -= steps
            if self.left < 0:
                raise GivenUp


UNLIMITED = Effort()
