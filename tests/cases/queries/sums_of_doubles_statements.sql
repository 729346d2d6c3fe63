-- groups
SELECT a, SUM(x) AS s, AVG(x) AS m, COUNT(x) AS n FROM S GROUP BY a

-- all rows
SELECT SUM(x) AS s, AVG(x) AS m FROM S

-- variances
SELECT a, VAR_SAMP(x) AS v, VAR_POP(x) AS p, STDDEV_SAMP(x) AS s, STDDEV_POP(y) AS q FROM S GROUP BY a

-- sums below a join
SELECT S.a, SUM(S.x) AS s, SUM(S.x * T.y) AS p, AVG(T.y) AS m FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3 GROUP BY S.a

-- variances below a join
SELECT S.a, VAR_POP(S.x) AS v, STDDEV_SAMP(T.y) AS s FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3 GROUP BY S.a

-- above an outer join
SELECT S.a, SUM(T.x) AS s, AVG(S.y) AS m, VAR_POP(T.x) AS v FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3 GROUP BY S.a

-- above EXCEPT
SELECT SUM(x) AS s, AVG(x) AS m, STDDEV_POP(x) AS v FROM (SELECT a, x FROM S WHERE x IN (0.1, 0.3, -0.1, 1.0, 7.25, 10000000000000000.0) AND a IN (0, 1, 2) EXCEPT ALL SELECT a, x FROM T WHERE x IN (0.1, 0.3, -0.1, 1.0, 7.25, 10000000000000000.0) AND a IN (0, 1, 2)) AS q

-- different values
SELECT a, SUM(DISTINCT x) AS s, AVG(DISTINCT x) AS m FROM S WHERE x IN (0.1, 0.3, -0.1, 1.0, 7.25, 10000000000000000.0) AND a IN (0, 1, 2) GROUP BY a

-- below HAVING
SELECT a, SUM(x) AS s FROM S GROUP BY a HAVING SUM(x) > 1.0

-- of some rows
SELECT a, SUM(x) FILTER (WHERE y > 0) AS s FROM S GROUP BY a

-- windows
SELECT ts DIV 4 AS w, SUM(x) AS s, AVG(x) AS m FROM S GROUP BY ts DIV 4

-- sessions
SELECT a, session_window.start AS b, SUM(x) AS s, AVG(y) AS m FROM S GROUP BY a, session_window(ts, '2 microseconds')

-- frames of rows
SELECT a, x, ts, SUM(x) OVER (PARTITION BY a ORDER BY ts, x, y ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s, AVG(y) OVER (PARTITION BY a ORDER BY ts, x, y ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS m FROM S

-- frames of times
SELECT a, x, SUM(x) OVER (PARTITION BY a ORDER BY ts RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM S

-- running sums
SELECT a, x, SUM(x) OVER (PARTITION BY a ORDER BY ts) AS s, AVG(x) OVER (PARTITION BY a ORDER BY ts, x, y ROWS UNBOUNDED PRECEDING) AS m FROM S
