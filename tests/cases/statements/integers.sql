-- [streams.S]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- domain = { b = [0, 2] }
-- max_per_timestamp = 2
-- [streams.T]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- domain = { b = [0, 2] }
-- max_per_timestamp = 2

-- Functions over windows of rows.
--

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts) AS r FROM S) WHERE r = 1
-- bounded: 4

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts) AS r FROM S) WHERE r <= 3 AND v > 0
-- bounded: 12

SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts DESC) AS r FROM S) WHERE r <= 2
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC) AS r FROM S) WHERE r <= 3
-- bounded: 12

SELECT * FROM (SELECT *, ROW_NUMBER() OVER ( ORDER BY v DESC, a) AS r FROM S) WHERE r < 3
-- bounded: 2

SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a DESC NULLS FIRST, v) AS r FROM S) WHERE 2 >= r
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b + 1 ORDER BY a) AS r FROM S) WHERE r BETWEEN 2 AND 3
-- bounded: 12

SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY ts) AS r FROM S) WHERE r <= 2
-- bounded: 16

SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY v DESC) AS r FROM (SELECT b, a % 2 AS a, v FROM S WHERE a > 0)) WHERE r <= 2
-- bounded: 24

SELECT * FROM (SELECT *, DENSE_RANK() OVER ( ORDER BY a % 3, v) AS r FROM (SELECT b, a % 2 AS a, v FROM S WHERE a > 0)) WHERE r <= 2
-- bounded: 24

SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY ts DIV 4, b ORDER BY v % 4 DESC) AS r FROM (SELECT ts, b, v FROM S WHERE v > 0)) WHERE r <= 2
-- bounded: 6

SELECT b, v, r FROM (SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY v DESC) AS r FROM S) WHERE r <= 3)
-- bounded: 12

SELECT v FROM S QUALIFY DENSE_RANK() OVER (PARTITION BY b ORDER BY v DESC NULLS LAST) <= 2
-- bounded: 8

SELECT b, COUNT(*) AS n FROM (SELECT a, b, RANK() OVER (PARTITION BY b ORDER BY v) AS r, DENSE_RANK() OVER (PARTITION BY b ORDER BY v) AS d FROM S) AS x WHERE r <= 2 GROUP BY b
-- bounded: 12

SELECT w, r FROM (SELECT S.a, T.b AS w, RANK() OVER (ORDER BY S.v) AS r FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts - 2 AND S.ts) WHERE r < 3
-- bounded: 10

SELECT c, COUNT(*) AS n FROM (SELECT r AS d, b AS c FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY ts) AS r FROM S)) WHERE c > 0 GROUP BY c
-- bounded: 4

SELECT c FROM (SELECT r AS d, v AS c FROM (SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY v DESC) AS r FROM S) WHERE r <= 3))
-- bounded: 12

SELECT 1 AS one FROM (SELECT * FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY b ORDER BY v DESC) AS r FROM S) WHERE r <= 3)
-- bounded: 12

SELECT * FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY b ORDER BY ts DESC) AS r FROM S) WHERE r <= 2
-- bounded: 16

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY ts DIV 4 ORDER BY v DESC) AS r FROM S) WHERE r <= 2
-- bounded: 2

SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY ts DIV 4, a ORDER BY v DESC) AS r FROM S) WHERE r <= 2
-- bounded: 6

SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v, w) AS r FROM (SELECT S.a, S.b, S.v, T.v AS w FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts - 2 AND S.ts)) WHERE r <= 2
-- bounded: 10

SELECT * FROM (SELECT *, ROW_NUMBER() OVER ( ORDER BY t DESC) AS r FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)) WHERE r <= 2
-- bounded: 8

SELECT * FROM (SELECT *, RANK() OVER ( ORDER BY n DESC) AS r FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)) WHERE r <= 2
-- bounded: 8

SELECT * FROM (SELECT *, DENSE_RANK() OVER ( ORDER BY t) AS r FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)) WHERE r >= 2
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY z ORDER BY t DESC) AS r FROM (SELECT ts DIV 4 AS z, a, SUM(v) AS t FROM S GROUP BY ts DIV 4, a)) WHERE r <= 2
-- bounded: 12

SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY z ORDER BY t) AS r FROM (SELECT ts DIV 4 AS z, a, SUM(v) AS t FROM S GROUP BY ts DIV 4, a)) WHERE r > 1
-- bounded: 12

SELECT b, t, SUM(n) OVER (ORDER BY t ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)
-- bounded: 8

SELECT b, t, MAX(n) OVER () AS s FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT a, b, ts, LAG(v) OVER (PARTITION BY b ORDER BY ts) AS w FROM S
-- bounded: 4

-- not in DuckDB: rows that its order leaves equal
SELECT a, b, ts, LAG(v, 3) OVER (PARTITION BY b ORDER BY ts) AS w FROM S
-- bounded: 12

-- not in DuckDB: rows that its order leaves equal
SELECT a, ts, LAG(a, 2) OVER (ORDER BY ts) AS w FROM S WHERE v > 0
-- bounded: 2

-- not in DuckDB: rows that its order leaves equal
SELECT a, LAG(v) OVER (PARTITION BY b ORDER BY ts) AS w, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS t FROM S
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT a, v, LAG(v) OVER (PARTITION BY b ORDER BY ts) AS w, LAG(a, 2) OVER (PARTITION BY b ORDER BY ts) AS u FROM S
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT a, v, LEAD(v) OVER (PARTITION BY b ORDER BY ts) AS w FROM S
-- bounded: 4

SELECT a, v, LEAD(v, 2, 0) OVER (PARTITION BY b ORDER BY ts, a DESC) AS w, LAG(a, 1, v + 1) OVER (PARTITION BY b ORDER BY ts, a DESC) AS u FROM S
-- bounded: 12

-- not in DuckDB: rows that its order leaves equal
SELECT a, v, LEAD(v) OVER (PARTITION BY b ORDER BY ts) AS w, MAX(v) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS m FROM S
-- bounded: 6

-- not in DuckDB: rows that its order leaves equal
SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS w FROM S
-- bounded: 12

-- not in DuckDB: rows that its order leaves equal
SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS w FROM S
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT a, FIRST_VALUE(v) OVER (PARTITION BY b ORDER BY ts ROWS 2 PRECEDING) AS w, LAST_VALUE(a) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS u FROM S
-- bounded: 16

SELECT a, MIN(v) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS w FROM S
-- bounded: 6

SELECT a, LEAD(v) OVER (PARTITION BY ts DIV 4, a ORDER BY ts) AS w FROM S
-- bounded: 6

SELECT t, n, LEAD(n) OVER (ORDER BY t) AS w, LAG(t) OVER (ORDER BY t) AS u FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)
-- bounded: 8

SELECT z, t, LEAD(t, 1, -1) OVER (ORDER BY z, a) AS w FROM (SELECT ts DIV 4 AS z, a, SUM(v) AS t FROM S GROUP BY ts DIV 4, a)
-- bounded: 13

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT b, v, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts) AS r, LAG(v) OVER (PARTITION BY b ORDER BY ts) AS w FROM S) WHERE r <= 3
-- bounded: 12

SELECT * FROM (SELECT b, v, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC) AS r, v - LAG(v) OVER (PARTITION BY b ORDER BY v DESC) AS w FROM S) WHERE r <= 3
-- bounded: 12

-- not in DuckDB: rows that its order leaves equal
SELECT a, ts, LAG(v) OVER (PARTITION BY b ORDER BY ts) AS w, COUNT(*) OVER (PARTITION BY a ORDER BY ts RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS t, MAX(v) OVER (PARTITION BY b ORDER BY ts ROWS 1 PRECEDING) AS x FROM S WHERE v > -2
-- bounded: 10

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT a, v, ts, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC) AS r, LAG(a) OVER (PARTITION BY b ORDER BY ts) AS w FROM S) WHERE r <= 2
-- bounded: 12

