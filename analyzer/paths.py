"""Lengths of edges and paths between numbered nodes."""

from __future__ import annotations

from collections.abc import Mapping

Row = list[float | int]
Rows = list[Row]
"""``rows[x][y]`` is the length of the shortest path from x to y; infinite when there is none."""

Tails = list[tuple[int, float | int]]
"""The nodes that can be reached from some node, with the length of the path."""

Edges = Mapping[tuple[int, int], int]
"""The length of the edge from x to y, for each pair that has one."""
