"""Expressions for each operator and function that is known, over columns of every type."""

from __future__ import annotations

COLUMNS = {
    "t": "tinyint", "i": "int", "l": "bigint", "d": "decimal(9,2)", "g": "decimal(20,10)", "x": "double", "f": "float",
    "c": "string", "e": "string", "b": "boolean", "da": "date", "ts": "timestamp", "ar": "array<int>",
    "m": "map<string,bigint>", "st": "struct<x:int,y:string>",
}  # fmt: skip

ROWS = (
    "1, 7, 40, 1.25, 1.5, 0.5, 0.25, 'Spark', 'a', true, '2024-02-29', '2024-02-29 23:59:58.25', array(1,2), "
    "map('a', 1L), named_struct('x', 1, 'y', 'z')",
    "-3, -7, -41, -2.35, -0.0000000005, -2.5, -1.5, ' a b ', ' ', false, '1969-12-31', '1969-12-31 12:30:01', "
    "array(3), map('b', 2L), named_struct('x', 2, 'y', 'q')",
    "0, 0, 0, 0, 0, 0, 0, '', '', NULL, '1970-01-01', '1970-01-01 00:00:00', array(7), map(), NULL",
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
    "127, 2147483647, 9223372036854775807, 9999999.99, 9999999999.9999999999, 1e10, 3.5, 'a,b,c', ',', true, "
    "'2026-01-04', '2026-01-04 05:06:07', array(9, NULL), map('a', NULL), named_struct('x', NULL, 'y', NULL)",
    "5, 12, 3, 0.05, 3.3333333333, 2.5, 0.1, '12', '1', false, '2000-12-31', '2000-12-31 08:00:00', array(4), "
    "map('c', 3L), named_struct('x', 3, 'y', '')",
)

