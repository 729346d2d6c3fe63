"""Preprocessing step 2 (paper): streams with equal timestamps in P+ become one, with a fresh timestamp.

``S(A, I), T(B, J) with I = J  ->  S·T(A, B, K)``. The IR keeps the attributes' names and records the group in
`Branch.merged`; to the criteria a group is one stream.
"""

from __future__ import annotations

from dataclasses import replace

from analyzer.closure import Closure, close
from analyzer.query import Attribute, Branch, Query


def merge_timestamps(query: Query) -> Query:
    """Record in every branch which streams merge."""
    return replace(query, branches=tuple(_merge(branch) for branch in query.branches))


def _merge(branch: Branch) -> Branch:
    closure = close(branch)
    groups: list[list[str]] = []
    for source in branch.streams:
        home = next((group for group in groups if _same_time(closure, branch, group[0], source.alias)), None)
        if home is None:
            groups.append([source.alias])
        else:
            home.append(source.alias)
    return replace(branch, merged=tuple(tuple(group) for group in groups if len(group) > 1))


def _same_time(closure: Closure, branch: Branch, first: str, second: str) -> bool:
    times = [branch.source(alias).time or Attribute(alias, "") for alias in (first, second)]
    pair = closure.pair(times[0], times[1])
    return pair is not None and pair[0].bound(pair[1], pair[2]) == 0 == pair[0].bound(pair[2], pair[1])
