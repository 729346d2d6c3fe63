-- left
SELECT S.a, COUNT(R.b) AS n, COUNT(*) AS m FROM S LEFT JOIN R ON R.a = S.b GROUP BY S.a

-- left, by its column
SELECT R.b, SUM(S.b) AS n, MAX(S.a) AS m FROM S LEFT JOIN R ON R.a = S.a GROUP BY R.b

-- left, an expression
SELECT COALESCE(R.b, -1) AS k, COUNT(*) AS n FROM S LEFT JOIN R ON R.a = S.b GROUP BY COALESCE(R.b, -1)

-- left, then a stream
SELECT R.b, COUNT(*) AS n FROM S LEFT JOIN R ON R.a = S.a JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 GROUP BY R.b

-- right
SELECT R.b, COUNT(S.a) AS n FROM R RIGHT JOIN S ON R.a = S.b AND R.b > 1 GROUP BY R.b

-- semi
SELECT S.b, COUNT(*) AS n FROM S LEFT SEMI JOIN R ON R.a = S.b GROUP BY S.b

-- anti
SELECT S.a, SUM(S.b) AS n FROM S LEFT ANTI JOIN R ON R.a = S.b GROUP BY S.a

-- in
SELECT S.b, COUNT(*) AS n FROM S WHERE S.b IN (SELECT a FROM R) GROUP BY S.b

-- in, twice
SELECT S.b, COUNT(*) AS n, COUNT(DISTINCT S.a) AS m FROM S WHERE S.b IN (SELECT a FROM R) AND S.b IN (SELECT b FROM Q) GROUP BY S.b

-- computed
SELECT q.m, COUNT(*) AS n, SUM(S.a * q.n) AS p FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.b GROUP BY q.m

-- computed, left
SELECT q.n, COUNT(*) AS c FROM S LEFT JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.a GROUP BY q.n HAVING c < 4

-- computed, of two
SELECT S.a, SUM(q.m) AS n FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.a JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 GROUP BY S.a

-- windows
SELECT S.ts DIV 3 AS w, q.m, MIN(S.b) AS n FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.b GROUP BY S.ts DIV 3, q.m

-- a difference
SELECT S.a FROM S LEFT JOIN R ON R.a = S.b EXCEPT SELECT a FROM T WHERE b IN (SELECT b FROM R)

-- once a number
SELECT a, n FROM (SELECT S.a, R.b AS n, ROW_NUMBER() OVER (PARTITION BY S.a ORDER BY S.ts, R.b NULLS FIRST, S.b NULLS FIRST) AS rn FROM S LEFT JOIN R ON R.a = S.b) WHERE rn = 1

-- above groups
SELECT q.n, R.b FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q JOIN R ON R.a = q.a

-- above groups, on the left
SELECT q.n, R.b FROM R JOIN (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q ON R.a = q.a AND R.b < q.n

-- above groups, left
SELECT q.a, q.n, R.b FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q LEFT JOIN R ON R.a = q.n

-- above groups, right
SELECT R.b, q.n FROM R RIGHT JOIN (SELECT a, SUM(b) AS n FROM S GROUP BY a) AS q ON R.a = q.n

-- above groups, anti
SELECT q.a, q.n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q LEFT ANTI JOIN R ON R.a = q.n

-- above groups, in
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) WHERE n IN (SELECT a FROM R)

-- above groups, not in
SELECT a, n FROM (SELECT a, SUM(b) AS n FROM S GROUP BY a) WHERE n NOT IN (SELECT a FROM R WHERE b > 1)

-- above groups, a value
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) WHERE n > (SELECT MIN(b) FROM R)

-- above groups, computed
SELECT p.n, q.m FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS p JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = p.a

-- above windows
SELECT q.w, q.n, R.b FROM (SELECT S.ts DIV 3 AS w, S.b, COUNT(*) AS n FROM S GROUP BY S.ts DIV 3, S.b) AS q JOIN R ON R.a = q.b

-- within an outer join
SELECT S.a, q.m, T.b FROM S JOIN (SELECT a, MAX(b) AS m, COUNT(*) AS n FROM R GROUP BY a) AS q ON q.a = S.b LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 WHERE S.a > 1