SELECT b, t, SUM(n) OVER (ORDER BY t) AS s, ROW_NUMBER() OVER (ORDER BY n, b) AS r FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)
-- bounded: 12

-- not in DuckDB: rows that its order leaves equal
SELECT a, b, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS w FROM S
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT a, b, AVG(v) OVER (PARTITION BY b ORDER BY ts ROWS 3 PRECEDING) AS w FROM S
-- bounded: 12

SELECT a, b, COUNT(a) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS w FROM S
-- bounded: 6

SELECT a, v, MIN(v) OVER (PARTITION BY a ORDER BY ts RANGE BETWEEN 4 PRECEDING AND CURRENT ROW) AS w FROM S
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts) AS r FROM S) WHERE v > 2
-- bounded: 4

-- not in DuckDB: rows that its order leaves equal
SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts) AS s, COUNT(a) OVER (PARTITION BY b ORDER BY ts ROWS UNBOUNDED PRECEDING) AS n, AVG(v) OVER (PARTITION BY b ORDER BY ts) AS m FROM S
-- bounded: 4

SELECT a, MIN(v) OVER (PARTITION BY b ORDER BY ts) AS l, MAX(a) OVER (PARTITION BY b ORDER BY ts ROWS UNBOUNDED PRECEDING) AS g, COUNT(*) OVER (PARTITION BY b ORDER BY ts, a) AS n FROM S
-- bounded: 8

SELECT v, FIRST_VALUE(v) OVER (PARTITION BY b ORDER BY ts, v) AS f, LAST_VALUE(a) OVER (PARTITION BY b ORDER BY ts, v) AS g, RANK() OVER (PARTITION BY b ORDER BY ts, v) AS r FROM S
-- bounded: 4

-- not in DuckDB: rows that its order leaves equal
SELECT a, ROW_NUMBER() OVER (ORDER BY ts) AS r, DENSE_RANK() OVER (ORDER BY ts, a DESC) AS d, RANK() OVER (ORDER BY ts) AS k FROM S WHERE v > -2
-- bounded: 2

SELECT a, SUM(v) OVER (PARTITION BY ts DIV 4, a ORDER BY ts) AS s FROM S
-- bounded: 6

-- not in DuckDB: rows that its order leaves equal
SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts) AS s, LAG(v) OVER (PARTITION BY b ORDER BY ts) AS w, LEAD(v) OVER (PARTITION BY b ORDER BY ts) AS u FROM S
-- bounded: 12

-- not in DuckDB: rows that its order leaves equal
SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS s, COUNT(*) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS n, LAST_VALUE(a) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS l, FIRST_VALUE(a) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS f, MAX(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS m, RANK() OVER (PARTITION BY b ORDER BY ts) AS r FROM S
-- bounded: 4

-- not in DuckDB: rows that its order leaves equal
SELECT b, n - AVG(n) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS d FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)
-- bounded: 8

-- not in DuckDB: rows that its order leaves equal
SELECT a, v, FIRST_VALUE(a) OVER (PARTITION BY b ORDER BY ts ROWS 2 PRECEDING) AS f, LAST_VALUE(v) OVER (PARTITION BY b ORDER BY ts ROWS 1 PRECEDING) AS l FROM S
-- bounded: 8

SELECT b, SUM(n) OVER (ORDER BY b) AS s, FIRST_VALUE(n) OVER (ORDER BY b DESC) AS f FROM (SELECT b, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b)
-- bounded: 12

SELECT COUNT(*) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING) AS w FROM S
-- bounded: 6

SELECT * FROM (SELECT a, v, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS x FROM S) q WHERE ts < x + 4
-- bounded: 6

SELECT * FROM (SELECT a, v, ts, ts - LAG(ts, 2) OVER (PARTITION BY a ORDER BY ts) AS x, SUM(v) OVER (PARTITION BY a ORDER BY ts ROWS 2 PRECEDING) AS y FROM S) q WHERE x <= 6
-- bounded: 12

SELECT * FROM (SELECT a, v, ts, MAX(ts) OVER (PARTITION BY a ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS x FROM S) q WHERE 3 > ts - x
-- bounded: 4

SELECT * FROM (SELECT a, v, ts, LEAD(ts) OVER (PARTITION BY a ORDER BY ts) AS x, LEAD(v) OVER (PARTITION BY a ORDER BY ts) AS y FROM S) q WHERE x BETWEEN ts AND ts + 4
-- bounded: 8

SELECT * FROM (SELECT a, v, ts, LEAD(ts, 2) OVER (PARTITION BY a ORDER BY ts) AS x, SUM(v) OVER (PARTITION BY a ORDER BY ts ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS y FROM S) q WHERE x - 5 <= ts
-- bounded: 10

SELECT * FROM (SELECT a, v, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS x, LEAD(v) OVER (PARTITION BY a ORDER BY ts) AS y, LEAD(ts) OVER (PARTITION BY a ORDER BY ts) AS z FROM S) q WHERE x > ts - 3 AND z - ts < 4
-- bounded: 10

SELECT * FROM (SELECT a, v, ts, FIRST_VALUE(ts) OVER (PARTITION BY a ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS x FROM S) q WHERE x < ts + 3
-- bounded: 4

-- Functions over windows of rows that nothing bounds, or that are refused.
--

SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts DESC) AS r FROM S) WHERE r = 1
-- unbounded

SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY v DESC) AS r FROM S) WHERE r <= 2
-- unbounded

SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) WHERE v > 2
-- unbounded

SELECT a, SUM(v) OVER (PARTITION BY a ORDER BY ts) AS s FROM S
-- unbounded

SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts DESC) AS s FROM S
-- unbounded

SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS s FROM S
-- unknown

SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS w, LAG(a) OVER (PARTITION BY a ORDER BY ts) AS u FROM S
-- unbounded

SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY v) AS r FROM S) WHERE r <= 2
-- unbounded

SELECT a FROM S QUALIFY RANK() OVER (PARTITION BY b ORDER BY v DESC) = 1
-- unbounded

SELECT a FROM S QUALIFY DENSE_RANK() OVER (ORDER BY v DESC) <= 5
-- unbounded

SELECT v FROM S QUALIFY DENSE_RANK() OVER (PARTITION BY a ORDER BY v DESC) <= 5
-- unbounded

SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY ts DIV 4 ORDER BY v) AS r FROM S) WHERE r <= 2
-- bounded: 6

SELECT a, LAG(a) OVER (ORDER BY v) AS w FROM S QUALIFY RANK() OVER (ORDER BY v) <= 2
-- unbounded

SELECT a, b, LAG(v) OVER (PARTITION BY a ORDER BY ts) AS w FROM S
-- unbounded

SELECT a, b, LEAD(v) OVER (PARTITION BY a ORDER BY ts) AS w FROM S
-- unbounded

SELECT LEAD(v) OVER (PARTITION BY b ORDER BY ts) AS w, LEAD(v) OVER (ORDER BY ts) AS u FROM S
-- unsupported

SELECT LEAD(v, 1, 'x') OVER (PARTITION BY b ORDER BY ts) AS w FROM S
-- unsupported

SELECT FIRST_VALUE(v, true) OVER (PARTITION BY b ORDER BY ts, a, v ROWS 2 PRECEDING) AS w FROM S
-- bounded: 8

SELECT COUNT(a, v) OVER (PARTITION BY b ORDER BY ts ROWS 2 PRECEDING) AS w FROM S
-- unsupported

SELECT a, b, LAG(v) OVER (PARTITION BY b ORDER BY v) AS w FROM S
-- unbounded

SELECT * FROM (SELECT a, v, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS x, LEAD(v) OVER (PARTITION BY a ORDER BY ts) AS y FROM S) q WHERE ts < x + 4
-- unbounded

