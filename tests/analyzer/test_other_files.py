"""Views of other files: a query that reads one is judged, run and compared as if the view stood in its own text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streambound.analyzer.workspace import Workspace
from streambound.criteria.vocabulary import Verdict
from streambound.gate.check_files import GateSettings, check_files
from streambound.gate.live import Live
from streambound.reports.outcome import Outcome
from support.command_line import call
from support.git import commit, git

CATALOG = """\
queries = ["**/*.sql"]

[streams.payments]
timestamp = "ts"
columns = { customer = "bigint", amount = "bigint", ts = "timestamp" }
max_rate = { rows = 100, per = "1 hour" }

[streams.clicks]
timestamp = "ts"
columns = { customer = "bigint", page = "bigint", ts = "timestamp" }
max_rate = { rows = 100, per = "1 hour" }
domain.page = [0, 9]
"""
LARGE = "SELECT customer, amount, ts FROM payments WHERE amount > 1000"
COUNTS = "SELECT customer, COUNT(*) AS n FROM payments GROUP BY customer"
JOINED = (
    "SELECT l.customer, c.page FROM large l JOIN clicks c "
    "ON l.customer = c.customer AND c.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put("streams.toml", CATALOG)
    return tmp_path


def put(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def checked(*files: str) -> tuple[Outcome, ...]:
    return check_files(map(Path, files), Workspace(), GateSettings())


def told(item: Outcome) -> list[str]:
    return [found.message for found in item.diagnostics]


@pytest.mark.parametrize("create", ["CREATE VIEW", "CREATE MATERIALIZED VIEW", "CREATE OR REFRESH STREAMING TABLE"])
@pytest.mark.parametrize(
    ("view", "reads"),
    [
        (LARGE, JOINED),
        (LARGE, "SELECT DISTINCT customer FROM large"),
        (LARGE, "SELECT window(ts, '1 hour').start AS w, COUNT(*) AS n FROM large GROUP BY window(ts, '1 hour')"),
        (COUNTS, "SELECT customer FROM large WHERE n < 3"),
        ("SELECT page, COUNT(*) AS n FROM clicks GROUP BY page", "SELECT MAX(n) AS most FROM large"),
    ],
)
def test_a_view_of_another_file_is_judged_like_one_of_the_same_file(
    project: Path, create: str, view: str, reads: str
) -> None:
    put("staging/large.sql", f"{create} large AS {view}")
    put("marts/q.sql", reads)
    put("alone.sql", f"CREATE VIEW here AS {view};\n{reads.replace('large', 'here')}")
    (other,) = checked("marts/q.sql")
    _, same = checked("alone.sql")
    assert other.verdict in (Verdict.BOUNDED, Verdict.UNBOUNDED)
    assert (other.verdict, other.bound and other.bound.formula) == (same.verdict, same.bound and same.bound.formula)
    assert sorted(found.code for found in other.diagnostics) == sorted(found.code for found in same.diagnostics)


def test_what_is_wrong_in_the_view_is_said_where_it_is_read_with_the_place_of_the_view(project: Path) -> None:
    put("staging/counts.sql", f"-- staging\nCREATE VIEW counts AS {COUNTS}")
    put("q.sql", "SELECT n\nFROM counts")
    (item,) = checked("q.sql")
    (found,) = item.diagnostics
    assert (found.file, found.span.line, found.span.column) == ("q.sql", 2, 6)
    places = [(one.file, one.line, one.message) for one in found.related]
    assert ("staging/counts.sql", 2, "counts is created here") in places


def test_a_chain_of_files_is_one_query_for_its_job(project: Path) -> None:
    put("a.sql", f"CREATE MATERIALIZED VIEW large AS {LARGE}")
    put("b.sql", f"CREATE MATERIALIZED VIEW joined AS {JOINED}")
    put("c.sql", "SELECT page, COUNT(*) AS n FROM joined GROUP BY page")
    times = [f"2026-01-01T00:{minute:02d}:00" for minute in range(30)]
    payments = [{"customer": n % 3, "amount": 900 + 20 * n, "ts": ts} for n, ts in enumerate(times)]
    clicks = [{"customer": n % 3, "page": n % 4, "ts": ts} for n, ts in enumerate(times)]
    for name, rows in (("payments", payments), ("clicks", clicks)):
        put(f"in/{name}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    result = call("verify", "c.sql", "--input", "in", "--runs", "1")
    assert result.exit_code == 0, result.output
    assert "the job prints what batch SQL returns" in result.stdout
    report = call("check", "--format", "json", "c.sql")
    put("report.json", report.stdout)
    assert "certificate holds" in call("recheck", "report.json").output


def test_files_on_the_command_line_read_each_other_without_being_registered(project: Path) -> None:
    put("streams.toml", CATALOG.replace('queries = ["**/*.sql"]', ""))
    put("a.sql", f"CREATE VIEW large AS {LARGE}")
    put("b.sql", JOINED)
    assert call("check", "b.sql").exit_code == 1
    assert call("check", "a.sql", "b.sql").exit_code == 0


def test_models_of_dbt_are_files_streams_and_relations_by_their_names(project: Path) -> None:
    put("models/large.sql", f"{{{{ config(materialized='view') }}}}\n{LARGE.replace('payments', source('payments'))}")
    text = JOINED.replace("large l", "{{ ref('large') }} l").replace("clicks c", f"{source('clicks')} c")
    put("models/joined.sql", text)
    put("models/lost.sql", "SELECT a FROM {{ ref('nothing') }}")
    large, lost, joined = checked("models/large.sql", "models/lost.sql", "models/joined.sql")
    assert [one.verdict for one in (large, lost, joined)] == [Verdict.BOUNDED, Verdict.UNSUPPORTED, Verdict.BOUNDED]
    assert told(lost) == ["the model nothing stands for no stream, relation or registered file"]


def source(table: str) -> str:
    return f"{{{{ source('raw', '{table}') }}}}"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.sql": "CREATE VIEW v AS SELECT customer FROM w", "b.sql": "CREATE VIEW w AS SELECT customer FROM v"},
         "the view v of a.sql, line 1, is not understood: the view w of b.sql, line 1, is not understood: "
         "v of a.sql is read by what it reads itself"),
        ({"a.sql": f"CREATE VIEW v AS {LARGE}", "b.sql": f"CREATE VIEW v AS {LARGE}"},
         "v is created in a.sql and in b.sql"),
        ({"a.sql": "CREATE VIEW v AS SELECT FROM"}, "the view v of a.sql, line 1, is not understood: "),
        ({"a.sql": "CREATE TABLE v AS SELECT customer FROM payments"}, ""),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_words(project: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        put(name, text)
    put("q.sql", "SELECT customer FROM v")
    (item,) = checked("q.sql")
    (found,) = item.diagnostics
    assert item.verdict in (Verdict.UNSUPPORTED, Verdict.ERROR)
    assert found.message.startswith(message or "unknown") and found.span.column == 22


def test_the_catalog_and_the_own_file_come_before_other_files(project: Path) -> None:
    put("a.sql", f"CREATE VIEW clicks AS {COUNTS};\nCREATE VIEW v AS {COUNTS}")
    put("q.sql", "CREATE VIEW v AS SELECT page FROM clicks;\nSELECT page FROM v")
    assert [one.verdict for one in checked("q.sql")] == [Verdict.BOUNDED, Verdict.BOUNDED]
    put("r.sql", "WITH v AS (SELECT page FROM clicks) SELECT page FROM v")
    assert [one.verdict for one in checked("r.sql")] == [Verdict.BOUNDED]


def test_the_cache_knows_what_other_files_say(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMBOUND_CACHE_DIR", str(project / "cache"))
    put("a.sql", f"CREATE VIEW v AS {LARGE}")
    put("q.sql", "SELECT customer, COUNT(*) AS n FROM v WHERE customer BETWEEN 1 AND 5 GROUP BY customer")
    assert call("check", "q.sql").exit_code == 0
    put("a.sql", f"CREATE VIEW v AS {LARGE.replace('customer,', 'customer + amount AS customer,')}")
    put("q.sql", "SELECT customer, COUNT(*) AS n FROM v GROUP BY customer")
    assert call("check", "q.sql").exit_code == 1
    put("a.sql", f"CREATE VIEW v AS {LARGE} AND customer BETWEEN 1 AND 5")
    assert call("check", "q.sql").exit_code == 0


def test_a_change_of_a_view_is_flagged_at_what_reads_it(project: Path) -> None:
    git("init", "-q", "-b", "main")
    put("a.sql", f"CREATE VIEW v AS\n{LARGE}\n  AND customer BETWEEN 1 AND 5")
    put("q.sql", "SELECT customer, COUNT(*) AS n FROM v GROUP BY customer")
    commit()
    put("a.sql", f"CREATE VIEW v AS\n{LARGE}")
    result = call("check", "--no-repairs", "--against", "HEAD", "q.sql")
    assert result.exit_code == 1
    assert "q was bounded at HEAD and is unbounded" in result.output
    assert "it reads what this file creates, which is not what it was at HEAD" in result.output


def test_an_editor_sees_what_it_holds_of_other_files(project: Path) -> None:
    put("a.sql", f"CREATE VIEW v AS {LARGE}")
    put("q.sql", "SELECT customer, COUNT(*) AS n FROM v GROUP BY customer")
    live, held = Live(), {"a.sql": f"CREATE VIEW v AS {LARGE} AND customer BETWEEN 1 AND 5"}
    for texts, verdict in (({}, Verdict.UNBOUNDED), (held, Verdict.BOUNDED), ({}, Verdict.UNBOUNDED)):
        state = live.state(texts)
        assert {one.file for one in live.missing(state)} >= {"q.sql"}
        live.judge(state, live.missing(state))
        (item,) = live.found(state, whole=True).outcomes["q.sql"]
        assert item.verdict is verdict


def test_repairs_are_of_the_file_that_reads(project: Path) -> None:
    put("days.sql", "CREATE VIEW days AS SELECT customer, amount, window(ts, '1 day').start AS day FROM payments")
    put("q.sql", "SELECT customer, SUM(amount) AS total FROM days GROUP BY customer")
    assert call("check", "--fix", "--unsafe", "q.sql").exit_code == 0
    repaired = "SELECT customer, SUM(amount) AS total, days.day AS day FROM days GROUP BY customer, days.day"
    assert Path("q.sql").read_text() == repaired
