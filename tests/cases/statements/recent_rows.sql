-- [streams.S]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- domain = { b = [0, 2] }
-- max_per_timestamp = 4
-- [streams.T]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- domain = { b = [0, 2] }
-- max_per_timestamp = 4

-- now() is the newest closed row's time, of all streams: rows go as it passes.
--

-- alone
SELECT a, v FROM S WHERE ts > now() - 5
-- bounded: 21

-- both ends
SELECT a, v FROM S WHERE ts BETWEEN current_timestamp - 5 AND current_timestamp AND v > 0
-- bounded: 25

-- the row's side may be longer
SELECT a FROM S WHERE mz_now() < ts + 3
-- bounded: 13

-- of the newest of two streams
SELECT S.a FROM S WHERE S.ts > now() - 3 AND S.a NOT IN (SELECT T.a FROM T WHERE T.ts > now() - 2)
-- bounded: 88

-- groups
SELECT a, COUNT(*) AS n, SUM(v) AS t, MAX(v) AS m FROM S WHERE ts >= now() - 4 GROUP BY a
-- bounded: 61

-- values of a group
SELECT COUNT(DISTINCT a) AS n, AVG(v) AS m FROM S WHERE ts >= now() - 4
-- bounded: 42

-- a join of both
SELECT S.a, T.v FROM S JOIN T ON S.b = T.b AND T.ts >= now() - 2 WHERE S.ts > now() - 4
-- bounded: 58

-- a join whose other side goes by no time
SELECT S.a, T.v FROM S JOIN T ON S.b = T.b WHERE S.ts > now() - 4
-- unbounded

-- a left join
SELECT S.a, T.v FROM S LEFT JOIN T ON S.a = T.a AND T.ts > now() - 2 WHERE S.ts > now() - 4
-- bounded: 50

-- a left join that is none
SELECT S.a, T.v FROM S LEFT JOIN T ON S.a = T.a WHERE S.ts > now() - 4 AND T.ts > now() - 2
-- bounded: 50

-- with EXISTS
SELECT S.a FROM S WHERE S.ts > now() - 4 AND EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts > now() - 2)
-- bounded: 50

-- twice
WITH r AS (SELECT * FROM S WHERE ts > now() - 3) SELECT x.a, COUNT(*) AS n FROM r AS x JOIN r AS y ON x.b = y.b GROUP BY x.a
-- bounded: 185

-- a union
SELECT a, u FROM (SELECT a, ts AS u FROM S UNION ALL SELECT v, ts FROM T) q WHERE u > now() - 3
-- bounded: 26

-- each once
SELECT DISTINCT a FROM S WHERE ts > now() - 3
-- bounded: 25

-- the difference
SELECT a, v FROM S WHERE ts > now() - 3 EXCEPT SELECT a, v FROM T WHERE ts > now() - 4
-- bounded: 58

-- not in DuckDB: rows that its order leaves equal: the newest of each
SELECT * FROM (SELECT a, v, ts, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts DESC) AS r FROM S WHERE ts > now() - 3) WHERE r = 1
-- bounded: 25

-- buckets
SELECT ts DIV 4 AS h, COUNT(*) AS n FROM S WHERE ts > now() - 9 GROUP BY ts DIV 4
-- bounded: 73

-- rows that must be older
SELECT a FROM S WHERE ts < now() - 3
-- bounded: 17

-- not old, and not new
SELECT a, v FROM S WHERE ts BETWEEN now() - 5 AND now() - 2
-- bounded: 25

-- groups of older rows
SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S WHERE ts <= now() - 2 GROUP BY b
-- bounded: 13

-- the least of older rows, for as long as they stay
SELECT b, MIN(v) AS m FROM S WHERE ts BETWEEN now() - 4 AND now() - 2 GROUP BY b
-- bounded: 45

-- a join of older rows with newer ones
SELECT S.a, T.v FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN now() - 3 AND now() - 2 WHERE S.ts > now() - 2
-- bounded: 50

-- the least of all older rows
SELECT b, MIN(v) AS m FROM S WHERE ts <= now() - 2 GROUP BY b
-- bounded: 13

-- not in DuckDB: rows that its order leaves equal: the greatest of all older rows
SELECT a, v FROM S WHERE ts < now() - 2 ORDER BY v DESC LIMIT 3
-- bounded: 16

-- a join that waits for ever
SELECT S.a FROM S JOIN T ON S.a = T.a AND T.ts > now() - 2 WHERE S.ts <= now() - 4
-- unbounded

-- no row is newer
SELECT a FROM S WHERE ts < now() + 3
-- unsupported

-- a condition that is more than a comparison
SELECT a FROM S WHERE ts > now() - 3 OR v > 1
-- unsupported

-- a column that is no time
SELECT a FROM S WHERE v > now() - 3
-- unsupported

-- above groups
SELECT a, MAX(ts) AS m FROM S GROUP BY a HAVING MAX(ts) > now() - 3
-- unsupported

-- as a value
SELECT a, now() AS n FROM S
-- unsupported