SELECT * FROM (SELECT a, v, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS x, LAG(v, 2) OVER (PARTITION BY a ORDER BY ts) AS y FROM S) q WHERE ts < x + 4
-- unbounded

SELECT * FROM (SELECT a, v, ts, LEAD(ts) OVER (PARTITION BY a ORDER BY ts) AS x FROM S) q WHERE ts < x + 4
-- unbounded

SELECT * FROM (SELECT a, v, ts, MIN(ts) OVER (PARTITION BY a ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS x FROM S) q WHERE ts < x + 4
-- unbounded

SELECT a, b, SUM(v) OVER (PARTITION BY a ORDER BY ts ROWS 3 PRECEDING) AS w FROM S
-- unbounded

-- Running totals over the groups of windows.
--

-- a total
SELECT w, b, SUM(n) OVER (PARTITION BY b ORDER BY w) AS s FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S WHERE v > -2 GROUP BY ts DIV 4, b)
-- bounded: 12

-- a total of all
SELECT w, SUM(n) OVER (ORDER BY w, b NULLS FIRST ROWS UNBOUNDED PRECEDING) AS s FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S WHERE v > -2 GROUP BY ts DIV 4, b)
-- bounded: 9

-- with those of the same window
SELECT w, b, COUNT(*) OVER (ORDER BY w) AS s, MAX(m) OVER (ORDER BY w) AS x FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S WHERE v > -2 GROUP BY ts DIV 4, b)
-- bounded: 9

-- those before
SELECT w, b, MIN(m) OVER (PARTITION BY b ORDER BY w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS x FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S WHERE v > -2 GROUP BY ts DIV 4, b)
-- bounded: 12

-- the first, and a number
SELECT w, FIRST_VALUE(n) OVER (PARTITION BY b ORDER BY w) AS f, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S WHERE v > -2 GROUP BY ts DIV 4, b)
-- bounded: 12

-- of windows that HAVING leaves
SELECT w, SUM(n) OVER (ORDER BY w) AS s FROM (SELECT ts DIV 3 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 3 HAVING MAX(v) < 4)
-- bounded: 3

-- below longer windows
SELECT w DIV 2 AS d, MAX(s) AS x FROM (SELECT w, SUM(n) OVER (ORDER BY w, b) AS s FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S WHERE v > -2 GROUP BY ts DIV 4, b)) GROUP BY w DIV 2
-- bounded: 14

-- Functions of all rows of a partition that closes.
--

-- a share
SELECT a, v, SUM(v) OVER (PARTITION BY ts DIV 4) AS t FROM S
-- bounded: 6

-- numbers
SELECT a, ROW_NUMBER() OVER (PARTITION BY ts DIV 4, b ORDER BY v DESC, a NULLS FIRST, b NULLS FIRST, v NULLS FIRST) AS r FROM S
-- bounded: 6

-- the row before
SELECT v, LAG(v) OVER (PARTITION BY ts DIV 3 ORDER BY v, a NULLS FIRST, b NULLS FIRST, v NULLS FIRST) AS l FROM S WHERE a > 1
-- bounded: 4

-- a total by value
SELECT v, SUM(a) OVER (PARTITION BY ts DIV 4 ORDER BY v) AS s FROM S
-- bounded: 6

-- with the last ones
SELECT v, COUNT(*) OVER (PARTITION BY ts DIV 4 ORDER BY ts RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS n FROM S
-- bounded: 6

-- latest first
SELECT v, MAX(v) OVER (PARTITION BY ts DIV 4 ORDER BY ts DESC) AS m FROM S
-- bounded: 6

-- beside a row before
SELECT v, MIN(v) OVER (PARTITION BY ts DIV 4) AS m, COUNT(*) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n FROM S WHERE a = 1
-- bounded: 10

-- Of all rows of one that does not.
--

SELECT a, v, SUM(v) OVER (PARTITION BY b, a) AS t FROM S
-- unbounded

SELECT v, MAX(v) OVER (PARTITION BY b ORDER BY ts DESC) AS m FROM S
-- unbounded

-- The first groups of windows of each key.
--

-- the latest window of each key
SELECT b, w, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r <= 1
-- bounded: 12

-- the latest two
SELECT b, w, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r <= 2
-- bounded: 16

-- the latest of all
SELECT b, w, n, r FROM (SELECT *, ROW_NUMBER() OVER ( ORDER BY w DESC, b NULLS FIRST) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r <= 2
-- bounded: 10

-- those with most rows
SELECT b, w, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY n DESC, w DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r <= 2
-- bounded: 16

-- all of the latest window
SELECT b, w, n, r FROM (SELECT *, RANK() OVER ( ORDER BY w DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r <= 1
-- bounded: 12

-- of each number of rows the latest two
SELECT b, w, n, r FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY b ORDER BY w DESC, n) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r <= 2
-- bounded: 16

-- of windows that HAVING leaves
SELECT b, w, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r FROM (SELECT * FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b) WHERE n > 1 AND m < 3)) WHERE r <= 1
-- bounded: 12

-- of windows that overlap
SELECT b, w, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r FROM (SELECT b, x.ts DIV 2 AS w, SUM(x.v) AS n FROM S AS x WHERE x.v > -2 GROUP BY b, x.ts DIV 2)) WHERE r <= 1
-- bounded: 8

-- beside all windows
SELECT x.b, x.n, y.t FROM (SELECT b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r = 1) AS x JOIN (SELECT b, COUNT(*) AS t FROM S GROUP BY b) AS y ON x.b = y.b
-- bounded: 18

-- how many rows the latest windows have
SELECT SUM(n) AS t FROM (SELECT b, n, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r = 1
-- bounded: 13

-- The first groups, of keys without a number.
--

SELECT a, w, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY w DESC) AS r FROM (SELECT ts DIV 4 AS w, a, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, a)) WHERE r <= 1
-- unbounded

SELECT b, w, n, r FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY n DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r <= 1
-- unbounded

SELECT a, w, LAG(n) OVER (PARTITION BY a ORDER BY w) AS l FROM (SELECT ts DIV 4 AS w, a, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, a)
-- unbounded

SELECT b, w, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)) WHERE r > 1
-- unbounded

-- Windows of windows.
--

-- the greatest of the small
SELECT w DIV 3 AS d, MAX(n) AS m, COUNT(*) AS c FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) GROUP BY w DIV 3
-- bounded: 9

-- sums of the small
SELECT w DIV 2 AS d, b, SUM(n) AS m FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) WHERE n > 1 GROUP BY w DIV 2, b
-- bounded: 8

-- three sizes
SELECT d DIV 2 AS e, MIN(m) AS x FROM (SELECT w DIV 2 AS d, MAX(n) AS m FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) GROUP BY w DIV 2) GROUP BY d DIV 2
-- bounded: 11

-- a union, once
SELECT w, n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) UNION SELECT w, n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM T GROUP BY ts DIV 4, b)
-- bounded: 16

-- what both have
SELECT w, b, n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) INTERSECT SELECT w, b, n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM T GROUP BY ts DIV 4, b)
-- bounded: 16

-- what one has
SELECT w, b FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) WHERE n > 1 EXCEPT SELECT w, b FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM T GROUP BY ts DIV 4, b)
-- bounded: 12

-- what one has more often
SELECT w, n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) EXCEPT ALL SELECT w, n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM T GROUP BY ts DIV 4, b)
-- bounded: 16

-- rows of a union, once
SELECT ts DIV 4 AS w, a FROM S EXCEPT SELECT ts DIV 4, a FROM T WHERE v > 0
-- bounded: 12

-- of what has no duplicates
SELECT w DIV 2 AS d, COUNT(*) AS c FROM (SELECT w, n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) UNION SELECT w, n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM T GROUP BY ts DIV 4, b)) GROUP BY w DIV 2
-- bounded: 17

-- those before in an order of two
SELECT w, n, COUNT(*) OVER (PARTITION BY w DIV 2 ORDER BY n, w DESC) AS r FROM (SELECT ts DIV 2 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 2)
-- bounded: 3

