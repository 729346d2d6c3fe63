-- left
SELECT S.a, R.s, coalesce(R.s, 'none') AS named FROM S LEFT JOIN R ON R.a = S.a

-- left, of two streams
SELECT S.a, R.s, T.s AS t FROM S LEFT JOIN R ON R.a = S.a AND R.s > S.s JOIN T ON T.ts >= S.ts AND T.ts <= S.ts + 2

-- left, using
SELECT * EXCEPT (s), S.s AS s, R.s AS t FROM S LEFT JOIN R USING (a)

-- right
SELECT S.a, R.s FROM R RIGHT JOIN S ON R.a = S.a AND R.s <> 'b'

-- semi
SELECT S.a, S.s FROM S SEMI JOIN R ON R.a = S.a

-- anti
SELECT S.a, T.a AS t FROM S ANTI JOIN R USING (a) JOIN T ON T.ts >= S.ts AND T.ts <= S.ts + 2

-- exists
SELECT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a < S.a AND s = 'a') OR S.s = 'z'

-- not in
SELECT S.a, S.s FROM S WHERE S.a NOT IN (SELECT a FROM R WHERE s = 'ab')

-- a value
SELECT S.a, (SELECT max(R.s) FROM R WHERE R.a = S.a) AS m, (SELECT count(*) FROM R) AS n FROM S

-- compared
SELECT DISTINCT S.s FROM S WHERE S.a > (SELECT avg(a) FROM R) AND S.s IN ('a', 'b', 'ab')

-- grouped
WITH k AS (SELECT a, count(*) AS n FROM R GROUP BY a) SELECT S.a FROM S JOIN T USING (a) SEMI JOIN k ON k.a = S.a AND n < 3 WHERE T.ts >= S.ts AND T.ts <= S.ts + 2

-- computed
SELECT S.a, c.n, c.most FROM S JOIN (SELECT a, count(*) AS n, max(s) AS most FROM R GROUP BY a) AS c ON c.a = S.a

-- computed, left
SELECT S.a, c.n FROM S LEFT JOIN (SELECT a, count(*) FROM R GROUP BY a HAVING count(*) > 1) AS c(a, n) ON c.a = S.a

-- computed, a difference
WITH k AS (SELECT DISTINCT a FROM R EXCEPT SELECT a FROM R WHERE s = 'a') SELECT S.s, T.s AS t FROM S JOIN k ON k.a = S.a JOIN T ON T.ts >= S.ts AND T.ts <= S.ts + 2 AND T.a = k.a

-- computed, all of two
SELECT S.a, x.b FROM S JOIN (SELECT y.a, z.s AS b FROM R AS y FULL JOIN R AS z ON y.a = z.a + 1) AS x ON x.a = S.a OR x.a IS NULL

-- computed, remembered
SELECT DISTINCT c.n FROM S JOIN (SELECT a, sum(a) AS n FROM R GROUP BY a) AS c ON c.a = S.a JOIN T ON T.ts > S.ts AND T.a >= c.a

-- computed, expressions
SELECT upper(c.most) AS u, S.a + c.n AS m FROM S JOIN (SELECT a % 3 AS k, count(*) AS n, min(s) AS most FROM R GROUP BY a % 3) AS c ON c.k = S.a % 3

-- joined, remembered
SELECT S.a, T.s FROM S JOIN T ON T.a = S.a AND T.ts > S.ts WHERE S.a IN (SELECT a FROM R WHERE R.s <> 'z') AND S.a <= (SELECT max(a) FROM Q)

-- joined, once
SELECT DISTINCT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND R.s < S.s)

-- nested, exists
SELECT S.a, S.s FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND NOT EXISTS (SELECT 1 FROM Q WHERE Q.a = R.a AND s <> R.s))

-- nested, none
SELECT S.a, S.s FROM S WHERE NOT EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND (R.s = 'ab' OR EXISTS (SELECT 1 FROM Q WHERE Q.a = R.a)))

-- nested, of no row
SELECT S.a, S.s FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a IN (SELECT a FROM Q WHERE a > 1)) AND (S.a = 1 OR (SELECT count(*) > 1 FROM Q))

-- nested, values
SELECT S.a, (SELECT max(R.a) FROM R WHERE R.s = S.s AND R.a IN (SELECT a FROM Q)) AS m FROM S WHERE S.a IN (SELECT a FROM R WHERE a >= (SELECT avg(a) FROM Q))

-- nested, computed
SELECT S.a, c.n FROM S JOIN (SELECT a, count(*) AS n FROM R WHERE a NOT IN (SELECT Q.a FROM Q WHERE Q.s = R.s AND Q.a IS NOT NULL) GROUP BY a) AS c ON c.a = S.a

-- nested, of two streams
SELECT S.a, T.s FROM S JOIN T USING (a) WHERE T.ts >= S.ts AND T.ts <= S.ts + 2 AND S.s IN (SELECT s FROM R WHERE a > (SELECT min(a) FROM Q WHERE Q.s = R.s OR Q.s IS NULL))
