"""`check --engine`, and `[engine]` in the catalog: what is printed, and which findings fail a check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.engine_profiles import EngineProfile, OutputMode, StreamEngine, asked_profile
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.work import spend
from support.command_line import ROOT, call, write
from support.git import commit, git

STREAMS = """
[streams.orders]
timestamp = "ts"
columns = { id = "bigint", shop = "bigint", ts = "timestamp" }
lateness = "10 minutes"
max_rate = { rows = 60, per = "1 minute" }
domain = { id = [1, 99], shop = [1, 5] }
[streams.payments]
timestamp = "ts"
columns = { id = "bigint", ts = "timestamp" }
lateness = "10 minutes"
max_rate = { rows = 60, per = "1 minute" }
"""
JOIN = "SELECT o.id FROM orders AS o JOIN payments AS p ON p.id = o.id AND "
STATEMENTS = {
    "interval": (
        f"{JOIN}p.ts >= o.ts AND p.ts <= o.ts + INTERVAL 30 MINUTES",
        ["join (1:30) keeps about 2,400 rows, 490 kB (rows of o in 40 minutes) and about 600 rows, 130 kB (rows of p "
         "in 10 minutes), by value predicate"], [], 0,
    ),
    "difference": (
        f"{JOIN}p.ts - o.ts BETWEEN INTERVAL 0 MINUTES AND INTERVAL 30 MINUTES",
        ["join (1:30) keeps both sides for ever (no linear bound on event times is read in the condition): "
         "add AND p.ts >= o.ts AND p.ts <= o.ts + INTERVAL '30' MINUTE (same results)"], ["SB223"], 0,
    ),
    "offset": (
        f"{JOIN}o.ts = p.ts - INTERVAL 1 HOUR",
        ["drops results (1:30)",
         "join (1:30) keeps about 600 rows, 130 kB (rows of o in 10 minutes) and no rows of p, by key predicate"],
        ["SB221"], 1,
    ),
    "groups": (
        "SELECT shop, COUNT(*) AS n FROM orders GROUP BY shop",
        ["refused (start): append mode needs an event time with a watermark, or a window of it, among the columns of "
         "the group"], ["SB222"], 1,
    ),
    "windows": (
        "SELECT shop, window(ts, '5 minutes') AS w, COUNT(*) AS n FROM orders GROUP BY shop, window(ts, '5 minutes')",
        ["aggregation (1:70) keeps about 15 rows, 2.6 kB (about 3 windows × 5 keys), by window"], [], 0,
    ),
}  # fmt: skip
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STREAMBOUND_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "streams.toml").write_text(STREAMS)
    return tmp_path


def checked(file: str, *options: str) -> dict[str, Any]:
    (query,) = json.loads(call("check", file, "--format", "json", *options).output)["queries"]
    if query["engine"] is not None:
        jsonschema.validate(query["engine"], {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/engine"})
    return dict(query)


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_is_said_of_a_statement(place: Path, name: str) -> None:
    sql, lines, codes, status = STATEMENTS[name]
    file = write(place, sql)
    done = call("check", file, "--engine", "spark")
    head = "  as written on Spark 4.3: "
    assert [line.removeprefix(head) for line in done.output.splitlines() if line.startswith(head)] == lines
    assert done.exit_code == status, done.output
    query = checked(file, "--engine", "spark")
    assert [one["code"] for one in query["diagnostics"] if one["code"].startswith("SB22")] == codes
    assert query["verdict"] == "bounded" and query["engine"]["name"] == "spark"


def test_without_an_engine_nothing_is_said(place: Path) -> None:
    file = write(place, STATEMENTS["offset"][0])
    query = checked(file)
    assert query["engine"] is None and query["diagnostics"] == []
    assert checked(file, "--engine", "flink")["engine"]["version"] == "Flink SQL 2.3"
    assert checked(file)["engine"] is None, "what the cache has of one engine is not said of none"


def test_the_catalog_names_the_engine(place: Path) -> None:
    file = write(place, STATEMENTS["groups"][0])
    write(place, f'[engine]\nname = "spark"\noutput_mode = "update"\n{STREAMS}', "streams.toml")
    engine = checked(file)["engine"]
    assert (engine["name"], engine["refusals"], engine["kept"]) == ("spark", [], "constant")
    assert [(one["rows"], one["formula"]) for one in engine["states"]] == [(5, "5 groups")]
    assert checked(file, "--engine", "flink")["engine"]["name"] == "flink"


def test_streams_without_a_watermark(place: Path) -> None:
    file = write(place, STATEMENTS["interval"][0])
    write(place, f'[engine]\nname = "spark"\ndelays = {{ Payments = "none" }}\n{STREAMS}', "streams.toml")
    query = checked(file)
    states = query["engine"]["states"]
    assert {one["kept"] for one in states} == {"grows"}
    fix = {"text": "watermark p by 601 seconds, as its rows may be late", "same_results": True, "loses": None}
    assert {**states[0]["fix"], "text": fix["text"]} == fix and states[0]["fix"]["text"].startswith(fix["text"])
    assert states[0]["why"] == "p has no watermark"
    late = STREAMS.replace('lateness = "10 minutes"\n', "")
    write(place, f'[engine]\nname = "spark"\ndelays = {{ orders = "1 hour" }}\n{late}', "streams.toml")
    fix = checked(file)["engine"]["states"][0]["fix"]
    assert not fix["same_results"] and fix["loses"] == "rows later than the watermark are lost"


def test_a_comment_accepts_a_finding_of_an_engine(place: Path) -> None:
    """And it is no idle one where no engine is named."""
    file = write(place, f'-- streambound: allow SB221 reason="nobody reads them"\n{STATEMENTS["offset"][0]}')
    accepted = call("check", file, "--engine", "spark")
    assert accepted.exit_code == 0 and "is allowed" in accepted.output, accepted.output
    assert call("check", file).output.count("SB413") == 0
    idle = write(place, f'-- streambound: allow SB221 reason="for nothing"\n{STATEMENTS["interval"][0]}', "idle.sql")
    assert "SB413" in call("check", idle, "--engine", "spark").output


def over_budget(file: str, *options: str) -> list[str]:
    """What is said of the statement and its budget."""
    return [one["message"] for one in checked(file, *options)["diagnostics"] if one["code"] == "SB210"]


def test_a_budget_is_of_the_engine_that_runs_it(place: Path) -> None:
    """The bytes of its own state where an engine is named, else of the job's."""
    file = write(place, STATEMENTS["interval"][0])
    assert over_budget(file, "--budget", "300 kB") == []
    assert over_budget(file, "--budget", "620 kB", "--engine", "spark") == []
    assert over_budget(file, "--budget", "600 kB", "--engine", "spark") == [
        "Spark 4.3 keeps about 620 kB, more than the budget of 600 kB"
    ]
    file = write(place, STATEMENTS["difference"][0], "grows.sql")
    assert over_budget(file, "--budget", "9 PB", "--engine", "flink") == [
        "how many bytes it keeps is not known, and the budget is 9 PB: on Flink SQL 2.3 the join keeps rows for ever"
    ]
    write(place, STREAMS.replace("columns = { id", 'columns = { name = "string", id'), "streams.toml")
    file = write(place, STATEMENTS["interval"][0].replace("o.id FROM", "o.name FROM"), "named.sql")
    (message,) = over_budget(file, "--budget", "9 PB", "--engine", "spark")
    assert message.endswith("on Spark 4.3 the join keeps a string of any length, or a value that grows")
    shared = f'queries = ["*.sql"]\n{STREAMS}\n[[check.budgets]]\nname = "all"\nbudget = "1 MB"\n'
    write(place, shared, "streams.toml")
    (place / "grows.sql").unlink()
    (place / "named.sql").unlink()
    write(place, STATEMENTS["interval"][0], "again.sql")
    assert "SB210" not in call("check").output
    assert "all keeps up to 1.3 MB, more than its budget of 1 MB" in call("check", "--engine", "spark").output


