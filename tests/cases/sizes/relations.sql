-- [streams.S]
-- timestamp = "ts"
-- max_per_timestamp = 2
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- domain = { b = [0, 2] }
-- [streams.T]
-- timestamp = "ts"
-- max_per_timestamp = 2
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- domain = { b = [0, 2] }
-- [relations.R]
-- columns = { a = "bigint", b = "bigint" }
-- rows = 12
-- [relations.C]
-- columns = { a = "bigint", b = "bigint" }
-- rows = 6
-- changes = { timestamp = "ts", op = "op" }

-- Bounds that take several facts together.
--

-- a late condition on a value of one row
SELECT S.a, T.v % 3 AS w FROM S, T WHERE S.ts > T.ts AND (S.v * (T.v % 3)) >= 2 AND T.b = 1
-- 6

-- a limit by constants that are added
SELECT b, v FROM (SELECT b, v, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC, a, ts) AS n FROM S) q WHERE n BETWEEN 1L AND 1 + 1
-- 8

-- groups of times beside a stream that ends
SELECT S.ts, COUNT(*) AS n FROM S JOIN T ON S.b = T.b WHERE T.ts <= 20 GROUP BY S.ts
-- 83

-- groups of buckets beside a stream that ends
SELECT S.ts DIV 4 AS w, COUNT(*) AS n FROM S JOIN T ON S.b = T.b WHERE T.ts <= 20 GROUP BY S.ts DIV 4
-- 20*c_S + 9

-- a subquery above groups
SELECT a, n FROM (SELECT b AS a, COUNT(*) AS n FROM S GROUP BY b) WHERE n IN (SELECT a FROM R)
-- rows_R + 4

-- NOT IN a relation above groups
SELECT a, n FROM (SELECT b AS a, SUM(v) AS n FROM S GROUP BY b) WHERE n NOT IN (SELECT a FROM R WHERE b > 1)
-- 3*rows_R + 4

-- rows beside those of an outer join, of which not all are in pairs of another one
SELECT q.a, q.v, T.v AS w FROM (SELECT S.a, S.ts, T.v, T.ts AS t FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - 10 AND S.ts + 10) q LEFT JOIN T ON T.a = q.a AND T.ts BETWEEN q.ts - 1 AND q.ts + 1 AND q.t BETWEEN q.ts - 1 AND q.ts LEFT JOIN S ON S.a = q.a AND S.ts BETWEEN q.ts AND q.ts + 3
-- 10*(2*c_T + 1)*c_S + 10*(20*c_T + 1)*(3*c_T + 1)*c_S + 20*c_S + 21*c_T

-- What no job computes has no rule.
--

-- a step that computes with its rows
WITH RECURSIVE w(x, y) AS (SELECT b, b FROM S UNION SELECT w.x % 3, S.b FROM w JOIN S ON w.y = S.b) SELECT x FROM w
-- no rule: an expression over a recursive relation

-- a step that computes of several rows
WITH RECURSIVE w(x, y) AS (SELECT b, b FROM S UNION SELECT S.b + T.b, S.b FROM w JOIN S ON w.y = S.b JOIN T ON T.b = S.b) SELECT x FROM w
-- no rule: a column of a recursion that is computed of several rows, or of times

-- partners that are no comparison
SELECT p.n FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) p LEFT JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) q ON (p.n + q.n) % 2 = 0
-- no rule: partners by (p.n + q.n) % 2 = 0, which compares no columns

-- a default of another type
SELECT LAG(v, 1, 0.5) OVER (PARTITION BY b ORDER BY ts) AS x FROM S
-- no rule: LAG with a default of another type

-- rows of which those after a time fare alike
SELECT S.a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.b <= S.ts)
-- unbounded
