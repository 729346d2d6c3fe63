-- [streams.S]
-- timestamp = "ts"
-- max_per_timestamp = 3
-- columns = { a = "bigint", b = "bigint", ts = "bigint" }
-- domain = { a = [0, 4] }
-- [streams.T]
-- timestamp = "ts"
-- max_per_timestamp = 3
-- columns = { a = "bigint", b = "bigint", ts = "bigint" }
-- domain = { a = [0, 4] }
-- [relations.R]
-- columns = { a = "bigint", b = "bigint" }
-- rows = 12
-- [relations.Q]
-- columns = { a = "bigint", b = "bigint" }
-- rows = 12

-- Operators above joins with relations that do not change.
--

-- left
SELECT S.a, COUNT(R.b) AS n, COUNT(*) AS m FROM S LEFT JOIN R ON R.a = S.b GROUP BY S.a
-- 6

-- left, by its column
SELECT R.b, SUM(S.b) AS n, MAX(S.a) AS m FROM S LEFT JOIN R ON R.a = S.a GROUP BY R.b
-- rows_R + 1

-- left, an expression
SELECT COALESCE(R.b, -1) AS k, COUNT(*) AS n FROM S LEFT JOIN R ON R.a = S.b GROUP BY COALESCE(R.b, -1)
-- rows_R + 1

-- left, then a stream
SELECT R.b, COUNT(*) AS n FROM S LEFT JOIN R ON R.a = S.a JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 GROUP BY R.b
-- 2*c_S + rows_R + 1

-- right
SELECT R.b, COUNT(S.a) AS n FROM R RIGHT JOIN S ON R.a = S.b AND R.b > 1 GROUP BY R.b
-- rows_R + 1

-- semi
SELECT S.b, COUNT(*) AS n FROM S LEFT SEMI JOIN R ON R.a = S.b GROUP BY S.b
-- min(max(0, max_R_a - min_R_a + 1), rows_R)

-- anti
SELECT S.a, SUM(S.b) AS n FROM S LEFT ANTI JOIN R ON R.a = S.b GROUP BY S.a
-- 6

-- in
SELECT S.b, COUNT(*) AS n FROM S WHERE S.b IN (SELECT a FROM R) GROUP BY S.b
-- min(max(0, max_R_a - min_R_a + 1), rows_R)

-- in, twice
SELECT S.b, COUNT(*) AS n, COUNT(DISTINCT S.a) AS m FROM S WHERE S.b IN (SELECT a FROM R) AND S.b IN (SELECT b FROM Q) GROUP BY S.b
-- 7*min(max(0, min(max_Q_b, max_R_a) - max(min_Q_b, min_R_a) + 1), rows_Q, rows_R)

-- computed
SELECT q.m, COUNT(*) AS n, SUM(S.a * q.n) AS p FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.b GROUP BY q.m
-- rows_q_2

-- computed, left
SELECT q.n, COUNT(*) AS c FROM S LEFT JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.a GROUP BY q.n HAVING c < 4
-- rows_q_2 + 1

-- computed, of two
SELECT S.a, SUM(q.m) AS n FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.a JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 GROUP BY S.a
-- min(2*c_S, 2*min(5, max(0, min(4, max_q_2__a) - max(0, min_q_2__a) + 1))) + 5

-- windows
SELECT S.ts DIV 3 AS w, q.m, MIN(S.b) AS n FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.b GROUP BY S.ts DIV 3, q.m
-- 2*c_S

-- a difference
SELECT S.a FROM S LEFT JOIN R ON R.a = S.b EXCEPT SELECT a FROM T WHERE b IN (SELECT b FROM R)
-- 6

-- once a number
SELECT a, n FROM (SELECT S.a, R.b AS n, ROW_NUMBER() OVER (PARTITION BY S.a ORDER BY S.ts, R.b NULLS FIRST, S.b NULLS FIRST) AS rn FROM S LEFT JOIN R ON R.a = S.b) WHERE rn = 1
-- 6

-- above groups
SELECT q.n, R.b FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q JOIN R ON R.a = q.a
-- rows_R + 5

-- above groups, on the left
SELECT q.n, R.b FROM R JOIN (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q ON R.a = q.a AND R.b < q.n
-- rows_R + 5

-- above groups, left
SELECT q.a, q.n, R.b FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q LEFT JOIN R ON R.a = q.n
-- rows_R + 6

-- above groups, right
SELECT R.b, q.n FROM R RIGHT JOIN (SELECT a, SUM(b) AS n FROM S GROUP BY a) AS q ON R.a = q.n
-- rows_R + 6

-- above groups, anti
SELECT q.a, q.n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q LEFT ANTI JOIN R ON R.a = q.n
-- rows_R + 6

-- above groups, in
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) WHERE n IN (SELECT a FROM R)
-- rows_R + 6

-- above groups, not in
SELECT a, n FROM (SELECT a, SUM(b) AS n FROM S GROUP BY a) WHERE n NOT IN (SELECT a FROM R WHERE b > 1)
-- 3*rows_R + 6

-- above groups, a value
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) WHERE n > (SELECT MIN(b) FROM R)
-- 7

-- above groups, computed
SELECT p.n, q.m FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS p JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = p.a
-- rows_R + 5

-- above windows
SELECT q.w, q.n, R.b FROM (SELECT S.ts DIV 3 AS w, S.b, COUNT(*) AS n FROM S GROUP BY S.ts DIV 3, S.b) AS q JOIN R ON R.a = q.b
-- 2*c_S + rows_R

