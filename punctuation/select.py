"""Selection: the rows for which a condition is true.

(Tucker et al., TKDE 15(3), 2003.) It remembers nothing, and its output lacks whatever its input lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streambound.punctuation.match import Punctuation, Row


def select_pass(condition: Callable[[Row], bool], rows: Sequence[Row]) -> tuple[Row, ...]:
    """``{t ∈ Ts | condition(t)}``: selection does not block."""
    return tuple(row for row in rows if condition(row))


def select_keep(condition: Callable[[Row], bool], rows: Sequence[Row]) -> tuple[Row, ...]:
    """No rows."""
    return ()


def select_propagation(
    condition: Callable[[Row], bool], punctuations: Sequence[Punctuation]
) -> tuple[Punctuation, ...]:
    """``Ps``: each output row is an input row."""
    return tuple(punctuations)