-- those from it on in an order of two
SELECT w, n, SUM(n) OVER (PARTITION BY w DIV 3 ORDER BY n DESC, w RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS r FROM (SELECT ts DIV 2 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 2)
-- bounded: 4

-- the best of each
SELECT w, b, n, r FROM (SELECT w, b, n, RANK() OVER (PARTITION BY w DIV 2 ORDER BY n DESC) AS r FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 4, b)) WHERE r <= 2
-- bounded: 12

-- Subqueries that are an aggregate of a row's partners.
--

-- the greatest before
SELECT p.a, p.v, (SELECT MAX(q.v) FROM T AS q WHERE q.b = p.b AND q.ts BETWEEN p.ts - 2 AND p.ts) AS m FROM S AS p
-- bounded: 8

-- a number of rows, 0 of none
SELECT p.a, (SELECT COUNT(*) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) AS n FROM S AS p
-- bounded: 12

-- a number of values
SELECT p.*, (SELECT COUNT(*) FROM T AS q WHERE q.b = p.b AND q.ts <= p.ts) AS n FROM S AS p
-- bounded: 4

SELECT p.b, (SELECT COUNT(DISTINCT q.b) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) AS n FROM S AS p
-- bounded: 18

-- a threshold
SELECT p.a, p.v FROM S AS p WHERE p.v > (SELECT AVG(q.v) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1)
-- bounded: 12

-- a scaled threshold
SELECT p.a FROM S AS p WHERE p.v + 1 > 2 * (SELECT MIN(q.v) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) - 1
-- bounded: 18

-- of no rows
SELECT COALESCE((SELECT SUM(q.v) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1 AND q.v > 1), -7) AS s FROM S AS p
-- bounded: 12

-- two in a list
SELECT (SELECT MAX(q.v) FROM T AS q WHERE q.b = p.b AND q.ts BETWEEN p.ts - 2 AND p.ts) AS m, (SELECT COUNT(q.a) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) AS n FROM S AS p
-- bounded: 20

-- in the list and the condition
SELECT (SELECT MAX(q.v) FROM T AS q WHERE q.b = p.b AND q.ts BETWEEN p.ts - 2 AND p.ts) AS m FROM S AS p WHERE p.b > 0 AND p.v <= (SELECT COUNT(*) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1)
-- bounded: 24

-- several aggregates
SELECT p.v, (SELECT MAX(q.v) - MIN(q.v) + COUNT(*) + p.b FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) AS s FROM S AS p
-- bounded: 12

-- of a product with the row
SELECT p.b, (SELECT SUM(q.v * p.v) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) AS s FROM S AS p
-- bounded: 12

-- of the row's own stream
SELECT p.a, (SELECT COUNT(*) FROM S AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts AND p.ts + 2) AS n FROM S AS p
-- bounded: 16

-- without an equality
SELECT p.v, (SELECT COUNT(*) FROM T AS q WHERE q.v < p.v AND q.ts >= p.ts - 1 AND q.ts <= p.ts) AS n FROM S AS p
-- bounded: 2

-- of a join
SELECT p.v, r.v AS w, (SELECT SUM(q.v) FROM T AS q WHERE q.a = r.a AND q.ts BETWEEN p.ts - 1 AND p.ts) AS s FROM S AS p JOIN T AS r ON r.a = p.a AND r.ts BETWEEN p.ts AND p.ts + 1
-- bounded: 20

-- with all columns
SELECT *, (SELECT MIN(q.b) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) AS m FROM S AS p WHERE (SELECT COUNT(*) FROM T AS q WHERE q.b = p.b AND q.ts BETWEEN p.ts - 2 AND p.ts) > 0
-- bounded: 22

-- whether there is one
SELECT p.a, EXISTS (SELECT 1 FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) AS t FROM S AS p
-- bounded: 18

-- whether there is none, in an expression
SELECT p.a, CASE WHEN NOT EXISTS (SELECT q.a, q.v FROM T AS q WHERE q.b = p.b AND q.ts BETWEEN p.ts - 2 AND p.ts AND q.v > 0) THEN p.v ELSE -1 END AS t FROM S AS p WHERE p.v > 0
-- bounded: 8

-- whether there is one, compared
SELECT p.a FROM S AS p WHERE (p.v > 0) = EXISTS (SELECT * FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1)
-- bounded: 18

-- whether there is one, added up
SELECT p.ts DIV 4 AS w, SUM(CASE WHEN EXISTS (SELECT 1 FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) THEN 1 ELSE 0 END) AS n FROM S AS p GROUP BY p.ts DIV 4
-- bounded: 19

-- truth
SELECT p.a, (SELECT BOOL_OR(q.v > 1) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1) AS t FROM S AS p
-- bounded: 18

-- added up
SELECT p.ts DIV 4 AS w, SUM((SELECT COUNT(*) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1)) AS n FROM S AS p GROUP BY p.ts DIV 4
-- bounded: 13

-- RIGHT and FULL JOIN of views.
--

-- RIGHT, windows
SELECT p.w, q.w AS x, p.b, n, m FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S WHERE v > 0 GROUP BY ts DIV 4, b) AS p RIGHT JOIN (SELECT ts DIV 4 AS w, b, MAX(v) AS m FROM T WHERE a < 3 GROUP BY ts DIV 4, b) AS q ON p.w = q.w AND p.b = q.b
-- bounded: 13

-- RIGHT, windows, all columns
SELECT q.*, p.w AS x, p.n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S WHERE v > 0 GROUP BY ts DIV 4, b) AS p RIGHT JOIN (SELECT ts DIV 4 AS w, b, MAX(v) AS m FROM T WHERE a < 3 GROUP BY ts DIV 4, b) AS q ON p.w = q.w AND p.n > q.m
-- bounded: 16

-- RIGHT, windows beside the one before
SELECT COALESCE(p.w, q.w) AS w, n, m FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S WHERE v > 0 GROUP BY ts DIV 4, b) AS p RIGHT JOIN (SELECT ts DIV 4 AS w, b, MAX(v) AS m FROM T WHERE a < 3 GROUP BY ts DIV 4, b) AS q ON p.w = q.w + 1 AND p.b = q.b
-- bounded: 19

-- RIGHT, groups
SELECT g.*, h.b AS c, m FROM (SELECT b, COUNT(*) AS n FROM S WHERE v > 1 GROUP BY b) AS g RIGHT JOIN (SELECT b, MAX(v) AS m FROM T WHERE a = 1 GROUP BY b) AS h ON g.b = h.b
-- bounded: 13

-- RIGHT, groups, one column
SELECT m FROM (SELECT b, COUNT(*) AS n FROM S WHERE v > 1 GROUP BY b) AS g RIGHT JOIN (SELECT b, MAX(v) AS m FROM T WHERE a = 1 GROUP BY b) AS h ON g.b = h.b AND g.n > h.m
-- bounded: 13

-- RIGHT, groups, counted
SELECT COUNT(*) AS c, COUNT(n) AS d, SUM(m) AS s FROM (SELECT b, COUNT(*) AS n FROM S WHERE v > 1 GROUP BY b) AS g RIGHT JOIN (SELECT b, MAX(v) AS m FROM T WHERE a = 1 GROUP BY b) AS h ON g.b = h.b
-- bounded: 14

-- FULL, windows
SELECT p.w, q.w AS x, p.b, n, m FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S WHERE v > 0 GROUP BY ts DIV 4, b) AS p FULL JOIN (SELECT ts DIV 4 AS w, b, MAX(v) AS m FROM T WHERE a < 3 GROUP BY ts DIV 4, b) AS q ON p.w = q.w AND p.b = q.b
-- bounded: 14

