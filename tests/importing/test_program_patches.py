"""Patches of PySpark programs: each is of the program's own text, and the model, reading it again, finds less wrong."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.diagnostics import Fix, FixKind
from streambound.analyzer.edits import applied
from streambound.analyzer.spans import SourceText
from streambound.gate.spark_frames import program_outcomes
from streambound.reports.outcome import Outcome
from support.running_jobs import run_job

HEAD = """from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
"""
RAW = 'o = spark.readStream.schema("id bigint, at timestamp").json("/in/orders")'
ORDERS = f'{RAW}.withWatermark("at", "10 minutes")\n'
PAYMENTS = f"p = {RAW.removeprefix('o = ').replace('id', 'oid').replace('at ', 'paid ').replace('orders', 'payments')}"
PAYMENTS += '.withWatermark("paid", "10 minutes")\n'
LIKE = PAYMENTS.replace("oid", "id").replace("paid timestamp", "at timestamp").replace('"paid"', '"at"')
VIEWS = ORDERS + PAYMENTS + "o.createOrReplaceTempView('orders')\np.createOrReplaceTempView('payments')\n"
FAR = "abs(unix_timestamp(paid) - unix_timestamp(at)) <= 1800"
IMPLIED = "paid >= at - INTERVAL '1801' SECOND AND paid <= at + INTERVAL '1801' SECOND"
COLUMNS = 'F.abs(F.unix_timestamp("paid") - F.unix_timestamp("at")) <= 1800'
AGAIN = "F.abs(F.unix_timestamp(p.at) - F.unix_timestamp(o.at)) <= 1800"

PATCHES = {
    "an expression": (ORDERS + PAYMENTS, f'o.join(p, F.expr("id = oid AND {FAR}"))',
                      f'F.expr("id = oid AND {FAR}") & F.expr("{IMPLIED}"))'),
    "columns over lines": (
        ORDERS + PAYMENTS, f'o.join(\n    p,\n    (F.col("id") == F.col("oid")) & ({COLUMNS}),\n    "left",\n)',
        f'& ({COLUMNS}) & F.expr("{IMPLIED}"),'),
    "one comparison": (ORDERS + PAYMENTS, f'o.join(p, {COLUMNS}).where("id = oid")',
                       f'({COLUMNS}) & F.expr("{IMPLIED}")'),
    "columns of frames": (ORDERS + LIKE, f"o.join(p, (o.id == p.id) & ({AGAIN})).select(o.id)",
                          '(p["at"] >= o["at"] - F.expr("INTERVAL \'1801\' SECOND")) & '),
    "aliases": (ORDERS + LIKE, 'o.alias("a").join(p.alias("b"), F.expr("a.id = b.id AND '
                f'{FAR.replace("paid", "b.at").replace("(at", "(a.at")}")).select("a.id")',
                "& F.expr(\"b.at >= a.at - INTERVAL '1801' SECOND AND b.at <="),
    "a condition behind a join": (ORDERS + PAYMENTS.replace("oid", "id"), f'o.join(p, "id").where("{FAR}")',
                                  f'o.join(p, "id").where("{IMPLIED}").where('),
    "a condition with a name": (f'{ORDERS}{PAYMENTS}near = F.expr("id = oid AND {FAR}")\n', "o.join(p, near)",
                                f'o.join(p, near).where("{IMPLIED}")'),
    "SQL": (VIEWS, f'spark.sql("""\n  SELECT id FROM orders AS o\n  JOIN payments AS p ON id = oid AND {FAR}\n""")',
            f"ON id = oid AND {FAR} AND p.paid >= o.at - INTERVAL '1801' SECOND AND p.paid <="),
    "windows by their starts": (
        ORDERS + LIKE + "".join(
            f'{new} = {old}.select("id", F.window("at", "1 hour").alias("w")).alias("{new}")\n'
            for new, old in ("ao", "bp")
        ), 'a.join(b, F.expr("a.id = b.id AND a.w.start = b.w.start")).select("a.id")', ' & F.expr("a.w = b.w")'),
    "groups of hours": (ORDERS, 'o.groupBy(F.date_trunc("hour", "at").alias("hour"), "id").count()',
                        ', "id", F.window("at", "1 hour")).count().drop("window")'),
    "groups in a list": (ORDERS, 'o.withColumn("w", F.window("at", "1 hour")).groupBy(["w.start", "id"]).count()',
                         '"id", "w"]).count().drop("w")'),
    "groups in SQL": (VIEWS, 'spark.sql("SELECT to_date(at) AS d, count(*) AS n FROM orders GROUP BY to_date(at)")',
                      "GROUP BY to_date(at), WINDOW(orders.at, '1 day')"),
    "a delay": (ORDERS.replace("10 minutes", "1 day"), 'o.groupBy(F.window("at", "1 hour")).count()',
                '.withWatermark("at", "301 seconds")'),
    "a watermark": (f"{RAW}\n{PAYMENTS}", 'o.join(p, F.expr("id = oid AND paid BETWEEN at AND at + INTERVAL 1 HOUR"))',
                    '.json("/in/orders").withWatermark("at", "301 seconds")'),
}  # fmt: skip
HINTS = {
    "duplicates": (ORDERS, 'o.dropDuplicates(["id"])', 'o.dropDuplicatesWithinWatermark(["id"])',
                   "farther apart than the delay"),
    "rows once": (ORDERS, 'o.select("id", "at").distinct().dropDuplicates(["id"])',
                  '.dropDuplicatesWithinWatermark(["id"])', "farther apart than the delay"),
    "a watermark": (f"{RAW}\n{PAYMENTS}", 'o.join(p, F.expr("id = oid AND paid BETWEEN at AND at + INTERVAL 1 HOUR"))',
                    '.json("/in/orders").withWatermark("at", "10 minutes")', "later than the watermark"),
    "a column without its watermark": (ORDERS.replace("o = ", "raw = ", 1).replace(".withW", "\no = raw.withW"),
                                       'o.groupBy(F.window(raw.at, "1 hour")).count()', 'F.window("at", "1 hour")',
                                       "later than the watermark"),
}  # fmt: skip
LATENESS = parse_catalog(
    '[streams.orders]\ntimestamp = "at"\ncolumns = { id = "bigint", at = "timestamp" }\nlateness = "5 minutes"\n'
    'max_rate = { rows = 6, per = "1 minute" }\n'
)


def text_of(streams: str, frame: str) -> str:
    return f"{HEAD}{streams}{frame}.writeStream.start()\n"


def checked(text: str, declared: bool = False) -> Outcome:
    (outcome,) = program_outcomes(SourceText("job.py", text), LATENESS if declared else None)
    return outcome


def fix_of(outcome: Outcome) -> Fix:
    (fix,) = {fix for found in outcome.diagnostics for fix in found.fixes}
    return fix


def wrong(outcome: Outcome) -> list[str]:
    return [one.code for one in outcome.diagnostics if one.code.startswith("SB22")]


@pytest.mark.parametrize("kind", PATCHES)
def test_a_patch_changes_the_program_at_its_call(kind: str, spark: Any) -> None:
    streams, frame, added = PATCHES[kind]
    text, declared = text_of(streams, frame), kind in ("a delay", "a watermark")
    before = checked(text, declared)
    fix = fix_of(before)
    assert fix.kind is FixKind.SAFE and fix.note == "same results" and wrong(before)
    after = applied(text, fix.edits)
    assert added in after and wrong(checked(after, declared)) == []


@pytest.mark.parametrize("kind", HINTS)
def test_a_hint_says_what_is_lost(kind: str, spark: Any) -> None:
    streams, frame, changed, lost = HINTS[kind]
    text = text_of(streams, frame)
    if kind == "a column without its watermark":
        text = text.replace("writeStream", 'writeStream.outputMode("update")')
    fix = fix_of(checked(text))
    assert fix.kind is FixKind.CHANGES_RESULTS and lost in fix.note
    after = applied(text, fix.edits)
    assert changed in after and wrong(checked(after)) == []


@pytest.mark.parametrize(
    ("streams", "frame"),
    [
        (f'{ORDERS}{PAYMENTS}near = F.expr("id = oid AND {FAR}")\n', 'o.join(p, near, "left")'),
        (f"{VIEWS}text = '''SELECT id FROM orders JOIN payments ON id = oid AND {FAR}'''\n", "spark.sql(text)"),
        (VIEWS, f"spark.sql(f'''SELECT id FROM orders JOIN payments ON id = oid AND {FAR}''')"),
        (ORDERS + LIKE, f'o.select("id", "at").join(p, (o.id == p.id) & ({AGAIN})).select(o.id)'),
        (ORDERS + "keys = [F.date_trunc('hour', 'at')]\nby = o.groupBy(*keys)\n", "by.count()"),
        (ORDERS, 'o.select("id").dropDuplicates()'),
        (ORDERS.replace('"10 minutes"', 'DELAY').replace("o =", "DELAY = '1 day'\no ="), 'o.dropDuplicates(["at"])'),
    ],
)  # fmt: skip
def test_what_is_not_written_at_the_call_is_not_patched(streams: str, frame: str, spark: Any) -> None:
    """A condition with a name in an outer join, SQL that is none in the program, names of two columns: words only."""
    outcome = checked(text_of(streams, frame), declared=True)
    assert wrong(outcome) and not [fix for found in outcome.diagnostics for fix in found.fixes]
    assert all(one.help for one in outcome.diagnostics if one.code in wrong(outcome))


def test_the_finding_of_a_program_is_shown_as_a_patch(
    tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from support.command_line import call

    monkeypatch.chdir(tmp_path)
    streams, frame, _ = PATCHES["an expression"]
    Path("job.py").write_text(text_of(streams, frame), encoding="utf-8")
    diff = call("check", "job.py", "--diff").stdout
    assert (
        diff.startswith("--- a/job.py\n+++ b/job.py\n") and f'+o.join(p, F.expr("id = oid AND {FAR}") & F.expr(' in diff
    )
    assert call("check", "job.py", "--fix").exit_code == 0 and IMPLIED in Path("job.py").read_text(encoding="utf-8")


# --- on Spark ---------------------------------------------------------------------------------------------------------

RUN = ("an expression", "SQL", "windows by their starts", "groups of hours", "a watermark")
"""Of each place that a patch may be at one; groups of hours Spark does not start as they are."""


@pytest.mark.parametrize("kind", RUN)
def test_spark_forgets_after_a_patch_and_gives_the_same(kind: str, spark: Any, tmp_path: Path) -> None:
    streams, frame, _ = PATCHES[kind]
    text, declared = text_of(streams, frame), kind == "a watermark"
    after = applied(text, fix_of(checked(text, declared)).edits)
    (first,), (second,) = (run_job(spark, one, tmp_path / str(len(one))) for one in (text, after))
    assert second.kept == "window" and second.results
    if kind == "groups of hours":
        assert first.kept == "refused (start)"
        assert set(second.results.values()) == {1} and {row[2] for row in second.results} == {1}
    else:
        assert first.kept == "grows" and first.results == second.results


def test_spark_gives_what_it_dropped_after_a_patch(spark: Any, tmp_path: Path) -> None:
    """Bids come shortly before the deadline, some batches later than what they are for."""
    text = (Path(__file__).parents[1] / "data/pyspark_jobs/lost_deadline.py").read_text(encoding="utf-8")
    outcome = checked(text)
    assert wrong(outcome) == ["SB221"]
    (first,), (second,) = (
        run_job(spark, one, tmp_path / str(len(one)), timedelta(minutes=30), timedelta(minutes=110))
        for one in (text, applied(text, fix_of(outcome).edits))
    )
    assert first.results < second.results and second.results.total() == 6 * 3 - 11  # each bid that has come


def test_spark_forgets_keys_within_the_watermark(spark: Any, tmp_path: Path) -> None:
    """The hint's rows are the same where duplicates come within the delay, and here there are none."""
    streams, frame, *_ = HINTS["duplicates"]
    text = text_of(streams, frame)
    after = applied(text, fix_of(checked(text)).edits)
    (first,), (second,) = (run_job(spark, one, tmp_path / str(len(one))) for one in (text, after))
    assert (first.kept, second.kept) == ("grows", "window") and first.results == second.results
