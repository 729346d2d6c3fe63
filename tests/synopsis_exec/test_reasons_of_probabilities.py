"""A row whose probability is none has one reason, also where it is NaN."""

from __future__ import annotations

from math import nan

import pyarrow as pa
import pytest

from streambound_runtime.decoding.contracts import broken, broken_periods
from streambound_runtime.promises import PeriodContract
from streambound_runtime.spec import Relation, TableColumn

PERIOD = PeriodContract("vb", "ve", None, None, variable="id", probability="p", certain=1)
P, OTHER = TableColumn("p", "double"), TableColumn("x", "double")


@pytest.mark.parametrize(
    ("p", "bad"), [(nan, True), (None, True), (0.0, True), (1.5, True), (1.0, False), (0.25, False)]
)
def test_a_probability_that_is_none_is_called_so(p: float | None, bad: bool) -> None:
    columns = {"vb": pa.array([1]), "ve": pa.array([2]), "id": pa.array([1]), "p": pa.array([p], pa.float64())}
    told = {reason for reason, *_, rows in broken_periods(PERIOD, columns) if rows.any()}
    assert told == ({"probability"} if bad else set())
    table = Relation("r", (P, OTHER), ("p", "x"), None, None, False, period=PERIOD)
    assert not any(rows.any() for _, rows in broken(table, P, columns["p"]))


def test_other_numbers_are_still_no_numbers() -> None:
    table = Relation("r", (P, OTHER), ("p", "x"), None, None, False, period=PERIOD)
    told = {reason for reason, rows in broken(table, OTHER, pa.array([nan])) if rows.any()}
    assert told == {"not-a-number"}
