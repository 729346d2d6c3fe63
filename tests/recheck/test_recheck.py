"""The checker on reports and on texts that are no certificates; its closure against brute force."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import split_statements
from streambound.cli import main
from streambound.criteria.bound import bound
from streambound.recheck.certificates.conditions import ContradictionError, Distances
from streambound.recheck.certificates.formula import evaluate
from streambound.recheck.certificates.validate import faults
from support.catalogs import PLAIN, streams, with_domain
from support.certificates import plain, rejections
from support.product import decided

CATALOG = '[streams]\nS = { timestamp = "ts", columns = { a = "bigint", ts = "bigint" } }\n' \
          'T = { timestamp = "ts", columns = { a = "bigint", ts = "bigint" } }\n'  # fmt: skip
SQL = "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.a BETWEEN 1 AND 4"


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a query, its catalog and its JSON report."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(CATALOG)
    (tmp_path / "q.sql").write_text(SQL)
    (tmp_path / "report.json").write_text(_run("check", "q.sql", "--format", "json").output)
    return tmp_path / "report.json"


def _run(*arguments: str, text: str = "") -> Result:
    return CliRunner().invoke(main, arguments, input=text)


def test_a_report_holds(report: Path) -> None:
    result = _run("recheck", "report.json")
    assert (result.exit_code, result.output) == (0, "q: certificate holds\n")
    assert _run("recheck", "-", text=report.read_text()).exit_code == 0


@pytest.mark.parametrize("file", ["../q.sql", "linked.sql", "/absolute"])
def test_only_files_below_the_directory_are_read(report: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    there, below = report.parent / "q.sql", report.parent / "below"
    below.mkdir()
    (below / "linked.sql").symlink_to("../q.sql")
    monkeypatch.chdir(below)
    document = json.loads(report.read_text())
    named = file if file != "/absolute" else str(there)
    document["queries"][0] |= {"file": named, "name": Path(named).stem}
    report.write_text(json.dumps(document))
    result = _run("recheck", "../report.json")
    assert result.exit_code == 2 and "--allow-outside" in result.output
    assert f"{named}, which the report names, leads out of the current directory, to {there}" in result.output
    for options in (["--allow-outside"], ["--catalog", "../streams.toml"]):
        assert _run("recheck", "../report.json", *options).output == f"{Path(named).stem}: certificate holds\n"


def test_a_report_of_another_query_does_not(report: Path) -> None:
    Path("q.sql").write_text(SQL.replace("4", "5"))
    result = _run("recheck", "report.json")
    assert result.exit_code == 1
    assert "for another query" in result.output
    Path("q.sql").write_text("-- name: other\n" + SQL)
    assert "no such query" in _run("recheck", "report.json").output


def test_a_report_that_says_more_than_its_certificate_does_not(report: Path) -> None:
    document = json.loads(report.read_text())
    document["queries"][0]["bound"]["entries"] = 3
    assert _run("recheck", "-", text=json.dumps(document)).exit_code == 1
    document["queries"][0]["certificate"] = None
    result = _run("recheck", "-", text=json.dumps(document))
    assert (result.exit_code, "it has no certificate" in result.output) == (1, True)


def test_a_file_is_split_once_for_all_its_queries(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("p", "q"):
        Path(f"{name}.sql").write_text("".join(f"-- name: {name}{i}\n{SQL};\n" for i in range(5)))
    text = _run("check", "p.sql", "q.sql", "--format", "json").output
    split: list[str] = []

    def counted(source: SourceText, *more: Any) -> tuple[Statement, ...]:
        split.append(source.file)
        return split_statements(source, *more)

    monkeypatch.setattr("streambound.recheck.certificates.report.split_statements", counted)
    result = _run("recheck", "-", text=text)
    assert (result.exit_code, result.output.count("holds")) == (0, 10), result.output
    assert split == ["p.sql", "q.sql"]


@pytest.mark.parametrize("wrong", [[1], {"entries": 7}, "a certificate"])
def test_a_certificate_of_another_shape(report: Path, wrong: Any) -> None:
    document = json.loads(report.read_text())
    document["queries"][0]["certificate"] = wrong
    result = _run("recheck", "-", text=json.dumps(document))
    assert result.exit_code == 1, result.output


@pytest.mark.parametrize(("key", "value"), [("name", ["q"]), ("line", [1]), ("line", None)])
def test_an_item_of_another_shape_is_refused_at_its_place(report: Path, key: str, value: Any) -> None:
    document = json.loads(report.read_text())
    document["queries"][0][key] = value
    result = _run("recheck", "-", text=json.dumps(document))
    assert (result.exit_code, f"at queries[0].{key}" in result.output) == (3, True), result.output


@pytest.mark.parametrize(
    ("text", "status"), [("", 3), ("[]", 3), ('{"queries": 3}', 3), ('{"queries": []}', 2), ("\udcff", 3)]
)
def test_what_is_no_report_is_refused(report: Path, text: str, status: int) -> None:
    Path("other.json").write_bytes(text.encode(errors="surrogateescape"))
    result = _run("recheck", "other.json")
    assert result.exit_code == status
    assert "Traceback" not in result.output


def test_a_report_that_cannot_be_read_is_not_one_of_another_form(report: Path) -> None:
    result = _run("recheck", "nowhere.json")
    assert (result.exit_code, "nowhere.json: cannot read the file: No such file" in result.output) == (3, True)
    result = _run("recheck", ".")
    assert (result.exit_code, "cannot read the file: Is a directory" in result.output) == (3, True)


# --- shapes -----------------------------------------------------------------------------------------------------------


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [longer for key, member in members for longer in _paths(member, (*path, key))]


def test_a_certificate_of_another_shape_is_rejected_not_a_crash() -> None:
    decision = decided(
        "SELECT T.a, T.b FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 3 AND T.a < S.a AND T.a < 9 AND S.a > 1"
        " AND T.a = T.b", PLAIN)  # fmt: skip
    found = bound(decision.derivation.split)
    assert found is not None
    text = json.dumps(plain(found, distinct=False))
    assert not faults(decision.derivation.split, json.loads(text))
    for path in _paths(json.loads(text)):
        for wrong in ("x", -1, None, [], {}, [3], True):
            document = json.loads(text)
            place = document
            for key in path[:-1]:
                place = place[key]
            if place[path[-1]] == wrong and type(place[path[-1]]) is type(wrong):
                continue
            place[path[-1]] = wrong
            reasons = faults(decision.derivation.split, document)
            assert isinstance(reasons, tuple)
            weaker = path[-1] in ("name", "bytes", "value", "bytes_per_entry", "saturates") or "equal" in path
            assert reasons or weaker or wrong in (None, []), (path, wrong)


@pytest.mark.parametrize(
    "text", ["", "c_S +", "c_T", "c_S ** 2", "print(1)", "min(3)", "'a'", "c_S if 1 else 2", "1.5"]
)
def test_no_formula(text: str) -> None:
    from streambound.recheck.certificates.claims import RejectedError

    with pytest.raises(RejectedError):
        evaluate(text, {"c_S": 3})


def test_formulas() -> None:
    assert evaluate("2*c_S + max(0, max_R_a - min_R_a + 1)", {"c_S": 3, "max_R_a": 4, "min_R_a": -2}) == 13
    assert evaluate("min(3, c_S)*(c_S + 1)", {"c_S": 2}) == 6


# --- the closure ------------------------------------------------------------------------------------------------------


def test_distances_are_those_of_brute_force() -> None:
    """Every bound is attained by a solution and exceeded by none; without a bound, differences grow beyond any path."""
    choose, satisfiable = random.Random(0), 0
    for _ in range(400):
        edges = [(*choose.sample("xyz", 2), choose.randint(-2, 3), False) for _ in range(choose.randint(1, 6))]
        every = ({"x": 0, "y": y, "z": z} for y, z in product(range(-9, 10), repeat=2))
        solutions = [v for v in every if all(v[x] - v[y] <= c for x, y, c, _ in edges)]
        try:
            distances = Distances(edges)
            bounds = {(x, y): distances.bound(x, y) for x, y in product("xyz", repeat=2)}
        except ContradictionError:
            assert not solutions
            continue
        satisfiable += 1
        for (x, y), found in bounds.items():
            greatest = max(v[x] - v[y] for v in solutions)
            assert found == (greatest, 0) if found is not None else greatest > 6
    assert satisfiable > 100


def test_dense_distances_keep_strictness() -> None:
    distances = Distances([("x", "y", 0, True), ("y", "z", 0, True), ("z", "w", 1, False)])
    assert distances.bound("x", "z") == (0, -1)
    assert distances.bound("x", "w") == (1, -1)
    assert distances.implies("x", "w", 1)
    assert not distances.implies("z", "w", 1, strict=True)
    with pytest.raises(ContradictionError):
        Distances([("x", "y", 0, True), ("y", "x", 0, False)]).bound("x", "y")


def test_values_that_constants_fix_link_nothing() -> None:
    """``U.b <= S.b`` follows from what each of the two is, so that either has its own best tuple."""
    sql = (
        "SELECT DISTINCT 1 AS one FROM S, T, U, V WHERE T.ts > S.ts AND T.ts > U.ts AND V.ts > S.ts AND V.ts > U.ts"
        " AND S.a < T.a AND U.b < V.b AND S.b = 1 AND U.b <= S.b"
    )
    decision = decided(sql, streams("S T U V", a="bigint", b="bigint"))
    found = bound(decision.derivation.split)
    assert found is not None
    assert any(len(table.layout.extrema) == 2 for table in found.tables)
    assert not rejections(decision, found)


def test_values_of_a_list_moved_by_an_offset_are_no_wider_than_integers() -> None:
    """``U.b = V.b - 1`` follows from the list of U.b, and V.b = 2: an entry holds a digit of each."""
    sql = "SELECT U.b, V.b FROM S, U, V WHERE S.ts > U.ts AND S.ts > V.ts AND 0 < V.b AND V.b < 3 AND V.b > U.b"
    decision = decided(sql, with_domain(streams("S U V"), "U", "b", [1, 2, 4]))
    found = bound(decision.derivation.split)
    assert found is not None
    assert not rejections(decision, found)


# --- what a report says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "formula", "value", "tier"),
    [
        ("", "10*c_T", 10**9, "constant"),  # nothing says how many tuples share a timestamp
        ("", "10*c_T", 10**9, "rate-window"),
        ("", "10*c_T", None, "constant"),
        ("", "min(10*c_T, 20000000)", 20_000_000, "constant"),
        ("", "min(10*c_T, 20000000)", 20_000_000, "rate-window"),
        ("", f"min(10*c_T, {10**300})", 10**300, "constant"),
        ("", f"10*c_T - max(0, c_T - {10**300})", None, "rate-window"),
        ("max_per_timestamp = 3,", "10*c_T", 29, "rate-window"),
        ("max_per_timestamp = 3,", "10*c_T", 31, "rate-window"),
        ("max_per_timestamp = 3,", "10*c_T", None, "rate-window"),
        ("max_per_timestamp = 3,", "10*c_T", 30, "constant"),
    ],
)
def test_what_no_certificate_proves(report: Path, rate: str, formula: str, value: int | None, tier: str) -> None:
    """Numbers, formulas and tier are worked out from the query and the catalog, wherever the report says them."""
    Path("streams.toml").write_text(CATALOG.replace('T = { timestamp = "ts",', f'T = {{ timestamp = "ts", {rate}'))
    Path("q.sql").write_text("SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 10")
    text = _run("check", "q.sql", "--format", "json").output
    assert _run("recheck", "-", text=text).exit_code == 0
    document = json.loads(text)
    item = document["queries"][0]
    assert item["tier"] == "rate-window"
    table = item["certificate"]["branches"][0]["tables"][0]
    assert table["entries"]["formula"] == "10*c_T"
    old = item["bound"]["entries"]
    for amount in (table["entries"], item["certificate"]["entries"]):
        amount["formula"], amount["value"] = formula, value
    table["count"]["size"] = formula
    item["bound"] = {"entries": value, "formula": formula}
    item["tier"] = tier
    for amount in (table["bytes"], item["certificate"]["bytes"]):
        each = table["bytes_per_entry"]
        if formula != "10*c_T":
            amount["formula"] = f"{each}*({formula})"
        if value != old:
            amount["value"] = None if value is None else each * value
    result = _run("recheck", "-", text=json.dumps(document))
    assert (result.exit_code, "rejected" in result.output) == (1, True), result.output
