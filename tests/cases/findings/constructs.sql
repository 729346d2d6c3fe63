-- [streams.S]
-- timestamp = "ts"
-- domain = { k = [1, 9], b = [1, 9] }
-- columns = { k = "bigint", b = "bigint", x = "double", xs = "array<int>", ts = "timestamp" }
-- [streams.T]
-- timestamp = "ts"
-- domain = { k = [1, 9] }
-- columns = { k = "bigint", y = "bigint", ts = "timestamp" }
-- [relations.R]
-- columns = { k = "bigint", c = "bigint" }
-- rows = 10

-- Constructs that are refused, each before what its help says to write.
--

SELECT k, COUNT(*) AS n FROM S GROUP BY k ORDER BY n DESC LIMIT 3
-- bounded

SELECT k, COUNT(*) AS n FROM S GROUP BY k HAVING COUNT(*) > 1 ORDER BY COUNT(*) LIMIT 3
-- bounded

SELECT S.k FROM S ORDER BY S.k, S.b DESC LIMIT 5 OFFSET 2
-- bounded

-- says: LAG(b) OVER (PARTITION BY k ORDER BY ts) AS before
SELECT k, COUNT(*) AS n FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) - ROW_NUMBER() OVER (PARTITION BY k, b ORDER BY ts) AS run FROM S) GROUP BY k, run
-- unknown: SB207 1:167-170 "run", SB201 1:167-170 "run"

SELECT k, run, MAX(b) AS b, COUNT(*) AS n FROM (SELECT k, b, SUM(CASE WHEN b <=> before THEN 0 ELSE 1 END) OVER (PARTITION BY k ORDER BY ts) AS run FROM (SELECT k, b, ts, LAG(b) OVER (PARTITION BY k ORDER BY ts) AS before FROM S)) GROUP BY k, run
-- bounded

-- says: and all of its values in a group are remembered
SELECT k, MEDIAN(x) AS m FROM S GROUP BY k
-- unbounded: SB201 1:18-19 "x"

-- says: ORDER BY is outside the query language
SELECT k, RANK() OVER (PARTITION BY k ORDER BY x) AS r FROM S ORDER BY r
-- unsupported: SB110 1:63-71 "ORDER BY"

SELECT k, ts AS at FROM S WHERE b > 1 UNION ALL SELECT k, ts FROM S ORDER BY at
-- bounded

SELECT k, b AS ts FROM S ORDER BY ts
-- unsupported: SB110 1:26-34 "ORDER BY"

SELECT k, ts FROM S ORDER BY ts DESC
-- unsupported: SB110 1:21-29 "ORDER BY"

SELECT k, ts FROM S ORDER BY ts, k
-- unsupported: SB110 1:21-29 "ORDER BY"

-- says: LIMIT alone is outside the query language
SELECT k, COUNT(*) AS n FROM S GROUP BY k LIMIT 3
-- unsupported: SB110 1:43-48 "LIMIT"

-- says: FETCH alone is outside the query language
SELECT k FROM S FETCH FIRST 5 ROWS ONLY
-- unsupported: SB110 1:17-22 "FETCH"

SELECT COUNT(*) AS n FROM (SELECT k FROM S ORDER BY k LIMIT 3) AS q
-- bounded

-- says: AS OF elsewhere than beside JOIN is outside the query language
SELECT k FROM S FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'
-- unsupported: SB110 1:49-70 "'2024-01-01 00:00:00'"

SELECT k FROM S
-- bounded

-- says: the bound is proved, but it is so large
SELECT S.k FROM S WHERE S.b NOT IN (SELECT T.y FROM T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR) OR S.k NOT IN (SELECT T.y FROM T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR)
-- bounded: SB208 1:110-191 "S.k NOT IN (SELECT T.y FROM T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR)"

-- says: the bound is proved, but it is so large
SELECT S.k, (S.k, 1) IN (SELECT T.k, T.k FROM T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR) AS e FROM S
-- bounded: SB208 1:13-100 "(S.k, 1) IN (SELECT T.k, T.k FROM T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR)"

SELECT S.k, EXISTS (SELECT 1 FROM T WHERE T.k = S.k AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR) AS e FROM S
-- bounded: SB208 1:13-102 "EXISTS (SELECT 1 FROM T WHERE T.k = S.k AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR)"

-- says: this is outside the query language so far: a value that a subquery over a stream has for each row
SELECT k, (SELECT T.y FROM T WHERE T.k = S.k) AS e FROM S
-- unsupported: SB110 1:11-46 "(SELECT T.y FROM T WHERE T.k = S.k)"

