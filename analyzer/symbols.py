"""The names of the quantities that a bound M is made of: Python names, different for different quantities."""

from __future__ import annotations

import ast
import re

_REGULAR = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")
_FUNCTIONS = frozenset({"min", "max"})


def symbol(prefix: str, *names: str) -> str:
    """The symbol of a quantity of a table, or of one of its columns.

    No two quantities share one: two names are joined by ``__`` as soon as one of them has an underscore itself, and
    where a name is more than words and underscores, the symbol spells its other characters out and ends in ``_``.

    >>> symbol("c", "S_1"), symbol("max", "R", "a"), symbol("max", "R", "a_b"), symbol("max", "R_a", "b")
    ('c_S_1', 'max_R_a', 'max_R__a_b', 'max_R_a__b')
    >>> symbol("c", "S-1")
    'c_S_2d_1_'
    """
    if all(map(_REGULAR.fullmatch, names)):
        between = "__" if any("_" in name for name in names) else "_"
        return f"{prefix}_{between.join(names)}"
    return f"{prefix}_{'__'.join(map(_spelt_out, names))}_"


def _spelt_out(name: str) -> str:
    return re.sub("[^A-Za-z0-9]", lambda found: f"_{ord(found[0]):x}_", name)


def symbols_in(formula: str) -> frozenset[str]:
    """The symbols of a formula.

    >>> sorted(symbols_in("max(0, max_R_a - 3)*c_S"))
    ['c_S', 'max_R_a']
    """
    nodes = ast.walk(ast.parse(formula, mode="eval"))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name)) - _FUNCTIONS
