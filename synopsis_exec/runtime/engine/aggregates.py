"""The values of aggregates as SQL: of a group's sums, or of the values that it keeps, encoded."""

from __future__ import annotations

from collections.abc import Sequence

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.tables import BIGINT, DOUBLE, listed
from streambound_runtime.operators.circuit_plan import GroupValue

PERCENTILES = ("median", "percentile", "percentile_cont", "percentile_disc")


def of_sums(value: GroupValue, number: str, total: str, squares: str, type: str, exact: bool = False) -> str:
    """An aggregate of a number of values, their total and that of their squares; NULL where there are none.

    ``exact`` says that these are exact sums of doubles.
    """
    if value.function == "count":
        return _fitting(value, number, BIGINT)
    some = _of_doubles(value, number, total, squares) if exact else _of_some(value, number, total, squares, type)
    return f"CASE WHEN {number} <> 0 THEN {some} END"


def _of_doubles(value: GroupValue, number: str, total: str, squares: str) -> str:
    if value.function in ("sum", "avg"):
        return f"exact_quotient({total}, {1 if value.function == 'sum' else number})"
    spread = f"exact_variance({number}, {total}, {squares}, {_divisor_less(value)})"
    return f"sqrt({spread})" if value.function.startswith("stddev") else spread


def _divisor_less(value: GroupValue) -> int:
    """The difference between the number of values and a variance's divisor: 0 or 1."""
    return 1 if value.function.endswith("samp") else 0


def _of_some(value: GroupValue, number: str, total: str, squares: str, type: str) -> str:
    kind = sql_type(value.type)
    if value.function == "sum":
        return f"CAST({total} AS {DOUBLE})" if kind.family == "float" else _fitting(value, total, type)
    if value.function == "avg" and kind.family == "decimal":
        return _quotient(f"({total}) * {10 ** (kind.scale - value.places)}", number, type)
    if value.function == "avg":
        return f"CAST({total} AS {DOUBLE}) / {number}" + (f" / 1e{value.places}" if value.places else "")
    least = _divisor_less(value)
    spread = f"{number} * ({squares}) - ({total}) * ({total})"
    spread = f"CAST({spread} AS {DOUBLE}) / {number} / ({number} - {least})"
    spread += f" / 1e{2 * value.places}" if value.places else ""
    spread = f"sqrt({spread})" if value.function.startswith("stddev") else spread
    return f"CASE WHEN {number} > {least} THEN {spread} END"


def _fitting(value: GroupValue, total: str, type: str) -> str:
    """A sum, or a number of rows, or an error where it does not fit its type."""
    kind = sql_type(value.type)
    most = 10**kind.digits - 1 if kind.family == "decimal" else 2 ** (kind.bits - 1) - 1
    least = -most if kind.family == "decimal" else -most - 1
    words = f"the {value.function} does not fit {value.type}"
    within = f"({total}) BETWEEN {least} AND {most}"
    return f"CASE WHEN {within} THEN CAST({total} AS {type}) ELSE CAST(error('{words}') AS {type}) END"


def _quotient(dividend: str, divisor: str, type: str) -> str:
    """The nearest integer to a quotient, halves away from zero (HALF_UP)."""
    half_up = f"(2 * abs({dividend}) + {divisor}) // (2 * {divisor})"
    return f"CAST(sign({dividend}) * ({half_up}) AS {type})"


def of_kept_values(
    value: GroupValue, type: str, argument: str, kept: str, keys: Sequence[str], beside: bool = False
) -> str:
    """An aggregate ``value`` of a group's values, as a query with its keys: of a table of values ``v``, ``w`` times.

    An array is in the order of what is ``beside`` a value in ``v``, if there is something.
    """
    key = ", ".join(keys)
    by_key = f" GROUP BY {key}" if key else ""
    if value.function in PERCENTILES:
        return _percentile(value, kept, keys)
    match value.function:
        case "count":
            found = "count(v)"
        case "min" | "max":
            found = f"{value.function}(v)"
        case "mode":
            found = f"first(v ORDER BY w DESC, v {'DESC' if value.descending else 'ASC'})"
        case "array_agg":
            order, one = "DESC" if value.descending else "ASC", "v.y" if beside else "v"
            by = f"v.n {order}, v.x {order}, v.y" if beside else f"v {order}"
            each = one if value.distinct else f"list_resize([{one}], CAST(w AS {BIGINT}), {one})"
            every = f"list({each} ORDER BY {by})"
            found = f"CAST(to_json({every if value.distinct else f'flatten({every})'}) AS {type})"
        case _:
            exact = argument == DOUBLE
            total = "exact_sum(list(v), list(1))" if exact else "sum(v)"
            found = of_sums(value, "count(v)", total, "0", type, exact)
    return f"SELECT {listed(key, f'{found} AS value')} FROM {kept}{by_key}"


def _percentile(value: GroupValue, kept: str, keys: Sequence[str]) -> str:
    """The value at a place in the order, or what is between the two at both sides of it, in doubles as Spark has it."""
    key = ", ".join(keys)
    by_key = f" GROUP BY {key}" if key else ""
    weight = "1" if value.distinct else "w"
    partition = f"PARTITION BY {key} " if key else ""
    order = "ORDER BY v DESC" if value.descending else "ORDER BY v"
    upto = f"sum({weight}) OVER ({partition}{order} ROWS UNBOUNDED PRECEDING)"
    total = f"sum({weight}) OVER ({partition.strip()})"
    ranked = f"SELECT {listed(key, 'v')}, CAST({upto} AS DOUBLE) AS upto, CAST({total} AS DOUBLE) AS total FROM {kept}"
    ranked = f"SELECT *, (total - 1) * {value.part!r} AS place FROM ({ranked})"
    scale = f" / 1e{value.places}" if value.places else ""

    def at(condition: str) -> str:
        return f"CAST(arg_min(v, upto) FILTER (WHERE {condition}) AS {DOUBLE}){scale}"

    if value.function == "percentile_disc":
        return f"SELECT {listed(key, at(f'upto >= total * {value.part!r}') + ' AS value')} FROM ({ranked}){by_key}"
    below, above, part = at("upto > floor(place)"), at("upto > ceil(place)"), "max(place - floor(place))"
    ends = f"SELECT {listed(key, f'{below} AS below', f'{above} AS above', f'{part} AS part')} FROM ({ranked}){by_key}"
    between = "CASE WHEN below = above THEN below ELSE below + (above - below) * part END"
    return f"SELECT {listed(key, f'{between} AS value')} FROM ({ends})"