def test_growth_on_an_engine_is_told_with_the_line_to_blame(place: Path) -> None:
    write(place, f'queries = ["q.sql"]\n{STREAMS}', "streams.toml")
    write(place, STATEMENTS["interval"][0], "q.sql")
    git("init", "-q", "-b", "main")
    commit()
    found = call("check", "--against", "HEAD", "--engine", "spark", "--format", "json")
    assert json.loads(found.stdout)["against"]["transitions"] == []
    before = STREAMS.replace("rows = 60", "rows = 60_000", 1)
    write(place, f'queries = ["q.sql"]\n{before}', "streams.toml")
    found = call("check", "--against", "HEAD", "--engine", "spark", "--format", "json")
    (query,) = json.loads(found.stdout)["queries"]
    (finding,) = [one for one in query["diagnostics"] if one["code"] == "SB422"]
    assert (finding["file"], finding["line"]) == ("streams.toml", 3)
    assert finding["message"].startswith(
        "what Spark 4.3 keeps of q grew from 620 kB to 490 MB (+490 MB) since HEAD, because orders.max_rate is 60000"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "storm"', "name must be"),
        ('name = "spark"\nmode = "append"', "unknown key 'mode'"),
        ('delays = { order = "1 hour" }', "there is no stream 'order'"),
        ('delays = { orders = "soon" }', "orders is no length of time"),
        ('ttl = "1 month"', "ttl is no length of time"),
    ],
)
def test_a_table_that_is_wrong(text: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        parse_catalog(f"[engine]\n{text}\n{STREAMS}")


def test_a_profile_is_asked_for() -> None:
    declared = EngineProfile(StreamEngine.SPARK, OutputMode.UPDATE, {"orders": 7})
    assert asked_profile(declared, None) is declared and asked_profile(None, None) is None
    assert asked_profile(declared, "flink") == EngineProfile(StreamEngine.FLINK, OutputMode.UPDATE, {"orders": 7})
    assert asked_profile(None, "flink") == EngineProfile(StreamEngine.FLINK)


@pytest.mark.parametrize(
    "sql",
    [
        " UNION ALL ".join(["SELECT id FROM orders"] * 300),
        f"{JOIN}({' OR '.join(f'p.ts < o.ts + INTERVAL {n} MINUTES' for n in range(1, 400))})",
    ],
    ids=["unions", "alternatives"],
)
def test_what_is_too_deep_for_the_model_is_judged_all_the_same(place: Path, sql: str) -> None:
    query = checked(write(place, sql), "--engine", "spark", "--no-repairs")
    assert query["verdict"] != "error" and query["engine"]["unread"] == "the statement is nested too deeply"
    assert "not modelled" in call("check", "q.sql", "--engine", "spark", "--no-repairs").output


def test_what_takes_too_much_work_is_judged_all_the_same(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(place, STATEMENTS["interval"][0])
    monkeypatch.setattr("streambound.criteria.engines.flow.schema", lambda *_: spend(10**9))
    query = checked(file, "--engine", "spark", "--no-cache")
    assert query["verdict"] == "bounded" and query["engine"]["unread"] == "it takes too much work"


def test_tables_of_states_have_the_engine_beside(place: Path) -> None:
    """Bytes, or that it grows, or is refused; no column where no engine is named."""
    for name in ("interval", "difference", "groups"):
        write(place, STATEMENTS[name][0], f"{name}.sql")
    files = [f"{name}.sql" for name in ("interval", "difference", "groups")]
    table = call("check", *files, "--engine", "spark", "--format", "markdown").stdout.splitlines()
    assert "| query | verdict | entries | bytes | Spark 4.3 |" in table
    rows = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[-1] for line in table if line.endswith(" |")}
    assert (rows["interval"], rows["difference"], rows["groups"]) == ("620 kB |", "grows |", "refused |")
    assert "Spark" not in call("check", *files, "--format", "markdown").stdout
    page = call("check", *files, "--engine", "flink", "--format", "html").stdout
    assert '<button type="button">Flink SQL 2.3</button>' in page
    assert '<button type="button">Flink' not in call("check", *files, "--format", "html").stdout