-- FULL, windows, all columns
SELECT q.*, p.w AS x, p.n FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S WHERE v > 0 GROUP BY ts DIV 4, b) AS p FULL JOIN (SELECT ts DIV 4 AS w, b, MAX(v) AS m FROM T WHERE a < 3 GROUP BY ts DIV 4, b) AS q ON p.w = q.w AND p.n > q.m
-- bounded: 16

-- FULL, windows beside the one before
SELECT COALESCE(p.w, q.w) AS w, n, m FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S WHERE v > 0 GROUP BY ts DIV 4, b) AS p FULL JOIN (SELECT ts DIV 4 AS w, b, MAX(v) AS m FROM T WHERE a < 3 GROUP BY ts DIV 4, b) AS q ON p.w = q.w + 1 AND p.b = q.b
-- bounded: 20

-- FULL, groups
SELECT g.*, h.b AS c, m FROM (SELECT b, COUNT(*) AS n FROM S WHERE v > 1 GROUP BY b) AS g FULL JOIN (SELECT b, MAX(v) AS m FROM T WHERE a = 1 GROUP BY b) AS h ON g.b = h.b
-- bounded: 14

-- FULL, groups, one column
SELECT m FROM (SELECT b, COUNT(*) AS n FROM S WHERE v > 1 GROUP BY b) AS g FULL JOIN (SELECT b, MAX(v) AS m FROM T WHERE a = 1 GROUP BY b) AS h ON g.b = h.b AND g.n > h.m
-- bounded: 14

-- FULL, groups, counted
SELECT COUNT(*) AS c, COUNT(n) AS d, SUM(m) AS s FROM (SELECT b, COUNT(*) AS n FROM S WHERE v > 1 GROUP BY b) AS g FULL JOIN (SELECT b, MAX(v) AS m FROM T WHERE a = 1 GROUP BY b) AS h ON g.b = h.b
-- bounded: 15

-- RIGHT, a stream that groups are joined to
SELECT T.b, T.a, n FROM (SELECT b, COUNT(*) AS n FROM S WHERE v > 1 GROUP BY b) AS g RIGHT JOIN T ON T.b = g.b AND T.a = 1
-- bounded: 9

-- RIGHT, then by window
SELECT q.w, COUNT(n) AS c FROM (SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S WHERE v > 0 GROUP BY ts DIV 4, b) AS p RIGHT JOIN (SELECT ts DIV 4 AS w, b, MAX(v) AS m FROM T WHERE a < 3 GROUP BY ts DIV 4, b) AS q ON p.w = q.w GROUP BY q.w
-- bounded: 14

-- Conditions over rows of several sources.
--

SELECT S.a, T.v FROM S JOIN T ON S.ts > T.ts AND S.ts <= T.ts + 5 AND abs(S.v - T.v) > 2
-- bounded: 10

SELECT S.a, S.b + T.b AS s FROM S, T WHERE S.ts > T.ts AND (S.a + T.b) % 2 = 0
-- bounded: 4

SELECT S.* FROM S JOIN T ON S.ts > T.ts WHERE concat(S.b, T.b) LIKE '%1'
-- bounded: 4

SELECT S.a, T.v % 3 AS w FROM S, T WHERE S.ts > T.ts AND (S.v * (T.v % 3)) >= 2 AND T.b = 1
-- bounded: 6

SELECT d.s, d.w FROM (SELECT S.a AS s, T.b AS w FROM S JOIN T ON S.ts > T.ts) AS d WHERE d.s * d.w > 3
-- bounded: 4

SELECT S.b, COUNT(*) AS n, SUM(T.b) AS t FROM S JOIN T ON S.ts > T.ts AND S.v + T.b + S.b > 2 GROUP BY S.b
-- bounded: 8

SELECT DISTINCT T.b FROM S, T WHERE S.ts > T.ts AND S.a * T.b > 3
-- bounded: 8

SELECT S.a, 6 / (S.v - T.b) AS q FROM S, T WHERE S.ts > T.ts AND S.v - T.b <> 0 AND S.v * T.b > 1
-- bounded: 3

SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND S.b = T.b AND S.a + T.b + S.v > 3
-- bounded: 3

SELECT a, b FROM S UNION ALL SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND S.a * T.b > 3
-- bounded: 4

-- Conditions over rows of several sources that nothing bounds, or that are refused.
--

SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.a * T.b > 3
-- unbounded

SELECT T.a, COUNT(*) FROM S, T WHERE S.ts > T.ts AND S.a * T.b > 3 GROUP BY T.a
-- unbounded

SELECT S.a FROM S, T WHERE S.ts > T.ts AND S.a * T.a > 3
-- unknown

SELECT S.a FROM S, T WHERE S.ts > T.ts AND (S.a + T.a) % 2 = 0
-- unknown

SELECT S.a FROM S, T WHERE S.ts > T.ts AND S.a * T.nothing > 3
-- error

SELECT S.a FROM S, T WHERE S.ts > T.ts AND S.a * T.b
-- unsupported

-- Outer, semi and anti joins beside a join of streams.
--

-- of the first stream
SELECT p.a, l.v, r.v AS w FROM S AS p JOIN T AS l ON l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2 LEFT JOIN T AS r ON r.a = p.a AND r.ts BETWEEN p.ts AND p.ts + 3
-- bounded: 20

-- of the second stream
SELECT p.a, l.v, r.v AS w FROM S AS p JOIN T AS l ON l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2 LEFT JOIN S AS r ON r.v = l.v AND r.ts BETWEEN l.ts - 2 AND l.ts + 1
-- bounded: 14

-- of both
SELECT p.a, l.v, r.v AS w FROM S AS p JOIN T AS l ON l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2 LEFT JOIN T AS r ON r.a = p.a AND r.ts BETWEEN p.ts AND p.ts + 3 AND r.v > l.v
-- bounded: 20

-- semi
SELECT p.a, l.v FROM S AS p JOIN T AS l ON l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2 LEFT SEMI JOIN T AS r ON r.a = p.a AND r.ts BETWEEN p.ts AND p.ts + 3
-- bounded: 20

-- anti
SELECT p.a, l.v FROM S AS p JOIN T AS l ON l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2 LEFT ANTI JOIN T AS r ON r.a = p.a AND r.ts BETWEEN p.ts AND p.ts + 3
-- bounded: 20

-- not exists
SELECT p.a, l.v FROM S AS p JOIN T AS l ON l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2 WHERE NOT EXISTS (SELECT 1 FROM T AS r WHERE r.a = p.a AND r.ts BETWEEN p.ts AND p.ts + 3 AND r.v < l.v)
-- bounded: 20

-- the inner side
SELECT p.a, p.v FROM S AS p WHERE NOT EXISTS (SELECT 1 FROM T AS l JOIN T AS r ON l.b = r.b AND r.ts BETWEEN l.ts AND l.ts + 1 WHERE l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2)
-- bounded: 10

-- Columns of one name.
--

SELECT S.b AS x, S.b AS y FROM S EXCEPT ALL SELECT T.b, T.b FROM T
-- bounded: 4

SELECT S.b AS x, S.b AS y FROM S EXCEPT SELECT T.b, T.b FROM T
-- bounded: 4

SELECT S.b AS x, S.b AS y FROM S INTERSECT ALL SELECT T.b, T.b FROM T
-- bounded: 4

SELECT S.b AS x, S.b AS y FROM S INTERSECT SELECT T.b, T.b FROM T
-- bounded: 4

SELECT ts DIV 5 AS x, v AS n FROM S EXCEPT SELECT ts DIV 5 AS d, v AS d FROM T
-- bounded: 16

SELECT b AS x, 1 AS y FROM S EXCEPT ALL SELECT 1 AS z, b AS z FROM T
-- bounded: 1

SELECT b AS x, COUNT(*) AS n FROM S GROUP BY b EXCEPT ALL SELECT b, COUNT(*) AS b FROM T GROUP BY b
-- bounded: 16

SELECT b AS x, MAX(v) AS y FROM S GROUP BY b INTERSECT SELECT b, MAX(v) AS b FROM T GROUP BY b
-- bounded: 16

