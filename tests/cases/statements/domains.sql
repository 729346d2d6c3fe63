-- [streams.S]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- domain = { a = [0, 9], b = [0, 2] }
-- [streams.T]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- domain = { a = [0, 9], b = [0, 2] }

-- NOT IN at any time.
--

SELECT S.b FROM S WHERE S.a NOT IN (SELECT T.a FROM T)
-- bounded: 60

SELECT S.a FROM S WHERE S.a NOT IN (SELECT T.b FROM T WHERE T.v > 0)
-- bounded: 19

SELECT S.a, S.b FROM S WHERE S.v <> 0 AND S.a NOT IN (SELECT T.v FROM T WHERE T.b = S.b)
-- bounded: 99

SELECT S.b FROM S WHERE S.v BETWEEN 0 AND 1 AND S.v NOT IN (SELECT T.v FROM T WHERE T.a >= S.b)
-- bounded: 12

SELECT COUNT(*) AS n, SUM(b) AS total FROM S WHERE a NOT IN (SELECT T.a FROM T WHERE T.v < 2)
-- bounded: 61

-- USING between queries.
--

-- all columns
SELECT * FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b)
-- bounded: 12

-- all columns, left
SELECT * FROM (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q LEFT JOIN (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p USING (b)
-- bounded: 13

-- its name
SELECT b + 1 AS c, m FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b) WHERE b > 0
-- bounded: 8

-- both sides
SELECT p.b AS c, q.b AS d, n FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p LEFT JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b)
-- bounded: 13

-- semi
SELECT b, n FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p LEFT SEMI JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b)
-- bounded: 12

-- anti
SELECT * FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p LEFT ANTI JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b)
-- bounded: 13

-- twice
SELECT * FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b) LEFT JOIN (SELECT MAX(v) AS n, b FROM T GROUP BY b) AS r USING (b, n)
-- bounded: 21

