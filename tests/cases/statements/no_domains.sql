-- [streams.S]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- max_per_timestamp = 2
-- [streams.T]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- max_per_timestamp = 2

-- EXISTS and IN below OR.
--

-- exists
SELECT S.a, S.v FROM S WHERE S.v > 1 OR EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)
-- bounded: 6

-- not exists
SELECT S.a, S.v FROM S WHERE S.b = 0 OR NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)
-- bounded: 6

-- in
SELECT S.ts, S.b FROM S WHERE S.a = 1 OR S.b IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)
-- bounded: 4

-- not in
SELECT S.ts, S.b FROM S WHERE S.a = 1 OR S.b NOT IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)
-- bounded: 8

-- below AND
SELECT S.a, S.v FROM S WHERE S.v > 2 OR S.b <> 1 AND (S.v < 0 OR EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)) AND S.a > 0
-- bounded: 6

-- beside a condition
SELECT S.a, S.v FROM S WHERE S.v < 3 AND (S.a IS NULL OR NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2))
-- bounded: 6

-- with a condition of several cases
SELECT S.a FROM S WHERE S.v IN (1, 2) AND (S.b = 0 OR EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2))
-- bounded: 6

-- two
SELECT S.a, S.v FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) OR S.b IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)
-- bounded: 24

-- two, the first without
SELECT S.a, S.b FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) OR S.b IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)
-- bounded: 24

-- two that have no partner
SELECT S.a, S.b FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) OR NOT EXISTS (SELECT 1 FROM T WHERE T.v < S.b AND T.ts BETWEEN S.ts AND S.ts + 1)
-- bounded: 18

-- three
SELECT S.v FROM S WHERE S.v > 2 OR EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) OR S.b IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts) OR NOT EXISTS (SELECT 1 FROM T WHERE T.v < S.b AND T.ts BETWEEN S.ts AND S.ts + 1)
-- bounded: 48

-- AND of two, below OR
SELECT S.a, S.v FROM S WHERE S.b = 0 OR EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) AND S.v < 3 AND S.b IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)
-- bounded: 18

-- a comparison with a subquery
SELECT S.a, S.b FROM S WHERE S.b = (SELECT MIN(T.v) FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts) OR EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)
-- bounded: 14

-- a comparison with a subquery, below AND
SELECT S.a FROM S WHERE S.v < 3 AND NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) OR S.b < (SELECT MIN(T.v) FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts)
-- bounded: 14

-- OR of AND of two
SELECT S.a, S.v FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.v < S.b AND T.ts BETWEEN S.ts AND S.ts + 1) OR NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) AND S.b IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)
-- bounded: 24

-- AND of OR of two
SELECT S.a FROM S WHERE (EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) OR S.b IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)) AND (S.v < 0 OR NOT EXISTS (SELECT 1 FROM T WHERE T.v < S.b AND T.ts BETWEEN S.ts AND S.ts + 1))
-- bounded: 58

-- groups of a window
SELECT S.ts DIV 5 AS w, COUNT(*) AS n, MAX(S.v) AS m FROM S WHERE S.v > 1 OR EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) GROUP BY S.ts DIV 5
-- bounded: 8

-- Joins whose kept side has several cases.
--

-- semi
SELECT S.a, S.b FROM S WHERE S.v IN (0, 1, 2) AND EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)
-- bounded: 6

-- anti
SELECT S.a, S.b FROM S WHERE (S.v > 0 OR S.b = 1) AND NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)
-- bounded: 6

-- left
SELECT S.a, T.v FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2 WHERE S.v IN (0, 1) OR S.b = 2
-- bounded: 6

-- right
SELECT S.a, T.v FROM (SELECT * FROM T WHERE v > 0) AS T RIGHT JOIN S ON T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2 WHERE S.b <> 1
-- bounded: 6

-- not in
SELECT S.ts, S.b FROM S WHERE (S.a = 1 OR S.v > 0) AND S.b NOT IN (SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)
-- bounded: 8

-- three, whose last partners come later
SELECT S.a, S.b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts) AND NOT EXISTS (SELECT 1 FROM T WHERE T.b = S.v AND T.ts BETWEEN S.ts - 1 AND S.ts) AND EXISTS (SELECT 1 FROM T WHERE T.v <> 3 AND T.ts BETWEEN S.ts AND S.ts + 1)
-- bounded: 6

-- values that are few
SELECT S.v FROM S WHERE S.v IN (0, 1) AND NOT EXISTS (SELECT 1 FROM T WHERE T.b = 0)
-- bounded: 3

-- different ones
SELECT DISTINCT S.v FROM S WHERE S.v IN (0, 1) AND EXISTS (SELECT T.a FROM T WHERE T.b = 0)
-- bounded: 5

-- a union of windows
SELECT x.w, COUNT(*) AS n FROM (SELECT ts DIV 4 AS w FROM S WHERE v > 0 UNION ALL SELECT S.ts DIV 4 AS w FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)) AS x GROUP BY x.w
-- bounded: 8

-- Conditions above outer, semi and anti joins.
--

SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a = 3
-- bounded: 2

SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a BETWEEN 1 AND 3
-- bounded: 6

SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a IN (1, 3) AND T.a IS NULL
-- bounded: 4

SELECT S.a FROM S SEMI JOIN T ON S.a = T.a WHERE S.a BETWEEN 1 AND 3
-- bounded: 6

SELECT S.a FROM S ANTI JOIN T ON S.a = T.a WHERE S.a BETWEEN 1 AND 3
-- bounded: 6

SELECT S.a, T.a AS c FROM S FULL JOIN T ON S.a = T.a WHERE S.a BETWEEN 1 AND 3
-- bounded: 6

SELECT S.a, T.a AS c FROM S FULL JOIN T ON S.a = T.a WHERE T.a BETWEEN 1 AND 3
-- bounded: 6

SELECT S.a, T.a AS c FROM S FULL JOIN T ON S.a = T.a WHERE S.a < 3 AND T.a > 0
-- bounded: 4

SELECT S.a, T.a AS c FROM S RIGHT JOIN T ON S.a = T.a WHERE T.a = 2 OR T.a = 3
-- bounded: 4

SELECT S.a, T.a AS c FROM S RIGHT JOIN T ON S.a = T.a WHERE NOT (S.a IS NULL OR T.a <> 2)
-- bounded: 2

SELECT S.a, T.b FROM S LEFT JOIN T ON S.a = T.a WHERE T.a = 3 AND T.b IN (1, 2)
-- bounded: 3

SELECT DISTINCT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a = 3
-- bounded: 3

SELECT S.a FROM S LEFT JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + 3 WHERE S.a > 1 AND S.a % 2 = 0
-- bounded: 6

-- Conditions that rows filled with NULL pass.
--

SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE T.a IS NULL
-- unbounded

SELECT S.a, T.a AS c FROM S FULL JOIN T ON S.a = T.a WHERE S.a = 3 OR S.a IS NULL
-- unbounded

SELECT S.b FROM S LEFT JOIN T ON S.a = T.a WHERE T.a = 3 OR S.a = 2
-- unbounded

SELECT T.b FROM S LEFT JOIN T ON S.a = T.a WHERE S.a = 3
-- unbounded

-- Windows of a stream beside one that ends.
--

-- distinct
SELECT DISTINCT S.ts, T.b FROM S LEFT JOIN T ON S.b = T.b WHERE T.ts IN (1, 2, 9)
-- bounded: 42

-- groups of a time
SELECT S.ts, COUNT(*) AS n FROM S JOIN T ON S.b = T.b AND T.b BETWEEN 0 AND 3 WHERE T.ts <= 20 GROUP BY S.ts
-- bounded: 102

-- groups of windows
SELECT S.ts DIV 4 AS w, COUNT(*) AS n FROM S JOIN T ON S.b = T.b AND T.b BETWEEN 0 AND 3 WHERE T.ts <= 20 GROUP BY S.ts DIV 4
-- bounded: 50

-- soon after
SELECT S.ts DIV 4 AS w, MAX(T.v) AS m FROM S JOIN T ON S.b = T.b AND T.b BETWEEN 0 AND 3 AND T.ts <= S.ts + 5 WHERE T.ts <= 20 GROUP BY S.ts DIV 4
-- bounded: 68

-- NOT IN within windows of time (B5).
--

SELECT S.b, S.v FROM S WHERE S.v > -2 AND S.a NOT IN (SELECT T.a FROM T WHERE T.ts BETWEEN S.ts - 1 AND S.ts + 2)
-- bounded: 18

SELECT S.b, S.v FROM S WHERE S.v > -2 AND S.a NOT IN (SELECT T.a FROM T WHERE T.ts BETWEEN S.ts - 2 AND S.ts AND T.b = S.b)
-- bounded: 12

SELECT S.b, S.v FROM S WHERE S.v > -2 AND S.a NOT IN (SELECT T.a FROM T WHERE T.ts = S.ts AND T.v > 0)
-- bounded: 0

SELECT S.v FROM S WHERE S.a NOT IN (SELECT T.a FROM T WHERE T.ts > S.ts)
-- unbounded

-- Joins of a stream with a view that changes, and scalar subqueries.
--

SELECT S.a, S.b FROM S WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3 AND S.a < (SELECT MAX(T.v) AS n FROM T)
-- bounded: 10

SELECT S.a, S.b FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a, S.b FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g AND w.n > 1 WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3 AND S.a < (SELECT MIN(T.b) AS n FROM T)
-- bounded: 4

SELECT S.a FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 0 AND 3
-- bounded: 9

SELECT S.a FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T GROUP BY T.a) AS w ON S.a = w.g AND S.a < w.n WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a, w.hi FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g AND w.n > 1 WHERE S.a BETWEEN 0 AND 3
-- bounded: 9

SELECT S.a, w.hi FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T GROUP BY T.a) AS w ON S.a = w.g AND S.a <> w.sv WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT COUNT(*) AS c, SUM(w.sv) AS s FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 0 AND 3 AND S.a < w.n
-- bounded: 10