SELECT b AS x, b AS y FROM S EXCEPT SELECT DISTINCT b, b FROM T
-- bounded: 8

SELECT DISTINCT * FROM (SELECT b AS x, b AS y FROM S EXCEPT SELECT b, b FROM T) q
-- bounded: 20

SELECT b AS x, b AS y, b AS z FROM S EXCEPT ALL SELECT *, b FROM (SELECT b, b AS c FROM T) q
-- bounded: 4

SELECT b AS k, b AS l, b AS m, b AS n FROM S UNION ALL SELECT * FROM (SELECT b AS x, COUNT(*) AS y FROM S GROUP BY b) q JOIN (SELECT b AS x, COUNT(*) AS y FROM T GROUP BY b) r ON q.x = r.x
-- bounded: 12

SELECT b AS k, b AS l, b AS m FROM S UNION ALL SELECT * FROM (SELECT b AS x, COUNT(*) AS y FROM S GROUP BY b) q FULL JOIN (SELECT b AS x, COUNT(*) AS y FROM T GROUP BY b) r USING (x)
-- bounded: 14

SELECT S.b AS x, T.b AS y FROM S LEFT JOIN T ON S.ts = T.ts UNION ALL SELECT S.b, T.b FROM S LEFT JOIN T ON S.ts = T.ts
-- bounded: 0

SELECT b AS x, COUNT(*) OVER (PARTITION BY ts) AS r FROM S UNION ALL SELECT b, COUNT(*) OVER (PARTITION BY ts) AS b FROM T
-- bounded: 0

SELECT COUNT(*) AS n FROM (SELECT DISTINCT b, b FROM S) q
-- bounded: 5

SELECT COUNT(*) AS n FROM (SELECT * FROM S JOIN T ON S.ts = T.ts) q
-- bounded: 1

SELECT x, y, COUNT(*) AS n FROM (SELECT b, b FROM S EXCEPT ALL SELECT b, b FROM T) q(x, y) GROUP BY x, y
-- bounded: 20

SELECT x, y FROM (SELECT b, COUNT(*) AS b FROM S GROUP BY b UNION ALL SELECT b, b FROM T) q(x, y)
-- bounded: 4

SELECT q.x, r.w FROM (SELECT b, COUNT(*) AS b FROM S GROUP BY b) q(x, y) LEFT JOIN (SELECT b, COUNT(*) AS b FROM T GROUP BY b) r(x, w) ON q.x = r.x
-- bounded: 13

WITH c(x, y) AS (SELECT b, b FROM S) SELECT x, y FROM c EXCEPT ALL SELECT T.b, T.b FROM T
-- bounded: 4

WITH c AS (SELECT b, b FROM S), d AS (SELECT * FROM c UNION ALL SELECT b, v FROM T) SELECT COUNT(*) AS n FROM d
-- bounded: 1

-- What is computed of several rows, or is a time, below other operators.
--

SELECT x, COUNT(*) AS n FROM (SELECT S.b * T.b AS x FROM S JOIN T ON S.ts > T.ts) GROUP BY x
-- bounded: 9

SELECT S.b * T.b AS x, SUM(S.v) AS v FROM S JOIN T ON S.ts > T.ts GROUP BY S.b * T.b
-- bounded: 9

SELECT S.b * T.b AS x FROM S JOIN T ON S.ts > T.ts UNION ALL SELECT b FROM S GROUP BY b
-- bounded: 8

SELECT S.b * T.b AS x FROM S JOIN T ON S.ts > T.ts EXCEPT SELECT b FROM S
-- bounded: 9

SELECT S.b, COUNT(DISTINCT S.b * T.b) AS v FROM S JOIN T ON S.ts > T.ts GROUP BY S.b
-- bounded: 25

SELECT S.b, MAX(S.b * T.b) AS v FROM S JOIN T ON S.ts > T.ts GROUP BY S.b
-- bounded: 9

SELECT S.ts DIV 4 AS z, S.b * T.b AS x, COUNT(*) AS n FROM S JOIN T ON S.ts > T.ts AND S.ts < T.ts + 9 GROUP BY S.ts DIV 4, S.b * T.b
-- bounded: 21

SELECT x, COUNT(*) AS n FROM (SELECT S.ts - T.ts AS x FROM S JOIN T ON S.ts > T.ts AND S.ts < T.ts + 9) GROUP BY x
-- bounded: 16

SELECT S.ts DIV 4 AS z, S.ts - T.ts AS x, COUNT(*) AS n FROM S JOIN T ON S.ts > T.ts AND S.ts < T.ts + 9 GROUP BY S.ts DIV 4, S.ts - T.ts
-- bounded: 16

SELECT S.ts DIV 4 AS z, T.ts AS x, COUNT(*) AS n FROM S JOIN T ON S.ts > T.ts AND S.ts < T.ts + 9 GROUP BY S.ts DIV 4, T.ts
-- bounded: 18

SELECT S.b, COUNT(DISTINCT S.ts - T.ts) AS n FROM S JOIN T ON S.ts > T.ts AND S.ts < T.ts + 9 GROUP BY S.b
-- bounded: 52

SELECT S.ts - T.ts AS d FROM S JOIN T ON S.ts > T.ts AND S.ts < T.ts + 9 EXCEPT SELECT b FROM S
-- bounded: 16

SELECT b, MAX(ts) AS m FROM S GROUP BY b
-- bounded: 4

SELECT b, MIN(ts) AS m, COUNT(*) AS n FROM S GROUP BY b
-- bounded: 4

SELECT MAX(ts) AS m, MIN(ts) AS n, MAX(v) AS w FROM S
-- bounded: 1

SELECT MAX(T.ts) AS m FROM S JOIN T ON S.ts > T.ts
-- bounded: 3

SELECT n FROM (SELECT S.b, T.b, COUNT(*) AS n FROM S JOIN T ON S.ts > T.ts GROUP BY S.b, T.b) WHERE n > 1
-- bounded: 20

SELECT y, n FROM (SELECT S.b, T.b, COUNT(*) AS n FROM S JOIN T ON S.ts > T.ts GROUP BY S.b, T.b) AS d (x, y, n) WHERE x < 2
-- bounded: 12

-- Truth values.
--

SELECT b, BOOL_AND(v > 0) AS every, BOOL_OR(a = 1) AS some, COUNT(*) AS n FROM S GROUP BY b
-- bounded: 4

SELECT BOOL_OR(v > 3 AND a IS NULL) AS found FROM S WHERE b = 1
-- bounded: 1

SELECT ts DIV 5 AS w, BOOL_AND(v < 4) AS every FROM S GROUP BY ts DIV 5 HAVING BOOL_OR(v < -2)
-- bounded: 1

SELECT x.b, BOOL_AND(x.n > 1) AS every FROM (SELECT b, ts DIV 5 AS w, COUNT(*) AS n FROM S GROUP BY b, ts DIV 5) AS x GROUP BY x.b
-- bounded: 12

-- DISTINCT and UNION in buckets of time.
--

SELECT DISTINCT S.a, S.ts DIV 5 AS w FROM S
-- bounded: 8

SELECT DISTINCT S.ts DIV 5 AS w, S.a + S.b AS c, S.b FROM S WHERE S.a > 0
-- bounded: 8

SELECT S.a, S.ts DIV 5 AS w FROM S UNION SELECT T.b, T.ts DIV 5 AS w FROM T
-- bounded: 12

SELECT DISTINCT S.a, T.b, S.ts DIV 4 AS w FROM S JOIN T ON S.a = T.a AND T.ts = S.ts
-- bounded: 24

SELECT DISTINCT S.a, S.ts % 5 AS w FROM S
-- unbounded

-- Aggregates of aggregates (D3), and of no rows.
--

