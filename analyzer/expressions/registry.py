"""Every operator and function that is known, and those that no row has a value of by itself."""

from __future__ import annotations

from streambound.analyzer.expressions.arithmetic import ARITHMETIC
from streambound.analyzer.expressions.choices import CHOICES, COMPARISONS, CONDITIONS
from streambound.analyzer.expressions.dialect import AGGREGATES
from streambound.analyzer.expressions.elements import ELEMENTS
from streambound.analyzer.expressions.function import Function
from streambound.analyzer.expressions.other_functions import OTHER_FUNCTIONS
from streambound.analyzer.expressions.texts import TEXTS
from streambound.analyzer.expressions.times import TIMES
from streambound.analyzer.toml_reader import suggest

FUNCTIONS = (*ARITHMETIC, *COMPARISONS, *CONDITIONS, *CHOICES, *TEXTS, *TIMES, *ELEMENTS)
"""All of them; a function that is in no list can be a condition, and nothing else."""

BY_NAME: dict[str, Function] = {function.name: function for function in FUNCTIONS}

_OTHER_VALUE = frozenset({
    "rand", "random", "randn", "randstr", "uuid", "shuffle", "current_timestamp", "now", "current_date", "curdate",
    "localtimestamp", "current_time", "current_timezone", "monotonically_increasing_id", "spark_partition_id",
    "input_file_name", "input_file_block_start", "input_file_block_length", "current_user", "user", "session_user",
    "current_catalog", "current_database", "current_schema", "uniform", "version", "java_method", "reflect",
    "try_reflect", "localtime", "current_path",
})  # fmt: skip
_SEVERAL_ROWS = frozenset({
    "explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack", "json_tuple",
    "variant_explode", "variant_explode_outer", "sql_keywords", "range",
    "collations", "python_worker_logs",
})  # fmt: skip
_AGGREGATES = frozenset({
    *map(str.lower, AGGREGATES), "any", "any_value", "bit_and", "bit_or", "bit_xor", "bool_and", "bool_or", "every",
    "some", "collect_list", "collect_set", "count_if", "count_min_sketch", "first", "first_value", "last", "last_value",
    "grouping", "grouping_id", "histogram_numeric", "kurtosis", "skewness", "mean", "median", "mode", "percentile",
    "approx_percentile", "percentile_approx",
    "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy",
    "regr_syy", "std", "try_avg", "try_sum", "listagg", "string_agg", "bitmap_construct_agg", "bitmap_or_agg",
    "hll_sketch_agg", "hll_union_agg",
    "bitmap_and_agg", "collect_union", "counter_diff", "kll_merge_agg_bigint", "kll_merge_agg_double",
    "kll_merge_agg_float", "kll_sketch_agg_bigint", "kll_sketch_agg_double", "kll_sketch_agg_float", "measure",
    "schema_of_variant_agg", "theta_intersection_agg", "theta_sketch_agg", "theta_union_agg",
    "tuple_intersection_agg_double", "tuple_intersection_agg_integer", "tuple_sketch_agg_double",
    "tuple_sketch_agg_integer", "tuple_union_agg_double", "tuple_union_agg_integer", "vector_avg", "vector_sum",
})  # fmt: skip
_WINDOWS = frozenset(
    {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "nth_value"}
)
_ONE_OF_ROWS = "say which row's it is: MAX_BY(x, ts) is the latest one's, MIN_BY(x, ts) the earliest one's"
_ARRAYS = (
    "of a window of time show ARRAY_AGG(x ORDER BY ts), in a GROUP BY of it; or MAX_BY(x, ts), the latest one, and "
    "size(collect_set(x)), how many there are"
)
_INSTEAD = {
    **dict.fromkeys(("collect_list", "collect_set", "array_agg", "listagg", "string_agg"), _ARRAYS),
    **dict.fromkeys(("any_value", "first", "first_value", "last", "last_value"), _ONE_OF_ROWS),
    "approx_count_distinct": "COUNT(DISTINCT x) is exact",
}
_RECENT = (
    "use a column of the stream instead; in WHERE, or ON, compare a stream's timestamp with it: ts > now() - INTERVAL "
    "1 HOUR"
)
_ELSEWHERE = {
    "date_bin": "GROUP BY window(ts, '5 minutes'), and show window.start",
    "split_index": "write split(x, '/')[3]",
    "proctime": "name the stream's time",
    "latest_by_offset": "write MAX_BY(x, ts), by the stream's time",
    "earliest_by_offset": "write MIN_BY(x, ts), by the stream's time",
    "topk": "number the rows in a subquery, ROW_NUMBER() OVER (PARTITION BY … ORDER BY x DESC) AS n, and WHERE n <= 3",
    "histogram": "count each value by itself: GROUP BY x, too, and COUNT(*)",
}
"""What to write instead of functions that other systems have."""
_BUCKETS = frozenset({"window", "session_window", "window_time"})


def is_aggregate(name: str) -> bool:
    """Whether a function, by its name in small letters, makes one value of several rows."""
    return name in _AGGREGATES and name not in _WINDOWS


def is_of_spark(name: str) -> bool:
    """Whether SQL has a function of that name, in small letters."""
    of_rows = (BY_NAME, OTHER_FUNCTIONS, _OTHER_VALUE, _SEVERAL_ROWS, _AGGREGATES, _WINDOWS, _BUCKETS, _ELSEWHERE)
    return any(name in names for names in of_rows)


def is_elsewhere(name: str) -> bool:
    """Whether another system has a function of that name, in small letters, and SQL says it otherwise."""
    return name in _ELSEWHERE


def refusal(name: str, shown: str) -> tuple[str, str] | None:
    """Why a function, shown as it is written, gives no value of a row, and what to do instead; None where it may."""
    if name in _OTHER_VALUE:
        message = f"{shown} gives another value whenever it is evaluated, so the results would not follow from the rows"
        return message, _RECENT if name in ("now", "current_timestamp") else "use a column of the stream instead"
    if name in _SEVERAL_ROWS:
        return (
            f"{shown} makes several rows of one, which is outside the query language here",
            "write it in LATERAL VIEW, which explode, posexplode, inline and stack may stand in",
        )
    if name in _AGGREGATES:
        help = _INSTEAD.get(name, "aggregate the job's output downstream")
        return f"the aggregate {shown} is outside the query language", help
    if name in _WINDOWS:
        return f"the window function {shown} has no OVER", f"write {shown.upper()}(…) OVER (PARTITION BY … ORDER BY …)"
    if name in _BUCKETS:
        message = f"{shown} inside a condition or an expression is outside the query language"
        return message, f"name it in a subquery, (SELECT *, {shown}(…) AS w FROM …), and compare w, w.start or w.end"
    if name in _ELSEWHERE:
        return f"{shown} is outside the query language", _ELSEWHERE[name]
    if not is_of_spark(name):
        help = suggest(name, [*BY_NAME, *OTHER_FUNCTIONS]) or "declare a function of your own under [functions]"
        return f"Spark has no function {shown}", help
    return None