SELECT k, (SELECT MAX(T.y) FROM T WHERE T.k = S.k AND T.ts BETWEEN S.ts - INTERVAL 1 HOUR AND S.ts) AS e FROM S
-- bounded: SB208 1:19-99 "MAX(T.y) FROM T WHERE T.k = S.k AND T.ts BETWEEN S.ts - INTERVAL 1 HOUR AND S.ts"

-- says: window inside a condition or an expression is outside the query language
SELECT m.n FROM T JOIN (SELECT window(ts, '1 hour') AS w, COUNT(*) AS n FROM S GROUP BY window(ts, '1 hour')) AS m ON window(T.ts, '1 hour') = m.w
-- unsupported: SB110 1:119-141 "window(T.ts, '1 hour')"

SELECT m.n FROM (SELECT *, window(ts, '1 hour') AS w FROM T) AS t JOIN (SELECT window(ts, '1 hour') AS w, COUNT(*) AS n FROM S GROUP BY window(ts, '1 hour')) AS m ON t.w = m.w
-- bounded

-- says: a and b read each other and have 1 and 2 columns
WITH RECURSIVE a AS (SELECT k FROM R UNION SELECT b.k FROM b), b AS (SELECT a.k, a.k AS l FROM a) SELECT k FROM a
-- unsupported: SB110 1:64-98 "b AS (SELECT a.k, a.k AS l FROM a)"

-- says: STDDEV_SAMP of a double over a window is outside the query language
SELECT k, STDDEV(x) OVER (ORDER BY ts) FROM S
-- unsupported: SB110 1:18-19 "x"

-- says: this is outside the query language so far: the window function BIT_OR
SELECT k, BIT_OR(k) OVER (ORDER BY ts) FROM S
-- unsupported: SB110 1:11-39 "BIT_OR(k) OVER (ORDER BY ts)"

-- says: this is outside the query language so far: SUM with DISTINCT, FILTER or IGNORE NULLS over a window
SELECT k, SUM(DISTINCT b) OVER (PARTITION BY k ORDER BY ts) AS n FROM S
-- unsupported: SB110 1:11-60 "SUM(DISTINCT b) OVER (PARTITION BY k ORDER BY ts)"

-- says: COLLECT_LIST and ARRAY_AGG have no order of their own
SELECT k, ARRAY_AGG(x) FROM S GROUP BY k
-- unsupported: SB110 1:11-23 "ARRAY_AGG(x)"

-- says: ANY and ALL with a subquery over streams are outside the query language
SELECT k FROM S WHERE k = ANY (SELECT k FROM T)
-- unsupported: SB110 1:39-47 "k FROM T"

SELECT k FROM S WHERE k IN (SELECT k FROM T)
-- bounded

-- says: nothing says how many rows UNNEST(S.xs) makes of one at most
SELECT S.k FROM S, UNNEST(S.xs) AS u(e)
-- unsupported: SB110 1:20-32 "UNNEST(S.xs)"

-- says: ASOF JOIN is outside the query language
SELECT * FROM S ASOF JOIN T ON S.k = T.k AND S.ts >= T.ts
-- unsupported: SB110 1:17-21 "ASOF"

SELECT S.k, T.y FROM S ASOF JOIN T ON S.k = T.k AND S.ts >= T.ts
-- bounded

-- says: LATERAL in FROM is outside the query language
SELECT S.k, n FROM S CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM T WHERE T.k = S.k AND T.ts <= S.ts) AS q
-- unsupported: SB110 1:33-108 "LATERAL (SELECT COUNT(*) AS n FROM T WHERE T.k = S.k AND T.ts <= S.ts) AS q"

SELECT t.k, (SELECT COUNT(*) FROM T AS u WHERE u.k = t.k AND u.ts <= t.ts) AS n FROM T AS t
-- bounded

-- says: DISTINCT ON without an order of its own is outside the query language
SELECT DISTINCT ON (k) k, b FROM S
-- unsupported: SB110 1:21-22 "k"

SELECT DISTINCT ON (k) k, b FROM S ORDER BY k, ts DESC
-- bounded

-- says: TABLESAMPLE is outside the query language
SELECT k FROM S TABLESAMPLE (10 PERCENT)
-- unsupported: SB110 1:17-28 "TABLESAMPLE"

SELECT k FROM S WHERE pmod(hash(k), 10) = 0
-- bounded