SELECT SUM(n) AS n, SUM(m) AS m, SUM(s) AS s FROM (SELECT b, COUNT(*) FILTER (WHERE v > 3) AS n, COUNT(v) AS m, SUM(v) FILTER (WHERE v > 3) AS s FROM S GROUP BY b) AS g
-- bounded: 1

SELECT b, SUM(n) AS n FROM (SELECT b, COUNT(*) FILTER (WHERE v > 3) AS n, COUNT(v) AS m, SUM(v) FILTER (WHERE v > 3) AS s FROM S GROUP BY b) AS g GROUP BY b
-- bounded: 4

SELECT SUM(n) AS n, SUM(s) AS s FROM (SELECT COUNT(*) FILTER (WHERE v > 3) AS n, SUM(v) AS s FROM S WHERE v > 2) AS g
-- bounded: 1

-- recheck cannot follow: values of a union of groups
SELECT n FROM (SELECT b, COUNT(*) FILTER (WHERE v > 3) AS n, COUNT(v) AS m, SUM(v) FILTER (WHERE v > 3) AS s FROM S GROUP BY b) AS g UNION SELECT SUM(n) AS n FROM (SELECT COUNT(*) FILTER (WHERE v > 3) AS n, SUM(v) AS s FROM S WHERE v > 2) AS h
-- bounded: 10

SELECT SUM(S.b) AS s, COUNT(*) AS n FROM S ANTI JOIN T ON S.b = T.b WHERE S.b > 3
-- bounded: 1

SELECT MAX(n) AS n, MIN(n) AS m, COUNT(*) AS k FROM (SELECT COUNT(*) AS n FROM S GROUP BY ts DIV 4, a) AS g
-- bounded: 19

SELECT MIN(s) AS s FROM (SELECT SUM(v) AS s FROM S GROUP BY ts DIV 3 HAVING COUNT(*) > 1) AS g WHERE s > 2
-- bounded: 3

SELECT T.b FROM T UNION ALL SELECT SUM(S.b) AS s FROM S LEFT JOIN T ON S.b = T.b WHERE S.b > 3
-- bounded: 1

-- Outer joins whose partners are equal or both NULL, or are near by several conditions.
--

SELECT S.a, T.v FROM S LEFT JOIN T ON S.a IS NOT DISTINCT FROM T.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 1
-- bounded: 4

SELECT S.a, T.v FROM S FULL JOIN T ON S.a + 1 IS NOT DISTINCT FROM T.b AND T.ts BETWEEN S.ts - 1 AND S.ts + 1 AND T.v >= S.v
-- bounded: 4

SELECT S.b, T.v FROM S LEFT JOIN T ON (S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + 1) OR (S.b = T.b AND T.ts BETWEEN S.ts - 2 AND S.ts)
-- bounded: 6

SELECT S.b, T.v FROM S RIGHT JOIN T ON S.b = T.b AND abs(S.ts - T.ts) < 3
-- bounded: 8

SELECT S.b, T.v FROM S FULL JOIN T ON S.b = T.b AND S.ts DIV 3 = T.ts DIV 3
-- bounded: 8

-- ORDER BY … LIMIT, DISTINCT ON, and several groupings.
--

SELECT a, v FROM S ORDER BY v DESC, a, b, ts LIMIT 3
-- bounded: 3

SELECT v FROM S ORDER BY S.ts DESC, a, b, v LIMIT 2 OFFSET 1
-- bounded: 3

SELECT b, COUNT(*) AS n, SUM(v) FROM S GROUP BY b ORDER BY 2 DESC, b LIMIT 2
-- bounded: 8

SELECT q.n FROM (SELECT DISTINCT b, b + 1 AS n FROM S ORDER BY n DESC, b LIMIT 2) AS q
-- bounded: 18

SELECT S.b, T.v FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + 3 ORDER BY T.v + S.v DESC, S.b, T.v LIMIT 4
-- bounded: 10

SELECT a FROM S UNION ALL SELECT b FROM T ORDER BY a DESC LIMIT 3
-- bounded: 3

SELECT DISTINCT ON (b) b, v FROM S ORDER BY b, ts DESC, v, a
-- bounded: 4

SELECT DISTINCT ON (b, v % 2) a, ts FROM S ORDER BY b, v % 2, v, ts DESC, a
-- bounded: 16

SELECT DISTINCT ON (a) a, v FROM S ORDER BY a, ts DESC, v, b
-- unbounded

SELECT b, v % 2 AS h, COUNT(*) AS n FROM S GROUP BY GROUPING SETS ((b, v % 2), (b), ()) HAVING COUNT(*) > 0
-- bounded: 21

SELECT b, v % 2, SUM(b) AS s, MAX(v) AS m, GROUPING(b) AS g, GROUPING_ID(b, v % 2) AS i FROM S GROUP BY CUBE (b, v % 2) HAVING COUNT(*) > 0
-- bounded: 25

SELECT S.b, T.b AS o, COUNT(*) AS n FROM S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + 3 GROUP BY S.b, ROLLUP (T.b)
-- bounded: 32

SELECT ts DIV 4 AS w, a, b, SUM(v) AS n FROM S GROUP BY ts DIV 4, ROLLUP (a, b)
-- bounded: 13

SELECT b, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM S GROUP BY ROLLUP (b) HAVING COUNT(*) > 0
-- bounded: 10

SELECT a, b, COUNT(*) AS n FROM S GROUP BY ROLLUP (b, a) HAVING COUNT(*) > 0
-- unbounded

-- FILTER, DISTINCT and IGNORE NULLS over windows.
--

