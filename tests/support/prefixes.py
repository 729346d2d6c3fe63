"""What a circuit over Z-sets returns of every prefix of its sources, each evaluated anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction

from streambound.incremental.circuit import Circuit
from streambound.incremental.evaluate import evaluate_once
from streambound.incremental.operators import SourceOp
from streambound.incremental.zset import Row, ZSet


def prefixes(given: Sequence[Mapping[SourceOp, ZSet]]) -> list[dict[SourceOp, ZSet]]:
    """What each source has had until each tick, that tick included."""
    summed: dict[SourceOp, ZSet] = {}
    result = []
    for one in given:
        summed = {source: summed.get(source, ZSet()) + one.get(source, ZSet()) for source in {**summed, **one}}
        result.append(summed)
    return result


def recomputed(
    circuit: Circuit, given: Sequence[Mapping[SourceOp, ZSet]], places: Collection[int] | None = None
) -> list[ZSet]:
    """``Δ[t] = Q(prefix t) − Q(prefix before)`` of a circuit over Z-sets, evaluated anew for each prefix.

    Before the first tick the result is the empty Z-set, not that of no rows. With ``places`` only their prefixes are
    evaluated, and nothing is said to change between them.
    """
    results, before = [], ZSet()
    for place, prefix in enumerate(prefixes(given)):
        if places is not None and place not in places:
            results.append(ZSet())
            continue
        now = evaluate_once(circuit, prefix)
        results.append(now - before)
        before = now
    return results


def finals(
    circuit: Circuit, given: Sequence[Mapping[SourceOp, ZSet]], bucket: int, last: Callable[[Fraction], Fraction]
) -> dict[Fraction, ZSet]:
    """The results of mode `final` of a query by windows, at the last timestamp of each; rows of no window are left out.

    ``bucket`` is the column that says which window a row is of, ``last`` the window's last timestamp.
    """
    found: dict[Fraction, list[tuple[Row, int]]] = {}
    for row, weight in evaluate_once(circuit, prefixes(given)[-1]).items() if given else ():
        value = row[bucket]
        if isinstance(value, Fraction):
            found.setdefault(last(value), []).append((row, weight))
    return {time: ZSet(rows) for time, rows in sorted(found.items())}
