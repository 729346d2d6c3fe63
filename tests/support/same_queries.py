"""Conditions that are written in two ways and mean the same."""

from __future__ import annotations

SAME: dict[str, tuple[str, str]] = {
    "flipped sides": ("T.a < S.a AND T.a < 9 AND S.a > 0", "S.a > T.a AND 9 > T.a AND 0 < S.a"),
    "a redundant bound": ("T.a > 0 AND T.a < 5 AND S.a = T.a", "T.a > 0 AND T.a < 5 AND T.a < 99 AND S.a = T.a"),
    "a redundant join": (
        "T.a < T.b AND T.b < S.a AND S.a > 0 AND T.b < 6 AND T.a > 0",
        "T.a < T.b AND T.b < S.a AND S.a > 0 AND T.b < 6 AND T.a > 0 AND T.a < S.a",
    ),
    "BETWEEN": ("T.a >= 1 AND T.a <= 4 AND S.a = T.a", "T.a BETWEEN 1 AND 4 AND S.a = T.a"),
    "weak and strict over integers": ("T.a >= 1 AND T.a <= 4 AND S.a = T.a", "T.a > 0 AND T.a < 5 AND S.a = T.a"),
    "an offset on the other side": ("T.a + 2 < S.a AND T.a < 9 AND S.a > 0", "T.a < S.a - 2 AND T.a < 9 AND S.a > 0"),
    "an offset on the constant": ("T.a + 2 < 9 AND T.a - 1 > 0 AND S.a = T.a", "T.a < 7 AND T.a > 1 AND S.a = T.a"),
    "constants folded": ("T.a < 3 * 3 AND T.a > 1 - 1 AND S.a = T.a", "T.a < 9 AND T.a > 0 AND S.a = T.a"),
    "NOT": ("NOT (T.a < 1 OR T.a > 4) AND S.a = T.a", "T.a BETWEEN 1 AND 4 AND S.a = T.a"),
    "a double negation": ("NOT NOT T.a < 5 AND T.a > 0 AND S.a = T.a", "T.a < 5 AND T.a > 0 AND S.a = T.a"),
    "an equality chain": (
        "S.a = T.a AND T.a = T.b AND T.b = S.b AND S.b BETWEEN 0 AND 4",
        "S.a = T.b AND S.b = S.a AND T.a = S.b AND T.a BETWEEN 0 AND 4",
    ),
    "a bound on another member of an equality chain": (
        "S.a = T.a AND T.a BETWEEN 0 AND 4",
        "T.a = S.a AND S.a >= 0 AND T.a <= 4",
    ),
    "an interval closed from both ends": ("T.a = 3 AND S.a < T.a", "T.a >= 3 AND T.a <= 3 AND S.a < T.a"),
    "a list of one": ("T.a IN (3) AND S.a < T.a", "T.a = 3 AND S.a < T.a"),
    "the order of the conjuncts": ("T.a < 9 AND S.a > 0 AND T.a < S.a", "T.a < S.a AND S.a > 0 AND T.a < 9"),
    "an unbounded one flipped": ("T.b < S.b", "S.b > T.b"),
    "an unbounded one with an offset": ("T.b + 1 <= S.b", "T.b < S.b"),
    "an unbounded equality written as two": ("T.b = S.b", "T.b <= S.b AND T.b >= S.b"),
    "a tautology": ("T.a BETWEEN 0 AND 5", "T.a BETWEEN 0 AND 5 AND 1 = 1"),
    "time on the other side": ("T.ts < S.ts AND T.a BETWEEN 0 AND 5", "S.ts > T.ts AND T.a BETWEEN 0 AND 5"),
    "time with an offset": ("S.ts >= T.ts + 1 AND T.a BETWEEN 0 AND 5", "S.ts - 1 >= T.ts AND T.a BETWEEN 0 AND 5"),
    "time implied by a third": ("S.ts > U.ts AND U.ts > T.ts", "S.ts > U.ts AND U.ts > T.ts AND S.ts > T.ts"),
}