-- within an outer join
SELECT S.a, q.m, T.b FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.b LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 WHERE S.a > 1
-- 2*c_S

-- left of an outer join
SELECT S.a, R.b AS c, T.b FROM S LEFT JOIN R ON R.a = S.b LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2
-- 2*c_S + 2*c_T + rows_R

-- after an outer join
SELECT S.a, R.b AS c, T.b FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 LEFT JOIN R ON R.a = T.b
-- min(10, 2*c_S) + rows_R

-- of a full join
SELECT x.s, x.t, R.b FROM (SELECT S.b AS s, T.b AS t FROM S FULL JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) AS x JOIN R ON R.a = x.t
-- 2*c_S + c_T + rows_R

-- not exists
SELECT S.b FROM S LEFT JOIN R ON R.a = S.a WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2) AND R.b > 0
-- 2*c_S

-- exists and in
SELECT S.b FROM S WHERE S.b IN (SELECT a FROM R) AND EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2)
-- 2*c_S

-- groups of an outer join
SELECT S.a, COUNT(T.b) AS n, SUM(S.b) AS m FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 GROUP BY S.a
-- 2*c_S + 6

-- groups of an outer join with a relation
SELECT S.a, COUNT(R.b) AS n FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 LEFT JOIN R ON R.a = T.b GROUP BY S.a HAVING COUNT(*) > 1
-- min(10, 2*c_S) + rows_R + 6

-- groups of an anti join
SELECT S.a, COUNT(*) AS n, MAX(S.a) AS m FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2) GROUP BY S.a
-- min(10, 2*c_S) + 12

-- values of a full join
SELECT T.a, MIN(S.a) AS m, COUNT(DISTINCT S.a) AS n FROM S FULL JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2 GROUP BY T.a
-- min(10, 2*c_S) + min(5, c_T) + 78

-- kept
SELECT R.a, R.b, S.a AS c, S.b AS d FROM R LEFT JOIN S ON S.b = R.a
-- rows_R

-- kept, right
SELECT S.b AS c, R.b FROM S RIGHT JOIN R ON S.b = R.a AND S.a > 1
-- rows_R

-- kept, full
SELECT R.b, S.b AS c FROM S FULL JOIN R ON R.a = S.b AND S.a > R.b
-- rows_R

-- kept, not exists
SELECT R.b FROM R WHERE NOT EXISTS (SELECT 1 FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 WHERE S.b > R.a) AND R.a > 0
-- 2*c_S + rows_R

-- kept, exists
SELECT R.b FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.b = R.a)
-- rows_R

-- kept, not in
SELECT R.a, R.b FROM R WHERE R.a NOT IN (SELECT S.b FROM S)
-- rows_R

-- kept, counted
SELECT COUNT(*) AS n FROM R WHERE R.b >= 0 AND R.a NOT IN (SELECT S.b FROM S WHERE S.a > 0)
-- rows_R + 1

-- kept, groups
SELECT R.a, COUNT(S.b) AS n, MIN(R.b) AS m FROM R LEFT JOIN S ON S.b = R.b GROUP BY R.a
-- 3*rows_R

-- kept, beside groups
SELECT R.b, q.n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q FULL JOIN R ON q.n = R.a
-- rows_R + 6

-- except
SELECT a FROM R EXCEPT SELECT a FROM S
-- rows_R

-- except all
SELECT a FROM R EXCEPT ALL SELECT a FROM S
-- 6

-- intersect
SELECT a FROM S INTERSECT ALL SELECT a FROM R
-- 6

-- union of groups
SELECT a, COUNT(*) AS n FROM S GROUP BY a UNION ALL SELECT a, COUNT(*) AS n FROM R GROUP BY a
-- 6

-- two of one name
SELECT x.m, COUNT(*) AS n FROM (SELECT q.m FROM S JOIN (SELECT DISTINCT a, b AS m FROM R) AS q ON q.a = S.a UNION ALL SELECT q.m FROM T JOIN (SELECT DISTINCT b, a AS m FROM R) AS q ON q.b = T.a) AS x GROUP BY x.m
-- 2*rows_R

-- recursion
WITH RECURSIVE n(i) AS (SELECT a FROM R UNION SELECT R.b FROM n JOIN R ON R.a = n.i)
SELECT S.b, n.i FROM S JOIN n ON S.a = n.i
-- 3*rows_R + 5

-- recursion, left
WITH RECURSIVE n(i) AS (SELECT a FROM R UNION SELECT R.b FROM n JOIN R ON R.a = n.i)
SELECT S.b, n.i FROM S LEFT JOIN n ON S.a = n.i
-- 3*rows_R + 5

-- recursion, not in
WITH RECURSIVE n(i) AS (SELECT a FROM R UNION SELECT R.b FROM n JOIN R ON R.a = n.i)
SELECT S.b FROM S WHERE S.a NOT IN (SELECT i FROM n)
-- 9*rows_R + 7

-- what relations do not bound
SELECT S.b, COUNT(*) AS n FROM S LEFT JOIN R ON R.a = S.b GROUP BY S.b;
SELECT S.b, COUNT(*) AS n FROM S LEFT ANTI JOIN R ON R.a = S.b GROUP BY S.b;
SELECT S.b, COUNT(*) AS n FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.a GROUP BY S.b;
SELECT S.a, COUNT(*) AS n FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.a JOIN T ON T.b = S.b AND T.ts > S.ts GROUP BY S.a;
SELECT S.b, COUNT(*) AS n FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 GROUP BY S.b;
SELECT S.b, MAX(T.b) AS n FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 GROUP BY S.b
-- unbounded
