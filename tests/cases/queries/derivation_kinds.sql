-- the best time of a block
SELECT MIN(ts) AS c FROM S WHERE v <= a

-- different rows of one group
SELECT DISTINCT n FROM (SELECT b, MAX(v) AS m, COUNT(*) AS n FROM S GROUP BY b) q

-- different rows of rows that are each once
SELECT DISTINCT n FROM (SELECT DISTINCT n, b FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q) p

-- rows of groups without a partner
SELECT MIN(q.n) AS m FROM (SELECT b, COUNT(*) AS n FROM T GROUP BY b) q LEFT ANTI JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) p ON q.n < p.n

-- the first rows
SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC) AS n FROM S) q WHERE n <= 3

-- ranks by time
SELECT a FROM (SELECT *, RANK() OVER (PARTITION BY b ORDER BY ts DESC) AS n FROM S) WHERE n < 3

-- ranks of few columns
SELECT b FROM (SELECT b, DENSE_RANK() OVER (ORDER BY v) AS n FROM S) q WHERE n <= 3

-- the last rows
SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS s FROM S

-- a running sum
SELECT a, SUM(v) OVER (PARTITION BY b ORDER BY ts) AS s FROM S

-- a range
SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS s FROM S

-- a row before that is near
SELECT a FROM (SELECT a, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS l FROM S) WHERE l >= ts - 5

-- a running sum of groups
SELECT w, SUM(n) OVER (ORDER BY w) AS s FROM (SELECT ts DIV 5 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 5) q

-- all rows
SELECT y, SUM(y) OVER (ORDER BY k DESC) AS s FROM R

-- partitions that close
SELECT w, RANK() OVER (PARTITION BY w ORDER BY n DESC) AS r FROM (SELECT ts DIV 10 AS w, b, COUNT(*) AS n FROM S GROUP BY ts DIV 10, b) q

-- compared values
SELECT S.b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.b > S.v)

-- disjoint selections
SELECT b, COUNT(*) AS n FROM (SELECT a, b FROM S WHERE b > 1 UNION ALL SELECT a, b FROM S WHERE b <= 1) q GROUP BY b

-- rows without a partner
SELECT S.b FROM S LEFT JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) q ON q.b = S.b WHERE q.n IS NULL

-- streams together
SELECT q.n FROM (SELECT b, COUNT(*) AS n FROM T GROUP BY b) q JOIN S ON q.b = S.b JOIN T ON T.a = S.a AND T.ts = S.ts

-- hidden keys
SELECT MAX(n) AS m FROM (SELECT COUNT(*) AS n FROM S GROUP BY ts DIV 10) q

-- arguments of a subquery
SELECT SUM(q.x) AS s FROM (SELECT S.v + T.v AS x FROM S JOIN T ON S.b = T.b) q

-- cases
SELECT b, COUNT(*) AS n FROM S WHERE CASE WHEN b > 1 THEN 'x' WHEN v IS NULL THEN 'y' END IS NOT NULL GROUP BY b

-- late conditions
SELECT S.b, COUNT(*) AS n FROM S JOIN T ON S.b = T.b WHERE S.b * T.b > 1 GROUP BY S.b

-- late values
SELECT S.b, T.v % 3 AS m FROM S JOIN T ON S.b = T.b WHERE S.b * (T.v % 3) > 1

-- NOT IN
SELECT a FROM S WHERE b NOT IN (SELECT b FROM T WHERE T.ts BETWEEN S.ts - 3 AND S.ts)

-- a subquery of one row
SELECT b, COUNT(*) AS n FROM S WHERE b > (SELECT AVG(y) FROM R) GROUP BY b

-- groups of groups
SELECT SUM(n) AS s FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) q

-- sums below a join
SELECT SUM(S.v * R.y - S.v) AS s, MIN(S.v) AS m, AVG(R.y) AS t FROM S JOIN R ON S.b = R.k

-- sessions
SELECT b, COUNT(*) AS n, session_window.end AS e FROM S WHERE b IS NOT NULL GROUP BY b, session_window(ts, '10 microseconds')

-- parts
SELECT w, COUNT(DISTINCT n) AS m FROM (SELECT ts DIV 10 AS w, b AS n FROM S UNION ALL SELECT ts DIV 10 AS w, COUNT(*) AS n FROM T GROUP BY ts DIV 10) q GROUP BY w

-- rows beside others
SELECT S.a, T.v, U.v AS u FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 5 LEFT JOIN T AS U ON U.a = S.b AND U.ts BETWEEN S.ts AND S.ts + 7

-- a contradiction
SELECT a FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.v < S.v AND T.v > S.v + 2)

-- a recursion
WITH RECURSIVE w(x, y) AS (SELECT k AS x, y FROM R UNION SELECT w.x, R.y FROM w JOIN R ON w.y = R.k) SELECT x, y FROM w

-- finer buckets
SELECT COUNT(DISTINCT w) AS n, w DIV 2 AS u FROM (SELECT ts DIV 5 AS w FROM S) GROUP BY w DIV 2

-- neighbours
SELECT q.w, r.n FROM (SELECT ts DIV 5 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 5) q JOIN (SELECT ts DIV 5 AS w, COUNT(*) AS n FROM T GROUP BY ts DIV 5) r ON q.w = r.w + 1

-- rows of a relation
SELECT a, k FROM S JOIN (SELECT DISTINCT k FROM V) r ON r.k = S.b WHERE a IN (1, 2)

-- groups beside a relation
SELECT q.n, V.y FROM (SELECT b, COUNT(*) AS n FROM T GROUP BY b) q JOIN V ON V.k = q.b

-- the newest time
SELECT S.ts, COUNT(*) AS n FROM S JOIN T ON S.a = T.a AND S.ts BETWEEN T.ts AND T.ts + 3 GROUP BY S.ts

-- groups that a later one passes
SELECT b, n, COUNT(*) AS c FROM (SELECT b, SUM(f) OVER (PARTITION BY b ORDER BY ts) AS n FROM (SELECT b, ts, CASE WHEN v > 0 THEN 1 ELSE 0 END AS f FROM S) AS p) AS q GROUP BY b, n

-- groups by the newer row
SELECT T.ts, MAX(S.v) AS m FROM T LEFT JOIN S ON S.b = T.b AND S.ts <= T.ts GROUP BY T.ts

-- buckets that a condition computes
SELECT S.v, q.n FROM S JOIN (SELECT ts DIV 10 AS w, COUNT(*) AS n FROM T GROUP BY ts DIV 10) q ON S.ts DIV 20 = q.w DIV 2

-- sessions of rows of a join
SELECT S.a, SUM(S.v) AS s, MAX(T.v) AS m FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + 5 GROUP BY S.a, session_window(S.ts, '10 microseconds')

-- a distance of each alternative
SELECT S.v, T.v AS w FROM S LEFT JOIN T ON S.a = T.a AND (T.ts = S.ts OR T.b = S.b AND T.ts - S.ts BETWEEN 0 AND 3)

-- groups on one side of a union
SELECT q.n, COUNT(*) AS m FROM (SELECT COUNT(*) AS n FROM S UNION SELECT MAX(T.v) FROM T LEFT SEMI JOIN V ON T.a = V.k GROUP BY T.a) q GROUP BY q.n
