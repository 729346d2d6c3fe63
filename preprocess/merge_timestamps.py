"""Preprocessing step 2 (paper): streams with equal timestamps in P+ become one, with a fresh timestamp.

``S(A, I), T(B, J) with I = J  ->  S·T(A, B, K)``. The IR keeps the attributes' names and records the group in
`Branch.merged`; to the criteria a group is one stream.
"""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import Branch, Query


def merge_timestamps(query: Query) -> Query:
    """Record in every branch which streams merge."""
    return replace(query, branches=tuple(_merge(branch) for branch in query.branches))


def _merge(branch: Branch) -> Branch:
    facts = Facts.of(branch)
    groups: list[list[str]] = []
    for source in branch.streams:
        home = next((group for group in groups if _same_time(facts, group[0], source.alias)), None)
        if home is None:
            groups.append([source.alias])
        else:
            home.append(source.alias)
    return replace(branch, merged=tuple(tuple(group) for group in groups if len(group) > 1))


def _same_time(facts: Facts, first: str, second: str) -> bool:
    return facts.lag(first, second) == 0 == facts.lag(second, first)
