-- sums_down
SELECT COUNT(*) AS c1, SUM(q1.v * q2.b) AS c2, AVG(q1.v) AS c3 FROM S AS q1 JOIN R AS q2 ON q1.a = q2.a;
SELECT q2.b AS c1, q1.b AS c2, COUNT(q1.v) AS c3 FROM R AS q2 JOIN S AS q1 ON q1.a = q2.a GROUP BY q2.b, q1.b HAVING SUM(q1.v) > 1;
SELECT MIN(q1.v) AS c1 FROM S AS q1 JOIN R AS q2 ON q1.a = q2.a;
SELECT q2.b AS c1, MAX(q1.v) AS c2 FROM R AS q2 JOIN S AS q1 ON q1.a = q2.a AND q1.b > q2.b GROUP BY q2.b

-- flat_aggregates
SELECT SUM(q.n) AS c1 FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q;
SELECT q.b AS c1, SUM(q.n) AS c2 FROM (SELECT a, b, COUNT(v) AS n FROM S GROUP BY a, b) AS q GROUP BY q.b;
SELECT SUM(q.n) AS c1 FROM (SELECT COUNT(v) AS n FROM S WHERE a > 100) AS q;
SELECT MAX(q.n) AS c1 FROM (SELECT a, MAX(v) AS n FROM S GROUP BY a) AS q

-- plain_conditions
SELECT q1.a AS c1 FROM S AS q1 WHERE CASE WHEN q1.a > 1 THEN 'x' WHEN q1.b = 0 THEN 'y' END IS NOT NULL;
SELECT q1.a AS c1 FROM S AS q1 WHERE IF(q1.a > 1, TRUE, FALSE) AND q1.b NOT IN (1);
SELECT q1.a AS c1 FROM S AS q1 JOIN T AS q2 ON q1.a = q2.a AND (q1.b NOT IN (1) OR q2.b = 0)

-- disjoint_unions
SELECT q.a AS c1, COUNT(*) AS c2 FROM (SELECT * FROM S WHERE v > 0 UNION ALL SELECT * FROM S WHERE v <= 0) AS q GROUP BY q.a;
SELECT a AS c1 FROM S WHERE a > 1 UNION ALL SELECT a AS c1 FROM S WHERE a IS NULL

-- padded_rows
SELECT q1.a AS c1, q2.b AS c2 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a WHERE q2.ts IS NULL;
SELECT q1.a AS c1 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a AND q1.v > 0 WHERE q2.ts IS NULL AND q1.b > 0

-- arguments_down
SELECT q.b AS c1, SUM(q.x) AS c2 FROM (SELECT q1.b, q1.v + q2.v AS x FROM S AS q1 JOIN T AS q2 ON q1.b = q2.b) AS q GROUP BY q.b;
SELECT SUM(q.x) FILTER (WHERE q.y > 0) AS c2 FROM (SELECT q1.b AS y, q1.v * q2.v AS x FROM S AS q1 JOIN T AS q2 ON q1.b = q2.b) AS q

-- scalars_joined
SELECT q1.a AS c1 FROM S AS q1 WHERE q1.v > (SELECT AVG(q2.v) FROM T AS q2);
SELECT q1.a AS c1, (SELECT COUNT(*) FROM T AS q2) AS c2 FROM S AS q1

-- anti_joins
SELECT q1.a AS c1 FROM S AS q1 WHERE q1.a NOT IN (SELECT q2.a FROM T AS q2);
SELECT q1.v AS c1 FROM S AS q1 WHERE q1.a NOT IN (SELECT q2.a FROM T AS q2 WHERE q2.b > q1.b);
SELECT q1.a AS c1 FROM Q AS q1 WHERE q1.a NOT IN (SELECT q2.b FROM S AS q2 WHERE q2.v > 1)

-- conditions_down
SELECT q1.a AS c1 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a WHERE q2.b > 0;
SELECT q1.a AS c1, q2.b AS c2 FROM S AS q1 FULL JOIN T AS q2 ON q1.a = q2.a WHERE q1.b > 0;
SELECT q1.a AS c1, q2.b AS c2 FROM S AS q1 RIGHT JOIN T AS q2 ON q1.a = q2.a AND q1.v > 0 WHERE q2.b > 0;
SELECT q.a AS c1 FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a HAVING a > 0) AS q WHERE q.n > 1;
SELECT q.c AS c1 FROM (SELECT a + 1 AS c FROM S EXCEPT SELECT b FROM T) AS q WHERE q.c > 1

-- ranges_down
SELECT q1.v AS c1, q2.n AS c2 FROM S AS q1 JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) AS q2 ON q1.a = q2.b WHERE q1.a IN (1, 2);
SELECT q1.v AS c1, q2.n AS c2 FROM S AS q1 LEFT JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) AS q2 ON q1.a = q2.b WHERE q1.a > 1;
SELECT q1.v AS c1 FROM S AS q1 LEFT ANTI JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) AS q2 ON q1.a = q2.b AND q1.v < q2.n
