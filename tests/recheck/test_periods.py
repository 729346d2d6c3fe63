"""Certificates of SEQ statements over streams, checked again: of random statements, and changed ones."""

from __future__ import annotations

import random
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from streambound.cli import main
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.validate import Proof
from streambound.recheck.derivation.claims import NotCheckedError
from support.circuits import certificate_of, checked_circuit, proof_of
from support.period_streams import drawn
from support.profiles import MORE


def proved(sql: str, catalog: dict[str, Any]) -> tuple[dict[str, Any], Proof] | None:
    """The certificate of a bounded statement over streams, and what it proves; None where it is no such one."""
    checked = checked_circuit(sql, catalog)
    if checked.circuit is None or checked.verdict is not Verdict.BOUNDED:
        return None
    certificate = certificate_of(checked)
    found = proof_of(checked, certificate)
    assert found.entries is None or found.entries.most == checked.circuit_bound.entries.value
    return certificate, found


@pytest.mark.parametrize("seed", range(15 * MORE))
def test_certificates_of_random_statements_hold(seed: int) -> None:
    sql, catalog = drawn(seed)
    found = proved(sql, catalog)
    if found is not None:
        assert found[1].faults == (), (sql, catalog)


def test_the_sample_says_something() -> None:
    """Half of the statements are bounded, and their states are of every proposition."""
    found = [one for one in (proved(*drawn(seed)) for seed in range(0, 120, 2)) if one is not None]
    assert len(found) > 30
    told = Counter(state["proposition"] for certificate, _ in found for state in certificate["states"])
    assert {"P2", "P3", "P4"} <= told.keys()
    assert min(told.values()) > 5


RANDOM = [
    "SELECT * FROM a",
    "SELECT h, j FROM b WHERE h > 'x'",
    "SELECT n, k, h FROM a JOIN b ON k = j",
    "SELECT * FROM a LEFT JOIN b ON k = j AND n <> h",
    "SELECT * FROM a RIGHT JOIN b ON k < j WHERE n = 'x'",
    "SELECT * FROM a FULL JOIN b ON k = j",
    "SELECT * FROM a LEFT ANTI JOIN b ON k = j",
    "SELECT x.n AS n1, x.k AS k1, y.n AS n2, y.k AS k2 FROM a AS x JOIN a AS y ON x.k = y.k",
]
OF_SEVERAL = [
    "SELECT n, k + 1 AS more FROM a UNION SELECT 'x', j FROM b",
    "SELECT k FROM a EXCEPT SELECT j FROM b",
    "SELECT n, k FROM a WHERE k IN (SELECT j FROM b) INTERSECT SELECT h, j FROM b",
    "SELECT k FROM a",
    "SELECT n, h FROM a JOIN b ON k = j",
    "SELECT q.n, y.h FROM (SELECT * FROM a LEFT ANTI JOIN b ON k = j) AS q FULL JOIN b AS y ON q.k < y.j",
    "SELECT x.n, q.h FROM a AS x RIGHT JOIN (SELECT h, k FROM a LEFT JOIN b ON k = j WHERE n = 'x') AS q ON x.k = q.k",
]
"""Statements whose rows may come of several."""


@pytest.mark.parametrize("sql", [*RANDOM, *OF_SEVERAL])
@pytest.mark.parametrize("static", ["", "b"])
@pytest.mark.parametrize("emit", ["final", "fragments", "parts"])
def test_certificates_of_rows_with_lineages_hold(sql: str, static: str, emit: str) -> None:
    own = {"id": "bigint", "p": "double", "vb": "bigint", "ve": "bigint"}
    rows: dict[str, Any] = {"period": ["vb", "ve"], "key": "id", "probability": "p", "domain": {"id": [1, 2, 3]}}
    tables = {"a": {"n": "string", "k": "int"}, "b": {"h": "string", "j": "int"}}
    given: dict[str, Any] = {name: {"columns": {**kinds, **own}, **rows} for name, kinds in tables.items()}
    streams = {name: {**one, "timestamp": "vb", "max_valid": 9} for name, one in given.items() if name != static}
    catalog = {"streams": streams, "relations": {static: given[static]} if static else {}}
    found = proved(f"-- streambound: emit {emit}\nSEQ TP ({sql})", catalog)
    assert found is None or found[1].faults == (), found
    outer = sql in OF_SEVERAL or any(word in sql for word in ("LEFT", "RIGHT", "FULL"))
    assert (found is None) == ((emit == "parts" and outer) or (static == "b" and "FROM a" not in sql))


