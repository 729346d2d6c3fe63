"""Statements beyond joins alone: verdict and M of each, and its job on random rows, as batch SQL has them.

`tests/cases/statements/` has them by what the catalog says of the streams S and T; each is followed by its verdict,
and by M. A bounded one's certificate is checked, and that no smaller state is accepted; its job is restarted, and
prints what the reference evaluator says of each prefix, and DuckDB of all rows, within M.
Rows with timestamps come once more an hour later, and no more is kept then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import sqlglot

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.criteria.check import Checked
from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.oracle.newest_row import with_newest
from streambound.synopsis_exec import simulate
from streambound_runtime.engine.loop import Engine
from streambound_runtime.operators.delta import Delta
from support.cases import Judged, read_judged
from support.circuits import (
    certificate_of,
    checked_circuit,
    in_duckdb,
    in_the_end,
    proof_of,
    random_ends,
    random_rows,
    reference,
    run_circuit,
    with_smaller_states,
)
from support.profiles import MORE

SECOND, HOUR = 1_000_000, 3_600_000_000
MOST_SEEDS = 40
"""Random rows that are tried until something is printed."""
ONLY_REFERENCE = "not in DuckDB: "
NOT_PROVED = "recheck cannot follow: "


def summary(checked: Checked) -> str:
    """The verdict, and M of what is bounded."""
    if checked.verdict != "bounded":
        return str(checked.verdict)
    assert checked.circuit_bound is not None
    entries = checked.circuit_bound.entries
    return f"bounded: {entries.text if entries.value is None else entries.value}"


class Restarted(Engine):
    """A circuit that is saved and loaded before its second step, and every fourth one from there."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.arguments, self.steps = arguments, 0

    def step(self, *arguments: Any, **more: Any) -> Delta:
        if self.steps % 4 == 1:
            state = self.dump()
            Engine.__init__(self, *self.arguments)
            self.load(state)
        self.steps += 1
        return super().step(*arguments, **more)


def is_accepted(checked: Checked, certificate: Mapping[str, Any]) -> bool:
    """Whether `recheck` accepts a certificate."""
    try:
        return not proof_of(checked, certificate).faults
    except NotCheckedError:
        return False


@pytest.mark.parametrize("case", read_judged("statements"), ids=str)
def test_a_statement(case: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    given, (sql,) = case.declared, case.texts
    checked = checked_circuit(sql, given)
    assert summary(checked) == case.expected, checked.diagnostics
    if checked.verdict != "bounded":
        return
    certificate = certificate_of(checked)
    assert is_accepted(checked, certificate) is not case.notes_say(NOT_PROVED)
    assert not any(is_accepted(checked, smaller) for smaller in with_smaller_states(certificate))
    assert checked.circuit_bound is not None
    most = checked.circuit_bound.entries.value
    is_timestamp = given["streams"]["S"]["columns"]["ts"] == "timestamp"
    monkeypatch.setattr(simulate, "Engine", Restarted)
    printed = 0
    for seed in range(MOST_SEEDS * MORE):
        rows = random_rows(SECOND if is_timestamp else 1, seed, 25 if seed < 3 else 8)  # few, where many let none pass
        ticks = random_ends(sorted({row["ts"] for mine in rows.values() for row in mine}), 3 if seed < 3 else 12)
        if is_timestamp:
            rows = {name: [{**row, "ts": row["ts"] + n * HOUR} for n in (0, 1) for row in rows[name]] for name in rows}
            ticks += [tick + HOUR for tick in ticks]
        wanted = reference(sql, given, rows, ticks)
        if not wanted:
            continue
        run = run_circuit(checked, rows, ticks=ticks)
        assert run.prints(wanted), seed
        if is_timestamp:
            assert run.peak_within(HOUR, ticks[-1] + 1) <= run.peak_within(0, HOUR) + 1, "what has closed is kept"
        elif not case.notes_say(ONLY_REFERENCE):
            batch = with_newest(sqlglot.parse_one(sql, dialect="spark"), catalog_from_mapping(given))
            assert in_the_end(run.printed) == in_duckdb(batch.sql("duckdb"), rows), seed
        assert most is not None and run.peak <= most
        printed += len(run.printed)
        if printed and seed + 1 >= MORE:
            return
    raise AssertionError("nothing is printed")
