"""`explain --emit windows` against Table II of the paper, written down point by point for random rows."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.command_line import call

TABLE = """[relations.{name}]
columns = {{ x = "bigint", k = "bigint", id = "bigint", p = "double", vb = "bigint", ve = "bigint" }}
period = ["vb", "ve"]
key = "id"
probability = "p"
"""
THETA: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "r.k = s.k": lambda r, s: r[-1] == s[-1],
    "r.k = s.k AND r.x < s.x": lambda r, s: r[-1] == s[-1] and r[0] < s[0],
    "r.x < s.x": lambda r, s: r[0] < s[0],
}
JOINS = {"JOIN": "O", "LEFT JOIN": "Or", "RIGHT JOIN": "Os", "FULL JOIN": "Ors", "LEFT ANTI JOIN": "r"}
"""Of which sides a join has unmatched and negating windows (Table III), O for overlapping ones."""
END, COLUMNS = 12, ("x", "k", "id", "p", "vb", "ve")


class Row(NamedTuple):
    """A row whose lineage is any of some variables."""

    fact: tuple[int, ...]
    names: frozenset[str]
    begin: int
    end: int


def drawn(rng: random.Random, name: str) -> list[Row]:
    rows = []
    for x in range(rng.randint(5, 7)):
        begin = rng.randrange(END - 1)
        rows.append(Row((x, rng.randrange(2)), frozenset([f"{name}.{x}"]), begin, rng.randint(begin + 1, END)))
    return rows


def runs(at: Callable[[int], frozenset[str] | None]) -> Iterator[tuple[frozenset[str], int, int]]:
    """Maximal stretches of time with the same set, which may be empty; None is no part of any."""
    begin = 0
    for t in range(1, END + 1):
        if t == END or at(t) != at(begin):
            if (found := at(begin)) is not None:
                yield found, begin, t
            begin = t


def without_x(rows: list[Row]) -> list[Row]:
    """``SELECT k``: a fact is there with any of its rows."""

    def valid(k: int, t: int) -> frozenset[str] | None:
        return frozenset().union(*(r.names for r in rows if r.fact[1] == k and r.begin <= t < r.end)) or None

    return [Row((k,), *run) for k in range(2) for run in runs(lambda t, k=k: valid(k, t))]


def table_2(sides: tuple[list[Row], list[Row]], theta: Callable[..., bool], wanted: str) -> Counter[tuple[str, ...]]:
    """All windows: the kind, the fact and the lineage of either side, and the period."""
    found = Counter[tuple[str, ...]]()

    def note(kind: str, r: tuple[str, str], s: tuple[str, str], begin: int, end: int) -> None:
        found[kind, r[0], s[0], r[1], s[1], f"[{begin}, {end})"] += 1

    for r in sides[0] if "O" in wanted else ():
        for s in sides[1]:
            begin, end = max(r.begin, s.begin), min(r.end, s.end)
            if begin < end and theta(r.fact, s.fact):
                note("overlapping", (said(r), any_of(r.names)), (said(s), any_of(s.names)), begin, end)
    for side, letter in enumerate("rs"):
        for own in sides[side] if letter in wanted else ():
            matches = [s for s in sides[1 - side] if theta(*((own.fact, s.fact)[:: 1 - 2 * side]))]

            def valid(t: int, own: Row = own, matches: list[Row] = matches) -> frozenset[str] | None:
                there = own.begin <= t < own.end
                return frozenset().union(*(s.names for s in matches if s.begin <= t < s.end)) if there else None

            for names, begin, end in runs(valid):
                pair = (said(own), any_of(own.names)), ("-", any_of(names) if names else "-")
                note("negating" if names else "unmatched", *pair[:: 1 - 2 * side], begin, end)
    return found


def said(row: Row) -> str:
    return ", ".join(map(str, row.fact))


def any_of(names: frozenset[str]) -> str:
    return " | ".join(sorted(names))


def printed(text: str) -> Counter[tuple[str, ...]]:
    found, kind = Counter[tuple[str, ...]](), ""
    for line in text.splitlines():
        if line.endswith(" windows"):
            kind = line.removesuffix(" windows")
        elif line.strip() and not line.startswith("  Fr"):
            found[kind, *re.split(r" {2,}", line.strip())] += 1
    return found


CASES = (
    ("FULL JOIN", "r.k = s.k AND r.x < s.x", "a", "b"),
    ("FULL JOIN", "r.k = s.k", "(SELECT k FROM a)", "b"),
    ("LEFT JOIN", "r.x < s.x", "a", "a"),
    ("RIGHT JOIN", "r.k = s.k AND r.x < s.x", "a", "b"),
    ("LEFT ANTI JOIN", "r.k = s.k", "(SELECT k FROM a)", "b"),
    ("JOIN", "r.k = s.k", "a", "a"),
)


@pytest.mark.parametrize("join, theta, first, second", CASES)
def test_windows_are_those_of_table_2(
    join: str, theta: str, first: str, second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(f"{join} {theta}")
    monkeypatch.chdir(tmp_path)
    Path("streams.toml").write_text("".join(TABLE.format(name=name) for name in "ab"))
    rows = {name: drawn(rng, name) for name in "ab"}
    for name, mine in rows.items():
        lines = (dict(zip(COLUMNS, (*r.fact, r.fact[0], 0.5, r.begin, r.end), strict=True)) for r in mine)
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    items = "r.k" if "ANTI" in join else "r.k, s.x"  # whatever the list leaves out
    Path("q.sql").write_text(f"SEQ TP (SELECT {items} FROM {first} AS r {join} {second} AS s ON {theta})")
    result = call("explain", "q.sql", "--emit", "windows", "--input", ".")
    assert result.exit_code == 0, result.output
    expected = table_2(
        (rows[first] if first in rows else without_x(rows["a"]), rows[second]), THETA[theta], JOINS[join]
    )
    assert printed(result.stdout) == expected
    kinds = {window[0] for window in expected}
    assert ("overlapping" in kinds) == ("O" in JOINS[join])
    assert {"unmatched", "negating"} <= kinds or JOINS[join] == "O"


def test_windows_are_of_a_join_in_seq_tp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("streams.toml").write_text(TABLE.format(name="a"))
    for sql in ("SEQ TP (SELECT x FROM a)", "SEQ VT (SELECT r.x FROM a AS r JOIN a AS s ON r.k = s.k)"):
        Path("q.sql").write_text(sql)
        result = call("explain", "q.sql", "--emit", "windows", "--input", ".")
        assert result.exit_code == 2 and "windows are those of a join in SEQ TP" in result.stderr
