"""Shortest paths of dense systems in numpy, exact where `integers` finds a type for them. Only this module needs numpy.

Importing numpy takes longer than checking most queries, so `shortest_paths` imports this module late.
"""

from __future__ import annotations

from math import inf

import numpy as np

from streambound.analyzer.paths import Edges, Rows

_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def no_path(kind: np.dtype[np.signedinteger]) -> int:
    """The number for a missing edge; the sum of two still fits the type."""
    return int(np.iinfo(kind).max) // 2


def integers(edges: Edges) -> np.dtype[np.signedinteger] | None:
    """The narrowest integers that hold every number of an elimination and tell missing paths apart; None without any.

    As long as no cycle is negative, what an elimination holds between two nodes is the length of a simple path over
    edges and missing edges. A simple path leaves each node at most once, so its edges together weigh between ``−reach``
    and ``reach``, the sum over all nodes of the heaviest edge that leaves it. Hence a path with a missing edge is at
    least ``no_path − reach`` long, any other at most ``reach``, and a sum of two at least ``−2 · reach``. The
    elimination stops at the first negative cycle.
    """
    heaviest: dict[int, int] = {}
    for (x, _), length in edges.items():
        heaviest[x] = max(heaviest.get(x, 0), abs(length))
    reach = sum(heaviest.values())
    return next((kind for kind in _TYPES if 2 * reach < no_path(kind)), None)


def dense_paths(size: int, edges: Edges, kind: np.dtype[np.signedinteger]) -> Rows | None:
    """The shortest paths over nodes ``0 .. size − 1`` in a type that `integers` gave; None iff a cycle is negative."""
    missing = no_path(kind)
    lengths = np.full((size, size), missing, dtype=kind)
    for (x, y), length in edges.items():
        lengths[x, y] = length
    np.fill_diagonal(lengths, np.minimum(lengths.diagonal(), 0))
    through = np.empty_like(lengths)
    for middle in range(size):
        np.add(lengths[:, middle, None], lengths[middle], out=through)
        np.minimum(lengths, through, out=lengths)
        if lengths.diagonal().min() < 0:
            return None
    found = lengths.astype(object)
    found[lengths > missing // 2] = inf
    rows: Rows = found.tolist()
    return rows
