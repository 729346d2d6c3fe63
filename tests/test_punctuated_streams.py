"""The examples of the pages "Punctuated Data Streams" (Tucker, 2005) and of the encyclopedia's "Punctuations", as runs.

Union of ranges of an attribute, from "Propagation Invariants", is in `test_ended_ranges`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.circuits import Circuit
from support.command_line import call
from support.fed import Fed

Row = dict[str, Any]
QUOTES = """
[streams.quote]
timestamp = "ts"
columns = { ticker = "string", minute = "int", first = "int", price = "decimal(10,2)", over = "boolean", ts = "bigint" }
[[streams.quote.punctuations]]
attributes = ["ticker", "minute"]
since = "first"
column = "over"
value = true
max_open = 10
"""
QUOTES_BY_MINUTE = "-- streambound: emit final\nSELECT ticker, minute, COUNT(*) AS n FROM quote GROUP BY ticker, minute"


def test_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "Schemes": a constant, ranges with and without a lower end, a list and a wildcard of tickers and minutes."""
    monkeypatch.chdir(tmp_path)

    def quote(ticker: str, minute: int, now: int) -> Row:
        return {"ticker": ticker, "minute": minute, "first": None, "price": 16.51, "over": None, "ts": now}

    def over(ticker: str, first: int | None, minute: int | None, now: int) -> Row:
        return {"ticker": ticker, "minute": minute, "first": first, "price": None, "over": True, "ts": now}

    rows = [
        *(quote(ticker, minute, 0) for ticker in ("CSCO", "INTC", "ORCL") for minute in (600, 660)),
        over("CSCO", 600, 720, 1),  # from 10:00 to 12:00
        over("INTC", None, 659, 1),  # before 11:00
        quote("CSCO", 690, 2),
        quote("INTC", 660, 2),
        quote("INTC", 30, 2),
        *(over("ORCL", minute, minute, 3) for minute in (600, 660)),  # a list
        over("INTC", None, None, 4),
        quote("INTC", 700, 5),
        quote("ORCL", 661, 5),
    ]
    Path("streams.toml").write_text(QUOTES)
    Path("quotes.sql").write_text(QUOTES_BY_MINUTE)
    Path("quote.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    said = call(
        "run", "quotes.sql", "--input", ".", "--tick", "timestamp", "--output", "out.jsonl", "--quarantine", "bad.jsonl"
    )
    assert said.exit_code == 0, said.output
    found = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert sorted((row["_ts"], row["ticker"], row["minute"], row["n"]) for row in found) == [
        (1, "CSCO", 600, 1),
        (1, "CSCO", 660, 1),
        (1, "INTC", 600, 1),
        (3, "ORCL", 600, 1),
        (3, "ORCL", 660, 1),
        (4, "INTC", 660, 2),
    ]
    bad = [json.loads(line) for line in Path("bad.jsonl").read_text().splitlines()]
    late = [json.loads(row["row"]) for row in bad]
    assert {row["reason"] for row in bad} == {"after-punctuation"}
    assert [(row["ticker"], row["minute"]) for row in late] == [("CSCO", 690), ("INTC", 30), ("INTC", 700)]


AUTHORS: Row = {
    "streams": {
        "author": {
            "timestamp": "letter",
            "columns": {"name": "string", "since": "bigint", "letter": "bigint"},
            "domain": {"name": ["Adams", "Austen", "Brecht", "Dante", "Hesse"]},
            "punctuation": {"column": "name", "value": "over", "since": "since"},
            "order": "none",
        }
    }
}


def test_sort_of_authors(tmp_path: Path) -> None:
    """ "Propagation Invariants", Sort: authors up to D are out, the one with H waits; G is over early."""
    letters = "ABCDEFGHI"

    def over(first: str | None, last: str) -> str:
        since = None if first is None else letters.index(first)
        return json.dumps({"name": "over", "since": since, "letter": letters.index(last)})

    sql = "SELECT name, COUNT(*) AS n FROM author GROUP BY name"
    fed = Fed(Circuit({"sql": sql, "catalog": AUTHORS, "mode": "changes", "input": {}}).job, tmp_path)
    names = ["Adams", "Hesse", "Austen", "Dante", "Brecht"]
    rows = [json.dumps({"name": name, "since": None, "letter": letters.index(name[0])}) for name in names]

    def printed() -> list[str]:
        return [json.loads(line)["name"] for part in fed.parts() for line in part.read_text().splitlines()]

    fed.feed({"author": rows}, 0)
    assert printed() == []
    fed.feed({"author": [over(None, "B"), over("D", "D"), over("G", "G"), over("H", "H")]}, 1)
    assert sorted(printed()) == ["Adams", "Austen", "Brecht"], "there may still be an author with C"
    fed.feed({"author": [over("C", "C")]}, 2)
    assert printed()[3:] == ["Dante"]
    fed.feed({"author": [over("E", "F")]}, 3)
    assert printed()[4:] == ["Hesse"], "that there is none with G was said before"
    fed.feed({"author": [rows[0], json.dumps({"name": "Hesse", "since": None, "letter": 6})]}, 4)
    assert len(printed()) == 5, "both come after their punctuations"
