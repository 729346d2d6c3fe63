-- [streams.N]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", ts = "bigint" }
-- domain = { a = [0, 9], b = [0, 2] }
-- [streams.M]
-- timestamp = "ts"
-- columns = { v = "bigint", ts = "bigint" }
-- [streams.D]
-- timestamp = "ts"
-- columns = { ts = "timestamp" }
-- [relations.R]
-- columns = { y = "bigint" }

-- Buckets, unions, recursion.
--

-- buckets of windows' starts
SELECT COUNT(DISTINCT n) FROM (SELECT window(ts, '3 microseconds').start AS t, COUNT(*) AS n FROM N GROUP BY window(ts, '3 microseconds')) q GROUP BY t DIV 2
-- 3

-- buckets of windows' ends
SELECT COUNT(*) FROM (SELECT window(ts, '1 microsecond').end AS t, COUNT(*) AS n FROM N GROUP BY window(ts, '1 microsecond')) q GROUP BY t DIV 3
-- 1

-- values that are the key
SELECT COUNT(DISTINCT b) FROM N GROUP BY window(ts, '5 microseconds', '1 microsecond'), b
-- 32

-- groups of columns beside an outer join
SELECT L.a, L.ts, T.v, COUNT(*) FROM N AS L LEFT JOIN M AS T ON T.v = L.a AND T.ts BETWEEN L.ts AND L.ts + 5 GROUP BY L.a, L.ts, T.v
-- min(50, 5*c_N) + 605

-- a recursion whose step has a limit
WITH RECURSIVE w(x) AS (SELECT b FROM N UNION SELECT w.x + 1 FROM w WHERE w.x < 9) SELECT x FROM w
-- 11

-- a recursion that is joined with itself
WITH RECURSIVE w(x, y) AS (SELECT b, 1 FROM N UNION SELECT p.x, q.y FROM w p JOIN w q ON p.y = q.x) SELECT x FROM w
-- 4

-- a recursion over a relation's rows and a stream's values
WITH RECURSIVE w(x) AS (SELECT y FROM R UNION SELECT N.b FROM w JOIN N ON N.a = w.x WHERE N.b > 0) SELECT x FROM w
-- (rows_R + 2) + 20

-- times that equal a relation's rows
SELECT COUNT(DISTINCT N.ts) FILTER (WHERE N.ts IN (1, 2) OR R.y = 3) FROM N JOIN R ON N.ts = R.y
-- rows_R + 1

-- days, of which one is open
SELECT to_date(ts), COUNT(*) FROM D GROUP BY to_date(ts)
-- 1

-- years, of which one is open
SELECT date_trunc('year', ts), COUNT(*) FROM D GROUP BY date_trunc('year', ts)
-- 1

-- groups of windows of a union
SELECT window(ts, '2 microseconds').start AS w, v, COUNT(*) FROM (SELECT v, ts FROM M UNION ALL SELECT a AS v, ts FROM N) q GROUP BY window(ts, '2 microseconds'), v
-- c_M + 11

-- groups of a union, whose rows of one stream come later than those of the other
SELECT x, COUNT(*) FROM (SELECT ts AS x FROM N UNION ALL SELECT ts - 3 AS x FROM M) q GROUP BY x
-- 3

-- each row of such a union once
SELECT ts AS x FROM N UNION SELECT ts - 3 AS x FROM M
-- 3

-- groups of some columns of a union
SELECT COUNT(*) FROM (SELECT a, b FROM N UNION ALL SELECT y AS a, y AS b FROM R) q GROUP BY b
-- rows_R + 4
