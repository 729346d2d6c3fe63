-- sums of sums
SELECT SUM(s) AS t, AVG(m) AS u, STDDEV_POP(s) AS v FROM (SELECT a, SUM(x) AS s, AVG(y) AS m FROM S GROUP BY a) AS q

-- running sums of sums
SELECT w, s, SUM(s) OVER (ORDER BY w) AS t FROM (SELECT ts DIV 4 AS w, SUM(x) AS s FROM S GROUP BY ts DIV 4) AS q

-- frames of sums
SELECT w, a, s, SUM(s) OVER (PARTITION BY w) AS t, AVG(s) OVER (PARTITION BY w ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m FROM (SELECT ts DIV 4 AS w, a, SUM(x) AS s FROM S GROUP BY ts DIV 4, a) AS q

-- sums beside a relation
SELECT g.a, g.s, Q.z FROM (SELECT ts DIV 4 AS w, a, SUM(x) AS s FROM S GROUP BY ts DIV 4, a) AS g LEFT JOIN Q ON Q.a = g.a

-- products of several streams
SELECT S.a, SUM(S.x + T.a) AS s, SUM(T.a) AS b, VAR_POP(S.x - T.y) AS v FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 3 GROUP BY S.a