EXPRESSIONS = """
i + 1; l - i; t + t; t * 2; i * i; d + 1; d + g; d - 0.5; d * 0.908; d * g; g * g; l * 0.5; d / 3; i / 4; l / d; x / 3
x + 1; f + f; f * 2; x * d; i % 10; l % 3; d % 1.5; x % 2; mod(i, 5); i div 4; d div 2; l div 7; pmod(i, 5); pmod(-i, 5)
-i; -d; -x; - (- i); +i; positive(i); negative(d); abs(i); abs(d); abs(x); sign(d); signum(i); floor(x); floor(d)
floor(l); ceil(x); ceil(d); ceiling(g); floor(g); round(d); round(d, 1); round(g, 3); round(x); round(x, 1); round(i)
round(i, -1); bround(d, 1); bround(x); sqrt(abs(l)); sqrt(abs(d)); i & 12; i | 3; i ^ 5; ~i; try_divide(i, i - 7)
try_add(i, 1); try_subtract(t, 1); try_multiply(l, 2); bit_count(i); pow(i, 2); exp(t); ln(x); log(2, 8)
i = 7; i <> 7; i < l; d >= 1.25; x > 0.3; c < 'b'; c = e; da < DATE '2000-01-01'; ts >= TIMESTAMP '2000-01-01 00:00:00'
b = true; i <=> 7; i <=> NULL; c IS DISTINCT FROM 'a'; i IN (1, 7); i IN (1, NULL); c IN ('12', ''); i BETWEEN 1 AND 8
i > 0 AND d > 1; i > 0 OR b; NOT b; NOT (i > 3); b AND NULL; b OR NULL; i IS NULL; i IS NOT NULL; b IS TRUE; b IS FALSE
(i > 3) IS TRUE; b IS NOT TRUE; isnull(c); isnotnull(c); isnan(x); equal_null(i, 7)
CASE WHEN i > 3 THEN 'x' ELSE 'y' END; CASE WHEN i > 3 THEN 1 END; CASE i WHEN 7 THEN 1 WHEN 12 THEN 2.5 ELSE l END
IF(i > 3, i, l); IF(b, 'x', c); coalesce(i, 0); coalesce(c, e, 'q'); coalesce(d, 0); coalesce(t, l); coalesce(d, g)
nvl(c, ''); nvl(i, 1.5); ifnull(d, i); nvl2(c, 1, 2); nullif(i, 7); nullif(c, ''); greatest(i, 3); least(i, l, 0)
greatest(c, 'm'); least(d, 1); greatest(i, x); CASE WHEN i = 0 THEN 0 ELSE 10 / i END
CAST(i AS STRING); CAST(i AS BIGINT); CAST(i AS DOUBLE); CAST(i AS DECIMAL(12,3)); CAST(d AS INT); CAST(d AS STRING)
CAST(x AS INT); CAST(x AS DECIMAL(20,3)); CAST(b AS INT); CAST(b AS STRING); CAST(da AS STRING); CAST(da AS TIMESTAMP)
CAST(ts AS DATE); CAST(t AS BOOLEAN); TRY_CAST(c AS INT); TRY_CAST(l AS INT); TRY_CAST(i AS TINYINT); c :: STRING
CAST(d AS DECIMAL(5,1)); CAST(d AS DOUBLE); bigint(i); string(i)
upper(c); lower(c); ucase(c); lcase(c); trim(c); ltrim(c); rtrim(c); btrim(c); length(c); len(c); char_length(c)
character_length(c); octet_length(c); bit_length(c); upper(i); length(i); length(d); substring(c, 2, 3)
substring(c, -3)
substr(c, 0, 2); substring(c, -7, 4); substring(c FROM 2 FOR 2); substring(c, 2, -1); left(c, 2); right(c, 2)
left(c, -1); right(c, 0); right(c, 20); replace(c, 'a', 'xy'); replace(c, 'a'); replace(c, '', 'x'); lpad(c, 4, 'xy')
rpad(c, 4, 'xy'); lpad(c, 2); rpad(c, 7); lpad(c, 7, ''); repeat(c, 2); repeat(c, 0); reverse(c)
split_part(c, ',', 2); split_part(c, ',', -1); split_part(c, ',', 7); split_part(c, e, 1); substring_index(c, ',', 2)
substring_index(c, ',', -1); instr(c, 'a'); locate('a', c); locate('a', c, 3); position('a' IN c); position('a', c)
locate('', c); initcap(c); translate(c, 'ab', 'x'); startswith(c, 'S'); endswith(c, 'k'); contains(c, 'a')
c LIKE 'S%'; c LIKE '%a%'; c LIKE '_'; c NOT LIKE 'a%'; c ILIKE 'sP%'; c LIKE 'a!%' ESCAPE '!'; c RLIKE 'a.*b'
c RLIKE '^[0-9]+$'; c RLIKE '\\\\d'; regexp_like(c, 'p'); c REGEXP 'k$'; regexp(c, 'a'); regexp_extract(c, '(a),(b)', 2)
regexp_extract(c, '([a-z]+)'); regexp_extract(c, 'x(y)?', 1); regexp_replace(c, '[a-c]', '-'); md5(c); sha(c); sha1(c)
c || e; c || '!' || i; concat(c, i, d); concat(c); concat(da, b); concat_ws('-', c, e, i); concat_ws(',', c)
split(c, ','); ascii(c); hex(i); base64(c); sha2(c, 256); crc32(c); hash(c); xxhash64(i); levenshtein(c, e)
get_json_object(c, '$.a'); format_string('%s', c); soundex(c); regexp_count(c, 'a'); regexp_instr(c, 'a')
year(da); quarter(da); month(da); day(da); dayofmonth(ts); dayofyear(da); weekofyear(da); dayofweek(da); weekday(da)
hour(ts); minute(ts); second(ts); hour(da); year(ts); extract(YEAR FROM ts)
extract(DOW FROM da); extract(SECOND FROM ts)
extract(WEEK FROM da); extract(DOY FROM da); extract(MINUTE FROM ts); date_add(da, 3); date_add(da, i % 10)
date_sub(da, 3); dateadd(da, 2)
datediff(da, DATE '2000-01-01'); datediff(ts, da); date_diff(da, ts); to_date(ts); to_date(da); to_timestamp(da)
last_day(da); trunc(da, 'MM'); trunc(da, 'YEAR'); trunc(da, 'week'); trunc(da, 'quarter'); date_trunc('HOUR', ts)
date_trunc('MONTH', ts); date_trunc('minute', ts); date_trunc('DAY', da); date_trunc('week', ts); unix_timestamp(ts)
to_unix_timestamp(ts); unix_seconds(ts); unix_millis(ts); unix_micros(ts); timestamp_seconds(i); timestamp_millis(i)
timestamp_micros(i); unix_date(da); date_from_unix_date(i % 1000); date_format(ts, 'yyyy-MM'); from_unixtime(i)
add_months(da, 1); months_between(da, ts); next_day(da, 'Mon'); make_date(2020, 1, 1); da + 1
da - 1; da + INTERVAL 2 DAYS
ts + INTERVAL 5 MINUTES; ts - INTERVAL 1 HOUR; da + INTERVAL 1 HOUR; dayname(da); monthname(da)
timestampdiff(HOUR, da, ts); date_add(DAY, 1, ts) IS NULL; datediff(DAY, da, ts)
timestampadd(MICROSECOND, 5, ts); timestampadd(MILLISECOND, -1500, ts); timestampadd(SECOND, i % 100, ts)
timestampadd(MINUTE, 30, ts); dateadd(HOUR, -25, da); date_add(DAY, t, ts); timestampadd(DAYOFYEAR, 3, da)
timestampadd(WEEK, 2, ts); timestampadd(MONTH, 1, ts); timestampadd(MONTH, -13, da); dateadd(MONTH, 12, ts)
timestampadd(QUARTER, 1, ts); timestampadd(YEAR, -1, ts); timestampadd(YEAR, 4, da); date_add(YEAR, 1, ts)
timestampdiff(MICROSECOND, da, ts); timestampdiff(MILLISECOND, ts, da); timediff(SECOND, ts, da)
timestampdiff(MINUTE, ts, TIMESTAMP '2000-12-31 08:01:59.5'); date_diff(DAY, ts, TIMESTAMP '2000-01-01 00:00:00')
datediff(WEEK, ts, TIMESTAMP '1980-01-01 12:00:00'); timestampdiff(MONTH, ts, TIMESTAMP '2000-02-29 23:00:00')
timestampdiff(MONTH, TIMESTAMP '2000-02-29 23:00:00', ts); timestampdiff(QUARTER, ts, da)
timestampdiff(QUARTER, DATE '2025-11-30', ts); timestampdiff(YEAR, ts, DATE '1999-12-31')
timestampdiff(YEAR, TIMESTAMP '2000-02-29 12:00:00', ts); timestampdiff(YEAR, ts, TIMESTAMP '2025-02-28 23:59:59')
size(ar); ar[0] ; try_element_at(ar, 1); m['a']; get(ar, 1); st.x; st.y; array_contains(ar, 1); cardinality(m)
array_join(split(c, ','), '-'); array_max(ar); array_position(ar, 2); map_contains_key(m, 'a'); array_distinct(ar)
split(c, ',')[0]; sort_array(ar)
"""
"""Separated by semicolons and ends of lines."""


def expressions() -> list[str]:
    """All of them."""
    return [text.strip() for line in EXPRESSIONS.splitlines() for text in line.split(";") if text.strip()]