SELECT v, LAST_VALUE(a) IGNORE NULLS OVER (PARTITION BY b ORDER BY ts, v, a, b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS x FROM S
-- bounded: 4

SELECT v, FIRST_VALUE(a) IGNORE NULLS OVER (PARTITION BY b ORDER BY ts, v, a ROWS UNBOUNDED PRECEDING) AS x, COUNT(*) FILTER (WHERE a > 1) OVER (PARTITION BY b ORDER BY ts, v, a ROWS UNBOUNDED PRECEDING) AS n FROM S
-- bounded: 4

SELECT v, LAST_VALUE(a) IGNORE NULLS OVER (PARTITION BY b ORDER BY ts, v, a ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS x FROM S
-- bounded: 12

-- not in DuckDB: FILTER of a value
SELECT v, LAST_VALUE(a) FILTER (WHERE v > 0) OVER (PARTITION BY b ORDER BY ts) AS x FROM S
-- bounded: 4

-- not in DuckDB: ties go by the other columns
SELECT v, LAST_VALUE(a) IGNORE NULLS OVER (PARTITION BY ts DIV 4 ORDER BY b) AS x FROM S
-- bounded: 6

SELECT v, SUM(v) FILTER (WHERE a > 1) OVER (PARTITION BY b ORDER BY ts) AS x, BOOL_OR(a > 2) OVER (PARTITION BY b ORDER BY ts) AS n FROM S
-- bounded: 4

SELECT v, COUNT(DISTINCT a) OVER (PARTITION BY b ORDER BY ts, v, a ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS x FROM S
-- bounded: 12

SELECT v, COUNT(DISTINCT a) FILTER (WHERE v > 0) OVER (PARTITION BY ts DIV 4, b) AS x FROM S
-- bounded: 6

-- The value of the row with the greatest or least other one.
--

SELECT b, COUNT(*) AS n, MAX_BY(v, ts * 100 + v) AS x, MIN_BY(v, ts * 100 + v) AS y, SUM(v) AS s FROM S GROUP BY b
-- bounded: 4

SELECT ts DIV 4 AS w, a, MAX_BY(v, ts * 100 + v) AS x, MIN_BY(v, ts * 100 + v) AS y, MAX(v) AS m FROM S GROUP BY ts DIV 4, a
-- bounded: 6

-- not in DuckDB: of equal values the greatest other one
SELECT b, MAX_BY(a, ts) FILTER (WHERE v > 0) AS x, MIN_BY(a, v) AS y FROM S GROUP BY b
-- bounded: 4

SELECT MAX_BY(v, ts * 100 + v) AS x FROM S
-- bounded: 1

-- not in DuckDB: of equal values the greatest other one
SELECT S.b, MAX_BY(T.a, T.ts) AS x FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + 3 GROUP BY S.b
-- bounded: 9

SELECT b, MAX_BY(n, w) AS x FROM (SELECT b, ts DIV 4 AS w, COUNT(*) AS n FROM S GROUP BY b, ts DIV 4) AS q GROUP BY b
-- bounded: 12

-- not in DuckDB: of equal values the greatest other one
SELECT b, MAX_BY(w, n) AS x FROM (SELECT b, ts DIV 4 AS w, COUNT(*) AS n FROM S GROUP BY b, ts DIV 4) AS q GROUP BY b
-- bounded: 12

SELECT a, MAX_BY(v, ts) AS x FROM S GROUP BY a
-- unbounded

-- PIVOT, UNPIVOT, and distinct pairs.
--

SELECT * FROM (SELECT b, v, a FROM S) AS q PIVOT (SUM(v) AS s, MAX(v) AS m FOR a IN (1, 2 AS two))
-- bounded: 4

-- not in DuckDB: a count of no rows is NULL
SELECT w, one, two FROM (SELECT ts DIV 4 AS w, a FROM S) AS q PIVOT (COUNT(a) FOR a IN (1 AS one, 2 AS two)) AS p
-- bounded: 1

-- not in DuckDB: sqlglot writes another alias
SELECT k, x, COUNT(*) AS n FROM (SELECT b, v FROM S) UNPIVOT (x FOR k IN (b, v AS c)) AS q WHERE x BETWEEN 0 AND 3 GROUP BY k, x
-- bounded: 7

-- not in DuckDB: it has one argument there
SELECT ts DIV 4 AS w, COUNT(DISTINCT a, b) AS n, COUNT(*) AS m FROM S GROUP BY ts DIV 4
-- bounded: 7

-- not in DuckDB: it has one argument there
SELECT b, COUNT(DISTINCT b, v) FILTER (WHERE v IN (1, 2)) AS n FROM S GROUP BY b
-- bounded: 32

SELECT b, COUNT(DISTINCT a, v) AS n FROM S GROUP BY b
-- unbounded

-- The latest row of another stream.
--

-- not in DuckDB: of the latest rows it takes any
SELECT S.v, T.v AS w, T.a AS x FROM S ASOF LEFT JOIN T ON S.b = T.b AND S.ts >= T.ts
-- bounded: 4

-- not in DuckDB: of the latest rows it takes any
SELECT S.v, T.v AS w FROM S ASOF JOIN T ON S.b = T.b AND S.ts > T.ts WHERE S.v > 0 OR T.v > 0
-- bounded: 4

-- not in DuckDB: of the latest rows it takes any
SELECT S.v, q.w, q.a FROM S LEFT JOIN LATERAL (SELECT T.v + 1 AS w, a FROM T WHERE T.b = S.b AND T.ts <= S.ts AND T.v > 0 ORDER BY T.ts DESC LIMIT 1) AS q ON true
-- bounded: 4

-- not in DuckDB: the latest row of a window
SELECT S.a, q.v, q.b FROM S LEFT JOIN LATERAL (SELECT T.v, T.b FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 3 AND S.ts ORDER BY T.ts DESC LIMIT 1) AS q ON TRUE
-- bounded: 12

-- not in DuckDB: the latest of the rows before
SELECT S.v, q.v AS w FROM S JOIN LATERAL (SELECT T.v FROM T WHERE T.a = S.a AND S.ts > T.ts AND S.ts < T.ts + 3 ORDER BY T.ts DESC LIMIT 1) AS q WHERE S.b > 0
-- bounded: 8

-- frames of rows of two streams
SELECT a, COUNT(*) FILTER (WHERE s = 0) OVER (PARTITION BY a ORDER BY ts RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS n FROM (SELECT a, ts, 1 AS s FROM S UNION ALL SELECT b, ts, 0 FROM T) AS u
-- bounded: 12

SELECT S.a, T.v AS w FROM S ASOF LEFT JOIN T ON S.a = T.a AND S.ts >= T.ts
-- unbounded

-- a column that is called as one of a rewrite: _n
SELECT a AS _n, b AS _s, v AS _o1 FROM S ORDER BY a + v DESC, ts, a, b, v LIMIT 2
-- bounded: 2

-- how many values an array has
SELECT b, SIZE(COLLECT_LIST(a)) AS n, ARRAY_CONTAINS(COLLECT_SET(a), 1) AS c, ARRAY_MAX(COLLECT_LIST(v)) AS m FROM S GROUP BY b
-- bounded: 4

-- how many other values an array has
SELECT SIZE(COLLECT_SET(b)) AS n FROM S WHERE b IS NOT NULL HAVING SIZE(COLLECT_SET(b)) > 1
-- bounded: 4

-- not in DuckDB: in its structs NULL comes last
SELECT b, MAX(STRUCT(v, a)).a AS x, MAX(STRUCT(v, a)).v AS y, MIN(STRUCT(ts, v AS w)).w AS z FROM S GROUP BY b
-- bounded: 4

-- not in DuckDB: windows that grow by a step
SELECT b, window_start, window_end, COUNT(*) AS n FROM TABLE(CUMULATE(TABLE S, DESCRIPTOR(ts), '2 microseconds', '6 microseconds')) GROUP BY b, window_start, window_end
-- bounded: 24

-- not in DuckDB: rows of windows that grow by a step, from an offset on
SELECT v, window_start AS s, window_end AS e FROM TABLE(CUMULATE(DATA => TABLE S, TIMECOL => DESCRIPTOR(ts), STEP => '2 microseconds', SIZE => '4 microseconds', OFFSET => '1 microsecond')) AS c WHERE v > 0
-- bounded: 0

-- a running count of distinct values
SELECT a, COUNT(DISTINCT b) OVER (ORDER BY ts) AS n, COUNT(DISTINCT a % 3) FILTER (WHERE v > 0) OVER (PARTITION BY b ORDER BY ts, a, v ROWS UNBOUNDED PRECEDING) AS m FROM S WHERE a > 0
-- bounded: 33

SELECT COUNT(DISTINCT v) OVER (PARTITION BY b ORDER BY ts) AS n FROM S
-- unbounded

-- recheck cannot follow: a column that three sides have
SELECT b, p.c, q.d, r.m FROM (SELECT b, COUNT(*) AS c FROM S WHERE v > 1 GROUP BY b) AS p FULL JOIN (SELECT b, COUNT(*) AS d FROM T WHERE a > 2 GROUP BY b) AS q USING (b) FULL JOIN (SELECT a AS b, MAX(v) AS m FROM T WHERE a BETWEEN 0 AND 2 GROUP BY a) AS r USING (b)
-- bounded: 44

-- a column that three sides have, shown once
SELECT * FROM (SELECT b, COUNT(*) AS c FROM S WHERE v > 1 GROUP BY b) AS p RIGHT JOIN (SELECT b, COUNT(*) AS d FROM T WHERE a > 1 GROUP BY b) AS q USING (b) LEFT JOIN (SELECT b, MAX(v) AS m FROM S WHERE a > 2 GROUP BY b) AS r USING (b)
-- bounded: 22

-- the columns that both sides have
SELECT b, c, d FROM (SELECT a % 2 AS g, b, COUNT(*) AS c FROM S WHERE a > 0 GROUP BY a % 2, b) AS p NATURAL LEFT JOIN (SELECT b, a % 2 AS g, COUNT(*) AS d FROM T WHERE a > 0 GROUP BY a % 2, b) AS q
-- bounded: 39

SELECT v, VAR_POP(v) OVER (PARTITION BY b ORDER BY ts, v, a ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS x FROM S
-- bounded: 12