def change(certificate: Any, rng: random.Random) -> Any:
    """The certificate with one thing changed that matters: a size, a state, what it is about, or M."""
    found = deepcopy(certificate)
    state = rng.choice(found["states"])
    match rng.randrange(6):
        case 0:
            found["states"].remove(state)
        case 1:
            state["entries"]["formula"] += " - 1"
        case 2:
            found["entries"]["formula"] = f"2*({found['entries']['formula']}) + 1"
        case 3:
            state["proposition"] = {"P2": "P3", "P3": "P4", "P4": "P2"}[state["proposition"]]
        case 4:
            state["keys"] = [*state["keys"], "another"]
        case 5:
            state["entries"]["value"] = (state["entries"]["value"] or 0) + 1
    return found


@pytest.mark.parametrize("seed", range(0, 30 * MORE, 3))
def test_changed_certificates_are_rejected(seed: int) -> None:
    sql, catalog = drawn(seed)
    checked = checked_circuit(sql, catalog)
    if checked.circuit is None or checked.verdict is not Verdict.BOUNDED or not checked.circuit.states:
        pytest.skip("no states")
    rng = random.Random(seed)
    for _ in range(5):
        wrong = change(certificate_of(checked), rng)
        try:
            assert proof_of(checked, wrong).faults, (sql, wrong)
        except NotCheckedError:
            assert " x" in sql, "only what is computed is not known"


@pytest.mark.parametrize(
    ("where", "values"),
    [
        ("t = 'x'", 1),
        ("t < 'y'", 1),
        ("t >= 'y'", 3),
        ("t IS NULL", 1),
        ("t IN ('x', 'q')", 1),
        ("1 = 1", 4),
        ("d = 1", 4),
        ("n > 3", 4),
    ],
)
def test_comparisons_limit_values(where: str, values: int) -> None:
    own = {"t": "string", "d": "double", "n": "int", "vb": "bigint", "ve": "bigint"}
    stream = {"timestamp": "vb", "columns": own, "period": ["vb", "ve"], "domain": {"t": {"values": ["x", "y", "z"]}}}
    found = proved(f"SEQ VT (SELECT DISTINCT t FROM S WHERE {where})", {"streams": {"S": stream}})
    assert found is not None
    assert found[1].faults == ()
    assert found[1].entries is not None
    assert found[1].entries.constant == 2 * values, "the latest ends, and the open rows"


def test_another_declaration_is_another_bound() -> None:
    """What was proved of some promises is not of others."""
    own = {"name": "string", "n": "bigint", "vb": "bigint", "ve": "bigint"}

    def checked(**more: Any) -> Any:
        stream = {"timestamp": "vb", "columns": own, "period": ["vb", "ve"], **more}
        return checked_circuit("SEQ VT (SELECT name, COUNT(*) AS c FROM S GROUP BY name)", {"streams": {"S": stream}})

    certificate = certificate_of(checked(max_valid=3))
    assert proof_of(checked(max_valid=3), certificate).faults == ()
    assert proof_of(checked(max_valid=4), certificate).faults
    assert proof_of(checked(), certificate).faults


def test_of_relations_alone_nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a statement has no certificate; another number than 0 is not accepted."""
    monkeypatch.chdir(tmp_path)
    table = 'columns = { name = "string", vb = "bigint", ve = "bigint" }\nperiod = ["vb", "ve"]\n'
    Path("streams.toml").write_text(f"[time]\ndomain = [0, 24]\n[relations.works]\n{table}")
    Path("q.sql").write_text("SEQ VT (SELECT COUNT(*) AS n FROM works)")
    report = CliRunner().invoke(main, ["check", "q.sql", "--format", "json"]).stdout
    assert CliRunner().invoke(main, ["recheck", "-"], input=report).exit_code == 0
    more = report.replace('"entries": 0', '"entries": 1')
    assert more != report
    assert CliRunner().invoke(main, ["recheck", "-"], input=more).exit_code == 1
    Path("streams.toml").write_text(f'[streams.works]\ntimestamp = "vb"\n{table}')
    assert "it has no certificate" in CliRunner().invoke(main, ["recheck", "-"], input=report).stdout


@pytest.mark.parametrize(
    ("sql", "entries"),
    [
        ("SELECT d FROM S WHERE false", 0),
        ("SELECT DISTINCT n FROM S WHERE n < 3 AND n > 5", 0),
        ("SELECT n, COUNT(*) AS c FROM S WHERE n = 1 AND n = 2 GROUP BY n", 0),
        ("SELECT COUNT(*) AS c, MAX(d) AS m FROM S WHERE n < 3 AND n > 5", 1),
    ],
)
def test_nothing_is_kept_of_rows_that_no_condition_lets_pass(sql: str, entries: int) -> None:
    own = {"d": "double", "n": "int", "vb": "bigint", "ve": "bigint"}
    stream = {"timestamp": "vb", "columns": own, "period": ["vb", "ve"]}
    found = proved(f"SEQ VT ({sql})", {"time": {"domain": [0]}, "streams": {"S": stream}})
    assert found is not None
    assert found[1].faults == ()
    assert found[1].entries is not None
    assert found[1].entries.constant == entries