-- all columns, right
SELECT * FROM (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q RIGHT JOIN (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p USING (b)
-- bounded: 13

-- all columns, full
SELECT * FROM (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q FULL JOIN (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p USING (b)
-- bounded: 14

-- its name, full
SELECT b, m - n AS d FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p FULL JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b) WHERE b > 0 OR n > 2
-- bounded: 14

-- both sides, right
SELECT b, p.b AS c, q.b AS d FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p RIGHT JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b)
-- bounded: 13

-- of a key
SELECT b, COUNT(*) AS c, MAX(m) AS x FROM (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q JOIN (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p USING (b) GROUP BY b HAVING b > 0
-- bounded: 12

-- beside ON
SELECT x.*, r.n AS k FROM (SELECT * FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b)) AS x JOIN (SELECT MAX(v) AS n, b FROM T GROUP BY b) AS r ON x.b = r.b
-- bounded: 21

-- in one query, and not in another
SELECT x.c FROM (SELECT COUNT(*) AS c FROM (SELECT * FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q USING (b)) AS y) AS x JOIN (SELECT p.b AS k, q.b AS l FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) AS p JOIN (SELECT b, SUM(v) AS m FROM T WHERE v > 0 GROUP BY b) AS q ON p.n = q.m) AS z ON z.k = x.c
-- bounded: 31

-- of streams, LEFT
SELECT b, S.b AS c, T.b AS d, T.a AS e FROM S LEFT JOIN T USING (b) WHERE T.b > 0 OR S.a < 5
-- bounded: 66

-- of streams, RIGHT
SELECT b, S.b AS c, T.b AS d, T.a AS e FROM S RIGHT JOIN T USING (b) WHERE T.b > 0 OR S.a < 5
-- bounded: 66

-- of streams, FULL
SELECT b, S.b AS c, T.b AS d, T.a AS e FROM S FULL JOIN T USING (b) WHERE T.b > 0 OR S.a < 5
-- bounded: 66

-- of streams, all columns
SELECT t.*, s.a AS x, s.b AS y FROM (SELECT b, a FROM S) AS s LEFT JOIN (SELECT a, b FROM T) AS t USING (b)
-- bounded: 66

-- of streams, semi
SELECT S.b, b AS c FROM S LEFT SEMI JOIN T USING (b, a)
-- bounded: 60

-- of streams, grouped
SELECT T.b AS k, COUNT(*) AS n FROM S LEFT JOIN T USING (b) GROUP BY T.b
-- bounded: 10

-- A star that leaves columns out.
--

SELECT T.* EXCEPT (v, ts, a) FROM S LEFT JOIN T ON S.b = T.b
-- bounded: 6

SELECT S.* EXCEPT (v, ts, b), T.b AS c FROM S FULL JOIN T ON S.b = T.b
-- bounded: 36

SELECT * EXCEPT (v, ts, a) FROM S RIGHT JOIN T USING (b)
-- bounded: 6

SELECT COUNT(*) AS n FROM (SELECT DISTINCT t.* EXCEPT (v, ts) FROM S LEFT JOIN T AS t USING (b)) AS q
-- bounded: 81

-- Values that the left side cannot have.
--

SELECT S.b FROM S EXCEPT SELECT T.v FROM T
-- bounded: 4

SELECT S.b FROM S WHERE S.v < 3 EXCEPT SELECT T.v FROM T WHERE T.v >= -2
-- bounded: 4

SELECT S.b, S.a FROM S EXCEPT SELECT T.v, T.a FROM T
-- bounded: 44

SELECT S.b, S.b AS c FROM S EXCEPT SELECT T.v, T.b FROM T
-- bounded: 4

SELECT S.b FROM S INTERSECT SELECT T.v FROM T
-- bounded: 4

SELECT S.b, S.a FROM S INTERSECT ALL SELECT T.v, T.a FROM T
-- bounded: 44

-- Joins whose kept side has no rows.
--

-- the row that aggregates have of none
SELECT MIN(S.b) AS n FROM S LEFT SEMI JOIN T ON S.a = T.a AND S.b > T.v AND S.a > 1 WHERE S.a IS NULL UNION SELECT MAX(T.v) AS n FROM T
-- bounded: 4

-- groups
SELECT S.b AS n, COUNT(*) AS m FROM S LEFT SEMI JOIN T ON S.a = T.a AND S.b > T.v AND S.a > 1 WHERE S.a IS NULL GROUP BY S.b UNION ALL SELECT MAX(v) AS n, COUNT(*) AS m FROM T
-- bounded: 1

-- not in of NULL
SELECT S.b FROM S WHERE S.a IS NULL AND S.a NOT IN (SELECT T.a FROM T WHERE T.b = S.b)
-- bounded: 6

-- not in of NULL, below OR
SELECT S.b FROM S WHERE S.a IS NULL AND (S.b = 1 OR S.a NOT IN (SELECT T.a FROM T WHERE T.b = S.b))
-- bounded: 6

-- not in of what is not NULL
SELECT S.b FROM S WHERE S.b = 1 AND S.b NOT IN (SELECT T.b FROM T WHERE T.v > 0)
-- bounded: 4

-- Groups that a later one passes.
--

-- sessions by hand
SELECT a, n, COUNT(*) AS c, MIN(ts) AS b, MAX(ts) AS e FROM (SELECT a, ts, SUM(gap) OVER (PARTITION BY a ORDER BY ts) AS n FROM (SELECT a, ts, CASE WHEN ts > LAG(ts) OVER (PARTITION BY a ORDER BY ts) + 2 THEN 1 ELSE 0 END AS gap FROM S) AS p) AS q GROUP BY a, n
-- bounded: 33

-- of all rows, with values
SELECT n, COUNT(DISTINCT b) AS c, MAX(v) AS m FROM (SELECT b, v, COUNT(CASE WHEN v > 0 THEN 1 END) OVER (ORDER BY ts) AS n FROM S) AS q GROUP BY n
-- bounded: 6

-- below a condition, with another name
SELECT k, m, SUM(v) AS s FROM (SELECT a AS k, b, v, n AS m FROM (SELECT a, b, v, SUM(CASE v WHEN 1 THEN 2 END) OVER (PARTITION BY a ORDER BY ts ROWS UNBOUNDED PRECEDING) AS n FROM S) AS p WHERE v < 2) AS q GROUP BY m, k
-- bounded: 22

-- a sum of what may be negative falls
SELECT a, n, COUNT(*) AS c FROM (SELECT a, SUM(v) OVER (PARTITION BY a ORDER BY ts) AS n FROM S) AS q GROUP BY a, n
-- unknown

-- of each partition it rises, and not of all rows
SELECT n, COUNT(*) AS c FROM (SELECT COUNT(*) OVER (PARTITION BY a ORDER BY ts) AS n FROM S) AS q GROUP BY n
-- unknown

-- from the last row on it falls
SELECT b, n, COUNT(*) AS c FROM (SELECT b, COUNT(*) OVER (PARTITION BY b ORDER BY ts DESC) AS n FROM S) AS q GROUP BY b, n
-- unknown

-- rows that wait come late
SELECT q.b, q.n, COUNT(*) AS c FROM (SELECT b, ts, COUNT(*) OVER (PARTITION BY b ORDER BY ts) AS n FROM S) AS q LEFT JOIN T ON T.b = q.b AND T.a = q.n AND T.ts BETWEEN q.ts AND q.ts + 2 GROUP BY q.b, q.n
-- unknown

-- Groups by the newer row.
--

-- pairs without a lower limit
SELECT T.b, MAX(S.v) AS m, COUNT(*) AS n FROM S JOIN T ON S.a = T.a AND S.ts <= T.ts GROUP BY T.b, T.v, T.ts
-- bounded: 11

-- rows without a partner, too
SELECT T.ts, T.a, MIN(S.v) FILTER (WHERE S.b > 0) AS m, COUNT(S.v) AS n FROM T LEFT JOIN S ON S.a = T.a AND S.ts <= T.ts GROUP BY T.ts, T.a
-- bounded: 11

-- conditions of each side, and a condition on the group
SELECT T.ts DIV 5 AS w, MAX(S.v) AS m FROM S, T WHERE S.a = T.a AND T.ts >= S.ts AND S.v < 2 AND T.v > 0 GROUP BY T.ts DIV 5 HAVING MAX(S.v) > 0
-- bounded: 12

-- The only row of a side may be missing.
--

-- what it says is NULL then
SELECT q.m, COUNT(*) AS c FROM S LEFT JOIN (SELECT MAX(v) AS m FROM T) AS q ON S.b = 1 GROUP BY q.m
-- bounded: 5

-- What names earlier items of the list.
--

SELECT a + 1 AS c, c * 2 AS d, COUNT(*) AS n, n + c AS e FROM S GROUP BY a
-- bounded: 11

-- IN as a value.
--

-- of all earlier rows
SELECT S.v, S.b IN (SELECT T.b FROM T WHERE T.a = S.a AND T.ts <= S.ts) AS known FROM S
-- bounded: 66

-- of rows that are earlier, not at the same time
SELECT S.v, (SELECT SUM(T.v) FROM T WHERE T.b = S.b AND T.ts < S.ts) AS before FROM S
-- bounded: 4