SELECT S.a, S.b, w.hi FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g AND S.a < w.n WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a, w.hi FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.a <> w.sv WHERE S.a BETWEEN 0 AND 3
-- bounded: 9

SELECT S.a, S.b FROM S WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3 AND S.a <= (SELECT MIN(T.b) AS n FROM T)
-- bounded: 10

SELECT w.n FROM S JOIN (SELECT COUNT(*) AS n FROM T) AS w ON TRUE
-- bounded: 3

SELECT S.a, w.sv, w.n FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3 AND w.n > 1
-- bounded: 6

SELECT COUNT(*) AS c, SUM(w.sv) AS s FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3 AND S.a <> w.sv
-- bounded: 7

SELECT S.a, w.hi FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g AND w.n > 1 WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3
-- bounded: 6

SELECT S.a, S.b, w.sv, w.n FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 1 AND 2 AND S.b BETWEEN 0 AND 3 AND S.a <> w.sv
-- bounded: 12

SELECT COUNT(*) AS c, SUM(w.sv) AS s FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 0 AND 3
-- bounded: 13

SELECT S.a FROM S WHERE S.a BETWEEN 0 AND 3 AND S.a > (SELECT MAX(T.v) AS n FROM T)
-- bounded: 6

SELECT COUNT(*) AS c, SUM(w.sv) AS s FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 0 AND 3
-- bounded: 10

SELECT COUNT(*) AS c, SUM(w.sv) AS s FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a >= 1 AND T.b < 3 GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 0 AND 3 AND w.n > 1
-- bounded: 10

SELECT COUNT(*) AS c, SUM(w.sv) AS s FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 0 AND 3 AND S.a < w.n
-- bounded: 10

-- What is only compared with a view is clipped.
--

SELECT S.a FROM S LEFT ANTI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v >= w.g - 1 WHERE S.a BETWEEN 0 AND 3
-- bounded: 15

SELECT S.a FROM S LEFT ANTI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v + 1 < w.hi WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v <> w.g - 1 WHERE S.a BETWEEN 0 AND 3
-- bounded: 21

SELECT S.a FROM S LEFT ANTI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v < w.hi AND S.v > 0 WHERE S.a BETWEEN 0 AND 3
-- bounded: 9

SELECT S.a, w.n FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND w.hi <= S.v WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v <> w.g - 1 WHERE S.a BETWEEN 0 AND 3
-- bounded: 21

SELECT S.a FROM S WHERE S.a BETWEEN 0 AND 3 AND S.v <= 3 AND S.v >= (SELECT COUNT(*) FROM T)
-- bounded: 18

SELECT S.a FROM S WHERE S.a BETWEEN 0 AND 3 AND S.v >= (SELECT MAX(T.b) FROM T WHERE T.b BETWEEN 1 AND 2)
-- bounded: 10

SELECT S.a FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v = w.hi WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT ANTI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v <> w.hi WHERE S.a BETWEEN 0 AND 3
-- bounded: 18

SELECT S.a, w.n FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v >= w.hi WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v = w.hi WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND w.hi < S.v WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v = w.hi AND S.v > 0 WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT ANTI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND w.hi >= S.v WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v + 1 < w.hi WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT SEMI JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v + 1 > w.hi WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a, w.n FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v < w.g - 1 WHERE S.a BETWEEN 0 AND 3
-- bounded: 15

SELECT S.a, w.n FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v = w.hi AND S.v > 0 WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND w.hi = S.v WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a, w.n FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v + 1 = w.hi WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

SELECT S.a FROM S LEFT JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2 GROUP BY T.a) AS w ON S.a = w.g AND S.v <= w.hi AND S.v > 0 WHERE S.a BETWEEN 0 AND 3
-- bounded: 12

-- What waits for a view must be bounded on the open part.
--

SELECT S.v FROM S JOIN (SELECT T.a AS g, COUNT(*) AS n, SUM(T.v) AS sv, MAX(T.b) AS hi FROM T  GROUP BY T.a) AS w ON S.a = w.g WHERE S.a BETWEEN 0 AND 3
-- unbounded

SELECT S.a FROM S WHERE S.a > (SELECT MAX(T.v) AS n FROM T)
-- unbounded

SELECT S.a FROM S WHERE S.a <= 5 AND S.a < (SELECT SUM(T.v) AS n FROM T)
-- unbounded

-- NOT IN of several columns.
--

-- not in DuckDB: a correlated NOT IN of several columns
SELECT S.v FROM S WHERE (S.a, S.b) NOT IN (SELECT T.a, T.b FROM T WHERE T.ts BETWEEN S.ts - 1 AND S.ts + 2)
-- bounded: 6

-- not in DuckDB: a correlated NOT IN of several columns
SELECT S.v FROM S WHERE (S.a, S.v) NOT IN (SELECT T.b, T.v FROM T WHERE T.ts = S.ts AND T.a IS NOT NULL)
-- bounded: 0

SELECT S.v FROM S WHERE (S.b, S.ts) NOT IN (SELECT T.b, T.ts FROM T)
-- bounded: 0