-- says: SORT BY is outside the query language
SELECT (SELECT MAX(c) FROM R SORT BY 1) AS m, k FROM S
-- unsupported: SB110 1:30-37 "SORT BY"

-- says: CLUSTER BY is outside the query language
SELECT k FROM S CLUSTER BY k
-- unsupported: SB110 1:17-27 "CLUSTER BY"

SELECT k FROM S
-- bounded

-- says: EMIT is outside the query language
SELECT k FROM S EMIT STREAM
-- unsupported: SB110 1:17-21 "EMIT"

SELECT k FROM S
-- bounded

-- says: qualified names are outside the query language
SELECT k FROM db.S
-- unsupported: SB110 1:15-19 "db.S"

SELECT k FROM S
-- bounded

-- says: BETWEEN SYMMETRIC is outside the query language
SELECT k FROM S WHERE b BETWEEN SYMMETRIC 3 AND 1
-- unsupported: SB110 1:23-50 "b BETWEEN SYMMETRIC 3 AND 1"

-- says: BETWEEN SYMMETRIC is outside the query language
SELECT k FROM S WHERE (b BETWEEN SYMMETRIC 3 AND 1) = true
-- unsupported: SB110 1:24-51 "b BETWEEN SYMMETRIC 3 AND 1"

SELECT k FROM S WHERE b BETWEEN LEAST(3, 1) AND GREATEST(3, 1)
-- bounded

-- says: VERSION AS OF is outside the query language
SELECT S.k FROM S JOIN R VERSION AS OF 3 AS r ON r.k = S.k
-- unsupported: SB110 1:40-41 "3"

SELECT S.k FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts AS r ON r.k = S.k
-- bounded

-- says: SYSTEM_TIME BETWEEN is outside the query language
SELECT S.k FROM S JOIN R FOR SYSTEM_TIME BETWEEN S.ts AND S.ts AS r ON r.k = S.k
-- unsupported: SB110 1:50-63 "S.ts AND S.ts"

-- says: LIMIT or FETCH of more than a number of rows (WITH TIES, PERCENT, BY) is outside the query language
SELECT k FROM S WHERE k IN (SELECT k FROM R ORDER BY k FETCH FIRST 3 ROWS WITH TIES)
-- unsupported: SB110 1:56-61 "FETCH"

SELECT k FROM S WHERE k IN (SELECT k FROM R ORDER BY k FETCH FIRST 3 ROWS ONLY)
-- bounded

-- says: APPLY is outside the query language
APPLY CHANGES INTO t FROM STREAM S KEYS (k) SEQUENCE BY ts
-- unsupported: SB110 1:1-6 "APPLY"

-- says: AUTO CDC is outside the query language
CREATE FLOW f AS AUTO CDC INTO t FROM STREAM(S) KEYS (k) SEQUENCE BY ts
-- unsupported: SB110 1:18-22 "AUTO"

-- A name that is defined further down.
--

-- says: 'b' is defined below a, which reads it
-- says: move it before a
WITH a AS (SELECT k FROM b), b AS (SELECT k FROM S) SELECT k FROM a
-- error: SB101 1:26-27 "b"

WITH b AS (SELECT k FROM S), a AS (SELECT k FROM b) SELECT k FROM a
-- bounded

-- A sum of texts over a window.
--

-- says: SUM is of numbers, and this is a string
SELECT SUM(t) OVER (PARTITION BY w) AS n FROM (SELECT CAST(x AS STRING) AS t, date_trunc('HOUR', ts) AS w FROM S) AS q
-- error: SB104 1:12-13 "t"

-- says: a struct that groups are of is not shown
SELECT STRUCT(k, ts) AS g, COUNT(*) AS n FROM S GROUP BY g
-- unsupported: SB110 1:8-21 "STRUCT(k, ts)"

-- says: a WINDOW clause stands before GROUP BY
SELECT k FROM S WINDOW TUMBLING (SIZE 1 HOUR)
-- unsupported: SB110 1:24-46 "TUMBLING (SIZE 1 HOUR)"

-- Arrays of sessions that may go on for ever, and of those that may not.
--

-- says: let sessions end at midnight
SELECT k, collect_set(x) AS m FROM S GROUP BY k, session_window(ts, '10 minutes')
-- unsupported: SB110 1:11-25 "collect_set(x)"

SELECT k, collect_set(x) AS m FROM S GROUP BY k, date(ts), session_window(ts, '10 minutes')
-- bounded: SB208 1:38-46 "GROUP BY"