-- left of an outer join
SELECT S.a, R.b AS c, T.b FROM S LEFT JOIN R ON R.a = S.b LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2

-- after an outer join
SELECT S.a, R.b AS c, T.b FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 LEFT JOIN R ON R.a = T.b

-- of a full join
SELECT x.s, x.t, R.b FROM (SELECT S.b AS s, T.b AS t FROM S FULL JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2) AS x JOIN R ON R.a = x.t

-- not exists
SELECT S.b FROM S LEFT JOIN R ON R.a = S.a WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2) AND R.b > 0

-- exists and in
SELECT S.b FROM S WHERE S.b IN (SELECT a FROM R) AND EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2)

-- groups of an outer join
SELECT S.a, COUNT(T.b) AS n, SUM(S.b) AS m FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 GROUP BY S.a

-- groups of an outer join with a relation
SELECT S.a, COUNT(R.b) AS n FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 LEFT JOIN R ON R.a = T.b GROUP BY S.a HAVING COUNT(*) > 1

-- groups of an anti join
SELECT S.a, COUNT(*) AS n, MAX(S.a) AS m FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2) GROUP BY S.a

-- values of a full join
SELECT T.a, MIN(S.a) AS m, COUNT(DISTINCT S.a) AS n FROM S FULL JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2 GROUP BY T.a

-- kept
SELECT R.a, R.b, S.a AS c, S.b AS d FROM R LEFT JOIN S ON S.b = R.a

-- kept, right
SELECT S.b AS c, R.b FROM S RIGHT JOIN R ON S.b = R.a AND S.a > 1

-- kept, full
SELECT R.b, S.b AS c FROM S FULL JOIN R ON R.a = S.b AND S.a > R.b

-- kept, not exists
SELECT R.b FROM R WHERE NOT EXISTS (SELECT 1 FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 2 WHERE S.b > R.a) AND R.a > 0

-- kept, exists
SELECT R.b FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.b = R.a)

-- kept, not in
SELECT R.a, R.b FROM R WHERE R.a NOT IN (SELECT S.b FROM S)

-- kept, counted
SELECT COUNT(*) AS n FROM R WHERE R.b >= 0 AND R.a NOT IN (SELECT S.b FROM S WHERE S.a > 0)

-- kept, groups
SELECT R.a, COUNT(S.b) AS n, MIN(R.b) AS m FROM R LEFT JOIN S ON S.b = R.b GROUP BY R.a

-- kept, beside groups
SELECT R.b, q.n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q FULL JOIN R ON q.n = R.a

-- except
SELECT a FROM R EXCEPT SELECT a FROM S

-- except all
SELECT a FROM R EXCEPT ALL SELECT a FROM S

-- intersect
SELECT a FROM S INTERSECT ALL SELECT a FROM R

-- union of groups
SELECT a, COUNT(*) AS n FROM S GROUP BY a UNION ALL SELECT a, COUNT(*) AS n FROM R GROUP BY a

-- two of one name
SELECT x.m, COUNT(*) AS n FROM (SELECT q.m FROM S JOIN (SELECT DISTINCT a, b AS m FROM R) AS q ON q.a = S.a UNION ALL SELECT q.m FROM T JOIN (SELECT DISTINCT b, a AS m FROM R) AS q ON q.b = T.a) AS x GROUP BY x.m

-- recursion
WITH RECURSIVE n(i) AS (SELECT a FROM R UNION SELECT R.b FROM n JOIN R ON R.a = n.i)
SELECT S.b, n.i FROM S JOIN n ON S.a = n.i

-- recursion, left
WITH RECURSIVE n(i) AS (SELECT a FROM R UNION SELECT R.b FROM n JOIN R ON R.a = n.i)
SELECT S.b, n.i FROM S LEFT JOIN n ON S.a = n.i

-- recursion, not in
WITH RECURSIVE n(i) AS (SELECT a FROM R UNION SELECT R.b FROM n JOIN R ON R.a = n.i)
SELECT S.b FROM S WHERE S.a NOT IN (SELECT i FROM n)
