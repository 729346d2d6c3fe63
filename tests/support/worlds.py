"""Formulas as texts, judged by writing down every world; knows nothing of the lineage package."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

_VARIABLE = re.compile(r'(?:\w+|"(?:[^"]|"")*")\.(?:\w+|"(?:[^"]|"")*")')

World = Mapping[str, bool]


def names_in(text: str) -> set[str]:
    """The variables of a lineage."""
    return set(_VARIABLE.findall(text))


def worlds(names: Sequence[str]) -> Iterator[dict[str, bool]]:
    """All of them, in a fixed order."""
    for values in product((False, True), repeat=len(names)):
        yield dict(zip(names, values, strict=True))


def table(text: str, names: Sequence[str]) -> tuple[bool, ...]:
    """What a lineage is in each world of these variables."""
    compiled = _VARIABLE.sub(lambda found: f" w[{found[0]!r}] ", text)
    compiled = compiled.replace("!", " not ").replace("&", " and ").replace("|", " or ")
    compiled = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", compiled))
    code = compile(compiled.strip(), "<lineage>", "eval")
    return tuple(bool(eval(code, {"__builtins__": {}, "w": world})) for world in worlds(names))


def chance(true_in: Sequence[bool], names: Sequence[str], probabilities: Mapping[str, Fraction]) -> Fraction:
    """The probability of a truth table, exactly."""
    total = Fraction(0)
    for holding, world in zip(true_in, worlds(names), strict=True):
        if holding:
            weight = Fraction(1)
            for name, there in world.items():
                weight *= probabilities[name] if there else 1 - probabilities[name]
            total += weight
    return total
